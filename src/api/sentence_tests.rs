//! What services say, and what only sounds like it: all of `phrases.txt`, as it is and in other words.

use serde_json::json;

use super::*;
use crate::api::body::Body;

/// The phrases below a heading of `phrases.txt`, each with the field that it is about.
fn phrases(meaning: &str) -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
    let parts = include_str!("phrases.txt").split("\n[");
    let mut parts = parts.filter_map(|part| part.split_once("]\n"));
    let (_, lines) = parts.find(|(heading, _)| *heading == meaning).unwrap();
    let lines = lines
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let (said, _where_seen) = line.split_once(" | ").unwrap_or((line, ""));
        match said.strip_prefix('@').and_then(|said| said.split_once(' ')) {
            Some((field, phrase)) => (Some(field), phrase),
            None => (None, said),
        }
    })
}

/// The heading under which the phrase belongs.
fn meaning(field: Option<&str>, phrase: &str) -> &'static str {
    let body = match field {
        Some(field) => json!({ "errors": { field: [phrase] } }),
        None => json!({ "message": phrase }),
    };
    let body = body.to_string();
    let body = Body::read(&body);
    match (body.presence(), body.duplicate()) {
        (Some(Presence::Here), _) => "here",
        (Some(Presence::Elsewhere), _) => "elsewhere",
        (None, Some(Presence::Here)) => "duplicate",
        (None, Some(Presence::Elsewhere)) => "duplicate elsewhere",
        (None, None) if body.is_about_balance() => "budget",
        (None, None) => "none",
    }
}

const PRESENCES: [&str; 4] = ["here", "elsewhere", "duplicate", "duplicate elsewhere"];

#[test]
fn every_phrase_is_understood() {
    for heading in PRESENCES {
        for (field, phrase) in phrases(heading) {
            assert_eq!(meaning(field, phrase), heading, "{field:?} {phrase}");
        }
    }
    for (field, phrase) in phrases("none") {
        let is_none = !PRESENCES.contains(&meaning(field, phrase));
        assert!(is_none, "{field:?} {phrase}");
    }
    for (heading, found) in [("budget", "budget"), ("length", "none")] {
        for (field, phrase) in phrases(heading) {
            assert_eq!(meaning(field, phrase), found, "{phrase}");
        }
    }
    // Whoever mends one of these moves it.
    for (field, phrase) in phrases("misread") {
        let is_read = PRESENCES.contains(&meaning(field, phrase));
        assert!(is_read, "{phrase} is no longer misread");
    }
}

#[test]
fn a_phrase_means_the_same_in_other_words() {
    for heading in PRESENCES.into_iter().chain(["none"]) {
        for (field, phrase) in phrases(heading) {
            let bare = phrase.trim_end_matches(['.', '!']);
            let mut others = vec![
                phrase.to_uppercase(),
                format!("\"{phrase}\""),
                format!("{bare}! Please contact support."),
            ];
            let lower = phrase.to_lowercase();
            for (noun, other) in [
                ("contact", "lead"),
                ("lead", "phone number"),
                ("phone number", "record"),
                ("kontakt", "lead"),
                ("telefonnummer", "rufnummer"),
            ] {
                others.push(lower.replace(noun, other));
            }
            if field.is_none() {
                others.extend([
                    format!("Error: {phrase}"),
                    format!("The request could not be processed. {phrase}"),
                    format!("Unprocessable Content\n{phrase}"),
                    format!("{bare} (ref 8f3a)"),
                ]);
            }
            for other in others {
                let found = meaning(field, &other);
                let is_same = found == heading || heading == "none" && found == "budget";
                assert!(is_same, "{found}: {field:?} {other}");
            }
        }
    }
}

#[test]
fn a_phrase_means_the_same_beside_a_field_of_the_lead() {
    for heading in ["here", "elsewhere", "none"] {
        let phrases = phrases(heading).filter(|(field, _)| field.is_none());
        for (_, phrase) in phrases {
            // What says not what it is about is then about the lead, and what names a person is not.
            let is_short = heading == "none" && phrase.split(' ').count() < 4;
            if is_short
                || ["has ", "Zebedee", "ada@"]
                    .iter()
                    .any(|begin| phrase.starts_with(begin))
            {
                continue;
            }
            let found = meaning(Some("phone_number"), phrase);
            assert_eq!(found, heading, "{phrase}");
        }
    }
}

#[test]
fn no_word_is_in_two_lists() {
    let lists = include_str!("words.txt").lines();
    let lists = lists.filter(|line| !line.starts_with(['#', '[']));
    let mut words: Vec<&str> = lists.flat_map(str::split_whitespace).collect();
    words.sort_unstable();
    let twice = words.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}
