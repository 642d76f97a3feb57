//! A list of numbers to be left alone: every number on it counts.

use super::columns::Columns;
use super::country_columns::country_columns;
use super::{RejectsForm, detect};
use crate::source::{Header, RowBatch};

/// Where a do-not-call list has its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListColumns {
    /// The columns (from 0) that hold numbers.
    pub phones: Vec<usize>,
    /// The columns (from 0) that say of which country each row's numbers are.
    pub regions: Vec<usize>,
    /// Those among them that hold calling codes, also without a plus.
    pub codes: Vec<usize>,
}

impl ListColumns {
    /// Finds them by the headers and the first rows.
    pub fn find(input: &str, header: &Header, sample: &RowBatch) -> ListColumns {
        let rejects_form = RejectsForm::of(&header.names);
        let columns = Columns::of(input, header, rejects_form.as_ref());
        // The header is believed: a country that nobody knows is to be complained of.
        let countries = country_columns(&columns, sample, true);
        ListColumns {
            // Of a single column there is no other that it could be.
            phones: match header.names.len() {
                1 => vec![0],
                _ => detect::phone_columns(&columns, sample),
            },
            regions: countries.used,
            codes: countries.codes,
        }
    }
}
