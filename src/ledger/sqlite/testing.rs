//! A ledger in a folder of its own, for tests.

use jiff::Timestamp;
use serde_json::json;

use super::{FilePlace, InputRecord, NewRun, ServiceId, SqliteLedger};
use crate::ledger::Sending;

/// An empty ledger that knows one service.
pub(super) struct TestLedger {
    pub(super) ledger: SqliteLedger,
    pub(super) service: ServiceId,
    _folder: tempfile::TempDir,
}

impl TestLedger {
    pub(super) fn new() -> TestLedger {
        let folder = tempfile::tempdir().unwrap();
        let ledger =
            SqliteLedger::open(&FilePlace::file(folder.path().join("ledger.sqlite3"))).unwrap();
        let service = service(&ledger, "https://service.example");
        TestLedger {
            ledger,
            service,
            _folder: folder,
        }
    }

    pub(super) fn another_service(&self) -> ServiceId {
        service(&self.ledger, "https://another.example")
    }

    /// A run with one input, which holds only this byte.
    pub(super) fn run_of(&self, content: u8) -> NewRun {
        NewRun {
            service: self.service,
            identity: [content; 32],
            options: json!({ "campaign": "101" }),
            defaults: "{}".into(),
            expected: Default::default(),
            inputs: vec![input(content)],
            lists: Vec::new(),
            reopens: false,
            sending: Sending::default(),
            outputs: Vec::new(),
        }
    }

    /// Runs SQL that no part of the program would run.
    pub(super) fn sql(&self, sql: &str) {
        self.ledger.db.execute_batch(sql).unwrap();
    }
}

fn service(ledger: &SqliteLedger, address: &str) -> ServiceId {
    let insert = "INSERT INTO services (address) VALUES (?1) RETURNING id";
    let id = ledger.db.query_row(insert, [address], |row| row.get(0));
    ServiceId(id.unwrap())
}

/// An input that holds only this byte.
pub(super) fn input(content: u8) -> InputRecord {
    InputRecord {
        name: Some(format!("{content}.csv")),
        path: Some(format!("/lists/{content}.csv").into()),
        sha256: [content; 32],
        bytes: 1,
        columns: [content; 32],
        rows: None,
    }
}

/// The time `second` seconds after 1970 began.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Whether something is so within a few seconds. Until a program that another test starts has begun,
/// it holds the locks of this process too.
pub(super) fn is_soon(is_so: impl Fn() -> bool) -> bool {
    (0..1_000).any(|_| {
        is_so() || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            false
        }
    })
}
