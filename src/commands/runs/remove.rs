//! `leadload runs prune` and `leadload runs forget`: remove data from the ledger.
//!
//! Rule: never while a run is being sent, which may be about to look up that data.

use jiff::Timestamp;
use tracing::warn;

use super::{KnownRuns, refuse_senders};
use crate::cli::runs::{ForgetArgs, PruneArgs};
use crate::commands::ask::{self, Cancelled};
use crate::exit::Failure;
use crate::lead::Status;
use crate::ledger::{Ledger, LedgerPlace, Pruned, SenderLock};
use crate::options::{Format, LogFormat};
use crate::paths::with_reason;
use crate::report::{forgotten_json, forgotten_text, pruned_json, pruned_text};
use crate::settings::pages_folder;
use crate::text::counted;
use crate::web;

/// Removes cells, texts and file names of old runs. Returns the text for standard output.
pub(super) fn prune(
    ledger: &LedgerPlace,
    args: &PruneArgs,
    format: Format,
) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    // If the age is beyond the clock's range, no run is old enough.
    let older_than = Timestamp::now()
        .checked_sub(args.older_than)
        .unwrap_or(Timestamp::MIN);
    let pruned = match known.ledger {
        None => Pruned::default(),
        Some(_) => {
            let (mut open, _locks) = alone(ledger)?;
            let pruned = open.prune(older_than)?;
            remove_files_of_page(ledger);
            pruned
        }
    };
    Ok(match format {
        Format::Text => pruned_text(pruned),
        Format::Json => pruned_json(pruned),
    })
}

/// Removes everything that is known about a run or a number. Returns the text for standard output.
pub(super) fn forget(
    ledger: &LedgerPlace,
    args: &ForgetArgs,
    format: Format,
    log_format: LogFormat,
) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let run = args.what.run.map(|name| known.named(name)).transpose()?;
    let question = match run {
        Some(run) => {
            let leads = run.counts.of(Status::Created) + run.counts.of(Status::Duplicate);
            let stay = if leads == 1 { "stays" } else { "stay" };
            format!(
                "Forget run {}? Its {} {stay} at the service, but the next import will send these people again.",
                run.run,
                counted(leads, "lead")
            )
        }
        None => "Forget this number? Its leads stay at the service, but the next import will send this person again.".to_owned(),
    };
    let run = run.map(|run| run.run);
    if !args.yes {
        ask(&question, log_format)?;
    }
    let leads = if known.ledger.is_none() {
        0
    } else {
        let (mut open, _locks) = alone(ledger)?;
        let leads = match (run, args.what.number) {
            (Some(run), _) => open.forget_run(run)?,
            (None, Some(number)) => open.forget_number(number)?,
            // clap ensures that one of the two is given.
            (None, None) => 0,
        };
        remove_files_of_page(ledger);
        leads
    };
    Ok(match format {
        Format::Text => forgotten_text(run, leads),
        Format::Json => forgotten_json(run, leads),
    })
}

/// Removes what the page has kept of runs that are pruned or forgotten now.
fn remove_files_of_page(ledger: &LedgerPlace) {
    let Some(pages) = pages_folder() else {
        return;
    };
    if let Err(error) = web::remove_pruned(&pages, ledger) {
        warn!(
            event = "warning",
            "some files that the page has kept cannot be removed from {}",
            with_reason(&pages, &error)
        );
    }
}

/// Opens the ledger and takes the locks that keep all runs from sending.
fn alone(place: &LedgerPlace) -> Result<(Ledger, Vec<SenderLock>), Failure> {
    let ledger = Ledger::open(place)?;
    let locks = refuse_senders(&ledger)?;
    Ok((ledger, locks))
}

/// Asks for confirmation: what is forgotten cannot be restored.
fn ask(question: &str, log_format: LogFormat) -> Result<(), Failure> {
    if !ask::can_ask(log_format) {
        return Err(Failure::usage(
            "this needs your confirmation, and there is no terminal to ask for it",
            "add `--yes` to forget without a question",
        ));
    }
    if ask::interruptible("forgotten", async |terminal| terminal.yes(question).await)? {
        Ok(())
    } else {
        Err(Cancelled("forgotten").into())
    }
}
