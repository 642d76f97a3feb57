//! What came of undoing a run, and of looking its uncertain rows up.

use std::fmt::{self, Write};

use serde_json::{Value, json};

use super::json::{line, text};
use super::runs_json::undo_counts;
use crate::api::verdict::FatalCause;
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::follow_up::{OpenRows, Reconciled, Undecided, Undo, Undone};
use crate::lead::{RunId, Status};
use crate::ledger::{RunRecord, UndoCounts, UndoStatus};
use crate::message::{ASK_SETUP, Message};
use crate::pipeline::Stopped;
use crate::text::{counted, grouped, printable};

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
            let what = format!("the service refuses: {text}");
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
            "use the service's own screens: `leadload runs export` writes the rows with their numbers and lead ids",
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
            "check the address of the service",
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

/// What would be removed, as a question ends: `312 leads of run 12 from campaign 101 (Spring promo)`.
pub fn leads_to_remove(undo: &Undo) -> String {
    let campaigns = undo.campaigns();
    let named: Vec<String> = campaigns
        .iter()
        .map(|(id, name, leads)| {
            let name = name.as_deref().map(printable);
            let name = name.map_or_else(String::new, |name| format!(" ({name})"));
            match campaigns.len() {
                1 => format!("campaign {id}{name}"),
                _ => format!("campaign {id}{name}: {}", grouped(*leads)),
            }
        })
        .collect();
    let from = match &named[..] {
        [] => String::new(),
        [one] => format!(" from {one}"),
        several => format!(" from {} campaigns: {}", several.len(), several.join("; ")),
    };
    format!(
        "{} of run {}{from}",
        counted(undo.leads(), "lead"),
        undo.target().run.run
    )
}

/// What would be done, if nothing is.
pub fn undo_plan_text(undo: &Undo) -> String {
    let mut text = format!("would remove {}\n", leads_to_remove(undo));
    if undo.closes_run() {
        text += "would close the run, so that its command does not go on with it\n";
    }
    let counts = undo.counts();
    for (status, one, many, what) in [
        (UndoStatus::Undone, "is", "are", "removed already"),
        (UndoStatus::Gone, "was", "were", "not there any more"),
        (
            UndoStatus::Kept,
            "stays",
            "stay",
            "kept: an earlier run has made the lead too",
        ),
        (
            UndoStatus::Unknown,
            "stays",
            "stay",
            "unknown: it is not known whether this run has made a lead",
        ),
    ] {
        let rows = counts.of(status);
        let verb = if rows == 1 { one } else { many };
        if rows > 0 {
            let _ = writeln!(text, "{} {verb} {what}", counted(rows, "row"));
        }
    }
    text + "nothing was removed\n"
}

pub fn undo_plan_json(undo: &Undo) -> String {
    let campaigns = undo.campaigns().into_iter();
    let campaigns = campaigns
        .map(|(id, name, leads)| json!({ "campaign_id": id, "campaign": name, "leads": leads }));
    line(&json!({
        "run": undo.target().run.run,
        "dry_run": true,
        "complete": false,
        "exit_code": 0,
        "stopped_by": null,
        "leads": undo.leads(),
        "campaigns": campaigns.collect::<Vec<Value>>(),
        "counts": undo_counts(&undo.counts()),
        "requests": undo.target().calls.requests(),
        "file": null,
        "error": null,
    }))
}

pub fn undone_text(undone: &Undone) -> String {
    let counts = &undone.counts;
    let run = undone.run;
    let mut text = match undone.has_begun {
        true => format!("run {run}:\n"),
        false => format!("run {run} has no leads that can be removed, so nothing was changed\n"),
    };
    let _ = write_undone(&mut text, counts);
    if let Some(file) = &undone.file {
        let _ = writeln!(text, "\nFile: {}", printable(&file.display().to_string()));
    }
    for kept in &undone.kept {
        let kept = kept.display().to_string();
        let _ = writeln!(text, "An earlier file is kept as {}", printable(&kept));
    }
    text += &what_helps(run, &undone.open);
    match undone.has_begun {
        true => text + "\nCalls already made stay made.\n",
        false => text,
    }
}

/// What became of the rows of a run that is undone.
pub(super) fn write_undone(text: &mut String, counts: &UndoCounts) -> fmt::Result {
    for (what, rows, meaning) in [
        (
            "undone",
            counts.of(UndoStatus::Undone),
            "removed from the service",
        ),
        ("gone", counts.of(UndoStatus::Gone), "not there any more"),
        (
            "kept",
            counts.of(UndoStatus::Kept),
            "still there; the file says why",
        ),
        (
            "unknown",
            counts.of(UndoStatus::Unknown),
            "not known whether there is a lead of this run",
        ),
        ("left", counts.left, "not removed yet"),
    ] {
        if rows > 0 {
            writeln!(text, "  {what:8} {:>9}  {meaning}", grouped(rows))?;
        }
    }
    Ok(())
}

