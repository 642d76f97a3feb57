//! Ledgers, rows and answers for tests.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Claim, Group, ServiceId, Settlement};
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::ledger::{CellsDigest, InvalidRow, Ledger, LedgerPlace, Look, SenderId, SentRow};
use crate::message::Text;
use crate::phone::PhoneNumber;

pub(in crate::ledger) const CAMPAIGN: CampaignId = CampaignId(17);
pub(in crate::ledger) const RUN: RunId = RunId(1);

/// When each [`run`] begins.
pub(in crate::ledger) const BEGAN_AT: i64 = 1_700_000_000;

/// A ledger in a folder of its own, with one run.
pub(in crate::ledger) struct Sample {
    folder: TempDir,
    pub(in crate::ledger) ledger: Ledger,
    pub(in crate::ledger) service: ServiceId,
}

impl Sample {
    pub(in crate::ledger) fn new() -> Sample {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(&LedgerPlace::file(folder.path().join("ledger.db"))).unwrap();
        // These tests are about what was written to the system, not about what is on disk.
        let fast = ledger.file().db.pragma_update(None, "synchronous", "OFF");
        fast.unwrap();
        let service = ledger.service("https://calls.example").unwrap();
        let sample = Sample {
            folder,
            ledger,
            service,
        };
        assert_eq!(sample.run(), RUN);
        sample
    }

    /// Adds a run.
    pub(in crate::ledger) fn run(&self) -> RunId {
        run_of(&self.ledger.file().db, self.service)
    }

    /// Records that the run continues, at a time later than any pruning.
    pub(in crate::ledger) fn start(&self, run: RunId) {
        let add = "INSERT OR REPLACE INTO starts (run, start, began_at, process, host, version)
            VALUES (?1, 2, 9000000000, 1, 'h', '1')";
        let run = [run.0.cast_signed()];
        self.ledger.file().db.execute(add, run).unwrap();
    }

    pub(in crate::ledger) fn commit(&mut self, run: RunId, group: Group) {
        self.ledger.commit(run, &group).unwrap();
    }

    /// Sets slices so small that a few rows make several of them.
    pub(in crate::ledger) fn file_in_small_slices(&mut self) {
        let limits = &mut self.ledger.file_mut().filing.limits;
        (limits.most, limits.slice) = (6, 2);
    }

