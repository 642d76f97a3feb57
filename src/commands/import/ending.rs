//! The end of an import: recorded and reported.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use tracing::warn;

use super::delivery::Delivered;
use super::record::Run;
use crate::campaign::{Campaign, CampaignBook};
use crate::command_line::CommandLine;
use crate::commands::inputs;
use crate::commands::stopwatch::Stopwatch;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Intake, OnUncertain};
use crate::lead::CampaignId;
use crate::ledger::Ledger;
use crate::options::Format;
use crate::report::{
    CampaignNames, Ended, InDoubt, ListNotes, Listeners, Metrics, Page, PageNotes, RunMode, TRIAL,
    Tally, console, json_summary, log_end, stop_text, text_summary,
};
use crate::results::{OutputError, ReportFile, Written};
use crate::settings::ImportSettings;
use crate::stop::Stop;

/// An import whose rows have been sent, completely or not.
pub(super) struct Ending<'a> {
    pub(super) settings: &'a ImportSettings,
    pub(super) intake: &'a Intake,
    pub(super) watch: Stopwatch,
    /// The command that continues it.
    pub(super) line: CommandLine,
    pub(super) metrics: Metrics,
    /// The report, if one is wanted.
    pub(super) report: Option<ReportFile>,
    /// The names of campaigns, as far as they are known.
    pub(super) campaign_names: CampaignNames,
    /// The run, if there is a ledger.
    pub(super) run: Option<&'a Run>,
}

