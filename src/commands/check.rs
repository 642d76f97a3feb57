//! `leadload check`: everything up to sending, and nothing beyond.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::anyhow;
use tracing::warn;

use super::asking::{Asking, Attempt};
use super::dry_run::DryRun;
use super::lookup::{self, LookedUp};
use super::stopwatch::Stopwatch;
use super::{inputs, places, save_mapping, service};
use crate::campaign::{CampaignBook, CampaignChoice};
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Batch, Intake, Memory, MemoryRules};
use crate::lead::CampaignId;
use crate::ledger::{Ledger, LedgerError, LedgerPlace, Recall, ServiceId};
use crate::options::Format;
use crate::rate::KnownRate;
use crate::report::{
    self, CampaignNames, Checked, DoubtError, InDoubt, ListNotes, Log, Lookup, Page, PageNotes,
    RunMode, Show, Tally, check_json, check_text, console, log_check, log_end, stop_text,
};
use crate::results::{
    KnownOutputs, OutputChoice, OutputError, ReportFile, RunEnd, Writer, Written,
};
use crate::settings::{ImportSettings, Layers, MappingToSave};
use crate::signals;
use crate::stop::Stop;
use crate::text::counted;

/// Runs the command.
pub fn run(
    files: &[PathBuf],
    layers: Layers,
    command: &CommandLine,
    log: &Log,
) -> Result<Attempt<ExitCode>, Failure> {
    service::block_on_or_interrupted(check(files, layers, command, log))
}

async fn check(
    files: &[PathBuf],
    layers: Layers,
    command: &CommandLine,
    log: &Log,
) -> Result<Attempt<ExitCode>, Failure> {
    let began = Instant::now();
    let prepared = match Prepared::new(files, layers).await? {
        Attempt::Done(prepared) => prepared,
        Attempt::Again(answer) => return Ok(Attempt::Again(answer)),
    };
    let Prepared {
        show,
        settings,
        intake,
        to_save,
        remembered,
        mut looked_up,
        mut writer,
        report,
    } = prepared;
    let known_rate = remembered.known_rate;
    log_check(intake.inputs.len());
    let campaign = settings.reading.campaign.clone();
    let ids = looked_up.ids.take().unwrap_or(remembered.campaign_ids);
    let dry_run = DryRun {
        intake: &intake,
        book: CampaignBook::new(campaign, ids),
        memory: remembered.memory,
        form: settings.policy.form,
        page: report.is_some().then(|| PageNotes::new(&intake.inputs)),
    };
    let take = |batch: &Batch| writer.write(batch).or_stopped(StoppedBy::Disk);
    let found = dry_run.run(show, log, take).await?;
    let written = writer.finish(RunEnd::WHOLE).or_stopped(StoppedBy::Disk)?;
    let mut ended = ended(&settings, &intake, &found.tally, written, began);
    ended.campaign_names = looked_up.names;
    let lookup = lookup_of_rows(looked_up.lookup, &settings, &found.tally);
    warn_of_what_only_import_does(&settings, found.ready(), &lookup);
    let saved = to_save.map(|to_save| save_mapping::write(to_save, &intake, files, command));
    let saved = saved.transpose()?;
    let estimate = found.estimate(&settings.rate, known_rate);
    if let (Some(report), Some(notes)) = (report, &found.page) {
        let page = Page {
            ended: &ended,
            intake: &intake,
            notes,
            campaign: settings.reading.campaign.as_ref(),
            deed: RunMode::Checked {
                estimate: estimate.as_ref(),
            },
        };
        let page = page.html();
        inputs::write_report(report, &page, &mut ended.written).or_stopped(StoppedBy::Disk)?;
    }
    let checked = Checked {
        ended: &ended,
        intake: &intake,
        findings: &found.findings,
        lookup: &lookup,
        estimate,
        saved: saved.as_ref(),
    };
    say(&checked, settings.reading.format)?;
    Ok(Attempt::Done(ended.exit_code))
}

