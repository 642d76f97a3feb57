//! An outline for each command.
//!
//! Rule: reads like a table of contents; what is done stands in the other rooms.

mod campaigns;
mod check;
mod import;
mod sandbox;
mod service;

use std::ffi::OsString;

use clap::Parser;

use crate::cli::{Cli, Command, Format, ListFormat};
use crate::exit::{ExitCode, Failure};
use crate::report::{Log, console};

/// Runs the command that `args` (the program's name first) ask for.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output, mistakes to standard error.
            let _ = error.print();
            return match error.use_stderr() {
                true => ExitCode::Usage,
                false => ExitCode::Complete,
            };
        }
    };
    match cli.command {
        Command::Import(args) => {
            let log = Log::start(&args.output);
            let ended = import::run(&args, &log);
            ended.unwrap_or_else(|failure| report(&failure, args.format == Format::Json))
        }
        Command::Campaigns(args) => {
            Log::start(&args.output);
            let ended = campaigns::run(&args);
            ended.unwrap_or_else(|failure| report(&failure, args.format == ListFormat::Json))
        }
        Command::Sandbox(args) => match sandbox::run(&args) {
            Ok(()) => ExitCode::Complete,
            Err(error) => report(&error.into(), false),
        },
    }
}

/// Says what is wrong, where and what next.
fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        console::print(&format!("{}\n", failure.json_object()));
    }
    console::error(&format!("{:#}", failure.error));
    failure.stopped_by.exit_code()
}
