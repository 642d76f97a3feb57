//! What came of looking rows of a run up.

use std::fmt::Write;

use serde_json::{Value, json};

use super::super::json::line;
use super::Outcome;
use crate::exit::Failure;
use crate::follow_up::{Reconciled, Undecided};
use crate::lead::Status;
use crate::ledger::RunRecord;
use crate::text::{counted, grouped};

pub fn reconciled_text(reconciled: &Reconciled) -> String {
    let counts = &reconciled.counts;
    let run = reconciled.run;
    let total = counts.total();
    if total == 0 {
        return format!("run {run} has no uncertain rows\n");
    }
    let looked_up = match reconciled.looked_up {
        all if all == total => String::new(),
        some => format!("{} of ", grouped(some)),
    };
    let rows = counted(total, "row");
    let mut text = format!("run {run}: {looked_up}{rows} looked up\n");
    for (status, what) in [
        (Status::Created, "found, and made by this run"),
        (Status::Duplicate, "there, but not surely made by this run"),
        (Status::Failed, "not there; they may be sent again"),
        (Status::Uncertain, "still uncertain"),
    ] {
        let rows = counts.of(status);
        if rows > 0 {
            let _ = writeln!(text, "  {:9} {:>9}  {what}", status.as_str(), grouped(rows));
        }
    }
    if reconciled.without_id > 0 {
        let rows = grouped(reconciled.without_id);
        let _ = writeln!(
            text,
            "\nStill without an id: {rows} of the duplicates. The same command looks them up again."
        );
    }
    text += &why_uncertain(&reconciled.undecided);
    if let Some(at) = reconciled.again_at {
        let _ = writeln!(
            text,
            "\nThe service may list leads late. Run the same command again after {}.",
            at.strftime("%Y-%m-%d %H:%M UTC")
        );
    }
    if counts.of(Status::Duplicate) > 0 {
        text += "\nA lead counts as made by this run only if the service's time for it says so.\n";
    }
    if counts.of(Status::Failed) > 0 {
        text += "\nThe import's own command sends the rows that are not there.\n";
    }
    text + &format!(
        "\n`leadload runs export {run} --results FILE` writes all rows as they are known now.\n"
    )
}

/// Why rows are still uncertain, if it does not help to wait.
fn why_uncertain(undecided: &Undecided) -> String {
    let mut text = String::new();
    for (rows, why) in [
        (
            undecided.unanswered,
            "the service did not answer: run the same command again",
        ),
        (
            undecided.on_their_way,
            "not looked up yet, since their requests may still be on their way: run the same command again in a few minutes",
        ),
        (
            undecided.may_be_twice,
            "not listed, but the run allows duplicates, so sending them again could make a second lead",
        ),
        (
            undecided.elsewhere,
            "not listed, but the run was sent with several tokens, so their leads may be in another account",
        ),
        (
            undecided.time_unknown,
            "not listed, but the ledger does not know when they were sent",
        ),
        (
            undecided.none_listed,
            "not listed, but neither is the lead of this run in their campaign that was looked for",
        ),
        (
            undecided.number_unclear,
            "listed without their calling codes, so these may be other people",
        ),
    ] {
        if rows > 0 {
            let _ = write!(text, "\n  {} {why}", grouped(rows));
        }
    }
    if text.is_empty() {
        return text;
    }
    text = format!("\nStill uncertain:{text}\n");
    if undecided.not_listed() > 0 {
        text += "Look in the service's own screens for those that are not listed.\n";
    }
    text
}

pub fn reconciled_json(reconciled: &Reconciled, elapsed_s: f64) -> String {
    let outcome = Outcome {
        run: Some(reconciled.run),
        stopped: reconciled.stopped.as_ref(),
        exit_code: reconciled.exit_code(),
        requests: Some(reconciled.requests),
        elapsed_s,
    };
    let mut object = outcome.json();
    object["rows"] = reconciled.counts.total().into();
    object["counts"] = found_counts(|status| reconciled.counts.of(status));
    object["without_id"] = reconciled.without_id.into();
    object["again_at"] = json!(reconciled.again_at);
    line(&object)
}

/// The same after a failure, with what the ledger knew of the run before.
pub fn reconcile_failure_json(
    run: Option<&RunRecord>,
    failure: &Failure,
    elapsed_s: f64,
) -> String {
    let uncertain = run.map_or(0, |run| run.counts.of(Status::Uncertain));
    let mut object = Outcome::failed(run, failure, elapsed_s).json();
    object["rows"] = uncertain.into();
    object["counts"] = found_counts(|status| match status {
        Status::Uncertain => uncertain,
        _ => 0,
    });
    object["without_id"] = 0.into();
    object["again_at"] = Value::Null;
    line(&object)
}

/// Rows that were to be looked up, by what they are now.
fn found_counts(of: impl Fn(Status) -> u64) -> Value {
    use Status::{Created, Duplicate, Failed, Uncertain};
    let all = [Created, Duplicate, Failed, Uncertain];
    let all = all.map(|status| (status.as_str().to_owned(), of(status).into()));
    Value::Object(all.into_iter().collect())
}
