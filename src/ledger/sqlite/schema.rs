//! The tables.

use rusqlite::{Connection, TransactionBehavior};

/// The version of the tables, as SQLite's `user_version` has it.
pub(super) const VERSION: u32 = 15;

/// The version of the first release. Earlier ones are refused.
pub(super) const FIRST: u32 = 8;

/// What makes the tables of each version of those before it.
const STEPS: [(u32, &str); 8] = [
    (FIRST, TABLES),
    (9, AFTER_A_RUN),
    (10, WHOSE_LEADS),
    (11, WHEN_IT_ASKED),
    (12, WHICH_RUN),
    (13, KILLED_WHEN),
    (14, EACH_START),
    (VERSION, WHICH_CLOCK),
];

/// The `application_id` that marks a database as a ledger: "Lead" in ASCII.
pub(super) const APPLICATION_ID: u32 = 0x4C65_6164;

/// Times are seconds since 1970, UTC, unless the column's name says
/// milliseconds. A campaign is stored as the service's id for it.
const TABLES: &str = "
-- The services that leads were sent to, by address.
CREATE TABLE services (
    id INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    -- The rate that it was last found to take, in requests per milliseconds; and whether its
    -- answers state this limit, or it was found by trying.
    rate_requests INTEGER,
    rate_per_ms INTEGER,
    rate_is_stated INTEGER,
    -- Until when it has asked not to be sent anything, and with which HTTP status.
    pause_until_ms INTEGER,
    pause_http_status INTEGER
) STRICT;

CREATE TABLE runs (
    -- Never given twice, so that a rejects file never names another run.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service INTEGER NOT NULL REFERENCES services,
    -- SHA-256 of all that makes a run the same run.
    identity BLOB NOT NULL,
    -- The same in words, as JSON: what `runs show` prints, and by which differences are shown.
    options TEXT,
    -- Mapping, campaign and regions as they were given, as JSON: what a rejects file of
    -- this run takes for its defaults.
    defaults TEXT,
    began_at INTEGER NOT NULL,
    completed_at INTEGER,
    -- The highest row that was ever claimed; 0 while no request can have left.
    reached INTEGER NOT NULL DEFAULT 0,
    -- The highest row that was read by a start that has ended.
    read_to INTEGER NOT NULL DEFAULT 0,
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
    -- The computer it ran on.
    host TEXT NOT NULL,
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
    -- `results`, `rejects` or `undo`.
    kind TEXT NOT NULL,
    -- What it holds; none until it is complete.
    sha256 BLOB,
    rows INTEGER
) STRICT;
CREATE INDEX outputs_by_place ON outputs (place);

-- Claims and outcomes that are not filed yet, in the order in which they came, a line for
-- each group, in the form of postcard (`entry.rs`). They are committed before the first request leaves.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    entries BLOB NOT NULL
) STRICT;

-- Rows that were sent, filed where they can be found by number. The number is first, since
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

