//! An outline for each command.
//!
//! Rule: reads like a table of contents; what is done stands in the other rooms.

mod campaigns;
mod check;
mod import;
mod inputs;
mod rejects;
mod runs;
mod sandbox;
mod service;

use std::ffi::OsString;

use anyhow::anyhow;
use clap::Parser;
use tracing::Level;

use crate::cli::{Cli, Command, Format, ListFormat, OutputArgs};
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::{Log, console, json_failure};

/// Runs the command that `args` (the program's name first) ask for.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &args),
    };
    match cli.command {
        Command::Import(import_args) => {
            let log = Log::start(level(&import_args.output));
            let ended = import::run(&import_args, CommandLine::of(&args), &log);
            ended.unwrap_or_else(|failure| report(&failure, import_args.format == Format::Json))
        }
        Command::Check(args) => {
            let log = Log::start(level(&args.output));
            let ended = check::run(&args, &log);
            ended.unwrap_or_else(|failure| report(&failure, args.format == Format::Json))
        }
        Command::Campaigns(args) => {
            Log::start(level(&args.output));
            let ended = campaigns::run(&args);
            ended.unwrap_or_else(|failure| report(&failure, args.format == ListFormat::Json))
        }
        Command::Runs(args) => {
            Log::start(level(&args.output));
            let ended = runs::run(&args);
            ended.unwrap_or_else(|failure| report(&failure, args.format == Format::Json))
        }
        Command::Sandbox(args) => {
            let ended = sandbox::run(&args).or_stopped(StoppedBy::Usage);
            match ended {
                Ok(()) => ExitCode::Complete,
                Err(failure) => report(&failure, false),
            }
        }
    }
}

/// Help goes to standard output, mistakes to standard error, and to those who read
/// JSON as JSON too.
fn refuse(error: &clap::Error, args: &[OsString]) -> ExitCode {
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::Complete;
    }
    let mut pairs = args.windows(2);
    let wants_json = args.iter().any(|arg| arg == "--format=json")
        || pairs.any(|pair| pair[0] == "--format" && pair[1] == "json");
    if wants_json {
        let text = error.render().to_string();
        let failure = Failure::new(
            StoppedBy::Usage,
            anyhow!(text.trim().trim_start_matches("error: ").to_owned()),
        );
        let _ = console::print(&json_failure(&failure));
    }
    ExitCode::Usage
}

/// What is logged.
fn level(args: &OutputArgs) -> Level {
    match (args.quiet, args.verbose) {
        (true, _) => Level::ERROR,
        (false, 0) => Level::WARN,
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
    console::error(&format!("{:#}", failure.error));
    failure.stopped_by.exit_code()
}
