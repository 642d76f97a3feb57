//! A mapping that was kept in a profile, as far as it is in use.
//!
//! What is kept is an allow-list. Which columns are sent is settled when somebody has
//! looked at them, and a column that appears later is sent by no accident. Where a mapping
//! is kept again, the one that was kept is in use: what was left out stays left out,
//! unless it is named.

use std::ffi::OsString;

use super::Profile;
use super::table::{DEFAULT_PROFILE, flags_for_file};
use crate::command_line::CommandLine;
use crate::mapping::SavedMapping;
use crate::options::{Declared, Field, Group, Options};
use crate::settings::reading::texts;
use crate::settings::{Layers, Origin};

/// What of a mapping comes from the profile, if anything does. What the run of a rejects
/// file has brought comes before it, and is the same where it sent by this mapping.
pub(in crate::settings) fn in_use(layers: &Layers, options: &Options) -> Option<SavedMapping> {
    let profile = layers.profile.as_ref()?;
    let kept = profile.options();
    let fields = options.fields().into_iter();
    let is_kept = |(declared, field): &Declared<&dyn Field>| {
        let kept = kept.field(declared.key).and_then(Field::json);
        let is_same = kept.is_some() && field.json() == kept;
        declared.names_columns
            && is_same
            && layers.origin(|said| said.says(declared)) != Origin::Flag
    };
    let flags = fields.filter(is_kept).map(|(declared, _)| declared.flag());
    let flags: Vec<String> = flags.collect();
    (!flags.is_empty()).then(|| SavedMapping {
        place: profile.place(),
        save_command: save_command(profile, layers),
        flags,
        columns: kept
            .mapping
            .columns
            .is_some()
            .then(|| texts(&kept.mapping.columns)),
        is_saved_again: options.mapping.save_mapping.is_some(),
    })
}

fn save_command(profile: &Profile, layers: &Layers) -> String {
    let name = profile.name.as_deref().unwrap_or(DEFAULT_PROFILE);
    let mut words: Vec<OsString> = ["leadload", "check", "FILE"].map(Into::into).into();
    words.extend(flags_for_file(&profile.file, layers));
    words.extend(["--save-mapping".into(), name.into()]);
    let command = CommandLine::of(&words);
    let command = command.shown().unwrap_or("leadload check --save-mapping");
    command.to_owned()
}
