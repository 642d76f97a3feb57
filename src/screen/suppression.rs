//! Do-not-call lists: those that are given to an import, and the one that leadload keeps.
//!
//! A list protects people, so it is read strictly. It is an error if a list is missing, if it holds
//! no number, or if a line has digits but no number that can be read: skipping such a line would
//! leave people unprotected. A list is read like an input, in any form. Every column of phone
//! numbers counts, and a header is not needed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use jiff::Zoned;
use jiff::civil::Date;

use super::evidence::Evidence;
use super::is_wrong_for;
use super::numbers::Numbers;
use super::{KeptList, MarkedNumbers};
use crate::lead::RowId;
use crate::mapping::{ListColumns, MarkKind, PhoneColumn, RowRegion, RowRegions};
use crate::message::{Message, Template, Text};
use crate::phone::{
    PhoneNumber, PhoneProblem, PhoneRules, Read, Region, Written, is_surely_number,
    looks_like_number,
};
use crate::source::{
    Content, Fingerprint, Flaw, Form, FormChoice, Input, Row, SourceError, Survey,
};
use crate::text::shown_name;

const SAMPLE_ROWS: usize = 1000;

const BATCH_ROWS: usize = 1024;

const MAX_LINES: usize = 10;

#[derive(Debug, Default)]
pub struct SuppressionLists {
    /// In the order of the command line.
    pub lists: Vec<SuppressionList>,
    pub kept: KeptList,
    pub marked: Arc<MarkedNumbers>,
}

/// Where a number is on a do-not-call list, or is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing<'a> {
    List {
        name: &'a str,
        line: u32,
    },
    /// On the list that leadload keeps, since this day.
    Kept(Date),
    /// In a column of the import's own lists; `input` where there are several.
    Marked {
        kind: MarkKind,
        column: &'a str,
        line: u32,
        input: Option<&'a str>,
    },
}

impl Listing<'_> {
    pub fn text(&self) -> Text {
        match *self {
            Listing::List { name, line } => {
                text!(
                    "on the list {name}, line {line}",
                    name,
                    line = line.to_string()
                )
            }
            Listing::Kept(since) => text!(
                "on the do-not-call list that leadload keeps, since {since}",
                since = since.to_string()
            ),
            Listing::Marked {
                kind,
                column,
                line,
                input,
            } => text!(
                "{says}: the column `{column}`, line {line}{of}",
                says = match kind {
                    MarkKind::DoNotCall => template!("marked as not to be called"),
                    MarkKind::Consent => template!("without consent"),
                },
                column = shown_name(column),
                line = line.to_string(),
                of = input.map_or_else(Text::default, |input| text!(" of {input}", input))
            ),
        }
    }
}

/// The do-not-call list that an error is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongList(pub PathBuf);

impl fmt::Display for WrongList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the do-not-call list `{}`", self.0.display())
    }
}

impl std::error::Error for WrongList {}

#[derive(Debug)]
pub struct SuppressionList {
    pub input: Input,
    pub fingerprint: Fingerprint,
    /// Each number with its first line.
    pub numbers: Numbers,
    pub evidence: Evidence,
    /// The names of the columns that it was read from, where it has several.
    pub columns: Vec<String>,
    /// Whether it has the form of the American registry, whose numbers are American.
    pub is_american_registry: bool,
}

/// After more days than this, callers must have a newer copy of the American registry.
const MAX_REGISTRY_DAYS: i32 = 31;

impl SuppressionList {
    /// Says how old a copy of the American registry is, if it is too old.
    pub fn too_old(&self) -> Option<Message> {
        let changed = self.input.changed_on();
        let changed = changed.filter(|_| self.is_american_registry)?;
        let days = Zoned::now().date().since(changed).ok()?.get_days();
        let name = self.input.name();
        (days > MAX_REGISTRY_DAYS).then(|| {
            message!("the do-not-call list `{name}` is {days} days old, and a copy of the American registry must not be older than {most}", "download it again: people who have signed up since then would be called", name, days = days.to_string(), most = MAX_REGISTRY_DAYS.to_string())
        })
    }
}

/// What a list is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Import,
    /// To put its numbers on the list that leadload keeps, or to take them off it.
    Keep,
}

impl Use {
    /// What was left as it was because of a wrong list.
    fn untouched(self) -> Template {
        match self {
            Use::Import => template!("nothing was sent"),
            Use::Keep => template!("nothing was changed"),
        }
    }
}

#[derive(Debug, Default)]
struct Lines {
    first: Vec<String>,
    count: u64,
}

impl Lines {
    fn add(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < MAX_LINES {
            self.first.push(line.to_string());
        }
    }

