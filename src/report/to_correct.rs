//! The rows that can be corrected in place: those whose phone cell gives no number.

use crate::intake::{Batch, PlannedInput};
use crate::lead::{ErrorCode, RowId, RowOutcome};
use crate::message::Text;
use crate::source::Row;

/// Nobody corrects more rows than this by hand.
const MAX_ROWS: usize = 500;

/// Once the cells of the rows have this many bytes, there are enough rows.
const MAX_BYTES: usize = 4 << 20;

/// Nobody corrects a longer cell by hand.
const MAX_PHONE_BYTES: usize = 1_000;

/// How many other cells show whose row it is, and the most characters of such a cell.
const OTHER_CELLS: usize = 4;
const MAX_CHARACTERS: usize = 60;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToCorrect {
    /// The first of the rows.
    pub rows: Vec<RowToCorrect>,
    /// How many rows there are.
    pub total: u64,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowToCorrect {
    pub row: RowId,
    /// The line on which the row begins, from 1.
    pub line: u64,
    /// The column (from 0) of the phone cell to correct.
    pub column: usize,
    /// The column (from 0) of its extension, which the corrected number no longer has.
    pub extension: Option<usize>,
    /// All cells of the row.
    pub cells: Vec<String>,
    pub code: ErrorCode,
    pub error: Option<Text>,
}

impl ToCorrect {
    /// Takes rows of `list` that were checked.
    pub fn add_batch(&mut self, list: &PlannedInput, batch: &Batch) {
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            let outcome = prepared.outcome.as_ref();
            let code = outcome.and_then(|outcome| outcome.error_code);
            if let (Some(outcome), Some(code)) = (outcome, code.filter(|c| c.is_about_phone())) {
                self.add(list, row, outcome, code);
            }
        }
    }

    fn add(&mut self, list: &PlannedInput, row: Row<'_>, outcome: &RowOutcome, code: ErrorCode) {
        self.total += 1;
        if self.rows.len() == MAX_ROWS || self.bytes >= MAX_BYTES {
            return;
        }
        let phone = list.mapping.first_phone_column();
        let column = phone.number;
        if row
            .cell(column)
            .is_some_and(|cell| cell.len() > MAX_PHONE_BYTES)
        {
            return;
        }
        let columns = row.len().max(column + 1);
        let cells: Vec<String> = (0..columns).map(|at| row.lossy(at).into_owned()).collect();
        self.bytes += cells.iter().map(String::len).sum::<usize>();
        self.rows.push(RowToCorrect {
            row: row.id(),
            line: row.line(),
            column,
            extension: phone.extension,
            cells,
            code,
            error: outcome.error.clone(),
        });
    }
}

impl RowToCorrect {
    /// The phone cell as it was read.
    pub fn cell(&self) -> &str {
        self.cells.get(self.column).map_or("", String::as_str)
    }

    /// The cells of the row with another text in its phone cell.
    pub fn corrected(&self, text: &str) -> Vec<String> {
        let mut cells = self.cells.clone();
        if let Some(cell) = cells.get_mut(self.column) {
            text.clone_into(cell);
        }
        if let Some(cell) = self.extension.and_then(|column| cells.get_mut(column)) {
            cell.clear();
        }
        cells
    }

    /// A few short cells that show whose row it is, with their headers.
    pub fn others<'c>(&'c self, list: &'c PlannedInput) -> Vec<(&'c str, &'c str)> {
        let rejects = list.mapping.rejects_form.as_ref();
        let is_own = |column: &usize| rejects.is_none_or(|form| form.has(*column));
        let others = (0..self.cells.len()).filter(|column| *column != self.column);
        let others = others.filter(is_own).filter_map(|column| {
            let header = list.header.names.get(column)?;
            Some((header.as_str(), self.cells[column].trim()))
        });
        let is_short = |text: &str| !text.is_empty() && text.chars().nth(MAX_CHARACTERS).is_none();
        others
            .filter(|(_, text)| is_short(text))
            .take(OTHER_CELLS)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::PreparedRow;
    use crate::lead::Status;
    use crate::report::testing::{batch_of, planned};

    fn invalid(code: ErrorCode) -> PreparedRow {
        PreparedRow {
            outcome: Some(RowOutcome::invalid(code, text!("why"))),
            ..PreparedRow::default()
        }
    }

