//! What came of undoing a run, and of looking its uncertain rows up.

mod reconcile;
mod undo;

use serde_json::{Value, json};

pub use self::reconcile::{reconcile_failure_json, reconciled_json, reconciled_text};
pub(super) use self::undo::write_undone;
pub use self::undo::{
    WHY_KEPT, age_unknown, leads_to_remove, undo_failure_json, undo_plan_json, undo_plan_text,
    undone_json, undone_text,
};
use crate::api::verdict::FatalCause;
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::lead::RunId;
use crate::ledger::RunRecord;
use crate::message::{Message, Template, Text};
use crate::pipeline::Stopped;
use crate::text::without_numbers;

/// Why work on a run stopped, in words.
pub fn stopped_failure(stopped: &Stopped) -> Failure {
    const GO_ON: Template = template!("{again} to go on");
    let (by, what, hint): (_, _, Text) = match stopped {
        Stopped::Interrupted => (
            StoppedBy::Signal,
            text!("stopped before the end"),
            GO_ON.into(),
        ),
        Stopped::Fatal { cause, text } => (
            StoppedBy::from(*cause),
            text!("the service refuses: {why}", why = without_numbers(text)),
            cure(*cause).into(),
        ),
        Stopped::NotOffered { call, text } => (
            StoppedBy::Unreadable,
            text!(
                "the service does not offer {the call that this needs, {call}|this}: {why}",
                call = *call,
                why = text
            ),
            text!(
                "use the service's own screens{: `leadload runs export RUN --results FILE` writes the rows with their numbers and lead ids|; the results have the numbers and the ids of the leads}"
            ),
        ),
        Stopped::Outage(text) => (
            StoppedBy::Outage,
            text!("the service does not answer: {why}", why = text),
            text!("{when it is back, |}{again} to go on"),
        ),
        Stopped::AskedToWait(until) => (
            StoppedBy::Outage,
            text!(
                "the service asks to be left alone until {until}",
                until = until.strftime("%Y-%m-%d %H:%M UTC").to_string()
            ),
            text!("{again} after that"),
        ),
        Stopped::Unreadable(text) => (
            StoppedBy::Unreadable,
            text!(
                "the answers of the service cannot be used: {why}",
                why = text
            ),
            text!(
                "{check the address of the service; if it is right, use the service's own screens|{ask_setup}}"
            ),
        ),
        Stopped::Ledger(error) => return error.clone().into(),
    };
    Failure::new(by, Message::new(what, hint))
}

fn cure(cause: FatalCause) -> Template {
    match cause {
        FatalCause::Token => template!(
            "{check the token; if it no longer works, get a new one from your service and run `leadload config init`, then run the same command again|check the access token under {--token-file}}"
        ),
        FatalCause::Forbidden => template!(
            "{this token is not allowed to do this: use one that is|check the access token under {--token-file}}"
        ),
        FatalCause::Payment | FatalCause::Balance => {
            template!("check {the account's balance|the balance of your account at the service}")
        }
        _ => template!("check the address {of the service|under {--base-url}}"),
    }
}

/// What the objects of all commands that have ended, or failed, have in common.
struct Ended<'a> {
    run: Option<RunId>,
    stopped: Option<&'a Failure>,
    exit_code: ExitCode,
    /// `None` if the command has failed before it could count them.
    requests: Option<u64>,
    elapsed_s: f64,
}

impl Ended<'_> {
    fn json(&self) -> Value {
        json!({
            "run": self.run,
            "complete": self.stopped.is_none(),
            "exit_code": self.exit_code as u8,
            "stopped_by": self.stopped.map(|failure| failure.stopped_by.as_str()),
            "requests": self.requests,
            "elapsed_s": (self.elapsed_s * 1000.0).round() / 1000.0,
            "error": self.stopped.map(|failure| failure.message().to_string()),
        })
    }
}

impl<'a> Ended<'a> {
    /// The command has failed. `run` is missing if it is not known.
    fn failed(run: Option<&RunRecord>, failure: &'a Failure, elapsed_s: f64) -> Ended<'a> {
        Ended {
            run: run.map(|run| run.run),
            stopped: Some(failure),
            exit_code: failure.stopped_by.exit_code(),
            requests: None,
            elapsed_s,
        }
    }
}
