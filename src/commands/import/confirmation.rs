//! Before the first request: works out what would be sent, shows it, and asks whether to send it.
//!
//! Rule: everything that can be refused is refused before this ends. Until
//! then nothing has been sent, and nothing about the run is in the ledger.

use tracing::warn;

use crate::commands::ask::{Cancelled, Terminal, note};
use crate::exit::Failure;
use crate::import::dry_run::{self, DryRun};
use crate::import::{Concern, Import, PlannedRun, Prepared, inputs};
use crate::report::{Log, Overview, console, list_facts};

impl Prepared {
    /// Shows how the inputs are read. If a user is at the terminal or the
    /// settings need it, also shows what would be sent, and asks whether
    /// to send it. Returns the number of rows, if they were read for this.
    pub(super) async fn agree(
        &mut self,
        terminal: &Terminal,
        log: &Log,
    ) -> Result<Option<u64>, Failure> {
        let settings = &self.import.settings;
        if self.planned.is_none() && !settings.reading.outputs.sandbox {
            warn!(
                event = "warning",
                "without a ledger the list of `leadload suppress` is not read, and leadload cannot prevent duplicates if this run is interrupted or repeated: only the service can refuse leads that it already has"
            );
        }
        let is_quiet = settings.options.log.is_quiet();
        if !is_quiet {
            console::tell(&list_facts(&self.import.intake, false));
        }
        let (reading, delivery) = (&settings.options.reading, &settings.options.delivery);
        let is_bounded = delivery.max_new.is_some() || reading.max_invalid.is_some();
        if !self.import.is_watched && !self.has_names && !is_bounded {
            return Ok(None);
        }
        for Concern { failure, question } in &self.concerns {
            note(&format!("{}.", failure.message().what));
            if !terminal.yes(question).await? {
                return Err(Cancelled("sent").into());
            }
        }
        let found = self.read(log).await?;
        let overview = self.overview(&found)?;
        let asks = self.import.asks() && found.ready() > 0;
        if !is_quiet && let Some(planned) = &self.planned {
            console::tell(&planned.differences());
        }
        if asks || !is_quiet {
            console::tell(&overview.blocks());
        }
        let rows = found.tally.counts.total();
        let agreed = self.ask(asks, &found, &overview, terminal).await;
        agreed.map_err(|failure| failure.of_rows(rows))?;
        Ok(Some(rows))
    }

    /// Prepares all rows without sending them.
    async fn read(&mut self, log: &Log) -> Result<DryRun, Failure> {
        let import = &self.import;
        if import.is_watched {
            self.campaign_list.list_if_possible().await?;
        }
        let planned = self.planned.as_ref();
        let memory = planned.map(|planned| planned.memory(&import.settings));
        let (memory, book) = (memory.transpose()?, self.book.clone());
        let (settings, intake) = (&import.settings, &import.intake);
        dry_run::run(settings, intake, book, memory, None, log, |_| Ok(())).await
    }

    async fn ask(
        &self,
        asks: bool,
        found: &DryRun,
        overview: &Overview<'_>,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        self.guards.refuse(&found.tally)?;
        if !asks {
            return Ok(());
        }
        if !terminal.yes(&overview.question()).await? {
            return Err(Cancelled("sent").into());
        }
        // The answer may have taken hours, and the user agreed to the inputs as they were read.
        let intake = &self.import.intake;
        let read = intake.inputs.iter().map(|planned| &planned.input);
        let mut all = read.chain(intake.suppression.inputs());
        Ok(all.try_for_each(|input| input.check_unchanged())?)
    }

    fn overview<'f>(&'f self, found: &'f DryRun) -> Result<Overview<'f>, Failure> {
        let Import {
            settings, intake, ..
        } = &self.import;
        let planned = self.planned.as_ref();
        let known_rate = planned.map(PlannedRun::known_rate).transpose()?;
        Ok(Overview {
            outcome: inputs::outcome(settings, intake, &found.tally, 0.0),
            intake,
            findings: &found.findings,
            going_on: planned.and_then(|planned| planned.predecessors.latest.going_on),
            campaigns: self.campaign_list.listed(),
            service: settings.service.clone(),
            estimate: found.estimate(&settings.rate, known_rate.flatten()),
        })
    }
}
