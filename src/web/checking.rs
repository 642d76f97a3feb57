//! Checks a list: what would become of every row with the settings as they are.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::job::{Job, JobRecord, JobState};
use super::reading::surveyed;
use super::site::Site;
use super::trouble::Trouble;
use super::work;
use crate::campaign::{Campaign, CampaignBook};
use crate::exit::Failure;
use crate::import::campaign_list::{self, LookedUp};
use crate::import::dry_run::{self, DryRun};
use crate::import::{Guards, Warnings, inputs, remember, service};
use crate::intake::{Batch, Intake};
use crate::lead::{ErrorCode, ListLabel, Status};
use crate::message::Voice;
use crate::report::{DoubtError, Estimate, Lookup, Overview, Preview, ToCorrect};
use crate::results::{Completion, KnownOutputs, OutputError, OutputPaths, Writer};
use crate::screen::are_many;
use crate::settings::ImportSettings;

/// What a check has found.
pub struct Checked {
    pub settings: ImportSettings,
    pub intake: Intake,
    book: CampaignBook,
    pub guards: Guards,
    pub found: DryRun,
    pub to_correct: ToCorrect,
    pub preview: Preview,
    pub estimate: Option<Estimate>,
    pub lookup: Lookup,
    pub warnings: Warnings,
    /// Too many numbers may be of another country, so nothing is sent.
    pub doubt: Option<Trouble>,
    /// How many numbers have no country code, if these are many and no country is chosen.
    pub without_country: Option<u64>,
}

impl std::fmt::Debug for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checked")
    }
}

impl Checked {
    pub fn ready(&self) -> u64 {
        self.found.ready()
    }

    /// What would be sent, with these campaigns of the service.
    pub fn overview<'a>(&'a self, campaigns: &'a [Campaign]) -> Overview<'a> {
        Overview {
            outcome: inputs::outcome(&self.settings, &self.intake, &self.found.tally, 0.0),
            intake: &self.intake,
            findings: &self.found.findings,
            going_on: None,
            campaigns: Some(campaigns),
            service: self.settings.service.clone(),
            estimate: self.estimate.clone(),
        }
    }

    /// Rows that cannot be sent as they are.
    pub fn problems(&self) -> u64 {
        self.found.tally.counts.of(Status::Invalid)
    }

    /// Writes the rows that cannot be sent as a workbook. Given back, it names the job.
    pub async fn write_rows_to_fix(
        self: &Arc<Checked>,
        site: &Arc<Site>,
        job: &Job,
        place: &Path,
    ) -> Result<(), Failure> {
        let (checked, log) = (Arc::clone(self), site.log.clone());
        let paths = OutputPaths {
            results: None,
            rejects: vec![Some(place.to_owned())],
            report: None,
        };
        let label: Option<ListLabel> = job.record().label.parse().ok();
        // Otherwise the earlier file would be kept under another name.
        let _ = std::fs::remove_file(place);
        service::apart(async move || {
            let Checked {
                settings,
                intake,
                book,
                ..
            } = &*checked;
            let writer = Writer::create(&paths, &intake.inputs, true, KnownOutputs::default());
            let writer = writer.map_err(OutputError::before_sending)?;
            let mut writer = writer.speaking(Voice::Page);
            if let Some(label) = label {
                writer = writer.labelled(&label);
            }
            writer.begin(None).map_err(OutputError::before_sending)?;
            let take = |batch: &Batch| writer.write(batch).map_err(OutputError::while_writing);
            dry_run::run(settings, intake, book.clone(), None, None, &log, take).await?;
            let written = writer.finish(Completion::WHOLE);
            written.map_err(OutputError::while_writing)?;
            Ok(())
        })
        .await
    }

    /// The kinds of problems, as words that can be compared with those of another check.
    pub fn kinds_of_problems(&self) -> BTreeSet<String> {
        let problems = self.found.tally.problems().into_iter();
        problems.map(|(_, code, _)| code.to_string()).collect()
    }
}

/// Begins to check the list, unless that has been done since the last change.
pub fn begin(site: &Arc<Site>, job: &Arc<Job>) {
    let (site, own) = (Arc::clone(site), Arc::clone(job));
    work::begin_for(
        job,
        |state| &mut state.check,
        async move |rows| {
            let record = own.record();
            // Settings that were changed meanwhile end the check.
            let is_dropped = |state: &JobState| !state.check.is_of(&rows);
            tokio::select! {
                checked = check(&site, &own, &record, &rows) => checked.map(Some),
                () = own.wait(is_dropped) => Ok(None),
            }
        },
    );
}

async fn check(
    site: &Site,
    job: &Job,
    record: &JobRecord,
    rows: &AtomicU64,
) -> Result<Checked, Failure> {
    let mut request = site.request(record)?;
    // If the settings have changed since, this check is dropped.
    let surveyed = surveyed(job, record, &mut request).await?;
    let settings = request.settings()?;
    let intake = inputs::plan(&settings.reading, surveyed).await?;
    let intake = inputs::protect(intake, &settings, &mut request.warnings).await?;
    let remembered = remember(&settings).await?;
    let service = site.service(&request.layers).ok();
    let looked_up = campaign_list::look_up(service, &settings, &intake).await?;
    let LookedUp { ids, lookup, .. } = looked_up;
    let ids = ids.unwrap_or(remembered.campaign_ids);
    let book = CampaignBook::new(settings.reading.campaign.clone(), ids);
    let guards = Guards::new(&settings, &intake, &book, &mut request.warnings).await?;
    let mut to_correct = ToCorrect::default();
    let mut preview = Preview::default();
    let inputs = Arc::clone(&intake.inputs);
    let form = settings.policy.form;
    let take = |batch: &Batch| {
        rows.fetch_add(batch.prepared.len() as u64, Ordering::Relaxed);
        if let Some(planned) = inputs.first() {
            to_correct.add_batch(planned, batch);
            preview.add_batch(planned, batch, form);
        }
        Ok(())
    };
    let memory = remembered.memory;
    let log = &site.log;
    let found = dry_run::run(&settings, &intake, book.clone(), memory, None, log, take).await?;
    Ok(Checked {
        estimate: found.estimate(&settings.rate, remembered.known_rate),
        without_country: asked_for_country(&settings, &found),
        doubt: DoubtError::of(&intake).map(|error| Trouble::of(&error.into())),
        settings,
        book,
        guards,
        found,
        to_correct,
        preview,
        lookup,
        warnings: request.warnings,
        intake,
    })
}

/// How many numbers have no country code, if these are many and no country is chosen.
fn asked_for_country(settings: &ImportSettings, found: &DryRun) -> Option<u64> {
    let region = settings.given.phones.region.as_deref();
    let has_region = region.is_some_and(Option::is_some);
    let without = without_country(found);
    let is_asked = !has_region && are_many(without, found.ready() + without);
    is_asked.then_some(without)
}

/// Rows whose number has no country.
fn without_country(found: &DryRun) -> u64 {
    let problems = found.tally.problems().into_iter();
    let without = problems.filter(|(_, code, _)| *code == ErrorCode::PhoneNotE164);
    without.map(|(_, _, group)| group.rows).sum()
}
