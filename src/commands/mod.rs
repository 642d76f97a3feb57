//! An outline for each command.
//!
//! Rule: reads like a table of contents; what is done stands in the other rooms.

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

use crate::cli::{self, Command, LogFormat, OutputArgs};
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::report::{Log, console, json_failure, log_failure};
use crate::settings::{Environment, Parsed, Refusal, Refused};

/// Runs the command that `args` (the program's name first) ask for.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = match Parsed::new(&args, Environment::read()) {
        Ok(parsed) => parsed,
        Err(refused) => return refuse(refused, &args),
    };
    let command = &parsed.cli.command;
    let ended = perform(&parsed, CommandLine::of(&args));
    ended.unwrap_or_else(|failure| report(&failure, command.wants_json()))
}

fn perform(parsed: &Parsed, line: CommandLine) -> Result<ExitCode, Failure> {
    let (command, environment) = (&parsed.cli.command, &parsed.environment);
    let log = start_log(&command.output());
    match command {
        Command::Import(args) => import::run(args, environment, line, &log),
        Command::Check(args) => check::run(args, environment, &line, &log),
        Command::Campaigns(args) => campaigns::run(args, environment),
        Command::Runs(args) => runs::run(args, environment),
        Command::Config(args) => config::run(args, &parsed.matches, environment),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Sandbox(args) => sandbox::run(args),
    }
}

/// Help goes to standard output, mistakes to standard error, and to those who read
/// JSON as JSON too.
fn refuse(refused: Refused, args: &[OsString]) -> ExitCode {
    // The flag could not be read with the others.
    if refused.wants_json_log {
        Log::start(Level::INFO, LogFormat::Json);
    }
    let error = match refused.reason {
        Refusal::CommandLine(error) => error,
        Refusal::Settings(error) => {
            let failure = Failure::new(StoppedBy::Usage, error);
            if let Some(import) = &refused.import {
                import::refused(import, &failure);
            }
            return report(&failure, refused.wants_json);
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
    report(&failure, refused.wants_json)
}

fn start_log(args: &OutputArgs) -> Log {
    Log::start(level(args), args.log_format)
}

/// What is logged.
fn level(args: &OutputArgs) -> Level {
    match (args.quiet, args.verbose) {
        (true, _) => Level::ERROR,
        // Machines want to know also when nothing is wrong.
        (false, 0) if args.log_format == LogFormat::Text => Level::WARN,
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
