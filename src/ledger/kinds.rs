//! What each kind of ledger does in a way of its own: open, keep others from sending, commit, file, lease
//! and pace.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::postgres::PostgresLedger;
use super::run::{AtWork, LiveLease, LockHolder};
use super::sqlite::{CopyError, FileLock, SqliteLedger};
use super::{Group, Lease, LedgerError, LedgerPlace, RecentUse, Reply, ServiceId};
use crate::lead::RunId;
use crate::rate::Rate;

/// A ledger that is open. Its methods fail if it cannot be read or
/// written; the error says what to do.
#[derive(Debug)]
pub enum Ledger {
    File(Box<SqliteLedger>),
    Server(Box<PostgresLedger>),
}

/// The right to send to a service, until this is dropped. On a server
/// nobody needs it: there each run has a lease of its own.
#[derive(Debug)]
pub struct SenderLock {
    _file: Option<FileLock>,
}

/// Does the same with a ledger of either kind.
macro_rules! of_kind {
    ($ledger:expr, $kind:ident => $work:expr) => {
        match $ledger {
            Ledger::File($kind) => $work,
            Ledger::Server($kind) => $work,
        }
    };
}

impl Ledger {
    /// Opens the ledger for writing, and makes it if there is none.
    pub fn open(place: &LedgerPlace) -> Result<Ledger, LedgerError> {
        match place {
            LedgerPlace::File(file) => Ok(Ledger::File(Box::new(SqliteLedger::open(file)?))),
            LedgerPlace::Server(server) => {
                Ok(Ledger::Server(Box::new(PostgresLedger::open(server)?)))
            }
        }
    }

    /// Opens the ledger for reading, while other processes may write; `None` if there is none.
    pub fn read(place: &LedgerPlace) -> Result<Option<Ledger>, LedgerError> {
        match place {
            LedgerPlace::File(file) => {
                let ledger = SqliteLedger::read(file)?;
                Ok(ledger.map(|ledger| Ledger::File(Box::new(ledger))))
            }
            LedgerPlace::Server(server) => {
                let ledger = PostgresLedger::read(server)?;
                Ok(ledger.map(|ledger| Ledger::Server(Box::new(ledger))))
            }
        }
    }

    /// The error for a value in the ledger that makes no sense.
    pub fn damaged(&self, detail: String) -> LedgerError {
        of_kind!(self, ledger => ledger.damaged(detail))
    }

    /// Takes the right to send to a service; `None` if another process has it.
    pub fn try_lock_sender(&self, service: ServiceId) -> Result<Option<SenderLock>, LedgerError> {
        match self {
            Ledger::File(ledger) => Ok(ledger.try_lock_sender(service)?.map(SenderLock::of_file)),
            Ledger::Server(_) => Ok(Some(SenderLock { _file: None })),
        }
    }

    /// Makes sure that nothing is sent to any service while the returned locks are held. If
    /// something is being sent, returns to which service.
    pub fn lock_all_senders(&self) -> Result<Result<Vec<SenderLock>, ServiceId>, LedgerError> {
        match self {
            Ledger::File(ledger) => {
                let locks = ledger.lock_all_senders()?;
                Ok(locks.map(|all| all.into_iter().map(SenderLock::of_file).collect()))
            }
            // What changes or moves the ledger makes sure of it once more.
            Ledger::Server(ledger) => Ok(match ledger.busy_service()? {
                Some(service) => Err(service),
                None => Ok(Vec::new()),
            }),
        }
    }

    /// Who has the right to send to a service, or had it last; `None` if that cannot be read.
    pub fn lock_holder(&self, service: ServiceId) -> Option<LockHolder> {
        match self {
            Ledger::File(ledger) => ledger.lock_holder(service),
            Ledger::Server(_) => None,
        }
    }

    /// Who has the right to send to a service, in words. Asked while somebody has it.
    pub fn who_sends(&self, service: ServiceId) -> Result<String, LedgerError> {
        let holder = self.lock_holder(service);
        // A run that was killed has no end either.
        let is_holder = |at_work: &AtWork| {
            holder
                .as_ref()
                .is_none_or(|by| by.process == at_work.by.process)
        };
        Ok(match self.at_work(service)?.filter(is_holder) {
            Some(at_work) => at_work.to_string(),
            None => {
                let by = holder.map_or_else(String::new, |holder| format!(" ({holder})"));
                format!(
                    "another command{by} is about to send to this service, asks at a terminal whether it may, or removes or looks up leads there"
                )
            }
        })
    }