-- Rows that cannot be sent as they are.
CREATE TABLE invalid_rows (
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

-- Digests of the cells of rows that ended invalid or rejected in a run, each with the first
-- row of the run that has these cells.
CREATE TABLE known_bad (
    service INTEGER NOT NULL,
    digest BLOB NOT NULL,
    run INTEGER NOT NULL,
    row INTEGER NOT NULL,
    -- Whether a rejects file of that run, which has ended, holds them.
    in_rejects INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (service, digest, run)
) STRICT, WITHOUT ROWID;

-- How many requests were started in each second of the last day, so that a limit holds
-- across processes.
CREATE TABLE recent_starts (
    service INTEGER NOT NULL REFERENCES services,
    second INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (service, second)
) STRICT, WITHOUT ROWID;
";

/// What is needed after a run: to undo it, to look its rows up, and to call nobody who does not want
/// it. In `sent`, a lead that was removed again has a status of its own (`coding::REMOVED`), and so have
/// other rows that have it.
const AFTER_A_RUN: &str = "
-- When its leads began to be removed from the service again: since then it does not continue.
ALTER TABLE runs ADD COLUMN undone_at INTEGER;

-- The name of its user.
ALTER TABLE starts ADD COLUMN started_by TEXT;

-- When rows that may have been taken were sent: no attempt was before the first time, or after
-- the last one.
CREATE TABLE attempts (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    row INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (run, row)
) STRICT, WITHOUT ROWID;

-- The leads of runs that are undone.
CREATE TABLE undo_rows (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    row INTEGER NOT NULL,
    number INTEGER NOT NULL,
    campaign INTEGER NOT NULL,
    lead_id ANY,
    -- When the service was first about to be asked to remove it.
    asked_at INTEGER,
    -- A number as in `UndoStatus::ALL`; none while the lead is to be removed.
    status INTEGER,
    http_status INTEGER,
    error TEXT,
    settled_at INTEGER,
    PRIMARY KEY (run, row)
) STRICT, WITHOUT ROWID;

-- The do-not-call list that stays.
CREATE TABLE suppressed (
    -- Never given twice, so that what is new always comes after what is known.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL UNIQUE,
    reason TEXT,
    added_at INTEGER NOT NULL
) STRICT;
";

/// Undoing a run has to know whose account its leads are in.
const WHOSE_LEADS: &str = "
-- What the access token is known by with which all its leads were made; not the token. Empty without
-- leads, `-` if there were several; none if it was begun before this column came.
ALTER TABLE runs ADD COLUMN token TEXT;
";

/// A clock may have been wrong when the service asked for a wait.
const WHEN_IT_ASKED: &str = "
-- When it asked for the wait that ends at `pause_until_ms`; none if that came before this column.
ALTER TABLE services ADD COLUMN pause_asked_at_ms INTEGER;
";

/// Runs of several ledgers have the same numbers, and clocks may have been wrong.
const WHICH_RUN: &str = "
-- Random letters, by which rejects name this run and no other; none if it was begun before this
-- column came.
ALTER TABLE runs ADD COLUMN tag TEXT;

-- The last start that had been recorded when it was undone. What its command has done before that
-- does not say that it may be sent once more.
ALTER TABLE runs ADD COLUMN undone_after INTEGER;

-- The ids of its campaigns by their names, as JSON, when its options were pruned: the name may mean
-- another one next time.
ALTER TABLE runs ADD COLUMN campaign_ids TEXT;

-- Each start reads all runs.
CREATE INDEX outputs_by_run ON outputs (run);

-- The order in which all starts were recorded, whatever the clock said.
ALTER TABLE starts ADD COLUMN seq INTEGER;
UPDATE starts SET seq = (
    SELECT nth FROM (
        SELECT run, start, row_number() OVER (ORDER BY began_at, run, start) AS nth FROM starts
    ) AS o WHERE o.run = starts.run AND o.start = starts.start
);
";

/// What is on record of attempts is not what is known of a process that was killed.
const KILLED_WHEN: &str = "
-- Until when a process that was killed may have made attempts after `last_ms`, the last one that is on
-- record; none if no process was killed. Before this column came, `last_ms` was the later of the two.
ALTER TABLE attempts ADD COLUMN ended_ms INTEGER;
UPDATE attempts SET ended_ms = last_ms, last_ms = first_ms;
";

/// What somebody else does between two starts of a run is not the run's.
const EACH_START: &str = "
-- When rows that may have been taken were sent, by each start that has sent them. Before this table came,
-- all starts of a row had one entry.
CREATE TABLE each_start (
    run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    row INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    PRIMARY KEY (run, row, first_ms)
) STRICT, WITHOUT ROWID;
INSERT INTO each_start SELECT run, row, first_ms, last_ms, ended_ms FROM attempts;
DROP TABLE attempts;
ALTER TABLE each_start RENAME TO attempts;
";

/// The clock of the service says which leads it had before a run began.
const WHICH_CLOCK: &str = "
-- How far the service's clock was ahead of that of the computer where the run began, in seconds; none
-- if the service did not say, or the run was begun before this column came.
ALTER TABLE runs ADD COLUMN ahead_s INTEGER;
";

/// Creates the tables, or those that are missing: all of them or none.
pub(super) fn create(db: &mut Connection) -> rusqlite::Result<()> {
    if version(db)? == VERSION {
        return Ok(());
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again, now that no other process can be writing.
    let found = version(&change)?;
    if found >= VERSION {
        return Ok(());
    }
    for (_, step) in STEPS.iter().filter(|(version, _)| *version > found) {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", VERSION)?;
    change.commit()
}

/// The version of the tables; 0 if there are none.
pub(super) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The kind of database, as its header says; 0 if it says nothing.
pub(super) fn application_id(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "application_id", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::SqliteLedger;
    use crate::ledger::sqlite::testing::TestLedger;

    #[test]
    fn a_ledger_of_another_version_is_refused_by_readers_and_writers() {
        let test = TestLedger::new();
        let place = test.ledger.file().place();
        for other in [1, FIRST - 1, VERSION + 1] {
            test.sql(&format!("PRAGMA user_version = {other}"));
            for refused in [
                SqliteLedger::open(place).err(),
                SqliteLedger::read(place).err(),
            ] {
                let text = refused.unwrap().0.to_string();
                let is_newer = text.contains("a newer version of leadload");
                assert_eq!(is_newer, other > VERSION, "{text}");
                assert!(text.contains(&format!("(format {other}")), "{text}");
            }
        }
    }
}
