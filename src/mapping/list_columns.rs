//! The columns of a do-not-call list, where every number counts.

use super::columns::Columns;
use super::country_columns::CountryColumns;
use super::detect;
use super::rejects_form::RejectsForm;
use crate::source::{Header, RowBatch};

/// Where a do-not-call list has its numbers and their countries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListColumns {
    pub phones: Vec<usize>,
    pub countries: CountryColumns,
}

impl ListColumns {
    pub fn find(input: &str, header: &Header, sample: &RowBatch) -> ListColumns {
        let rejects_form = RejectsForm::of(&header.names);
        let columns = Columns::of(input, header, rejects_form.as_ref());
        ListColumns {
            // A single column holds the numbers, whatever its header says.
            phones: match header.names.len() {
                1 => vec![0],
                _ => detect::phone_columns(&columns, sample),
            },
            // The header is believed, so an unknown country is reported.
            countries: CountryColumns::find(&columns, sample, true),
        }
    }
}