    /// Cleans up what earlier runs of the service have left, however they ended.
    /// Returns how many claimed rows became uncertain.
    pub fn recover(&mut self, service: ServiceId) -> Result<u64, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.recover(service),
            // Claims expire by themselves there.
            Ledger::Server(_) => Ok(0),
        }
    }

    /// Claims of a run without an outcome become uncertain, when no request for them can be on its way
    /// any more; returns how many are left. In a file, [`Ledger::recover`] does that.
    pub fn expire_claims(&mut self, run: RunId) -> Result<u64, LedgerError> {
        match self {
            Ledger::File(_) => Ok(0),
            Ledger::Server(ledger) => ledger.expire_claims(run),
        }
    }

    /// The lease that a process has of this run, if one has it.
    pub fn lease_of(&self, run: RunId) -> Result<Option<LiveLease>, LedgerError> {
        match self {
            Ledger::File(_) => Ok(None),
            Ledger::Server(ledger) => ledger.lease_of(run),
        }
    }

    /// The right to start requests for the run that has begun here.
    pub fn lease(&self) -> Lease {
        match self {
            Ledger::File(_) => Lease::unlimited(),
            Ledger::Server(ledger) => ledger.lease(),
        }
    }

    /// How often the lease has to be renewed; `None` if there is none.
    pub fn renew_every(&self) -> Option<Duration> {
        match self {
            Ledger::File(_) => None,
            Ledger::Server(ledger) => Some(ledger.renew_every()),
        }
    }

    /// Renews the lease.
    pub fn renew(&mut self) -> Result<(), LedgerError> {
        match self {
            Ledger::File(_) => Ok(()),
            Ledger::Server(ledger) => ledger.renew(),
        }
    }

    /// Writes the group, all of it or nothing.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<Reply, LedgerError> {
        of_kind!(self, ledger => ledger.commit(run, group))
    }

    /// Files some of the rows that are settled, if that is due. Returns whether there is more.
    pub fn file_some(&mut self) -> Result<bool, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.file_some(),
            Ledger::Server(_) => Ok(false),
        }
    }

    /// Files all rows that this process has settled.
    pub fn file_all(&mut self) -> Result<(), LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.file_all(),
            Ledger::Server(_) => Ok(()),
        }
    }

    /// Another connection for reading the same.
    pub(super) fn again(&self) -> Result<Ledger, LedgerError> {
        Ok(match self {
            Ledger::File(ledger) => Ledger::File(Box::new(ledger.again()?)),
            Ledger::Server(ledger) => Ledger::Server(Box::new(ledger.again())),
        })
    }

    /// From now on, all that this connection reads has the service's rows that are not filed, as they are now.
    pub(super) fn show_unfiled(&mut self, service: ServiceId) -> Result<(), LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.show_unfiled(service),
            Ledger::Server(_) => Ok(()),
        }
    }

    pub fn recent_use(&self, service: ServiceId, now: Timestamp) -> Result<RecentUse, LedgerError> {
        of_kind!(self, ledger => ledger.recent_use(service, now))
    }

    /// Adds requests that were sent outside of any run, and a wait that the service asked for.
    pub fn record_use(&mut self, service: ServiceId, more: RecentUse) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.record_use(service, more))
    }

    /// Reserves a start time for a request outside of any run, which keeps to these limits; `None`
    /// if no other process can be sending.
    pub fn reserve_start(
        &mut self,
        service: ServiceId,
        limits: &[Rate],
    ) -> Result<Option<Instant>, LedgerError> {
        match self {
            Ledger::File(_) => Ok(None),
            Ledger::Server(ledger) => ledger.reserve_start(service, limits).map(Some),
        }
    }

    /// Whether it knows nothing of any service.
    pub fn is_empty(&self) -> Result<bool, LedgerError> {
        let has_services = !self.services()?.is_empty();
        Ok(!has_services && self.suppressed()?.is_empty())
    }

    /// Writes everything that is committed into the file `to`, which has to be empty, in a private folder
    /// of its own that the caller removes. Returns how many runs the copy knows. If the ledger `moves`,
    /// nothing is sent meanwhile.
    pub fn copy_into(&self, to: &Path, moves: bool) -> Result<usize, CopyError> {
        match self {
            Ledger::File(ledger) => ledger.copy_into(to),
            Ledger::Server(_) => {
                // A ledger that is being written has a log beside it, so it gets its name last.
                let place = LedgerPlace::file(to.with_file_name("of-server"));
                let mut copy = Ledger::open(&place)?;
                self.transfer(&mut copy, &place, moves)?;
                copy.copy_into(to, moves)
            }
        }
    }
}

impl SenderLock {
    fn of_file(lock: FileLock) -> SenderLock {
        SenderLock { _file: Some(lock) }
    }
}
