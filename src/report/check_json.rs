//! What a check has found, for machines: the summary's object with more names.

use serde::Serialize;
use serde_json::value::RawValue;

use super::findings::{Checked, Lookup};
use super::json::{Summary, line, text};
use super::tally::Tally;
use crate::campaign::{CampaignError, UnclearNames};
use crate::intake::PlannedInput;
use crate::mapping::ColumnRole;
use crate::source::Content;

#[derive(Serialize)]
struct Check<'a> {
    #[serde(flatten)]
    summary: Summary,
    inputs: Vec<Input<'a>>,
    lists: Vec<List<'a>>,
    lead_bodies: Vec<Box<RawValue>>,
    groups: Vec<Group<'a>>,
    numbers: Vec<Numbers>,
    /// Numbers that end in 00000, of all that could be read.
    round_numbers: RoundNumbers,
    estimate_s: Option<Span>,
    /// What names of campaigns mean; null where there are none.
    campaign_names: Option<LookupJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_mapping: Option<Saved<'a>>,
}

/// What names of campaigns mean.
#[derive(Serialize)]
struct LookupJson<'a> {
    looked_up: bool,
    /// Why they were not.
    reason: Option<&'a str>,
    unclear: Vec<UnclearJson<'a>>,
}

#[derive(Serialize)]
struct UnclearJson<'a> {
    name: &'a str,
    problem: &'static str,
    ids: Vec<&'a str>,
    rows: u64,
    first: Vec<NamePlace<'a>>,
}

#[derive(Serialize)]
struct NamePlace<'a> {
    file: &'a str,
    line: u64,
}

/// Where the mapping was kept.
#[derive(Serialize)]
struct Saved<'a> {
    profile: &'a str,
    file: String,
    /// Columns that are new since the mapping was kept before, and left out.
    left_out: &'a [String],
    /// Columns that were left out before, and are sent from now on.
    newly_sent: &'a [String],
    /// Columns that were sent before, and are left out from now on.
    sent_no_more: &'a [String],
    /// Columns that it named, and that the list has no more.
    lost: &'a [String],
}

/// One input and what was guessed of it.
#[derive(Serialize)]
struct Input<'a> {
    name: &'a str,
    compression: Option<String>,
    encoding: Option<String>,
    byte_order_mark: bool,
    delimiter: Option<String>,
    sheet: Option<&'a str>,
    header_line: Option<u64>,
    is_rejects_file: bool,
    note: Option<String>,
    new_columns: Vec<String>,
    columns: Vec<Column<'a>>,
}

#[derive(Serialize)]
struct Column<'a> {
    column: usize,
    header: &'a str,
    read_for: Option<&'static str>,
    variables: Vec<&'a str>,
    samples: &'a [String],
}

#[derive(Serialize)]
struct List<'a> {
    name: &'a str,
    numbers: usize,
}

/// Rows that ended alike.
#[derive(Serialize)]
struct Group<'a> {
    status: &'static str,
    error_code: Option<String>,
    rows: u64,
    example: Option<&'a str>,
    first: Vec<Place<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u64,
    row: u64,
}

#[derive(Serialize)]
struct Numbers {
    country: Option<String>,
    calling_code: u16,
    #[serde(rename = "type")]
    line: &'static str,
    rows: u64,
}

#[derive(Serialize)]
struct RoundNumbers {
    numbers: u64,
    round: u64,
    suspicious: bool,
}

#[derive(Serialize)]
struct Span {
    least: f64,
    most: f64,
}

