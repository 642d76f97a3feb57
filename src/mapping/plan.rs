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
use crate::message::Text;
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
    pub changed: ChangedColumns,
}

/// How the columns of a list differ from those of the mapping that a profile has saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedColumns {
    /// Columns (from 0) that are not sent because they are new.
    pub new: Vec<usize>,
    /// Columns that are no longer there. A mapping that is saved again drops them.
    pub lost: Vec<String>,
}

/// Something about a column that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub what: Text,
    /// How to leave rows out, where the note is about rows.
    pub hint: Option<Text>,
    /// What it is about.
    pub flag: &'static str,
}

impl Note {
    pub(super) fn new(flag: &'static str, what: Text) -> Note {
        let hint = None;
        Note { what, hint, flag }
    }

    pub fn text(&self) -> Text {
        let what = self.what.clone();
        match self.hint.clone() {
            Some(hint) => text!("{what}{: |; }{hint}", what, hint),
            None => what,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnUse<'a> {
    pub role: ColumnRole,
    pub variables: Vec<&'a str>,
}

impl ColumnUse<'_> {
    pub(super) fn is_used(&self) -> bool {
        self.role != ColumnRole::None || !self.variables.is_empty()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColumnRole {
    Phone,
    Campaign,
    Region,
    /// A column that says who must not be called.
    Mark,
    /// A column that `leadload` added to a rejects file.
    Ours,
    #[default]
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

    /// How `--phone-column` names each phone column.
    pub fn phone_texts(&self, header: &Header) -> Vec<String> {
        let columns = Columns::of("", header, self.rejects_form.as_ref());
        let text = |phone: &PhoneColumn| {
            let text = columns.phone_text(*phone);
            text.unwrap_or_else(|| columns.flag_text(phone.number))
        };
        self.phone_columns.iter().map(text).collect()
    }

    /// How a flag names each of these columns (from 0).
    pub fn flag_texts(&self, header: &Header, of: impl IntoIterator<Item = usize>) -> Vec<String> {
        let columns = Columns::of("", header, self.rejects_form.as_ref());
        of.into_iter().map(|at| columns.flag_text(at)).collect()
    }

    /// The cell that should hold the number, as text for display.
    pub fn phone_cell<'r>(&self, row: Row<'r>) -> Cow<'r, str> {
        self.first_phone_column().cell(row)
    }

    /// The input's own cells of a row, without those that `leadload` added to a rejects file.
    pub fn own_cells<'r>(&self, row: Row<'r>) -> impl Iterator<Item = &'r [u8]> {
        let is_own = |column: &usize| match &self.rejects_form {
            Some(form) => form.has(*column),
            None => true,
        };
        (0..row.len())
            .filter(is_own)
            .filter_map(move |column| row.cell(column))
    }

    /// What each of the first so many columns is used for. Where it is several things, the number
    /// counts before the campaign, the campaign before the country, and that before a mark.
    pub fn uses(&self, columns: usize) -> Vec<ColumnUse<'_>> {
        let mut uses = vec![ColumnUse::default(); columns];
        let ours = self.rejects_form.iter();
        let ours = ours.flat_map(|form| (0..columns).filter(|column| !form.has(*column)));
        let marks = self.marks.iter().map(|mark| mark.column);
        let regions = self.countries.used.iter().copied();
        let phones = self.phone_columns.iter().flat_map(|phone| phone.columns());
        let roles = ours.map(|column| (column, ColumnRole::Ours));
        let roles = roles
            .chain(marks.map(|column| (column, ColumnRole::Mark)))
            .chain(regions.map(|column| (column, ColumnRole::Region)))
            .chain(
                self.campaign_column
                    .map(|column| (column, ColumnRole::Campaign)),
            )
            .chain(phones.map(|column| (column, ColumnRole::Phone)));
        for (column, role) in roles {
            if let Some(used) = uses.get_mut(column) {
                used.role = role;
            }
        }
        for (name, column) in &self.variables {
            if let Some(used) = uses.get_mut(*column) {
                used.variables.push(name);
            }
        }
        uses
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
        // In rejects of the terminal, or of the page.
        let quoted = error.and_then(|error| error.split(['`', '“', '”']).nth(1));
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
