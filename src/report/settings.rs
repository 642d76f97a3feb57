//! The settings in use, for people and for machines.

use comfy_table::ContentArrangement;
use serde_json::{Value, json};

use super::json::{line, text};
use super::table::{lines, table};
use crate::settings::{Origin, Profile, SettingInUse};
use crate::text::printable;

pub fn settings_text(settings: &[SettingInUse], profile: Option<&Profile>) -> String {
    let mut table = table(["setting", "value", "from"]);
    // A path that is cut into pieces cannot be copied.
    table.set_content_arrangement(ContentArrangement::Disabled);
    for setting in settings {
        table.add_row([
            setting.name.to_owned(),
            printable(&setting.values.join(", ")).into_owned(),
            source(setting.origin, profile),
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

fn source(origin: Origin, profile: Option<&Profile>) -> String {
    match (origin, profile) {
        (Origin::Flag, _) => "flag".into(),
        (Origin::Run(run), _) => format!("run {run}"),
        (Origin::Environment(name), _) => format!("environment ({name})"),
        (origin @ (Origin::Profile | Origin::AllProfiles), Some(profile)) => {
            let file = profile.file.display();
            let from = match &profile.name {
                _ if origin == Origin::AllProfiles => format!("all profiles ({file})"),
                Some(name) => format!("profile {name} ({file})"),
                None => file.to_string(),
            };
            printable(&from).into_owned()
        }
        (Origin::Profile | Origin::AllProfiles | Origin::Default, _) => "default".into(),
    }
}

pub fn settings_json(settings: &[SettingInUse], profile: Option<&Profile>) -> String {
    let settings = settings.iter().map(|setting| {
        json!({
            "name": setting.name,
            "values": setting.values,
            "from": source(setting.origin, profile),
        })
    });
    line(&json!({
        "config": profile.map(|profile| text(&profile.file)),
        "profile": profile.and_then(|profile| profile.name.as_deref()),
        "settings": settings.collect::<Vec<Value>>(),
    }))
}
