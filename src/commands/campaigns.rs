//! `leadload campaigns`: lists the campaigns.

use super::{directory, service};
use crate::api::Limits;
use crate::cli::ListFormat;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::Format;
use crate::report::{campaign_csv, campaign_json, campaign_table, console};
use crate::settings::{Layers, Service, TIMEOUT};

/// Runs the command; CSV is available as a flag only.
pub fn run(typed: Option<ListFormat>, layers: &Layers) -> Result<ExitCode, Failure> {
    let service = Service::new(layers).or_stopped(StoppedBy::Usage)?;
    let campaigns = service::block_on_or_interrupted(async {
        let reached = service::reach(&service, Limits::within(TIMEOUT)).await?;
        let list = reached.client.campaigns().await;
        list.map_err(directory::list_failure)
    })?;
    let of_profile = || match layers.given().output.format() {
        Format::Json => ListFormat::Json,
        Format::Text => ListFormat::Text,
    };
    let list = match typed.unwrap_or_else(of_profile) {
        ListFormat::Text => campaign_table(&campaigns),
        ListFormat::Json => campaign_json(&campaigns),
        ListFormat::Csv => campaign_csv(&campaigns).or_stopped(StoppedBy::Disk)?,
    };
    console::print(&list).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}
