//! Do-not-call lists.
//!
//! A list protects people, so it is read strictly: one that is missing, that holds no
//! number, or that has a line with digits but without a number that can be read is
//! an error, not a shorter list. It is read like an input, in whatever form it has;
//! every column of phone numbers counts, and a heading is not needed.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::evidence::Evidence;
use super::is_wrong_for;
use super::numbers::Numbers;
use crate::lead::RowId;
use crate::mapping::{ListColumns, RowRegion, RowRegions};
use crate::phone::{
    PhoneNumber, PhoneReader, Region, Written, is_surely_number, looks_like_number,
};
use crate::source::{Content, Fingerprint, Flaw, Form, FormChoice, Input, Row, SourceError};
use crate::text::counted;

/// How many rows are looked at to find the columns of numbers.
const SAMPLE_ROWS: usize = 1000;

/// How many rows are read at a time.
const BATCH_ROWS: usize = 1024;

/// How many lines are named that cannot be read.
const MAX_LINES: usize = 10;

/// The lists of one command.
#[derive(Debug, Default)]
pub struct SuppressionLists {
    lists: Vec<SuppressionList>,
}

#[derive(Debug)]
struct SuppressionList {
    input: Input,
    fingerprint: Fingerprint,
    /// Each number and the line on which it stands first.
    numbers: Numbers,
    /// How its numbers came by their countries.
    evidence: Evidence,
}

/// What a list was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListFacts<'a> {
    /// The list as it was named on the command line.
    pub name: &'a str,
    /// What its file is known again by.
    pub fingerprint: Fingerprint,
    /// How many distinct numbers are on it.
    pub numbers: usize,
    /// How its numbers came by their countries.
    pub evidence: &'a Evidence,
}

/// A number that is on a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suppressed<'a> {
    /// The list as it was named on the command line.
    pub list: &'a str,
    /// The line of the list.
    pub line: u32,
}

/// Why a list cannot protect anybody.
#[derive(Debug, Error)]
pub enum SuppressionError {
    /// It cannot be read.
    #[error(transparent)]
    Source(SourceError),
    /// Standard input is for contacts.
    #[error(
        "`--suppress -` would read the do-not-call list from standard input\n\nhint: put the list into a file and name that"
    )]
    StandardInput,
    /// There is no number on it.
    #[error(
        "the do-not-call list `{name}` has no phone number on it{}\n\nhint: {}",
        if *has_addresses { ", only e-mail addresses" } else { "" },
        if *has_addresses {
            "nobody can be left out by an address: export the list with phone numbers, or leave `--suppress` out"
        } else {
            "is it the right file? numbers without + need `--region` or `--assume-plus`; to send without the list, leave `--suppress` out"
        }
    )]
    NoNumber {
        /// The list as it was named on the command line.
        name: String,
        /// Whether there are e-mail addresses instead.
        has_addresses: bool,
    },
    /// The region completes its numbers to those of other people.
    #[error(
        "the numbers of the do-not-call list `{name}` do not seem to be of {region}, whose region completes them\n\nhint: nothing was sent, since nobody on the list would be protected; write its numbers with + and calling code, or put their countries into a column; if they are right as they are, say `--phone-rule possible`",
        region = region.in_sentence()
    )]
    OtherCountry {
        /// The list as it was named on the command line.
        name: String,
        /// The region.
        region: Region,
    },
    /// Some of its numbers are written as those of its region are not.
    #[error(
        "the do-not-call list `{name}` has {} not written as those of {region} are, whose region completes them: {}\n\nhint: nothing was sent, since these people could have been called; write the numbers with + and calling code, or put their countries into a column; if they are right as they are, say `--phone-rule possible`",
        counted(*count, "number"), line_numbers(lines, *count), region = region.in_sentence()
    )]
    ForeignNumbers {
        /// The list as it was named on the command line.
        name: String,
        /// The region.
        region: Region,
        /// The lines of the first of them.
        lines: Vec<u64>,
        /// How many there are.
        count: u64,
    },
    /// Lines that have digits but no number.
    #[error(
        "the do-not-call list `{name}` has {} with digits that are no phone number, or with more cells than the first line: {}\n\nhint: nothing was sent, since the people in these lines could have been called; mend the lines or take them out, or give `--region` if the numbers are in national form, `--assume-plus` if they have lost their +; a country in the line must be one that is known",
        counted(*count, "line"), line_numbers(lines, *count)
    )]
    UnreadableLines {
        /// The list as it was named on the command line.
        name: String,
        /// The first such lines.
        lines: Vec<u64>,
        /// How many there are.
        count: u64,
    },
}

