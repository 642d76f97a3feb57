//! What a sentence of the service means: that the lead exists already, and where; or that the
//! account has reached a limit.
//!
//! Rule: pure. It works on words in lower case (`words.txt`) and knows nothing
//! about statuses or fields.
//!
//! No list of phrases covers what services write, and `already` alone says little ("the campaign is
//! already stopped"). So each clause is examined on its own: what it says (that something exists,
//! is taken, is in a list), and about what (the last noun before that). If this is not clear, the
//! answer is no. A refusal that is not understood becomes a rejected row, which the user looks at.
//! But a `duplicate` that is not one hides a person who was never imported.

use std::mem;
use std::sync::LazyLock;

use crate::text::WordLists;

static WORDS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::read(include_str!("words.txt"), str::to_owned));

/// Where the lead exists already. If there are several places, the first variant counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Presence {
    /// In this campaign, or the sentence does not say where.
    Here,
    Elsewhere,
}

/// What a noun or a field name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    /// The lead or its number.
    Lead,
    Other,
}

/// Whether a text in lower case is about the account's balance, credit, plan or limit.
pub(super) fn is_about_balance(text: &str) -> bool {
    let has = |list| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| among(list, word))
    };
    let is_of_text = has("of a text") || text.contains("too long") || text.contains("longer than");
    has("of the account") && (!is_of_text || has("period"))
}

/// Whether a text in lower case says that the lead exists already, and where. `about` is what the
/// text's field stands for, if the text is about a field.
pub(super) fn presence(text: &str, about: Option<Noun>) -> Option<Presence> {
    // A shortcut: most texts have none of these, and each answer has a text.
    let hints = ["already", "exist", "bereits", "schon", "unique"];
    if !hints.iter().any(|hint| text.contains(hint)) {
        return None;
    }
    let found = nearest(text, |clause| says_it_exists(clause, about))?;
    let denials = ["not in this campaign", "nicht in dieser kampagne"];
    let is_denied = denials.iter().any(|words| text.contains(words));
    Some(if is_denied {
        Presence::Elsewhere
    } else {
        found
    })
}

/// The same for a text that calls the lead a duplicate.
pub(super) fn duplicate(text: &str, about: Option<Noun>) -> Option<Presence> {
    const WORDS: [&str; 4] = ["duplica", "duplik", "dublette", "doppelt"];
    let is_meant = |word: &str| WORDS.iter().any(|meant| word.starts_with(meant));
    nearest(text, |clause| {
        splits(clause, is_meant).any(|(before, after)| {
            let named = after.iter().find_map(|word| noun(word));
            let mut denials = ["not", "perhaps", "measures"].iter();
            named.or_else(|| subject(before)).or(about) != Some(Noun::Other)
                && !denials.any(|list| any(before, list))
        })
    })
}

/// Where the lead is by the clauses for which `says_it` holds: here, if one of them says so.
fn nearest(text: &str, says_it: impl Fn(&[&str]) -> bool) -> Option<Presence> {
    let text = text.replace("n't", " not").replace("n’t", " not");
    let clauses = clauses(&text).into_iter();
    let clauses = clauses.filter(|clause| !is_of_blocked(clause) && says_it(clause));
    clauses.map(|clause| place(&clause)).min()
}

/// The words of each clause. A clause ends at the end of a line, at punctuation
/// and before a conjunction.
fn clauses(text: &str) -> Vec<Vec<&str>> {
    let mut clauses = Vec::new();
    for line in text.lines() {
        let mut clause = Vec::new();
        for piece in line.split_whitespace() {
            if piece.starts_with('(') || ["-", "–", "—"].contains(&piece) {
                clauses.push(mem::take(&mut clause));
            }
            for word in piece.split(|c: char| !c.is_alphanumeric()) {
                if among("conjunctions", word) {
                    clauses.push(mem::take(&mut clause));
                } else if !word.is_empty() {
                    clause.push(word);
                }
            }
            // `email: has already been taken`
            let is_name = |word: &&str| *word == "id" || noun(word).is_some();
            let is_label = piece.ends_with(':') && clause.iter().all(is_name);
            if piece.ends_with(['.', ',', ';', ':', '!', '?', ')']) && !is_label {
                clauses.push(mem::take(&mut clause));
            }
        }
        clauses.push(clause);
    }
    clauses
}

fn among(list: &str, word: &str) -> bool {
    WORDS.has(list, word)
}

fn any(words: &[&str], list: &str) -> bool {
    words.iter().any(|word| among(list, word))
}

/// The words before and after each word for which `is_meant` holds.
fn splits<'a, 't>(
    clause: &'a [&'t str],
    is_meant: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&'a [&'t str], &'a [&'t str])> {
    let words = clause.iter().enumerate();
    let meant = words.filter(move |(_, word)| is_meant(word));
    meant.map(|(at, _)| (&clause[..at], &clause[at + 1..]))
}

