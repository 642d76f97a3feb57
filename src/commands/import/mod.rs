//! `leadload import`: a CSV goes in, leads exist, every row is accounted for.

mod delivery;
mod identity;
mod record;

use std::time::Instant;

use anyhow::anyhow;
use tracing::{Level, enabled, warn};

use super::{check, inputs, service};
use crate::api::{Client, Limits};
use crate::campaign::CampaignBook;
use crate::cli::{Format, ImportArgs};
use crate::command_line::CommandLine;
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, OrStopped, Stop, StoppedBy};
use crate::intake::Intake;
use crate::intake::OnUncertain;
use crate::ledger::Ledger;
use crate::report::{
    Bar, Ended, Log, Logbook, Progress, RowTotal, Tally, console, json_summary, opening_lines,
    run_lines, text_summary,
};
use crate::results::{KnownOutputs, OutputError, OutputPaths, Writer, Written, has_results_header};
use crate::settings::{Environment, ImportSettings, ReadingSettings, Service};
use crate::signals::{self, Interrupts};
use delivery::{Delivered, Delivery};
use record::{Record, Run};

/// Runs the command, which was typed as `line`.
pub fn run(args: &ImportArgs, line: CommandLine, log: &Log) -> Result<ExitCode, Failure> {
    match args.delivery.dry_run {
        true => check::run(args, log),
        false => service::block_on(import(args, line, log)),
    }
}

async fn import(args: &ImportArgs, line: CommandLine, log: &Log) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    // From the beginning on, so that no signal falls between two listeners.
    let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
    let environment = Environment::read();
    let mut settings = ImportSettings::from_cli(args, &environment).or_stopped(StoppedBy::Usage)?;
    // A time that no clock can show never comes.
    let time_up = settings
        .max_duration
        .and_then(|most| began.checked_add(most));
    interrupts.set_deadline(time_up.map(Into::into));
    let surveying = inputs::survey(args, &environment, &settings.ledger);
    let (args, surveyed) = service::unless(&mut interrupts, surveying).await?;
    settings.take_up(&args).or_stopped(StoppedBy::Usage)?;
    // It may have to be waited for, and do-not-call lists are to be as they are then.
    let record = Record::open(&settings, &mut interrupts).await?;
    let planning = inputs::plan(&settings.reading, surveyed);
    let intake = service::unless(&mut interrupts, planning).await?;
    refuse_results_files(&intake)?;
    let paths = inputs::output_paths(&settings.reading, &intake, &settings.ledger)?;
    let writer = writer(&settings, &intake, &paths, record.as_ref())?;
    let reached = service::reach(&settings.service, limits(&settings)).await?;
    let finding = campaign_book(&reached.client, &settings.reading, &intake);
    let book = service::unless(&mut interrupts, finding).await?;
    let begun = match record {
        Some(record) => {
            let beginning = record.begin(&args, &settings, &intake, &book, &paths);
            Some(service::unless(&mut interrupts, beginning).await?)
        }
        None => None,
    };
    let sending = Sending {
        settings: &settings,
        intake: &intake,
        began,
        line,
    };
    sending
        .run(reached.client, book, writer, begun, interrupts, log)
        .await
}

