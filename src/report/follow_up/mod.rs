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
use crate::message::{ASK_SETUP, Message};
use crate::pipeline::Stopped;
use crate::text::without_numbers;

/// Why work on a run stopped, in words.
pub fn stopped_failure(stopped: &Stopped) -> Failure {
    const AGAIN: &str = "run the same command again to go on";
    const AGAIN_ON_PAGE: &str = "Try again to go on.";
    let (by, what, hint, on_page) = match stopped {
        Stopped::Interrupted => (
            StoppedBy::Signal,
            "stopped before the end".to_owned(),
            AGAIN,
            AGAIN_ON_PAGE,
        ),
        Stopped::Fatal { cause, text } => {
            let hint = match cause {
                FatalCause::Token => {
                    "check the token; if it no longer works, get a new one from your service and run `leadload config init`, then run the same command again"
                }
                FatalCause::Forbidden => "this token is not allowed to do this: use one that is",
                FatalCause::Payment | FatalCause::Balance => "check the account's balance",
                _ => "check the address of the service",
            };
            let what = format!("the service refuses: {}", without_numbers(text));
            (
                StoppedBy::from(*cause),
                what,
                hint,
                match cause {
                    FatalCause::Token | FatalCause::Forbidden => {
                        "Check the access token under “Service”."
                    }
                    FatalCause::Payment | FatalCause::Balance => {
                        "Check the balance of your account at the service."
                    }
                    _ => "Check the address under “Service”.",
                },
            )
        }
        Stopped::NotOffered { call, text } => (
            StoppedBy::Unreadable,
            format!("the service does not offer the call that this needs, {call}: {text}"),
            "use the service's own screens: `leadload runs export RUN --results FILE` writes the rows with their numbers and lead ids",
            "Use the service's own screens. The results have the numbers and the ids of the leads.",
        ),
        Stopped::Outage(text) => (
            StoppedBy::Outage,
            format!("the service does not answer: {text}"),
            "when it is back, run the same command again to go on",
            AGAIN_ON_PAGE,
        ),
        Stopped::AskedToWait(until) => (
            StoppedBy::Outage,
            format!(
                "the service asks to be left alone until {}",
                until.strftime("%Y-%m-%d %H:%M UTC")
            ),
            "run the same command again after that",
            "Try again after that.",
        ),
        Stopped::Unreadable(text) => (
            StoppedBy::Unreadable,
            format!("the answers of the service cannot be used: {text}"),
            "check the address of the service; if it is right, use the service's own screens",
            ASK_SETUP,
        ),
        Stopped::Ledger(error) => return error.clone().into(),
    };
    let what_on_page = match stopped {
        Stopped::NotOffered { text, .. } => format!("the service does not offer this: {text}"),
        _ => what.clone(),
    };
    let message = Message::new(what, hint).on_page(what_on_page, on_page);
    Failure::new(by, message)
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
