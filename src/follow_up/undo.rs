//! Removes the leads of a run from the service again: those that it created and that have an id, and
//! nothing else.
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
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::lookup::{first_page, listed_for};
use super::target::{Target, busy};
use crate::api::verdict::FatalCause;
use crate::api::{ListedLead, NotDone};
use crate::exit::{ExitCode, Failure};
use crate::lead::{CampaignId, ErrorCode, RowId, RunId};
use crate::ledger::{UndoCounts, UndoOutcome, UndoRow, UndoStatus};
use crate::pipeline::{AT_ONCE, Stopped};
use crate::report::stopped_failure;
use crate::results::UndoFile;
use crate::signals::Interrupts;
use crate::text::{printable, shortened};

const MAX_ERROR: usize = 300;

/// A run that can be undone.
pub struct Undo {
    target: Target,
    /// All rows that this is about: those with an outcome are left as they are.
    plan: Vec<UndoRow>,
    /// Rows whose leads have another number at the service by now.
    changed: BTreeSet<RowId>,
}

/// How undoing a run has ended.
#[derive(Debug)]
pub struct Undone {
    pub run: RunId,
    pub counts: UndoCounts,
    pub requests: u64,
    /// Where it is written what became of each lead.
    pub file: Option<PathBuf>,
    /// The new names of files that existed before.
    pub kept: Vec<PathBuf>,
    pub stopped: Option<Failure>,
}

impl Undone {
    pub fn exit_code(&self) -> ExitCode {
        match &self.stopped {
            Some(failure) => failure.stopped_by.exit_code(),
            None if self.counts.all_are_removed() => ExitCode::Complete,
            None => ExitCode::Problems,
        }
    }
}

impl Undo {
    /// Finds out what is to be removed, and whether these leads are the run's. Removes nothing.
    pub async fn prepare(target: Target) -> Result<Undo, Failure> {
        let run = target.run.run;
        let plan = target
            .calls
            .ledger
            .with(move |ledger| ledger.undo_plan(run));
        let mut undo = Undo {
            plan: plan.await?,
            target,
            changed: BTreeSet::new(),
        };
        let campaigns: BTreeSet<CampaignId> = undo.to_remove().map(|row| row.campaign).collect();
        undo.target.refuse_other_account(&campaigns)?;
        for campaign in campaigns {
            undo.refuse_strangers(campaign).await?;
        }
        Ok(undo)
    }

    fn to_remove(&self) -> impl Iterator<Item = &UndoRow> {
        self.plan.iter().filter(|row| row.outcome.is_none())
    }

