//! The summary for machines: one object with fixed names.

use serde_json::{Map, Value, json};

use super::tally::{Counts, Ended};
use crate::exit::Failure;

/// The summary of a command that has ended.
pub fn json_object(ended: &Ended<'_>) -> Value {
    let tally = ended.tally;
    let rows = tally.counts.total();
    let complete = ended.stop.is_none();
    let by_campaign: Map<String, Value> = tally
        .by_campaign
        .iter()
        .map(|(id, campaign)| (id.to_string(), counts(campaign)))
        .collect();
    // One input has one rejects file; several have several.
    let rejects = match (ended.inputs.len(), ended.written.rejects.as_slice()) {
        (0 | 1, []) => Value::Null,
        (0 | 1, [path, ..]) => json!(path),
        (_, paths) => json!(paths),
    };
    json!({
        "run": null,
        "complete": complete,
        "exit_code": ended.exit_code as u8,
        "stopped_by": ended.stop.as_ref().map(|stop| stop.by.as_str()),
        "rows": rows,
        "rows_total": complete.then_some(rows),
        "counts": counts(&tally.counts),
        "known_bad": 0,
        "by_campaign": by_campaign,
        "requests": ended.requests,
        "elapsed_s": (ended.elapsed_s * 1000.0).round() / 1000.0,
        "results": ended.written.results,
        "rejects": rejects,
        "error": ended.stop.as_ref().map(|stop| &stop.text),
    })
}

impl Failure {
    /// The summary of a command that ended without having begun.
    pub fn json_object(&self) -> Value {
        json!({
            "run": null,
            "complete": false,
            "exit_code": self.stopped_by.exit_code() as u8,
            "stopped_by": self.stopped_by.as_str(),
            "rows": 0,
            "rows_total": null,
            "counts": counts(&Counts::default()),
            "known_bad": 0,
            "by_campaign": {},
            "requests": 0,
            "elapsed_s": 0.0,
            "results": null,
            "rejects": null,
            "error": format!("{:#}", self.error),
        })
    }
}

fn counts(counts: &Counts) -> Value {
    let named = counts
        .all()
        .map(|(status, rows)| (status.as_str().to_owned(), json!(rows)));
    Value::Object(named.collect())
}
