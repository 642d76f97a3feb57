//! Whether a sentence says that the lead exists already, and where.
//!
//! Rule: pure; works on words and knows nothing of statuses or fields.
//!
//! No list of phrases covers what services write, and `already` alone says little ("the
//! campaign is already stopped"). So each clause is looked at by itself: what it says (that
//! something exists, is taken, is in a list) and of what (the last thing that it names
//! before that). Where that is not clear the answer is no: a refusal that is not understood
//! is a rejected row that somebody looks at, while a `duplicate` that is none hides a person
//! who was never imported.

mod words;

use words::{
    ACTIVE, ALREADY, BLOCKED, CONJUNCTIONS, DEMANDS, DONE, DONE_IN_GERMAN, DONE_TO_A_LEAD,
    ELSEWHERE, EXISTS, HAS, IN, JOINS, LEAD, MEASURES, NOT, OF_THIS, ONE, OTHER, PERHAPS, PLACES,
    PREPOSITIONS, STATES, among,
};

/// Where the lead exists already; of several places the first one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Presence {
    /// In the campaign, or it is not said where.
    Here,
    /// In another campaign.
    Elsewhere,
}

/// What a sentence is about where it does not say so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The lead or its number: the sentence stands beside that field.
    Lead,
    /// Nothing in particular.
    Anything,
    /// Something else: the sentence stands beside another field.
    Other,
}

/// What a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noun {
    Lead,
    Other,
}

/// Whether a text in lower case says that the lead exists already, and where.
pub(super) fn presence(text: &str, about: About) -> Option<Presence> {
    if !has_hint(text) {
        return None;
    }
    let said = nearest(text, |clause| says_it_exists(clause, about))?;
    let is_denied = ["not in this campaign", "nicht in dieser kampagne"];
    if is_denied.iter().any(|words| text.contains(words)) {
        Some(Presence::Elsewhere)
    } else {
        Some(said)
    }
}

/// Whether it has a word without which it says nothing of the kind. Most texts have none, and
/// there is a text in each answer.
fn has_hint(text: &str) -> bool {
    let mut beginnings = text.as_bytes().windows(4);
    // already, exists, bereits, schon, unique
    beginnings.any(|four| matches!(four, b"alre" | b"exis" | b"bere" | b"scho" | b"uniq"))
}

/// The same where it is called a duplicate.
pub(super) fn duplicate(text: &str, about: About) -> Option<Presence> {
    const WORDS: [&str; 4] = ["duplica", "duplik", "dublette", "doppelt"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return None;
    }
    nearest(text, |clause| {
        let is_meant = |word: &str| WORDS.iter().any(|meant| word.starts_with(meant));
        any_split(clause, is_meant, |before, after| {
            is_duplicate(before, after, about)
        })
    })
}

/// Where the clauses that say it have the lead: here, if one of them does.
fn nearest(text: &str, says_it: impl Fn(&[&str]) -> bool) -> Option<Presence> {
    let text = text.replace("n't", " not").replace("n’t", " not");
    let clauses = clauses(&text).into_iter();
    let clauses = clauses.filter(|clause| !is_of_blocked(clause) && says_it(clause));
    clauses.map(|clause| place(&clause)).min()
}

/// The words of each clause.
fn clauses(text: &str) -> Vec<Vec<&str>> {
    let mut clauses = Vec::new();
    for line in text.lines() {
        clauses.push(Vec::new());
        for piece in line.split_whitespace() {
            add_words(piece, &mut clauses);
        }
    }
    clauses
}

/// Adds the words of a piece without white space to the last clause, and begins others
/// where it says so.
fn add_words<'t>(piece: &'t str, clauses: &mut Vec<Vec<&'t str>>) {
    if piece.starts_with('(') || ["-", "–", "—"].contains(&piece) {
        clauses.push(Vec::new());
    }
    for word in piece.split(|c: char| !c.is_alphanumeric()) {
        if among(CONJUNCTIONS, word) {
            clauses.push(Vec::new());
        } else if let Some(clause) = clauses.last_mut().filter(|_| !word.is_empty()) {
            clause.push(word);
        }
    }
    let last = clauses.last().map(Vec::as_slice).unwrap_or_default();
    // `email: has already been taken`
    let is_label = piece.ends_with(':') && last.iter().all(|word| is_name(word));
    if piece.ends_with(['.', ',', ';', ':', '!', '?', ')']) && !is_label {
        clauses.push(Vec::new());
    }
}

/// Whether `says_it` holds for what stands before and after one of the words that are meant.
fn any_split(
    clause: &[&str],
    is_meant: impl Fn(&str) -> bool,
    says_it: impl Fn(&[&str], &[&str]) -> bool,
) -> bool {
    let mut words = clause.iter().enumerate();
    words.any(|(at, word)| is_meant(word) && says_it(&clause[..at], &clause[at + 1..]))
}

fn any(words: &[&str], list: &str) -> bool {
    words.iter().any(|word| among(list, word))
}

fn says_it_exists(clause: &[&str], about: About) -> bool {
    if any(clause, ALREADY) {
        return any_split(
            clause,
            |word| among(ALREADY, word),
            |before, after| is_already(before, after, about),
        );
    }
    any_split(
        clause,
        |word| among(EXISTS, word),
        |before, after| exists(before, after, about),
    ) || any_split(
        clause,
        |word| word == "unique",
        |before, _| is_not_unique(before, about),
    )
}

