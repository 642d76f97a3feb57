//! `leadload runs prune` and `leadload runs forget`: what is known becomes less.
//!
//! Rule: never while a run is being sent, which may be about to ask for what goes.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::anyhow;
use jiff::Timestamp;

use super::known::KnownRuns;
use crate::cli::Format;
use crate::cli::runs::{ForgetArgs, PruneArgs, RunArg};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::RunId;
use crate::ledger::{Ledger, Pruned, SenderLocks};
use crate::phone::PhoneNumber;
use crate::report::{forgotten_json, forgotten_text, pruned_json, pruned_text};

/// Removes cells, texts and file names of old runs; returns what is to be said.
pub(super) fn prune(ledger: &Path, args: &PruneArgs, format: Format) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    // Older than all that is known, where the age is beyond what a clock can tell.
    let older_than = Timestamp::now()
        .checked_sub(args.older_than)
        .unwrap_or(Timestamp::MIN);
    let pruned = match known.ledger {
        None => Pruned::default(),
        Some(_) => {
            let (mut ledger, _locks) = alone(ledger)?;
            ledger.prune(older_than).or_stopped(StoppedBy::Ledger)?
        }
    };
    Ok(match format {
        Format::Text => pruned_text(pruned),
        Format::Json => pruned_json(pruned),
    })
}

/// Removes all that is known of a run or of a number; returns what is to be said.
pub(super) fn forget(ledger: &Path, args: &ForgetArgs, format: Format) -> Result<String, Failure> {
    let (run, leads) = match (args.what.run, args.what.number) {
        (Some(run), _) => forget_run(ledger, run, args.yes)?,
        (None, Some(number)) => (None, forget_number(ledger, number, args.yes)?),
        // The command line has one of the two.
        (None, None) => (None, 0),
    };
    Ok(match format {
        Format::Text => forgotten_text(run, leads),
        Format::Json => forgotten_json(run, leads),
    })
}

fn forget_run(ledger: &Path, name: RunArg, yes: bool) -> Result<(Option<RunId>, u64), Failure> {
    let run = KnownRuns::read(ledger)?.named(name)?.run;
    ask(
        &format!("Forget run {run}, and take the people whose leads it made for new?"),
        yes,
    )?;
    let (mut ledger, _locks) = alone(ledger)?;
    refuse_unfamiliar(&ledger, run)?;
    let leads = ledger.forget_run(run).or_stopped(StoppedBy::Ledger)?;
    Ok((Some(run), leads))
}

/// While the question was open, another command may have forgotten the run.
fn refuse_unfamiliar(ledger: &Ledger, run: RunId) -> Result<(), Failure> {
    let known = KnownRuns::read(ledger.path())?;
    known.named(RunArg::Number(run)).map(drop)
}

fn forget_number(ledger: &Path, number: PhoneNumber, yes: bool) -> Result<u64, Failure> {
    let known = KnownRuns::read(ledger)?;
    ask("Forget this number, and take whoever has it for new?", yes)?;
    if known.ledger.is_none() {
        return Ok(0);
    }
    let (mut ledger, _locks) = alone(ledger)?;
    ledger.forget_number(number).or_stopped(StoppedBy::Ledger)
}

/// The ledger, and the certainty that nobody sends while it is held.
fn alone(path: &Path) -> Result<(Ledger, SenderLocks), Failure> {
    let ledger = Ledger::open(path).or_stopped(StoppedBy::Usage)?;
    let service = match SenderLocks::try_take(&ledger).or_stopped(StoppedBy::Usage)? {
        Ok(locks) => return Ok((ledger, locks)),
        Err(service) => service,
    };
    let who = match ledger.at_work(service).or_stopped(StoppedBy::Usage)? {
        Some(at_work) => at_work.to_string(),
        None => "another command is at work on the ledger".into(),
    };
    Err(Failure::new(
        StoppedBy::Busy,
        anyhow!(
            "{who}\n\nhint: wait until it has ended, or end it, then run the same command again"
        ),
    ))
}

/// Nothing brings back what is forgotten.
fn ask(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let is_answered = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !is_answered {
        let error = anyhow!(
            "nobody is there to be asked whether it is to be forgotten for good\n\nhint: say `--yes`"
        );
        return Err(Failure::new(StoppedBy::Usage, error));
    }
    // Where nobody can read it, nobody answers it.
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut answer = String::new();
    io::stdin()
        .read_line(&mut answer)
        .or_stopped(StoppedBy::Usage)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(
            StoppedBy::Usage,
            anyhow!("nothing was forgotten"),
        )),
    }
}
