//! A ledger in a folder of its own, for tests.

use jiff::Timestamp;
use serde_json::json;

use super::{ServiceId, SqliteLedger};
use crate::ledger::{Begun, InputRecord, Ledger, LedgerPlace, NewRun, Sending};

/// An empty ledger that knows one service.
pub(in crate::ledger) struct TestLedger {
    pub(in crate::ledger) ledger: Ledger,
    pub(in crate::ledger) service: ServiceId,
    _folder: tempfile::TempDir,
}

impl TestLedger {
    pub(in crate::ledger) fn new() -> TestLedger {
        let folder = tempfile::tempdir().unwrap();
        let ledger =
            Ledger::open(&LedgerPlace::file(folder.path().join("ledger.sqlite3"))).unwrap();
        let service = service(&ledger, "https://service.example");
        TestLedger {
            ledger,
            service,
            _folder: folder,
        }
    }

    pub(in crate::ledger) fn another_service(&self) -> ServiceId {
        service(&self.ledger, "https://another.example")
    }

    /// A run with one input, which holds only this byte.
    pub(in crate::ledger) fn run_of(&self, content: u8) -> NewRun {
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

    pub(in crate::ledger) fn place(&self) -> LedgerPlace {
        LedgerPlace::File(self.ledger.file().place().clone())
    }

    /// Begins the run, or continues it.
    pub(in crate::ledger) fn begin(&mut self, run: &NewRun, now: Timestamp) -> Begun {
        let expected = self.ledger.predecessors(run).unwrap().latest;
        let run = NewRun {
            expected,
            ..run.clone()
        };
        self.ledger.begin(&run, now).unwrap().unwrap()
    }

    /// Runs SQL that no part of the program would run.
    pub(in crate::ledger) fn sql(&self, sql: &str) {
        self.ledger.file().db.execute_batch(sql).unwrap();
    }
}

impl Ledger {
    pub(in crate::ledger) fn file(&self) -> &SqliteLedger {
        match self {
            Ledger::File(ledger) => ledger,
            Ledger::Server(_) => panic!("it is on a server"),
        }
    }

    pub(in crate::ledger) fn file_mut(&mut self) -> &mut SqliteLedger {
        match self {
            Ledger::File(ledger) => ledger,
            Ledger::Server(_) => panic!("it is on a server"),
        }
    }
}

fn service(ledger: &Ledger, address: &str) -> ServiceId {
    let insert = "INSERT INTO services (address) VALUES (?1) RETURNING id";
    let id = ledger
        .file()
        .db
        .query_row(insert, [address], |row| row.get(0));
    ServiceId(id.unwrap())
}

/// An input that holds only this byte.
pub(in crate::ledger) fn input(content: u8) -> InputRecord {
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
pub(in crate::ledger) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Whether something is so within a few seconds. Until a program that another test starts has begun,
/// it holds the locks of this process too.
pub(in crate::ledger) fn is_soon(is_so: impl Fn() -> bool) -> bool {
    (0..1_000).any(|_| {
        is_so() || {
            std::thread::sleep(std::time::Duration::from_millis(5));
            false
        }
    })
}
