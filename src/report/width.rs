//! Text that fits into a width.
//!
//! Rule: no word is cut. Widths are in characters.

use std::fmt::{self, Write};

use console::Term;

use crate::text::printable;

/// How far the text of a line is indented.
const INDENT: usize = 13;

/// The assumed size of a terminal that does not report its size.
const USUAL_LINES: u16 = 24;
const USUAL_COLUMNS: u16 = 80;

/// The maximum length of a line, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width(usize);

impl Default for Width {
    /// A line of a classic terminal with 80 columns, without the last one.
    fn default() -> Width {
        Width(79)
    }
}

impl Width {
    pub fn of_stderr() -> Width {
        Width::of(&Term::stderr())
    }

    pub fn of_stdout() -> Width {
        Width::of(&Term::stdout())
    }

    fn of(term: &Term) -> Width {
        let Width(most) = Width::default();
        // Some terminals begin a new line after the last column.
        Width(usize::from(size_of(term).1 - 1).min(most))
    }

    pub fn less(self, room: usize) -> Width {
        Width(self.0.saturating_sub(room))
    }
}

/// The lines and columns of a terminal. Serial lines and containers may report 0.
pub(super) fn size_of(term: &Term) -> (u16, u16) {
    let known = |stated, usual| if stated == 0 { usual } else { stated };
    let (lines, columns) = term.size();
    (known(lines, USUAL_LINES), known(columns, USUAL_COLUMNS))
}

/// Lines with a label and a text. The text is indented in every line.
pub(super) fn labelled(lines: &[(&str, String)], Width(width): Width) -> String {
    let mut text = String::new();
    for (what, found) in lines {
        let mut what = *what;
        for line in wrapped(width.saturating_sub(INDENT), printable(found).split(' ')) {
            let _ = writeln!(text, "  {what:<label$}{line}", label = INDENT - 2);
            what = "";
        }
    }
    text
}

/// The text that `write` writes. Writing to a string does not fail.
pub(super) fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    let _ = write(&mut text);
    text
}

pub fn paragraph(found: &str, Width(width): Width) -> String {
    wrapped(width, found.split(' ')).join("\n")
}

/// The words, joined by spaces, in lines of at most `width`
/// characters. A word that is wider has a line of its own.
pub(super) fn wrapped<'a>(width: usize, words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words {
        let is_full = line.chars().count() + word.chars().count() >= width;
        if is_full && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_long_words_are_left_whole() {
        let lines = [
            ("campaign", "one two three four".to_owned()),
            ("service", "http://service.example/ x".to_owned()),
        ];
        assert_eq!(
            labelled(&lines, Width(22)),
            "  campaign   one two\n             three\n             four\n  \
             service    http://service.example/\n             x\n"
        );
        assert_eq!(paragraph("one two three", Width(8)), "one two\nthree");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let words = ["one", "two", "three"];
        assert_eq!(wrapped(9, words), ["one two", "three"]);
        assert_eq!(wrapped(7, words), ["one two", "three"]);
        assert_eq!(wrapped(6, words), ["one", "two", "three"]);
        assert_eq!(wrapped(1, words), ["one", "two", "three"]);
        assert_eq!(wrapped(13, words), ["one two three"]);
        assert_eq!(wrapped(9, []), [""]);
    }
}
