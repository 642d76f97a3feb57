//! `leadload campaigns`: list them.

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::json;

use super::service;
use crate::campaign::Campaign;
use crate::cli::{CampaignsArgs, ListFormat};
use crate::exit::{ExitCode, Failure};
use crate::report::console;
use crate::settings::{Environment, Service, TIMEOUT};
use crate::text::printable;

const COLUMNS: [&str; 5] = ["id", "name", "status", "created_at", "updated_at"];

/// Runs the command.
pub fn run(args: &CampaignsArgs) -> Result<ExitCode, Failure> {
    let service = Service::from_cli(&args.connection, &Environment::read())?;
    let runtime = service::runtime()?;
    let reached = service::reach(&service, TIMEOUT)?;
    let campaigns = runtime
        .block_on(reached.client.campaigns())
        .map_err(service::list_failure)?;
    console::print(&match args.format {
        ListFormat::Text => table(&campaigns),
        ListFormat::Json => object(&campaigns),
        ListFormat::Csv => csv(&campaigns)?,
    });
    Ok(ExitCode::Complete)
}

fn cells(campaign: &Campaign) -> [&str; 5] {
    [
        &campaign.id,
        &campaign.name,
        &campaign.status,
        &campaign.created_at,
        &campaign.updated_at,
    ]
}

fn table(campaigns: &[Campaign]) -> String {
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

fn object(campaigns: &[Campaign]) -> String {
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

fn csv(campaigns: &[Campaign]) -> Result<String, Failure> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(COLUMNS)?;
    for campaign in campaigns {
        csv.write_record(cells(campaign))?;
    }
    let bytes = csv.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
