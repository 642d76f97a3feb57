//! What a check has found, for programs: the summary's object with more keys.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::findings::{Checked, Lookup};
use super::json::{summary, text, write_line};
use super::later_columns::later_columns_json;
use super::tally::Tally;
use crate::campaign::UnclearNames;
use crate::intake::{Intake, PlannedInput};
use crate::mapping::{ColumnRole, MarkKind};
use crate::source::Content;

/// What grows with the list is written from where it is: as values, 50,000 columns are 100 MB, and three
/// bodies may have 16 MB.
#[derive(Serialize)]
struct Check<'a> {
    #[serde(flatten)]
    summary: Value,
    inputs: Vec<CheckedInput<'a>>,
    lead_bodies: Vec<&'a RawValue>,
}

#[derive(Serialize)]
struct CheckedInput<'a> {
    #[serde(flatten)]
    input: Value,
    #[serde(serialize_with = "columns")]
    columns: &'a PlannedInput,
}

#[derive(Serialize)]
struct Column<'a> {
    column: usize,
    header: &'a str,
    read_for: Option<&'static str>,
    variables: Vec<&'a str>,
    samples: &'a [String],
}

pub fn check_json(checked: &Checked<'_>, to: impl Write) -> io::Result<()> {
    let (outcome, intake) = (checked.outcome, checked.intake);
    let lists = intake.suppression.lists.iter();
    let lists = lists.map(|list| {
        json!({
            "name": list.input.name(),
            "numbers": list.numbers.len(),
            "columns": list.columns,
            "american_registry": list.is_american_registry,
        })
    });
    let bodies = checked.findings.bodies.iter();
    let numbers = checked.findings.kinds.all().into_iter();
    let numbers = numbers.map(|(kind, rows)| {
        json!({
            "country": kind.country.map(|country| country.to_string()),
            "calling_code": kind.calling_code,
            "type": kind.line.as_str(),
            "rows": rows,
        })
    });
    let round = outcome.tally.round_numbers;
    let mut check = summary(outcome);
    check["lists"] = lists.collect();
    check["later_phone_columns"] = later_columns_json(&outcome.list_notes.later_columns);
    check["marks"] = marks(intake);
    check["kept_do_not_call"] = json!(intake.suppression.kept.len());
    check["groups"] = groups(outcome.tally, &outcome.inputs);
    check["numbers"] = numbers.collect();
    check["round_numbers"] = json!({
        "numbers": round.numbers,
        "round": round.round,
        "suspicious": round.are_suspicious(),
    });
    check["estimate_s"] = json!(checked.estimate.as_ref().map(|estimate| json!({
        "least": estimate.least.as_secs_f64(),
        "most": estimate.most.as_secs_f64(),
    })));
    check["campaign_names"] = lookup(checked.lookup, &outcome.inputs);
    if let Some(saved) = checked.saved {
        check["saved_mapping"] = json!({
            "profile": saved.profile,
            "file": text(&saved.file),
            "left_out": saved.left_out,
            "newly_sent": saved.newly_sent,
            "sent_no_more": saved.no_longer_sent,
            "lost": saved.lost,
        });
    }
    let check = Check {
        summary: check,
        inputs: intake.inputs.iter().map(input).collect(),
        lead_bodies: bodies
            .filter_map(|body| serde_json::from_str(body).ok())
            .collect(),
    };
    write_line(&check, to)
}

fn input(planned: &PlannedInput) -> CheckedInput<'_> {
    let text = planned.form.text();
    let sheet = match &planned.form.content {
        Content::Sheet(sheet) => Some(sheet),
        Content::Text(_) => None,
    };
    let names = sheet.iter().flat_map(|sheet| &sheet.names);
    let others = names.filter(|name| sheet.is_some_and(|sheet| sheet.name != **name));
    let notes = planned.mapping.notes.iter();
    let notes: Vec<String> = notes.map(|note| note.text().to_string()).collect();
    let input = json!({
        "name": planned.input.name(),
        "compression": planned.form.compression.map(|by| by.name()),
        "encoding": text.map(|text| text.encoding.name()),
        "byte_order_mark": text.is_some_and(|text| text.has_bom),
        "delimiter": text.map(|text| char::from(text.delimiter)),
        "sheet": sheet.map(|sheet| &sheet.name),
        "other_sheets": others.collect::<Vec<_>>(),
        "hidden_rows": planned.counts.hidden,
        "header_line": planned.header.line,
        "is_rejects_file": planned.mapping.rejects_form.is_some(),
        "note": (!notes.is_empty()).then(|| notes.join("; ")),
        "new_columns": planned.new_columns(),
    });
    CheckedInput {
        input,
        columns: planned,
    }
}

/// What the inputs themselves say about calling.
fn marks(intake: &Intake) -> Value {
    let columns = intake.marked.columns.iter();
    let marks = columns.map(|marked| {
        json!({
            "input": marked.column.input,
            "column": marked.column.header,
            "says": match marked.column.kind {
                MarkKind::DoNotCall => "do_not_call",
                MarkKind::Consent => "consent",
            },
            "rows": marked.rows,
            "empty_consents": marked.empty_consents(),
        })
    });
    marks.collect()
}

fn columns<S: Serializer>(planned: &PlannedInput, to: S) -> Result<S::Ok, S::Error> {
    let names = &planned.header.names;
    let uses = planned.mapping.uses(names.len());
    let headers = names.iter().zip(uses).enumerate();
    to.collect_seq(headers.map(|(column, (header, used))| Column {
        column: column + 1,
        header,
        read_for: match used.role {
            ColumnRole::Phone => Some("phone_number"),
            ColumnRole::Campaign => Some("campaign_id"),
            ColumnRole::Region => Some("region"),
            ColumnRole::Mark => Some("mark"),
            ColumnRole::Ours => Some("leadload"),
            ColumnRole::None => None,
        },
        variables: used.variables,
        samples: planned.samples.get(column).map_or(&[][..], Vec::as_slice),
    }))
}

fn groups(tally: &Tally, inputs: &[&str]) -> Value {
    let groups = tally.groups.iter();
    groups
        .map(|((status, code), group)| {
            let first = group.first.iter().map(|place| {
                json!({
                    "file": name(inputs, place.file),
                    "line": place.line,
                    "row": place.row.0,
                })
            });
            json!({
                "status": status.as_str(),
                "error_code": code.map(|code| code.to_string()),
                "rows": group.rows,
                "example": group.example.as_ref().map(|(_, text)| text),
                "first": first.collect::<Value>(),
            })
        })
        .collect()
}

fn name<'a>(inputs: &[&'a str], file: usize) -> &'a str {
    inputs.get(file).copied().unwrap_or_default()
}

/// The result of looking campaign names up; null if there are no names.
fn lookup(lookup: &Lookup, inputs: &[&str]) -> Value {
    let reason = match lookup {
        Lookup::NotNeeded => return Value::Null,
        Lookup::NotDone(why) => Some(why.to_string()),
        Lookup::Done(_) => None,
    };
    let names = lookup.unclear().into_iter().flat_map(UnclearNames::names);
    let unclear = names.map(|(error, campaign, named)| {
        let first = named.first.iter();
        let first = first.map(|(file, line)| json!({ "file": name(inputs, *file), "line": line }));
        json!({
            "name": campaign,
            "problem": error.problem,
            "ids": error.ids,
            "rows": named.rows,
            "first": first.collect::<Value>(),
        })
    });
    json!({
        "looked_up": reason.is_none(),
        "reason": reason,
        "unclear": unclear.collect::<Value>(),
    })
}
