//! The do-not-call list that stays: what was changed, and the list itself.

use comfy_table::ContentArrangement;
use serde_json::{Value, json};

use super::json::line;
use super::table::{lines, table};
use crate::do_not_call::Added;
use crate::lead::Status;
use crate::ledger::{LeadAt, Suppressed};
use crate::results::harmless;
use crate::text::{counted, grouped, printable, was};

/// More leads than fit on a screen are in the JSON alone.
const MAX_LEADS: usize = 50;

pub fn added_text(added: &Added) -> String {
    let mut text = format!(
        "{} added to the do-not-call list",
        counted(added.added, "number")
    );
    if added.known > 0 {
        let (were, stay) = match added.known {
            1 => ("was", "stays as it was"),
            _ => ("were", "stay as they were"),
        };
        let known = grouped(added.known);
        text += &format!("; {known} {were} on it already, and {stay}");
    }
    text += "\nno import with this ledger calls them, whatever its flags say\n";
    if added.leads.is_empty() {
        return text;
    }
    let people = match added.people() {
        1 => "1 of these people is a lead already, and may be".to_owned(),
        many => format!(
            "{} of these people are leads already, and may be",
            grouped(many)
        ),
    };
    text +=
        &format!("\n{people} called all the same, unless the lead is removed at the service:\n\n");
    let mut table = table(["number", "campaign", "lead", "run", "service"]);
    // Numbers and ids are copied from here, so no cell is wrapped.
    table.set_content_arrangement(ContentArrangement::Disabled);
    for lead in added.leads.iter().take(MAX_LEADS) {
        let name = added.campaign(lead);
        table.add_row([
            lead.record.number.to_string(),
            match name {
                Some(name) => format!("{} {}", lead.record.campaign, printable(name)),
                None => lead.record.campaign.to_string(),
            },
            lead_id(lead),
            lead.record.run.to_string(),
            printable(&lead.service).into_owned(),
        ]);
    }
    text += &lines(&table);
    if let Some(more) = added
        .leads
        .len()
        .checked_sub(MAX_LEADS)
        .filter(|more| *more > 0)
    {
        text += &format!(
            "… and {} more; `--format json` lists them all\n",
            grouped(more as u64)
        );
    }
    text + "\nremove them in the service's own screens; `leadload runs undo RUN` removes all leads of a run\n"
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

pub fn removed_text(removed: u64, unknown: u64) -> String {
    let mut text = format!(
        "{} taken off the do-not-call list",
        counted(removed, "number")
    );
    if unknown > 0 {
        text += &format!("; {} {} not on it", grouped(unknown), was(unknown));
    }
    if removed > 0 {
        text += "\nimports call these people again; one that is being sent does so from its next start on";
    }
    text + "\n"
}

pub fn removed_json(removed: u64, unknown: u64) -> String {
    line(&json!({ "removed": removed, "not_on_it": unknown }))
}

pub fn suppressed_text(list: &[Suppressed]) -> String {
    if list.is_empty() {
        return "the do-not-call list is empty; `leadload suppress add` puts numbers on it\n"
            .into();
    }
    let mut table = table(["number", "since", "reason"]);
    for entry in list {
        table.add_row([
            entry.number.to_string(),
            entry.added_at.strftime("%Y-%m-%d").to_string(),
            printable(entry.reason.as_deref().unwrap_or_default()).into_owned(),
        ]);
    }
    lines(&table)
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
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["phone_number", "added_at", "reason"])?;
    for entry in list {
        let number = entry.number.to_string();
        let added_at = entry.added_at.to_string();
        let reason = printable(entry.reason.as_deref().unwrap_or_default());
        let cells: [&str; 3] = [&number, &added_at, &reason];
        csv.write_record(cells.map(|cell| harmless(cell.as_bytes(), b',')))?;
    }
    // Flushing cannot fail: this writes to memory.
    let bytes = csv.into_inner().unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
