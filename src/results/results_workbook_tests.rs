use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::intake::{Batch, PreparedRow};
use crate::lead::{RowOutcome, Status};
use crate::results::testing::planned;
use crate::results::{
    Completion, KnownOutputs, OutputChoice, OutputChoices, OutputPaths, WorkbookError, Writer,
};
use crate::source::{FormChoice, Sheet};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn list(&self, name: &str, content: impl AsRef<[u8]>) -> Arc<[PlannedInput]> {
        fs::write(self.path(name), content).unwrap();
        [planned(&self.path(name), &FormChoice::default())].into()
    }

    /// The results of a run in which the first rows were sent, without a row in the middle.
    fn results(&self, list: &Arc<[PlannedInput]>, rows: usize, without: Option<usize>) -> PathBuf {
        let path = self.path("results.csv");
        let choices = OutputChoices {
            results: OutputChoice::Path(path.clone()),
            rejects: OutputChoice::None,
            report: None,
            sandbox: false,
            reserved: Vec::new(),
        };
        let paths = OutputPaths::plan(list, iter::empty(), &choices).unwrap();
        let mut writer = Writer::create(&paths, list, true, KnownOutputs::default()).unwrap();
        writer.begin(None).unwrap();
        let mut batches = list[0].read().unwrap().batches();
        let batch = batches.next().unwrap().unwrap();
        let prepared = (0..batch.len()).map(|at| PreparedRow {
            outcome: (at < rows && Some(at) != without)
                .then(|| RowOutcome::not_sent(Status::Ready, None, None)),
            ..PreparedRow::default()
        });
        let prepared = prepared.collect();
        let batch = Batch {
            rows: batch,
            prepared,
        };
        writer.write(&batch).unwrap();
        writer.finish(Completion::WHOLE).unwrap();
        path
    }
}

fn workbook(list: &PlannedInput, results: &Path) -> Result<Vec<Vec<String>>, ListError> {
    let folder = Folder::new();
    let path = folder.path("download.xlsx");
    write_results_workbook(list, results, File::create(&path).unwrap())?;
    let sheet = Sheet::open(fs::read(&path).unwrap(), Some("results")).unwrap();
    let rows = sheet.rows();
    Ok(rows
        .map(|row| row.cells(0).map(str::to_owned).collect())
        .collect())
}

fn text(rows: &[Vec<String>]) -> Vec<String> {
    rows.iter().map(|cells| cells.join("|")).collect()
}

const NAMES: &str = "row|line|phone_number|campaign_id|status|lead_id|http_status|attempts|error_code|error|settled_at|phone_country|phone_kind";

#[test]
fn each_row_of_the_list_has_its_results_beside_it() {
    let folder = Folder::new();
    let list = folder.list("a.csv", "phone;name;note\n007;=1+1;\"a\nb\"\n8;Bob;x\n");
    let results = folder.results(&list, 2, None);
    assert_eq!(
        text(&workbook(&list[0], &results).unwrap()),
        [
            format!("phone|name|note|{NAMES}"),
            "007|=1+1|a\nb|1|2|007||ready|||0".to_owned(),
            "8|Bob|x|2|4|8||ready|||0".to_owned(),
        ]
    );
}

#[test]
fn rows_that_a_stopped_run_did_not_reach_have_no_results() {
    let folder = Folder::new();
    let list = folder.list("a.csv", "phone,name\n7,Ada\n8,Bob\n9,Cy\n");
    let results = folder.results(&list, 3, Some(1));
    assert_eq!(
        text(&workbook(&list[0], &results).unwrap())[1..],
        ["7|Ada|1|2|7||ready|||0", "8|Bob", "9|Cy|3|4|9||ready|||0"]
    );
    let results = folder.results(&list, 0, None);
    assert_eq!(
        text(&workbook(&list[0], &results).unwrap())[1..],
        ["7|Ada", "8|Bob", "9|Cy"]
    );
}

#[test]
fn cells_beyond_the_header_stand_behind_the_results() {
    let folder = Folder::new();
    let list = folder.list("a.csv", "phone,name\n7,Ada\n8,Bob,x,\"y,z\"\n9\n");
    let results = folder.results(&list, 2, None);
    assert_eq!(
        text(&workbook(&list[0], &results).unwrap()),
        [
            format!("phone|name|{NAMES}|leadload_surplus"),
            "7|Ada|1|2|7||ready|||0".to_owned(),
            "8|Bob|2|3|8||ready|||0||||||x,\"y,z\"".to_owned(),
            "9".to_owned(),
        ]
    );
}

#[test]
fn the_columns_of_earlier_rejects_are_left_out() {
    let folder = Folder::new();
    let list = folder.list(
        "a.csv",
        "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run,name\n\
         7,1,invalid,phone_missing,none,4,Ada\n",
    );
    let results = folder.results(&list, 1, None);
    assert_eq!(
        text(&workbook(&list[0], &results).unwrap()),
        [
            format!("phone|name|{NAMES}"),
            "7|Ada|1|2|7||ready|||0".to_owned()
        ]
    );
}

#[test]
fn results_of_another_list_are_refused() {
    let folder = Folder::new();
    let list = folder.list("a.csv", "phone,name\n7,Ada\n8,Bob\n");
    let results = folder.results(&list, 2, None);
    let error = |text: &str| {
        let other = folder.list("b.csv", text);
        workbook(&other[0], &results).unwrap_err().to_string()
    };
    assert!(error("phone,name\n7,Ada\n").contains("row 2"));
    assert!(error("phone,name\n7,\"A\nda\"\n8,Bob\n").contains("row 2"));
    let results = folder.path("b.csv");
    assert!(matches!(
        workbook(&list[0], &results),
        Err(ListError::OtherList(_))
    ));
}

#[test]
fn a_list_that_was_changed_is_refused_and_so_is_one_that_fits_no_sheet() {
    let folder = Folder::new();
    let list = folder.list("a.csv", format!("phone,name\n7,{}\n", "x".repeat(32_768)));
    let results = folder.results(&list, 1, None);
    let mut out = Vec::new();
    let error = write_results_workbook(&list[0], &results, &mut out).unwrap_err();
    assert!(
        matches!(error, ListError::Workbook(WorkbookError::DoesNotFit(_))),
        "{error}"
    );
    fs::write(folder.path("a.csv"), "phone\n7\n").unwrap();
    let error = write_results_workbook(&list[0], &results, &mut out).unwrap_err();
    assert!(matches!(error, ListError::Unreadable(_)), "{error}");
    assert!(out.is_empty());
}
