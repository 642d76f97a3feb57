//! What the ledger knows about runs, for programs.

use std::path::Path;

use serde_json::{Value, json};

use super::json::{line, text};
use super::runs::Forgotten;
use crate::lead::{Counts, RunTag};
use crate::ledger::{
    InputRecord, LedgerPlace, ListRecord, OutputRecord, OutputState, Pruned, RunRecord, RunState,
    StartRecord, Transferred, UndoCounts, UndoRecord, UndoStatus,
};
use crate::results::{PrunedFiles, Written};
use crate::text::hex;

pub fn runs_json(runs: &[RunRecord]) -> String {
    let runs: Vec<Value> = runs.iter().map(run).collect();
    line(&json!({ "runs": runs }))
}

pub fn run_json(record: &RunRecord) -> String {
    line(&run(record))
}

pub fn export_json(counts: &Counts, written: &Written) -> String {
    line(&json!({
        "results": written.results.as_deref().map(text),
        "rows": counts.total(),
        "counts": counts,
    }))
}

pub fn copied_json(copy: &Path, runs: usize, bytes: u64) -> String {
    line(&json!({ "copy": text(copy), "runs": runs, "bytes": bytes }))
}

pub fn transferred_json(to: &LedgerPlace, copied: Transferred) -> String {
    line(&json!({ "copy": to.to_string(), "runs": copied.runs, "rows": copied.sent }))
}

pub fn pruned_json(pruned: Pruned, files: Option<&PrunedFiles>) -> String {
    let mut object = json!({ "runs": pruned.runs, "rows": pruned.rows });
    if let Some(files) = files {
        let removed = files.removed.iter().map(|path| text(path));
        let left = files.left.iter();
        let left = left.map(|(path, why)| json!({ "path": text(path), "why": why }));
        object["removed"] = removed.collect::<Vec<_>>().into();
        object["left"] = left.collect::<Vec<_>>().into();
    }
    line(&object)
}

pub fn forgotten_json(what: Forgotten, leads: u64) -> String {
    line(&match what {
        Forgotten::Run(run) => json!({ "run": run, "leads": leads }),
        Forgotten::Number => json!({ "run": null, "leads": leads }),
        Forgotten::Campaign(id) => json!({ "run": null, "campaign": id, "leads": leads }),
    })
}

fn run(run: &RunRecord) -> Value {
    json!({
        "run": run.run,
        "service": run.service,
        "complete": run.completed_at.is_some(),
        "at_work": run.is_at_work,
        "killed": run.state() == RunState::Killed,
        "tag": run.tag.as_ref().map(RunTag::as_str),
        "began_at": run.began_at,
        "completed_at": run.completed_at,
        "pruned_at": run.pruned_at,
        "options": run.options,
        "rows": run.counts.total(),
        "counts": run.counts,
        "undo": run.undo.map(undo),
        "starts": run.starts.iter().map(start).collect::<Vec<Value>>(),
        "inputs": run.inputs.iter().map(input).collect::<Vec<Value>>(),
        "lists": lists(run),
        "outputs": run.outputs.iter().map(output).collect::<Vec<Value>>(),
    })
}

/// When undoing a run began, and its rows by what became of them.
fn undo(undo: UndoRecord) -> Value {
    json!({
        "began_at": undo.began_at,
        "counts": undo_counts(&undo.counts),
    })
}

/// Rows of a run that is undone, by what became of them.
pub(super) fn undo_counts(counts: &UndoCounts) -> Value {
    let all = UndoStatus::ALL.map(|status| (status.as_str().to_owned(), counts.of(status).into()));
    let left = ("left".to_owned(), counts.left.into());
    Value::Object(all.into_iter().chain([left]).collect())
}

fn start(start: &StartRecord) -> Value {
    json!({
        "began_at": start.began_at,
        "ended_at": start.ended_at,
        "process": start.process,
        "host": start.host,
        "user": start.user,
        "version": start.version,
        "exit_code": start.exit_code,
        "stopped_by": start.stopped_by,
        "requests": start.requests,
        "lists": start.lists.iter().map(list).collect::<Vec<Value>>(),
    })
}

fn input(input: &InputRecord) -> Value {
    json!({
        "name": input.name,
        "path": input.path.as_deref().map(text),
        "sha256": hex(&input.sha256),
        "bytes": input.bytes,
        "rows": input.rows,
    })
}

/// The lists of all starts, each distinct version once.
fn lists(run: &RunRecord) -> Vec<Value> {
    let mut seen: Vec<&ListRecord> = Vec::new();
    for list in run.starts.iter().flat_map(|start| &start.lists) {
        if !seen.contains(&list) {
            seen.push(list);
        }
    }
    seen.into_iter().map(list).collect()
}

fn list(list: &ListRecord) -> Value {
    json!({
        "name": list.name,
        "sha256": hex(&list.sha256),
        "rows": list.numbers,
    })
}

fn output(output: &OutputRecord) -> Value {
    let path = output.path.as_deref();
    let name = path.and_then(Path::file_name);
    json!({
        "name": name.map(|name| text(name.as_ref())),
        "path": path.map(text),
        "kind": output.kind.as_str(),
        "sha256": output.sha256.as_ref().map(|digest| hex(digest)),
        "rows": output.rows,
        "state": output.state.map(OutputState::as_str),
    })
}
