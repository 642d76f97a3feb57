//! `leadload runs prune` and `leadload runs forget`: what is known is removed.
//!
//! Rule: never while a run is being sent, which may be about to look up what goes.

use anyhow::anyhow;
use jiff::Timestamp;

use super::known::KnownRuns;
use crate::cli::runs::{ForgetArgs, PruneArgs, RunArg};
use crate::commands::ask::{self, Cancelled};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::RunId;
use crate::ledger::{Ledger, LedgerPlace, Pruned, SenderLock};
use crate::options::{Format, LogFormat};
use crate::phone::PhoneNumber;
use crate::report::{forgotten_json, forgotten_text, pruned_json, pruned_text};

/// Removes cells, texts and file names of old runs; returns the text for standard output.
pub(super) fn prune(
    ledger: &LedgerPlace,
    args: &PruneArgs,
    format: Format,
) -> Result<String, Failure> {
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

/// Removes all that is known of a run or of a number; returns the text for standard output.
pub(super) fn forget(
    ledger: &LedgerPlace,
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
    ledger: &LedgerPlace,
    name: RunArg,
    consent: Consent,
) -> Result<(Option<RunId>, u64), Failure> {
    let run = KnownRuns::read(ledger)?.named(name)?.run;
    consent.ask(&format!(
        "Forget run {run}, and count the people whose leads it made as new?"
    ))?;
    let (mut ledger, _locks) = alone(ledger)?;
    refuse_unfamiliar(&ledger, run)?;
    let leads = ledger.forget_run(run)?;
    Ok((Some(run), leads))
}

/// While the question was open, another command may have forgotten the run.
fn refuse_unfamiliar(ledger: &Ledger, run: RunId) -> Result<(), Failure> {
    let known = KnownRuns::read(ledger.place())?;
    known.named(RunArg::Number(run)).map(drop)
}

fn forget_number(
    ledger: &LedgerPlace,
    number: PhoneNumber,
    consent: Consent,
) -> Result<u64, Failure> {
    let known = KnownRuns::read(ledger)?;
    consent.ask("Forget this number, and count the person who has it as new?")?;
    if known.ledger.is_none() {
        return Ok(0);
    }
    let (mut ledger, _locks) = alone(ledger)?;
    Ok(ledger.forget_number(number)?)
}

/// The ledger, and the locks that keep any run from sending.
fn alone(place: &LedgerPlace) -> Result<(Ledger, Vec<SenderLock>), Failure> {
    let ledger = Ledger::open(place)?;
    let service = match ledger.lock_all_senders()? {
        Ok(locks) => return Ok((ledger, locks)),
        Err(service) => service,
    };
    let who = match ledger.at_work(service)? {
        Some(at_work) => at_work.to_string(),
        None => "another command is using the ledger".into(),
    };
    Err(Failure::new(
        StoppedBy::Busy,
        anyhow!(
            "{who}\n\nhint: wait until it has ended, or end it, then run the same command again"
        ),
    ))
}

/// The user's consent: what is forgotten cannot be restored.
#[derive(Clone, Copy)]
struct Consent {
    /// Whether it was given on the command line.
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
                "this needs a confirmation, and there is no terminal to ask at\n\nhint: add `--yes` to forget without a question"
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
