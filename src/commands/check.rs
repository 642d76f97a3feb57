//! `leadload check`: everything that an import does up to sending.

use std::collections::HashMap;

use tracing::warn;

use super::ask::{Stopwatch, Terminal};
use super::dry_run::DryRun;
use super::inputs::Request;
use super::{directory, inputs, questions, save_mapping, service};
use crate::campaign::{CampaignBook, CampaignChoice};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Batch, Intake, Memory, MemoryRules};
use crate::lead::{CampaignId, RunId};
use crate::ledger::{Ledger, LedgerError, LedgerPlace, Recall, ServiceId};
use crate::options::Format;
use crate::rate::KnownRate;
use crate::report::{
    Checked, DoubtError, Log, Lookup, Page, PageNotes, RunMode, Tally, check_json, check_text,
    log_check,
};
use crate::results::{KnownOutputs, OutputChoice, OutputError, RunEnd, Writer};
use crate::settings::ImportSettings;
use crate::stop::Stop;
use crate::text::counted;

pub fn run(mut request: Request, log: &Log) -> Result<ExitCode, Failure> {
    service::block_on(async {
        let mut terminal = Terminal::open()?;
        let surveying = inputs::survey(&mut request);
        let surveyed = terminal.or_interrupted(surveying).await?;
        let unnamed = OutputChoice::None;
        let mut settings = request.settings(&unnamed)?;
        let planning = questions::plan(
            &mut request,
            &mut settings,
            surveyed,
            &unnamed,
            &mut terminal,
        );
        let intake = planning.await?;
        let checking = check(&request, &settings, &intake, terminal.watch, log);
        terminal.or_interrupted(checking).await
    })
}

async fn check(
    request: &Request,
    settings: &ImportSettings,
    intake: &Intake,
    watch: Stopwatch,
    log: &Log,
) -> Result<ExitCode, Failure> {
    let to_save = save_mapping::prepare(request, intake, settings)?;
    let remembered = remember(settings).await?;
    let looked_up = directory::look_up(&request.layers, settings, intake).await?;
    let paths = inputs::output_paths(settings, intake)?;
    let mut writer = Writer::create(&paths, &intake.inputs, true, KnownOutputs::default())
        .map_err(OutputError::before_sending)?;
    writer.begin(None).map_err(OutputError::before_sending)?;
    let report = inputs::report_file(&paths)?;
    log_check(intake.inputs.len());
    let ids = looked_up.ids.unwrap_or(remembered.campaign_ids);
    let dry_run = DryRun {
        intake,
        book: CampaignBook::new(settings.reading.campaign.clone(), ids),
        memory: remembered.memory,
        form: settings.policy.form,
        page: report.is_some().then(|| PageNotes::new(&intake.inputs)),
    };
    let take = |batch: &Batch| writer.write(batch).or_stopped(StoppedBy::Disk);
    let found = dry_run.run(inputs::show(settings), log, take).await?;
    let mut ended = inputs::ended(settings, intake, &found.tally, watch.seconds());
    ended.written = writer.finish(RunEnd::WHOLE).or_stopped(StoppedBy::Disk)?;
    ended.rows_total = Some(found.tally.counts.total());
    // A check always reads all rows, but what it finds may stop an import.
    ended.stop = DoubtError::of(intake).map(|error| Stop::error(StoppedBy::Usage, error));
    ended.exit_code = found.tally.exit_code(ended.stop.as_ref());
    ended.campaign_names = looked_up.names;
    let lookup = lookup_of_rows(looked_up.lookup, settings, &found.tally);
    warn_of_what_import_would_refuse(settings, found.ready(), &lookup);
    let saved = to_save.map(|to_save| save_mapping::write(to_save, intake, request));
    let saved = saved.transpose()?;
    let estimate = found.estimate(&settings.rate, remembered.known_rate);
    let estimate = estimate.as_ref();
    if let (Some(report), Some(notes)) = (report, &found.page) {
        let page = Page {
            ended: &ended,
            intake,
            notes,
            campaign: settings.reading.campaign.as_ref(),
            mode: RunMode::Checked { estimate },
        };
        let page = page.html();
        inputs::write_report(report, &page, &mut ended.written).or_stopped(StoppedBy::Disk)?;
    }
    let checked = Checked {
        ended: &ended,
        intake,
        findings: &found.findings,
        lookup: &lookup,
        estimate,
        saved: saved.as_ref(),
    };
    print(&checked, settings.options.output.format())?;
    Ok(ended.exit_code)
}

fn print(checked: &Checked<'_>, format: Format) -> Result<(), Failure> {
    let text = match format {
        Format::Text => check_text(checked),
        Format::Json => check_json(checked),
    };
    inputs::report(checked.ended, format, &text)
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

/// What the ledger knows, if it exists and the service is known.
#[derive(Default)]
pub(super) struct Remembered {
    pub(super) memory: Option<Memory>,
    campaign_ids: HashMap<String, CampaignId>,
    known_rate: Option<KnownRate>,
}

/// Reads the ledger without changing it.
pub(super) async fn remember(settings: &ImportSettings) -> Result<Remembered, Failure> {
    let name = settings.service.clone();
    let Some(place) = settings.ledger.as_ref().filter(|_| !name.is_empty()) else {
        return Ok(Remembered::default());
    };
    let place = place.clone();
    let opened = service::on_a_thread(move || open(&place, &name)).await?;
    let Some((recall, service, ledger)) = opened else {
        return Ok(Remembered::default());
    };
    let rules = memory_rules(settings, service, None, false);
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

/// How rows are looked up in earlier runs. A run that goes on knows its own rows from those of
/// others.
pub(super) fn memory_rules(
    settings: &ImportSettings,
    service: ServiceId,
    run: Option<RunId>,
    goes_on: bool,
) -> MemoryRules {
    MemoryRules {
        service,
        run,
        goes_on,
        once: settings.reading.once,
        on_uncertain: settings.policy.on_uncertain,
        known_bad: settings.reading.known_bad,
        allow_duplicates: settings.policy.form.allow_duplicates,
    }
}

fn warn_of_what_import_would_refuse(settings: &ImportSettings, ready: u64, lookup: &Lookup) {
    if let Some(unclear) = lookup.unclear() {
        let names = counted(unclear.names().count() as u64, "campaign name");
        warn!(
            event = "warning",
            "`leadload import` would send nothing (unknown or ambiguous: {names})"
        );
    }
    if let Some(most) = &settings.options.delivery.max_new
        && ready > **most
    {
        let most = **most;
        warn!(
            event = "warning",
            "{} would be sent, more than `--max-new {most}` allows: `leadload import` would send none",
            counted(ready, "lead")
        );
    }
}
