//! What a sentence of the service means: that the lead exists already, and where; or that the
//! account has reached a limit.
//!
//! Rule: pure. It works on words in lower case and knows nothing about statuses or fields.
//!
//! `already` alone says little ("the campaign is already stopped"), and services say one thing in
//! many words. So each word stands for its list in `words.txt`, what only describes a thing is left
//! out, and each clause is looked up in a table of phrases, which is there too: "the phone number has
//! already been taken" is `lead-already-done`. A word of no list fits no phrase: what is not clear
//! says nothing. A refusal that is not understood becomes a rejected row, which the user looks at.
//! But a `duplicate` that is not one hides a person who was never imported.

use std::collections::HashMap;
use std::mem;
use std::sync::LazyLock;

use crate::text::WordLists;

static WORDS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::read(include_str!("words.txt"), str::to_owned));
static LISTS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| WORDS.by_word());

/// Where the lead exists already. If there are several places, the first variant counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Presence {
    /// In this campaign, or the sentence does not say where.
    Here,
    Elsewhere,
}

/// The lists of what a field can stand for: the lead or its number, and the campaign.
pub(super) const LEAD: &str = "lead";
pub(super) const CAMPAIGN: &str = "place";

/// Whether a text in lower case is about the account's balance, credit, plan or limit.
pub(super) fn is_about_balance(text: &str) -> bool {
    let has = |list| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| WORDS.has(list, word))
    };
    let is_of_text = has("length") || text.contains("too long") || text.contains("longer than");
    has("budget") && (!is_of_text || has("period"))
}

/// Whether a text in lower case says that the lead exists already, and where. `about` is the list
/// of what the text's field stands for, empty if the text is about no field.
pub(super) fn presence(text: &str, about: &str) -> Option<Presence> {
    // A shortcut: most texts have none of these, and each answer has a text.
    let hints = ["already", "exist", "bereits", "schon", "unique"];
    let has_hint = hints.iter().any(|hint| text.contains(hint));
    has_hint.then(|| find("it is there", text, about))?
}

/// Whether a text in lower case calls the lead a duplicate, and where the other one is.
pub(super) fn duplicate(text: &str, about: &str) -> Option<Presence> {
    find("it is a duplicate", text, about)
}

fn find(meaning: &str, text: &str, about: &str) -> Option<Presence> {
    let said = Reading::of(text, about);
    let clauses = said.split_inclusive('$');
    let clauses = clauses.filter(|clause| says(clause, meaning) && !says(clause, "it is open"));
    let places = clauses.map(|clause| match says(clause, "it is elsewhere") {
        false if clause.contains("in-place") => Presence::Here,
        _ if says(&said, "it is elsewhere") => Presence::Elsewhere,
        _ => Presence::Here,
    });
    places.min()
}

fn says(said: &str, meaning: &str) -> bool {
    let mut phrases = WORDS.of(meaning).iter();
    phrases.any(|phrase| said.contains(phrase.as_str()))
}

/// The list that has the word, `?` if none has.
fn list(word: &str) -> &'static str {
    let of = |word| LISTS.get(word).copied();
    match (of(word), word.strip_suffix('s').and_then(of)) {
        (Some(list), _) => list,
        (None, Some("lead" | "number")) => "leads",
        (None, Some(list)) => list,
        _ if word.ends_with("name") => "other",
        _ if word.contains(char::is_numeric) => "filler",
        _ => "?",
    }
}

/// A text that is read up to some word.
#[derive(Default)]
struct Reading<'a> {
    /// How each clause begins: with `^`, and with what the text's field stands for.
    start: &'a str,
    /// The lists of the words, from `^` to `$` for each clause.
    said: String,
    /// The list of the noun before this word. In a compound the last noun counts.
    noun: Option<&'static str>,
    /// The list of the article before that.
    article: &'static str,
    /// Whether the clause has said `already` or that something exists.
    is_told: bool,
    /// Whether nouns only describe what was named before.
    is_aside: bool,
}

impl Reading<'_> {
    /// A clause ends at the end of a line, at punctuation and before a conjunction.
    fn of(text: &str, about: &str) -> String {
        let start = match about {
            "" => "^".to_owned(),
            about => format!("^-{about}"),
        };
        let mut reading = Reading {
            start: &start,
            said: start.clone(),
            ..Reading::default()
        };
        for piece in text.split_inclusive(char::is_whitespace) {
            let is_last = piece.ends_with('\n');
            let piece = piece.trim_end();
            if piece.starts_with(['(', '-', '–', '—']) {
                reading.end();
            }
            let words = piece.split(|c: char| !c.is_alphanumeric());
            for word in words.filter(|word| !word.is_empty()) {
                reading.add(list(word));
            }
            // `email: has already been taken`
            let is_label = piece.ends_with(':') && reading.is_name();
            if is_last || !is_label && piece.ends_with(['.', ',', ';', ':', '!', '?', ')']) {
                reading.end();
            }
        }
        reading.end();
        reading.said
    }

    fn end(&mut self) {
        self.end_noun("");
        self.push("$");
        self.said.push_str(self.start);
        (self.is_told, self.is_aside) = (false, false);
    }

    /// Whether the clause is only a noun up to here.
    fn is_name(&self) -> bool {
        self.said.ends_with(self.start) && !matches!(self.noun, None | Some("?"))
    }

    fn add(&mut self, list: &'static str) {
        self.noun = match (list, self.noun) {
            ("lead" | "leads" | "place" | "other" | "budget" | "length", _) => Some(list),
            ("?" | "number", None) | ("?", Some("?")) => Some(list),
            ("number", Some("?")) => Some("other"),
            ("number", named) => named,
            _ => return self.add_other(list),
        };
    }

    fn add_other(&mut self, list: &'static str) {
        let is_after_noun = self.noun.is_some();
        self.end_noun(list);
        match list {
            "?" => self.noun = Some(list),
            "the" | "another" => self.article = list,
            "of" | "with" => self.is_aside = !self.is_told,
            "you" if is_after_noun => self.is_aside = !self.is_told,
            "has" if !self.said.ends_with("already") => {}
            "or" if self.is_aside => {}
            "filler" => {}
            "conjunction" => self.end(),
            _ => {
                self.is_told |= matches!(list, "already" | "exists" | "exist");
                self.is_aside = false;
                self.push(list);
            }
        }
    }

    fn end_noun(&mut self, next: &str) {
        let article = mem::take(&mut self.article);
        let noun = match self.noun.take() {
            Some("?") if !article.is_empty() || matches!(next, "of" | "with") => "other",
            Some("number") if next == "of" => "other",
            Some("number") => "lead",
            Some(noun) => noun,
            None => return,
        };
        if self.is_aside {
            return;
        }
        self.push(noun);
        if article == "another" && (noun == "place" || noun == "lead" && self.is_told) {
            self.push(article);
        }
    }

    fn push(&mut self, list: &str) {
        self.said.push('-');
        self.said.push_str(list);
    }
}

#[cfg(test)]
#[path = "sentence_tests.rs"]
mod tests;