    fn listed(&self) -> Text {
        let lines = self.first.join(", line ");
        match self.count - self.first.len() as u64 {
            0 => text!("line {lines}", lines),
            more => text!(
                "line {lines} and {more} more",
                lines,
                more = more.to_string()
            ),
        }
    }

    /// Says what is wrong with them, if there are any.
    fn with(&self, what: Template) -> Option<Text> {
        (self.count > 0).then(|| {
            text!(
                "{lines} {count?has:have} {what}",
                lines = self.listed(),
                count = self.count,
                what
            )
        })
    }
}

impl SuppressionLists {
    /// Reads the lists. A number in national form is completed with the country in its row, or else
    /// with `region`. With `doubts`, the doubt rule applies to what `region` completes.
    ///
    /// # Errors
    ///
    /// The message about a list, which is known as a [`WrongList`] too.
    pub fn read(
        paths: &[PathBuf],
        phones: &PhoneRules,
        region: Option<Region>,
        doubts: bool,
    ) -> Result<SuppressionLists> {
        SuppressionLists::read_for(Use::Import, paths, phones, region, doubts)
    }

    fn read_for(
        purpose: Use,
        paths: &[PathBuf],
        phones: &PhoneRules,
        region: Option<Region>,
        doubts: bool,
    ) -> Result<SuppressionLists> {
        let phones = phones.for_lists();
        let lists = paths
            .iter()
            .map(|path| {
                let read = SuppressionList::read(purpose, path, &phones, region, doubts);
                read.map_err(|message| anyhow::Error::new(WrongList(path.clone())).context(message))
            })
            .collect::<Result<_>>()?;
        Ok(SuppressionLists {
            lists,
            ..SuppressionLists::default()
        })
    }

    /// Reads lists whose numbers are to be kept, as strictly, with messages that fit.
    pub fn read_to_keep(
        paths: &[PathBuf],
        phones: &PhoneRules,
        region: Option<Region>,
        doubts: bool,
    ) -> Result<SuppressionLists> {
        SuppressionLists::read_for(Use::Keep, paths, phones, region, doubts)
    }

    /// The numbers of the lists.
    pub fn numbers(&self) -> impl Iterator<Item = PhoneNumber> {
        let keys = self.lists.iter().flat_map(|list| list.numbers.keys());
        keys.filter_map(PhoneNumber::from_key)
    }

    /// The first list that has this number, or the column that marks it.
    pub fn find(&self, number: PhoneNumber) -> Option<Listing<'_>> {
        let mut lists = self.lists.iter();
        let given = lists.find_map(|list| {
            let line = list.numbers.get(number.key())?;
            let name = list.input.name();
            Some(Listing::List { name, line })
        });
        given
            .or_else(|| self.kept.since(number).map(Listing::Kept))
            .or_else(|| self.marked.find(number))
    }

    /// The lists as inputs: no output may overwrite them.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.lists.iter().map(|list| &list.input)
    }
}

impl SuppressionList {
    fn read(
        purpose: Use,
        path: &Path,
        phones: &PhoneRules,
        region: Option<Region>,
        doubts: bool,
    ) -> Result<SuppressionList, Message> {
        if path.as_os_str() == "-" && purpose == Use::Import {
            return Err(message!(
                "{`--suppress -` would read the do-not-call list from standard input|the do-not-call list has no name}",
                "{put the list into a file and use that|remove the list, and add it again}"
            ));
        }
        let input = Input::open_list(path).map_err(|error| error.message)?;
        let name = input.name();
        let mut gathered = Gathered {
            purpose,
            phones,
            region,
            regions: RowRegions::default(),
            numbers: Numbers::default(),
            evidence: Evidence::default(),
            has_addresses: false,
            has_phone_column: None,
            unreadable: Lines::default(),
            misshapen: Lines::default(),
            cut_off: Lines::default(),
            foreign: Lines::default(),
            columns: Vec::new(),
            is_american_registry: false,
        };
        let fingerprint = match gathered.read_all(&input) {
            // The message about a list of contacts does not fit.
            Err(error) if error.is_empty => return Err(gathered.no_number(name)),
            read => read.map_err(|error| error.message)?,
        };
        gathered.refuse_unusable(name)?;
        if gathered.numbers.is_empty() {
            return Err(gathered.no_number(name));
        }
        if let Some(region) = region.filter(|_| doubts) {
            gathered.refuse_doubtful(name, region)?;
        }
        Ok(SuppressionList {
            fingerprint,
            numbers: gathered.numbers,
            evidence: gathered.evidence,
            columns: gathered.columns,
            is_american_registry: gathered.is_american_registry,
            input,
        })
    }
}

