//! `leadload runs undo` and `leadload runs reconcile`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::ProgressBar;

use super::KnownRuns;
use super::export::refuse_place;
use crate::cli::runs::{ReconcileArgs, RunArg, UndoArgs};
use crate::commands;
use crate::commands::ask::{self, Cancelled, Terminal};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::follow_up::{self, Target, Undo, Wanted};
use crate::import::service;
use crate::lead::RunId;
use crate::ledger::{LedgerPlace, RunRecord, UndoStatus, this_user_here};
use crate::message::{Message, Text};
use crate::options::{Format, LogFormat, Options};
use crate::report::{
    self, Log, WHY_KEPT, age_unknown, console, count_bar, leads_to_remove, reconcile_failure_json,
    reconciled_json, undo_failure_json, undo_plan, undo_plan_json, undone_json,
};
use crate::results::UndoFile;
use crate::settings::{FollowUpSettings, Layers};
use crate::signals::{self, Interrupts};
use crate::text::{counted, printable};

/// Removes the leads of a run from the service again.
pub(super) fn undo(
    ledger: &LedgerPlace,
    args: &UndoArgs,
    layers: &Layers,
    log: &Log,
) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let chosen = chosen(ledger, args.run);
    let run = chosen.as_ref().ok().cloned();
    let ended = chosen.and_then(|run| undo_run(ledger, &run, args, layers, log, began));
    ended.or_else(|failure| {
        refused(failure, layers, |failure| {
            let elapsed_s = began.elapsed().as_secs_f64();
            undo_failure_json(run.as_ref(), failure, args.dry_run, elapsed_s)
        })
    })
}

fn undo_run(
    ledger: &LedgerPlace,
    run: &RunRecord,
    args: &UndoArgs,
    layers: &Layers,
    log: &Log,
    began: Instant,
) -> Result<ExitCode, Failure> {
    log.name_run(Some(run.run));
    let options = layers.options();
    let wanted = wanted(ledger, run.run, layers, args.dry_run)?;
    let results = args.results.as_deref().cloned();
    let results = results.unwrap_or_else(|| UndoFile::path(run, Path::new("")));
    refuse_place(&KnownRuns::read(ledger)?, &results, layers)?;
    let format = options.output.format();
    service::block_on(async {
        let terminal = Terminal::open("removed");
        let mut interrupts = signals::listen().stopped_by(StoppedBy::Usage)?;
        let preparing = async {
            let target = Target::open(wanted).await?;
            let bar = bar(&options, log, 0);
            let undo = Undo::prepare(target, |done, total| show(&bar, done, total)).await;
            bar.finish_and_clear();
            let undo = undo?;
            let is_asked = undo.leads() > 0 || undo.closes_run();
            if is_asked && !args.yes && !args.dry_run {
                confirm(&undo, &terminal, options.log.format()).await?;
            }
            Ok(undo)
        };
        let undo = terminal.or_interrupted(&mut interrupts, preparing).await?;
        if args.dry_run {
            let text = match format {
                Format::Text => console::text_on_stdout(&undo_plan(&undo)),
                Format::Json => undo_plan_json(&undo),
            };
            console::print(&text).stopped_by(StoppedBy::Disk)?;
            return Ok(ExitCode::Complete);
        }
        perform(undo, results, interrupts, &options, log, began).await
    })
}

/// Ends a command that has failed. If JSON is asked for, that has the keys of this command.
fn refused(
    failure: Failure,
    layers: &Layers,
    json: impl FnOnce(&Failure) -> String,
) -> Result<ExitCode, Failure> {
    if layers.options().output.format() == Format::Text {
        return Err(failure);
    }
    // If that fails, the exit code still reports the failure.
    let _ = console::print(&json(&failure));
    Ok(commands::tell(&failure))
}

async fn perform(
    undo: Undo,
    file: PathBuf,
    interrupts: Interrupts,
    options: &Options,
    log: &Log,
    began: Instant,
) -> Result<ExitCode, Failure> {
    let bar = bar(options, log, undo.leads());
    let undone = undo
        .perform(file, interrupts, |done| bar.set_position(done))
        .await;
    bar.finish_and_clear();
    let undone = undone?;
    let elapsed_s = began.elapsed().as_secs_f64();
    let text = match options.output.format() {
        Format::Text => console::text_on_stdout(&report::undone(&undone)),
        Format::Json => undone_json(&undone, elapsed_s),
    };
    // If that could not begin, there is nothing to show but why.
    let is_shown = undone.stopped.is_none() || undone.has_begun;
    if options.output.format() == Format::Json || is_shown {
        console::print(&text).stopped_by(StoppedBy::Disk)?;
    }
    if let Some(failure) = &undone.stopped {
        commands::tell(failure);
    }
    Ok(undone.exit_code())
}

