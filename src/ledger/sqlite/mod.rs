//! The ledger of one computer: an SQLite file.
//!
//! It keeps the promises of every ledger (`ledger`).
//!
//! # What is on disk, and what a kill leaves
//!
//! A row's claim and its outcome are appended to the `journal`, one line for each
//! group. Filing moves them to the table `sent`, which is searched by number.
//!
//! | moment | on disk | recovery after a kill |
//! |-|-|-|
//! | before the claim is committed | nothing | nothing: no request has left |
//! | before the answer | a claim | `uncertain`, `answer_lost` |
//! | after the answer, before its commit | a claim | the same: the request is repeated or held, as the user chose |
//! | after the outcome is committed | the claim and the outcome | a record |
//! | while it is filed | both, or both and the record, or the record | the record; filing it again changes nothing |
//! | after the claim is released | the claim and the release | nothing: no request was taken |
//! | before a lead is removed | the row in `undo_rows`, as about to be removed | nothing: the same command asks once more |
//! | while it is pruned or forgotten | all, or the rest | the run is still there, not marked as pruned: the same command finishes |
//!
//! If an earlier start of the run left a row uncertain, the row is claimed again
//! under the same key. Its record stays until the next outcome replaces it.
//!
//! *Power loss* has the effect of a kill, provided that the disk keeps what it reports as
//! written: every commit waits for the disk (`synchronous=FULL`, and `fullfsync` if `fsync`
//! alone would not). *A full disk* fails the transaction that needs space; nothing is
//! half written, and the run can continue when there is space. *A copy* of the ledger's file
//! is complete only together with the log next to it (`-wal`); [`SqliteLedger::copy_into`] makes a
//! complete copy. *Another file in its place*, or copied over it, is noticed before the next
//! commit (`identity`): nothing more is written, and the log is not applied to that file.
//!
//! # Concurrent use
//!
//! For each service one [`SqliteLedger`] may send, which [`FileLock`] ensures; it changes only the
//! rows of its own service. There may be any number of readers ([`SqliteLedger::read`]):
//! they see what is committed and never wait, and a command that only reads changes no file (`reader`).
//! Only what overwrites removed data ([`SqliteLedger::scrub`]) waits for readers. Readers and writers alike
//! refuse a ledger of a newer version.
//!
//! # Files
//!
//! [`SqliteLedger`] is one type. It is defined in `file`, with the state of `filing` and `identity`; `sql`
//! performs the statements of `ledger`, and every other file adds what only a file does.
//!
//! # Cost
//!
//! The journal is only appended to, and filing writes the table in order, so the first
//! lead and the ten-millionth cost about the same. Measured in `benches/ledger.rs`.

mod begin;
mod commit;
mod copy;
mod error;
mod file;
mod filing;
mod identity;
pub(in crate::ledger) mod journal;
mod lead_id;
mod lock;
mod network;
mod overwrite;
mod own_files;
mod pace;
mod packed;
mod place;
mod privacy;
#[cfg(test)]
mod promises;
mod reader;
mod record;
mod recover;
mod round;
#[cfg(test)]
pub(in crate::ledger) mod samples;
mod schema;
mod sql;
#[cfg(test)]
pub(in crate::ledger) mod testing;
mod unfiled;

use super::{
    AskedPause, Attempted, Begun, Claim, Group, LedgerError, LockHolder, NewRun, RecentUse, Reply,
    ServiceId, Settlement, StartsInSecond, coding,
};

pub use copy::CopyError;
pub use file::SqliteLedger;
pub(super) use lead_id::uuid_text;
pub use lock::FileLock;
pub use place::FilePlace;
