//! The record of every lead that was ever sent. A row is claimed before its request leaves and
//! settled after its answer has come. With it a run can continue, a results file can be made again,
//! and no number is sent twice.
//!
//! # Promises
//!
//! 1. A row is claimed on disk before its first request leaves. Whatever happens then, the
//!    ledger knows that the service may have taken it.
//! 2. A group (claims and outcomes together) is committed completely or not at all. When
//!    [`Ledger::commit`] has returned, the group is on disk; after an error it can be committed
//!    again.
//! 3. A settled row stays settled: no kill, at any moment, changes or removes it. Only undoing it
//!    does, and [`Ledger::forget_run`], [`Ledger::forget_number`] and [`Ledger::forget_campaign`].
//! 4. Every row that was ever claimed and not released is found by its number: settled, or
//!    `uncertain` when no answer can come any more.
//! 5. When the call that prunes or forgets data returns, the data is in none of the ledger's
//!    files or tables.
//! 6. A number that was put on the do-not-call list before a group is committed is in the reply to
//!    that group, or was in an earlier one. Pruning and forgetting leave the list as it is.
//! 7. A lead is removed only after its row was recorded as about to be removed ([`UndoRow`]). From then
//!    on it is uncertain, until it is known what became of it.
//!
//! # Two kinds
//!
//! [`Ledger`] is one of them, and nothing outside this module knows which.
//!
//! | kind | for | who may send |
//! |-|-|-|
//! | `sqlite` | one computer: a file | one process for each service, by a lock of the operating system |
//! | `postgres` | several computers: a schema on a server | any number, each run once, by leases ([`Lease`]) |
//!
//! What is known of runs, rows, numbers and files is written and read in one place for both: a subject is a
//! file here, with its statements, over a thin driver (`store`; what comes back is read by `row`). The tables
//! are made by the same steps (`schema`). A new fact about a row is one step there and one column in `record`,
//! and for a file its place in the journal (`RowOutcome`).
//!
//! | subject | file |
//! |-|-|
//! | how a run begins and ends | `beginning`, `ending` |
//! | what is written for a group beside claims and outcomes | `group`, `attempts` |
//! | what a run finds of earlier ones, and of its numbers; the history | `earlier`, `recall`, `runs` |
//! | rows of a run: export, look-up, undo | `export`, `reconcile`, `undoing`, `counts`; the row itself: `record` |
//! | files that runs have written | `outputs` |
//! | numbers that no import sends | `suppressed` |
//! | removing data; copying all of it | `prune`, `transfer` |
//!
//! Apart stays what is not the same, by its nature:
//!
//! - only a file has a journal and filing (`sqlite::{journal, filing, round, packed, unfiled, recover}`): a
//!   row costs a fraction of a statement that way; locks, identity and privacy of the file.
//! - only a server has leases, claims that exclude each other, and a group that is sent as a whole
//!   (`postgres::{sender, claims, statements, commit}`), a pace that all share by the server's clock
//!   (`postgres::pace`), and connections that are made again (`session`, `connection`, `tls`, `error`).
//!
//! Both are compared with one model in memory (`model`); the thread that commits while a run is sent is
//! `writer`.

mod attempts;
mod beginning;
#[cfg(test)]
#[cfg(unix)]
#[path = "../../tests/support/cluster.rs"]
#[allow(dead_code)]
mod cluster;
mod coding;
mod column;
mod counts;
mod earlier;
mod ending;
mod entry;
mod error;
mod export;
mod group;
mod history;
mod kinds;
mod known;
mod lease;
#[cfg(test)]
mod model;
#[cfg(test)]
#[cfg(unix)]
mod on_server;
mod outputs;
mod place;
mod postgres;
#[cfg(test)]
mod promises;
mod prune;
mod recall;
mod reconcile;
mod record;
mod row;
mod run;
mod runs;
mod schema;
pub mod shared_pace;
mod sqlite;
mod store;
mod suppressed;
mod transfer;
mod undo;
mod undoing;
mod writer;

pub use coding::here as this_user_here;
pub use entry::{
    AskedPause, Attempted, CellsDigest, Claim, Group, InvalidRow, RecentUse, Refusal, Reply,
    SenderId, ServiceId, Settlement, StartsInSecond, TokenUsed, is_of_wrong_clock,
};
pub use error::LedgerError;
pub use export::{ExportedRow, Selection};
pub use history::{RunRecord, RunState, SEVERAL_TOKENS, StartRecord};
pub use kinds::{Ledger, SenderLock};
pub use known::{Known, Scope};
pub use lease::Lease;
pub use place::LedgerPlace;
pub use postgres::ServerPlace;
pub use recall::{Look, Recall};
pub use record::{LeadAt, SentRow};
pub use run::{
    AtWork, Begun, ClaimScope, InputRecord, LatestRun, ListRecord, LiveLease, LockHolder, NewRun,
    NotBegun, OutputKind, OutputRecord, OutputState, Predecessors, Pruned, Sending, Sha256,
    StartEnd, StoredDefaults, TIMEOUT, Unfinished,
};
pub use sqlite::CopyError;
pub use suppressed::{ListPosition, NewlySuppressed, Suppressed};
pub use transfer::Transferred;
pub use undo::{UndoCounts, UndoOutcome, UndoRecord, UndoRow, UndoStatus};
pub use writer::{Committed, LedgerWriter};