    /// How many leads are to be removed.
    pub fn leads(&self) -> u64 {
        self.to_remove().count() as u64
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

    /// The rows that are left as they are, by what is known of them.
    pub fn untouched(&self) -> UndoCounts {
        let mut counts = UndoCounts::default();
        for outcome in self.plan.iter().filter_map(|row| row.outcome.as_ref()) {
            counts.add(Some(outcome.status), 1);
        }
        counts
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Reads the list of leads once, and compares those of the run that it shows. Another account may
    /// have leads with the same ids.
    async fn refuse_strangers(&mut self, campaign: CampaignId) -> Result<(), Failure> {
        let calls = &self.target.calls;
        let listed = first_page(calls, campaign).await;
        let listed = listed.map_err(|why| stopped_failure(&why))?;
        let (mut ours, mut others) = self.compared(campaign, &listed);
        for row in self.samples(campaign) {
            // Later pages may have them.
            if ours > 0 || !others.is_empty() {
                break;
            }
            let has_its_id = |lead: &ListedLead| Some(&lead.id) == row.lead_id.as_ref();
            let found = listed_for(calls, campaign, row.number, has_its_id).await;
            let found = found.map_err(|why| stopped_failure(&why))?;
            (ours, others) = self.compared(campaign, &found.unwrap_or_default());
        }
        if ours == 0 && !others.is_empty() {
            return Err(self.target.other_account(
                "the service lists leads with the ids of this run, but with other numbers",
            ));
        }
        if ours == 0 && self.has_another_name(campaign) {
            return Err(self.target.other_account(&format!(
                "campaign {campaign} had another name when the run was sent, and the service lists none of its leads"
            )));
        }
        self.changed.extend(others);
        Ok(())
    }

    /// The first, a middle and the last row of a campaign.
    fn samples(&self, campaign: CampaignId) -> Vec<&UndoRow> {
        let of_campaign = self.to_remove().filter(|row| row.campaign == campaign);
        let rows: Vec<&UndoRow> = of_campaign.collect();
        let at = BTreeSet::from([0, rows.len() / 2, rows.len().saturating_sub(1)]);
        at.into_iter()
            .filter_map(|at| rows.get(at).copied())
            .collect()
    }

    /// How many of the listed leads are the run's, and the rows whose ids are listed with another
    /// number or campaign.
    fn compared(&self, campaign: CampaignId, listed: &[ListedLead]) -> (usize, Vec<RowId>) {
        let of_campaign = self.to_remove().filter(|row| row.campaign == campaign);
        let by_id: BTreeMap<&str, &UndoRow> = of_campaign
            .filter_map(|row| Some((row.lead_id.as_deref()?, row)))
            .collect();
        let (mut ours, mut others) = (0, Vec::new());
        for lead in listed {
            let Some(row) = by_id.get(lead.id.as_str()) else {
                continue;
            };
            let is_elsewhere = lead.campaign.is_some_and(|of| of != campaign);
            let is_another = lead.has_any_number() && !lead.has_number(row.number);
            if is_elsewhere || is_another {
                others.push(row.row);
            } else if lead.has_any_number() {
                ours += 1;
            }
        }
        (ours, others)
    }

    /// Whether the run was started with another name for this campaign than it has now.
    fn has_another_name(&self, campaign: CampaignId) -> bool {
        let named = self.target.run.campaigns_named();
        let mut then = named.iter().filter(|(id, _)| *id == campaign);
        let now = self.target.campaign_name(campaign);
        then.next()
            .is_some_and(|(_, then)| now.is_some_and(|now| !now.eq_ignore_ascii_case(then)))
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
        let ledger = &self.target.calls.ledger;
        let at = file.clone();
        let known = ledger.with(move |ledger| ledger.outputs_at(&UndoFile::places(&at)));
        let output = UndoFile::create(&file, run, known.await?);
        let output = output.map_err(|error| error.before_sending())?;
        let begun = ledger.with(move |ledger| ledger.begin_undo(run, Timestamp::now()));
        if let Err(at_work) = begun.await? {
            return Err(busy(at_work.to_string()));
        }
        let rows = ledger.with(move |ledger| ledger.undo_rows(run)).await?;
        let progress = Cell::new(Progress::of(&rows));
        let to_remove = rows.into_iter().filter(|row| row.outcome.is_none());
        let first = Mutex::new(());
        let removing = to_remove.map(|row| self.remove(row, &progress, &first));
        let calls = &self.target.calls;
        let stopped = calls
            .make_all(removing, AT_ONCE, interrupts, &mut done)
            .await;
        self.finish(output, stopped, progress.get()).await
    }

    async fn finish(
        &self,
        mut output: UndoFile,
        stopped: Option<Stopped>,
        progress: Progress,
    ) -> Result<Undone, Failure> {
        let run = self.target.run.run;
        let ledger = &self.target.calls.ledger;
        let failure = stopped.as_ref().map(stopped_failure);
        let is_pointless = matches!(
            stopped,
            Some(Stopped::NotOffered(_) | Stopped::Fatal { .. })
        );
        if is_pointless && !progress.may_be_removed {
            ledger.with(move |ledger| ledger.cancel_undo(run)).await?;
            return Ok(Undone {
                run,
                counts: UndoCounts::default(),
                requests: self.target.calls.requests(),
                file: None,
                kept: Vec::new(),
                stopped: failure,
            });
        }
        if let Some(Stopped::Ledger(error)) = stopped {
            // What became of the last leads is not on disk, so it is in no file either.
            return Err(error.into());
        }
        let rows = ledger.with(move |ledger| ledger.undo_rows(run)).await?;
        let mut counts = UndoCounts::default();
        for row in &rows {
            counts.add(row.outcome.as_ref().map(|outcome| outcome.status), 1);
            output.write(row).map_err(|error| error.while_writing())?;
        }
        let sealed = output.seal().map_err(|error| error.while_writing())?;
        let record = sealed.records();
        ledger
            .with(move |ledger| ledger.record_outputs(run, &record))
            .await?;
        let written = sealed.finish().map_err(|error| error.while_writing())?;
        Ok(Undone {
            run,
            counts,
            requests: self.target.calls.requests(),
            file: written.results,
            kept: written.kept,
            stopped: failure,
        })
    }

    /// Removes one lead, and records what became of it. Until the service has removed one, it is asked
    /// for one at a time: it may not have the call.
    async fn remove(
        &self,
        row: UndoRow,
        progress: &Cell<Progress>,
        first: &Mutex<()>,
    ) -> Result<(), Stopped> {
        let mut alone = None;
        if !progress.get().has_removed {
            alone = Some(first.lock().await);
        }
        // That may have changed while it waited.
        alone = alone.filter(|_| !progress.get().has_removed);
        let outcome = if self.changed.contains(&row.row) {
            outcome(
                UndoStatus::Kept,
                None,
                "the service has another number or campaign for this lead",
            )
        } else {
            self.asked_to_remove(&row, progress).await?
        };
        if outcome.status.is_removed() {
            progress.set(Progress {
                may_be_removed: true,
                ..progress.get()
            });
        }
        let run = self.target.run.run;
        let ledger = &self.target.calls.ledger;
        let settling = ledger.with(move |ledger| ledger.settle_undo(run, &row, &outcome));
        settling.await?;
        drop(alone);
        Ok(())
    }

    async fn asked_to_remove(
        &self,
        row: &UndoRow,
        progress: &Cell<Progress>,
    ) -> Result<UndoOutcome, Stopped> {
        let (run, at) = (self.target.run.run, row.row);
        let lead_id = row.lead_id.as_deref().unwrap_or_default();
        let called = self
            .target
            .calls
            .make(
                async |client| client.delete_lead(lead_id).await,
                move |ledger| ledger.ask_to_undo(run, at, Timestamp::now()),
            )
            .await?;
        let http_status = called.http_status;
        let was_successful = progress.get().has_removed;
        let not_done = match called.result {
            Ok(()) => {
                progress.set(Progress {
                    has_removed: true,
                    may_be_removed: true,
                });
                return Ok(outcome(UndoStatus::Undone, http_status, ""));
            }
            Err(not_done) => not_done,
        };
        match not_done {
            NotDone::NotFound { text } => self.not_found(row, was_successful, text).await,
            NotDone::NotOffered { text } if !was_successful => Err(Stopped::NotOffered(text)),
            NotDone::Refused {
                code: ErrorCode::Http(403),
                text,
            } if !was_successful => Err(Stopped::Fatal {
                cause: FatalCause::Forbidden,
                text,
            }),
            NotDone::NoAnswer { text, .. } => {
                progress.set(Progress {
                    may_be_removed: true,
                    ..progress.get()
                });
                Ok(outcome(UndoStatus::Unknown, http_status, &text))
            }
            other => Ok(outcome(UndoStatus::Kept, http_status, other.text())),
        }
    }

    /// The service says that there is no such lead, or no such call: the list says which.
    async fn not_found(
        &self,
        row: &UndoRow,
        was_successful: bool,
        text: String,
    ) -> Result<UndoOutcome, Stopped> {
        let status = Some(404);
        let has_its_id = |lead: &ListedLead| Some(&lead.id) == row.lead_id.as_ref();
        let calls = &self.target.calls;
        // Whatever number it has by now.
        let listed = listed_for(calls, row.campaign, row.number, has_its_id).await?;
        let is_there = match &listed {
            Ok(listed) => !listed.is_empty(),
            Err(not_done) => {
                let why = format!("{text}; and it cannot be looked up: {}", not_done.text());
                return Ok(outcome(UndoStatus::Unknown, status, &why));
            }
        };
        Ok(match (is_there, was_successful) {
            (true, false) => return Err(Stopped::NotOffered(text)),
            (true, true) => outcome(
                UndoStatus::Kept,
                status,
                &format!("{text}; but the list of leads still has it"),
            ),
            (false, _) => outcome(UndoStatus::Gone, status, "it was not there any more"),
        })
    }
}

/// What has happened so far, for the rows that follow.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Whether the service has removed a lead, so it has the call.
    has_removed: bool,
    /// Whether a lead is removed, or may be.
    may_be_removed: bool,
}

impl Progress {
    /// What has happened before.
    fn of(rows: &[UndoRow]) -> Progress {
        let mut outcomes = rows.iter().filter_map(|row| row.outcome.as_ref());
        Progress {
            has_removed: outcomes.any(|outcome| outcome.status == UndoStatus::Undone),
            may_be_removed: rows.iter().any(|row| row.was_asked),
        }
    }
}

fn outcome(status: UndoStatus, http_status: Option<u16>, error: &str) -> UndoOutcome {
    UndoOutcome {
        status,
        http_status,
        error: (!error.is_empty()).then(|| shortened(&printable(error), MAX_ERROR)),
        settled_at: Some(Timestamp::now()),
    }
}