/// The report of a check.
pub fn check_json(checked: &Checked<'_>) -> String {
    let Checked {
        ended,
        intake,
        findings,
        lookup,
        estimate,
        saved,
    } = checked;
    let round = ended.tally.round_numbers;
    line(&Check {
        summary: Summary::of(ended),
        inputs: intake.inputs.iter().map(input).collect(),
        lists: intake
            .suppression
            .lists
            .iter()
            .map(|list| List {
                name: list.input.name(),
                numbers: list.numbers.len(),
            })
            .collect(),
        lead_bodies: findings
            .bodies
            .iter()
            .filter_map(|body| RawValue::from_string(body.clone()).ok())
            .collect(),
        groups: groups(ended.tally, &ended.inputs),
        numbers: findings
            .kinds
            .all()
            .into_iter()
            .map(|(kind, rows)| Numbers {
                country: kind.country.map(|country| country.to_string()),
                calling_code: kind.calling_code,
                line: kind.line.as_str(),
                rows,
            })
            .collect(),
        round_numbers: RoundNumbers {
            numbers: round.numbers,
            round: round.round,
            suspicious: round.are_suspicious(),
        },
        estimate_s: estimate.as_ref().map(|estimate| Span {
            least: estimate.least.as_secs_f64(),
            most: estimate.most.as_secs_f64(),
        }),
        campaign_names: lookup_json(lookup, &ended.inputs),
        saved_mapping: saved.map(|saved| Saved {
            profile: &saved.profile,
            file: text(&saved.file),
            left_out: &saved.left_out,
            newly_sent: &saved.newly_sent,
            sent_no_more: &saved.sent_no_more,
            lost: &saved.lost,
        }),
    })
}

fn input(planned: &PlannedInput) -> Input<'_> {
    let text = planned.form.text();
    Input {
        name: planned.input.name(),
        compression: planned.form.compression.map(|by| by.to_string()),
        encoding: text.map(|text| text.encoding.to_string()),
        byte_order_mark: text.is_some_and(|text| text.has_bom),
        delimiter: text.map(|text| char::from(text.delimiter).to_string()),
        sheet: match &planned.form.content {
            Content::Sheet(sheet) => Some(&sheet.name),
            Content::Text(_) => None,
        },
        header_line: planned.header.line,
        is_rejects_file: planned.mapping.rejects_form.is_some(),
        note: note(planned),
        new_columns: planned.new_columns(),
        columns: columns(planned),
    }
}

/// How its columns were found, where that needs a remark.
fn note(planned: &PlannedInput) -> Option<String> {
    let notes = planned.mapping.notes.iter();
    let notes: Vec<&str> = notes.map(|note| &*note.text).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn columns(planned: &PlannedInput) -> Vec<Column<'_>> {
    let headers = planned.header.names.iter().enumerate();
    headers
        .map(|(column, header)| {
            let used = planned.mapping.uses(column);
            Column {
                column: column + 1,
                header,
                read_for: match used.role {
                    ColumnRole::Phone => Some("phone_number"),
                    ColumnRole::Campaign => Some("campaign_id"),
                    ColumnRole::Region => Some("region"),
                    ColumnRole::Ours => Some("leadload"),
                    ColumnRole::None => None,
                },
                variables: used.variables,
                samples: planned.samples.get(column).map_or(&[], Vec::as_slice),
            }
        })
        .collect()
}

fn groups<'a>(tally: &'a Tally, inputs: &[&'a str]) -> Vec<Group<'a>> {
    tally
        .groups
        .iter()
        .map(|((status, code), group)| Group {
            status: status.as_str(),
            error_code: code.map(|code| code.to_string()),
            rows: group.rows,
            example: group.example.as_deref(),
            first: group
                .first
                .iter()
                .map(|place| Place {
                    file: inputs.get(place.file).copied().unwrap_or_default(),
                    line: place.line,
                    row: place.row.0,
                })
                .collect(),
        })
        .collect()
}

/// Nothing where there are no names.
fn lookup_json<'a>(lookup: &'a Lookup, inputs: &[&'a str]) -> Option<LookupJson<'a>> {
    let reason = match lookup {
        Lookup::NotNeeded => return None,
        Lookup::NotDone(why) => Some(why.as_str()),
        Lookup::Done(_) => None,
    };
    let names = lookup.unclear().into_iter().flat_map(UnclearNames::names);
    let unclear = names.map(|(error, name, named)| {
        let (problem, ids) = match error {
            CampaignError::Ambiguous { ids, .. } => {
                ("ambiguous", ids.iter().map(String::as_str).collect())
            }
            CampaignError::NotAnInteger { id, .. } => ("not_an_integer", vec![id.as_str()]),
            CampaignError::Unknown { .. } => ("unknown", Vec::new()),
        };
        let first = named.first.iter().map(|(file, line)| NamePlace {
            file: inputs.get(*file).copied().unwrap_or_default(),
            line: *line,
        });
        UnclearJson {
            name,
            problem,
            ids,
            rows: named.rows,
            first: first.collect(),
        }
    });
    Some(LookupJson {
        looked_up: reason.is_none(),
        reason,
        unclear: unclear.collect(),
    })
}