/// Under `hold` a lost answer is an uncertain row, and old connections lose answers.
fn limits(settings: &ImportSettings) -> Limits {
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
fn refuse_results_files(intake: &Intake) -> Result<(), Failure> {
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

/// The campaigns of the rows, by the ids that the service has for them.
async fn campaign_book(
    client: &Client,
    reading: &ReadingSettings,
    intake: &Intake,
) -> Result<CampaignBook, Failure> {
    let ids = service::campaign_ids(client, reading.campaign.as_ref(), intake).await?;
    Ok(CampaignBook::new(reading.campaign.clone(), ids))
}

/// An import that is about to send.
struct Sending<'a> {
    settings: &'a ImportSettings,
    intake: &'a Intake,
    began: Instant,
    /// The command as it was typed.
    line: CommandLine,
}

impl Sending<'_> {
    async fn run(
        self,
        client: Client,
        book: CampaignBook,
        writer: Writer,
        begun: Option<(Run, Ledger)>,
        interrupts: Interrupts,
        log: &Log,
    ) -> Result<ExitCode, Failure> {
        self.open(begun.as_ref().map(|(run, _)| run));
        let mut tally = Tally::new(self.intake.inputs.len());
        let reading = &self.settings.reading;
        let is_shown = inputs::shows_bar(reading.progress, self.settings.quiet);
        let mut bar = Bar::new(is_shown, true, log);
        let mut logbook = Logbook::new(!bar.is_shown());
        let total = RowTotal::default();
        if bar.is_shown() || enabled!(Level::INFO) {
            inputs::count_rows(self.intake, &total);
        }
        let mut progress = Progress::new(total);
        let mut events = |event: RunEvent<'_>| {
            tally.note(&event);
            progress.note(&event);
            bar.note(&event, &tally, &progress);
            logbook.note(&event, &tally, &progress);
        };
        let (run, ledger) = begun.unzip();
        let delivery = Delivery {
            settings: self.settings,
            client,
            intake: self.intake,
            book,
            writer,
            run: run.as_ref().zip(ledger),
        };
        let delivered = delivery.send(&mut events, interrupts).await;
        bar.finish();
        self.close(delivered?, &tally, run.as_ref())
    }

    /// What is said before anything is sent.
    fn open(&self, run: Option<&Run>) {
        if run.is_none() && matches!(self.settings.service, Service::At(_)) {
            warn!(
                "without a ledger nothing is remembered: if this run breaks off, or is repeated, only the service can refuse the leads that it has"
            );
        }
        if self.settings.quiet {
            return;
        }
        console::note(&opening_lines(self.intake));
        if let Some(run) = run {
            console::note(&run_lines(&run.begun, &run.options, &run.differences()));
        }
    }

    /// Writes down how it ended, and says it.
    fn close(
        &self,
        delivered: Delivered,
        tally: &Tally,
        run: Option<&Run>,
    ) -> Result<ExitCode, Failure> {
        let Delivered {
            mut stop,
            requests,
            written,
            ledger,
        } = delivered;
        let written = written.unwrap_or_else(|error| {
            // Of all that can go wrong, this machine comes first.
            stop = Some(unwritten(&error));
            Written::default()
        });
        if let (Some(run), Some(mut ledger)) = (run, ledger)
            && let Err(error) = run.end(&mut ledger, tally, requests, stop.as_ref())
            && stop.is_none()
        {
            stop = Some(Stop {
                by: StoppedBy::Ledger,
                text: error.to_string(),
            });
        }
        if let Some(Stop { by, text }) = stop.take_if(|stop| stop.by == StoppedBy::Usage) {
            return Err(Failure::new(by, anyhow!(text)));
        }
        let ended = Ended {
            run: run.map(|run| run.begun.run),
            tally,
            inputs: self.intake.inputs.iter().map(|i| i.input.name()).collect(),
            exit_code: exit_code(stop.as_ref(), tally),
            continue_with: (stop.is_some() && run.is_some()).then(|| self.line.clone()),
            stop,
            requests,
            elapsed_s: self.began.elapsed().as_secs_f64(),
            written,
            sandbox: self.settings.reading.sandbox,
        };
        let summarised = summarise(&ended, self.settings.reading.format);
        // Where the console was closed, that is why the run ended.
        if ended.stop.is_none() {
            summarised?;
        }
        Ok(ended.exit_code)
    }
}

fn exit_code(stop: Option<&Stop>, tally: &Tally) -> ExitCode {
    match stop {
        Some(stop) => stop.by.exit_code(),
        None if tally.has_problems() => ExitCode::Problems,
        None => ExitCode::Complete,
    }
}

fn unwritten(error: &OutputError) -> Stop {
    let text = match error {
        OutputError::Gone { .. } => error.to_string(),
        _ => {
            format!("{error}\n\nWhat was written before is in the files that end in `.part`.")
        }
    };
    Stop {
        by: StoppedBy::Disk,
        text,
    }
}

fn summarise(ended: &Ended<'_>, format: Format) -> Result<(), Failure> {
    if ended.stop.is_none() {
        inputs::warn_of_nothing(ended.tally);
    }
    inputs::warn_of_files(ended, format);
    if ended.sandbox && format == Format::Json {
        // In text form the summary says so.
        warn!("this was a trial on the sandbox: nothing left this computer");
    }
    if let Some(stop) = &ended.stop {
        console::error(&stop.text);
    }
    let summary = match format {
        Format::Text => text_summary(ended),
        Format::Json => json_summary(ended),
    };
    console::print(&summary).or_stopped(StoppedBy::Disk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn limits_with(flags: &[&str]) -> Limits {
        let line = ["leadload", "import", "leads.csv", "--sandbox"];
        let cli = Cli::try_parse_from(line.iter().chain(flags)).unwrap();
        let Command::Import(args) = cli.command else {
            panic!("{cli:?}");
        };
        limits(&ImportSettings::from_cli(&args, &Environment::default()).unwrap())
    }

    #[test]
    fn under_hold_no_old_connection_is_used() {
        let usual = limits_with(&[]);
        let careful = usual.without_old_connections();
        assert_ne!(usual, careful);
        assert_eq!(limits_with(&["--on-uncertain", "hold"]), careful);
        assert_eq!(limits_with(&["--allow-duplicates"]), careful);
        let both = ["--allow-duplicates", "--on-uncertain", "resend"];
        assert_eq!(limits_with(&both), usual);
    }
}
