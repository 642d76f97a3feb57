//! The list of campaigns as a table, as JSON and as CSV.

use serde_json::{Value, json};

use super::block::{Block, Column, Form, Table};
use super::json::line;
use super::table::{csv_text, lines, unbroken};
use crate::campaign::Campaign;
use crate::lead::CampaignId;
use crate::message::Text;
use crate::text::{printable, shortened};

const COLUMNS: [&str; 5] = ["id", "name", "status", "created_at", "updated_at"];

fn cells(campaign: &Campaign) -> [&str; 5] {
    [
        &campaign.id,
        &campaign.name,
        &campaign.status,
        &campaign.created_at,
        &campaign.updated_at,
    ]
}

const STATUS_LENGTH: usize = 60;

/// The campaign that gets the leads sent to this id.
pub(super) fn with_id(campaigns: &[Campaign], id: CampaignId) -> Option<&Campaign> {
    campaigns
        .iter()
        .find(|campaign| campaign.lead_campaign() == Ok(id))
}

/// A campaign's status for use within a sentence; `None` if the service gives none.
pub(super) fn status(campaign: &Campaign) -> Option<String> {
    let status = &campaign.status;
    (!status.is_empty()).then(|| shortened(&printable(status), STATUS_LENGTH))
}

pub fn campaign_table(campaigns: &[Campaign]) -> String {
    if campaigns.is_empty() {
        return "no campaigns\n".into();
    }
    // Users copy names and ids from here, so no cell is wrapped.
    let mut table = unbroken(COLUMNS);
    for campaign in campaigns {
        table.add_row(cells(campaign).map(printable));
    }
    lines(&table)
}

/// The campaigns, to choose one of them.
pub fn campaigns_to_choose(campaigns: &[Campaign]) -> Block {
    let rows = campaigns.iter().map(|campaign| {
        let [id, name, status, ..] = cells(campaign);
        [id, name, status].map(Text::said).into()
    });
    Block::Table(Table {
        columns: [
            Column::new(text!("id"), Form::Line),
            Column::new(text!("name"), Form::Words),
            Column::new(text!("status"), Form::Words),
        ]
        .into(),
        rows: rows.collect(),
        ..Table::default()
    })
}

pub fn campaign_json(campaigns: &[Campaign]) -> String {
    let list = campaigns.iter().map(|campaign| {
        let cells = COLUMNS.into_iter().zip(cells(campaign));
        cells.collect::<Value>()
    });
    line(&json!({ "campaigns": list.collect::<Value>() }))
}

/// CSV with a header. The names come from the service and may contain anything.
pub fn campaign_csv(campaigns: &[Campaign]) -> csv::Result<String> {
    csv_text(
        COLUMNS,
        campaigns
            .iter()
            .map(|campaign| cells(campaign).map(printable)),
    )
}
