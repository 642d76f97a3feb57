//! `leadload campaigns`: list them.

use super::{directory, service};
use crate::api::Limits;
use crate::cli::{CampaignsArgs, ListFormat};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::{campaign_csv, campaign_json, campaign_table, console};
use crate::settings::{Environment, Service, TIMEOUT};

/// Runs the command.
pub fn run(args: &CampaignsArgs, environment: &Environment) -> Result<ExitCode, Failure> {
    let service = Service::from_cli(&args.connection, environment).or_stopped(StoppedBy::Usage)?;
    let campaigns = service::unless_interrupted(async {
        let reached = service::reach(&service, Limits::within(TIMEOUT)).await?;
        let list = reached.client.campaigns().await;
        list.map_err(directory::list_failure)
    })?;
    let list = match args.format {
        ListFormat::Text => campaign_table(&campaigns),
        ListFormat::Json => campaign_json(&campaigns),
        ListFormat::Csv => campaign_csv(&campaigns).or_stopped(StoppedBy::Disk)?,
    };
    console::print(&list).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}
