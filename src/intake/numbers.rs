//! Reads the number of a row from its phone cells.

use std::borrow::Cow;

use super::{Intake, PlannedInput};
use crate::lead::{ErrorCode, RowOutcome};
use crate::mapping::{LIKE_FOOTER, Mapping, PhoneColumn, RowRegion, RowRegions};
use crate::message::Template;
use crate::phone::{
    LineKinds, NumberKind, PhoneNumber, PhoneProblem, PhoneRules, Read, Region, Written,
};
use crate::screen::{Evidence, ListDoubt};
use crate::source::Row;
use crate::text::{shortened, shown_name};

const LONGEST_COUNTRY: usize = 60;

const LONGEST_CELL: usize = 250;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// The cells may have shifted: none of them is believed.
    Misshapen(Box<RowOutcome>),
    /// The row is left out on purpose. With its number, if it has one.
    Excluded(Option<PhoneNumber>),
    NoNumber(Box<RowOutcome>),
    Number(PhoneNumber, NumberKind),
}

enum Wrong {
    Problem(PhoneProblem),
    Doubtful(RowOutcome),
}

impl Reading {
    pub(super) fn number(&self) -> Option<PhoneNumber> {
        match self {
            Reading::Number(number, _) => Some(*number),
            Reading::Misshapen(_) | Reading::NoNumber(_) | Reading::Excluded(_) => None,
        }
    }
}

/// Reads numbers, row by row. Each thread has its own reader: the caches of the
/// phone rules are not shared.
#[derive(Debug, Clone)]
pub(super) struct NumberReader {
    pub(super) intake: Intake,
    /// For rows that name a country which is not known.
    cautious: PhoneRules,
    region: Option<Region>,
    kinds: LineKinds,
    regions: RowRegions,
    evidence: Evidence,
    /// Whether the input ends, without a line end, in the number that was read last.
    ends_in_number: bool,
}

impl NumberReader {
    pub(super) fn new(mut intake: Intake) -> NumberReader {
        // Which kinds are allowed is looked at last: a number that is completed with the wrong country
        // is evidence against that country, whatever its kind would be there.
        let kinds = std::mem::replace(&mut intake.phones.kinds, LineKinds::ALL);
        NumberReader {
            kinds,
            cautious: intake.phones.without_assuming(),
            region: intake.region.as_ref().map(|given| given.region),
            intake,
            regions: RowRegions::default(),
            evidence: Evidence::default(),
            ends_in_number: false,
        }
    }

    pub(super) fn take_evidence(&mut self) -> Evidence {
        std::mem::take(&mut self.evidence)
    }

    pub(super) fn ends_in_number(&self) -> bool {
        self.ends_in_number
    }

    pub(super) fn read(&mut self, planned: &PlannedInput, row: Row<'_>) -> Reading {
        let mapping = &planned.mapping;
        if let Some(outcome) = mapping.shape.misshapen(row) {
            return Reading::Misshapen(Box::new(outcome));
        }
        if mapping.excludes(row) {
            let counted = self.take_evidence();
            let number = self.number(planned, row).ok().map(|read| read.number);
            // The row is left out and not counted, but its country still counts as evidence.
            let said = std::mem::replace(&mut self.evidence, counted);
            self.evidence.add_countries(&said);
            return Reading::Excluded(number);
        }
        match self.number(planned, row) {
            Ok(read) => Reading::Number(read.number, read.kind),
            Err(outcome) => Reading::NoNumber(Box::new(outcome)),
        }
    }

    /// The first usable number in the phone columns. If there is none, the error is about the first
    /// cell that is not empty.
    pub(super) fn number(
        &mut self,
        planned: &PlannedInput,
        row: Row<'_>,
    ) -> Result<Read, RowOutcome> {
        let mapping = &planned.mapping;
        let (columns, codes) = (&mapping.countries.used, &mapping.countries.codes);
        let of_row = self.regions.read(columns, codes, row);
        let mut wrong = Wrong::Problem(PhoneProblem::Missing);
        let mut first_is_empty = false;
        for (at, column) in mapping.phone_columns.iter().enumerate() {
            let (phones, region) = self.reader_for(of_row);
            let found = match column.read(row, phones, region) {
                Ok(read) => self
                    .completed(mapping, row, of_row, *column, read)
                    .map_err(Wrong::Doubtful)
                    .and_then(|read| self.of_allowed_kind(read)),
                Err(problem) => Err(Wrong::Problem(problem)),
            };
            if at == 0 {
                first_is_empty = matches!(found, Err(Wrong::Problem(PhoneProblem::Missing)));
            }
            match (found, &wrong) {
                (Ok(_), _) if mapping.is_still_cut_off(row, *column) => {
                    return Err(cut_off(&column.cell(row)));
                }
                (Ok(read), _) => {
                    self.ends_in_number = row.ends_open() && column.number + 1 == row.len();
                    let later = &mut self.evidence.later_columns;
                    match (at, first_is_empty) {
                        (0, _) => {}
                        (_, true) => later.empty += 1,
                        (_, false) => later.record_unusable(row.id(), row.line()),
                    }
                    return Ok(read);
                }
                (Err(found), Wrong::Problem(PhoneProblem::Missing)) => wrong = found,
                (Err(_), _) => {}
            }
        }
        Err(match wrong {
            Wrong::Problem(problem) => self.refused(planned, row, of_row, problem),
            Wrong::Doubtful(outcome) => outcome,
        })
    }

