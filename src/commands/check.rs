//! `leadload check`: everything up to sending, and nothing beyond.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use tracing::warn;

use super::{inputs, service};
use crate::campaign::CampaignBook;
use crate::cli::{Format, ImportArgs};
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Intake, Memory, MemoryRules, Purpose};
use crate::lead::{CampaignId, RowOutcome, Status};
use crate::ledger::{Ledger, LedgerError, Recall, ServiceId};
use crate::rate::KnownRate;
use crate::report::{
    Bar, Checked, Ended, Estimate, Findings, Log, Logbook, Progress, RowTotal, Tally, check_json,
    check_text, console,
};
use crate::results::{KnownOutputs, OutputError, Writer, Written};
use crate::settings::{CheckSettings, Environment, LedgerChoice, Pace};

/// Runs the command.
pub fn run(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    service::unless_interrupted(check(args, log))
}

async fn check(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let environment = Environment::read();
    let ledger = LedgerChoice::for_rows(args, &environment).or_stopped(StoppedBy::Usage)?;
    let (args, surveyed) = inputs::survey(args, &environment, &ledger).await?;
    let settings = CheckSettings::from_cli(&args, &environment).or_stopped(StoppedBy::Usage)?;
    let intake = inputs::plan(&settings.reading, surveyed).await?;
    let remembered = remember(&settings, &intake, &ledger).await?;
    let known_rate = remembered.known_rate;
    let paths = inputs::output_paths(&settings.reading, &intake, &ledger)?;
    let writer = Writer::create(&paths, &intake.inputs, true, &KnownOutputs::default())
        .map_err(OutputError::before_sending)?;
    let mut bar = Bar::new(
        inputs::shows_bar(settings.reading.progress, args.output.quiet),
        false,
        log,
    );
    let mut logbook = Logbook::new(false);
    let total = RowTotal::default();
    if bar.is_shown() {
        inputs::count_rows(&intake, &total);
    }
    let progress = Progress::new(total);
    let mut tally = Tally::new(intake.inputs.len());
    let mut findings = Findings::default();
    let mut events = |event: RunEvent<'_>| {
        tally.note(&event);
        bar.note(&event, &tally, &progress);
        logbook.note(&event, &tally, &progress);
    };
    let written = check_rows(
        &settings,
        &intake,
        remembered,
        writer,
        &mut findings,
        &mut events,
    )
    .await?;
    bar.finish();
    let ended = Ended {
        run: None,
        continue_with: None,
        tally: &tally,
        inputs: intake.inputs.iter().map(|i| i.input.name()).collect(),
        stop: None,
        exit_code: match tally.has_problems() {
            true => ExitCode::Problems,
            false => ExitCode::Complete,
        },
        requests: 0,
        elapsed_s: began.elapsed().as_secs_f64(),
        written,
        sandbox: settings.reading.sandbox,
    };
    say(&settings, known_rate, &intake, &ended, &findings)?;
    Ok(ended.exit_code)
}

/// What the ledger knows, where it and the service are known.
#[derive(Default)]
struct Remembered {
    memory: Option<Memory>,
    /// Ids of campaigns by name, as runs have met them.
    campaign_ids: HashMap<String, CampaignId>,
    /// The pace that the service took last.
    known_rate: Option<KnownRate>,
}

async fn remember(
    settings: &CheckSettings,
    intake: &Intake,
    ledger: &LedgerChoice,
) -> Result<Remembered, Failure> {
    let (Some(path), Some(service)) = (ledger.path(), &settings.service) else {
        return Ok(Remembered::default());
    };
    let (path, name) = (path.to_owned(), service.clone());
    let opened = service::on_a_thread(move || open(&path, &name)).await;
    let opened = opened.unwrap_or(Err(LedgerError::BrokeOff));
    let Some((recall, service, ledger)) = opened.or_stopped(StoppedBy::Usage)? else {
        return Ok(Remembered::default());
    };
    if settings.reading.allow_duplicates && !settings.again {
        warn_of_senders(&ledger, service, intake).await?;
    }
    let rules = MemoryRules {
        service,
        run: None,
        goes_on: false,
        once: settings.reading.once,
        on_uncertain: settings.on_uncertain,
        known_bad: settings.reading.known_bad,
        allow_duplicates: settings.reading.allow_duplicates,
    };
    Ok(Remembered {
        memory: Some(Memory::new(recall, rules)),
        campaign_ids: ledger.campaign_ids(service).or_stopped(StoppedBy::Usage)?,
        known_rate: ledger.known_rate(service).or_stopped(StoppedBy::Usage)?,
    })
}

