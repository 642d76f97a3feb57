//! `leadload runs`: what the ledger knows of earlier runs.

mod export;
mod known;
mod remove;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use known::KnownRuns;

use crate::cli::Format;
use crate::cli::runs::{RunArg, RunsArgs, RunsCommand};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::{console, run_json, run_text, runs_json, runs_text};
use crate::settings::{Environment, LedgerChoice};

/// Runs the command.
pub fn run(args: &RunsArgs) -> Result<ExitCode, Failure> {
    let ledger = ledger_file(args)?;
    let said = match &args.command {
        None | Some(RunsCommand::List) => list(&ledger, args.format),
        Some(RunsCommand::Show(show)) => self::show(&ledger, show.run, args.format),
        Some(RunsCommand::Export(export)) => export::run(&ledger, export, args.format),
        Some(RunsCommand::Prune(prune)) => remove::prune(&ledger, prune, args.format),
        Some(RunsCommand::Forget(forget)) => remove::forget(&ledger, forget, args.format),
    };
    console::print(&said?).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}

fn ledger_file(args: &RunsArgs) -> Result<PathBuf, Failure> {
    let choice = LedgerChoice::from_cli(args.ledger.as_ref(), &Environment::read());
    match choice.or_stopped(StoppedBy::Usage)? {
        LedgerChoice::File(path) => Ok(path),
        LedgerChoice::None => Err(Failure::new(
            StoppedBy::Usage,
            anyhow!(
                "runs are known by the ledger, and the choice is to have none\n\nhint: name its file with `--ledger`, or take `none` out of LEADLOAD_LEDGER"
            ),
        )),
    }
}

fn list(ledger: &Path, format: Format) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    Ok(match format {
        Format::Text => runs_text(&known.runs),
        Format::Json => runs_json(&known.runs),
    })
}

fn show(ledger: &Path, run: RunArg, format: Format) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let run = known.named(run)?;
    Ok(match format {
        Format::Text => run_text(run),
        Format::Json => run_json(run),
    })
}
