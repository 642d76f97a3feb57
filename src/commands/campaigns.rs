//! `leadload campaigns`: lists the campaigns.

use super::ask;
use crate::cli::ListFormat;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::campaign_list;
use crate::options::Format;
use crate::report::{campaign_csv, campaign_json, campaign_table, console};
use crate::settings::{Layers, Service};

/// Runs the command; CSV is available as a flag only.
pub fn run(typed: Option<ListFormat>, layers: &Layers) -> Result<ExitCode, Failure> {
    let service = Service::new(layers).stopped_by(StoppedBy::Usage)?;
    let campaigns = ask::interruptible("sent", async |_| campaign_list::listed_by(&service).await)?;
    let of_profile = || match layers.given().output.format() {
        Format::Json => ListFormat::Json,
        Format::Text => ListFormat::Text,
    };
    let list = match typed.unwrap_or_else(of_profile) {
        ListFormat::Text => campaign_table(&campaigns),
        ListFormat::Json => campaign_json(&campaigns),
        ListFormat::Csv => campaign_csv(&campaigns).stopped_by(StoppedBy::Disk)?,
    };
    console::print(&list).stopped_by(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}
