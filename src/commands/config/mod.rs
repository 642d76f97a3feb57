//! `leadload config`: set up a profile, or show the settings in use.

mod init;

use super::ask;
use crate::cli::ConfigCommand;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::Format;
use crate::report::{console, settings_json, settings_text};
use crate::settings::{Layers, settings_in_use};

pub fn run(command: &ConfigCommand, layers: &Layers) -> Result<ExitCode, Failure> {
    match command {
        ConfigCommand::Init(_) => {
            ask::interruptible("saved", async |t| init::init(layers, t).await)
        }
        ConfigCommand::Show(_) => show(layers),
    }
}

fn show(layers: &Layers) -> Result<ExitCode, Failure> {
    let settings = settings_in_use(layers).stopped_by(StoppedBy::Usage)?;
    let profile = layers.profile.as_ref();
    let text = match layers.given().output.format() {
        Format::Json => settings_json(&settings, profile),
        Format::Text => settings_text(&settings, profile),
    };
    console::print(&text).stopped_by(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}