impl From<SourceError> for SuppressionError {
    fn from(error: SourceError) -> SuppressionError {
        match error {
            // What is said of a list of contacts does not fit.
            SourceError::Empty { name } => SuppressionError::NoNumber {
                name,
                has_addresses: false,
            },
            error => SuppressionError::Source(error),
        }
    }
}

fn open(path: &Path) -> Result<Input, SuppressionError> {
    if path.as_os_str() == "-" {
        Err(SuppressionError::StandardInput)
    } else {
        Ok(Input::open(path)?)
    }
}

fn line_numbers(lines: &[u64], count: u64) -> String {
    let named: Vec<String> = lines.iter().map(|line| format!("line {line}")).collect();
    match count.saturating_sub(lines.len() as u64) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

impl SuppressionLists {
    /// Makes sure that the lists are there, without reading them.
    pub fn look_at(paths: &[PathBuf]) -> Result<(), SuppressionError> {
        paths.iter().try_for_each(|path| open(path).map(drop))
    }

    /// Reads the lists. Numbers in national form are of the country that their row names, or
    /// else of `region`, which `doubts` says may be wrong.
    pub fn read(
        paths: &[PathBuf],
        phones: &PhoneReader,
        region: Option<Region>,
        doubts: bool,
    ) -> Result<SuppressionLists, SuppressionError> {
        let phones = phones.for_lists();
        let lists = paths
            .iter()
            .map(|path| SuppressionList::read(path, &phones, region, doubts))
            .collect::<Result<_, _>>()?;
        Ok(SuppressionLists { lists })
    }

    /// The first list that the number is on.
    pub fn find(&self, number: PhoneNumber) -> Option<Suppressed<'_>> {
        self.lists.iter().find_map(|list| {
            let line = list.numbers.get(number.key())?;
            Some(Suppressed {
                list: list.input.name(),
                line,
            })
        })
    }

    /// The lists as inputs, which must not be written to.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.lists.iter().map(|list| &list.input)
    }

    /// What each list was when it was read, in the order in which they were named.
    pub fn records(&self) -> impl Iterator<Item = ListFacts<'_>> {
        self.lists.iter().map(|list| ListFacts {
            name: list.input.name(),
            fingerprint: list.fingerprint,
            numbers: list.numbers.len(),
            evidence: &list.evidence,
        })
    }
}

impl SuppressionList {
    fn read(
        path: &Path,
        phones: &PhoneReader,
        region: Option<Region>,
        doubts: bool,
    ) -> Result<SuppressionList, SuppressionError> {
        let input = open(path)?;
        let mut gathered = Gathered::new(phones, region);
        for form in forms(&input)? {
            let plan = plan(&input, form)?;
            gathered.read(&input, &plan)?;
        }
        // Of what has just been read: it is said if that has changed meanwhile.
        let fingerprint = input.fingerprint()?;
        let has_none = gathered.numbers.is_empty() && gathered.has_addresses;
        if gathered.unreadable > 0 && !has_none {
            return Err(SuppressionError::UnreadableLines {
                name: input.name().to_owned(),
                lines: gathered.first_unreadable,
                count: gathered.unreadable,
            });
        }
        if gathered.numbers.is_empty() {
            return Err(SuppressionError::NoNumber {
                name: input.name().to_owned(),
                has_addresses: gathered.has_addresses,
            });
        }
        if let Some(region) = region.filter(|_| doubts) {
            gathered.refuse_doubtful(input.name(), region)?;
        }
        Ok(SuppressionList {
            input,
            fingerprint,
            numbers: gathered.numbers,
            evidence: gathered.evidence,
        })
    }
}