/// A check up to the first row.
struct Prepared {
    /// How the work is shown.
    show: Show,
    settings: ImportSettings,
    intake: Intake,
    /// The mapping, where it is to be kept.
    to_save: Option<MappingToSave>,
    remembered: Remembered,
    looked_up: LookedUp,
    writer: Writer,
    /// The page for people, where one is wanted.
    report: Option<ReportFile>,
}

impl Prepared {
    async fn new(files: &[PathBuf], layers: Layers) -> Result<Attempt<Prepared>, Failure> {
        refuse_metrics(&layers)?;
        places::look_at(files, &layers).await?;
        let (layers, surveyed) = inputs::survey(files, layers).await?;
        let settings =
            ImportSettings::new(&layers, &OutputChoice::None).or_stopped(StoppedBy::Usage)?;
        let planned = inputs::plan(&settings.reading, surveyed).await;
        let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
        if let Some(asking) = Asking::new(&layers, files, &Stopwatch::start(), &mut interrupts)
            && let Some(answer) = asking.lists(&planned).await?
        {
            return Ok(Attempt::again(answer));
        }
        let intake = planned?.protected(&settings.reading).await?;
        let to_save = save_mapping::prepare(&layers, &intake, &settings)?;
        let remembered = remember(&settings, &intake).await?;
        let looked_up = lookup::look_up(&layers, &settings, &intake).await?;
        let paths = inputs::output_paths(&settings, &intake)?;
        let writer = Writer::create(&paths, &intake.inputs, true, &KnownOutputs::default())
            .map_err(OutputError::before_sending)?;
        let report = inputs::report_file(&paths)?;
        Ok(Attempt::Done(Prepared {
            show: inputs::show(&settings),
            settings,
            intake,
            to_save,
            remembered,
            looked_up,
            writer,
            report,
        }))
    }
}

/// Metrics of a check would take the place of those of the last import. A profile's file is
/// for its imports and does not get here.
fn refuse_metrics(layers: &Layers) -> Result<(), Failure> {
    match layers.said().output.metrics_file {
        None => Ok(()),
        Some(_) => {
            let error = anyhow!(
                "`--metrics-file` is for `leadload import`: `leadload check` writes no metrics\n\nhint: leave it out"
            );
            Err(Failure::new(StoppedBy::Usage, error))
        }
    }
}

/// What is said of names, where any row or flag has one.
fn lookup_of_rows(lookup: Lookup, settings: &ImportSettings, tally: &Tally) -> Lookup {
    let has_default = matches!(settings.reading.campaign, Some(CampaignChoice::Name(_)));
    match lookup {
        Lookup::NotDone(_) if !has_default && tally.by_campaign_name.is_empty() => {
            Lookup::NotNeeded
        }
        lookup => lookup,
    }
}

/// How it ended: a check is never stopped half-way, but what it finds may keep an import from
/// sending anything.
fn ended<'a>(
    settings: &ImportSettings,
    intake: &'a Intake,
    tally: &'a Tally,
    written: Written,
    began: Instant,
) -> report::Ended<'a> {
    let stop = DoubtError::of(intake).map(|error| Stop::error(StoppedBy::Usage, error));
    report::Ended {
        run: None,
        continue_with: None,
        mend_with: None,
        campaign_names: CampaignNames::default(),
        list_notes: ListNotes::of(intake),
        tally,
        inputs: intake.names(),
        exit_code: tally.exit_code(stop.as_ref()),
        stop,
        requests: 0,
        rows_total: Some(tally.counts.total()),
        elapsed_s: began.elapsed().as_secs_f64(),
        written,
        sandbox: settings.reading.outputs.sandbox,
        in_doubt: InDoubt::of(settings.policy.on_uncertain, settings.policy.form),
    }
}

/// What the ledger knows, where it and the service are known.
#[derive(Default)]
pub(super) struct Remembered {
    pub(super) memory: Option<Memory>,
    /// Ids of campaigns by name, as runs have met them.
    campaign_ids: HashMap<String, CampaignId>,
    /// The pace that the service took last.
    known_rate: Option<KnownRate>,
}

