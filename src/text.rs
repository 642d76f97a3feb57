//! Makes text from files and from the service safe and short enough to display.
//!
//! Rule: pure. A header or an answer may contain escape sequences that would move the
//! cursor or change the title of the window. It may also be longer than anyone reads.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

/// Lists of words from a file next to the code: `[name]` begins a list, `#`
/// begins a comment, and white space separates words.
pub struct WordLists(HashMap<&'static str, HashSet<String>>);

impl WordLists {
    /// Reads the lists of a file, and passes each word through `normalize`.
    pub fn read(file: &'static str, normalize: fn(&str) -> String) -> WordLists {
        let lists = file.split("\n[").filter_map(|list| list.split_once("]\n"));
        let words = |text: &'static str| {
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            lines
                .flat_map(str::split_whitespace)
                .map(normalize)
                .collect()
        };
        WordLists(lists.map(|(name, text)| (name, words(text))).collect())
    }

    pub fn of(&self, list: &str) -> &HashSet<String> {
        &self.0[list]
    }

    pub fn has(&self, list: &str, word: &str) -> bool {
        self.of(list).contains(word)
    }

    /// The list of each word, where no word is in two.
    pub fn by_word(&self) -> HashMap<&str, &'static str> {
        let lists = self.0.iter();
        let words = lists.flat_map(|(name, words)| words.iter().map(|word| (word.as_str(), *name)));
        words.collect()
    }
}

/// The name of the file, if the text is an absolute path.
pub fn file_name(text: &str) -> &str {
    let path = Path::new(text);
    let name = path.is_absolute().then(|| path.file_name()).flatten();
    name.and_then(OsStr::to_str).unwrap_or(text)
}

/// Whether a character is not shown itself, and may steer the terminal, turn the direction of writing
/// or hide something: all control characters, those that separate lines and paragraphs, and those of
/// Unicode's category "format" that are invisible, and other invisible marks. Zero-width joiners and variation
/// selectors stay: Persian, the languages of India and emoji cannot be written without them.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
            | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E007F}')
}

