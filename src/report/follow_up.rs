//! What came of undoing a run, and of looking its uncertain rows up.

use std::fmt::Write;

use serde_json::{Value, json};

use super::json::{line, text};
use super::runs_json::undo_counts;
use crate::api::verdict::FatalCause;
use crate::exit::{Failure, StoppedBy};
use crate::follow_up::{Reconciled, Undo, Undone};
use crate::lead::Status;
use crate::ledger::{UndoCounts, UndoStatus};
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
        Stopped::NotOffered(text) => (
            StoppedBy::Unreadable,
            format!("the service does not offer this call: {text}"),
            "use the service's own screens: `leadload runs export` lists the leads with their ids",
            "Use the service's own screens. The results list the leads with their ids.",
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
    let message = Message::new(what.clone(), hint).on_page(what, on_page);
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
    add_untouched(&mut text, &undo.untouched());
    text + "nothing was removed\n"
}

fn add_untouched(text: &mut String, counts: &UndoCounts) {
    for (status, what) in [
        (
            UndoStatus::Kept,
            "kept: an earlier run has made the lead too",
        ),
        (
            UndoStatus::Unknown,
            "unknown: it is not known whether this run made the lead",
        ),
    ] {
        let rows = counts.of(status);
        if rows > 0 {
            let _ = writeln!(
                text,
                "{} would be left as it is, {what}",
                counted(rows, "row")
            );
        }
    }
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
        "counts": undo_counts(&undo.untouched()),
        "requests": undo.target().calls.requests(),
        "file": null,
        "error": null,
    }))
}

pub fn undone_text(undone: &Undone) -> String {
    let counts = &undone.counts;
    let mut text = format!("run {}:\n", undone.run);
    for (status, what) in [
        (UndoStatus::Undone, "removed from the service"),
        (UndoStatus::Gone, "not there any more"),
        (UndoStatus::Kept, "still there; the file says why"),
        (
            UndoStatus::Unknown,
            "not known whether there is a lead of this run",
        ),
    ] {
        let rows = counts.of(status);
        if rows > 0 || status == UndoStatus::Undone {
            let _ = writeln!(text, "  {:8} {:>9}  {what}", status.as_str(), grouped(rows));
        }
    }
    if counts.left > 0 {
        let _ = writeln!(
            text,
            "  {:8} {:>9}  not removed yet",
            "left",
            grouped(counts.left)
        );
    }
    if let Some(file) = &undone.file {
        let _ = writeln!(text, "\nFile: {}", printable(&file.display().to_string()));
    }
    for kept in &undone.kept {
        let kept = kept.display().to_string();
        let _ = writeln!(text, "An earlier file is kept as {}", printable(&kept));
    }
    let run = undone.run;
    if counts.of(UndoStatus::Unknown) > 0 {
        let _ = writeln!(
            text,
            "\nRows that are unknown may be leads. `leadload runs reconcile {run}` looks up those that are\nuncertain; then `leadload runs undo {run}` removes what this run made, and tries the others again."
        );
    }
    if counts.of(UndoStatus::Kept) > 0 {
        let _ = writeln!(
            text,
            "\nThe same command tries once more what was kept: a call may be over by then."
        );
    }
    text + "\nCalls already made stay made.\n"
}

pub fn undone_json(undone: &Undone, elapsed_s: f64) -> String {
    let stopped = undone.stopped.as_ref();
    line(&json!({
        "run": undone.run,
        "dry_run": false,
        "complete": stopped.is_none(),
        "exit_code": undone.exit_code() as u8,
        "stopped_by": stopped.map(|failure| failure.stopped_by.as_str()),
        "counts": undo_counts(&undone.counts),
        "requests": undone.requests,
        "elapsed_s": rounded(elapsed_s),
        "file": undone.file.as_deref().map(text),
        "error": stopped.map(|failure| failure.message().to_string()),
    }))
}

pub fn reconciled_text(reconciled: &Reconciled) -> String {
    let counts = &reconciled.counts;
    let run = reconciled.run;
    let total = counts.total();
    if total == 0 {
        return format!("run {run} has no uncertain rows\n");
    }
    let mut text = format!("run {run}: {} looked up\n", counted(total, "uncertain row"));
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
    if let Some(at) = reconciled.again_at {
        let _ = writeln!(
            text,
            "\nThe service may list leads late. Run the same command again after {}.",
            at.strftime("%Y-%m-%d %H:%M UTC")
        );
    }
    if counts.of(Status::Failed) > 0 {
        text += "\nThe import's own command sends the rows that are not there.\n";
    }
    text + &format!(
        "\n`leadload runs export {run} --results FILE` writes all rows as they are known now.\n"
    )
}

pub fn reconciled_json(reconciled: &Reconciled, elapsed_s: f64) -> String {
    let stopped = reconciled.stopped.as_ref();
    let counts = &reconciled.counts;
    let of = |status: Status| counts.of(status);
    line(&json!({
        "run": reconciled.run,
        "complete": stopped.is_none(),
        "exit_code": reconciled.exit_code() as u8,
        "stopped_by": stopped.map(|failure| failure.stopped_by.as_str()),
        "rows": counts.total(),
        "counts": {
            "created": of(Status::Created),
            "duplicate": of(Status::Duplicate),
            "failed": of(Status::Failed),
            "uncertain": of(Status::Uncertain),
        },
        "again_at": reconciled.again_at,
        "requests": reconciled.requests,
        "elapsed_s": rounded(elapsed_s),
        "error": stopped.map(|failure| failure.message().to_string()),
    }))
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}
