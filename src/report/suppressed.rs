//! The do-not-call list that stays: what was changed, and the list itself.

use serde_json::{Value, json};

use super::block::{Block, Column, Form, Table};
use super::json::line;
use super::table::csv_text;
use crate::do_not_call::Added;
use crate::lead::Status;
use crate::ledger::{LeadAt, Suppressed};
use crate::message::Text;
use crate::text::printable;

/// More leads than fit on a screen are in the JSON alone.
const MAX_LEADS: usize = 100;

/// The column of the lists that leads were sent with, where [`added`] shows them.
pub const SENT_WITH: usize = 4;

/// What was added, and which leads these people are already, with the names of the campaign and of the
/// list that it was sent with.
pub fn added(added: &Added, names: &dyn Fn(&LeadAt) -> (String, String)) -> Vec<Block> {
    let known = added.known;
    let already = match known {
        0 => Text::default(),
        _ => text!(
            "; {known:} {known?was:were} on it already{, and {known?stays as it was:stay as they were}|}",
            known
        ),
    };
    let mut blocks = vec![
        Block::Title(text!(
            "{numbers:number} added{ to the do-not-call list|}{already}",
            numbers = added.added,
            already
        )),
        Block::Title(terminal_text!(
            "no import with this ledger calls them, whatever its flags say"
        )),
    ];
    if added.leads.is_empty() {
        return blocks;
    }
    blocks.push(Block::Note(text!(
        "{people:} of these people {people?is a lead:are leads} already, and may be called all the same, unless the lead is removed {at the service|in the calling service}:",
        people = added.people()
    )));
    blocks.push(Block::Table(leads(added, names)));
    blocks.push(Block::Paragraph(terminal_text!(
        "remove them in the service's own screens; `leadload runs undo RUN` removes all leads of a run"
    )));
    blocks
}

fn leads(added: &Added, names: &dyn Fn(&LeadAt) -> (String, String)) -> Table {
    let shown = added.leads.iter().take(MAX_LEADS);
    let rows = shown.map(|lead| {
        let (campaign, list) = names(lead);
        let number = lead.record.number.to_string();
        let run = lead.record.run.to_string();
        let cells = [
            number,
            campaign,
            lead_id(lead),
            run,
            list,
            lead.service.clone(),
        ];
        cells.map(Text::said).into()
    });
    let columns = [
        text!("number"),
        text!("campaign"),
        terminal_text!("lead"),
        terminal_text!("run"),
        text!("{|sent with}"),
        terminal_text!("service"),
    ];
    let left = added.leads.len().saturating_sub(MAX_LEADS);
    Table {
        // Numbers and ids are copied from here, so no cell is wrapped.
        columns: columns.map(|name| Column::new(name, Form::Line)).into(),
        rows: rows.collect(),
        rest: match left {
            0 => Text::default(),
            left => text!(
                "… and {left:} more{; `--format json` lists them all|}",
                left
            ),
        },
        ..Table::default()
    }
}

/// A campaign by its id, and its name where an import has named it.
pub fn campaign_of(added: &Added, lead: &LeadAt) -> String {
    let id = lead.record.campaign;
    match added.campaign(lead) {
        Some(name) => format!("{id} {name}"),
        None => id.to_string(),
    }
}

fn lead_id(lead: &LeadAt) -> String {
    let outcome = &lead.record.outcome;
    match (&outcome.lead_id, outcome.status) {
        (Some(id), _) => printable(id).into_owned(),
        (None, Status::Uncertain) => "perhaps".to_owned(),
        (None, _) => "-".to_owned(),
    }
}

pub fn added_json(added: &Added) -> String {
    let leads = added.leads.iter().map(|lead| {
        json!({
            "phone_number": lead.record.number.to_string(),
            "service": lead.service,
            "campaign_id": lead.record.campaign,
            "campaign": added.campaign(lead),
            "status": lead.record.outcome.status,
            "lead_id": lead.record.outcome.lead_id,
            "run": lead.record.run,
        })
    });
    line(&json!({
        "added": added.added,
        "already_on_it": added.known,
        "leads": leads.collect::<Vec<Value>>(),
    }))
}

pub fn removed(removed: u64, unknown: u64) -> Vec<Block> {
    let others = match unknown {
        0 => Text::default(),
        _ => terminal_text!("; {unknown:} {unknown?was:were} not on it", unknown),
    };
    let mut blocks = vec![Block::Title(terminal_text!(
        "{removed:number} taken off the do-not-call list{others}",
        removed,
        others
    ))];
    if removed > 0 {
        blocks.push(Block::Title(terminal_text!(
            "imports call these people again; one that is being sent does so from its next start on"
        )));
    }
    blocks
}

pub fn removed_json(removed: u64, unknown: u64) -> String {
    line(&json!({ "removed": removed, "not_on_it": unknown }))
}

pub fn suppressed(list: &[Suppressed]) -> Block {
    if list.is_empty() {
        return Block::Title(terminal_text!(
            "the do-not-call list is empty; `leadload suppress add` puts numbers on it"
        ));
    }
    let rows = list.iter().map(|entry| {
        let since = entry.added_at.strftime("%Y-%m-%d").to_string();
        let reason = entry.reason.clone().unwrap_or_default();
        [entry.number.to_string(), since, reason]
            .map(Text::said)
            .into()
    });
    Block::Table(Table {
        columns: [
            Column::new(text!("number"), Form::Line),
            Column::new(text!("since"), Form::Line),
            Column::new(text!("reason"), Form::Words),
        ]
        .into(),
        rows: rows.collect(),
        ..Table::default()
    })
}

pub fn suppressed_json(list: &[Suppressed]) -> String {
    let numbers = list.iter().map(|entry| {
        json!({
            "phone_number": entry.number.to_string(),
            "reason": entry.reason,
            "added_at": entry.added_at,
        })
    });
    line(&json!({ "numbers": numbers.collect::<Vec<Value>>() }))
}

/// CSV with a header, which `leadload suppress add` and `--suppress` read.
pub fn suppressed_csv(list: &[Suppressed]) -> csv::Result<String> {
    let rows = list.iter().map(|entry| {
        let (number, added_at) = (entry.number.to_string(), entry.added_at.to_string());
        let reason = printable(entry.reason.as_deref().unwrap_or_default());
        [number.into(), added_at.into(), reason]
    });
    csv_text(["phone_number", "added_at", "reason"], rows)
}