/// A cell with at least this many digits is not a header and may be a number.
const FEWEST_DIGITS: usize = 7;

/// A cell with at least this many digits may be a number in a column that is not known to have any:
/// shorter digits are a customer id or a date.
const FEWEST_ELSEWHERE: usize = 9;

/// Whether a cell is certainly not a header. No header has as many digits, or only digits; and a
/// number that cannot be read must not count as a header.
fn is_entry(cell: &str) -> bool {
    let digits = digits(cell);
    let is_bare = !cell.chars().any(char::is_alphabetic);
    digits >= FEWEST_DIGITS || digits > 0 && is_bare
}

/// Whether a cell in a column without phone numbers may still be a number.
fn may_be_number(cell: &str) -> bool {
    let behind_plus = cell.split_once('+').map_or(0, |(_, number)| digits(number));
    is_surely_number(cell)
        || behind_plus >= FEWEST_DIGITS
        || looks_like_number(cell) && digits(cell) >= FEWEST_ELSEWHERE
}

fn digits(text: &str) -> usize {
    text.chars().filter(|c| c.is_numeric()).count()
}

/// The forms in which the list is read, one after the other: for a workbook, each
/// sheet that has cells. Hidden sheets count too, and so do hidden rows: more people are protected.
fn forms(input: &Input) -> Result<Vec<Form>, SourceError> {
    let mut sheets = match input.survey(&FormChoice::default())? {
        Survey::Text(form) => return Ok(vec![form]),
        Survey::Workbook(forms) => forms,
    };
    let mut forms = Vec::new();
    for name in sheets.workbook.sheets() {
        let form = sheets.form(Some(&name), true, false)?;
        if matches!(&form.content, Content::Sheet(sheet) if sheet.rows().len() > 0) {
            forms.push(form);
        }
    }
    Ok(forms)
}

#[derive(Debug)]
struct Gathered<'p> {
    purpose: Use,
    phones: &'p PhoneRules,
    region: Option<Region>,
    regions: RowRegions,
    numbers: Numbers,
    evidence: Evidence,
    has_addresses: bool,
    /// `None` until something has been read.
    has_phone_column: Option<bool>,
    unreadable: Lines,
    misshapen: Lines,
    cut_off: Lines,
    foreign: Lines,
    columns: Vec<String>,
    is_american_registry: bool,
}

