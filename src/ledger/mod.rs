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
//! 3. A settled row stays settled: no kill, at any moment, changes or removes it. Only
//!    [`Ledger::forget_run`] and [`Ledger::forget_number`] do.
//! 4. Every row that was ever claimed and not released is found by its number: settled, or
//!    `uncertain` when no answer can come any more.
//! 5. When the call that prunes or forgets data returns, the data is in none of the ledger's
//!    files or tables.
//!
//! # Two kinds
//!
//! [`Ledger`] is a handle on one of them, and nothing outside this module knows on which.
//!
//! | kind | for | who may send |
//! |-|-|-|
//! | `sqlite` | one computer: a file | one process for each service, by a lock of the operating system |
//! | `postgres` | several computers: a schema on a server | any number, each run once, by leases ([`Lease`]) |
//!
//! What both have in common is here: the entries of a group (`entry`), what is recorded of runs
//! (`run`, `history`) and rows (`record`), what is known of a number (`known`), and the thread that
//! commits while a run is sent (`writer`). Both are compared with one model in memory (`model`),
//! and a ledger of one kind is copied into one of the other (`transfer`).

#[cfg(test)]
#[cfg(unix)]
#[path = "../../tests/support/cluster.rs"]
#[allow(dead_code)]
mod cluster;
mod coding;
mod entry;
mod error;
mod export;
mod handle;
mod history;
mod known;
mod lease;
#[cfg(test)]
mod model;
#[cfg(test)]
#[cfg(unix)]
mod on_server;
mod place;
mod postgres;
mod recall;
mod record;
mod run;
pub mod shared_pace;
mod sqlite;
mod transfer;
mod writer;

pub use entry::{
    AskedPause, CellsDigest, Claim, Group, InvalidRow, RecentUse, Refusal, Reply, SenderId,
    ServiceId, Settlement, StartsInSecond,
};
pub use error::LedgerError;
pub use export::{ExportedRow, Selection};
pub use handle::{Ledger, SenderLock};
pub use history::{RunRecord, RunState, StartRecord};
pub use known::{Known, Scope};
pub use lease::Lease;
pub use place::LedgerPlace;
pub use postgres::ServerPlace;
pub use recall::{Look, Recall, Wanted};
pub use record::Record;
pub use run::{
    AtWork, Begun, ClaimScope, Ending, InputRecord, ListRecord, LockHolder, NewRun, NotBegun,
    OutputKind, OutputRecord, Predecessors, Pruned, Sending, Sha256, StoredDefaults, Unfinished,
};
pub use sqlite::CopyError;
pub use transfer::Transferred;
pub use writer::{Committed, LedgerWriter};