/// `… already …`.
fn is_already(before: &[&str], after: &[&str], about: About) -> bool {
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
    let is_active = any(&before[before.len().saturating_sub(2)..], ACTIVE);
    if among(HAS, verb) || is_active {
        let verbs = [HAS, DONE, DONE_TO_A_LEAD];
        let has_verb = verbs.iter().any(|verbs| among(verbs, verb));
        return names_one_lead(&after[usize::from(has_verb)..]);
    }
    if names_one_lead(after) {
        return true;
    }
    match (subject(before), about) {
        (Some(Noun::Lead), _) | (None, About::Lead) => {
            is_there(before, after, DONE)
                || is_there(before, after, DONE_TO_A_LEAD)
                || is_in(after).is_some()
        }
        (None, About::Anything) => {
            is_there(before, after, DONE) || is_in(after).is_some_and(|whole| any(whole, PLACES))
        }
        (Some(Noun::Other), _) | (None, About::Other) => false,
    }
}

/// Whether what stands around `already` says that something is there.
fn is_there(before: &[&str], after: &[&str], done: &str) -> bool {
    let is_done = |word: &&str| among(EXISTS, word) || among(done, word);
    let is_in_campaign =
        matches!(before, [.., word, _, place] if among(IN, word) && among(PLACES, place));
    after.first().is_some_and(is_done)
        || before.last().is_some_and(is_done)
        || is_in_campaign
        || any(after, DONE_IN_GERMAN)
}

/// What it is already in, if that is not a state.
fn is_in<'a>(after: &'a [&'a str]) -> Option<&'a [&'a str]> {
    match after {
        [word, rest @ ..] if among(IN, word) => {
            let is_state = rest.first().is_some_and(|word| among(STATES, word));
            (!is_state).then_some(rest)
        }
        _ => None,
    }
}

/// `… exists …`.
fn exists(before: &[&str], after: &[&str], about: About) -> bool {
    let is_open = [NOT, PERHAPS, DEMANDS].iter().any(|list| any(before, list));
    is_of_lead(before, about) && !is_open && !any(after, "not nicht kein keine keinen keiner")
}

/// `… must be unique`, `… is not unique`, `validation.unique`.
fn is_not_unique(before: &[&str], about: About) -> bool {
    match before.last() {
        Some(&"validation") => about != About::Other,
        Some(&("be" | "not")) => is_of_lead(before, about),
        _ => false,
    }
}

/// `… duplicate …`.
fn is_duplicate(before: &[&str], after: &[&str], about: About) -> bool {
    let named = after.iter().find_map(|word| noun(word));
    let named = named.or_else(|| subject(before));
    let named = named.or((about == About::Other).then_some(Noun::Other));
    let is_denied = [NOT, PERHAPS, MEASURES]
        .iter()
        .any(|list| any(before, list));
    named != Some(Noun::Other) && !is_denied
}

/// Whether it is denied, demanded or only supposed.
fn is_left_open(before: &[&str]) -> bool {
    let named = before.iter().rposition(|word| noun(word).is_some());
    let verb = &before[named.map_or(0, |at| at + 1)..];
    any(verb, NOT) || any(before, PERHAPS)
}

/// Whether it is about people who are not to be called, or no longer.
fn is_of_blocked(clause: &[&str]) -> bool {
    let mut pairs = clause.windows(2);
    any(clause, BLOCKED) || pairs.any(|pair| pair == ["not", "call"])
}

fn is_of_lead(before: &[&str], about: About) -> bool {
    match subject(before) {
        Some(noun) => noun == Noun::Lead,
        None => about == About::Lead,
    }
}

/// The last thing that is named and not only describes another, or any of several.
fn subject(before: &[&str]) -> Option<Noun> {
    let end = before.iter().position(|word| among(PREPOSITIONS, word));
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
            None if among(JOINS, word) => is_joined = true,
            None if named.is_some() && !among(ONE, word) => break,
            None => {}
        }
    }
    named
}

/// Whether it begins by naming one lead: "a contact …", "this phone number …".
fn names_one_lead(words: &[&str]) -> bool {
    let nouns = words.iter().position(|word| !among(ONE, word));
    let Some(at) = nouns.filter(|at| *at > 0) else {
        return false;
    };
    let run = words[at..].iter().map_while(|word| noun(word));
    run.last() == Some(Noun::Lead)
}

fn noun(word: &str) -> Option<Noun> {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let is_one_of = |nouns| among(nouns, word) || among(nouns, singular);
    if is_one_of(LEAD) || singular.ends_with("number") || word.ends_with("nummer") {
        Some(Noun::Lead)
    } else if is_one_of(OTHER) {
        Some(Noun::Other)
    } else {
        None
    }
}

/// Whether it can be part of a field's name.
fn is_name(word: &str) -> bool {
    word == "id" || noun(word).is_some()
}

fn place(clause: &[&str]) -> Presence {
    let names = |which| {
        let is_place = |word: &str| among(PLACES, word.strip_suffix('s').unwrap_or(word));
        let mut pairs = clause.windows(2);
        pairs.any(|pair| among(which, pair[0]) && is_place(pair[1]))
    };
    let is_elsewhere = names(ELSEWHERE) || clause.contains(&"elsewhere");
    if is_elsewhere && !names(OF_THIS) {
        Presence::Elsewhere
    } else {
        Presence::Here
    }
}

#[cfg(test)]
mod tests;
