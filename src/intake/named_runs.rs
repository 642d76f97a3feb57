//! Where the rows of a rejects file are from: the run that each names, and its number there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::lead::{ListLabel, RowId, RunName};
use crate::mapping::RejectsForm;
use crate::source::{Form, Header, Input, Row, SourceError};

/// What the rows of a rejects file say of where they are from. A file that was put together from
/// several names several runs; rows that were added by hand name nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedRuns {
    /// The rows of each run that is named, by their numbers there.
    pub runs: BTreeMap<RunName, BTreeMap<RowId, NamedRow>>,
    /// The lists that rows name in place of a run: rejects of a check.
    pub labels: BTreeSet<ListLabel>,
    /// The line of the first row that names no run, and was not added by hand.
    pub without_run: Option<u64>,
    /// The line of the first row that has something else in the place of its run, or of its number.
    pub unreadable: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedRow {
    pub line: u64,
    /// Whether it may have been taken, as the file says.
    pub is_uncertain: bool,
}

impl NamedRuns {
    /// Reads the whole input, if it is a rejects file.
    pub(super) fn of(
        input: &Input,
        form: &Form,
        header: &Header,
    ) -> Result<Option<Arc<NamedRuns>>, SourceError> {
        let Some(rejects) = RejectsForm::of(&header.names) else {
            return Ok(None);
        };
        let mut named = NamedRuns::default();
        for batch in input.read_list(form, header)?.batches() {
            let batch = batch?;
            for row in batch.rows() {
                // It may have cells of other columns in these, and is invalid then.
                let is_shifted = row.len() > header.names.len() || row.flaw().is_some();
                named.add(row, &rejects, is_shifted);
            }
        }
        Ok(Some(Arc::new(named)))
    }

    fn add(&mut self, row: Row<'_>, form: &RejectsForm, is_shifted: bool) {
        let (run, number, status) = (
            cell(row, form.run),
            cell(row, form.row),
            cell(row, form.status),
        );
        let line = row.line();
        if let (Ok(run), Ok(number)) = (run.parse(), number.parse()) {
            let is_uncertain = status == "uncertain";
            let rows = self.runs.entry(run).or_default();
            rows.entry(RowId(number))
                .or_insert(NamedRow { line, is_uncertain });
            return;
        }
        if let Ok(label) = run.parse() {
            self.labels.insert(label);
            self.without_run.get_or_insert(line);
            return;
        }
        if is_shifted {
            return;
        }
        let others = [
            number,
            status,
            cell(row, form.error_code),
            cell(row, form.error),
        ];
        if !run.is_empty() {
            self.unreadable.get_or_insert(line);
        } else if others.iter().any(|cell| !cell.is_empty()) {
            self.without_run.get_or_insert(line);
        }
    }
}

/// A cell without what a spreadsheet program adds to it: a mark of text, or the point of a number.
fn cell(row: Row<'_>, column: usize) -> String {
    let text = row.lossy(column);
    let text = text.trim().trim_start_matches('\'');
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::InspectedInput;
    use crate::source::FormChoice;

    const HEADER: &str =
        "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run";

    fn named(rows: &str) -> NamedRuns {
        let input = Input::of_text(&format!("{HEADER}\n{rows}"));
        let inspected = InspectedInput::new(input, &FormChoice::default()).unwrap();
        Arc::unwrap_or_clone(inspected.rejects.unwrap())
    }

    /// Each run with its rows and their lines.
    fn runs(named: &NamedRuns) -> Vec<(String, Vec<(u64, u64)>)> {
        let runs = named.runs.iter().map(|(run, rows)| {
            let rows = rows.iter().map(|(row, named)| (row.0, named.line));
            (run.to_string(), rows.collect())
        });
        runs.collect()
    }

    #[test]
    fn each_row_names_its_run_and_its_number_there() {
        let named = named(
            "1,12,invalid,x,x,7-bcdfg\n2,3,failed,x,x,7-bcdfg\n3,4,uncertain,x,x,7\n4,,,,,\n",
        );
        let expected = [
            ("7".to_owned(), vec![(4, 4)]),
            ("7-bcdfg".to_owned(), vec![(3, 3), (12, 2)]),
        ];
        assert_eq!(runs(&named), expected);
        assert_eq!((named.without_run, named.unreadable), (None, None));
        let of_old = named.runs.values().next().unwrap();
        assert!(of_old[&RowId(4)].is_uncertain);
    }

    #[test]
    fn what_a_spreadsheet_program_adds_to_a_number_does_not_count() {
        for row in ["12", " 12 ", "12.0", "'12"] {
            for run in ["7-bcdfg", " 7-bcdfg ", "'7-bcdfg"] {
                let named = named(&format!("1,{row},invalid,x,x,{run}\n"));
                assert_eq!(
                    runs(&named),
                    [("7-bcdfg".to_owned(), vec![(12, 2)])],
                    "{row} {run}"
                );
            }
        }
        let plain = named("1,12.0,invalid,x,x,7.0\n");
        assert_eq!(runs(&plain), [("7".to_owned(), vec![(12, 2)])]);
    }

    #[test]
    fn rows_beyond_the_first_thousand_are_read_too() {
        let rows: String = (1..=3000)
            .map(|row| format!("1,{row},invalid,x,x,7-bcdfg\n"))
            .collect();
        let named = named(&(rows + "1,5,invalid,x,x,8-bcdfg\n"));
        let counts: Vec<usize> = named.runs.values().map(BTreeMap::len).collect();
        assert_eq!(counts, [3000, 1]);
    }

    #[test]
    fn a_row_that_names_no_run_is_new_only_if_all_of_these_cells_are_empty() {
        for (row, without_run) in [
            ("1,,,,,", None),
            ("1, ,,,'', ", None),
            ("1,2,,,,", Some(2)),
            ("1,,invalid,,,", Some(2)),
            ("1,,,,x,", Some(2)),
            ("1,2,invalid,x,x,list-4f2a", Some(2)),
        ] {
            let named = named(&format!("{row}\n3,4,invalid,x,x,7-bcdfg\n"));
            assert_eq!(named.without_run, without_run, "{row}");
            assert_eq!(named.unreadable, None, "{row}");
        }
    }

    #[test]
    fn something_else_in_place_of_a_run_or_a_row_is_found_unless_the_cells_have_shifted() {
        for (row, unreadable) in [
            ("1,2,invalid,x,x,soon", Some(2)),
            ("1,2,invalid,x,x,7-BCDFG", Some(2)),
            ("1,second,invalid,x,x,7-bcdfg", Some(2)),
            ("1,,invalid,x,x,7-bcdfg", Some(2)),
            ("1,2,invalid,x,a comma, too many,7-bcdfg", None),
        ] {
            let named = named(&format!("{row}\n"));
            assert_eq!(named.unreadable, unreadable, "{row}");
            assert!(named.runs.is_empty(), "{row}");
        }
    }
}
