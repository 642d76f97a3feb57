//! How an import has ended: written down, and said.

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

/// An import whose rows have been sent, as far as that went.
pub(super) struct Ending<'a> {
    pub(super) settings: &'a ImportSettings,
    pub(super) intake: &'a Intake,
    pub(super) watch: Stopwatch,
    /// The command that goes on with it.
    pub(super) line: CommandLine,
    pub(super) metrics: Metrics,
    /// The page for people, where one is wanted.
    pub(super) report: Option<ReportFile>,
    /// What campaigns are called, as far as that is known.
    pub(super) campaign_names: CampaignNames,
    /// The run, where there is a ledger.
    pub(super) run: Option<&'a Run>,
}

impl Ending<'_> {
    /// Writes down how it ended, and says it.
    pub(super) fn close(
        mut self,
        delivered: Delivered,
        listeners: &Listeners,
    ) -> Result<ExitCode, Failure> {
        let Delivered {
            mut stop,
            requests,
            rows_total,
            last_read,
            written,
            ledger,
        } = delivered;
        let written = written.unwrap_or_else(|error| {
            // Of all that can go wrong, this machine comes first.
            stop = Some(unwritten(&error));
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
            requests,
            rows_total: listeners.rows_total().or(rows_total),
            elapsed_s: self.watch.seconds(),
            written,
            sandbox: self.settings.reading.outputs.sandbox,
            in_doubt: self.in_doubt(),
            continue_with: None,
            mend_with: None,
            campaign_names: std::mem::take(&mut self.campaign_names),
            list_notes: ListNotes::of(self.intake),
        };
        self.stop(&mut ended, stop);
        let is_unread = |stop: &Stop| stop.by() == StoppedBy::Usage;
        if !ended.stop.as_ref().is_some_and(is_unread) {
            self.write_report(&mut ended, listeners.page.as_ref());
        }
        let ending = self.end_run(ledger, &ended, last_read);
        if let Some(stop) = ended.stop.take_if(|stop| is_unread(stop)) {
            // Nothing was sent, so there is nothing to tell of but that.
            return Err(Failure::new(stop.by(), anyhow!(stop_text(&stop))));
        }
        if let (Some(by_ledger), None) = (ending, &ended.stop) {
            self.stop(&mut ended, Some(by_ledger));
        }
        self.metrics.end(&ended);
        let summarised = summarise(&ended, self.settings.reading.format);
        // Where the console was closed, that is why the run ended.
        if ended.stop.is_none() {
            summarised?;
        }
        Ok(ended.exit_code)
    }

    /// The sums of the whole run, where an earlier start has come further than this one,
    /// which a second signal has ended before it had read as much. How they are spread over
    /// campaigns and reasons is not known then.
    fn counted_before(&self, tally: &Tally, ledger: Option<&Ledger>) -> Option<Tally> {
        let (run, ledger) = self.run.zip(ledger)?;
        let counts = ledger.counts_of(run.begun.run).ok()?;
        let has_more = counts.total() > tally.counts.total();
        has_more.then(|| Tally {
            counts,
            ..Tally::new(self.intake.inputs.len())
        })
    }

    /// What the same command would do about rows that may have been taken.
    fn in_doubt(&self) -> InDoubt {
        let policy = &self.settings.policy;
        let on_uncertain = match self.run {
            Some(_) => policy.on_uncertain,
            // Without a ledger nobody knows which rows to leave alone.
            None => OnUncertain::Resend,
        };
        InDoubt::of(on_uncertain, policy.form)
    }

    /// Notes why it ended early, if it did, and what comes of that.
    fn stop(&self, ended: &mut Ended<'_>, stop: Option<Stop>) {
        ended.exit_code = ended.tally.exit_code(stop.as_ref());
        ended.continue_with = stop.is_some().then(|| self.line.clone());
        ended.mend_with = match stop {
            Some(_) => None,
            None => {
                let rejects = ended.written.rejects_paths().map(Path::to_owned);
                let rejects: Vec<PathBuf> = rejects.collect();
                self.line.of_rejects(&rejects, ended.run.is_some())
            }
        };
        ended.stop = stop;
    }

    /// Writes the page for people, if one is wanted. Before the run is said to be complete:
    /// where this fails, the same command goes on and writes it.
    fn write_report(&mut self, ended: &mut Ended<'_>, notes: Option<&PageNotes>) {
        let (Some(report), Some(notes)) = (self.report.take(), notes) else {
            return;
        };
        let page = Page {
            ended,
            intake: self.intake,
            notes,
            campaign: self.settings.reading.campaign.as_ref(),
            deed: RunMode::Sent {
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

    /// Writes down in the ledger how the run has ended; returns what that stops.
    fn end_run(&self, ledger: Option<Ledger>, ended: &Ended<'_>, last_read: u64) -> Option<Stop> {
        let (run, mut ledger) = self.run.zip(ledger)?;
        let ended = run.end(&mut ledger, ended, last_read);
        ended
            .err()
            .map(|error| Stop::error(StoppedBy::Ledger, error))
    }
}

/// What campaigns are called: as the run has met them, or as the service lists them.
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