/// How a list is to be read.
#[derive(Debug)]
struct ListPlan {
    form: Form,
    /// How many cells a row has.
    width: usize,
    /// Where its numbers stand.
    columns: ListColumns,
}

/// The fewest digits of what may be somebody's number and is no heading.
const FEWEST_DIGITS: usize = 7;

/// The fewest in a column of which nothing says that it holds numbers: fewer are a
/// customer's id or a date.
const FEWEST_ELSEWHERE: usize = 9;

/// Whether a cell is more than a heading: nobody heads a list with so many digits, or
/// with digits alone, and a number that cannot be read must not be taken for one.
fn is_entry(cell: &str) -> bool {
    let digits = digits(cell);
    let is_bare = !cell.chars().any(char::is_alphabetic);
    digits >= FEWEST_DIGITS || digits > 0 && is_bare
}

/// Whether a cell in a column without numbers may hold one all the same.
fn may_be_number(cell: &str) -> bool {
    let behind_plus = cell.split_once('+').map_or(0, |(_, number)| digits(number));
    is_surely_number(cell)
        || behind_plus >= FEWEST_DIGITS
        || looks_like_number(cell) && digits(cell) >= FEWEST_ELSEWHERE
}

fn digits(text: &str) -> usize {
    text.chars().filter(|c| c.is_numeric()).count()
}

/// The forms in which the list is to be read, one after the other: of a workbook, every
/// sheet that holds anything.
fn forms(input: &Input) -> Result<Vec<Form>, SourceError> {
    let form = input.survey(&FormChoice::default())?;
    let Content::Sheet(first) = &form.content else {
        return Ok(vec![form]);
    };
    let mut forms = Vec::new();
    for name in first.names() {
        let choice = FormChoice {
            sheet: Some(name.clone()),
            ..FormChoice::default()
        };
        let form = input.survey(&choice)?;
        if matches!(&form.content, Content::Sheet(sheet) if sheet.rows().len() > 0) {
            forms.push(form);
        }
    }
    Ok(forms)
}

/// Finds out which columns of the list hold numbers.
fn plan(input: &Input, mut form: Form) -> Result<ListPlan, SourceError> {
    let header = input.read(&form)?.read_header(&form)?;
    form.has_header = !header.names.iter().any(|cell| is_entry(cell));
    let mut reader = input.read(&form)?;
    let header = reader.read_header(&form)?;
    let sample = reader.read_sample(SAMPLE_ROWS)?;
    Ok(ListPlan {
        form,
        width: header.names.len(),
        columns: ListColumns::find(input.name(), &header, &sample),
    })
}

/// What a list holds, as far as it has been read.
#[derive(Debug)]
struct Gathered<'p> {
    phones: &'p PhoneReader,
    /// The country of numbers in national form, where a row names none.
    region: Option<Region>,
    regions: RowRegions,
    numbers: Numbers,
    evidence: Evidence,
    has_addresses: bool,
    first_unreadable: Vec<u64>,
    unreadable: u64,
    /// The first lines with a number that is written as its region does not write.
    first_foreign: Vec<u64>,
}

