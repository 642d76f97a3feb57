//! The people whom the lists themselves mark as not to be called.
//!
//! Somebody who is marked in one row may be in another one without the mark. So all rows are read
//! before the first is sent, and a number that any row marks is left out in all its rows.

use super::numbers::Numbers;
use super::suppression::Listing;
use crate::mapping::{Mapping, MappingError, Mark, MarkColumn, MarkKind, NamedMark, UnknownMark};
use crate::phone::PhoneNumber;
use crate::source::{Header, Row};
use crate::text::shortened;

/// How many unknown words a message names at most.
const MAX_UNKNOWN: usize = 10;

/// How many characters of each it shows.
const LONGEST_UNKNOWN: usize = 40;

#[derive(Debug, Default)]
pub struct MarkedNumbers {
    pub columns: Vec<MarkedColumn>,
    /// Whether the numbers are from several inputs.
    are_several: bool,
    /// The new rows that `--only` takes, and those that a column stops that was found.
    rows: u64,
    stopped: u64,
}

#[derive(Debug)]
pub struct MarkedColumn {
    /// The input (from 0) that it is a column of.
    file: usize,
    mark: MarkColumn,
    pub column: NamedMark,
    numbers: Numbers,
    /// The rows that it stops.
    pub rows: u64,
    /// How many of these have no number that can be read, and the line of the first.
    pub unread: Option<(u64, u64)>,
    /// The rows without anything in it, and those with something.
    empty: u64,
    filled: u64,
    unknown: Vec<UnknownMark>,
}

impl MarkedColumn {
    /// How many rows have nothing in a consent column that others fill, unless somebody has said
    /// what becomes of them.
    pub fn empty_consents(&self) -> u64 {
        let is_consent = self.column.kind == MarkKind::Consent && self.filled > 0;
        if is_consent { self.empty } else { 0 }
    }

    /// Returns whether the person must not be called.
    fn count(&mut self, row: Row<'_>) -> bool {
        let mark = self.mark.read(row);
        match mark {
            Mark::Empty => self.empty += 1,
            _ => self.filled += 1,
        }
        if mark == Mark::Unknown {
            let is_full = self.unknown.len() == MAX_UNKNOWN;
            let text = shortened(row.lossy(self.mark.column).trim(), LONGEST_UNKNOWN);
            match self.unknown.iter_mut().find(|word| word.text == text) {
                Some(word) => word.rows += 1,
                None if is_full => {}
                None => self.unknown.push(UnknownMark {
                    text,
                    rows: 1,
                    line: row.line(),
                }),
            }
        }
        mark == Mark::Stop
    }
}

impl MarkedNumbers {
    /// Without any number yet. `inputs`: name, header and mapping of each.
    pub fn new<'i>(inputs: impl Iterator<Item = (&'i str, &'i Header, &'i Mapping)>) -> Self {
        let mut marked = MarkedNumbers::default();
        for (file, (input, header, mapping)) in inputs.enumerate() {
            marked.are_several = file > 0;
            let names = mapping.flag_texts(header, mapping.marks.iter().map(|mark| mark.column));
            let columns = mapping
                .marks
                .iter()
                .zip(names)
                .map(|(mark, name)| MarkedColumn {
                    file,
                    mark: *mark,
                    column: NamedMark {
                        kind: mark.kind,
                        header: header.names[mark.column].trim().to_owned(),
                        name,
                        input: input.to_owned(),
                    },
                    numbers: Numbers::default(),
                    rows: 0,
                    unread: None,
                    empty: 0,
                    filled: 0,
                    unknown: Vec::new(),
                });
            marked.columns.extend(columns);
        }
        marked
    }

    /// Notes what a row says. `numbers` reads all numbers of the row.
    ///
    /// If its cells may have shifted, it counts only where it says that somebody must not be called:
    /// a call that somebody did not want is worse than one that is not made.
    pub fn count(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        is_whole: bool,
        mut numbers: impl FnMut() -> Vec<PhoneNumber>,
    ) {
        let counts = is_whole && mapping.rejects_form.is_none() && !mapping.excludes(row);
        let line = u32::try_from(row.line()).unwrap_or(u32::MAX);
        let mut is_stopped = false;
        let mut all = None;
        let columns = self.columns.iter_mut();
        for marked in columns.filter(|marked| marked.file == row.file()) {
            let stops = match is_whole {
                true => marked.count(row),
                false => marked.mark.read(row) == Mark::Stop,
            };
            if !stops {
                continue;
            }
            marked.rows += 1;
            is_stopped |= marked.mark.is_found;
            let numbers = all.get_or_insert_with(&mut numbers);
            if numbers.is_empty() && mapping.phone_cell(row).contains(char::is_numeric) {
                marked.unread.get_or_insert((0, row.line())).0 += 1;
            }
            for number in numbers.iter() {
                marked.numbers.record(number.key(), line);
            }
        }
        self.rows += u64::from(counts);
        self.stopped += u64::from(counts && is_stopped);
    }

    /// Refuses words that are not known, and columns that were found and stop more than half of the
    /// rows: they may mean something else.
    pub fn refuse_unclear(&self) -> Result<(), MappingError> {
        let mut columns = self.columns.iter();
        if let Some(column) = columns.find(|column| !column.unknown.is_empty()) {
            return Err(MappingError::UnknownMarks {
                column: column.column.clone(),
                words: column.unknown.clone(),
            });
        }
        if 2 * self.stopped <= self.rows {
            return Ok(());
        }
        let columns = self.columns.iter();
        let found = columns.filter(|marked| marked.mark.is_found && marked.rows > 0);
        Err(MappingError::MostMarked {
            columns: found.map(|marked| marked.column.clone()).collect(),
            marked: self.stopped,
            rows: self.rows,
        })
    }

    /// Where the number is marked first.
    pub fn find(&self, number: PhoneNumber) -> Option<Listing<'_>> {
        let mut columns = self.columns.iter();
        columns.find_map(|marked| {
            let line = marked.numbers.get(number.key())?;
            let NamedMark {
                kind,
                header,
                input,
                ..
            } = &marked.column;
            let input = self.are_several.then_some(input.as_str());
            Some(Listing::Marked {
                kind: *kind,
                column: header,
                line,
                input,
            })
        })
    }
}
