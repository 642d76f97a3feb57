//! What came of undoing a run, or would come of it.

use std::fmt::{self, Write};

use serde_json::{Value, json};

use super::super::json::{line, text};
use super::super::runs_json::undo_counts;
use super::Outcome;
use crate::exit::Failure;
use crate::follow_up::{OpenRows, Undo, Undone};
use crate::ledger::{RunRecord, UndoCounts, UndoStatus};
use crate::text::{counted, grouped, printable};

/// Why a lead of a run is kept, before the service was asked to remove it.
pub const WHY_KEPT: &str = "older than the run, changed since, or made by an earlier run too";

/// That so many leads that are removed may be older than the run, if there are some.
pub fn age_unknown(leads: u64) -> Option<String> {
    (leads > 0).then(|| {
        format!(
            "{} may have been there before: the service lists no exact times",
            counted(leads, "lead")
        )
    })
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
    text.extend(age_unknown(undo.undated()).map(|why| why + "\n"));
    if undo.leads() > 0 && !undo.target().is_own_token {
        text += "with this token, which is not surely that of the run, only those that are listed with their numbers and times\n";
    }
    if undo.closes_run() {
        text += "would close the run, so that its command does not go on with it\n";
    }
    let counts = undo.counts();
    let kept = format!("kept: {WHY_KEPT}");
    for (status, what) in [
        (UndoStatus::Undone, "removed already"),
        (UndoStatus::Gone, "not there any more"),
        (UndoStatus::Kept, &kept),
        (
            UndoStatus::Unknown,
            "unknown: it is not known whether this run has made a lead",
        ),
    ] {
        let rows = counts.of(status);
        if rows > 0 {
            let _ = writeln!(text, "{}: {what}", counted(rows, "row"));
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
        "requests": undo.target().client.requests(),
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
    text.extend(age_unknown(undone.undated).map(|why| why + "\n"));
    if let Some(file) = &undone.file {
        let _ = writeln!(text, "\nFile: {}", printable(&file.display().to_string()));
    }
    for kept in &undone.kept {
        let kept = kept.display().to_string();
        let _ = writeln!(text, "An earlier file is kept as {}", printable(&kept));
    }
    text += &what_helps(&undone.open);
    match undone.has_begun {
        true => text + "\nCalls already made stay made.\n",
        false => text,
    }
}

/// What became of the rows of a run that is undone.
pub fn write_undone(text: &mut String, counts: &UndoCounts) -> fmt::Result {
    let of_status = UndoStatus::ALL.map(|status| (status.as_str(), counts.of(status)));
    for (word, rows) in of_status.into_iter().chain([("left", counts.left)]) {
        let meaning = match word {
            "undone" => "removed from the service",
            "gone" => "not there any more",
            "kept" => "still there; the file says why",
            "unknown" => "not known whether a lead of this run is there",
            _ => "not removed yet",
        };
        if rows > 0 {
            writeln!(text, "  {word:8} {:>9}  {meaning}", grouped(rows))?;
        }
    }
    Ok(())
}

/// What can be done about leads that may still be there.
fn what_helps(open: &OpenRows) -> String {
    let mut text = String::new();
    for (rows, hint) in [
        (
            open.again,
            "refused by the service, or not answered: the same command asks again",
        ),
        (
            open.uncertain,
            "uncertain: not listed by the service so far, or sent so recently that they may still arrive; the same command looks them up again",
        ),
        (
            open.by_hand,
            "not surely this run's, changed since, or without an id: the file says why; use the service's own screens",
        ),
    ] {
        if rows > 0 {
            let _ = write!(text, "\n  {} {hint}", grouped(rows));
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\nNot removed:{text}\n"),
    }
}

pub fn undone_json(undone: &Undone, elapsed_s: f64) -> String {
    let outcome = Outcome {
        run: Some(undone.run),
        stopped: undone.stopped.as_ref(),
        exit_code: undone.exit_code(),
        requests: Some(undone.requests),
        elapsed_s,
    };
    let mut object = outcome.json();
    object["dry_run"] = false.into();
    object["counts"] = undo_counts(&undone.counts);
    object["file"] = json!(undone.file.as_deref().map(text));
    line(&object)
}

/// The same after a failure, with what the ledger knew of the run before.
pub fn undo_failure_json(
    run: Option<&RunRecord>,
    failure: &Failure,
    dry_run: bool,
    elapsed_s: f64,
) -> String {
    let before = run.and_then(|run| run.undo.as_ref());
    let mut object = Outcome::failed(run, failure, elapsed_s).json();
    object["dry_run"] = dry_run.into();
    object["counts"] = undo_counts(&before.map(|undo| undo.counts).unwrap_or_default());
    object["file"] = Value::Null;
    line(&object)
}
