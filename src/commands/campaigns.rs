//! `leadload campaigns`: lists the campaigns.

use super::ask::Terminal;
use super::{directory, service};
use crate::cli::ListFormat;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::Format;
use crate::report::{campaign_csv, campaign_json, campaign_table, console};
use crate::settings::{Layers, Service};

/// Runs the command; CSV is available as a flag only.
pub fn run(typed: Option<ListFormat>, layers: &Layers) -> Result<ExitCode, Failure> {
    let service = Service::new(layers).or_stopped(StoppedBy::Usage)?;
    let campaigns = service::block_on(async {
        let mut terminal = Terminal::open()?;
        let listing = directory::listed_by(&service);
        terminal.or_interrupted(listing).await
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
