//! Templates: the texts of the program as data, with named places.
//!
//! | in a template | what is shown |
//! |-|-|
//! | `{file}` | the value with this name |
//! | `{rows:}`, `{rows:row}` | a number in groups, with its noun: `1,200`, `1 row`, `1,200 rows` |
//! | `{rows?is:are}` | the first word if the number is 1, the second otherwise |
//! | `{terminal|page}` | what each voice says, where that differs; places may stand in it |
//! | `{--region}`, `{again}` | a setting or a turn of speech, as each voice [calls](super::names) it |
//! | `` `…` `` | what is typed, or a name as it stands |
//! | `; ` | on the page, the end of a sentence |
//!
//! Templates begin in lower case and end without a full stop; the page makes sentences of them.
//!
//! Promise: a template that names a place without a value, or on the page a flag or a command, does
//! not compile.

use super::Voice;
use super::names::NAMES;

/// A text with named places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    pub(super) text: &'static str,
    /// Whether it has words for the page too.
    pub(super) is_for_page: bool,
}

/// What has no place on the page, which has labels and buttons in place of flags and commands, and
/// other words for the program's files.
const NOT_ON_PAGE: [&str; 12] = [
    "--",
    "LEADLOAD_",
    "`leadload ",
    "command",
    "Ctrl-C",
    "ulimit",
    " flag",
    "reject",
    "profile",
    "ledger",
    "sandbox",
    "suppress",
];

impl Template {
    /// A template for both voices, whose values have these names.
    ///
    /// # Panics
    ///
    /// While it is compiled, if a place has no value, a value no place, or the page would name a
    /// flag or a command.
    pub const fn new(text: &'static str, values: &[&str]) -> Template {
        Template::pair(text, "", values, true)[0]
    }

    /// A template for what only a terminal can show.
    ///
    /// # Panics
    ///
    /// While it is compiled, if a place has no value, or a value no place.
    pub const fn for_terminal(text: &'static str, values: &[&str]) -> Template {
        Template::pair(text, "", values, false)[0]
    }

    /// Two templates that share their values.
    ///
    /// # Panics
    ///
    /// While it is compiled, if a place has no value, a value no place, or the page would name a
    /// flag or a command.
    pub const fn pair(
        first: &'static str,
        second: &'static str,
        values: &[&str],
        is_for_page: bool,
    ) -> [Template; 2] {
        let texts = [first, second];
        check(texts[0].as_bytes(), 0, texts[0].len(), values, is_for_page);
        check(texts[1].as_bytes(), 0, texts[1].len(), values, is_for_page);
        let mut value = 0;
        while value < values.len() {
            let has_place = has_place(texts[0].as_bytes(), values[value])
                || has_place(texts[1].as_bytes(), values[value]);
            assert!(has_place, "a value has no place");
            value += 1;
        }
        [
            Template {
                text: first,
                is_for_page,
            },
            Template {
                text: second,
                is_for_page,
            },
        ]
    }

    /// Any text, as it is.
    pub(super) const fn of_words() -> Template {
        Template {
            text: "{words}",
            is_for_page: true,
        }
    }
}

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    Words(&'t str),
    /// What stands between braces.
    Place(&'t str),
    /// The template of the voice that speaks.
    Template(&'t str),
}

/// The parts of a template, in the words of a voice.
pub(super) fn pieces(template: &str, voice: Voice) -> impl Iterator<Item = Piece<'_>> {
    let (bytes, mut at) = (template.as_bytes(), 0);
    std::iter::from_fn(move || {
        let from = at;
        match bytes.get(at)? {
            b'{' => {
                let end = close(bytes, at);
                at = end + 1;
                Some(match (bar(bytes, from + 1, end), voice) {
                    (None, _) => Piece::Place(&template[from + 1..end]),
                    (Some(bar), Voice::Terminal) => Piece::Template(&template[from + 1..bar]),
                    (Some(bar), Voice::Page) => Piece::Template(&template[bar + 1..end]),
                })
            }
            _ => {
                let words = template[at..].find('{').unwrap_or(bytes.len() - at);
                at += words;
                Some(Piece::Words(&template[from..at]))
            }
        }
    })
}

/// Checks the template in a part of a text.
const fn check(text: &[u8], from: usize, to: usize, values: &[&str], on_page: bool) {
    let (mut at, mut words) = (from, from);
    while at < to {
        match text[at] {
            b'{' => {
                let end = close(text, at);
                assert!(end < to, "a brace is not closed");
                check_words(text, words, at, on_page);
                match bar(text, at + 1, end) {
                    Some(bar) => {
                        check(text, at + 1, bar, values, false);
                        check(text, bar + 1, end, values, on_page);
                    }
                    None => check_place(text, at + 1, end, values),
                }
                (at, words) = (end + 1, end + 1);
            }
            other => {
                assert!(other != b'}', "a brace is closed that was not opened");
                at += 1;
            }
        }
    }
    check_words(text, words, to, on_page);
}

const fn check_words(text: &[u8], from: usize, to: usize, on_page: bool) {
    let mut word = 0;
    while on_page && word < NOT_ON_PAGE.len() {
        let is_there = find(text, from, to, NOT_ON_PAGE[word]).is_some();
        assert!(!is_there, "the page has no flags and no commands");
        word += 1;
    }
}

const fn check_place(text: &[u8], from: usize, to: usize, values: &[&str]) {
    let mut end = from;
    while end < to && !matches!(text[end], b':' | b'?') {
        end += 1;
    }
    let (mut value, mut name) = (0, 0);
    while value < values.len() && !is(text, from, end, values[value]) {
        value += 1;
    }
    while name < NAMES.len() && !is(text, from, to, NAMES[name].0) {
        name += 1;
    }
    let is_known = value < values.len() || name < NAMES.len();
    assert!(is_known, "a place has neither a value nor a name");
}

/// Whether a value has a place in the text.
const fn has_place(text: &[u8], name: &str) -> bool {
    let (mut from, mut found) = (0, false);
    while let Some(at) = find(text, from, text.len(), name) {
        let end = at + name.len();
        found |= at > 0
            && text[at - 1] == b'{'
            && end < text.len()
            && matches!(text[end], b'}' | b':' | b'?');
        from = end;
    }
    found
}

/// Where the brace that is opened here is closed; the end of the text if it is not.
const fn close(text: &[u8], open: usize) -> usize {
    let (mut at, mut depth) = (open, 0);
    while at < text.len() {
        match text[at] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        at += 1;
    }
    at
}

/// Where the words of the terminal end and those of the page begin, if there are both.
const fn bar(text: &[u8], from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        match text[at] {
            b'{' => at = close(text, at),
            b'|' => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

const fn find(text: &[u8], from: usize, to: usize, word: &str) -> Option<usize> {
    let mut at = from;
    while at + word.len() <= to {
        if is(text, at, at + word.len(), word) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Whether a part of the text is this word.
const fn is(text: &[u8], from: usize, to: usize, word: &str) -> bool {
    let word = word.as_bytes();
    if to - from != word.len() {
        return false;
    }
    let mut at = 0;
    while at < word.len() {
        if text[from + at] != word[at] {
            return false;
        }
        at += 1;
    }
    true
}
