//! An import up to the question: what is read and how, to which service and campaigns it
//! goes, which run it would be. Nothing of it is in the ledger yet.

use std::path::Path;

use anyhow::anyhow;
use tracing::warn;

use super::confirmation::Confirmation;
use super::picker;
use super::record::{PlannedRun, Record};
use crate::api::Limits;
use crate::campaign::CampaignBook;
use crate::command_line::CommandLine;
use crate::commands::directory::{self, Directory};
use crate::commands::service::Reached;
use crate::commands::stopwatch::Stopwatch;
use crate::commands::{inputs, service};
use crate::exit::{Failure, StoppedBy};
use crate::intake::{Intake, OnUncertain};
use crate::report::{Log, Metrics, Show, Width, console, opening_lines};
use crate::results::{
    KnownOutputs, OutputError, OutputPaths, ReportFile, Writer, has_results_header,
};
use crate::settings::{ImportSettings, Service};
use crate::signals::Interrupts;

/// An import that could be sent.
pub(super) struct Prepared {
    pub(super) settings: ImportSettings,
    pub(super) intake: Intake,
    pub(super) book: CampaignBook,
    pub(super) writer: Writer,
    /// The page for people, where one is wanted.
    pub(super) report: Option<ReportFile>,
    pub(super) reached: Reached,
    /// The run, where there is a ledger.
    pub(super) planned: Option<PlannedRun>,
    /// The command that goes on with it.
    pub(super) line: CommandLine,
    pub(super) watch: Stopwatch,
    pub(super) metrics: Metrics,
    /// How the work is shown.
    pub(super) show: Show,
    pub(super) directory: Directory,
    /// Whether somebody is there who can be asked.
    is_watched: bool,
    /// Whether rows name their campaigns.
    has_names: bool,
}

/// What was asked for, and of which lists.
pub(super) struct Asked {
    pub(super) intake: Intake,
    /// Where the run is recorded, if there is a ledger.
    pub(super) record: Option<Record>,
    pub(super) settings: ImportSettings,
    pub(super) service: Service,
    pub(super) line: CommandLine,
    pub(super) watch: Stopwatch,
    pub(super) metrics: Metrics,
    /// How the work is shown.
    pub(super) show: Show,
    /// Whether somebody is there who can be asked.
    pub(super) is_watched: bool,
}

impl Prepared {
    /// Prepares it. Where no campaign is given, one is picked.
    pub(super) async fn new(
        mut asked: Asked,
        interrupts: &mut Interrupts,
    ) -> Result<Prepared, Failure> {
        refuse_results_files(&asked.intake)?;
        inputs::refuse_doubtful(&asked.intake)?;
        let paths = inputs::output_paths(&asked.settings, &asked.intake)?;
        let writer = writer(
            &asked.settings,
            &asked.intake,
            &paths,
            asked.record.as_ref(),
        )?;
        // Not before it is known that no other run is at work on this.
        asked.begin_metrics(&paths)?;
        let report = inputs::report_file(&paths)?;
        let reached = service::reach(&asked.service, limits(&asked.settings)).await?;
        let mut directory = Directory::new(reached.client.clone());
        if !asked.settings.has_campaign() {
            asked.pick_campaign(&mut directory, interrupts).await?;
        }
        let names = service::or_interrupted(interrupts, directory::names_in(&asked.intake)).await?;
        let finding = directory.book(
            &names,
            asked.settings.reading.campaign.as_ref(),
            &asked.intake,
        );
        let book = service::or_interrupted(interrupts, finding).await?;
        let planned = match asked.record {
            Some(record) => {
                let planning = record.plan(&asked.settings, &asked.intake, &book, &paths);
                Some(service::or_interrupted(interrupts, planning).await?)
            }
            None => None,
        };
        Ok(Prepared {
            settings: asked.settings,
            intake: asked.intake,
            book,
            writer,
            report,
            reached,
            planned,
            line: asked.line,
            watch: asked.watch,
            metrics: asked.metrics,
            show: asked.show,
            directory,
            is_watched: asked.is_watched,
            has_names: !names.is_empty(),
        })
    }

