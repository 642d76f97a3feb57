//! What the list itself says about calling: columns that mark people who must not be called, or who
//! agree to be called.
//!
//! A header is such a mark only if all its words say so: `Do Not Call` and `Marketing opt-out` are,
//! `Unsubscribed from all email` and `Blocked by` are not.

use std::sync::LazyLock;

use super::columns::Columns;
use super::date_cell::DateCell;
use super::error::MappingError;
use super::header_words::{is_in_list, snake, words, words_beside};
use super::only::OnlyRule;
use super::spec::{CONSENT_COLUMN, ColumnChoice, DO_NOT_CALL_COLUMN, MappingSpec, Unclear};
use crate::message::Text;
use crate::source::{Row, RowBatch};
use crate::text::{WordLists, shown_name};

static WORDS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::read(include_str!("mark_words.txt"), word));

/// What a column says about the people whom it marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// A marked person must not be called.
    DoNotCall,
    /// Somebody whose cell says no must not be called.
    Consent,
}

/// What one cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The person must not be called.
    Stop,
    Call,
    /// Nothing is said.
    Empty,
    /// The word is not known.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkColumn {
    /// The column (from 0).
    pub column: usize,
    pub kind: MarkKind,
    /// Whether it was found by its header, and not named by a flag.
    pub is_found: bool,
    /// What words that are not known mean, if somebody has said it.
    unknown: Option<Unclear>,
    /// What an empty cell means, if somebody has said it.
    empty: Option<Unclear>,
}

/// Such a column of an input, as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMark {
    pub kind: MarkKind,
    pub header: String,
    /// How a flag names it.
    pub name: String,
    pub input: String,
}

impl NamedMark {
    /// Who is marked, as a clause.
    pub fn says(&self) -> Text {
        text!(
            "the column `{header}` of `{input}` says who {who}",
            header = shown_name(&self.header),
            input = &self.input,
            who = self.kind.says()
        )
    }
}

impl MarkKind {
    pub fn flag(self) -> &'static str {
        match self {
            MarkKind::DoNotCall => DO_NOT_CALL_COLUMN,
            MarkKind::Consent => CONSENT_COLUMN,
        }
    }

    /// Who is marked, after "who".
    pub fn says(self) -> &'static str {
        match self {
            MarkKind::DoNotCall => "must not be called",
            MarkKind::Consent => "agrees to be called",
        }
    }

    /// The headers that mean it.
    fn list(self) -> &'static str {
        match self {
            MarkKind::DoNotCall => "do not call",
            MarkKind::Consent => "consent",
        }
    }

    /// Whether all words of the header say so.
    fn is_meant_by(self, header: &str) -> bool {
        let Some(others) = words_beside(header, self.list()) else {
            return false;
        };
        let name = words(header);
        let has = |list: &str| name.split('_').any(|word| is_in_list(list, word));
        // Headers such as `No consent` and `Not on TPS` say the opposite, unless that is known too.
        // `No. calls` is how many calls there were.
        let is_negative = match self {
            MarkKind::Consent => has("no or yes"),
            MarkKind::DoNotCall => {
                let (first, rest) = name.split_once('_').unwrap_or_default();
                let is_no = |word: &str| is_in_list("no or yes", word);
                others.iter().any(|word| is_no(word))
                    || is_no(first) && is_in_list(self.list(), rest)
            }
        };
        let is_other =
            is_in_list("not marks", &name) || header.trim().to_lowercase().starts_with("no.");
        if is_other || is_negative && !has("yes or no") && !is_in_list(self.list(), &name) {
            return false;
        }
        let is_beside = |word: &String| {
            let is = |list: &str| is_in_list(list, word);
            let is_number = word.chars().all(char::is_numeric);
            // A date of being blocked says so; the date of a consent does not say who refused.
            let is_more = self == MarkKind::DoNotCall && is("beside do not call");
            // Blocked by somebody is not blocked by phone.
            let is_channel = is("other channels") || word == "by";
            is("beside marks")
                || is("yes or no")
                || is("no or yes")
                || is(self.list())
                || is_number
                || is_more
                || is_channel && has("calls")
        };
        others.iter().all(is_beside)
    }

    pub fn read(self, cell: &str) -> Mark {
        let cell = cell.trim();
        if cell.is_empty() {
            return Mark::Empty;
        }
        let word = word(cell);
        let is = |list: &str| WORDS.has(list, &word);
        let is_stop = is("forbidden") || is_in_list("do not call", &word);
        let is_call = is("allowed") || is_in_list("consent", &word);
        let is_yes = is("yes") || DateCell::read(cell).is_some();
        let (yes, no) = match self {
            MarkKind::DoNotCall => (Mark::Stop, Mark::Call),
            MarkKind::Consent => (Mark::Call, Mark::Stop),
        };
        match () {
            () if is("nothing") => Mark::Empty,
            () if is_stop => Mark::Stop,
            () if is_call => Mark::Call,
            () if is_yes => yes,
            () if is("no") => no,
            () => Mark::Unknown,
        }
    }
}