/// Asks the ledger, which stays as it is.
pub(super) async fn remember(
    settings: &ImportSettings,
    intake: &Intake,
) -> Result<Remembered, Failure> {
    let name = settings.service.clone();
    let Some(place) = settings.ledger.place().filter(|_| !name.is_empty()) else {
        return Ok(Remembered::default());
    };
    let place = place.clone();
    let opened = service::on_a_thread(move || open(&place, &name)).await;
    let opened = opened.unwrap_or_else(|| Err(LedgerError::broke_off()));
    let Some((recall, service, ledger)) = opened? else {
        return Ok(Remembered::default());
    };
    if settings.reading.allow_duplicates && !settings.again {
        let allowed_by = settings.reading.allowed_by.as_deref();
        warn_of_senders(&ledger, service, intake, allowed_by).await?;
    }
    let rules = MemoryRules {
        service,
        run: None,
        goes_on: false,
        once: settings.reading.once,
        on_uncertain: settings.policy.on_uncertain,
        known_bad: settings.reading.known_bad,
        allow_duplicates: settings.reading.allow_duplicates,
    };
    Ok(Remembered {
        memory: Some(Memory::new(recall, rules)),
        campaign_ids: ledger.campaign_ids(service)?,
        known_rate: ledger.known_rate(service)?,
    })
}

/// The ledger, and its memory of a service, where it has any.
fn open(
    place: &LedgerPlace,
    service: &str,
) -> Result<Option<(Recall, ServiceId, Ledger)>, LedgerError> {
    let Some(ledger) = Ledger::read(place)? else {
        return Ok(None);
    };
    let Some(service) = ledger.known_service(service)? else {
        return Ok(None);
    };
    // A run may be under way, or have been killed.
    Ok(Some((ledger.recall_all(service)?, service, ledger)))
}

/// Where duplicates are allowed, an import refuses what was sent before.
async fn warn_of_senders(
    ledger: &Ledger,
    service: ServiceId,
    intake: &Intake,
    allowed_by: Option<&str>,
) -> Result<(), Failure> {
    let fingerprints = inputs::fingerprints(intake).await?;
    let contents = fingerprints.iter().map(|fingerprint| fingerprint.sha256);
    let known_by: Vec<_> = inputs::places(intake).zip(contents).collect();
    let senders = ledger.senders_of(service, &known_by);
    if let Some(run) = senders?.last() {
        let import = match allowed_by {
            None => "`leadload import --allow-duplicates`".to_owned(),
            Some(profile) => {
                format!("`leadload import` with `allow_duplicates`, which {profile} sets,")
            }
        };
        warn!(
            event = "warning",
            "run {run} has sent leads from these inputs: unless it goes on, {import} refuses them without `--again`"
        );
    }
    Ok(())
}

/// An import would send nothing, or something else.
fn warn_of_what_only_import_does(settings: &ImportSettings, ready: u64, lookup: &Lookup) {
    if let Some(unclear) = lookup.unclear() {
        let names = counted(unclear.names().count() as u64, "campaign name");
        warn!(
            event = "warning",
            "`leadload import` would send nothing (unknown or ambiguous: {names})"
        );
    }
    if let Some(most) = settings.max_new.filter(|most| ready > *most) {
        warn!(
            event = "warning",
            "{} would be sent, more than `--max-new {most}` allows: `leadload import` would send none",
            counted(ready, "lead")
        );
    }
    if settings.test_to.is_some() {
        warn!(
            event = "warning",
            "`--test-to` is for `leadload import`: here nothing is sent"
        );
    }
}

fn say(checked: &Checked<'_>, format: Format) -> Result<(), Failure> {
    inputs::warn_of_nothing(checked.ended.tally);
    inputs::warn_of_files(checked.ended, format);
    log_end(checked.ended);
    if let Some(stop) = &checked.ended.stop {
        console::error(&stop_text(stop));
    }
    let text = match format {
        Format::Text => check_text(checked),
        Format::Json => check_json(checked),
    };
    console::print(&text).or_stopped(StoppedBy::Disk)
}
