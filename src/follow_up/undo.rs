//! Removes the leads of a run from the service again: those that it created and that have an id, and
//! nothing else. Before that, rows are looked up that may be leads.
//!
//! # Promises
//!
//! 1. Nothing is removed unless this is the run's own service, the token's account has the run's
//!    campaigns, and what the service lists of these leads does not speak against it.
//! 2. That a lead is about to be removed is on disk before its request leaves, and what became of it
//!    afterwards. Killed at any moment, the same command goes on.
//! 3. A run that is undone does not continue, and the same command does not send it once more, unless
//!    the service turned out not to have the call before anything was removed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::sync::Mutex;

use super::lookup::{forbidden, listed_for, not_offered};
use super::ownership::{Evidence, ListedRows, look_up, refuse_strangers};
use super::reconcile::reconcile;
use super::target::{Target, busy};
use super::undone::Undone;
use crate::api::{CallError, ListedLead};
use crate::clock;
use crate::exit::Failure;
use crate::lead::{CampaignId, ErrorCode};
use crate::ledger::{RunState, UndoCounts, UndoOutcome, UndoRow, UndoStatus};
use crate::pipeline::AT_ONCE;
use crate::report::stopped_failure;
use crate::results::UndoFile;
use crate::signals::Interrupts;
use crate::stop::{Stop, StopReason};
use crate::text::{printable, shortened};

const MAX_ERROR: usize = 300;

/// So many refusals in a row show that the service removes no lead, or none with this token.
const REFUSED_FOR_ALL: u64 = 3;

/// A run that can be undone.
pub struct Undo {
    target: Target,
    /// All rows that this is about: those with an outcome are left as they are.
    plan: Vec<UndoRow>,
    listed: ListedRows,
}

/// Why leads with an id are not removed, though the service might do it.
const CHANGED: &str = "the service has another number or campaign for this lead";
const OLDER: &str = "the service lists this lead as older than the run's request for it";

impl Undo {
    /// Looks up what may have arrived, and finds out what is to be removed, and whether these leads are
    /// the run's. Removes nothing. Calls `done` with the number of rows looked up and their total.
    ///
    /// Dropping it stops it: what was looked up stays known.
    pub async fn prepare(mut target: Target, done: impl FnMut(u64, u64)) -> Result<Undo, Failure> {
        let nobody = Interrupts::none();
        let looked_up = reconcile(&target, nobody, done).await?;
        if let Some(failure) = looked_up.stopped {
            return Err(failure);
        }
        // All that is known of its leads was found with this token.
        let had_leads = target.run.token.as_deref() != Some("");
        target.is_own_token |= !had_leads && !looked_up.found.is_empty();
        let run = target.run.run;
        let ledger = &target.client.ledger;
        let mut plan = ledger.with(move |ledger| ledger.undo_plan(run)).await?;
        if target.is_dry_run {
            // The ledger does not know it.
            let found = |row: UndoRow| match looked_up.found.get(&row.row) {
                Some(outcome) => row.found(outcome),
                None => Some(row),
            };
            plan = plan.into_iter().filter_map(found).collect();
        }
        let listed = refuse_strangers(&target, &plan).await?;
        for row in plan.iter_mut().filter(|row| row.outcome.is_none()) {
            row.outcome = listed.objection(row);
        }
        Ok(Undo {
            target,
            plan,
            listed,
        })
    }

    fn to_remove(&self) -> impl Iterator<Item = &UndoRow> {
        self.plan.iter().filter(|row| row.outcome.is_none())
    }

    /// How many leads are to be removed.
    pub fn leads(&self) -> u64 {
        self.to_remove().count() as u64
    }

    /// How many leads stay that the service lists as older than the run, as far as it was asked.
    pub fn older(&self) -> u64 {
        self.listed.older.len() as u64
    }

    /// How many of the leads to be removed may be older than the run, as far as the service was asked.
    pub fn undated(&self) -> u64 {
        let is_undated = |row: &&UndoRow| self.listed.undated.contains(&row.row);
        self.to_remove().filter(is_undated).count() as u64
    }

