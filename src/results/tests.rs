//! The results and rejects of one run, and of the next one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::*;
use crate::intake::{InspectedInput, PreparedRow};
use crate::lead::{ErrorCode, RowId, RunId};
use crate::ledger::{OutputKind, OutputRecord};
use crate::mapping::MappingSpec;
use crate::source::{Fingerprint, FormChoice, Input, is_workbook};

const NOTHING: [PathBuf; 0] = [];

/// A folder with one list.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with_leads(text: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        fs::write(folder.path("leads.csv"), text).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path under which the ledger records a file.
    fn place(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn inspected(&self) -> InspectedInput {
        let input = Input::open(&self.path("leads.csv")).unwrap();
        InspectedInput::new(input, &FormChoice::default()).unwrap()
    }

    fn inputs(&self) -> Arc<[PlannedInput]> {
        let planned = PlannedInput::new(self.inspected(), &MappingSpec::default()).unwrap();
        [planned].into()
    }

    fn plan(&self, rejects: &str) -> OutputPaths {
        let inputs = self.inputs();
        let rejects = OutputChoice::Path(self.path(rejects));
        let nothing = std::iter::empty();
        let choices = OutputChoices {
            results: OutputChoice::BesideInput,
            rejects,
            report: None,
            sandbox: false,
            reserved: Vec::new(),
        };
        OutputPaths::plan(&inputs, nothing, &choices).unwrap()
    }

    /// A run in which every row has the same status.
    fn run(&self, rejects: &str, status: Status, known: &KnownOutputs) -> Writer {
        let inputs = self.inputs();
        let paths = self.plan(rejects);
        let mut writer = Writer::create(&paths, &inputs, true, known.clone()).unwrap();
        let begun = Begun {
            run: RunId(7),
            tag: Some("bcdfg".parse().unwrap()),
            start: 1,
            continues: false,
            reached: 0,
            read_to: 0,
            covers: Vec::new(),
        };
        writer.begin(Some(&begun)).unwrap();
        writer.write(&self.batch(status)).unwrap();
        writer
    }

    /// All rows, each with this status.
    fn batch(&self, status: Status) -> Batch {
        let inputs = self.inputs();
        let mut reader = inputs[0].read().unwrap();
        let rows = reader.read_batch(0, RowId(1), 100).unwrap();
        let prepared = PreparedRow {
            phone: None,
            kind: None,
            campaign: None,
            outcome: Some(RowOutcome::not_sent(
                status,
                Some(ErrorCode::PhoneMissing),
                None,
            )),
            earlier: None,
        };
        let prepared = vec![prepared; rows.len()];
        Batch { rows, prepared }
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// What the ledger knows if the run is killed right after sealing.
fn recorded(sealed: &[OutputRecord]) -> KnownOutputs {
    KnownOutputs::new(sealed.to_vec())
}

fn sha256(path: &Path) -> [u8; 32] {
    Fingerprint::of(File::open(path).unwrap()).unwrap().sha256
}

#[test]
fn what_is_sealed_is_what_is_found_when_it_is_finished() {
    let folder = Folder::with_leads("phone,name\n,Ada\n,Bob\n");
    let mut writer = folder.run("r.csv", Status::Invalid, &KnownOutputs::default());
    let sealed = writer.seal(Completion::WHOLE).unwrap();
    assert_eq!(
        folder.names(),
        ["leads.csv", "leads.results.csv.part", "r.csv.part"]
    );
    assert_eq!(
        writer.seal(Completion::WHOLE).unwrap(),
        sealed,
        "sealing twice is sealing once"
    );
    writer.finish(Completion::WHOLE).unwrap();
    let output = |name, kind| OutputRecord {
        run: RunId(7),
        path: Some(folder.place(name)),
        kind,
        sha256: Some(sha256(&folder.path(name))),
        rows: Some(2),
        state: None,
    };
    assert_eq!(
        sealed,
        [
            output("leads.results.csv", OutputKind::Results),
            output("r.csv", OutputKind::Rejects)
        ]
    );
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv", "r.csv"]);
}

#[test]
fn a_file_that_is_put_aside_is_known_under_its_new_name_before_it_moves() {
    let folder = Folder::with_leads("phone,name\n,Ada\n");
    let mut first = folder.run("r.csv", Status::Invalid, &KnownOutputs::default());
    let mut of_first = first.seal(Completion::WHOLE).unwrap();
    first.finish(Completion::WHOLE).unwrap();
    of_first.iter_mut().for_each(|output| output.run = RunId(1));

    let mut second = folder.run("r.csv", Status::Uncertain, &recorded(&of_first));
    let mut sealed = second.seal(Completion::WHOLE).unwrap();
    sealed.retain(|output| output.run == RunId(1));
    assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
    let written = second.finish(Completion::WHOLE).unwrap();
    assert_eq!(sealed.len(), 2);
    for (output, kept) in sealed.iter().zip(&written.kept) {
        let path = output.path.as_deref().unwrap();
        assert_eq!(path, kept.canonicalize().unwrap());
        assert_eq!(output.sha256, Some(sha256(path)));
    }
}

#[test]
fn rejects_name_their_run() {
    let folder = Folder::with_leads("phone,name\n,Ada\n");
    let writer = folder.run("r.csv", Status::Invalid, &KnownOutputs::default());
    writer.finish(Completion::WHOLE).unwrap();
    assert_eq!(
        fs::read_to_string(folder.path("r.csv")).unwrap(),
        "\u{FEFF}phone,name,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run\n\
         ,Ada,1,invalid,phone_missing,,7-bcdfg\n"
    );
}

#[test]
fn rejects_of_a_check_name_their_list_and_no_run() {
    let folder = Folder::with_leads("phone,name\n,Ada\n");
    let inputs = folder.inputs();
    let rejects = |name: &str, label: Option<&str>| {
        let known = KnownOutputs::default();
        let mut writer = Writer::create(&folder.plan(name), &inputs, true, known).unwrap();
        if let Some(label) = label {
            writer = writer.labelled(&label.parse().unwrap());
        }
        writer.begin(None).unwrap();
        writer.write(&folder.batch(Status::Invalid)).unwrap();
        writer.finish(Completion::WHOLE).unwrap();
        let input = Input::open(&folder.path(name)).unwrap();
        InspectedInput::new(input, &FormChoice::default()).unwrap()
    };
    let label = ["list-4f2a".parse().unwrap()];
    for name in ["r.csv", "r.xlsx"] {
        let labelled = rejects(name, Some("list-4f2a")).rejects.unwrap();
        assert_eq!(labelled.labels, label.clone().into());
        assert!(labelled.runs.is_empty());
        let plain = rejects(name, None).rejects.unwrap();
        assert!(plain.labels.is_empty() && plain.runs.is_empty());
    }
    assert_eq!(folder.inspected().rejects, None);
}

#[test]
fn the_outputs_of_the_last_run_are_replaced_and_rejects_that_are_fixed_go() {
    let folder = Folder::with_leads("phone,name\n,Ada\n");
    let mut first = folder.run("r.csv", Status::Invalid, &KnownOutputs::default());
    let known = recorded(&first.seal(Completion::WHOLE).unwrap());
    first.finish(Completion::WHOLE).unwrap();

    let mut second = folder.run("r.csv", Status::Created, &known);
    let results = second.seal(Completion::WHOLE).unwrap();
    assert_eq!(results.len(), 1, "no rejects: {results:?}");
    let written = second.finish(Completion::WHOLE).unwrap();
    assert_eq!(written.kept, NOTHING);
    assert_eq!(written.rejects, []);
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
    let written = sha256(&folder.path("leads.results.csv"));
    assert_eq!(results[0].sha256, Some(written));
}

/// A second signal ends a start at once, perhaps before it got as far as the last one.
#[test]
fn what_stays_because_it_has_more_is_reported_and_known_as_it_is() {
    let folder = Folder::with_leads("phone,name\n,Ada\n,Bob\n");
    let mut first = folder.run("r.csv", Status::Invalid, &KnownOutputs::default());
    let known = recorded(&first.seal(Completion::WHOLE).unwrap());
    first.finish(Completion::WHOLE).unwrap();
    let names = ["leads.results.csv", "r.csv"];
    let before = names.map(|name| sha256(&folder.path(name)));

    fs::write(folder.path("leads.csv"), "phone,name\n,Ada\n").unwrap();
    for status in [Status::Invalid, Status::Created] {
        let mut second = folder.run("r.csv", status, &known);
        let at_once = Completion {
            is_complete: false,
            is_shorter: true,
            keeps_rejects: false,
        };
        assert_eq!(second.seal(at_once).unwrap(), []);
        let written = second.finish(at_once).unwrap();
        assert_eq!(written.results, Some(folder.path("leads.results.csv")));
        let rejects = WrittenRejects {
            path: folder.path("r.csv"),
            rows: 2,
        };
        assert_eq!(written.rejects, [rejects]);
        assert_eq!(written.kept, NOTHING);
        assert_eq!(names.map(|name| sha256(&folder.path(name))), before);
        assert_eq!(folder.names(), ["leads.csv", "leads.results.csv", "r.csv"]);
    }
}

#[test]
fn a_run_that_is_killed_between_sealing_and_finishing_leaves_nothing_in_the_way() {
    let folder = Folder::with_leads("phone,name\n,Ada\n");
    let mut killed = folder.run("r.csv", Status::Invalid, &KnownOutputs::default());
    let known = recorded(&killed.seal(Completion::WHOLE).unwrap());
    // Dropping leaves the sealed files where they are, as a kill does.
    drop(killed);
    let again = folder.run("r.csv", Status::Invalid, &known);
    assert_eq!(again.finish(Completion::WHOLE).unwrap().kept, NOTHING);
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv", "r.csv"]);
}

#[test]
fn a_workbook_is_sealed_as_it_is_found() {
    let folder = Folder::with_leads("phone,name\n,Ada\n");
    let mut writer = folder.run("r.xlsx", Status::Invalid, &KnownOutputs::default());
    let sealed = writer.seal(Completion::WHOLE).unwrap();
    writer.finish(Completion::WHOLE).unwrap();
    let path = folder.path("r.xlsx");
    assert!(is_workbook(&fs::read(&path).unwrap()));
    assert_eq!(
        (sealed[1].sha256, sealed[1].rows),
        (Some(sha256(&path)), Some(1))
    );
}

#[test]
fn rejects_that_fit_no_workbook_are_sealed_as_csv_under_a_name_of_their_own() {
    let long = "x".repeat(40_000);
    let folder = Folder::with_leads(&format!("phone,name\n,{long}\n"));
    let mut writer = folder.run("r.xlsx", Status::Invalid, &KnownOutputs::default());
    let sealed = writer.seal(Completion::WHOLE).unwrap();
    let written = writer.finish(Completion::WHOLE).unwrap();
    assert_eq!(written.notes.len(), 1);
    assert_eq!(written.rejects[0].rows, 1);
    let path = written.rejects[0].path.canonicalize().unwrap();
    assert_eq!(sealed[1].path.as_ref(), Some(&path));
    assert_eq!(sealed[1].sha256, Some(sha256(&path)));
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("r.2") && name.ends_with("Z.csv"), "{name}");
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv", name]);
}