/// The ledger, and its memory of a service, where it has any.
fn open(path: &Path, service: &str) -> Result<Option<(Recall, ServiceId, Ledger)>, LedgerError> {
    let (Some(mut recall), Some(ledger)) = (Recall::open(path)?, Ledger::read(path)?) else {
        return Ok(None);
    };
    let Some(service) = recall.service(service)? else {
        return Ok(None);
    };
    // A run may be on its way, or have been killed.
    recall.know_unfiled(service)?;
    Ok(Some((recall, service, ledger)))
}

/// Where duplicates are allowed, an import refuses what was sent before.
async fn warn_of_senders(
    ledger: &Ledger,
    service: ServiceId,
    intake: &Intake,
) -> Result<(), Failure> {
    let fingerprints = inputs::fingerprints(intake).await?;
    let contents = fingerprints.iter().map(|fingerprint| fingerprint.sha256);
    let known_by: Vec<_> = inputs::places(intake).zip(contents).collect();
    let senders = ledger.senders_of(service, &known_by);
    if let Some(run) = senders.or_stopped(StoppedBy::Usage)?.last() {
        warn!(
            "run {run} has sent leads from these inputs: unless it goes on, `leadload import --allow-duplicates` refuses them without `--again`"
        );
    }
    Ok(())
}

/// Checks every row, tells of each, and writes those files that were asked for.
async fn check_rows(
    settings: &CheckSettings,
    intake: &Intake,
    remembered: Remembered,
    mut writer: Writer,
    findings: &mut Findings,
    events: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Written, Failure> {
    let campaign = settings.reading.campaign.clone();
    let book = CampaignBook::new(campaign, remembered.campaign_ids);
    let mut batches = intake.start(book, Purpose::Checking, remembered.memory);
    while let Some(batch) = batches.next().await {
        let mut batch = batch.or_stopped(StoppedBy::Usage)?;
        for (row, prepared) in batch.rows.rows().zip(&mut batch.prepared) {
            let mapping = &intake.inputs[row.file()].mapping;
            let ready = || RowOutcome::not_sent(Status::Ready, None, None);
            findings.note(mapping, row, prepared, settings.lead_form);
            let outcome = &*prepared.outcome.get_or_insert_with(ready);
            events(RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome,
            });
        }
        writer.write(&batch).or_stopped(StoppedBy::Disk)?;
    }
    writer.finish().or_stopped(StoppedBy::Disk)
}

fn say(
    settings: &CheckSettings,
    known_rate: Option<KnownRate>,
    intake: &Intake,
    ended: &Ended<'_>,
    findings: &Findings,
) -> Result<(), Failure> {
    inputs::warn_of_nothing(ended.tally);
    inputs::warn_of_files(ended, settings.reading.format);
    let ready = ended.tally.counts.of(Status::Ready);
    let checked = Checked {
        ended,
        intake,
        findings,
        estimate: match (&settings.pace, known_rate) {
            (Pace::Limited(rates), _) => Estimate::within(rates, ready),
            (Pace::Unlimited, _) => None,
            (Pace::Between(..), Some(known)) => Some(Estimate::as_last_time(known, ready)),
            (Pace::Between(slowest, fastest), None) => {
                Some(Estimate::between(*slowest, *fastest, ready))
            }
        },
    };
    let text = match settings.reading.format {
        Format::Text => check_text(&checked),
        Format::Json => check_json(&checked),
    };
    console::print(&text).or_stopped(StoppedBy::Disk)
}
