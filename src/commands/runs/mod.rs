//! `leadload runs`: what the ledger knows about earlier runs.

mod copy;
mod export;
mod follow_up;
mod half_copy;
mod remove;

use std::num::NonZeroU32;
use std::slice;

use super::ledger::{ledger_of, refuse_missing};
use crate::cli::runs::{CopyArgs, RunArg, RunsArgs, RunsCommand};
use crate::commands;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::lead::RunName;
use crate::ledger::{Ledger, LedgerPlace, RunRecord, SenderLock};
use crate::message::{Message, Text};
use crate::options::Format;
use crate::report::{self, Log, console, run_json, runs_json};
use crate::results::locate_outputs;
use crate::settings::{Layers, Origin, place_of};
use crate::text::printable;

pub fn run(args: &RunsArgs, layers: &Layers, log: &Log) -> Result<ExitCode, Failure> {
    let options = layers.options();
    let format = options.output.format();
    let ledger = match &args.command {
        Some(RunsCommand::Copy(CopyArgs {
            from: Some(from), ..
        })) => place_of(from, &options).stopped_by(StoppedBy::Usage)?,
        command => {
            let ledger = ledger_of(layers, "runs are recorded")?;
            refuse_missing(layers, &ledger)?;
            match command {
                None
                | Some(RunsCommand::List(_) | RunsCommand::Show(_) | RunsCommand::Export(_)) => {
                    ledger.for_reading()
                }
                Some(RunsCommand::Undo(undo)) if undo.dry_run => ledger.for_reading(),
                _ => ledger,
            }
        }
    };
    let text = match &args.command {
        None => list(layers, args.last, format, &ledger),
        Some(RunsCommand::List(of)) => list(layers, of.last.or(args.last), format, &ledger),
        Some(_) if args.last.is_some() => Err(Failure::usage(terminal_message!(
            "`--last` goes with `leadload runs list`",
            "leave it out; a single run is named by its number, or as `last`"
        ))),
        Some(RunsCommand::Show(show)) => self::show(&ledger, show.run, format),
        Some(RunsCommand::Export(export)) => export::run(&ledger, export, layers),
        Some(RunsCommand::Copy(copy)) => copy::run(&ledger, copy, layers),
        Some(RunsCommand::Prune(prune)) => remove::prune(&ledger, prune, &options),
        Some(RunsCommand::Forget(forget)) => remove::forget(&ledger, forget, &options),
        Some(RunsCommand::Undo(undo)) => return follow_up::undo(&ledger, undo, layers, log),
        Some(RunsCommand::Reconcile(reconcile)) => {
            return follow_up::reconcile(&ledger, reconcile, layers, log);
        }
    };
    let text = text?;
    match &args.command {
        None | Some(RunsCommand::List(_) | RunsCommand::Show(_)) => {
            console::print(&text).stopped_by(StoppedBy::Disk)?;
        }
        // The rows have standard output for themselves.
        Some(RunsCommand::Export(export)) if export.is_printed() => {
            if !options.log.is_quiet() {
                console::note(&text);
            }
        }
        _ => commands::confirm(&text, &options)?,
    }
    Ok(ExitCode::Complete)
}

/// Keeps all runs from sending while the locks are held; fails if one is being sent.
fn refuse_senders(ledger: &Ledger) -> Result<Vec<SenderLock>, Failure> {
    let service = match ledger.lock_all_senders()? {
        Ok(locks) => return Ok(locks),
        Err(service) => service,
    };
    let who = ledger.who_sends(service)?;
    let hint = "wait until it has ended, or end it, then run the same command again";
    Err(Failure::new(
        StoppedBy::Busy,
        Message::new(Text::terminal(who), Text::terminal(hint)),
    ))
}

/// The runs of a ledger, and the ledger, if there is one.
struct KnownRuns {
    place: LedgerPlace,
    ledger: Option<Ledger>,
    runs: Vec<RunRecord>,
}

impl KnownRuns {
    /// Reads the runs, even while a run is being sent.
    fn read(place: &LedgerPlace) -> Result<KnownRuns, Failure> {
        let ledger = Ledger::read(place)?;
        let runs = ledger.as_ref().map(Ledger::runs).transpose();
        Ok(KnownRuns {
            place: place.clone(),
            ledger,
            runs: runs?.unwrap_or_default(),
        })
    }

    fn named(&self, name: RunArg) -> Result<&RunRecord, Failure> {
        let is_named = |run: &&RunRecord, name: RunName| {
            run.run == name.run && (name.tag.is_none() || run.tag == name.tag)
        };
        let found = match name {
            RunArg::Named(name) => self.runs.iter().find(|run| is_named(run, name)),
            RunArg::Last => self.runs.iter().max_by_key(|run| run.last_start()),
        };
        let place = &self.place;
        let unknown = || match name {
            RunArg::Named(name) if !self.runs.is_empty() => Failure::usage(Message::new(
                Text::terminal(format!("there is no run {name} in the ledger `{place}`")),
                terminal_text!("`leadload runs` lists them"),
            )),
            _ => Failure::usage(Message::new(
                Text::terminal(format!("there are no runs yet in the ledger `{place}`")),
                terminal_text!("if your ledger is elsewhere, name it with `--ledger`"),
            )),
        };
        found.ok_or_else(unknown)
    }
}

fn list(
    layers: &Layers,
    last: Option<NonZeroU32>,
    format: Format,
    ledger: &LedgerPlace,
) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let most = last.map_or(usize::MAX, |most| most.get() as usize);
    let mut runs = known.runs;
    runs.sort_by_key(RunRecord::last_start);
    runs.drain(..runs.len().saturating_sub(most));
    runs.sort_by_key(|run| run.run);
    // A missing ledger at the default path is not worth mentioning.
    let is_named = layers.origin(|options| options.ledger.ledger.is_some()) != Origin::Default;
    Ok(match format {
        Format::Json => {
            locate_outputs(&mut runs);
            runs_json(&runs)
        }
        Format::Text if is_named && known.ledger.is_none() => format!(
            "no runs yet, since there is no ledger {}\n",
            printable(&ledger.to_string())
        ),
        Format::Text => {
            let runs: Vec<&RunRecord> = runs.iter().collect();
            console::text_on_stdout(&[report::runs(&runs, &report::campaign, false)])
        }
    })
}

fn show(ledger: &LedgerPlace, run: RunArg, format: Format) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let mut run = known.named(run)?.clone();
    locate_outputs(slice::from_mut(&mut run));
    Ok(match format {
        Format::Text => console::text_on_stdout(&report::run(&run, &report::campaign(&run))),
        Format::Json => run_json(&run),
    })
}
