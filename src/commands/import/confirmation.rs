//! Before the first request: works out what would be sent, shows it, and asks whether to send it.
//!
//! Rule: everything that can be refused is refused before this ends. Nothing has been sent by
//! then, and nothing of the run is in the ledger.

use std::sync::Arc;

use anyhow::anyhow;
use tracing::warn;

use super::prepared::{Import, Prepared};
use super::record::PlannedRun;
use crate::campaign::CampaignBook;
use crate::commands::ask::{Cancelled, Terminal};
use crate::commands::directory::Directory;
use crate::commands::dry_run::{DryRun, Found};
use crate::commands::{inputs, service};
use crate::exit::{Failure, StoppedBy};
use crate::intake::GivenRegion;
use crate::report::{Log, Overview, Width, console, difference_lines, opening_lines};
use crate::source::FooterLine;
use crate::text::{counted, grouped};

/// Shows how the inputs are read and, if a user is there or the settings need it, what
/// would be sent, and asks whether to send it. Returns the number of rows, if they were
/// read for this.
pub(super) async fn agree(
    prepared: &mut Prepared,
    terminal: &mut Terminal,
    log: &Log,
) -> Result<Option<u64>, Failure> {
    let Import {
        settings, intake, ..
    } = &prepared.import;
    if prepared.planned.is_none() && !settings.reading.outputs.sandbox {
        warn!(
            event = "warning",
            "without a ledger nothing is remembered: if this run is interrupted or repeated, only the service can refuse leads that it already has"
        );
    }
    if !settings.quiet {
        console::note(&opening_lines(intake, Width::of_stderr()));
    }
    if !prepared.import.is_watched && !prepared.has_names && settings.max_new.is_none() {
        return Ok(None);
    }
    let confirmation = Confirmation {
        import: &prepared.import,
        planned: prepared.planned.as_ref(),
        directory: &mut prepared.directory,
    };
    let rows = confirmation
        .obtain(prepared.book.clone(), terminal, log)
        .await?;
    Ok(Some(rows))
}

/// An import that is ready to begin.
struct Confirmation<'a> {
    import: &'a Import,
    /// The run, if there is a ledger.
    planned: Option<&'a PlannedRun>,
    directory: &'a mut Directory,
}

impl Confirmation<'_> {
    /// Reads all rows and shows what would happen to them; returns their number, if that many
    /// may be sent and the user agrees.
    async fn obtain(
        mut self,
        book: CampaignBook,
        terminal: &mut Terminal,
        log: &Log,
    ) -> Result<u64, Failure> {
        let reading = self.read(book, log);
        let found = service::or_interrupted(&mut terminal.interrupts, reading).await?;
        let overview = self.overview(&found)?;
        if !self.import.settings.quiet {
            console::note(&self.differences());
            console::note(&overview.lines(Width::of_stderr()));
        }
        let rows = found.tally.counts.total();
        let agreed = self.agree(&found, &overview, terminal).await;
        agreed.map_err(|failure| failure.of_rows(rows))?;
        Ok(rows)
    }

    async fn agree(
        &self,
        found: &Found,
        overview: &Overview<'_>,
        terminal: &mut Terminal,
    ) -> Result<(), Failure> {
        self.refuse_more_than_allowed(found)?;
        let settings = &self.import.settings;
        if !self.import.is_watched || settings.yes || found.ready() == 0 {
            return Ok(());
        }
        let width = Width::of_stderr();
        let question = if settings.quiet {
            overview.question_alone(width)
        } else {
            overview.question(width)
        };
        if !terminal.yes(&question).await? {
            return Err(Cancelled("sent").into());
        }
        // The answer may have taken hours.
        self.refuse_changed_files()
    }

    /// Prepares all rows without sending them.
    async fn read(&mut self, book: CampaignBook, log: &Log) -> Result<Found, Failure> {
        if self.import.is_watched {
            self.directory.list_if_possible().await?;
        }
        let memory = self
            .planned
            .map(|planned| planned.memory(&self.import.settings));
        let dry_run = DryRun {
            intake: &self.import.intake,
            book,
            memory: memory.transpose()?,
            form: self.import.settings.policy.form,
            page: None,
        };
        let show = inputs::show(&self.import.settings);
        dry_run.run(show, log, |_| Ok(())).await
    }

    /// The footers of the lists, unless the opening lines have shown them.
    fn footers(&self) -> Vec<FooterLine> {
        let inputs = self.import.intake.inputs.iter();
        match self.import.intake.doubt {
            // All rows were read before the opening lines.
            Some(_) => Vec::new(),
            None => inputs
                .flat_map(|planned| planned.footer().to_vec())
                .collect(),
        }
    }

    fn overview<'f>(&'f self, found: &'f Found) -> Result<Overview<'f>, Failure> {
        let known_rate = self.planned.map(PlannedRun::known_rate).transpose()?;
        Ok(Overview {
            tally: &found.tally,
            findings: &found.findings,
            going_on: self
                .planned
                .and_then(|planned| planned.predecessors.going_on),
            campaigns: self.directory.listed(),
            service: self.import.settings.service.clone(),
            region: self
                .import
                .intake
                .region
                .as_ref()
                .map(GivenRegion::to_string),
            footers: self.footers(),
            estimate: found.estimate(&self.import.settings.rate, known_rate.flatten()),
        })
    }

    /// What differs from an unfinished run of the same inputs.
    fn differences(&self) -> String {
        let planned = self.planned;
        let other =
            planned.and_then(|planned| Some((planned, planned.predecessors.other.as_ref()?)));
        other.map_or_else(String::new, |(planned, other)| {
            difference_lines(other, &planned.differences(), Width::of_stderr())
        })
    }

    fn refuse_more_than_allowed(&self, found: &Found) -> Result<(), Failure> {
        let ready = found.ready();
        let Some(most) = self.import.settings.max_new.filter(|most| ready > *most) else {
            return Ok(());
        };
        let error = anyhow!(
            "{} would be sent, but `--max-new` allows {}, so none was\n\nhint: `leadload check` with the same files shows what is new; to send them all, use `--max-new {ready}`",
            counted(ready, "lead"),
            grouped(most)
        );
        Err(Failure::new(StoppedBy::Usage, error))
    }

    /// The user agreed to what was read.
    fn refuse_changed_files(&self) -> Result<(), Failure> {
        let inputs = Arc::clone(&self.import.intake.inputs);
        let inputs = inputs.iter().map(|planned| &planned.input);
        let mut all = inputs.chain(self.import.intake.suppression.inputs());
        Ok(all.try_for_each(|input| input.check_unchanged())?)
    }
}
