//! What a check has found, for people.

use super::block::{Block, Column, Form, Table};
use super::findings::{Checked, Findings, Lookup};
use super::list_facts::list_facts;
use super::next::files;
use super::outcome::Outcome;
use super::problems::{MAX_PROBLEMS, left_out, problems};
use super::rows::{by_campaign, by_country, rows};
use crate::command_line::CommandLine;
use crate::intake::{Intake, PlannedInput};
use crate::lead::Status;
use crate::mapping::{ColumnRole, ColumnUse};
use crate::message::Text;
use crate::settings::MappingToSave;
use crate::text::{counted, listed, one_line, printable, shortened};

const SAMPLE_LENGTH: usize = 20;

const BODY_LENGTH: usize = 1000;

/// Nobody reads more, and a table takes its memory.
const MAX_COLUMNS: usize = 1000;

/// What a check has found.
pub fn check(checked: &Checked<'_>) -> Vec<Block> {
    let Checked {
        outcome, intake, ..
    } = checked;
    let rows_checked = outcome.tally.counts.total();
    let mut blocks = list_facts(intake, true);
    for planned in intake.inputs.iter() {
        if intake.inputs.len() > 1 {
            blocks.push(Block::Title(Text::said(planned.input.name())));
        }
        blocks.push(Block::Table(columns(planned, true)));
    }
    blocks.extend(first_requests(checked.findings));
    blocks.push(Block::Title(text!(
        "{rows_checked:row} checked, nothing was sent",
        rows_checked
    )));
    blocks.extend(rows(outcome.tally));
    blocks.extend(campaigns(outcome, Status::Ready, checked.lookup));
    blocks.extend(left_out(outcome, None));
    blocks.extend(problems(outcome, MAX_PROBLEMS, None));
    blocks.extend(unknown_countries(intake).map(Block::Paragraph));
    blocks.extend(by_country(&checked.findings.kinds));
    if outcome.tally.counts.of(Status::Ready) > 0 {
        let estimate = checked
            .estimate
            .map(|estimate| Block::Paragraph(estimate.text()));
        blocks.extend(estimate);
    }
    blocks.extend(files(outcome));
    if let Some(saved) = checked.saved {
        blocks.extend(saved_mapping(saved, checked.next.as_ref()));
    }
    blocks
}

fn saved_mapping(saved: &MappingToSave, next: Option<&CommandLine>) -> Vec<Block> {
    let mut blocks = vec![Block::Title(terminal_text!(
        "Saved the mapping in profile `{profile}` ({file}). Imports with this profile send only these columns.",
        profile = printable(&saved.profile),
        file = printable(&saved.file.display().to_string())
    ))];
    let changes = [
        (&saved.newly_sent, "Newly sent (left out before)"),
        (&saved.no_longer_sent, "No longer sent"),
        (
            &saved.lost,
            "No longer in the mapping, because the list does not have them",
        ),
        (&saved.left_out, "New, so not sent"),
    ];
    let changes = changes
        .into_iter()
        .filter(|(columns, _)| !columns.is_empty());
    let changes = changes.map(|(columns, what)| {
        Block::Title(terminal_text!(
            "{what}: {columns}",
            what,
            columns = columns.clone()
        ))
    });
    blocks.extend(changes);
    if !saved.left_out.is_empty() {
        blocks.push(Block::Title(terminal_text!(
            "To send new columns, name every column to send with `--var`, and save the mapping again."
        )));
    }
    let next = next.and_then(CommandLine::shown);
    blocks.extend(next.map(|line| Block::Command(text!("Next"), Some(line.to_owned()))));
    blocks
}

