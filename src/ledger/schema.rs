//! The tables, and how a ledger of an older version becomes one of this.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The changes of the tables from version to version, in order. SQLite's `user_version`
/// says how many of them a ledger has been through: steps are added, never changed.
const STEPS: [&str; 3] = [FIRST, SECOND, THIRD];

/// The version that this program writes.
pub(super) const VERSION: u32 = STEPS.len() as u32;

/// The first version with the table `paces`.
pub(super) const KNOWS_PACES: u32 = 2;

/// The first version with the table `journal` in place of `claims` and `outcomes`.
pub(super) const HAS_JOURNAL: u32 = 3;

/// What marks a database as a ledger (`application_id`): "Lead" in ASCII.
pub(super) const APPLICATION_ID: u32 = 0x4C65_6164;

/// Times are seconds since 1970, UTC. A campaign is the service's id.
const FIRST: &str = "
-- The services that leads were sent to, by address.
CREATE TABLE services (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs (
    -- Never given twice, so that a rejects file never names another run.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service INTEGER NOT NULL REFERENCES services,
    -- SHA-256 of all that makes a run the same run.
    identity BLOB NOT NULL,
    -- The same in words, as JSON: what `runs show` prints and differences are told by.
    options TEXT,
    -- Mapping, campaign and regions as they were given, as JSON: what a rejects file of
    -- this run takes for its defaults.
    defaults TEXT,
    began_at INTEGER NOT NULL,
    completed_at INTEGER,
    -- Whether any request may have left.
    has_sent INTEGER NOT NULL DEFAULT 0,
    -- The highest row that is among `sent`.
    reached INTEGER NOT NULL DEFAULT 0,
    -- Rows by status, as JSON.
    counts TEXT NOT NULL DEFAULT '{}',
    pruned_at INTEGER
) STRICT;

-- Every process that has worked at a run. One without an end was killed, or is at work.
CREATE TABLE starts (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    start INTEGER NOT NULL,
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    process INTEGER NOT NULL,
    version TEXT NOT NULL,
    exit_code INTEGER,
    stopped_by TEXT,
    requests INTEGER,
    PRIMARY KEY (run, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE inputs (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    position INTEGER NOT NULL,
    -- As it was named; the absolute path, none for standard input.
    name TEXT,
    path TEXT,
    -- A digest of the path, which stays when that is pruned.
    place BLOB,
    sha256 BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    -- SHA-256 of the names of its columns, by which its rejects are known.
    columns BLOB NOT NULL,
    -- Data rows; known when a start has read it to its end.
    rows INTEGER,
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;

-- The do-not-call lists of each start.
CREATE TABLE lists (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    start INTEGER NOT NULL,
    position INTEGER NOT NULL,
    name TEXT,
    sha256 BLOB NOT NULL,
    numbers INTEGER NOT NULL,
    PRIMARY KEY (run, start, position)
) STRICT, WITHOUT ROWID;

-- The files that each run has written, every version, or begun to write.
CREATE TABLE outputs (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    path TEXT,
    place BLOB NOT NULL,
    -- `results` or `rejects`.
    kind TEXT NOT NULL,
    -- What it holds; none until it is complete.
    sha256 BLOB,
    rows INTEGER
) STRICT;
CREATE INDEX outputs_by_place ON outputs (place);

-- Rows that are being sent: committed before the first request leaves, and gone with the
-- outcome. Whatever is here may have been taken.
CREATE TABLE claims (
    run INTEGER NOT NULL,
    row INTEGER NOT NULL,
    file INTEGER NOT NULL,
    -- The physical line, less the row's number: 1 in a plain file, which takes no room.
    line_offset INTEGER NOT NULL,
    number INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    PRIMARY KEY (run, row)
) STRICT, WITHOUT ROWID;

-- Claimed rows and what became of them, in the order in which it was learned.
CREATE TABLE outcomes (
    seq INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    row INTEGER NOT NULL,
    file INTEGER NOT NULL,
    line_offset INTEGER NOT NULL,
    number INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    status INTEGER NOT NULL,
    http_status INTEGER,
    attempts INTEGER NOT NULL,
    -- A whole number, 16 bytes of a UUID, or text.
    lead_id ANY,
    settled_at INTEGER,
    error_code TEXT,
    error TEXT
) STRICT;

-- The same, filed where they can be found by number. The number is first, since
-- SQLite compares keys by a whole number that differs fastest. The key's order makes
-- `--once service` as cheap as a campaign; run and row tell leads of one number apart.
CREATE TABLE sent (
    number INTEGER NOT NULL,
    service INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    run INTEGER NOT NULL,
    row INTEGER NOT NULL,
    file INTEGER NOT NULL,
    line_offset INTEGER NOT NULL,
    status INTEGER NOT NULL,
    http_status INTEGER,
    attempts INTEGER NOT NULL,
    lead_id ANY,
    settled_at INTEGER,
    error_code TEXT,
    error TEXT,
    PRIMARY KEY (number, service, campaign, run, row)
) STRICT, WITHOUT ROWID;

-- Rows that could not be sent as they stood.
CREATE TABLE refusals (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    row INTEGER NOT NULL,
    file INTEGER NOT NULL,
    line INTEGER NOT NULL,
    campaign INTEGER,
    -- The phone cell as it was read.
    cell TEXT,
    error_code TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (run, row)
) STRICT, WITHOUT ROWID;

-- Digests of the cells of rows that ended invalid or rejected, and the first run in
-- which they did.
CREATE TABLE known_bad (
    service INTEGER NOT NULL,
    digest BLOB NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (service, digest)
) STRICT, WITHOUT ROWID;
";

const SECOND: &str = "
-- The pace that each service was last found to take.
CREATE TABLE paces (
    service INTEGER PRIMARY KEY REFERENCES services,
    requests INTEGER NOT NULL,
    -- In so many milliseconds.
    per_ms INTEGER NOT NULL,
    -- Whether its answers state this limit; else it was found by trying.
    is_stated INTEGER NOT NULL,
    learned_at INTEGER NOT NULL
) STRICT;
";

const THIRD: &str = "
-- Claims and outcomes that are not filed yet, in the order in which they came, a line for
-- each group: JSON as in `entries.rs`.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    entries TEXT NOT NULL
) STRICT;

-- What an older version has left is filed, but for the claims.
INSERT OR REPLACE INTO sent
    (service, number, campaign, run, row, file, line_offset,
     status, http_status, attempts, lead_id, settled_at, error_code, error)
SELECT service, number, campaign, run, row, file, line_offset,
     status, http_status, attempts, lead_id, settled_at, error_code, error
FROM outcomes JOIN runs ON runs.id = run
ORDER BY number, campaign, run, row, seq;
UPDATE runs SET
    reached = max(reached, coalesce((SELECT max(row) FROM outcomes WHERE run = runs.id), 0));
INSERT INTO journal (run, entries)
SELECT run, json_object('claims',
    json_group_array(json_array(row, file, line_offset, number, campaign)))
FROM claims GROUP BY run;
DROP TABLE outcomes;
DROP TABLE claims;
";

/// Brings the tables to this version; all of it or nothing.
pub(super) fn migrate(db: &mut Connection) -> rusqlite::Result<()> {
    if version(db)? == VERSION {
        return Ok(());
    }
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again, now that nobody else can be at it.
    let done = version(&step)? as usize;
    for sql in STEPS.iter().skip(done) {
        step.execute_batch(sql)?;
    }
    mark(&step)?;
    step.commit()
}

fn mark(db: &Transaction<'_>) -> rusqlite::Result<()> {
    db.pragma_update(None, "application_id", APPLICATION_ID)?;
    db.pragma_update(None, "user_version", VERSION)
}

/// How many steps a ledger has been through.
pub(super) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// What kind of database it says it is; 0 if nothing.
pub(super) fn application_id(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "application_id", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use tempfile::TempDir;

    use super::*;
    use crate::lead::{RunId, Status};
    use crate::ledger::{
        ExportedRow, Ledger, LedgerError, Recall, Selection, SenderLock, ServiceId,
    };

    /// A run, its input, and a lead of each kind of place that a lead can be in.
    const ROWS: &str = "
    INSERT INTO services VALUES (1, 'https://service.example');
    INSERT INTO runs (id, service, identity, began_at) VALUES (1, 1, zeroblob(32), 1795230000);
    INSERT INTO starts VALUES (1, 1, 1795230000, NULL, 41, '0.1.0', NULL, NULL, NULL);
    INSERT INTO inputs VALUES
        (1, 0, 'a.csv', '/lists/a.csv', NULL, zeroblob(32), 70, zeroblob(32), 4);
    INSERT INTO lists VALUES (1, 1, 0, 'dnc.txt', zeroblob(32), 20);
    INSERT INTO outputs VALUES (1, '/lists/a.results.csv', zeroblob(32), 'results', NULL, NULL);
    INSERT INTO claims VALUES (1, 3, 0, 1, 447911000003, 101);
    INSERT INTO outcomes VALUES
        (1, 1, 2, 0, 1, 447911000002, 101, 0, 201, 1, 7002, 1795230002, NULL, NULL);
    INSERT INTO sent VALUES
        (447911000001, 1, 101, 1, 1, 0, 1, 0, 201, 1, 7001, 1795230001, NULL, NULL);
    INSERT INTO refusals VALUES (1, 4, 0, 5, 101, 'n/a', 'phone_not_e164', 'no number');
    INSERT INTO known_bad VALUES (1, zeroblob(16), 1);
    ";

    /// Those that all versions have.
    const TABLES: [&str; 8] = [
        "services",
        "runs",
        "starts",
        "inputs",
        "lists",
        "outputs",
        "refusals",
        "known_bad",
    ];

    /// A ledger as an older version has left it.
    fn of_version(version: u32) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sqlite3");
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "journal_mode", "WAL").unwrap();
        db.execute_batch(&STEPS[..version as usize].concat())
            .unwrap();
        db.execute_batch(ROWS).unwrap();
        db.pragma_update(None, "application_id", APPLICATION_ID)
            .unwrap();
        db.pragma_update(None, "user_version", version).unwrap();
        (folder, path)
    }

    fn number(db: &Connection, sql: &str) -> u32 {
        db.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn rows(path: &Path) -> Vec<u32> {
        let db = Connection::open(path).unwrap();
        let count = |table: &&str| number(&db, &format!("SELECT count(*) FROM {table}"));
        TABLES.iter().map(count).collect()
    }

    /// What became of every row.
    fn told(ledger: &Ledger) -> Vec<ExportedRow> {
        let all = Selection {
            runs: vec![RunId(1)],
            campaign: None,
            statuses: Vec::new(),
        };
        let mut told = Vec::new();
        let exported: Result<(), LedgerError> = ledger.export(&all, |row| {
            told.push(row);
            Ok(())
        });
        exported.unwrap();
        told
    }

    #[test]
    fn a_ledger_of_an_older_version_keeps_all_its_rows_and_learns_of_paces() {
        for older in 1..HAS_JOURNAL {
            let (_folder, path) = of_version(older);
            let before = rows(&path);
            assert_eq!(before, [1; TABLES.len()]);
            let told_before = told(&Ledger::read(&path).unwrap().unwrap());
            let statuses = told_before.iter().map(|row| row.outcome.status);
            assert_eq!(
                statuses.collect::<Vec<Status>>(),
                [
                    Status::Created,
                    Status::Created,
                    Status::Uncertain,
                    Status::Invalid
                ]
            );
            let ledger = Ledger::open(&path).unwrap();
            assert_eq!(version(&ledger.db).unwrap(), VERSION);
            assert_eq!(number(&ledger.db, "SELECT count(*) FROM paces"), 0);
            assert_eq!(ledger.known_rate(ServiceId(1)).unwrap(), None);
            assert_eq!(told(&ledger), told_before);
            assert_eq!(number(&ledger.db, "SELECT reached FROM runs"), 2);
            drop(ledger);
            assert_eq!(rows(&path), before);
            // Opened once more there is nothing left to do.
            Ledger::open(&path).unwrap();
            assert_eq!(rows(&path), before);
        }
    }

    #[test]
    fn a_ledger_of_an_older_version_is_read_as_it_is() {
        for older in 1..VERSION {
            let (_folder, path) = of_version(older);
            let mut recall = Recall::open(&path).unwrap().unwrap();
            let service = recall.service("https://service.example").unwrap();
            assert_eq!(service, Some(ServiceId(1)));
            let ledger = Ledger::read(&path).unwrap().unwrap();
            assert_eq!(ledger.known_rate(ServiceId(1)).unwrap(), None);
            assert_eq!(version(&ledger.db).unwrap(), older);
        }
    }

    #[test]
    fn a_ledger_of_an_older_version_stays_so_while_somebody_sends() {
        let (_folder, path) = of_version(1);
        let sending = SenderLock::take(&path, ServiceId(1)).unwrap();
        let in_use = Ledger::open(&path).err();
        assert!(matches!(in_use, Some(LedgerError::InUse { .. })));
        let db = Connection::open(&path).unwrap();
        assert_eq!(version(&db), Ok(1));
        drop(sending);
        Ledger::open(&path).unwrap();
        assert_eq!(version(&db), Ok(VERSION));
        // Of this version it is opened beside those who send.
        let _sending = SenderLock::take(&path, ServiceId(1)).unwrap();
        Ledger::open(&path).unwrap();
    }

    #[test]
    fn a_ledger_of_a_newer_version_is_refused_by_readers_and_writers() {
        let (_folder, path) = of_version(1);
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "user_version", VERSION + 1).unwrap();
        let refused = |error| matches!(error, Some(LedgerError::Newer { .. }));
        assert!(refused(Ledger::open(&path).err()));
        assert!(refused(Ledger::read(&path).err()));
    }
}