impl MarkColumn {
    pub fn read(&self, row: Row<'_>) -> Mark {
        let mark = match row.cell(self.column) {
            None | Some([]) => Mark::Empty,
            Some(_) => self.kind.read(&row.lossy(self.column)),
        };
        let answer = match mark {
            Mark::Unknown => self.unknown,
            Mark::Empty => self.empty,
            Mark::Stop | Mark::Call => None,
        };
        answer.map_or(mark, |answer| match answer {
            Unclear::LeaveOut => Mark::Stop,
            Unclear::Call => Mark::Call,
        })
    }

    /// Whether the cells are those of a consent: a header such as `Consent` may also be that of a
    /// text which somebody agreed to, or of the channels.
    fn has_known_words(&self, sample: &RowBatch) -> bool {
        let marks = || {
            sample
                .rows()
                .map(|row| self.kind.read(&row.lossy(self.column)))
        };
        let is_known = |mark| matches!(mark, Mark::Stop | Mark::Call);
        marks().any(is_known) || marks().all(|mark| mark == Mark::Empty)
    }
}

/// Whether the cell says yes or no; `None` for other words.
pub(super) fn yes_or_no(cell: &str) -> Option<bool> {
    match MarkKind::DoNotCall.read(cell) {
        Mark::Stop => Some(true),
        Mark::Call | Mark::Empty => Some(false),
        Mark::Unknown => None,
    }
}

/// The columns whose headers say that people must not be called.
pub(super) fn do_not_call(columns: &Columns<'_>) -> Vec<usize> {
    columns.that(|header| MarkKind::DoNotCall.is_meant_by(header))
}

/// The columns that say who is called: those that flags name, or those that are found. A column
/// that `--only` chooses rows by is none of them.
pub(super) fn columns(
    columns: &Columns<'_>,
    sample: &RowBatch,
    spec: &MappingSpec,
    only: &[OnlyRule],
    in_use: &[bool],
) -> Result<Vec<MarkColumn>, MappingError> {
    let mut marks: Vec<MarkColumn> = Vec::new();
    let choices = [
        (MarkKind::DoNotCall, &spec.do_not_call),
        (MarkKind::Consent, &spec.consent),
    ];
    for (kind, choice) in choices {
        let named = match choice {
            ColumnChoice::Named(name) => Some(columns.find(kind.flag(), name)?),
            ColumnChoice::Auto | ColumnChoice::None => None,
        };
        // A saved mapping names the column that was found: the list may have another one by now.
        let is_saved = columns.saved.is_some_and(|saved| saved.has(kind.flag()));
        let is_auto = *choice == ColumnChoice::Auto || named.is_some() && is_saved;
        let mut found = match is_auto && columns.has_header {
            true => columns.that(|header| kind.is_meant_by(header)),
            false => Vec::new(),
        };
        found.retain(|column| named != Some(*column));
        let all = named.into_iter().chain(found);
        let found = all.map(|column| MarkColumn {
            column,
            kind,
            is_found: named != Some(column),
            unknown: spec.unclear_marks,
            empty: spec.empty_consent.filter(|_| kind == MarkKind::Consent),
        });
        marks.extend(found.filter(|mark| {
            let is_only = only.iter().any(|rule| rule.column == mark.column);
            let is_consent = kind == MarkKind::Consent;
            let is_other = || in_use[mark.column] || is_consent && !mark.has_known_words(sample);
            !(is_only || mark.is_found && is_other())
        }));
    }
    Ok(marks)
}

/// A cell as the word lists have it; a sign alone stays as it is.
fn word(cell: &str) -> String {
    match snake(cell) {
        word if word.is_empty() => cell.trim().to_owned(),
        word => word,
    }
}

#[cfg(test)]
#[path = "mark_tests.rs"]
mod tests;
