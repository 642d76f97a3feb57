//! `leadload config show`: every setting in use, and where it comes from.

use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::Format;
use crate::report::{console, settings_json, settings_text};
use crate::settings::{Layers, settings_in_use};

/// Runs the command.
pub(super) fn run(layers: &Layers) -> Result<ExitCode, Failure> {
    let settings = settings_in_use(layers).or_stopped(StoppedBy::Usage)?;
    let profile = layers.profile.as_ref();
    let text = match layers.said().output.form() {
        Format::Json => settings_json(&settings, profile),
        Format::Text => settings_text(&settings, profile),
    };
    console::print(&text).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}
