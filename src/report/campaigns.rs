//! The list of campaigns, as a table, as JSON and as CSV.

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::json;

use crate::campaign::Campaign;
use crate::text::printable;

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

/// A table for people.
pub fn campaign_table(campaigns: &[Campaign]) -> String {
    if campaigns.is_empty() {
        return "no campaigns\n".into();
    }
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(COLUMNS);
    for campaign in campaigns {
        table.add_row(cells(campaign).map(|cell| printable(cell).into_owned()));
    }
    // Every cell has a space on each side, which the screen's edge has no need of.
    let lines = table.lines().map(|line| line.trim().to_owned() + "\n");
    lines.collect()
}

/// One JSON object.
pub fn campaign_json(campaigns: &[Campaign]) -> String {
    let list: Vec<_> = campaigns
        .iter()
        .map(|campaign| {
            COLUMNS
                .into_iter()
                .zip(cells(campaign))
                .map(|(column, cell)| (column.to_owned(), json!(cell)))
                .collect::<serde_json::Map<_, _>>()
        })
        .collect();
    format!("{}\n", json!({ "campaigns": list }))
}

/// CSV with a header.
pub fn campaign_csv(campaigns: &[Campaign]) -> csv::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(COLUMNS)?;
    for campaign in campaigns {
        csv.write_record(cells(campaign))?;
    }
    // Into memory, where flushing cannot fail.
    let bytes = csv.into_inner().unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