    #[test]
    fn only_rows_whose_phone_cell_is_wrong_can_be_corrected() {
        let list =
            planned("name,phone,city,note,id,x\nAda,07911,Leeds,,7,y\nBob,1,,,,\nCy\nDi,3\n");
        let outcomes = [
            invalid(ErrorCode::PhoneNotE164),
            invalid(ErrorCode::CampaignInvalid),
            invalid(ErrorCode::FieldCount),
            PreparedRow::default(),
        ];
        let mut found = ToCorrect::default();
        found.add_batch(&list, &batch_of(&list, &outcomes));
        assert_eq!(found.total, 1);
        let row = &found.rows[0];
        assert_eq!((row.row, row.line, row.column), (RowId(1), 2, 1));
        assert_eq!((row.cell(), row.code), ("07911", ErrorCode::PhoneNotE164));
        assert_eq!(row.error.as_ref().unwrap(), &"why");
        let others = [("name", "Ada"), ("city", "Leeds"), ("id", "7"), ("x", "y")];
        assert_eq!(row.others(&list), others);
        let corrected = ["Ada", "+447911123456", "Leeds", "", "7", "y"];
        assert_eq!(row.corrected("+447911123456"), corrected);
    }

    #[test]
    fn every_code_about_the_phone_cell_counts_and_no_other() {
        let list = planned("phone,name\n1,a\n");
        let is_listed = |code: &ErrorCode| {
            let mut found = ToCorrect::default();
            found.add_batch(&list, &batch_of(&list, &[invalid(*code)]));
            found.total == 1
        };
        let listed: Vec<String> = ErrorCode::all()
            .filter(is_listed)
            .map(|code| code.to_string())
            .collect();
        let expected = [
            "phone_missing",
            "phone_not_e164",
            "phone_impossible",
            "phone_invalid",
            "phone_ambiguous",
            "phone_damaged",
            "phone_doubtful",
            "cut_off",
            "country_not_allowed",
            "phone_kind",
        ];
        assert_eq!(listed, expected);
    }

    #[test]
    fn a_corrected_number_no_longer_has_its_extension() {
        let list = planned("name,phone,Ext\nAda,+493012345,12\n");
        let mut found = ToCorrect::default();
        found.add_batch(&list, &batch_of(&list, &[invalid(ErrorCode::PhoneNotE164)]));
        let row = &found.rows[0];
        assert_eq!((row.column, row.extension), (1, Some(2)));
        assert_eq!(row.corrected("+493012346"), ["Ada", "+493012346", ""]);
    }

    #[test]
    fn memory_is_bounded_and_all_rows_are_counted() {
        let rows = |phone: &str, name: &str, count: usize| {
            let row = format!("{phone},{name}\n");
            let list = planned(&("phone,name\n".to_owned() + &row.repeat(count)));
            let mut found = ToCorrect::default();
            for rows in list.read().unwrap().batches() {
                let rows = rows.unwrap();
                let prepared = vec![invalid(ErrorCode::PhoneNotE164); rows.len()];
                found.add_batch(&list, &Batch { rows, prepared });
            }
            (found.rows.len(), found.total)
        };
        let long = "x".repeat(1 << 19);
        assert_eq!(rows("1", "x", 600), (500, 600));
        assert_eq!(rows("1", &long, 12), (8, 12));
        assert_eq!(rows(&long, "x", 12), (0, 12));
    }

    #[test]
    fn long_cells_and_those_of_leadload_show_nobody() {
        let long = "x".repeat(MAX_CHARACTERS + 1);
        let list = planned(&format!(
            "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run,a,b\n\
             1,1,invalid,phone_missing,why,,{long}, Bob \n"
        ));
        let mut found = ToCorrect::default();
        found.add_batch(&list, &batch_of(&list, &[invalid(ErrorCode::PhoneMissing)]));
        assert_eq!(found.rows[0].others(&list), [("b", "Bob")]);
        let ready = RowOutcome::not_sent(Status::Ready, None, None);
        let ready = PreparedRow {
            outcome: Some(ready),
            ..PreparedRow::default()
        };
        found.add_batch(&list, &batch_of(&list, &[ready]));
        assert_eq!(found.total, 1);
    }
}
