//! The record of every lead that was ever sent.

#[cfg(all(test, unix))]
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
#[cfg(all(test, unix))]
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
    AtWork, Begun, ClaimScope, Ending, InputRecord, ListRecord, LockHolder, NewRun, OutputKind,
    OutputRecord, Predecessors, Pruned, Sending, Sha256, StoredDefaults, Unfinished,
};
pub use sqlite::CopyError;
pub use transfer::Transferred;
pub use writer::{Committed, LedgerWriter};
