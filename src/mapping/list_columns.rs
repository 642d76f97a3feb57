//! The columns of a do-not-call list, where every number counts.

use super::area_codes::AreaCodes;
use super::columns::Columns;
use super::country_columns::CountryColumns;
use super::detect;
use super::phone_column::PhoneColumn;
use super::rejects_form::RejectsForm;
use crate::source::{Header, Row, RowBatch};

/// Where a do-not-call list has its numbers and their countries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListColumns {
    pub phones: Vec<PhoneColumn>,
    pub countries: CountryColumns,
    /// Whether it has the form of the American registry: `202,4561000` a line, without a header.
    pub is_american_registry: bool,
}

/// The digits of an American area code, and of the number behind it.
const AMERICAN: [usize; 2] = [3, 7];

impl ListColumns {
    pub fn find(input: &str, header: &Header, sample: &RowBatch) -> ListColumns {
        let rejects_form = RejectsForm::of(&header.names);
        let columns = Columns::of(input, header, rejects_form.as_ref());
        let area_codes = AreaCodes::find(&columns, sample, true);
        let is_american_registry = header.line.is_none() && is_american(sample);
        let number = |column: usize| PhoneColumn {
            area_code: area_codes.of(column),
            ..PhoneColumn::from(column)
        };
        ListColumns {
            phones: match header.names.len() {
                // A single column holds the numbers, whatever its header says.
                1 => vec![PhoneColumn::from(0)],
                2 if is_american_registry => vec![PhoneColumn {
                    area_code: Some(0),
                    ..PhoneColumn::from(1)
                }],
                _ => {
                    let candidates = columns.without(&area_codes.columns());
                    let found = detect::phone_columns(&candidates, sample, &area_codes);
                    found.into_iter().map(number).collect()
                }
            },
            // The header is believed, so an unknown country is reported.
            countries: CountryColumns::find(&columns.without(&area_codes.columns()), sample, true),
            is_american_registry,
        }
    }
}

/// Whether every row has an area code and a number as in North America: neither begins with 0 or 1.
fn is_american(sample: &RowBatch) -> bool {
    let is_part = |cell: &[u8], digits: usize| {
        cell.len() == digits && cell.iter().all(u8::is_ascii_digit) && cell[0] >= b'2'
    };
    let is_entry = |row: Row<'_>| {
        let cells = row.cells().map(|cell| cell.trim_ascii());
        row.len() == AMERICAN.len()
            && cells
                .zip(AMERICAN)
                .all(|(cell, digits)| is_part(cell, digits))
    };
    !sample.is_empty() && sample.rows().all(is_entry)
}
