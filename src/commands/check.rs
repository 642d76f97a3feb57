//! `leadload check`: everything that an import does up to sending.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::anyhow;
use tracing::warn;

use super::ask::Terminal;
use super::dry_run::DryRun;
use super::lookup::{self, LookedUp};
use super::request::Request;
use super::{inputs, places, questions, save_mapping, service};
use crate::campaign::{CampaignBook, CampaignChoice};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Batch, Intake, Memory, MemoryRules};
use crate::lead::CampaignId;
use crate::ledger::{Ledger, LedgerError, LedgerPlace, Recall, ServiceId};
use crate::options::Format;
use crate::rate::KnownRate;
use crate::report::{
    self, CampaignNames, Checked, DoubtError, InDoubt, ListNotes, Log, Lookup, Page, PageNotes,
    RunMode, Tally, check_json, check_text, console, log_check, log_end, stop_text,
};
use crate::results::{
    KnownOutputs, OutputChoice, OutputError, ReportFile, RunEnd, Writer, Written,
};
use crate::settings::{ImportSettings, Layers, MappingToSave};
use crate::stop::Stop;
use crate::text::counted;

/// Runs the command.
pub fn run(request: Request, log: &Log) -> Result<ExitCode, Failure> {
    service::block_on(async {
        let mut terminal = Terminal::open()?;
        let prepared = Prepared::new(request, &mut terminal).await?;
        service::or_interrupted(&mut terminal.interrupts, prepared.check(log)).await
    })
}

/// A check up to the first row.
struct Prepared {
    began: Instant,
    request: Request,
    settings: ImportSettings,
    intake: Intake,
    /// The mapping, if it should be saved.
    to_save: Option<MappingToSave>,
    remembered: Remembered,
    looked_up: LookedUp,
    writer: Writer,
    /// The report, if one is wanted.
    report: Option<ReportFile>,
}

impl Prepared {
    async fn new(mut request: Request, terminal: &mut Terminal) -> Result<Prepared, Failure> {
        let began = Instant::now();
        refuse_metrics(&request.layers)?;
        let surveying = async {
            places::check(&request).await?;
            inputs::survey(&mut request).await
        };
        let surveyed = service::or_interrupted(&mut terminal.interrupts, surveying).await?;
        let unnamed = OutputChoice::None;
        let mut settings = request.settings(&unnamed)?;
        let planned =
            questions::plan(&mut request, &mut settings, surveyed, &unnamed, terminal).await?;
        let preparing = async {
            let intake = planned.protected(&settings.reading).await?;
            let to_save = save_mapping::prepare(&request, &intake, &settings)?;
            let remembered = remember(&settings, &intake).await?;
            let looked_up = lookup::look_up(&request.layers, &settings, &intake).await?;
            let paths = inputs::output_paths(&settings, &intake)?;
            let writer = Writer::create(&paths, &intake.inputs, true, &KnownOutputs::default())
                .map_err(OutputError::before_sending)?;
            Ok(Prepared {
                began,
                report: inputs::report_file(&paths)?,
                request,
                settings,
                intake,
                to_save,
                remembered,
                looked_up,
                writer,
            })
        };
        service::or_interrupted(&mut terminal.interrupts, preparing).await
    }

    /// Reads the rows and reports them.
    async fn check(self, log: &Log) -> Result<ExitCode, Failure> {
        let Prepared {
            settings,
            intake,
            remembered,
            looked_up,
            mut writer,
            report,
            ..
        } = self;
        log_check(intake.inputs.len());
        let campaign = settings.reading.campaign.clone();
        let ids = looked_up.ids.unwrap_or(remembered.campaign_ids);
        let dry_run = DryRun {
            intake: &intake,
            book: CampaignBook::new(campaign, ids),
            memory: remembered.memory,
            form: settings.policy.form,
            page: report.is_some().then(|| PageNotes::new(&intake.inputs)),
        };
        let take = |batch: &Batch| writer.write(batch).or_stopped(StoppedBy::Disk);
        let found = dry_run.run(inputs::show(&settings), log, take).await?;
        let written = writer.finish(RunEnd::WHOLE).or_stopped(StoppedBy::Disk)?;
        let mut ended = ended(&settings, &intake, &found.tally, written, self.began);
        ended.campaign_names = looked_up.names;
        let lookup = lookup_of_rows(looked_up.lookup, &settings, &found.tally);
        warn_of_what_only_import_does(&settings, found.ready(), &lookup);
        let to_save = self.to_save;
        let saved = to_save.map(|to_save| save_mapping::write(to_save, &intake, &self.request));
        let saved = saved.transpose()?;
        let estimate = found.estimate(&settings.rate, remembered.known_rate);
        if let (Some(report), Some(notes)) = (report, &found.page) {
            let page = Page {
                ended: &ended,
                intake: &intake,
                notes,
                campaign: settings.reading.campaign.as_ref(),
                mode: RunMode::Checked {
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
        Ok(ended.exit_code)
    }
}

/// Metrics of a check would overwrite those of the last import. A profile's metrics file is for
/// imports only and does not get here.
fn refuse_metrics(layers: &Layers) -> Result<(), Failure> {
    match layers.given().output.metrics_file {
        None => Ok(()),
        Some(_) => {
            let error = anyhow!(
                "`--metrics-file` is for `leadload import`: `leadload check` writes no metrics\n\nhint: leave it out"
            );
            Err(Failure::new(StoppedBy::Usage, error))
        }
    }
}

/// The result of the name lookup, if any row or flag has a name.
fn lookup_of_rows(lookup: Lookup, settings: &ImportSettings, tally: &Tally) -> Lookup {
    let has_default = matches!(settings.reading.campaign, Some(CampaignChoice::Name(_)));
    match lookup {
        Lookup::NotDone(_) if !has_default && tally.by_campaign_name.is_empty() => {
            Lookup::NotNeeded
        }
        lookup => lookup,
    }
}

/// How it ended: a check always reads all rows, but what it finds may stop an import.
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
        send_rejects_with: None,
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

/// What the ledger knows, if it exists and the service is known.
#[derive(Default)]
pub(super) struct Remembered {
    pub(super) memory: Option<Memory>,
    /// Ids of campaigns by name, from earlier runs.
    campaign_ids: HashMap<String, CampaignId>,
    /// The rate of the last run.
    known_rate: Option<KnownRate>,
}

/// Reads the ledger without changing it.
pub(super) async fn remember(
    settings: &ImportSettings,
    intake: &Intake,
) -> Result<Remembered, Failure> {
    let name = settings.service.clone();
    let Some(place) = settings.ledger.as_ref().filter(|_| !name.is_empty()) else {
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
    // A run may be in progress, or have been killed.
    Ok(Some((ledger.recall_all(service)?, service, ledger)))
}

/// Warns that an import with duplicates allowed refuses inputs that were sent before.
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
            "run {run} has sent leads from these inputs: unless it continues that run, {import} refuses them without `--again`"
        );
    }
    Ok(())
}

/// Warns of flags that only matter to an import.
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
