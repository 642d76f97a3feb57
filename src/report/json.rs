//! The summary for programs: one object with fixed keys.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Value, json};

use super::countries::Countries;
use super::doubt::DoubtError;
use super::list_mapping::ListMapping;
use super::outcome::Outcome;
use super::stop_text::stop_text;
use crate::exit::Failure;
use crate::lead::Counts;
use crate::text::printable_json;

pub fn json_summary(outcome: &Outcome<'_>) -> String {
    line(&summary(outcome))
}

pub(super) fn summary(outcome: &Outcome<'_>) -> Value {
    let tally = outcome.tally;
    let mut rejects = outcome.written.rejects_paths().map(text);
    // A single rejects path for one input, a list for several inputs.
    let rejects = match outcome.inputs.len() {
        0 | 1 => json!(rejects.next()),
        _ => rejects.collect(),
    };
    // By id, followed by names whose ids are not known. A name is never all digits.
    let mut by_campaign = json!(tally.by_campaign);
    for (name, counts) in &tally.by_campaign_name {
        by_campaign[name] = json!(counts);
    }
    let mut summary = json!({
        "run": outcome.run,
        "complete": outcome.stop.is_none(),
        "exit_code": outcome.exit_code as u8,
        "stopped_by": outcome.stop.as_ref().map(|stop| stop.by().as_str()),
        "rows": tally.counts.total(),
        "rows_total": outcome.rows_total,
        "counts": tally.counts,
        "mapping": outcome.list_notes.mapping,
        "stopped_at": stopped_at(outcome),
        "known_bad": tally.known_bad,
        "footer_rows": outcome.list_notes.footers.len(),
        "blank_rows": outcome.list_notes.blank_rows,
        "by_campaign": by_campaign,
        "countries": outcome.list_notes.countries,
        "requests": outcome.requests,
        "elapsed_s": (outcome.elapsed_s * 1000.0).round() / 1000.0,
        "results": outcome.written.results.as_deref().map(text),
        "rejects": rejects,
    });
    // This key exists only if a report was asked for.
    if let Some(report) = &outcome.written.report {
        summary["report"] = text(report).into();
    }
    let error = outcome
        .stop
        .as_ref()
        .map(|stop| stop_text(stop).to_string());
    summary["error"] = error.into();
    summary
}

/// The lines of refused rows without an outcome; with several inputs each with its file.
fn stopped_at(outcome: &Outcome<'_>) -> Vec<Value> {
    let places = outcome.stopped_at.iter();
    let named = |(file, line): &(usize, u64)| match outcome.inputs.as_slice() {
        [_] => json!(line),
        inputs => json!({ "file": inputs.get(*file), "line": line }),
    };
    places.map(named).collect()
}

/// The summary of a command that ended before it began: all keys, with what is known.
pub fn json_failure(failure: &Failure) -> String {
    let doubt = failure.error.downcast_ref::<DoubtError>();
    line(&json!({
        "run": null,
        "complete": false,
        "exit_code": failure.stopped_by.exit_code() as u8,
        "stopped_by": failure.stopped_by.as_str(),
        "rows": 0,
        "rows_total": failure.rows_total,
        "counts": Counts::default(),
        "mapping": failure.mapping.clone().unwrap_or_else(|| json!(ListMapping::default())),
        "stopped_at": [],
        "known_bad": 0,
        "footer_rows": 0,
        "blank_rows": 0,
        "by_campaign": {},
        "countries": doubt.map_or(&Countries::default(), |doubt| &doubt.countries),
        "requests": 0,
        "elapsed_s": 0.0,
        "results": null,
        "rejects": null,
        "error": failure.message().to_string(),
    }))
}

/// A path as text for JSON, with `\u{FFFD}` for bytes that are not Unicode.
pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Writes a [`line`] without holding it in memory.
pub(super) fn write_line(summary: &impl Serialize, to: impl Write) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    summary.serialize(&mut Serializer::with_formatter(&mut to, Printable))?;
    to.write_all(b"\n")?;
    to.flush()
}

struct Printable;

impl Formatter for Printable {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        to: &mut W,
        part: &str,
    ) -> io::Result<()> {
        to.write_all(printable_json(part).as_bytes())
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, to: &mut W, part: &str) -> io::Result<()> {
        to.write_all(printable_json(part).as_bytes())
    }
}

/// One line, which steers no terminal whatever is in it.
pub(super) fn line(summary: &impl Serialize) -> String {
    #[expect(
        clippy::expect_used,
        reason = "strings, numbers and booleans with string keys, written to memory"
    )]
    let json = serde_json::to_string(summary).expect("a summary is always JSON");
    printable_json(&json).into_owned() + "\n"
}
