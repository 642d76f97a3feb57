//! The tables, and how a ledger of an older version becomes one of this.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The changes of the tables from version to version, in order. SQLite's `user_version`
/// says how many of them a ledger has been through: steps are added, never changed.
const STEPS: [&str; 1] = [FIRST];

/// The version that this program writes.
pub(super) const VERSION: u32 = STEPS.len() as u32;

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
