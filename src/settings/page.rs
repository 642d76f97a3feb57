//! Where a page keeps its files.

use std::path::{Path, PathBuf, absolute};

use anyhow::Result;
use directories::BaseDirs;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::state::state_folder;
use super::{Layers, Service, ledger_place};
use crate::message::Message;

/// The profile that is used where none is named.
const DEFAULT: &str = "default";

/// The folder of the page for these settings. Those with the same service, profile and ledger
/// have the same folder, so a second start opens the page of the first.
pub fn page_folder(layers: &Layers) -> Result<PathBuf> {
    let folder = pages_folder().ok_or_else(|| {
        Message::without_hint(terminal_text!(
            "there is no home folder to keep the page's files in"
        ))
    })?;
    let digest = Sha256::digest(key(layers)?);
    let name: String = digest[..16].iter().map(|b| format!("{b:02x}")).collect();
    Ok(folder.join(name))
}

/// The folder of all pages of the user.
pub fn pages_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("web"))
}

/// Where the user's own files are, for a browser to read one.
pub fn home_folder() -> Option<PathBuf> {
    BaseDirs::new().map(|dirs| dirs.home_dir().to_owned())
}

fn key(layers: &Layers) -> Result<String> {
    let options = layers.options();
    let full = |path: &Path| {
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        path.to_string_lossy().into_owned()
    };
    let ledger = ledger_place(&options)?;
    let place = &options.place;
    let profile = place.profile.as_deref().map_or(DEFAULT, String::as_str);
    let is_trial = options.connection.sandbox == Some(true);
    let key = json!({
        "service": given_service(layers)?,
        "profile": (!is_trial).then_some(profile),
        "config": place.config.as_deref().filter(|_| !is_trial).map(|file| full(file)),
        "ledger": ledger.map(|ledger| ledger.absolute().to_string_lossy().into_owned()),
        "sandbox": is_trial,
    });
    Ok(key.to_string())
}

/// The service that a flag or the environment gives. That of a profile may be set up, or be set
/// up anew, in the page itself.
fn given_service(layers: &Layers) -> Result<Option<String>> {
    let mut given = layers.typed();
    given.complete(&layers.of_environment());
    Service::name(&given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn folder(change: impl FnOnce(&mut Options)) -> PathBuf {
        let mut typed = Options::default();
        change(&mut typed);
        let layers = Layers::new(typed, Vec::new(), None, false);
        page_folder(&layers).unwrap()
    }

    #[test]
    fn a_page_is_known_by_its_service_profile_and_ledger() {
        let plain = folder(|_| {});
        let trial = folder(|options| options.connection.sandbox = Some(true));
        let other = folder(|options| {
            options.connection.base_url = Some("https://a.example".parse().unwrap());
        });
        let same = folder(|options| {
            options.connection.base_url = Some("https://a.example/api/".parse().unwrap());
        });
        let profile = folder(|options| options.place.profile = Some("crm".parse().unwrap()));
        let named = folder(|options| options.place.profile = Some(DEFAULT.parse().unwrap()));
        let ledger = folder(|options| options.ledger.ledger = Some("a".parse().unwrap()));
        let longer = folder(|options| options.ledger.ledger = Some("./a".parse().unwrap()));
        assert_eq!((&named, &same, &longer), (&plain, &other, &ledger));
        let mut all = vec![plain, trial, other, profile, ledger];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5);
    }
}
