//! The ledger, whichever kind it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::postgres::PostgresLedger;
use super::run::{
    AtWork, Begun, Ending, LiveLease, LockHolder, NewRun, NotBegun, OutputRecord, Predecessors,
    Pruned,
};
use super::run::{Sha256, StoredDefaults};
use super::sqlite::{CopyError, FileLock, SqliteLedger};
use super::transfer::{Cells, Table, Write};
use super::{
    Attempted, ExportedRow, Group, LeadAt, Lease, LedgerError, LedgerPlace, ListPosition,
    NewlySuppressed, Recall, RecentUse, Record, Reply, RunRecord, Selection, ServiceId, Suppressed,
    UndoOutcome, UndoRow,
};
use crate::lead::{CampaignId, Counts, RowId, RowOutcome, RunId};
use crate::phone::PhoneNumber;
use crate::rate::{KnownRate, Rate};

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

    /// The service at this address; `None` if no lead was ever sent there.
    pub fn known_service(&self, address: &str) -> Result<Option<ServiceId>, LedgerError> {
        of_kind!(self, ledger => ledger.known_service(address))
    }

    /// The service at this address, which is added if it is new.
    pub fn service(&mut self, address: &str) -> Result<ServiceId, LedgerError> {
        of_kind!(self, ledger => ledger.service(address))
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

    /// The latest start for this service that has no end.
    pub fn at_work(&self, service: ServiceId) -> Result<Option<AtWork>, LedgerError> {
        of_kind!(self, ledger => ledger.at_work(service))
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

    /// What [`Ledger::begin`] would find now.
    pub fn predecessors(&self, run: &NewRun) -> Result<Predecessors, LedgerError> {
        of_kind!(self, ledger => ledger.predecessors(run))
    }

    /// The lease that a process has of this run, if one has it.
    pub fn lease_of(&self, run: RunId) -> Result<Option<LiveLease>, LedgerError> {
        match self {
            Ledger::File(_) => Ok(None),
            Ledger::Server(ledger) => ledger.lease_of(run),
        }
    }

    /// Continues the latest run of this identity, or begins a new one if that run is complete.
    /// If another process has come before this one, returns how, and nothing has begun.
    pub fn begin(
        &mut self,
        run: &NewRun,
        now: Timestamp,
    ) -> Result<Result<Begun, NotBegun>, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.begin(run, now).map(Ok),
            Ledger::Server(ledger) => ledger.begin(run, now),
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
        match self {
            Ledger::File(ledger) => ledger.commit(run, group),
            Ledger::Server(ledger) => ledger.commit(run, group),
        }
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

    /// Records how a start has ended. If that fails, the start looks as if it had been killed.
    pub fn end(
        &mut self,
        run: RunId,
        start: u32,
        ending: &Ending<'_>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.end(run, start, ending, now))
    }

    /// The rows of a run by their outcome, as counted by the start that got furthest.
    pub fn counts_of(&self, run: RunId) -> Result<Counts, LedgerError> {
        of_kind!(self, ledger => ledger.counts_of(run))
    }

    /// The campaigns that runs of the service have named, with their ids then, in the order of the
    /// runs.
    pub fn campaigns_named(
        &self,
        service: ServiceId,
    ) -> Result<Vec<(RunId, String, CampaignId)>, LedgerError> {
        of_kind!(self, ledger => ledger.campaigns_named(service))
    }

    /// The runs that have sent any of these inputs to the service, in order.
    pub fn senders_of(
        &self,
        service: ServiceId,
        inputs: &[(Option<PathBuf>, Sha256)],
    ) -> Result<Vec<RunId>, LedgerError> {
        of_kind!(self, ledger => ledger.senders_of(service, inputs))
    }

    /// The defaults for a rejects file of this run; `None` if there is no such run.
    pub fn defaults_of(&self, run: RunId) -> Result<Option<StoredDefaults>, LedgerError> {
        of_kind!(self, ledger => ledger.defaults_of(run))
    }

    /// Opens a connection for looking numbers up while this one writes.
    pub fn recall(&self) -> Result<Recall, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.recall().map(Recall::File),
            Ledger::Server(ledger) => Ok(Recall::Server(ledger.recall())),
        }
    }

    /// The same, with rows that are being sent.
    pub fn recall_all(&self, service: ServiceId) -> Result<Recall, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.recall_all(service).map(Recall::File),
            Ledger::Server(ledger) => Ok(Recall::Server(ledger.recall_all())),
        }
    }

    pub fn known_rate(&self, service: ServiceId) -> Result<Option<KnownRate>, LedgerError> {
        of_kind!(self, ledger => ledger.known_rate(service))
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

    /// Records the content of files before they get their final names.
    pub fn record_outputs(
        &mut self,
        run: RunId,
        outputs: &[OutputRecord],
    ) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.record_outputs(run, outputs))
    }

    /// The files that any run has written, or begun to write, at these paths.
    pub fn outputs_at(&self, paths: &[PathBuf]) -> Result<Vec<OutputRecord>, LedgerError> {
        of_kind!(self, ledger => ledger.outputs_at(paths))
    }

    pub fn runs(&self) -> Result<Vec<RunRecord>, LedgerError> {
        of_kind!(self, ledger => ledger.runs())
    }

    /// Passes every row of the selection to `each`, ordered by run
    /// and row, as they are at this moment. Stops when `each` fails.
    pub fn export<E: From<LedgerError>>(
        &self,
        selection: &Selection,
        each: impl FnMut(ExportedRow) -> Result<(), E>,
    ) -> Result<(), E> {
        of_kind!(self, ledger => ledger.export(selection, each))
    }

    /// The runs that [`prune`](Self::prune) removes data of.
    pub fn old_runs(&self, older_than: Timestamp) -> Result<Vec<RunId>, LedgerError> {
        of_kind!(self, ledger => ledger.old_runs(older_than))
    }

    /// Removes cells, texts and file names of old runs. Call it only while nothing is sent.
    pub fn prune(&mut self, older_than: Timestamp) -> Result<Pruned, LedgerError> {
        of_kind!(self, ledger => ledger.prune(older_than))
    }

    /// Removes a run and everything that is known about it. Returns how many leads it had that
    /// were created or duplicates. Call it only while nothing is sent.
    pub fn forget_run(&mut self, run: RunId) -> Result<u64, LedgerError> {
        of_kind!(self, ledger => ledger.forget_run(run))
    }

    /// Removes everything that is known about a number, for all services; the same.
    pub fn forget_number(&mut self, number: PhoneNumber) -> Result<u64, LedgerError> {
        of_kind!(self, ledger => ledger.forget_number(number))
    }

    /// Removes everything that is known about the people of a campaign; the same.
    pub fn forget_campaign(
        &mut self,
        service: ServiceId,
        campaign: CampaignId,
    ) -> Result<u64, LedgerError> {
        of_kind!(self, ledger => ledger.forget_campaign(service, campaign))
    }

    /// Puts numbers on the do-not-call list. Returns those that were not on it.
    pub fn suppress(
        &mut self,
        numbers: &[PhoneNumber],
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<PhoneNumber>, LedgerError> {
        of_kind!(self, ledger => ledger.suppress(numbers, reason, now))
    }

    /// Takes numbers off the do-not-call list. Returns those that were on it.
    pub fn unsuppress(&mut self, numbers: &[PhoneNumber]) -> Result<Vec<PhoneNumber>, LedgerError> {
        of_kind!(self, ledger => ledger.unsuppress(numbers))
    }

    /// The do-not-call list, in the order in which it grew.
    pub fn suppressed(&self) -> Result<Vec<Suppressed>, LedgerError> {
        of_kind!(self, ledger => ledger.suppressed())
    }

    /// What came on the do-not-call list after this position.
    pub fn suppressed_after(&self, known: ListPosition) -> Result<NewlySuppressed, LedgerError> {
        of_kind!(self, ledger => ledger.suppressed_after(known))
    }

    /// The leads of these numbers in all campaigns of all services, and rows that may be leads.
    pub fn leads_of(&self, numbers: &[PhoneNumber]) -> Result<Vec<LeadAt>, LedgerError> {
        of_kind!(self, ledger => ledger.leads_of(numbers))
    }

    /// Records that the run is undone, so that it does not continue, and which of its leads are to
    /// be removed: also those that could not be removed before. If a process is sending the run,
    /// returns which one.
    pub fn begin_undo(
        &mut self,
        run: RunId,
        now: Timestamp,
    ) -> Result<Result<(), AtWork>, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.begin_undo(run, now).map(Ok),
            Ledger::Server(ledger) => ledger.begin_undo(run, now),
        }
    }

    /// What undoing the run would do, row by row.
    pub fn undo_plan(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        of_kind!(self, ledger => ledger.undo_plan(run))
    }

    /// Notes a token with which leads of the run were made.
    pub fn note_token(&mut self, run: RunId, token: &str) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.note_token(run, token))
    }

    /// Records that the service is about to be asked to remove the lead of a row.
    pub fn ask_to_undo(
        &mut self,
        run: RunId,
        row: RowId,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.ask_to_undo(run, row, now))
    }

    /// Takes the beginning of undoing a run back, unless a lead was removed, or may have been.
    pub fn cancel_undo(&mut self, run: RunId) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.cancel_undo(run))
    }

    /// Records what became of a lead. One that is removed is not settled any more.
    pub fn settle_undo(
        &mut self,
        run: RunId,
        row: &UndoRow,
        outcome: &UndoOutcome,
    ) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.settle_undo(run, row, outcome))
    }

    /// The leads of a run that is undone, in the order of its rows.
    pub fn undo_rows(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        of_kind!(self, ledger => ledger.undo_rows(run))
    }

    /// The rows of a run whose leads may be looked up, in order, each with the times of its attempts
    /// as far as they are known. Claims without an outcome that nobody is working at are among them.
    pub fn rows_to_look_up(
        &self,
        run: RunId,
    ) -> Result<Vec<(Record, Vec<Attempted>)>, LedgerError> {
        of_kind!(self, ledger => ledger.rows_to_look_up(run))
    }

    /// The latest lead of each campaign that the run has made.
    pub fn leads_made(&self, run: RunId) -> Result<Vec<Record>, LedgerError> {
        of_kind!(self, ledger => ledger.leads_made(run))
    }

    /// Records what the service has of a row that was looked up. In a file, call it only while nothing is
    /// sent; on a server a row that is being sent stays.
    pub fn reconcile(&mut self, row: &Record, outcome: &RowOutcome) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.reconcile(row, outcome))
    }

    /// Whether it knows nothing of any service.
    pub fn is_empty(&self) -> Result<bool, LedgerError> {
        let has_services = !of_kind!(self, ledger => ledger.services())?.is_empty();
        Ok(!has_services && self.suppressed()?.is_empty())
    }

    /// The highest number that was ever given to a run, though the run may be forgotten.
    pub fn last_run(&self) -> Result<i64, LedgerError> {
        of_kind!(self, ledger => ledger.last_run())
    }

    /// Makes sure that no run gets this number or a lower one.
    pub(super) fn skip_runs(&mut self, last: i64) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.skip_runs(last))
    }

    /// Passes the rows of all tables on, as they are at this moment.
    pub(super) fn each_row(
        &self,
        moves: bool,
        each: impl FnMut(&'static Table, Cells) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.each_row(moves, each))
    }

    /// Writes rows as they are given, all of them or none. The ledger has to be empty.
    pub(super) fn fill(
        &mut self,
        rows: impl FnOnce(&mut Write<'_>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        of_kind!(self, ledger => ledger.fill(rows))
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
