//! The settings file.

use std::fs;

use leadload::options::{Given, Options};
use leadload::settings::{Layers, settings_in_use};

use super::refused;

pub fn settings(input: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, input).unwrap();
    let mut typed = Options::default();
    typed.place.config = Some(Given::new(path.clone(), &path));
    let (layers, checked) = Layers::load(typed, Vec::new(), true, true);
    if let Err(error) = checked {
        return refused(&error.to_string());
    }
    match settings_in_use(&layers) {
        Ok(settings) => settings
            .iter()
            .any(|setting| setting.from.contains("profile")),
        Err(error) => refused(&error.to_string()),
    }
}
