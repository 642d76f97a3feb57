//! `leadload check`: everything up to sending, and nothing beyond.

use std::time::Instant;

use super::{inputs, service};
use crate::campaign::CampaignBook;
use crate::cli::{Format, ImportArgs};
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Intake, Purpose};
use crate::lead::{RowOutcome, Status};
use crate::report::{
    Bar, Checked, Ended, Estimate, Findings, Log, Tally, check_json, check_text, console, log_event,
};
use crate::results::{OutputError, Writer, Written};
use crate::settings::{CheckSettings, Pace};

/// Runs the command.
pub fn run(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    service::unless_interrupted(check(args, log))
}

async fn check(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let settings = CheckSettings::from_cli(args).or_stopped(StoppedBy::Usage)?;
    let intake = inputs::plan(&settings.reading).await?;
    let paths = inputs::output_paths(&settings.reading, &intake)?;
    let writer =
        Writer::create(&paths, &intake.inputs, true).map_err(OutputError::before_sending)?;
    let mut bar = Bar::new(
        inputs::shows_bar(settings.reading.progress, args.output.quiet),
        false,
        log,
    );
    inputs::count_rows(&intake, &bar);
    let mut tally = Tally::default();
    let mut findings = Findings::default();
    let mut events = |event: RunEvent<'_>| {
        tally.note(&event);
        bar.note(&event, &tally);
        log_event(&event);
    };
    let written = check_rows(&settings, &intake, writer, &mut findings, &mut events).await?;
    bar.finish();
    let ended = Ended {
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
    say(&settings, &intake, &ended, &findings)?;
    Ok(ended.exit_code)
}

/// Checks every row, tells of each, and writes those files that were asked for.
async fn check_rows(
    settings: &CheckSettings,
    intake: &Intake,
    mut writer: Writer,
    findings: &mut Findings,
    events: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Written, Failure> {
    let book = CampaignBook::new(settings.reading.campaign.clone(), Default::default());
    let mut batches = intake.start(book, Purpose::Checking);
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
        estimate: match &settings.pace {
            Pace::Limited(rates) => Estimate::within(rates, ready),
            Pace::Unlimited => None,
            Pace::Between(slowest, fastest) => Some(Estimate::between(*slowest, *fastest, ready)),
        },
    };
    let text = match settings.reading.format {
        Format::Text => check_text(&checked),
        Format::Json => check_json(&checked),
    };
    console::print(&text).or_stopped(StoppedBy::Disk)
}
