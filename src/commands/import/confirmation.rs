//! Before the first request: what would be sent is worked out, shown, and asked about.
//!
//! Rule: whatever can be refused is refused here, and whatever is asked is asked here: when
//! this has ended nothing stands between the rows and the service. Nothing has been sent by
//! then, and nothing of the run is in the ledger.

use std::sync::Arc;

use anyhow::anyhow;

use super::record::PlannedRun;
use crate::ask;
use crate::campaign::CampaignBook;
use crate::commands::directory::Directory;
use crate::commands::dry_run::{DryRun, Found};
use crate::commands::stopwatch::Stopwatch;
use crate::commands::{question, service};
use crate::exit::{Failure, StoppedBy};
use crate::intake::{GivenRegion, Intake};
use crate::report::{Log, Overview, Show, Width, console, difference_lines};
use crate::settings::ImportSettings;
use crate::signals::Interrupts;
use crate::source::FooterLine;
use crate::text::{counted, grouped};

/// An import that is ready to begin.
pub(super) struct Confirmation<'a> {
    pub(super) settings: &'a ImportSettings,
    pub(super) intake: &'a Intake,
    /// The run, where there is a ledger.
    pub(super) planned: Option<&'a PlannedRun>,
    pub(super) watch: &'a Stopwatch,
    pub(super) directory: &'a mut Directory,
    /// Whether anybody is there.
    pub(super) is_watched: bool,
    /// How the reading is shown.
    pub(super) show: Show,
}

impl Confirmation<'_> {
    /// Reads all rows and shows what would become of them; returns how many there are, if
    /// that many may be sent and whoever is asked says yes.
    pub(super) async fn obtain(
        mut self,
        book: CampaignBook,
        interrupts: &mut Interrupts,
        log: &Log,
    ) -> Result<u64, Failure> {
        let reading = self.read(book, log);
        let found = service::or_interrupted(interrupts, reading).await?;
        let overview = self.overview(&found)?;
        if !self.settings.quiet {
            console::note(&self.differences());
            console::note(&overview.lines(Width::of_stderr()));
        }
        let rows = found.tally.counts.total();
        let agreed = self.agree(&found, &overview, interrupts).await;
        agreed.map_err(|failure| failure.of_rows(rows))?;
        Ok(rows)
    }

    /// Whether so much may be sent, and is to be.
    async fn agree(
        &self,
        found: &Found,
        overview: &Overview<'_>,
        interrupts: &mut Interrupts,
    ) -> Result<(), Failure> {
        self.refuse_more_than_allowed(found)?;
        let asks = self.is_watched && !self.settings.yes;
        if !asks || found.ready() == 0 {
            return Ok(());
        }
        let width = Width::of_stderr();
        let asked = if self.settings.quiet {
            overview.question_alone(width)
        } else {
            overview.question(width)
        };
        let watch = self.watch.clone();
        let ask = move || watch.pause(|| ask::yes(&asked));
        if !question::answered(interrupts, ask).await? {
            let error = anyhow!("nothing was sent, since the question was not answered with yes");
            return Err(Failure::new(StoppedBy::Usage, error));
        }
        // It may have taken hours to answer.
        self.refuse_changed_files()
    }

    /// Takes all rows as far as they go without being sent.
    async fn read(&mut self, book: CampaignBook, log: &Log) -> Result<Found, Failure> {
        if self.is_watched {
            self.directory.list_if_possible().await?;
        }
        let memory = self.planned.map(|planned| planned.memory(self.settings));
        let dry_run = DryRun {
            intake: self.intake,
            book,
            memory: memory.transpose()?,
            form: self.settings.policy.form,
            page: None,
        };
        dry_run.run(self.show, log, |_| Ok(())).await
    }

    /// What stands below the lists, where that has not been said above.
    fn footers(&self) -> Vec<FooterLine> {
        let inputs = self.intake.inputs.iter();
        match self.intake.doubt {
            // All was read before the opening lines.
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
            service: self.settings.service.clone(),
            region: self.intake.region.as_ref().map(GivenRegion::to_string),
            footers: self.footers(),
            estimate: found.estimate(&self.settings.rate, known_rate.flatten()),
        })
    }

    /// What would have the same inputs go on with an earlier run instead.
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
        let Some(most) = self.settings.max_new.filter(|most| ready > *most) else {
            return Ok(());
        };
        let error = anyhow!(
            "{} would be sent, and `--max-new` allows {}, so none was\n\nhint: `leadload check` with the same files shows what is new; if they are all to be sent, say `--max-new {ready}`",
            counted(ready, "lead"),
            grouped(most)
        );
        Err(Failure::new(StoppedBy::Usage, error))
    }

    /// What was agreed to is what was read.
    fn refuse_changed_files(&self) -> Result<(), Failure> {
        let inputs = Arc::clone(&self.intake.inputs);
        let inputs = inputs.iter().map(|planned| &planned.input);
        let mut all = inputs.chain(self.intake.suppression.inputs());
        Ok(all.try_for_each(|input| input.check_unchanged())?)
    }
}