impl Ending<'_> {
    /// Records and reports how it ended.
    pub(super) fn close(
        mut self,
        delivered: Delivered,
        listeners: &Listeners,
    ) -> Result<ExitCode, Failure> {
        let Delivered {
            mut end,
            written,
            ledger,
        } = delivered;
        let written = written.unwrap_or_else(|error| {
            // An error of this computer counts before all others.
            end.stop = Some(unwritten(&error));
            Written::default()
        });
        let by_ledger = self.counted_before(&listeners.tally, ledger.as_ref());
        let tally = by_ledger.as_ref().unwrap_or(&listeners.tally);
        let mut ended = Ended {
            run: self.run.map(|run| run.begun.run),
            tally,
            inputs: self.intake.names(),
            stop: None,
            exit_code: tally.exit_code(None),
            requests: end.requests,
            rows_total: listeners.total.get().or(end.rows_total),
            elapsed_s: self.watch.seconds(),
            written,
            sandbox: self.settings.reading.outputs.sandbox,
            in_doubt: self.in_doubt(),
            continue_with: None,
            send_rejects_with: None,
            campaign_names: std::mem::take(&mut self.campaign_names),
            list_notes: ListNotes::of(self.intake),
        };
        self.stop(&mut ended, end.stop);
        let is_unread = |stop: &Stop| stop.by() == StoppedBy::Usage;
        if !ended.stop.as_ref().is_some_and(is_unread) {
            self.write_report(&mut ended, listeners.page.as_ref());
        }
        let ending = self.end_run(ledger, &ended, end.last_read.0);
        if let Some(stop) = ended.stop.take_if(|stop| is_unread(stop)) {
            // Nothing was sent, so there is no summary.
            return Err(Failure::new(stop.by(), anyhow!(stop_text(&stop))));
        }
        if let (Some(by_ledger), None) = (ending, &ended.stop) {
            self.stop(&mut ended, Some(by_ledger));
        }
        self.metrics.end(&ended);
        let summarised = summarise(&ended, self.settings.reading.format);
        // If the console was closed, that is why the run ended.
        if ended.stop.is_none() {
            summarised?;
        }
        Ok(ended.exit_code)
    }

    /// The counts of the whole run from the ledger, if an earlier start got further than this one,
    /// which a second signal ended. They are not known by campaign and reason then.
    fn counted_before(&self, tally: &Tally, ledger: Option<&Ledger>) -> Option<Tally> {
        let (run, ledger) = self.run.zip(ledger)?;
        let counts = ledger.counts_of(run.begun.run).ok()?;
        let has_more = counts.total() > tally.counts.total();
        has_more.then(|| Tally {
            counts,
            ..Tally::new(self.intake.inputs.len())
        })
    }

    /// What the same command would do about rows that the service may have accepted.
    fn in_doubt(&self) -> InDoubt {
        let policy = &self.settings.policy;
        let on_uncertain = match self.run {
            Some(_) => policy.on_uncertain,
            // Without a ledger these rows are not known the next time.
            None => OnUncertain::Resend,
        };
        InDoubt::of(on_uncertain, policy.form)
    }

    /// Sets why it ended early, if it did, and what follows from that.
    fn stop(&self, ended: &mut Ended<'_>, stop: Option<Stop>) {
        ended.exit_code = ended.tally.exit_code(stop.as_ref());
        ended.continue_with = stop.is_some().then(|| self.line.clone());
        ended.send_rejects_with = match stop {
            Some(_) => None,
            None => {
                let rejects = ended.written.rejects_paths().map(Path::to_owned);
                let rejects: Vec<PathBuf> = rejects.collect();
                self.line.of_rejects(&rejects, ended.run.is_some())
            }
        };
        ended.stop = stop;
    }

    /// Writes the report, if one is wanted. Before the run counts as complete: if this fails, the
    /// same command continues it and writes the report.
    fn write_report(&mut self, ended: &mut Ended<'_>, notes: Option<&PageNotes>) {
        let (Some(report), Some(notes)) = (self.report.take(), notes) else {
            return;
        };
        let page = Page {
            ended,
            intake: self.intake,
            notes,
            campaign: self.settings.reading.campaign.as_ref(),
            mode: RunMode::Sent {
                service: self.settings.service.clone(),
                goes_on: self.run.is_some_and(|run| run.begun.continues),
            },
        };
        let page = page.html();
        if let Err(error) = inputs::write_report(report, &page, &mut ended.written) {
            let stop = Stop::both(ended.stop.take(), Stop::error(StoppedBy::Disk, error));
            self.stop(ended, Some(stop));
        }
    }

    /// Records in the ledger how the run ended; returns a ledger error as a stop.
    fn end_run(&self, ledger: Option<Ledger>, ended: &Ended<'_>, last_read: u64) -> Option<Stop> {
        let (run, mut ledger) = self.run.zip(ledger)?;
        let ended = run.end(&mut ledger, ended, last_read);
        ended
            .err()
            .map(|error| Stop::error(StoppedBy::Ledger, error))
    }
}

/// The names of campaigns, from the rows and from the service's list.
pub(super) fn campaign_names(book: &CampaignBook, listed: Option<&[Campaign]>) -> CampaignNames {
    let met = book.ids().into_iter();
    let met = met.map(|(name, id)| (CampaignId(id), name.to_owned()));
    let mut names: CampaignNames = met.collect();
    names.extend(listed.unwrap_or_default());
    names
}

fn unwritten(error: &OutputError) -> Stop {
    let mut text = error.to_string();
    if !error.is_gone() {
        text.push_str("\n\nWhat was written before is in the files that end in `.part`.");
    }
    Stop::error(StoppedBy::Disk, text)
}

fn summarise(ended: &Ended<'_>, format: Format) -> Result<(), Failure> {
    if ended.stop.is_none() {
        inputs::warn_of_nothing(ended.tally);
    }
    inputs::warn_of_files(ended, format);
    if ended.sandbox && format == Format::Json {
        // In text form the summary says so.
        warn!(event = "warning", "{TRIAL}");
    }
    if let Some(stop) = &ended.stop {
        console::stop(stop.by(), &stop_text(stop));
    }
    log_end(ended);
    let summary = match format {
        Format::Text => text_summary(ended),
        Format::Json => json_summary(ended),
    };
    console::print(&summary).or_stopped(StoppedBy::Disk)
}
