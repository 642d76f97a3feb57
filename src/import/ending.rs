//! The end of an import: records and reports it.

use std::path::{Path, PathBuf};

use super::inputs;
use super::observer::Observer;
use super::planned_run::Run;
use super::prepared::Import;
use super::work_time::WorkTime;
use crate::campaign::{Campaign, CampaignBook};
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::intake::OnUncertain;
use crate::lead::{CampaignId, Status};
use crate::message::Message;
use crate::pipeline::Delivery;
use crate::report::{
    CampaignNames, Examples, InDoubt, Listeners, Outcome, Page, RunMode, Tally, stop_text,
};
use crate::results::{OutputError, ReportFile, Written};
use crate::stop::Stop;

/// An import whose rows have been sent, all or some of them.
pub struct SentImport<'a> {
    pub import: &'a Import,
    pub time: &'a WorkTime,
    pub report: Option<ReportFile>,
    pub campaign_names: CampaignNames,
    pub run: Option<Run>,
}

impl SentImport<'_> {
    pub fn close(
        mut self,
        mut end: Delivery,
        written: Result<Written, OutputError>,
        listeners: &Listeners,
        observer: &mut dyn Observer,
    ) -> Result<ExitCode, Failure> {
        let written = written.unwrap_or_else(|error| {
            // An error of this computer takes precedence over all other stops.
            end.stop = Some(unwritten(&error));
            Written::default()
        });
        let Import {
            settings, intake, ..
        } = self.import;
        let by_ledger = match end.is_shorter {
            true => self.counted_before(&listeners.tally),
            false => None,
        };
        let tally = by_ledger.as_ref().unwrap_or(&listeners.tally);
        let mut outcome = Outcome {
            run: self.run.as_ref().map(|run| run.begun.run),
            requests: end.requests,
            rows_total: listeners.total.get().copied().or(end.rows_total),
            written,
            stopped_at: std::mem::take(&mut end.stopped_at),
            campaign_names: std::mem::take(&mut self.campaign_names),
            ..inputs::outcome(settings, intake, tally, self.time.seconds())
        };
        if self.run.is_none() {
            // Without a ledger the next run does not know which rows are in doubt.
            outcome.in_doubt = InDoubt::of(OnUncertain::Resend, settings.policy.form);
        }
        self.stop(&mut outcome, end.stop.take());
        let is_unread = |stop: &Stop| stop.by() == StoppedBy::Usage;
        if !outcome.stop.as_ref().is_some_and(is_unread) {
            self.write_report(&mut outcome, listeners.page.as_ref());
        }
        let recorded = self
            .run
            .as_mut()
            .map_or(Ok(()), |run| run.end(&outcome, &end));
        if let Some(stop) = outcome.stop.take_if(|stop| is_unread(stop)) {
            // Nothing was sent, so there is no summary.
            return Err(Failure::new(stop.by(), stop_text(&stop)));
        }
        if let (Err(error), None) = (recorded, &outcome.stop) {
            let by_ledger = Stop::error(StoppedBy::Ledger, error.0);
            self.stop(&mut outcome, Some(by_ledger));
        }
        self.import.metrics.end(&outcome);
        let shown = observer.ended(&outcome);
        // If the console was closed, that is already reported as the stop.
        if outcome.stop.is_none() {
            shown?;
        }
        Ok(outcome.exit_code)
    }

    /// The counts of the whole run from the ledger, if an earlier start got further than
    /// this one, which a second signal ended. They are not divided by campaign and reason.
    fn counted_before(&self, tally: &Tally) -> Option<Tally> {
        let run = self.run.as_ref()?;
        let counts = run.ledger.as_ref()?.counts_of(run.begun.run).ok()?;
        let has_more = counts.total() > tally.counts.total();
        has_more.then(|| Tally {
            counts,
            ..Tally::new(self.import.intake.inputs.len())
        })
    }

    fn stop(&self, outcome: &mut Outcome<'_>, stop: Option<Stop>) {
        outcome.exit_code = outcome
            .tally
            .exit_code(stop.as_ref(), self.import.settings.problems_exit);
        let line = &self.import.request.line;
        let is_in_doubt = outcome.tally.counts.of(Status::Uncertain) > 0 && !outcome.sandbox;
        let run = outcome.run.filter(|_| is_in_doubt);
        outcome.next.look_up_with = run.and_then(|run| line.of_reconcile(run));
        outcome.next.continue_with = stop.is_some().then(|| line.clone());
        outcome.next.send_rejects_with = match stop {
            Some(_) => None,
            None => {
                let rejects = outcome.written.rejects_paths().map(Path::to_owned);
                let rejects: Vec<PathBuf> = rejects.collect();
                line.of_rejects(&rejects, outcome.run.is_some())
            }
        };
        outcome.stop = stop;
    }

    /// Writes the report, if one is wanted. This is done before the run counts as
    /// complete: if it fails, the same command continues the run and writes the report.
    fn write_report(&mut self, outcome: &mut Outcome<'_>, notes: Option<&Examples>) {
        let (Some(report), Some(notes)) = (self.report.take(), notes) else {
            return;
        };
        let page = Page {
            outcome,
            intake: &self.import.intake,
            notes,
            campaign: self.import.settings.reading.campaign.as_ref(),
            mode: RunMode::Sent {
                service: self.import.settings.service.clone(),
                goes_on: self.run.as_ref().is_some_and(|run| run.begun.continues),
            },
        };
        let page = page.html();
        if let Err(error) = inputs::write_report(report, &page, &mut outcome.written) {
            let stop = Stop::error(StoppedBy::Disk, error.message());
            let stop = Stop::both(outcome.stop.take(), stop);
            self.stop(outcome, Some(stop));
        }
    }
}

/// The names of campaigns, from the rows and from the service's list.
pub fn campaign_names(book: &CampaignBook, listed: Option<&[Campaign]>) -> CampaignNames {
    let met = book.ids().into_iter();
    let met = met.map(|(name, id)| (CampaignId(id), name.to_owned()));
    let mut names = CampaignNames(met.collect());
    names.extend(listed.unwrap_or_default());
    names
}

fn unwritten(error: &OutputError) -> Stop {
    let kept = text!("What was written before is in the files that end in `.part`.");
    let message = match error.is_gone() {
        true => error.message(),
        false => error.message().then(Message::without_hint(kept)),
    };
    Stop::error(StoppedBy::Disk, message)
}
