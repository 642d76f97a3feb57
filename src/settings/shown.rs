//! Every setting that is in use, and where it comes from.
//!
//! The token is `set` or `not set`: nothing else is known here of it.

use std::path::PathBuf;

use anyhow::Result;
use tracing::warn;

use super::connection::{base_url, token};
use super::{Layers, LedgerChoice, Origin};
use crate::options::{Address, Group, ProfileOptions, Said};

/// A setting in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingInUse {
    /// Its name, as it stands in a profile.
    pub name: &'static str,
    /// Its value; several of what can be said several times.
    pub values: Vec<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// All settings that have a value.
///
/// # Errors
///
/// Where an import could not use one of them.
pub fn settings_in_use(layers: &Layers) -> Result<Vec<SettingInUse>> {
    let mut options = layers.options();
    let url = base_url(&options)?.map(|url| Address::said(&url.to_string()));
    let ledger = LedgerChoice::new(&options)?;
    let place = ledger.place().map(ToString::to_string);
    let ledger = PathBuf::from(place.unwrap_or("none".into()));
    options.ledger.ledger = Some(Said::told_as(ledger.clone(), &ledger));
    options.connection.base_url = url;
    // Where settings are is shown above all of them.
    options.place = ProfileOptions::default();
    let mut settings = Vec::new();
    for (declared, field) in options.fields() {
        let texts = field.texts().into_iter();
        let said = texts.map(|text| text.to_string_lossy().into_owned());
        let (name, values) = if declared.is_secret {
            ("token", vec![token_word(layers).to_owned()])
        } else {
            (declared.key, said.collect())
        };
        if declared.has_flag && !values.is_empty() {
            settings.push(SettingInUse {
                name,
                values,
                origin: layers.origin(|said| said.says(declared)),
            });
        }
    }
    Ok(settings)
}

/// Whether there is a token. One that cannot be used is none, and is told of.
fn token_word(layers: &Layers) -> &'static str {
    let options = layers.said();
    let is_said = options.connection.token_file.is_some();
    match (is_said, &layers.withheld) {
        (true, _) => match token(layers) {
            Ok(_) => return "set",
            Err(error) => {
                let text = error.to_string();
                warn!("{}", text.split("\n\n").next().unwrap_or_default());
            }
        },
        (false, Some(why)) => warn!("{why}"),
        (false, None) => {}
    }
    "not set"
}
