//! Every lead that was ever sent: claimed before its request leaves, settled after its answer
//! has come. A file of SQLite, from which a run goes on and a results file can be made again.
//! A method fails where the ledger cannot be read or written, and says what to do.
//!
//! # Promises
//!
//! 1. A row is claimed on disk before its first request leaves. Whatever happens then, the
//!    ledger knows that the service may have taken it.
//! 2. A group is committed as a whole or not at all. What [`Ledger::commit`] has returned for
//!    is on disk; after an error nothing of the group is, and it can be committed again.
//! 3. A settled row stays settled: no kill, at no instant, changes or removes it. Only
//!    [`Ledger::forget_run`] and [`Ledger::forget_number`] do.
//! 4. After [`Ledger::recover`] every row that was ever claimed and not released is a
//!    [`Record`], found by its number: settled, or `uncertain` where no answer came.
//! 5. What is pruned or forgotten is nowhere in the ledger's files when the call returns.
//!
//! Each has its tests in `promises`; `model` does anything in any order, kills it anywhere, and
//! compares what is known with a model in memory.
//!
//! # What is on disk, and what a kill leaves
//!
//! A row's claim and its outcome are appended to the `journal`, a line for each group. From
//! there it is filed in `sent`, where it is found by its number.
//!
//! | instant | on disk | recovery after a kill |
//! |-|-|-|
//! | before the claim is committed | nothing | nothing: no request has left |
//! | before the answer | a claim | `uncertain`, `answer_lost` |
//! | after the answer, before its commit | a claim | the same: the request is repeated or held, as the user chose |
//! | after the outcome is committed | the claim and the outcome | a record |
//! | while it is filed | both, or both and the record, or the record | the record; filing it again changes nothing |
//! | after the claim is released | the claim and the release | nothing: no request was taken |
//! | while it is pruned or forgotten | all, or the rest | the run is still there, not marked as pruned: the same command finishes |
//!
//! A row that an earlier start of the run has left uncertain is claimed again under the same
//! key; its record stays until the next one replaces it.
//!
//! *Power loss* is a kill, as far as the disk keeps what it reports as written: every commit
//! waits for it (`synchronous=FULL`, and `fullfsync` where `fsync` alone would not). *A full
//! disk* fails the commit or the slice that needs space; nothing is half written, and the run
//! can go on when there is space. *A copy* of the ledger's file is whole only together with the
//! log beside it (`-wal`); [`Ledger::copy_into`] makes one that is. *Another file in its place*,
//! or copied over it, is noticed before the next commit (`identity`): nothing more is written,
//! and its log is kept from that file.
//!
//! # Who may use it at once
//!
//! One [`Ledger`] that sends for each service, which [`SenderLock`] ensures; each touches the
//! rows of its own service only. Any number of readers ([`Recall`], [`Ledger::read`]): they see
//! what is committed and never wait; only [`Ledger::prune`] and its like wait for them. A ledger
//! of another version is refused to readers and writers alike.
//!
//! # Files
//!
//! [`Ledger`] is one type: `file` has it, with the state of `filing` and `identity`, and every
//! other file has the methods of its subject. Beside that no two files import each other.
//!
//! # Cost
//!
//! The journal is appended to, and filing writes the table in order, so a lead costs much the
//! same whether it is the first or the ten-millionth. Measured in `benches/ledger.rs`.

mod columns;
mod commit;
mod copy;
mod earlier;
mod entry;
mod error;
mod export;
mod file;
mod filing;
mod history;
mod identity;
mod journal;
mod lead_id;
mod lock;
#[cfg(test)]
mod model;
mod network;
mod outputs;
mod pace;
mod packed;
mod place;
#[cfg(test)]
mod promises;
mod prune;
mod recall;
mod record;
mod recover;
mod round;
mod run;
mod runs;
#[cfg(test)]
mod samples;
mod schema;
#[cfg(test)]
mod testing;
mod unfiled;
mod writer;

pub use copy::CopyError;
pub use entry::{
    AskedPause, CellsDigest, Claim, Group, InvalidRow, ServiceId, Settlement, StartsInSecond,
};
pub use error::LedgerError;
pub use export::{ExportedRow, Selection};
pub use file::Ledger;
pub use history::{RunRecord, RunState, StartRecord};
pub use lock::{LockHolder, SenderLock};
pub use pace::RecentUse;
pub use place::LedgerPlace;
pub use prune::Pruned;
pub use recall::{Known, Look, Recall, Scope};
pub use record::Record;
pub use run::{
    AtWork, Begun, Ending, InputRecord, ListRecord, NewRun, OutputKind, OutputRecord, Predecessors,
    Sha256, StoredDefaults, Unfinished,
};
pub use writer::{Committed, LedgerWriter};
