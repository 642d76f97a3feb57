//! The settings in use, for people and for programs.

use serde_json::json;

use super::json::{line, text};
use super::table::{lines, unbroken};
use crate::settings::{Profile, SettingInUse};
use crate::text::printable;

pub fn settings_text(settings: &[SettingInUse], profile: Option<&Profile>) -> String {
    // A path that is wrapped cannot be copied.
    let mut table = unbroken(["setting", "value", "from"]);
    for setting in settings {
        table.add_row([
            setting.name.to_owned(),
            printable(&setting.values.join(", ")).into_owned(),
            setting.from.clone(),
        ]);
    }
    format!("{}\n{}", heading(profile), lines(&table))
}

fn heading(profile: Option<&Profile>) -> String {
    let Some(profile) = profile else {
        return "No settings file is in use (`leadload config init` makes one).\n".into();
    };
    let file = printable(&profile.file.display().to_string()).into_owned();
    let name = match &profile.name {
        Some(name) => printable(name).into_owned(),
        None => "none, only what is common to all".into(),
    };
    format!("file     {file}\nprofile  {name}\n")
}

pub fn settings_json(settings: &[SettingInUse], profile: Option<&Profile>) -> String {
    line(&json!({
        "config": profile.map(|profile| text(&profile.file)),
        "profile": profile.and_then(|profile| profile.name.as_deref()),
        "settings": settings,
    }))
}