    /// All numbers in the phone columns of a row, whatever speaks against sending to them: also
    /// several in a cell, and those beside an extension or a word.
    pub(super) fn all(&mut self, planned: &PlannedInput, row: Row<'_>) -> Vec<PhoneNumber> {
        let mapping = &planned.mapping;
        let (columns, codes) = (&mapping.countries.used, &mapping.countries.codes);
        let of_row = self.regions.read(columns, codes, row);
        let (phones, region) = self.reader_for(of_row);
        let mut numbers = Vec::new();
        for column in &mapping.phone_columns {
            if let Ok(read) = column.read(row, phones, region) {
                numbers.push(read.number);
                continue;
            }
            let cell = column.cell(row);
            let parts = cell.split(|c: char| !c.is_numeric() && !"+ .-()".contains(c));
            let read = parts.filter_map(|part| phones.read(part, region).ok());
            numbers.extend(read);
        }
        numbers
    }

    fn of_allowed_kind(&self, read: Read) -> Result<Read, Wrong> {
        let line = read.kind.line;
        if self.kinds.has(line) {
            Ok(read)
        } else {
            Err(Wrong::Problem(PhoneProblem::KindNotAllowed(line)))
        }
    }

    /// The number of a row, unless there is evidence against the country that completed it.
    fn completed(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        of_row: RowRegion,
        column: PhoneColumn,
        read: Read,
    ) -> Result<Read, RowOutcome> {
        let country = of_row.known();
        let is_national = read.written != Written::International;
        // Only national numbers are examples of something.
        let cell = match is_national {
            true => column.cell(row),
            false => Cow::default(),
        };
        let by_region = self.region.filter(|_| is_national && country.is_none());
        let is_contradicted = by_region.is_some_and(|region| {
            let vague = self.regions.read(&mapping.countries.vague, &[], row);
            let named = vague.known();
            named.is_some_and(|named| !named.shares_calling_code(region))
        });
        let is_doubtful = self
            .evidence
            .record(row.line(), &cell, read, country, is_contradicted);
        let Some(region) = by_region.filter(|_| self.intake.doubts) else {
            return Ok(read);
        };
        let why = match self.held(row.file()) {
            _ if mapping.was_doubtful(row) && self.is_still_doubtful() => {
                template!("its country is still in doubt")
            }
            Some(list) if list.against.is_some() => {
                template!("the rest of the list is of another country")
            }
            Some(_) if is_doubtful && read.written == Written::Foreign => {
                template!("numbers there are written in another way")
            }
            Some(_) if is_contradicted => template!("its row names another country"),
            Some(_) if is_doubtful => template!("no such numbers are in use there"),
            _ => return Ok(read),
        };
        Err(doubtful(region, why))
    }

    /// The list with this index, if its doubtful numbers are held back.
    fn held(&self, list: usize) -> Option<&ListDoubt> {
        let list = self.intake.doubt.as_ref()?.lists.get(list)?;
        list.is_held.then_some(list)
    }

    /// Whether the region is still the one that made the numbers of the rejects doubtful.
    fn is_still_doubtful(&self) -> bool {
        self.intake.doubted.is_none() || self.intake.doubted == self.region
    }

    fn refused(
        &mut self,
        planned: &PlannedInput,
        row: Row<'_>,
        of_row: RowRegion,
        problem: PhoneProblem,
    ) -> RowOutcome {
        let code = problem.code();
        if problem == PhoneProblem::Missing {
            return self.missing(planned, row, of_row);
        }
        let mut phones = planned.mapping.phone_columns.iter();
        if problem == PhoneProblem::Extension
            && let Some(column) = phones.find_map(|phone| phone.filled_extension(row))
        {
            let what = text!(
                "the phone number has an extension (column `{name}`), which cannot be dialled: give the direct number, and empty that cell",
                name = shown_name(&planned.header.names[column])
            );
            return RowOutcome::invalid(code, what);
        }
        if let Some(delimiter) = delimiter_in_cell(planned, row, problem) {
            let (shown, typed) = match delimiter {
                '\t' => (text!("a tab"), "tab".to_owned()),
                other => (text!("`{other}`", other), format!("\"{other}\"")),
            };
            let what = text!(
                "the cell holds a whole line, because {shown} was not taken for the character between cells{: name it with --delimiter {typed}|; say under {--delimiter} that {shown} stands between two cells}",
                shown,
                typed
            );
            return RowOutcome::invalid(code, what);
        }
        if !matches!(problem, PhoneProblem::NoCountry { .. }) {
            let is_national = || !planned.mapping.phone_cell(row).contains('+');
            let is_for_region = of_row == RowRegion::None && self.region.is_some();
            if code == ErrorCode::PhoneImpossible && is_for_region && is_national() {
                self.evidence.impossible += 1;
            }
            return RowOutcome::invalid(code, problem.text());
        }
        let name = |column: usize| shown_name(&planned.header.names[column]);
        match of_row {
            RowRegion::Unknown(column) => {
                let country = shortened(row.lossy(column).trim(), LONGEST_COUNTRY);
                self.evidence.record_unknown_country(&country, 1);
                let what = text!(
                    "the number has no + and country code, and leadload does not know the country `{country}` (column `{column}`): write a code such as GB there, or the number with + and the country code",
                    country,
                    column = name(column)
                );
                RowOutcome {
                    quotes_cells: true,
                    ..RowOutcome::invalid(code, what)
                }
            }
            RowRegion::Disagree(first, second) => RowOutcome::invalid(
                code,
                text!(
                    "the number has no + and country code, and the columns `{first}` and `{second}` name different countries: write it with + and the country code, or {name the column that counts with --region-column|choose the column that counts under {--region-column}}",
                    first = name(first),
                    second = name(second)
                ),
            ),
            RowRegion::None | RowRegion::Known(_) => {
                self.evidence.without_country += 1;
                let lacks_plus = matches!(problem, PhoneProblem::NoCountry { has_code: true });
                let problem = problem.text();
                let what = match lacks_plus && planned.form.text().is_none() {
                    true => text!(
                        "{problem}; a `+` that the spreadsheet shows may be in the format of the cell only",
                        problem
                    ),
                    false => problem,
                };
                RowOutcome::invalid(code, what)
            }
        }
    }