    /// What the process would leave behind if it were killed now: the files as they are.
    pub(in crate::ledger) fn killed(&self) -> Sample {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ledger.db", "ledger.db-wal"] {
            fs::copy(self.folder.path().join(name), folder.path().join(name)).unwrap();
        }
        let ledger = Ledger::open(&LedgerPlace::file(folder.path().join("ledger.db"))).unwrap();
        ledger
            .file()
            .db
            .pragma_update(None, "synchronous", "OFF")
            .unwrap();
        Sample {
            folder,
            ledger,
            service: self.service,
        }
    }

    pub(in crate::ledger) fn recover(&mut self) -> u64 {
        self.ledger.recover(self.service).unwrap()
    }

    /// What is filed of these numbers.
    pub(in crate::ledger) fn look(&self, numbers: Vec<PhoneNumber>) -> Look {
        let recall = self.ledger.recall().unwrap();
        recall.look(self.service, None, numbers).unwrap()
    }

    /// The filed record of the row's [`claim`].
    pub(in crate::ledger) fn row(&self, run: RunId, row: u64) -> Option<SentRow> {
        let Claim {
            row,
            number,
            campaign,
            ..
        } = claim(row);
        let look = self.look(vec![number]);
        look.row(number, campaign, run, row).cloned()
    }

    pub(in crate::ledger) fn status(&self, row: u64) -> Option<Status> {
        self.row(RUN, row).map(|record| record.outcome.status)
    }

    /// Records that a rejects file of the run has its bad rows.
    pub(in crate::ledger) fn record_rejects(&self, run: RunId) {
        let record = "UPDATE known_bad SET in_rejects = 1 WHERE run = ?1";
        self.ledger.file().db.execute(record, [run.0]).unwrap();
    }

    pub(in crate::ledger) fn is_known_bad(&self, digest: CellsDigest, run: RunId) -> bool {
        let recall = self.ledger.recall().unwrap();
        let bad = recall.known_bad(self.service, run, [digest]).unwrap();
        bad.contains(&digest)
    }

    /// The single value that a query returns.
    pub(in crate::ledger) fn number(&self, sql: &str) -> i64 {
        self.ledger
            .file()
            .db
            .query_row(sql, [], |row| row.get(0))
            .unwrap()
    }

    /// Whether the text is anywhere in the ledger's files.
    pub(in crate::ledger) fn holds(&self, text: &str) -> bool {
        files(self.folder.path()).iter().any(|file| {
            let bytes = fs::read(file).unwrap();
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        })
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Adds a run of the service.
pub(in crate::ledger) fn run_of(db: &Connection, service: ServiceId) -> RunId {
    let add = "INSERT INTO runs (service, identity, options, began_at)
        VALUES (?1, x'00', '\"the options\"', ?2) RETURNING id";
    let id = db.query_row(add, [service.0, BEGAN_AT], |row| row.get::<_, i64>(0));
    RunId(id.unwrap().cast_unsigned())
}

/// A different number for each row.
pub(in crate::ledger) fn number(row: u64) -> PhoneNumber {
    PhoneNumber::from_key(447_911_000_000 + row * 61_803 % 1_000_000).unwrap()
}

pub(in crate::ledger) fn claim(row: u64) -> Claim {
    Claim {
        row: RowId(row),
        file: 0,
        line: row + 1,
        number: number(row),
        campaign: CAMPAIGN,
        resends: false,
        sender: SenderId::default(),
    }
}

pub(in crate::ledger) fn claims(rows: impl IntoIterator<Item = u64>) -> Group {
    Group {
        claims: rows.into_iter().map(claim).collect(),
        ..Group::default()
    }
}

pub(in crate::ledger) fn settlements(
    rows: impl IntoIterator<Item = u64>,
    outcome: &RowOutcome,
) -> Group {
    let settle = |row| Settlement {
        claim: claim(row),
        outcome: outcome.clone(),
        cells: None,
        attempted: None,
    };
    Group {
        settlements: rows.into_iter().map(settle).collect(),
        ..Group::default()
    }
}

pub(in crate::ledger) fn releases(rows: impl IntoIterator<Item = u64>) -> Group {
    Group {
        releases: rows.into_iter().map(RowId).collect(),
        ..Group::default()
    }
}

pub(in crate::ledger) fn created() -> RowOutcome {
    RowOutcome {
        quotes_cells: false,
        is_suppressed: false,
        is_known_bad: false,
        status: Status::Created,
        lead_id: Some("4711".to_owned()),
        http_status: Some(201),
        attempts: 1,
        error_code: None,
        error: None,
        settled_at: Timestamp::from_second(BEGAN_AT + 5).ok(),
    }
}

pub(in crate::ledger) fn rejected() -> RowOutcome {
    RowOutcome {
        quotes_cells: false,
        is_suppressed: false,
        is_known_bad: false,
        status: Status::Rejected,
        lead_id: None,
        http_status: Some(422),
        attempts: 2,
        error_code: Some(ErrorCode::Http(422)),
        error: Some(Text::said("no such person: Ada Lovelace")),
        settled_at: None,
    }
}

pub(in crate::ledger) fn uncertain() -> RowOutcome {
    RowOutcome {
        quotes_cells: false,
        is_suppressed: false,
        is_known_bad: false,
        status: Status::Uncertain,
        lead_id: None,
        http_status: None,
        attempts: 1,
        error_code: Some(ErrorCode::AnswerLost),
        error: Some(Text::said("the run ended before the answer came")),
        settled_at: None,
    }
}

pub(in crate::ledger) fn invalid_row(row: u64, cell: &str) -> InvalidRow {
    InvalidRow {
        row: RowId(row),
        file: 0,
        line: row + 1,
        campaign: Some(CAMPAIGN),
        cell: cell.to_owned(),
        outcome: RowOutcome::invalid(ErrorCode::PhoneNotE164, Text::said("no `+`")),
        cells: CellsDigest([row as u8; 16]),
    }
}
