//! The plan for one input: what each column is used for.

use std::borrow::Cow;

use super::columns::Columns;
use super::country_columns::CountryColumns;
use super::mark::MarkColumn;
use super::only::OnlyRule;
use super::phone_column::PhoneColumn;
use super::rejects_form::RejectsForm;
use super::row_shape::RowShape;
use super::spec::EmptyCells;
use crate::lead::ErrorCode;
use crate::source::{Header, Row};

/// What is read from each row of one input, and what of it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub shape: RowShape,
    /// The columns that hold the number, in order of preference.
    pub phone_columns: Vec<PhoneColumn>,
    /// The other columns (from 0) whose headers mean a phone number.
    pub spare_phone_columns: Vec<usize>,
    pub campaign_column: Option<usize>,
    pub countries: CountryColumns,
    /// A row is sent only if all of these rules hold.
    pub only: Vec<OnlyRule>,
    /// The columns that say who must not be called.
    pub marks: Vec<MarkColumn>,
    /// Whether rows that are hidden in a sheet are left out.
    pub skips_hidden: bool,
    /// Names of variables and the columns (from 0) that they come from.
    pub variables: Vec<(String, usize)>,
    pub constants: Vec<(String, String)>,
    /// Names and columns (from 0) of what is copied into the results.
    pub kept: Vec<(String, usize)>,
    pub empty_cells: EmptyCells,
    /// `Some` if the input is a rejects file.
    pub rejects_form: Option<RejectsForm>,
    pub notes: Vec<Note>,
    /// The columns (from 0) that are new since a profile saved the mapping. They
    /// are not sent for that reason.
    pub new_columns: Vec<usize>,
    /// The columns that are no longer in the list. A mapping that is saved again drops them.
    pub lost_columns: Vec<String>,
}

/// Something about a column that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub what: String,
    /// What to type to leave rows out, where the note is about rows.
    pub hint: Option<String>,
    /// What it is about.
    pub flag: &'static str,
}

impl Note {
    pub(super) fn new(flag: &'static str, what: String) -> Note {
        let hint = None;
        Note { what, hint, flag }
    }

    /// For the terminal.
    pub fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}: {hint}", self.what),
            None => self.what.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse<'a> {
    pub role: ColumnRole,
    pub variables: Vec<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    Phone,
    Campaign,
    Region,
    /// A column that says who must not be called.
    Mark,
    /// A column that `leadload` added to a rejects file.
    Ours,
    None,
}

impl Mapping {
    /// The last column (from 0) that is read for a number, its country, a campaign or a variable.
    pub(super) fn last_used(&self) -> Option<usize> {
        let used = self.phone_columns.iter();
        used.flat_map(|phone| phone.columns().chain(phone.extension))
            .chain(self.campaign_column)
            .chain(self.countries.used.iter().copied())
            .chain(self.marks.iter().map(|mark| mark.column))
            .chain(self.variables.iter().map(|(_, column)| *column))
            .max()
    }

    /// What is shown for a row whose number cannot be read.
    pub fn first_phone_column(&self) -> PhoneColumn {
        let first = self.phone_columns.first().copied();
        first.unwrap_or(PhoneColumn::from(0))
    }

    /// Whether the column (from 0) holds the number or its area code.
    pub fn is_phone_column(&self, column: usize) -> bool {
        let mut phones = self.phone_columns.iter();
        phones.any(|phone| phone.columns().any(|at| at == column))
    }

    /// How `--phone-column` names a phone column.
    pub fn phone_text(&self, header: &Header, phone: PhoneColumn) -> String {
        let columns = Columns::of("", header, self.rejects_form.as_ref());
        let text = columns.phone_text(phone);
        text.unwrap_or_else(|| columns.flag_text(phone.number))
    }

    pub fn flag_text(&self, header: &Header, column: usize) -> String {
        Columns::of("", header, self.rejects_form.as_ref()).flag_text(column)
    }

    /// The cell that should hold the number, as text for display.
    pub fn phone_cell<'r>(&self, row: Row<'r>) -> Cow<'r, str> {
        self.first_phone_column().cell(row)
    }

    /// The input's own cells of a row, without those that `leadload` added to a rejects file.
    pub fn own_cells<'r>(&self, row: Row<'r>) -> impl Iterator<Item = &'r [u8]> {
        let is_own = |column: &usize| match &self.rejects_form {
            Some(form) => form.input_columns.contains(column),
            None => true,
        };
        (0..row.len())
            .filter(is_own)
            .filter_map(move |column| row.cell(column))
    }

    pub(super) fn is_mark(&self, column: usize) -> bool {
        self.marks.iter().any(|mark| mark.column == column)
    }

    pub fn uses(&self, column: usize) -> ColumnUse<'_> {
        let is_ours = |form: &RejectsForm| !form.input_columns.contains(&column);
        let from_column = self.variables.iter().filter(|(_, of)| *of == column);
        ColumnUse {
            role: if self.is_phone_column(column) {
                ColumnRole::Phone
            } else if self.campaign_column == Some(column) {
                ColumnRole::Campaign
            } else if self.countries.used.contains(&column) {
                ColumnRole::Region
            } else if self.is_mark(column) {
                ColumnRole::Mark
            } else if self.rejects_form.as_ref().is_some_and(is_ours) {
                ColumnRole::Ours
            } else {
                ColumnRole::None
            },
            variables: from_column.map(|(name, _)| name.as_str()).collect(),
        }
    }

    /// Whether the row is left out on purpose.
    pub fn excludes(&self, row: Row<'_>) -> bool {
        self.hides(row) || !self.only.iter().all(|rule| rule.takes(row))
    }

    /// Whether the row is left out because it is hidden in its sheet.
    pub fn hides(&self, row: Row<'_>) -> bool {
        self.skips_hidden && row.is_hidden()
    }

    pub fn was_doubtful(&self, row: Row<'_>) -> bool {
        self.earlier_code(row) == Some(ErrorCode::PhoneDoubtful)
    }

    /// Whether the row is from the end of a list that was cut off, and its phone cell is as it was.
    /// The error quotes that cell. A spreadsheet program may have dropped `+` and leading zeros.
    pub fn is_still_cut_off(&self, row: Row<'_>, phone: PhoneColumn) -> bool {
        if self.earlier_code(row) != Some(ErrorCode::CutOff) {
            return false;
        }
        let error = self
            .rejects_form
            .as_ref()
            .and_then(|form| row.text(form.error));
        let quoted = error.and_then(|error| error.split('`').nth(1));
        let digits = |text: &str| {
            text.chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
        };
        quoted.is_none_or(|quoted| digits(quoted).ends_with(&digits(&phone.cell(row))))
    }

    /// The error code of the row, if the input is a rejects file.
    fn earlier_code(&self, row: Row<'_>) -> Option<ErrorCode> {
        let column = self.rejects_form.as_ref()?.error_code;
        row.text(column)?.trim().parse().ok()
    }

    pub fn variables<'a>(
        &'a self,
        row: Row<'a>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        let from_columns = self.variables.iter().filter_map(move |(name, column)| {
            let value = row.text(*column)?;
            match (value.trim().is_empty(), self.empty_cells) {
                (false, _) => Some((name.as_str(), value)),
                (true, EmptyCells::Send) => Some((name.as_str(), "")),
                (true, EmptyCells::Omit) => None,
            }
        });
        let constants = self
            .constants
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        from_columns.chain(constants)
    }
}
