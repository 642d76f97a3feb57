//! The loop with a ledger behind it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::tests::{Service, policy, prepare};
use super::*;
use crate::lead::RunId;
use crate::ledger::{Group, Ledger, LedgerPlace, LedgerWriter, NewRun, Sending};
use crate::rate::RateChoice;

/// A ledger with a run that has begun.
struct CommitBuffer {
    _folder: tempfile::TempDir,
    path: PathBuf,
    ledger: Ledger,
    run: RunId,
}

impl CommitBuffer {
    fn new() -> CommitBuffer {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger");
        let mut ledger = Ledger::open(&LedgerPlace::file(&path)).unwrap();
        let run = NewRun {
            service: ledger.service("https://service.example").unwrap(),
            identity: [1; 32],
            options: json!({}),
            defaults: String::new(),
            reopens: false,
            sending: Sending::default(),
            expected: Default::default(),
            inputs: Vec::new(),
            lists: Vec::new(),
            outputs: Vec::new(),
        };
        let run = ledger.begin(&run, Timestamp::now()).unwrap().unwrap().run;
        CommitBuffer {
            _folder: folder,
            path,
            ledger,
            run,
        }
    }
}

/// A service that looks into the ledger whenever it is asked for a lead.
#[derive(Clone)]
struct Auditor {
    service: Service,
    path: PathBuf,
}

impl LeadSender for Auditor {
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static {
        let json: Value = serde_json::from_slice(&body).unwrap();
        let number = json["phone_number"].as_str().unwrap();
        let groups = journal(&self.path);
        let claims = groups.iter().flat_map(|group| &group.claims);
        let claims = claims.filter(|claim| claim.number.to_string() == number);
        assert_eq!(claims.count(), 1);
        self.service.send(body)
    }

    fn lists_campaigns(&self) -> impl Future<Output = bool> + 'static {
        self.service.lists_campaigns()
    }
}

/// What the journal has of rows, which is not filed here.
fn journal(path: &Path) -> Vec<Group> {
    let db = Connection::open(path).unwrap();
    let mut groups = db.prepare("SELECT entries FROM journal").unwrap();
    let groups = groups.query_map([], |row| row.get(0)).unwrap();
    groups.map(Result::unwrap).collect()
}

/// What came of a run: how it ended, how many rows were passed on, and the ledger.
struct Kept {
    end: End,
    passed_on: usize,
    settled: usize,
}

fn run(
    commits: CommitBuffer,
    policy: Policy,
    rows: u32,
    on_event: &mut dyn FnMut(RunEvent<'_>),
) -> Kept {
    let service = Service::default();
    let numbers: Vec<u32> = (0..rows).collect();
    let (batches, inputs, runtime) = prepare(policy, &numbers);
    let auditor = Auditor {
        service,
        path: commits.path.clone(),
    };
    let path = commits.path.clone();
    let (end, passed_on) = runtime.block_on(async move {
        tokio::time::resume();
        let (settled, mut done) = mpsc::channel(10_000);
        let outlet = Outlet::Ledger(Box::new(LedgerOutlet {
            suppression: Arc::default(),
            writer: LedgerWriter::start(commits.ledger, commits.run, settled),
            reached: RowId(0),
            read_to: RowId(0),
        }));
        let (_no_interrupts, interrupts) = mpsc::channel(1);
        let interrupts = Interrupts::new(interrupts);
        let pipeline = Pipeline::new(
            auditor,
            policy,
            RateController::new(&RateChoice::Unlimited, None),
            inputs,
            outlet,
            on_event,
        );
        let mut end = pipeline.run(batches, interrupts).await;
        end.writer.take().and_then(LedgerWriter::close).unwrap();
        let mut passed_on = 0;
        while let Some(batch) = done.recv().await {
            let prepared = batch.prepared.iter();
            passed_on += prepared.filter(|row| row.outcome.is_some()).count();
        }
        (end, passed_on)
    });
    Kept {
        end,
        passed_on,
        settled: journal(&path)
            .iter()
            .map(|group| group.settlements.len())
            .sum(),
    }
}

#[test]
fn no_request_leaves_before_its_claim_is_on_disk() {
    let kept = run(CommitBuffer::new(), policy(), 500, &mut |_| {});
    assert!(kept.end.stop.is_none());
    assert_eq!((kept.passed_on, kept.settled), (500, 500));
}

/// Makes the ledger refuse outcomes while a table holds a row.
fn fill(path: &Path) {
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "CREATE TABLE full (x); INSERT INTO full VALUES (1);
         CREATE TRIGGER is_full BEFORE INSERT ON journal
         WHEN (SELECT count(*) FROM journal) > 0 AND (SELECT count(*) FROM full) > 0
         BEGIN SELECT raise(FAIL, 'full'); END",
    )
    .unwrap();
}

#[test]
fn an_outcome_that_cannot_be_recorded_stops_the_run_and_is_reported_as_unrecorded() {
    let commits = CommitBuffer::new();
    fill(&commits.path);
    let kept = run(commits, policy(), 500, &mut |_| {});
    assert_eq!(kept.end.stop.unwrap().by(), StoppedBy::Ledger);
    assert!(!kept.end.is_written_down);
    assert_eq!(kept.end.requests, 1);
    assert_eq!((kept.passed_on, kept.settled), (1, 0));
}

#[test]
fn unrecorded_outcomes_are_recorded_once_there_is_room_again() {
    let commits = CommitBuffer::new();
    fill(&commits.path);
    let path = commits.path.clone();
    let kept = run(commits, policy(), 500, &mut |event| {
        if matches!(event, RunEvent::Stopping { .. }) {
            let db = Connection::open(&path).unwrap();
            db.execute_batch("DELETE FROM full").unwrap();
        }
    });
    assert_eq!(kept.end.stop.unwrap().by(), StoppedBy::Ledger);
    assert!(kept.end.is_written_down);
    assert_eq!(kept.settled as u64, kept.end.requests);
    assert_eq!(kept.passed_on as u64, kept.end.requests);
}