/// For each column, and for each constant: its title, the name under which it is sent, and examples.
pub(super) fn columns(planned: &PlannedInput, has_examples: bool) -> Table {
    let names = &planned.header.names;
    let uses = planned.mapping.uses(names.len());
    let headers = names.iter().zip(uses).enumerate();
    let columns = headers.map(|(column, (header, used))| {
        let samples = samples(planned, column).join(" · ");
        vec![title(column, header), sent_as(used), Text::said(samples)]
    });
    let constants = planned.mapping.constants.iter().map(|(name, value)| {
        let value = shortened(&one_line(value), SAMPLE_LENGTH);
        vec![text!("(every row)"), Text::said(name), Text::said(value)]
    });
    let left = (names.len() + planned.mapping.constants.len()).saturating_sub(MAX_COLUMNS);
    let examples = match has_examples {
        true => text!("for example"),
        false => Text::default(),
    };
    Table {
        columns: [text!("column"), text!("sent as"), examples]
            .map(|name| Column::new(name, Form::Words))
            .into(),
        rows: columns.chain(constants).take(MAX_COLUMNS).collect(),
        rest: match left {
            0 => Text::default(),
            left => text!("and {left:more column}", left),
        },
        ..Table::default()
    }
}

fn title(column: usize, header: &str) -> Text {
    match header.trim() {
        "" => text!("(column {number})", number = column + 1),
        name => Text::said(shortened(&printable(name), 2 * SAMPLE_LENGTH)),
    }
}

fn sent_as(used: ColumnUse<'_>) -> Text {
    let role = match used.role {
        ColumnRole::Phone => Some("phone_number"),
        ColumnRole::Campaign => Some("campaign_id"),
        _ => None,
    };
    let names: Vec<&str> = role.into_iter().chain(used.variables).collect();
    match (names.is_empty(), used.role) {
        (false, _) => Text::said(names.join(", ")),
        (true, ColumnRole::Region) => text!("not sent: the number's country"),
        (true, ColumnRole::Mark) => text!("not sent: who is called"),
        (true, ColumnRole::Ours) => text!("not sent: added by leadload"),
        (true, _) => text!("not sent"),
    }
}

fn samples(planned: &PlannedInput, column: usize) -> Vec<String> {
    let values = planned.samples.get(column).into_iter().flatten();
    values
        .map(|value| shortened(&one_line(value), SAMPLE_LENGTH))
        .collect()
}

fn first_requests(findings: &Findings) -> Vec<Block> {
    let bodies = findings.bodies.iter();
    let lines: Vec<String> = bodies.map(|body| shortened(body, BODY_LENGTH)).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Heading(text!("The first requests would be")),
        Block::Literal(lines),
    ];
    if findings.has_unknown_campaign {
        blocks.push(Block::List(vec![text!(
            "(campaign_id is null: no campaign is chosen yet, or its name was not looked up)"
        )]));
    }
    blocks
}

/// The rows of each campaign, if there are several or if campaign names
/// were or should have been looked up; and what the lookup found.
pub(super) fn campaigns(outcome: &Outcome<'_>, done: Status, lookup: &Lookup) -> Vec<Block> {
    let tally = outcome.tally;
    let campaigns = tally.by_campaign.len() + tally.by_campaign_name.len();
    let mut blocks = Vec::new();
    if campaigns > 1 || campaigns == 1 && *lookup != Lookup::NotNeeded {
        blocks.push(by_campaign(tally, &outcome.campaign_names, done));
    }
    match lookup {
        Lookup::NotDone(why) => blocks.push(Block::Note(not_looked_up(why))),
        Lookup::Done(Some(unclear)) => {
            blocks.push(Block::Heading(text!(
                "An import would send nothing until these campaign names are clear"
            )));
            blocks.push(Block::List(
                unclear
                    .lines()
                    .into_iter()
                    .chain([Text::terminal(unclear.hint())])
                    .collect(),
            ));
        }
        _ => {}
    }
    blocks
}

/// That the names of campaigns were not looked up, and what that means.
pub fn not_looked_up(why: &Text) -> Text {
    text!(
        "{The|the} names of {|the }campaigns {were|could} not {|be }looked up{ at the service|, so some rows may be refused when the list is sent}: {why}",
        why = why.clone()
    )
}

fn unknown_countries(intake: &Intake) -> Option<Text> {
    let evidence = intake.inputs.iter().filter_map(PlannedInput::evidence);
    let names = evidence.flat_map(|evidence| &evidence.unknown_countries);
    let names =
        names.map(|(name, rows)| format!("{} ({})", listed(&[name]), counted(*rows, "row")));
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        terminal_text!(
            "Countries that are not known: {names}",
            names = names.join(", ")
        )
    })
}