/// The text with `�` for every character that is [not shown](is_unseen).
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.contains(is_unseen) {
        Cow::Owned(text.replace(is_unseen, "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// JSON with escapes for all characters that are [not shown](is_unseen): other values than before are
/// never read from it. What JSON itself has such characters for, line ends, stays.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && is_unseen(c);
    if !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_escaped(c) {
            true => shown.extend(
                c.encode_utf16(&mut [0; 2])
                    .iter()
                    .map(|unit| format!("\\u{unit:04x}")),
            ),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// The printable text on one line: each run of white space becomes one space.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    printable(&words.join(" ")).into_owned()
}

/// The printable text with its line ends unchanged.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let is_replaced = |c: char| c != '\n' && is_unseen(c);
    match text.contains(is_replaced) {
        true => Cow::Owned(text.replace(is_replaced, "\u{FFFD}")),
        false => Cow::Borrowed(text),
    }
}

/// Whether the text looks like a token that was entered in the wrong place.
pub fn looks_secret(text: &str) -> bool {
    let is_long_word = text.len() >= 20 && !text.contains(['/', '\\', '.', ' ']);
    let names_scheme = text.trim_start().to_lowercase().starts_with("bearer ");
    is_long_word || names_scheme || text.contains('|')
}

/// Whether the text is in quotation marks, which a file of variables, another program or an editor
/// has left around it.
pub fn is_quoted(text: &str) -> bool {
    const MARKS: &str = "'\"`´‘’‚‛“”„‟‹›«»「」『』＂＇";
    let mut ends = text.trim().chars();
    let is_mark = |c: Option<char>| c.is_some_and(|c| MARKS.contains(c));
    is_mark(ends.next()) && is_mark(ends.next_back())
}

/// The text in backquotes, or a placeholder if it looks like a token.
pub fn quoted_unless_secret(text: &str) -> String {
    if looks_secret(text) {
        "`…` (hidden, since it looks like a token)".into()
    } else {
        format!("`{}`", printable(text))
    }
}

/// What the user typed, in backquotes. Anything that may be a token or a
/// phone number is hidden, because the message may end up in a log.
pub fn quoted_value(value: &str) -> String {
    without_numbers(&quoted_unless_secret(value))
}

/// How many characters of a name are shown. Anything longer is not a name,
/// but for example a whole file that was read in the wrong encoding.
const LONGEST_NAME: usize = 60;

/// The name of a column, a sheet or a campaign for display. Phone numbers are
/// hidden: in a file without a header the first contact is taken as the header.
pub fn shown_name(name: &str) -> String {
    shortened(&without_numbers(&printable(name)), LONGEST_NAME)
}

/// Names in backquotes with commas between them, for a sentence. A very long list is cut.
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    const MAX: usize = 40;
    let mut text = names
        .iter()
        .take(MAX)
        .map(|name| format!("`{}`", shown_name(name.as_ref())))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MAX {
        text.push_str(" and more");
    }
    text
}

/// At most `max` characters of the text. If it is cut, the last of them is `…`.
pub fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(max.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text with every run of digits that is long enough for a phone number replaced
/// by `…`. For everything that is shown outside the files that may hold personal data.
pub fn without_numbers(text: &str) -> String {
    const MIN_DIGITS: usize = 7;
    let is_part = |c: char| c.is_numeric() || matches!(c, ' ' | '-' | '.' | '(' | ')' | '/');
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(char::is_numeric) {
        let (before, from_digit) = rest.split_at(start);
        let end = from_digit.find(|c| !is_part(c)).unwrap_or(from_digit.len());
        let run = from_digit[..end].trim_end_matches(|c: char| !c.is_numeric());
        shown.push_str(before);
        match run.chars().filter(|c| c.is_numeric()).count() {
            digits if digits >= MIN_DIGITS => shown.push('…'),
            _ => shown.push_str(run),
        }
        rest = &from_digit[run.len()..];
    }
    shown.push_str(rest);
    shown
}

/// The text with every word of these values replaced by `…`, so that it repeats no
/// personal data of a row. Words of one or two characters are kept: they reveal nothing.
pub fn without_words_of<'v>(text: &str, values: impl Iterator<Item = &'v str>) -> String {
    const MIN_LENGTH: usize = 3;
    let is_split = |c: char| !c.is_alphanumeric();
    let words: HashSet<String> = values
        .flat_map(|value| value.split(is_split))
        .filter(|word| word.chars().count() >= MIN_LENGTH)
        .map(str::to_lowercase)
        .collect();
    let shown = |piece: &str| {
        let word = piece.trim_end_matches(is_split);
        if words.contains(&word.to_lowercase()) {
            format!("…{}", &piece[word.len()..])
        } else {
            piece.to_owned()
        }
    };
    text.split_inclusive(is_split).map(shown).collect()
}

/// `` `a`, `b` or `c` ``.
pub fn alternatives<S: AsRef<str>>(words: &[S]) -> String {
    let words = words.iter().map(|word| format!("`{}`", word.as_ref()));
    joined(&words.collect::<Vec<_>>(), "or")
}

/// `a`, `a and b`, `a, b and c`, with this word for `and`.
pub fn joined(parts: &[String], and: &str) -> String {
    match parts {
        [before @ .., last] if !before.is_empty() => {
            format!("{} {and} {last}", before.join(", "))
        }
        _ => parts.concat(),
    }
}

/// The name most similar to `typed`; `None` unless it is similar enough for a typing error.
pub fn nearest<'a, S: AsRef<str>>(typed: &str, names: &'a [S]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    names
        .iter()
        .map(AsRef::as_ref)
        .map(|name| (strsim::jaro_winkler(&typed, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The lines, of which each has its input (from 0): `line 3`, `lines 3, 7`, `line 3 of a.csv, line 9 of b.csv`.
pub fn lines(places: &[(usize, u64)], inputs: &[&str]) -> String {
    let has_several_files = inputs.len() > 1;
    let shown = places.iter().map(|(file, line)| match inputs.get(*file) {
        Some(file) if has_several_files => format!("line {line} of {}", printable(file)),
        _ => line.to_string(),
    });
    let shown: Vec<String> = shown.collect();
    let noun = match (has_several_files, shown.len()) {
        (true, _) => "",
        (false, 1) => "line ",
        (false, _) => "lines ",
    };
    format!("{noun}{}", shown.join(", "))
}

/// A count and its noun: `1 row`, `1,200 rows`.
pub fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", grouped(count)),
    }
}

/// The number with a comma after each thousand: `1,200`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups
        .map(String::from_utf8_lossy)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_cannot_reach_a_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\u{202e}c"), "a\u{FFFD}[2Jb\u{FFFD}c");
        assert!(matches!(printable("Größe"), Cow::Borrowed(_)));
        assert_eq!(
            printable_lines("a\u{1b}\n\nhint: b"),
            "a\u{FFFD}\n\nhint: b"
        );
    }

    /// By Unicode's own lists of the characters of the categories Cc, Zl, Zp and Cf, without those of
    /// category Cf that have a shape: signs of Arabic, Syriac and Kaithi around numbers, and Egyptian ones;
    /// and the Korean fillers.
    fn unseen() -> impl Iterator<Item = char> {
        let joiners = ['\u{200C}', '\u{200D}'];
        let ranges = [
            (0, 0x1F),
            (0x7F, 0x9F),
            (0xAD, 0xAD),
            (0x61C, 0x61C),
            (0x115F, 0x1160),
            (0x180E, 0x180E),
            (0x200B, 0x200F),
            (0x2028, 0x202E),
            (0x2060, 0x2064),
            (0x2066, 0x206F),
            (0x3164, 0x3164),
            (0xFEFF, 0xFEFF),
            (0xFFA0, 0xFFA0),
            (0xFFF9, 0xFFFB),
            (0x1BCA0, 0x1BCA3),
            (0x1D173, 0x1D17A),
            (0xE0001, 0xE0001),
            (0xE0020, 0xE007F),
        ];
        let all = ranges.into_iter().flat_map(|(first, last)| first..=last);
        all.filter_map(char::from_u32)
            .filter(move |c| !joiners.contains(c))
    }

    #[test]
    fn every_character_that_is_not_shown_is_replaced_or_escaped() {
        for c in unseen() {
            assert_eq!(printable(&format!("a{c}b")), "a\u{FFFD}b", "{c:?}");
            let value = format!("\"\\{c}🙂");
            let json = serde_json::to_string(&value).unwrap();
            let shown = printable_json(&json);
            assert!(!shown.contains(is_unseen), "{shown}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), value);
        }
    }

    #[test]
    fn what_people_write_is_shown_as_it_is() {
        // Persian, Hindi, Sinhala and emoji with joiners; variation selectors; a no-break space.
        for text in [
            "می\u{200C}خواهم",
            "क्\u{200D}ष",
            "👩\u{200D}👧",
            "❤\u{FE0F}",
            "葛\u{E0100}",
            "10\u{A0}km",
            "Größe",
        ] {
            assert!(matches!(printable(text), Cow::Borrowed(_)), "{text}");
            assert!(matches!(printable_json(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(printable_json("{\"a\":1}\n"), "{\"a\":1}\n");
    }

    #[test]
    fn a_shortened_text_is_cut_between_characters() {
        assert_eq!(shortened("größer", 4), "grö…");
        assert_eq!(shortened("größ", 4), "größ");
    }

    #[test]
    fn phone_numbers_are_left_out_and_small_numbers_stay() {
        assert_eq!(
            without_numbers("HTTP 422: +44 7911 123456 is in campaign 101."),
            "HTTP 422: +… is in campaign 101."
        );
        assert_eq!(without_numbers("1 (0) 2"), "1 (0) 2");
        assert_eq!(without_numbers("no digits"), "no digits");
    }

    #[test]
    fn what_was_typed_is_shown_unless_it_may_be_a_token_or_a_number() {
        for (typed, shown) in [
            ("Germny", "`Germny`"),
            ("+44 7911 123456", "`+…`"),
            ("x=447911123456", "`x=…`"),
            ("17|abc", "`…` (hidden, since it looks like a token)"),
        ] {
            assert_eq!(quoted_value(typed), shown);
        }
    }

    #[test]
    fn text_between_marks_of_any_kind_is_quoted() {
        for quoted in [
            "'a'", "\"a b\"", " 'a' ", "''", "`a`", "‘a’", "“a”", "„a“", "«a»", "‹a›",
        ] {
            assert!(is_quoted(quoted), "{quoted}");
        }
        for plain in ["", "'", "a", "'a", "a'", "O'Brien's", "'a'/b"] {
            assert!(!is_quoted(plain), "{plain}");
        }
    }

    #[test]
    fn a_typing_error_finds_the_nearest_name() {
        let names = ["Customer Name", "City"];
        assert_eq!(nearest("cutsomer name", &names), Some("Customer Name"));
        assert_eq!(nearest("zzz", &names), None);
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (10_000, "10,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn parts_are_joined_as_in_a_sentence() {
        let parts = ["a", "b", "c"].map(String::from);
        assert_eq!(joined(&parts, "and"), "a, b and c");
        assert_eq!(joined(&parts[..2], "and"), "a and b");
        assert_eq!(joined(&parts[..1], "and"), "a");
        assert_eq!(alternatives(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
