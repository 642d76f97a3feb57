//! The summary for machines: one object with fixed names.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::countries::Countries;
use super::doubt::DoubtError;
use super::ended::Ended;
use super::stop_text::stop_text;
use super::tally::Tally;
use crate::exit::Failure;
use crate::lead::{CampaignId, Counts, RunId};
use crate::text::without_numbers;

/// The object. A command that ended before it began has all its names too.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    run: Option<RunId>,
    complete: bool,
    exit_code: u8,
    stopped_by: Option<&'static str>,
    rows: u64,
    rows_total: Option<u64>,
    counts: Counts,
    known_bad: u64,
    footer_rows: u64,
    by_campaign: ByCampaign,
    countries: Countries,
    requests: u64,
    elapsed_s: f64,
    results: Option<String>,
    rejects: Rejects,
    /// Named only where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
    error: Option<String>,
}

/// By id, and behind these by name where the id is not known. No name is all digits.
#[derive(Debug, Default, Serialize)]
struct ByCampaign {
    #[serde(flatten)]
    ids: BTreeMap<CampaignId, Counts>,
    #[serde(flatten)]
    names: BTreeMap<String, Counts>,
}

impl ByCampaign {
    fn of(tally: &Tally) -> ByCampaign {
        ByCampaign {
            ids: tally.by_campaign.clone(),
            names: tally.by_campaign_name.clone(),
        }
    }
}

/// One input has one rejects file; several have several.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Rejects {
    One(Option<String>),
    Several(Vec<String>),
}

impl Default for Rejects {
    fn default() -> Self {
        Rejects::One(None)
    }
}

/// The summary of a command that has ended.
pub fn json_summary(ended: &Ended<'_>) -> String {
    line(&Summary::of(ended))
}

/// The same for a test lead, with what the service said of it.
pub(super) fn json_test_summary(ended: &Ended<'_>, said: Option<&str>) -> String {
    let mut summary = Summary::of(ended);
    summary.error = summary.error.or_else(|| said.map(without_numbers));
    line(&summary)
}

impl Summary {
    /// What is the same for every command.
    pub(super) fn of(ended: &Ended<'_>) -> Summary {
        let rows = ended.tally.counts.total();
        let complete = ended.stop.is_none();
        let mut rejects = ended.written.rejects_paths().map(text);
        Summary {
            run: ended.run,
            complete,
            exit_code: ended.exit_code as u8,
            stopped_by: ended.stop.as_ref().map(|stop| stop.by().as_str()),
            rows,
            rows_total: ended.rows_total,
            counts: ended.tally.counts,
            known_bad: ended.tally.known_bad,
            footer_rows: ended.list_notes.footers.len() as u64,
            by_campaign: ByCampaign::of(ended.tally),
            countries: ended.list_notes.countries.clone(),
            requests: ended.requests,
            elapsed_s: (ended.elapsed_s * 1000.0).round() / 1000.0,
            results: ended.written.results.as_deref().map(text),
            rejects: match ended.inputs.len() {
                0 | 1 => Rejects::One(rejects.next()),
                _ => Rejects::Several(rejects.collect()),
            },
            report: ended.written.report.as_deref().map(text),
            error: ended.stop.as_ref().map(stop_text),
        }
    }
}

/// The summary of a command that ended without having begun.
pub fn json_failure(failure: &Failure) -> String {
    let doubt = failure.error.downcast_ref::<DoubtError>();
    line(&Summary {
        countries: doubt
            .map(|doubt| doubt.countries.clone())
            .unwrap_or_default(),
        exit_code: failure.stopped_by.exit_code() as u8,
        stopped_by: Some(failure.stopped_by.as_str()),
        rows_total: failure.rows_total,
        error: Some(format!("{:#}", failure.error)),
        ..Summary::default()
    })
}

/// A path as JSON can hold it: text, with `\u{FFFD}` for what is none.
pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}

/// One line of JSON.
pub(super) fn line(summary: &impl Serialize) -> String {
    #[expect(
        clippy::expect_used,
        reason = "strings, numbers and booleans with string keys, written to memory"
    )]
    let json = serde_json::to_string(summary).expect("a summary is always JSON");
    json + "\n"
}
