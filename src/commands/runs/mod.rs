//! `leadload runs`: what the ledger knows of earlier runs.

mod copy;
mod export;
mod known;
mod remove;

use std::num::NonZeroU32;

use anyhow::anyhow;
use known::KnownRuns;

use crate::cli::runs::{RunArg, RunsArgs, RunsCommand};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::ledger::{Ledger, LedgerPlace};
use crate::options::Format;
use crate::report::{console, run_json, run_text, runs_json, runs_text};
use crate::settings::{Layers, LedgerChoice, Origin};
use crate::text::printable;

/// Runs the command.
pub fn run(args: &RunsArgs, layers: &Layers) -> Result<ExitCode, Failure> {
    let options = layers.options();
    let (format, log_format) = (options.output.format(), options.log.format());
    let is_quiet = options.log.quiet == Some(true);
    let ledger = ledger_file(layers)?;
    refuse_missing(layers, &ledger)?;
    let text = match &args.command {
        None => list(layers, args.last, format, &ledger),
        Some(RunsCommand::List(of)) => list(layers, of.last.or(args.last), format, &ledger),
        Some(_) if args.last.is_some() => Err(last_of_nothing()),
        Some(RunsCommand::Show(show)) => self::show(&ledger, show.run, format),
        Some(RunsCommand::Export(export)) => export::run(&ledger, export, format, is_quiet),
        Some(RunsCommand::Copy(copy)) => copy::run(&ledger, copy, format),
        Some(RunsCommand::Prune(prune)) => remove::prune(&ledger, prune, format),
        Some(RunsCommand::Forget(forget)) => remove::forget(&ledger, forget, format, log_format),
    };
    console::print(&text?).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}

/// The other commands name the runs that they are about.
fn last_of_nothing() -> Failure {
    let error = anyhow!(
        "`--last` goes with `leadload runs list`\n\nhint: leave it out; a single run is named by its number, or as `last`"
    );
    Failure::new(StoppedBy::Usage, error)
}

fn ledger_file(layers: &Layers) -> Result<LedgerPlace, Failure> {
    let choice = LedgerChoice::new(&layers.options());
    match choice.or_stopped(StoppedBy::Usage)? {
        LedgerChoice::At(place) => Ok(place),
        LedgerChoice::None => Err(Failure::new(
            StoppedBy::Usage,
            anyhow!(
                "runs are recorded in the ledger, and the ledger is set to `none`\n\nhint: name its file with `--ledger`, or take `none` out of LEADLOAD_LEDGER or of the profile"
            ),
        )),
    }
}

/// A ledger that is named on the command line must exist.
fn refuse_missing(layers: &Layers, ledger: &LedgerPlace) -> Result<(), Failure> {
    let is_typed = layers.typed().ledger.ledger.is_some();
    // What else may be wrong with it is found when it is opened.
    if !is_typed || ledger.exists() {
        return Ok(());
    }
    // Fails where only its log is left.
    Ledger::read(ledger)?;
    Err(Failure::new(
        StoppedBy::Usage,
        anyhow!(
            "there is no ledger `{ledger}`\n\nhint: check the name, or leave `--ledger` out for the one that imports use"
        ),
    ))
}

/// All runs, or the newest ones.
fn list(
    layers: &Layers,
    last: Option<NonZeroU32>,
    format: Format,
    ledger: &LedgerPlace,
) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let most = last.map_or(usize::MAX, |most| most.get() as usize);
    let runs = &known.runs[known.runs.len().saturating_sub(most)..];
    // The default place is not worth a mention.
    let is_named = layers.origin(|options| options.ledger.ledger.is_some()) != Origin::Default;
    Ok(match format {
        Format::Json => runs_json(runs),
        Format::Text if is_named && known.ledger.is_none() && !ledger.exists() => format!(
            "no runs yet, since there is no ledger {}\n",
            printable(&ledger.to_string())
        ),
        Format::Text => runs_text(runs),
    })
}

fn show(ledger: &LedgerPlace, run: RunArg, format: Format) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let run = known.named(run)?;
    Ok(match format {
        Format::Text => run_text(run),
        Format::Json => run_json(run),
    })
}
