//! What came of undoing a run, and of looking its uncertain rows up.

mod reconcile;
mod undo;

use serde_json::{Value, json};

pub use self::reconcile::{reconcile_failure_json, reconciled, reconciled_json};
pub(super) use self::undo::undone_before;
pub use self::undo::{
    WHY_KEPT, age_unknown, leads_to_remove, undo_failure_json, undo_plan, undo_plan_json, undone,
    undone_json,
};
use super::stop_text::{code_text, stop_text};
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::lead::RunId;
use crate::ledger::RunRecord;
use crate::message::{Message, Text};
use crate::stop::{Stop, StopReason};
use crate::text::without_numbers;

/// Why work on a run stopped, in words.
pub fn stopped_failure(stop: &Stop) -> Failure {
    let by = stop.by();
    let said = stop.said.clone().unwrap_or_default();
    let (what, hint) = match &stop.reason {
        StopReason::Interrupted(_) => (text!("stopped before the end"), text!("{again} to go on")),
        StopReason::AskedToWait { until, .. } => (
            text!(
                "the service asks to be left alone until {{utc}|{until}}",
                utc = until.strftime("%Y-%m-%d %H:%M UTC").to_string(),
                until = *until
            ),
            text!("{again} after that"),
        ),
        StopReason::NoUsableAnswer { .. } if by == StoppedBy::Unreadable => (
            text!("the answers of the service cannot be used: {said}", said),
            text!(
                "{check the address of the service; if it is right, use the service's own screens|{ask_setup}}"
            ),
        ),
        StopReason::NoUsableAnswer { .. } => unanswered(said),
        StopReason::NoAnswers { last, detail, .. } => {
            let last = detail.clone().or(last.map(code_text));
            unanswered(without_numbers(&last.unwrap_or_default()))
        }
        _ => return Failure::new(by, stop_text(stop)),
    };
    Failure::new(by, Message::new(what, hint))
}

fn unanswered(last: String) -> (Text, Text) {
    (
        text!("the service does not answer: {last}", last),
        text!("{when it is back, |}{again} to go on"),
    )
}

/// What the objects of all commands that have ended, or failed, have in common.
struct FollowUpOutcome<'a> {
    run: Option<RunId>,
    stopped: Option<&'a Failure>,
    exit_code: ExitCode,
    /// `None` if the command has failed before it could count them.
    requests: Option<u64>,
    elapsed_s: f64,
}

impl FollowUpOutcome<'_> {
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

impl<'a> FollowUpOutcome<'a> {
    /// The command has failed. `run` is missing if it is not known.
    fn failed(
        run: Option<&RunRecord>,
        failure: &'a Failure,
        elapsed_s: f64,
    ) -> FollowUpOutcome<'a> {
        FollowUpOutcome {
            run: run.map(|run| run.run),
            stopped: Some(failure),
            exit_code: failure.stopped_by.exit_code(),
            requests: None,
            elapsed_s,
        }
    }
}
