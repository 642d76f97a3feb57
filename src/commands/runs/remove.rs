//! `leadload runs prune` and `leadload runs forget`: what is known becomes less.
//!
//! Rule: never while a run is being sent, which may be about to ask for what goes.

use std::path::Path;

use anyhow::anyhow;
use jiff::Timestamp;

use super::known::KnownRuns;
use crate::cli::runs::{ForgetArgs, PruneArgs, RunArg};
use crate::commands::ask::{self, Cancelled};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::RunId;
use crate::ledger::{Ledger, Pruned, SenderLocks};
use crate::options::{Format, LogFormat};
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
            ledger.prune(older_than)?
        }
    };
    Ok(match format {
        Format::Text => pruned_text(pruned),
        Format::Json => pruned_json(pruned),
    })
}

/// Removes all that is known of a run or of a number; returns what is to be said.
pub(super) fn forget(
    ledger: &Path,
    args: &ForgetArgs,
    format: Format,
    log_format: LogFormat,
) -> Result<String, Failure> {
    let consent = Consent {
        is_given: args.yes,
        log_format,
    };
    let (run, leads) = match (args.what.run, args.what.number) {
        (Some(run), _) => forget_run(ledger, run, consent)?,
        (None, Some(number)) => (None, forget_number(ledger, number, consent)?),
        // The command line has one of the two.
        (None, None) => (None, 0),
    };
    Ok(match format {
        Format::Text => forgotten_text(run, leads),
        Format::Json => forgotten_json(run, leads),
    })
}

fn forget_run(
    ledger: &Path,
    name: RunArg,
    consent: Consent,
) -> Result<(Option<RunId>, u64), Failure> {
    let run = KnownRuns::read(ledger)?.named(name)?.run;
    consent.ask(&format!(
        "Forget run {run}, and take the people whose leads it made for new?"
    ))?;
    let (mut ledger, _locks) = alone(ledger)?;
    refuse_unfamiliar(&ledger, run)?;
    let leads = ledger.forget_run(run)?;
    Ok((Some(run), leads))
}

/// While the question was open, another command may have forgotten the run.
fn refuse_unfamiliar(ledger: &Ledger, run: RunId) -> Result<(), Failure> {
    let known = KnownRuns::read(ledger.path())?;
    known.named(RunArg::Number(run)).map(drop)
}

fn forget_number(ledger: &Path, number: PhoneNumber, consent: Consent) -> Result<u64, Failure> {
    let known = KnownRuns::read(ledger)?;
    consent.ask("Forget this number, and take whoever has it for new?")?;
    if known.ledger.is_none() {
        return Ok(0);
    }
    let (mut ledger, _locks) = alone(ledger)?;
    Ok(ledger.forget_number(number)?)
}

/// The ledger, and the certainty that nobody sends while it is held.
fn alone(path: &Path) -> Result<(Ledger, SenderLocks), Failure> {
    let ledger = Ledger::open(path)?;
    let service = match SenderLocks::try_take(&ledger)? {
        Ok(locks) => return Ok((ledger, locks)),
        Err(service) => service,
    };
    let who = match ledger.at_work(service)? {
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

/// A yes, which somebody says: nothing brings back what is forgotten.
#[derive(Clone, Copy)]
struct Consent {
    /// Whether it was said on the command line.
    is_given: bool,
    log_format: LogFormat,
}

impl Consent {
    fn ask(self, question: &str) -> Result<(), Failure> {
        if self.is_given {
            return Ok(());
        }
        if !ask::can_ask(self.log_format) {
            let error = anyhow!(
                "nobody is there to be asked whether it is to be forgotten for good\n\nhint: say `--yes`"
            );
            return Err(Failure::new(StoppedBy::Usage, error));
        }
        if ask::yes(question).or_stopped(StoppedBy::Usage)? {
            Ok(())
        } else {
            Err(Cancelled("forgotten").into())
        }
    }
}