/// What can be done about leads that may still be there.
fn what_helps(run: RunId, open: &OpenRows) -> String {
    let mut text = String::new();
    let them = |rows| if rows == 1 { "it" } else { "them" };
    let hints = [
        (
            open.again,
            "refused by the service, or not answered: the same command asks again".to_owned(),
        ),
        (
            open.uncertain,
            format!(
                "uncertain: `leadload runs reconcile {run}` looks {} up, then the same command goes on",
                them(open.uncertain)
            ),
        ),
        (
            open.by_hand,
            format!(
                "perhaps not this run's alone, or changed since: look at {} in the service's own screens",
                them(open.by_hand)
            ),
        ),
    ];
    for (rows, hint) in hints.into_iter().filter(|(rows, _)| *rows > 0) {
        let _ = write!(text, "\n  {} {hint}", grouped(rows));
    }
    match text.is_empty() {
        true => text,
        false => format!("\nNot removed:{text}\n"),
    }
}

pub fn undone_json(undone: &Undone, elapsed_s: f64) -> String {
    let mut object = ended(undone.stopped.as_ref(), undone.exit_code(), elapsed_s);
    object["run"] = json!(undone.run);
    object["dry_run"] = false.into();
    object["counts"] = undo_counts(&undone.counts);
    object["requests"] = undone.requests.into();
    object["file"] = json!(undone.file.as_deref().map(text));
    line(&object)
}

/// The same, if nothing was begun. `run` is missing if it is not known.
pub fn undo_failure_json(
    run: Option<&RunRecord>,
    failure: &Failure,
    dry_run: bool,
    elapsed_s: f64,
) -> String {
    let undo = run.and_then(|run| run.undo.as_ref());
    let mut object = ended(Some(failure), failure.stopped_by.exit_code(), elapsed_s);
    object["run"] = json!(run.map(|run| run.run));
    object["dry_run"] = dry_run.into();
    object["counts"] = undo_counts(&undo.map(|undo| undo.counts).unwrap_or_default());
    object["file"] = Value::Null;
    line(&object)
}

/// What all these objects have.
fn ended(stopped: Option<&Failure>, exit_code: ExitCode, elapsed_s: f64) -> Value {
    json!({
        "complete": stopped.is_none(),
        "exit_code": exit_code as u8,
        "stopped_by": stopped.map(|failure| failure.stopped_by.as_str()),
        "requests": 0,
        "elapsed_s": (elapsed_s * 1000.0).round() / 1000.0,
        "error": stopped.map(|failure| failure.message().to_string()),
    })
}

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
    let rows = counted(total, "uncertain row");
    let mut text = format!("run {run}: {looked_up}{rows} looked up\n");
    for (status, what) in [
        (Status::Created, "found, and made by this run"),
        (Status::Duplicate, "found, and perhaps older than this run"),
        (Status::Failed, "not there; they may be sent again"),
        (Status::Uncertain, "still uncertain"),
    ] {
        let rows = counts.of(status);
        if rows > 0 {
            let _ = writeln!(text, "  {:9} {:>9}  {what}", status.as_str(), grouped(rows));
        }
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

/// Why rows that are not listed are still uncertain, as far as it does not help to wait.
fn why_uncertain(undecided: &Undecided) -> String {
    let mut text = String::new();
    for (rows, why) in [
        (
            undecided.unanswered,
            "the service did not answer: run the same command again",
        ),
        (
            undecided.may_be_twice,
            "not listed, but the run allows duplicates, so sending them again could make a second lead",
        ),
        (
            undecided.time_unknown,
            "not listed, but the ledger does not know when they were sent",
        ),
        (
            undecided.none_listed,
            "not listed, but in their campaign the service lists no lead of this run at all",
        ),
    ] {
        if rows > 0 {
            let _ = write!(text, "\n  {} {why}", grouped(rows));
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\nStill uncertain:{text}\nLook for them in the service's own screens.\n"),
    }
}

pub fn reconciled_json(reconciled: &Reconciled, elapsed_s: f64) -> String {
    let stopped = reconciled.stopped.as_ref();
    let mut object = ended(stopped, reconciled.exit_code(), elapsed_s);
    object["run"] = json!(reconciled.run);
    object["rows"] = reconciled.counts.total().into();
    object["counts"] = found_counts(|status| reconciled.counts.of(status));
    object["again_at"] = json!(reconciled.again_at);
    object["requests"] = reconciled.requests.into();
    line(&object)
}

/// The same, if nothing was looked up. `run` is missing if it is not known.
pub fn reconcile_failure_json(
    run: Option<&RunRecord>,
    failure: &Failure,
    elapsed_s: f64,
) -> String {
    let uncertain = run.map_or(0, |run| run.counts.of(Status::Uncertain));
    let mut object = ended(Some(failure), failure.stopped_by.exit_code(), elapsed_s);
    object["run"] = json!(run.map(|run| run.run));
    object["rows"] = uncertain.into();
    object["counts"] = found_counts(|status| match status {
        Status::Uncertain => uncertain,
        _ => 0,
    });
    object["again_at"] = Value::Null;
    line(&object)
}

/// Rows that were uncertain, by what they are now.
fn found_counts(of: impl Fn(Status) -> u64) -> Value {
    use Status::{Created, Duplicate, Failed, Uncertain};
    let all = [Created, Duplicate, Failed, Uncertain];
    let all = all.map(|status| (status.as_str().to_owned(), of(status).into()));
    Value::Object(all.into_iter().collect())
}