    /// How many of them each campaign has, with its name.
    pub fn campaigns(&self) -> Vec<(CampaignId, Option<String>, u64)> {
        let mut counts: BTreeMap<CampaignId, u64> = BTreeMap::new();
        for row in self.to_remove() {
            *counts.entry(row.campaign).or_default() += 1;
        }
        let named = |id| self.target.campaign_name(id).map(ToOwned::to_owned);
        let counts = counts.into_iter();
        counts.map(|(id, leads)| (id, named(id), leads)).collect()
    }

    /// Whether the run would go on if its command was run again, and has to be closed.
    pub fn closes_run(&self) -> bool {
        matches!(
            self.target.run.state(),
            RunState::Stopped(_) | RunState::Killed
        )
    }

    /// Whether there is nothing to do: no lead to remove, and no run to close.
    fn changes_nothing(&self) -> bool {
        self.leads() == 0 && !self.closes_run() && self.target.run.undo.is_none()
    }

    /// What is known of all rows before anything is done.
    pub fn counts(&self) -> UndoCounts {
        let mut counts = UndoCounts::default();
        // The plan no longer has these.
        if let Some(before) = &self.target.run.undo {
            for status in [UndoStatus::Undone, UndoStatus::Gone] {
                counts.add(Some(status), before.counts.of(status));
            }
        }
        for row in &self.plan {
            counts.add(row.outcome.as_ref().map(|outcome| outcome.status), 1);
        }
        counts
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Removes the leads. The first interrupt lets nothing more start, a second one ends at once.
    ///
    /// `done` is told after each row how many are done.
    pub async fn perform(
        self,
        file: PathBuf,
        interrupts: Interrupts,
        mut done: impl FnMut(u64),
    ) -> Result<Undone, Failure> {
        let run = self.target.run.run;
        let ledger = &self.target.client.ledger;
        let at = file.clone();
        let known = ledger.with(move |ledger| ledger.outputs_at(&UndoFile::places(&at)));
        let output = UndoFile::create(&file, run, known.await?);
        let output = output.map_err(|error| error.of_export().before_sending())?;
        if self.changes_nothing() {
            let undone = Undone::new(&self.target);
            return undone.written(&self.target, output, &self.plan).await;
        }
        let begun = ledger.with(move |ledger| ledger.begin_undo(run, clock::now()));
        if let Err(at_work) = begun.await? {
            return Err(busy(at_work.to_string()));
        }
        let rows = ledger.with(move |ledger| ledger.undo_rows(run)).await?;
        let progress = Cell::new(Progress::of(&rows));
        let first = Mutex::new(());
        let to_remove = rows.into_iter().filter(|row| row.outcome.is_none());
        let removing = to_remove.map(|row| self.remove(row, &progress, &first));
        let client = &self.target.client;
        let stopped = client.make_all(removing, AT_ONCE, interrupts, &mut done);
        let stopped = stopped.await;
        let undone = Undone {
            stopped: stopped.as_ref().map(stopped_failure),
            undated: self.undated(),
            ..Undone::new(&self.target)
        };
        match stopped.map(|stop| stop.reason) {
            Some(StopReason::NotOffered { .. } | StopReason::Refused(_))
                if !progress.get().may_be_removed =>
            {
                ledger.with(move |ledger| ledger.cancel_undo(run)).await?;
                Ok(Undone {
                    counts: self.counts(),
                    ..undone
                })
            }
            // What became of the last leads is not on disk, so it is in no file either.
            Some(StopReason::Error { by, message }) => Err(Failure::new(by, message)),
            _ => {
                let rows = ledger.with(move |ledger| ledger.undo_rows(run)).await?;
                let undone = Undone {
                    has_begun: true,
                    ..undone
                };
                undone.written(&self.target, output, &rows).await
            }
        }
    }

    /// Removes one lead, and records what became of it. Until the service has removed one, it is asked
    /// for one at a time: it may not have the call.
    async fn remove(
        &self,
        row: UndoRow,
        progress: &Cell<Progress>,
        first: &Mutex<()>,
    ) -> Result<(), Stop> {
        let mut alone = None;
        if !progress.get().has_removed {
            alone = Some(first.lock().await);
        }
        // That may have changed while it waited.
        alone = alone.filter(|_| !progress.get().has_removed);
        let outcome = match self.objection(&row).await? {
            Some(outcome) => outcome,
            None => self.asked_to_remove(&row, progress).await?,
        };
        if outcome.status.is_removed() {
            note_perhaps_removed(progress);
        }
        let run = self.target.run.run;
        let ledger = &self.target.client.ledger;
        let settling = ledger.with(move |ledger| ledger.settle_undo(run, &row, &outcome));
        settling.await?;
        drop(alone);
        Ok(())
    }

    /// Why a lead is not removed, though it has an id: one that is older than the run is not the run's, what
    /// cannot be looked up may be older, and with another token only one is removed that the service lists
    /// as the run's.
    async fn objection(&self, row: &UndoRow) -> Result<Option<UndoOutcome>, Stop> {
        let is_own_token = self.target.is_own_token;
        let objection = self.listed.objection(row);
        if objection.is_some() || is_own_token && self.listed.all.contains(&row.row) {
            return Ok(objection);
        }
        let planned = self.plan.binary_search_by_key(&row.row, |row| row.row);
        let planned = planned.ok().and_then(|at| self.plan.get(at)).unwrap_or(row);
        let found = match look_up(&self.target, planned).await? {
            Ok(found) => found,
            Err(not_done) => {
                let why = format!("it cannot be looked up before: {}", not_done.text());
                return Ok(Some(outcome(UndoStatus::Unknown, None, &why)));
            }
        };
        let mut evidence = Evidence::none(&self.target, [planned], self.listed.later);
        evidence.add(&found);
        let is_ours = evidence.is_ours();
        let objection = evidence.listed().objection(row);
        if objection.is_some() || is_own_token || is_ours {
            return Ok(objection);
        }
        Ok(Some(outcome(
            UndoStatus::Unknown,
            None,
            "the lead was not surely made with this token, and the service does not list it with its number and time",
        )))
    }

    async fn asked_to_remove(
        &self,
        row: &UndoRow,
        progress: &Cell<Progress>,
    ) -> Result<UndoOutcome, Stop> {
        let (run, at) = (self.target.run.run, row.row);
        let lead_id = row.lead_id.as_deref().unwrap_or_default();
        // An attempt whose answer is lost may have removed it, though a later one is refused.
        let is_lost = Cell::new(false);
        let called = self
            .target
            .client
            .make(
                async |client| {
                    let called = client.delete_lead(lead_id).await;
                    if called.result.as_ref().is_err_and(CallError::may_be_done) {
                        is_lost.set(true);
                        note_perhaps_removed(progress);
                    }
                    called
                },
                move |ledger| ledger.ask_to_undo(run, at, clock::now()),
            )
            .await?;
        let http_status = called.http_status;
        let not_done = match called.result {
            Ok(()) => {
                progress.set(Progress {
                    has_removed: true,
                    ..progress.get()
                });
                return Ok(outcome(UndoStatus::Undone, http_status, ""));
            }
            Err(not_done) => not_done,
        };
        let (status, why) = match not_done {
            CallError::NoAnswer { text, .. } => {
                note_perhaps_removed(progress);
                (UndoStatus::Unknown, text)
            }
            // No request was sent: its id is none.
            CallError::Refused { text, .. } if http_status.is_none() => (UndoStatus::Kept, text),
            refusal => {
                let is_lost = is_lost.get();
                self.refused(row, progress, refusal, is_lost).await?
            }
        };
        Ok(outcome(status, http_status, &why))
    }

    /// The service refuses to remove a lead. The list of leads says whether it is there, if that is not
    /// known. With `is_lost` an attempt before may have removed it, or still does.
    ///
    /// A lead in doubt is sent again on demand, which the service refuses if it is there. One that counts
    /// as kept never is, so that has to be certain.
    async fn refused(
        &self,
        row: &UndoRow,
        progress: &Cell<Progress>,
        not_done: CallError,
        is_lost: bool,
    ) -> Result<(UndoStatus, String), Stop> {
        let why = not_done.text().to_owned();
        // It may say that there is no such lead, or no such call.
        let is_missing = matches!(not_done, CallError::NotFound { .. });
        let was_listed = self.listed.all.contains(&row.row);
        let may_be_gone = is_lost || row.was_asked || is_missing;
        if !may_be_gone {
            self.stop_if_all_are_refused(&not_done, progress)?;
            if was_listed {
                return Ok((UndoStatus::Kept, why));
            }
        }
        let is_listed = self.is_listed(row).await?;
        match is_listed {
            Ok(true) if !is_lost => {
                if may_be_gone {
                    self.stop_if_all_are_refused(&not_done, progress)?;
                }
                let why = format!("{why}; but the list of leads still has it");
                return Ok((UndoStatus::Kept, why));
            }
            // A list may leave out a lead that is new, or was changed.
            Ok(false) if is_missing || was_listed => {
                return Ok((UndoStatus::Gone, "it was not there any more".to_owned()));
            }
            _ => note_perhaps_removed(progress),
        }
        let also = match is_listed {
            Ok(true) => "the list of leads still has it".to_owned(),
            Ok(false) => "the list of leads does not have it".to_owned(),
            Err(not_done) => format!("it cannot be looked up: {}", not_done.text()),
        };
        Ok((UndoStatus::Unknown, format!("{why}; and {also}")))
    }

    /// Stops where a refusal is about all leads: the service does not have the call, or does not allow it.
    fn stop_if_all_are_refused(
        &self,
        not_done: &CallError,
        progress: &Cell<Progress>,
    ) -> Result<(), Stop> {
        let stopped = match not_done {
            CallError::NotFound { text } | CallError::NotOffered { text } => {
                not_offered("DELETE /api/user/leads/ID", text)
            }
            CallError::Refused {
                code: ErrorCode::Http(403),
                text,
            } => forbidden(text),
            _ => return Ok(()),
        };
        match self.refuses_all(progress) {
            true => Err(stopped),
            false => Ok(()),
        }
    }

    /// Whether the service lists the lead of a row.
    async fn is_listed(&self, row: &UndoRow) -> Result<Result<bool, CallError>, Stop> {
        let has_its_id = |lead: &ListedLead| Some(&lead.id) == row.lead_id.as_ref();
        let client = &self.target.client;
        let listed = listed_for(client, row.campaign, row.number, has_its_id).await?;
        Ok(listed.map(|listed| !listed.is_empty()))
    }

    /// Counts a refusal. Returns whether the service seems to refuse all leads: it has removed none, and
    /// has refused several, or all that there are.
    fn refuses_all(&self, progress: &Cell<Progress>) -> bool {
        let refused = progress.get().refused + 1;
        progress.set(Progress {
            refused,
            ..progress.get()
        });
        !progress.get().has_removed && refused >= self.leads().min(REFUSED_FOR_ALL)
    }
}

impl ListedRows {
    /// Why the lead of a row is not removed, by the lists that were read.
    fn objection(&self, row: &UndoRow) -> Option<UndoOutcome> {
        // Where it may be removed, its id may be that of a later lead.
        let changed = match row.was_asked {
            true => UndoStatus::Unknown,
            false => UndoStatus::Kept,
        };
        let (status, why) = match row.row {
            row if self.others.contains(&row) => (changed, CHANGED),
            row if self.older.contains(&row) => (UndoStatus::Kept, OLDER),
            _ => return None,
        };
        Some(outcome(status, None, why))
    }
}

/// What has happened so far, for the rows that follow.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Whether the service has removed a lead, so it has the call.
    has_removed: bool,
    /// Whether a lead is removed, or may be.
    may_be_removed: bool,
    /// How many leads the service has refused to remove.
    refused: u64,
}

impl Progress {
    /// What has happened before.
    fn of(rows: &[UndoRow]) -> Progress {
        let mut outcomes = rows.iter().filter_map(|row| row.outcome.as_ref());
        Progress {
            has_removed: outcomes.any(|outcome| outcome.status == UndoStatus::Undone),
            may_be_removed: rows.iter().any(|row| row.was_asked),
            refused: 0,
        }
    }
}

fn note_perhaps_removed(progress: &Cell<Progress>) {
    progress.set(Progress {
        may_be_removed: true,
        ..progress.get()
    });
}

fn outcome(status: UndoStatus, http_status: Option<u16>, error: &str) -> UndoOutcome {
    UndoOutcome {
        status,
        http_status,
        error: (!error.is_empty()).then(|| shortened(&printable(error), MAX_ERROR)),
        settled_at: Some(clock::now()),
    }
}