async fn confirm(undo: &Undo, terminal: &Terminal, log_format: LogFormat) -> Result<(), Failure> {
    if !ask::can_ask(log_format) {
        return Err(Failure::usage(terminal_message!(
            "this needs your confirmation, and there is no terminal to ask for it",
            "add `--yes` to do it without a question; `--dry-run` shows what would be done"
        )));
    }
    let question = match (undo.leads(), undo.counts().of(UndoStatus::Unknown)) {
        (0, 0) => {
            "It has no leads to remove. Close it, so that its command does not go on with it?"
                .to_owned()
        }
        (0, unknown) => format!(
            "It has no leads that can be removed; of {} it is not known whether this run has made a lead. Close it, so that its command does not go on with it?",
            counted(unknown, "row")
        ),
        _ => format!(
            "Remove {}? Calls already made can't be taken back.",
            leads_to_remove(undo)
        ),
    };
    let stays = match undo.counts().of(UndoStatus::Kept) {
        0 => String::new(),
        1 => format!("1 lead stays: {WHY_KEPT}. "),
        kept => format!("{} stay: {WHY_KEPT}. ", counted(kept, "lead")),
    };
    let unknown = age_unknown(undo.undated()).map_or_else(String::new, |why| format!("{why}. "));
    let run = &undo.target().run;
    let people = run.people();
    let question = format!(
        "Run {} was started by {}. {stays}{unknown}{question}",
        run.run,
        printable(&people)
    );
    match terminal.yes(&question).await? {
        true => Ok(()),
        false => Err(Cancelled("removed").into()),
    }
}

/// Looks the rows of a run up that may be leads.
pub(super) fn reconcile(
    ledger: &LedgerPlace,
    args: &ReconcileArgs,
    layers: &Layers,
    log: &Log,
) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let known = KnownRuns::read(ledger);
    let chosen = known.and_then(|known| known.named(args.run).cloned());
    let run = chosen.as_ref().ok().cloned();
    let ended = chosen.and_then(|run| reconcile_run(ledger, run.run, layers, log, began));
    ended.or_else(|failure| {
        refused(failure, layers, |failure| {
            reconcile_failure_json(run.as_ref(), failure, began.elapsed().as_secs_f64())
        })
    })
}

fn reconcile_run(
    ledger: &LedgerPlace,
    run: RunId,
    layers: &Layers,
    log: &Log,
    began: Instant,
) -> Result<ExitCode, Failure> {
    log.name_run(Some(run));
    let options = layers.options();
    let wanted = wanted(ledger, run, layers, false)?;
    service::block_on(async {
        let terminal = Terminal::open("changed");
        let mut interrupts = signals::listen().stopped_by(StoppedBy::Usage)?;
        let opening = terminal.or_interrupted(&mut interrupts, Target::open(wanted));
        let target = opening.await?;
        let bar = bar(&options, log, 0);
        let show = |done, total| show(&bar, done, total);
        let reconciled = follow_up::reconcile(&target, interrupts, show).await;
        bar.finish_and_clear();
        let reconciled = reconciled?;
        let text = match options.output.format() {
            Format::Text => console::text_on_stdout(&report::reconciled(&reconciled)),
            Format::Json => reconciled_json(&reconciled, began.elapsed().as_secs_f64()),
        };
        // If no row was looked up, there is nothing to show but why.
        let is_shown = reconciled.stopped.is_none() || reconciled.looked_up > 0;
        if options.output.format() == Format::Json || is_shown {
            console::print(&text).stopped_by(StoppedBy::Disk)?;
        }
        if let Some(failure) = &reconciled.stopped {
            commands::tell(failure);
        }
        Ok(reconciled.exit_code())
    })
}

fn wanted(
    ledger: &LedgerPlace,
    run: RunId,
    layers: &Layers,
    is_dry_run: bool,
) -> Result<Wanted, Failure> {
    let settings = FollowUpSettings::new(layers).stopped_by(StoppedBy::Usage)?;
    Ok(Wanted {
        ledger: ledger.clone(),
        run,
        address: settings.service.to_string(),
        settings,
        is_dry_run,
    })
}

/// The run that is to be undone. `last` is never that of a colleague who shares the ledger.
fn chosen(ledger: &LedgerPlace, run: RunArg) -> Result<RunRecord, Failure> {
    let known = KnownRuns::read(ledger)?;
    let RunArg::Last = run else {
        return known.named(run).cloned();
    };
    let here = this_user_here();
    let own = known.runs.iter().filter_map(|run| {
        let mut starts = run.starts.iter().rev();
        let own = starts.find(|start| start.is_by(&here))?;
        Some((own.seq, run))
    });
    match own.max_by_key(|(seq, _)| *seq) {
        Some((_, run)) => Ok(run.clone()),
        // Says it if there are none at all.
        None => match known.named(RunArg::Last) {
            Err(none) => Err(none),
            Ok(last) => Err(Failure::usage(Message::new(
                Text::terminal(format!(
                    "the ledger `{ledger}` knows no run that {} has started on {}: the last one, run {}, was started by {}",
                    here.1,
                    here.0,
                    last.run,
                    printable(&last.people())
                )),
                terminal_text!("name the run by its number; `leadload runs` lists them"),
            ))),
        },
    }
}

fn show(bar: &ProgressBar, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
}

/// A bar on standard error, if that is a terminal.
fn bar(options: &Options, log: &Log, total: u64) -> ProgressBar {
    let is_watched = !options.log.is_quiet()
        && options.log.format() == LogFormat::Text
        && std::io::stderr().is_terminal();
    match is_watched {
        true => count_bar(log, total),
        false => ProgressBar::hidden(),
    }
}