impl Gathered<'_> {
    /// Says what a list without any number has instead.
    fn no_number(&self, name: &str) -> Message {
        let lacked = match self.has_phone_column {
            Some(false) => "column",
            _ => "number on it",
        };
        let is_import = self.purpose == Use::Import;
        let (only, hint) = match self.has_addresses {
            true => (
                ", only e-mail addresses",
                text!(
                    "addresses leave no one out{: export the list with phone numbers{or}|; remove this list, and add one with phone numbers}",
                    or = if is_import {
                        ", or say `--suppress none`"
                    } else {
                        ""
                    }
                ),
            ),
            false => (
                "",
                text!(
                    "is it the right file? {numbers|Numbers} without + need {{--region} or `--assume-plus`|the country, in a column of the list or under {--region}}{without_list}",
                    without_list = match is_import {
                        true => template!(
                            "; to send without {any list, say `--suppress none`|the list, remove it}"
                        ),
                        false => template!(""),
                    }
                ),
            ),
        };
        let what = text!(
            "the do-not-call list `{name}` has no phone {lacked}{only}",
            name,
            lacked,
            only
        );
        Message::new(what, hint)
    }

    /// Refuses numbers that may be completed wrongly: each of them leaves someone unprotected.
    fn refuse_doubtful(&self, name: &str, region: Region) -> Result<(), Message> {
        let of = text!(
            "{country}{ (`--region {region}`)|}",
            country = region.in_sentence(),
            region = region.to_string()
        );
        let what = if is_wrong_for(region, &self.evidence) {
            text!(
                "the numbers of the do-not-call list `{name}` do not look like numbers of {of}",
                name,
                of
            )
        } else if self.foreign.count > 0 {
            text!(
                "the do-not-call list `{name}` has {numbers:number} not written like numbers of {of}: {lines}",
                name,
                numbers = self.foreign.count,
                of,
                lines = self.foreign.listed()
            )
        } else {
            return Ok(());
        };
        let hint = text!(
            "{{untouched}, since |}the people on this list might be called by mistake; write the numbers with + and the country code, or put their countries into a column{|, and add the list again}; if they are right as they are, {use `--phone-rule possible`|tick that below {--region}}",
            untouched = self.purpose.untouched()
        );
        Err(Message::new(what, hint))
    }

    /// Refuses a list with lines that cannot be used; a file that is no such list at all has an
    /// error of its own.
    fn refuse_unusable(&self, name: &str) -> Result<(), Message> {
        let is_other_file =
            self.numbers.is_empty() && (self.has_addresses || self.has_phone_column == Some(false));
        let unusable = [
            self.unreadable
                .with(template!("digits that are not a phone number")),
            self.misshapen.with(template!(
                "more cells than the first line, or a quote that is never closed"
            )),
            self.cut_off.with(template!(
                "a shorter number than all others of its country, and the file ends in it without a line end: it may be cut off (if not, end the line)"
            )),
        ];
        let unusable = unusable.into_iter().flatten();
        let unusable = unusable.reduce(|lines, more| text!("{lines}; {more}", lines, more));
        let Some(unusable) = unusable.filter(|_| !is_other_file) else {
            return Ok(());
        };
        Err(message!(
            "the do-not-call list `{name}` has lines that cannot be used: {unusable}",
            "{{untouched}, since |}these people might be called by mistake; correct the lines {(delete one only if it is no phone number), then {again}; numbers without a country code need {--region}, or `--assume-plus` if only the + is missing|in the file, with + and the country code before each number, and add the list again; delete a line only if it is no phone number}",
            name,
            unusable,
            untouched = self.purpose.untouched()
        ))
    }

    fn read_all(&mut self, input: &Input) -> Result<Fingerprint, SourceError> {
        for form in forms(input)? {
            self.read(input, form)?;
        }
        // After reading, because this is an error if the file has changed meanwhile.
        input.fingerprint()
    }

    fn read(&mut self, input: &Input, mut form: Form) -> Result<(), SourceError> {
        let header = input.read(&form)?.read_header(&form)?;
        form.has_header = !header.names.iter().any(|cell| is_entry(cell));
        let mut reader = input.read(&form)?;
        let header = reader.read_header(&form)?;
        let width = header.names.len();
        let sample = reader.read_sample(SAMPLE_ROWS)?;
        let columns = ListColumns::find(input.name(), &header, &sample);
        let is_found_here = !columns.phones.is_empty();
        self.is_american_registry |= columns.is_american_registry;
        for column in columns.phones.iter().filter(|_| width > 1) {
            let names: Vec<&str> = column
                .columns()
                .map(|at| header.names[at].as_str())
                .collect();
            let name = names.join("+");
            if !self.columns.contains(&name) {
                self.columns.push(name);
            }
        }
        self.has_phone_column = Some(is_found_here || self.has_phone_column == Some(true));
        let mut reader = input.read(&form)?;
        reader.read_header(&form)?;
        loop {
            let rows = reader.read_batch(0, RowId(1), BATCH_ROWS)?;
            if rows.is_empty() {
                // The lines below the list may have numbers too.
                let footer = reader.footer().iter();
                let with_digits = footer.filter(|line| digits(&line.text) > 0);
                with_digits.for_each(|line| self.unreadable.add(line.line));
                return Ok(());
            }
            for row in rows.rows() {
                if row.ends_open() && self.ends_in_cut_number(row, &columns) {
                    self.cut_off.add(row.line());
                    continue;
                }
                let is_misshapen = row.flaw().is_some() || !row.cells().skip(width).all(is_blank);
                if row.flaw() == Some(Flaw::TooLong) || !self.record_row(row, &columns) {
                    self.unreadable.add(row.line());
                } else if is_misshapen && row.cells().any(has_digit) {
                    self.misshapen.add(row.line());
                }
            }
        }
    }

    /// Whether the last cell of the list has a number, which all others of its country are longer
    /// than.
    fn ends_in_cut_number(&self, row: Row<'_>, columns: &ListColumns) -> bool {
        let countries = &columns.countries;
        let of_row = self
            .regions
            .clone()
            .read(&countries.used, &countries.codes, row);
        let (last, region) = (row.len().saturating_sub(1), self.region_for(of_row));
        let cell = row.text(last).unwrap_or_default();
        let phone = columns.phones.iter().find(|phone| phone.number == last);
        let read = match phone {
            Some(phone) => phone.read(row, self.phones, region).ok(),
            None if may_be_number(cell) => self.phones.read_as(cell, region).ok(),
            None => None,
        };
        read.is_some_and(|read| {
            let mut lengths = self.evidence.lengths.clone();
            lengths.record(read.number, read.kind.calling_code);
            lengths.show_cut(read.number, cell)
        })
    }

    /// Records the numbers of a row. Returns false if the row has digits that are not a number.
    fn record_row(&mut self, row: Row<'_>, columns: &ListColumns) -> bool {
        self.has_addresses |= row.cells().any(|cell| cell.contains(&b'@'));
        let countries = &columns.countries;
        let of_row = if columns.is_american_registry {
            Region::parse("US").map_or(RowRegion::None, RowRegion::Known)
        } else {
            self.regions.read(&countries.used, &countries.codes, row)
        };
        let mut has_number = false;
        for column in &columns.phones {
            let cell = row.cell(column.number).unwrap_or_default();
            let is_number = std::str::from_utf8(cell).is_ok()
                && self.record(row, of_row, &column.cell(row), |phones, region| {
                    column.read(row, phones, region)
                });
            if !is_number && has_digit(cell) {
                return false;
            }
            has_number |= is_number;
        }
        // A number in another column is on the list too.
        for (column, cell) in row.cells().enumerate() {
            let text = String::from_utf8_lossy(cell);
            let is_read = |phone: &PhoneColumn| phone.columns().any(|read| read == column);
            if columns.phones.iter().any(is_read) || !may_be_number(&text) {
                continue;
            }
            if !self.record(row, of_row, &text, |phones, region| {
                phones.read_as(&text, region)
            }) {
                return false;
            }
            has_number = true;
        }
        has_number || !row.cells().any(has_digit)
    }

    /// Records the number in a cell. Returns false if the number cannot be read.
    fn record(
        &mut self,
        row: Row<'_>,
        of_row: RowRegion,
        cell: &str,
        read: impl Fn(&PhoneRules, Option<Region>) -> Result<Read, PhoneProblem>,
    ) -> bool {
        let Ok(read) = read(self.phones, self.region_for(of_row)) else {
            return false;
        };
        self.evidence
            .record(row.line(), cell, read, of_row.known(), false);
        let Read {
            number, written, ..
        } = read;
        if of_row.known().is_none() && written == Written::Foreign {
            self.foreign.add(row.line());
        }
        let line = u32::try_from(row.line()).unwrap_or(u32::MAX);
        self.numbers.record(number.key(), line);
        true
    }

    fn region_for(&self, of_row: RowRegion) -> Option<Region> {
        match of_row {
            RowRegion::Known(region) => Some(region),
            RowRegion::None => self.region,
            RowRegion::Unknown(_) | RowRegion::Disagree(..) => None,
        }
    }
}

