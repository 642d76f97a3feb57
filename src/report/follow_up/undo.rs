//! What came of undoing a run, or would come of it.

use serde_json::{Value, json};

use super::super::block::{Block, Count, File};
use super::super::json::{line, text};
use super::super::runs_json::undo_counts as counts_json;
use super::FollowUpOutcome;
use crate::exit::Failure;
use crate::follow_up::{OpenRows, Undo, Undone};
use crate::ledger::{RunRecord, UndoCounts, UndoStatus};
use crate::message::{Template, Text};
use crate::text::{counted, grouped, printable};

/// Why a lead of a run is kept, before the service was asked to remove it.
pub const WHY_KEPT: &str = "older than the run, changed since, or made by an earlier run too";

/// That so many leads that are removed may be older than the run, if there are some.
pub fn age_unknown(leads: u64) -> Option<Text> {
    (leads > 0).then(|| {
        text!(
            "{leads:lead} may have been there before: the service lists no exact times",
            leads
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
pub fn undo_plan(undo: &Undo) -> Vec<Block> {
    let counts = undo.counts();
    let without_token = undo.leads() > 0 && !undo.target().is_own_token;
    let rows = [
        (UndoStatus::Undone, text!("removed already")),
        (UndoStatus::Gone, text!("not there any more")),
        (UndoStatus::Kept, text!("kept: {why}", why = WHY_KEPT)),
        (
            UndoStatus::Unknown,
            text!("unknown: this run may have made a lead"),
        ),
    ];
    let rows = rows
        .into_iter()
        .filter(|(status, _)| counts.of(*status) > 0);
    let rows =
        rows.map(|(status, what)| text!("{rows:row}: {what}", rows = counts.of(status), what));
    let removed = text!("would remove {leads}", leads = leads_to_remove(undo));
    let lines = std::iter::once(removed)
        .chain(age_unknown(undo.undated()))
        .chain(without_token.then(|| terminal_text!("with this token, which is not surely that of the run, only those that are listed with their numbers and times")))
        .chain(undo.closes_run().then(|| terminal_text!("would close the run, so that its command does not go on with it")))
        .chain(rows)
        .chain([text!("nothing was removed")]);
    lines.map(Block::Title).collect()
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
        "counts": counts_json(&undo.counts()),
        "requests": undo.target().client.requests(),
        "file": null,
        "error": null,
    }))
}

pub fn undone(undone: &Undone) -> Vec<Block> {
    let run = undone.run.to_string();
    let title = match undone.has_begun {
        true => text!("run {run}:", run),
        false => text!(
            "run {run} has no leads that can be removed, so nothing was changed",
            run
        ),
    };
    let mut blocks = vec![Block::Title(title), undo_counts(&undone.counts)];
    blocks.extend(age_unknown(undone.undated).map(Block::Paragraph));
    let files = undone
        .file
        .iter()
        .map(|path| File::new(text!("File"), path));
    let kept = undone.kept.iter();
    let kept = kept.map(|path| File::new(text!("An earlier file is kept as"), path));
    blocks.push(Block::Files(files.chain(kept).collect()));
    blocks.extend(what_helps(&undone.open));
    if undone.has_begun {
        blocks.push(Block::Paragraph(CALLS.into()));
    }
    blocks
}

const CALLS: Template = template!("Calls already made stay made.");

/// What became of the rows of a run that is undone.
fn undo_counts(counts: &UndoCounts) -> Block {
    let of_status = UndoStatus::ALL.map(|status| (Some(status), counts.of(status)));
    let all = of_status.into_iter().chain([(None, counts.left)]);
    let all = all.filter(|(_, rows)| *rows > 0).map(|(status, rows)| {
        let (name, meaning) = match status {
            Some(UndoStatus::Undone) => (
                template!("{undone|removed from the campaign}"),
                template!("{removed from the service|}"),
            ),
            Some(UndoStatus::Gone) => (
                template!("{gone|not there any more}"),
                template!("{not there any more|}"),
            ),
            Some(UndoStatus::Kept) => (
                template!("{kept|still in the campaign}"),
                template!("{still there; the file says why|}"),
            ),
            Some(UndoStatus::Unknown) => (
                template!("{unknown|not sure it is there}"),
                template!("{not known whether a lead of this run is there|}"),
            ),
            None => (
                template!("{left|not removed yet}"),
                template!("{not removed yet|}"),
            ),
        };
        Count::new(name, rows, meaning)
    });
    Block::Counts(all.collect())
}

/// What is known of undoing a run, later.
pub(in crate::report) fn undone_before(counts: &UndoCounts) -> Vec<Block> {
    let unknown = counts.of(UndoStatus::Unknown);
    let kept = (counts.of(UndoStatus::Kept) > 0).then(|| text!(
        "{|a lead is still there if a call is under way: try again after a while; it stays if it is older than this list, if an earlier one has added it too, or if it was changed in the calling service}"
    ));
    let unknown = (unknown > 0).then(|| text!(
        "{|of {unknown:row} it isn't sure that there is a lead, or that it came with this list; press “Undo” again after a while: they are looked up once more; if that changes nothing, look in the service's own screens}",
        unknown
    ));
    let left = (counts.left > 0).then(|| text!("{|press “Undo” to remove the others too}"));
    let said = [kept, unknown, left, Some(CALLS.into())]
        .into_iter()
        .flatten();
    std::iter::once(undo_counts(counts))
        .chain(said.map(Block::Paragraph))
        .collect()
}

/// What can be done about leads that may still be there.
fn what_helps(open: &OpenRows) -> Vec<Block> {
    let helps = [
        (
            open.again,
            template!("refused by the service, or not answered: {again}"),
        ),
        (
            open.uncertain,
            template!(
                "uncertain: not listed by the service so far, or sent so recently that they may still arrive; {again} to look them up"
            ),
        ),
        (
            open.by_hand,
            template!(
                "not surely this run's, changed since, or without an id: the file says why; use the service's own screens"
            ),
        ),
    ];
    listed(text!("not removed"), helps)
}

/// Rows, each with why or what helps; nothing if there are none.
pub(super) fn listed<const N: usize>(heading: Text, rows: [(u64, Template); N]) -> Vec<Block> {
    let rows = rows.into_iter().filter(|(rows, _)| *rows > 0);
    let rows = rows.map(|(rows, why)| text!("{rows:} {why}", rows, why));
    let rows: Vec<Text> = rows.collect();
    match rows.is_empty() {
        true => Vec::new(),
        false => vec![Block::Heading(heading), Block::List(rows)],
    }
}

pub fn undone_json(undone: &Undone, elapsed_s: f64) -> String {
    let outcome = FollowUpOutcome {
        run: Some(undone.run),
        stopped: undone.stopped.as_ref(),
        exit_code: undone.exit_code(),
        requests: Some(undone.requests),
        elapsed_s,
    };
    let mut object = outcome.json();
    object["dry_run"] = false.into();
    object["counts"] = counts_json(&undone.counts);
    object["file"] = json!(undone.file.as_deref().map(text));
    line(&object)
}

/// What is known after a failure, with what the ledger knew of the run before.
pub fn undo_failure_json(
    run: Option<&RunRecord>,
    failure: &Failure,
    dry_run: bool,
    elapsed_s: f64,
) -> String {
    let before = run.and_then(|run| run.undo.as_ref());
    let mut object = FollowUpOutcome::failed(run, failure, elapsed_s).json();
    object["dry_run"] = dry_run.into();
    object["counts"] = counts_json(&before.map(|undo| undo.counts).unwrap_or_default());
    object["file"] = Value::Null;
    line(&object)
}