impl<'p> Gathered<'p> {
    fn new(phones: &'p PhoneReader, region: Option<Region>) -> Gathered<'p> {
        Gathered {
            phones,
            region,
            regions: RowRegions::default(),
            numbers: Numbers::default(),
            evidence: Evidence::default(),
            has_addresses: false,
            first_unreadable: Vec::new(),
            unreadable: 0,
            first_foreign: Vec::new(),
        }
    }

    /// Each number that may be of another country is somebody who could be called.
    fn refuse_doubtful(&self, name: &str, region: Region) -> Result<(), SuppressionError> {
        let name = name.to_owned();
        if is_wrong_for(region, &self.evidence) {
            return Err(SuppressionError::OtherCountry { name, region });
        }
        match self.evidence.by_region.foreign {
            0 => Ok(()),
            count => Err(SuppressionError::ForeignNumbers {
                name,
                region,
                lines: self.first_foreign.clone(),
                count,
            }),
        }
    }

    fn read(&mut self, input: &Input, plan: &ListPlan) -> Result<(), SourceError> {
        let mut reader = input.read(&plan.form)?;
        reader.read_header(&plan.form)?;
        loop {
            let rows = reader.read_batch(0, RowId(1), BATCH_ROWS)?;
            if rows.is_empty() {
                // What stands below the list may be people too.
                let footer = reader.footer().iter();
                let with_digits = footer.filter(|line| digits(&line.text) > 0);
                with_digits.for_each(|line| self.note_unreadable(line.line));
                return Ok(());
            }
            for row in rows.rows() {
                if !self.take(row, plan) {
                    self.note_unreadable(row.line());
                }
            }
        }
    }

    fn note_unreadable(&mut self, line: u64) {
        self.unreadable += 1;
        if self.first_unreadable.len() < MAX_LINES {
            self.first_unreadable.push(line);
        }
    }

    /// Notes the numbers of a line; false where digits stand that are none, or where
    /// cells may have shifted away from their columns.
    fn take(&mut self, row: Row<'_>, plan: &ListPlan) -> bool {
        if row.flaw() == Some(Flaw::TooLong) {
            return false;
        }
        self.has_addresses |= row.cells().any(|cell| cell.contains(&b'@'));
        let countries = &plan.columns.countries;
        let of_row = self.regions.read(&countries.used, &countries.codes, row);
        let mut has_number = false;
        for column in &plan.columns.phones {
            let cell = row.cell(*column).unwrap_or_default();
            let is_noted = std::str::from_utf8(cell).is_ok_and(|text| self.note(row, of_row, text));
            if !is_noted && has_digit(cell) {
                return false;
            }
            has_number |= is_noted;
        }
        // A number elsewhere is as much on the list.
        for (column, cell) in row.cells().enumerate() {
            let text = String::from_utf8_lossy(cell);
            if plan.columns.phones.contains(&column) || !may_be_number(&text) {
                continue;
            }
            if !self.note(row, of_row, &text) {
                return false;
            }
            has_number = true;
        }
        let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
        let is_whole = row.flaw().is_none() && row.cells().skip(plan.width).all(is_blank);
        has_number && is_whole || !row.cells().any(has_digit)
    }

    /// Notes the number in a cell; false where there is none that can be read.
    fn note(&mut self, row: Row<'_>, of_row: RowRegion, cell: &str) -> bool {
        let region = match of_row {
            RowRegion::Known(region) => Some(region),
            RowRegion::None => self.region,
            RowRegion::Unknown(_) | RowRegion::Disagree(..) => None,
        };
        let Ok(read) = self.phones.read_as(cell, region) else {
            return false;
        };
        self.evidence
            .note(row.line(), cell, read, of_row.known(), false);
        let (number, written) = read;
        let is_completed = of_row.known().is_none();
        if is_completed && written == Written::Foreign && self.first_foreign.len() < MAX_LINES {
            self.first_foreign.push(row.line());
        }
        let line = u32::try_from(row.line()).unwrap_or(u32::MAX);
        self.numbers.note(number.key(), line);
        true
    }
}

/// Whether there is a digit of any script.
fn has_digit(cell: &[u8]) -> bool {
    digits(&String::from_utf8_lossy(cell)) > 0
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::phone::PhoneRules;

    #[test]
    fn a_list_is_recorded_by_its_name_its_bytes_and_its_distinct_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dnc.csv");
        fs::write(
            &path,
            "phone\n+447911000001\n+447911000002\n+447911000001\n",
        )
        .unwrap();
        let phones = PhoneReader::new(PhoneRules::default());
        let lists =
            SuppressionLists::read(std::slice::from_ref(&path), &phones, None, true).unwrap();
        let records: Vec<ListFacts<'_>> = lists.records().collect();
        assert_eq!(
            records,
            [ListFacts {
                name: &path.display().to_string(),
                fingerprint: Fingerprint::of(File::open(&path).unwrap()).unwrap(),
                numbers: 2,
                evidence: records[0].evidence,
            }]
        );
    }
}
