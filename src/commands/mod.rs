//! An outline for each command.
//!
//! Rule: reads like a table of contents; what is done stands in the other rooms.

mod asking;
mod campaigns;
mod check;
mod completions;
mod config;
mod directory;
mod dry_run;
mod import;
mod inputs;
mod lookup;
mod man;
mod places;
mod question;
mod rejects;
mod runs;
mod sandbox;
mod save_mapping;
mod service;
mod stopwatch;

use std::ffi::OsString;

use anyhow::anyhow;
use clap::error::ErrorKind;
use tracing::Level;

use self::asking::Attempt;
use crate::cli::{self, Command};
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::options::{Format, LogFormat, LogOptions};
use crate::report::{Log, console, json_failure, log_failure};
use crate::settings::{Layers, Parsed, Refusal, Refused, environment};

/// Runs the command that `args` (the program's name first) ask for.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let mut log = None;
    loop {
        let Parsed { command, layers } = match Parsed::new(&args, environment()) {
            Ok(parsed) => parsed,
            Err(refused) => return refuse(*refused, &args),
        };
        let line = CommandLine::of(&args).with_typed(layers.typed());
        let wants_json = wants_json(&layers);
        let log = log.get_or_insert_with(|| start_log(&layers.options().log));
        match perform(&command, layers, line.clone(), log) {
            Ok(Attempt::Done(code)) => return code,
            // The command runs again as if the answer had been typed.
            Ok(Attempt::Again(answer)) => {
                args = line.answered(command.inputs(), *answer);
            }
            Err(failure) => return report(&failure, wants_json),
        }
    }
}

fn perform(
    command: &Command,
    layers: Layers,
    line: CommandLine,
    log: &Log,
) -> Result<Attempt<ExitCode>, Failure> {
    let ended = match command {
        Command::Import(_) => return import::run(command.inputs(), layers, line, log),
        Command::Check(_) => return check::run(command.inputs(), layers, &line, log),
        Command::Campaigns(args) => campaigns::run(args.format, &layers),
        Command::Runs(args) => runs::run(args, &layers),
        Command::Config(args) => config::run(args, &layers),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Sandbox(args) => sandbox::run(args),
    };
    ended.map(Attempt::Done)
}

/// Help goes to standard output, mistakes to standard error, and to those who read
/// JSON as JSON too.
fn refuse(refused: Refused, args: &[OsString]) -> ExitCode {
    let wants_json = wants_json(&refused.layers);
    let log = refused.layers.said().log;
    if log.form() == LogFormat::Json {
        Log::start(Level::INFO, LogFormat::Json);
    } else if let Refusal::Settings(_) = refused.reason {
        start_log(&log);
    }
    let error = match refused.reason {
        Refusal::CommandLine(error) => error,
        Refusal::Settings(error) => {
            let failure = Failure::new(StoppedBy::Usage, error);
            if let Some(inputs) = &refused.inputs {
                import::refused(inputs, &refused.layers, &failure);
            }
            return report(&failure, wants_json);
        }
    };
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::Complete;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nothing is wrong with it: it only says nothing yet.
        console::note(&error.render().to_string());
        return ExitCode::Usage;
    }
    let text = cli::mistake(&error, args).unwrap_or_else(|| {
        let text = error.render().to_string();
        text.trim().trim_start_matches("error: ").to_owned()
    });
    let failure = Failure::new(StoppedBy::Usage, anyhow!(text));
    report(&failure, wants_json)
}

/// Whether standard output is JSON, also where something is wrong.
fn wants_json(layers: &Layers) -> bool {
    layers.said().output.form() == Format::Json
}

fn start_log(log: &LogOptions) -> Log {
    Log::start(level(log), log.form())
}

/// What is logged.
fn level(log: &LogOptions) -> Level {
    match (log.quiet == Some(true), log.verbose.unwrap_or(0)) {
        (true, _) => Level::ERROR,
        // Machines want to know also when nothing is wrong.
        (false, 0) if log.form() == LogFormat::Text => Level::WARN,
        (false, 0) => Level::INFO,
        (false, 1) => Level::INFO,
        (false, _) => Level::DEBUG,
    }
}

/// Says what is wrong, where and what next.
fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        // The exit code is the worse news, and says more.
        let _ = console::print(&json_failure(failure));
    }
    if failure.stopped_by == StoppedBy::Signal {
        // The terminal shows `^C` where the cursor was.
        console::begin_line();
    }
    console::stop(failure.stopped_by, &format!("{:#}", failure.error));
    log_failure(failure);
    failure.stopped_by.exit_code()
}