    /// The outcome of a row without a number. It names another column that has one.
    fn missing(&mut self, planned: &PlannedInput, row: Row<'_>, of_row: RowRegion) -> RowOutcome {
        let code = ErrorCode::PhoneMissing;
        let problem = PhoneProblem::Missing.text();
        if row.len() > 2 && planned.mapping.shape.is_like_footer(row) {
            let what = text!(
                "{problem}; {like_footer}",
                problem,
                like_footer = LIKE_FOOTER
            );
            return RowOutcome::invalid(code, what);
        }
        let (phones, region) = self.reader_for(of_row);
        let has_number = |column: &&usize| {
            let cell = row.text(**column).unwrap_or_default();
            phones.read(cell, region).is_ok()
        };
        let mut spare = planned.mapping.spare_phone_columns.iter();
        match spare.find(has_number) {
            None => RowOutcome::invalid(code, problem),
            Some(column) => {
                *self.evidence.would_fill.entry(*column).or_default() += 1;
                let what = text!(
                    "{problem}; the column `{name}` has one",
                    problem,
                    name = shown_name(&planned.header.names[*column])
                );
                RowOutcome::invalid(code, what)
            }
        }
    }

    /// The reader for the numbers of a row, and the country of those without a country code.
    fn reader_for(&self, of_row: RowRegion) -> (&PhoneRules, Option<Region>) {
        match of_row {
            RowRegion::Known(region) => (&self.intake.phones, Some(region)),
            RowRegion::None => (&self.intake.phones, self.region),
            RowRegion::Unknown(_) | RowRegion::Disagree(..) => (&self.cautious, None),
        }
    }
}

/// The character between the cells of a whole line that is in one cell: the header has it as often.
fn delimiter_in_cell(planned: &PlannedInput, row: Row<'_>, problem: PhoneProblem) -> Option<char> {
    use PhoneProblem::{Letters, Symbol, TooMuchText};
    let is_odd = matches!(problem, Letters | Symbol(_) | TooMuchText);
    let phone = planned.mapping.phone_columns.first().filter(|_| is_odd)?;
    let column = phone.number;
    let (header, cell) = (&planned.header.names[column], row.text(column)?);
    let count = |text: &str, c: char| text.matches(c).count();
    let is_between = |c: &char| !c.is_alphanumeric() && !NOT_BETWEEN.contains(*c);
    let mut characters = header.chars().filter(is_between);
    characters.find(|c| count(header, *c) == count(cell, *c))
}

/// Characters that numbers and names of columns are written with.
const NOT_BETWEEN: &str = " -_./()'\"+[]#&*?";

/// The outcome of the last row of a list that seems to end in the middle of this phone cell.
pub(super) fn cut_off(cell: &str) -> RowOutcome {
    let what = text!(
        "the list ends in this number, without a line end, and `{cell}` is shorter than all other numbers of its country: it may be cut off. Export the list again, or complete the number; if it is complete, {|download {rejects} and }empty its cell in the column {leadload_error_code|`leadload_error_code`}",
        cell = shortened(cell.trim(), LONGEST_CELL)
    );
    RowOutcome {
        quotes_cells: true,
        ..RowOutcome::invalid(ErrorCode::CutOff, what)
    }
}

fn doubtful(region: Region, why: Template) -> RowOutcome {
    RowOutcome::invalid(
        ErrorCode::PhoneDoubtful,
        text!(
            "this does not look like a number of {country} ({why}), so it may reach another person: write it with + and the country code, or put its country into a column{ (if it is correct, use --phone-rule possible)|; if it is right as it is, tick that below {--region}}",
            country = region.in_sentence(),
            why
        ),
    )
}
