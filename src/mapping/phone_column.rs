//! Where the number of a row is: in one cell, or with its area code or extension in another.

use std::borrow::Cow;

use super::extension_column;
use crate::phone::{PhoneProblem, PhoneRules, Read, Region};
use crate::source::Row;

/// Columns are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhoneColumn {
    pub number: usize,
    /// The column with the area code that the number lacks.
    pub area_code: Option<usize>,
    /// The column with what is dialled after the call is answered. It stays a variable.
    pub extension: Option<usize>,
}

impl From<usize> for PhoneColumn {
    fn from(number: usize) -> PhoneColumn {
        PhoneColumn {
            number,
            area_code: None,
            extension: None,
        }
    }
}

impl PhoneColumn {
    /// The columns that make up the number.
    pub fn columns(self) -> impl Iterator<Item = usize> {
        self.area_code.into_iter().chain([self.number])
    }

    /// What is in the row for a number, as text for display.
    pub fn cell<'r>(self, row: Row<'r>) -> Cow<'r, str> {
        let number = row.lossy(self.number);
        match self.area_code.map(|column| row.lossy(column)) {
            Some(area) if !area.trim().is_empty() => Cow::Owned(
                format!("{} {}", area.trim(), number.trim())
                    .trim()
                    .to_owned(),
            ),
            _ => number,
        }
    }

    /// Reads the number of a row; `region` is the country of one without a country code.
    pub fn read(
        self,
        row: Row<'_>,
        phones: &PhoneRules,
        region: Option<Region>,
    ) -> Result<Read, PhoneProblem> {
        let number = row.text(self.number).unwrap_or_default();
        let read = match self.area_code {
            None => phones.read_as(number, region),
            Some(column) => {
                let area = row.text(column).unwrap_or_default();
                phones.read_with_area_code(area, number, region)
            }
        };
        match self.filled_extension(row) {
            Some(_) if read.is_ok() => Err(PhoneProblem::Extension),
            _ => read,
        }
    }

    /// The column (from 0) with the extension of the row's number, if it has one.
    pub fn filled_extension(self, row: Row<'_>) -> Option<usize> {
        let column = self.extension?;
        let cell = row.text(column).unwrap_or_default();
        extension_column::is_filled(cell).then_some(column)
    }
}
