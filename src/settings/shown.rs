//! Every setting in use, and where it comes from.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use tracing::warn;

use super::connection::{base_url, token};
use super::{Layers, ledger_place};
use crate::options::{Given, ProfileOptions};

#[derive(Serialize)]
pub struct SettingInUse {
    /// Its key in a profile.
    pub name: &'static str,
    /// Its values; for the token only `set` or `not set`.
    pub values: Vec<String>,
    /// Where it comes from, in words.
    pub from: String,
}

/// All settings that have a value.
pub fn settings_in_use(layers: &Layers) -> Result<Vec<SettingInUse>> {
    let mut options = layers.options();
    let url = base_url(&options)?.map(|url| Given::text_of(&url.to_string()));
    let place = ledger_place(&options)?.map(|place| place.address());
    let ledger = PathBuf::from(place.unwrap_or("none".into()));
    options.ledger.ledger = Some(Given::new(ledger.clone(), &ledger));
    options.connection.base_url = url;
    // The heading shows these.
    options.place = ProfileOptions::default();
    let mut settings = Vec::new();
    for (declared, field) in options.fields() {
        let texts = field.texts().into_iter();
        let texts = texts.map(|text| text.to_string_lossy().into_owned());
        let (name, values) = if declared.is_secret {
            ("token", vec![state_of_token(layers).to_owned()])
        } else {
            (declared.key, texts.collect())
        };
        if declared.has_flag && !values.is_empty() {
            settings.push(SettingInUse {
                name,
                values,
                from: layers.origin(|given| given.has(declared)).to_string(),
            });
        }
    }
    Ok(settings)
}

fn state_of_token(layers: &Layers) -> &'static str {
    if layers.given().connection.token_file.is_some() {
        match token(layers) {
            Ok(_) => return "set",
            Err(error) => warn!("{error}"),
        }
    } else if let Some(why) = &layers.withheld {
        warn!("{why}");
    }
    "not set"
}
