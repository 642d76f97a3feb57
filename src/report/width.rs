//! Text that fits into a width.
//!
//! Rule: no word is cut. Widths are in characters.

use console::Term;

/// The assumed size of a terminal that does not report its size.
const USUAL_LINES: u16 = 24;
const USUAL_COLUMNS: u16 = 80;

/// The maximum length of a line, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    text: usize,
    /// Of a table; `None` where it is not shown on a terminal.
    table: Option<usize>,
}

impl Default for Width {
    /// A line of a classic terminal with 80 columns, without the last one.
    fn default() -> Width {
        Width {
            text: 79,
            table: None,
        }
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
        let columns = usize::from(size_of(term).1);
        let width = Width::of_columns(columns);
        Width {
            table: width.table.filter(|_| term.is_term()),
            ..width
        }
    }

    /// Of a terminal with so many columns.
    pub(super) fn of_columns(columns: usize) -> Width {
        Width {
            // Some terminals begin a new line after the last column.
            text: columns.saturating_sub(1).min(Width::default().text),
            table: Some(columns),
        }
    }

    /// This width without so many characters.
    #[must_use]
    pub fn less(self, room: usize) -> Width {
        Width {
            text: self.text.saturating_sub(room),
            ..self
        }
    }

    pub(super) fn columns(self) -> usize {
        self.text
    }

    pub(super) fn table(self) -> Option<usize> {
        self.table
    }
}

/// The lines and columns of a terminal. Serial lines and containers may report 0.
pub(super) fn size_of(term: &Term) -> (u16, u16) {
    let known = |stated, usual| if stated == 0 { usual } else { stated };
    let (lines, columns) = term.size();
    (known(lines, USUAL_LINES), known(columns, USUAL_COLUMNS))
}

pub fn paragraph(found: &str, width: Width) -> String {
    wrapped(width.text, found.split(' ')).join("\n")
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
        let words = ["one", "two", "three"];
        assert_eq!(wrapped(9, words), ["one two", "three"]);
        assert_eq!(wrapped(7, words), ["one two", "three"]);
        assert_eq!(wrapped(6, words), ["one", "two", "three"]);
        assert_eq!(wrapped(1, words), ["one", "two", "three"]);
        assert_eq!(wrapped(13, words), ["one two three"]);
        assert_eq!(wrapped(9, []), [""]);
    }
}