fn is_blank(cell: &[u8]) -> bool {
    cell.trim_ascii().is_empty()
}

fn has_digit(cell: &[u8]) -> bool {
    digits(&String::from_utf8_lossy(cell)) > 0
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::phone::PhoneRules;

    #[test]
    fn a_cell_with_seven_digits_or_with_digits_and_no_letter_is_no_header() {
        for cell in ["Ada 7911001", "phone 4479110000", "7", "(12) -", "٧"] {
            assert!(is_entry(cell), "{cell}");
        }
        for cell in ["Phone", "phone_number_2", "Ada 791100", "", " ", "-", "+"] {
            assert!(!is_entry(cell), "{cell}");
        }
    }

    #[test]
    fn an_error_says_which_list_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["fine.csv", "wrong.csv"].map(|name| folder.path().join(name));
        fs::write(&paths[0], "phone\n+447911000001\n").unwrap();
        fs::write(&paths[1], "phone\n+44123\n").unwrap();
        let read = SuppressionLists::read(&paths, &PhoneRules::default(), None, true);
        let error = read.unwrap_err();
        assert_eq!(
            error.downcast_ref(),
            Some(&WrongList(paths[1].clone())),
            "{error}"
        );
        let (what, _) = Message::of(&error).on_page();
        assert_eq!(
            what,
            "The do-not-call list “wrong.csv” has lines that cannot be used: line 2 has digits that are not a phone number."
        );
    }

    #[test]
    fn a_list_is_recorded_by_its_name_its_bytes_and_its_distinct_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dnc.csv");
        fs::write(
            &path,
            "phone\n+447911000001\n+447911000002\n+447911000001\n",
        )
        .unwrap();
        let phones = PhoneRules::default();
        let lists =
            SuppressionLists::read(std::slice::from_ref(&path), &phones, None, true).unwrap();
        let [list] = &lists.lists[..] else {
            panic!("one list was read");
        };
        assert_eq!(list.input.name(), path.display().to_string());
        let fingerprint = Fingerprint::of(File::open(&path).unwrap()).unwrap();
        assert_eq!(list.fingerprint, fingerprint);
        assert_eq!(list.numbers.len(), 2);
    }
}