    /// Says how the inputs are read and, where somebody is there or has asked for it, what
    /// would be sent, and asks whether it is to be. Returns how many rows there are, where
    /// they have been read for this.
    pub(super) async fn agree(
        &mut self,
        interrupts: &mut Interrupts,
        log: &Log,
    ) -> Result<Option<u64>, Failure> {
        if self.planned.is_none() && !self.settings.reading.outputs.sandbox {
            warn!(
                event = "warning",
                "without a ledger nothing is remembered: if this run breaks off, or is repeated, only the service can refuse the leads that it has"
            );
        }
        if !self.settings.quiet {
            console::note(&opening_lines(&self.intake, Width::of_stderr()));
        }
        if !self.is_watched && !self.has_names && self.settings.max_new.is_none() {
            return Ok(None);
        }
        let confirmation = Confirmation {
            settings: &self.settings,
            intake: &self.intake,
            planned: self.planned.as_ref(),
            watch: &self.watch,
            directory: &mut self.directory,
            is_watched: self.is_watched,
            show: self.show,
        };
        let rows = confirmation
            .obtain(self.book.clone(), interrupts, log)
            .await?;
        Ok(Some(rows))
    }
}

impl Asked {
    /// Figures go nowhere where something else is, or will be.
    fn begin_metrics(&self, paths: &OutputPaths) -> Result<(), Failure> {
        let ledger = self.settings.ledger.place();
        let is_ledger = |place: &Path| ledger.is_some_and(|ledger| ledger.owns(place));
        let is_taken = |place: &Path| paths.take(place) || is_ledger(place);
        Ok(self.metrics.begin(is_taken)?)
    }

    /// Has a campaign picked: from here on it is as if it had been given.
    async fn pick_campaign(
        &mut self,
        directory: &mut Directory,
        interrupts: &mut Interrupts,
    ) -> Result<(), Failure> {
        let picked = picker::pick(directory, &self.watch, interrupts).await?;
        self.line = self.line.with_campaign(&picked.to_string());
        self.settings.pick_campaign(picked);
        Ok(())
    }
}

/// Under `hold` a lost answer is an uncertain row, and old connections lose answers.
pub(super) fn limits(settings: &ImportSettings) -> Limits {
    let limits = Limits::within(settings.timeout);
    match settings.policy.on_uncertain {
        OnUncertain::Hold => limits.without_old_connections(),
        OnUncertain::Resend => limits,
    }
}

/// The outputs, which are found to be writable before anything is sent.
fn writer(
    settings: &ImportSettings,
    intake: &Intake,
    paths: &OutputPaths,
    record: Option<&Record>,
) -> Result<Writer, Failure> {
    let known = match record {
        Some(record) => record.known_outputs(paths)?,
        None => KnownOutputs::default(),
    };
    let rejects_uncertain = settings.policy.on_uncertain == OnUncertain::Resend;
    Writer::create(paths, &intake.inputs, rejects_uncertain, &known)
        .map_err(OutputError::before_sending)
}

/// `leadload import *.csv` must not send the results of the last time.
pub(super) fn refuse_results_files(intake: &Intake) -> Result<(), Failure> {
    let mut inputs = intake.inputs.iter();
    match inputs.find(|planned| has_results_header(&planned.header.names)) {
        None => Ok(()),
        Some(planned) => {
            let error = anyhow!(
                "`{}` is a results file of leadload, not a list of contacts\n\nhint: import the list itself; `leadload import *.csv` takes results files in",
                planned.input.name()
            );
            Err(Failure::new(StoppedBy::Usage, error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::results::OutputChoice;
    use crate::settings::Layers;

    fn limits_with(allow_duplicates: bool, on_uncertain: Option<&str>) -> Limits {
        let mut typed = Options::default();
        typed.connection.sandbox = Some(true);
        typed.delivery.allow_duplicates = Some(allow_duplicates);
        typed.delivery.on_uncertain = on_uncertain.map(|word| word.parse().unwrap());
        let layers = Layers::new(typed, Vec::new(), None, true);
        limits(&ImportSettings::new(&layers, &OutputChoice::BesideInput).unwrap())
    }

    #[test]
    fn under_hold_no_old_connection_is_used() {
        let usual = limits_with(false, None);
        let careful = usual.without_old_connections();
        assert_ne!(usual, careful);
        assert_eq!(limits_with(false, Some("hold")), careful);
        assert_eq!(limits_with(true, None), careful);
        assert_eq!(limits_with(true, Some("resend")), usual);
    }
}