fn says_it_exists(clause: &[&str], about: Option<Noun>) -> bool {
    let splits_at = |list| splits(clause, move |word| among(list, word));
    if any(clause, "already") {
        return splits_at("already").any(|(before, after)| is_already(before, after, about));
    }
    let is_of_lead = |before| subject(before).or(about) == Some(Noun::Lead);
    let exists = splits_at("exists").any(|(before, after)| {
        let mut open = ["not", "perhaps", "demands"].iter();
        is_of_lead(before) && !open.any(|list| any(before, list)) && !any(after, "denied")
    });
    // `must be unique`, `is not unique`, `validation.unique`
    let mut unique = splits(clause, |word| word == "unique");
    exists
        || unique.any(|(before, _)| match before.last() {
            Some(&"validation") => about != Some(Noun::Other),
            Some(&("be" | "not")) => is_of_lead(before),
            _ => false,
        })
}

/// Whether the words around `already` say that the lead exists.
fn is_already(before: &[&str], after: &[&str], about: Option<Noun>) -> bool {
    let is_of_many = matches!((before, after), ([.., "that" | "which"], ["exist", ..]));
    if is_of_many || is_left_open(before) {
        return false;
    }
    let after = match after {
        ["been" | "be", rest @ ..] => rest,
        other => other,
    };
    // "The campaign already has this lead", "you have already added this lead".
    let verb = after.first().copied().unwrap_or_default();
    let mut verbs = ["has", "done", "done to a lead"].iter();
    let is_verb = verbs.any(|list| among(list, verb));
    if names_one_lead(&after[usize::from(is_verb)..]) {
        return true;
    }
    if among("has", verb) || any(&before[before.len().saturating_sub(2)..], "active") {
        return false;
    }
    // What the subject is already in, if that is not a state ("already in progress").
    let place = match after {
        [word, state, ..] if among("in", word) && among("states", state) => None,
        [word, place @ ..] if among("in", word) => Some(place),
        _ => None,
    };
    match subject(before).or(about) {
        Some(Noun::Lead) => {
            place.is_some() || is_there(before, after, &["exists", "done", "done to a lead"])
        }
        None => {
            place.is_some_and(|place| any(place, "places"))
                || is_there(before, after, &["exists", "done"])
        }
        Some(Noun::Other) => false,
    }
}

/// Whether the words around `already` say that something exists. `verbs` are the
/// lists of verbs that count.
fn is_there(before: &[&str], after: &[&str], verbs: &[&str]) -> bool {
    let is_verb = |word: &&str| verbs.iter().any(|list| among(list, word));
    let is_in_campaign =
        matches!(before, [.., word, _, place] if among("in", word) && among("places", place));
    after.first().is_some_and(is_verb)
        || before.last().is_some_and(is_verb)
        || is_in_campaign
        || any(after, "done in German")
}

/// Whether the words before `already` deny it, demand it or only suppose it.
fn is_left_open(before: &[&str]) -> bool {
    let named = before.iter().rposition(|word| noun(word).is_some());
    let verb = &before[named.map_or(0, |at| at + 1)..];
    any(verb, "not") || any(before, "perhaps")
}

/// Whether the clause is about people who must not be called, or no longer.
fn is_of_blocked(clause: &[&str]) -> bool {
    let mut pairs = clause.windows(2);
    any(clause, "blocked") || pairs.any(|pair| pair == ["not", "call"])
}

/// What the last noun before a preposition stands for. In a compound the last noun counts; of nouns
/// joined by "and" or "or", the lead.
fn subject(before: &[&str]) -> Option<Noun> {
    let end = before.iter().position(|word| among("prepositions", word));
    if before.windows(2).any(|pair| pair == ["number", "of"]) {
        return Some(Noun::Other);
    }
    let mut named = None;
    let mut is_joined = false;
    for word in before[..end.unwrap_or(before.len())].iter().rev() {
        match noun(word) {
            Some(noun) if named.is_none() => named = Some(noun),
            Some(Noun::Lead) if is_joined => named = Some(Noun::Lead),
            Some(_) => {}
            None if among("joins", word) => is_joined = true,
            None if named.is_some() && !among("one", word) => break,
            None => {}
        }
    }
    named
}

/// Whether the words begin by naming one lead: "a contact …", "this phone number …".
fn names_one_lead(words: &[&str]) -> bool {
    let nouns = words.iter().position(|word| !among("one", word));
    let Some(at) = nouns.filter(|at| *at > 0) else {
        return false;
    };
    let run = words[at..].iter().map_while(|word| noun(word));
    run.last() == Some(Noun::Lead)
}

fn noun(word: &str) -> Option<Noun> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let is_one_of = |list| among(list, word) || among(list, singular);
    if is_one_of("lead") || singular.ends_with("number") || word.ends_with("nummer") {
        Some(Noun::Lead)
    } else if is_one_of("other") {
        Some(Noun::Other)
    } else {
        None
    }
}

fn place(clause: &[&str]) -> Presence {
    let names = |list| {
        let is_place = |word: &str| among("places", word.strip_suffix('s').unwrap_or(word));
        let mut pairs = clause.windows(2);
        pairs.any(|pair| among(list, pair[0]) && is_place(pair[1]))
    };
    let is_elsewhere = names("elsewhere") || clause.contains(&"elsewhere");
    if is_elsewhere && !names("of this") {
        Presence::Elsewhere
    } else {
        Presence::Here
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
