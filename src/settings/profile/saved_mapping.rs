//! The part of a mapping that comes from a profile.
//!
//! A saved mapping is an allow-list: only the columns that existed when it
//! was checked are sent. If a mapping is saved again, the saved one applies,
//! so columns that were left out stay left out unless the user names them.

use std::ffi::OsString;

use super::Profile;
use super::table::{DEFAULT_PROFILE, flags_for_file};
use crate::command_line::CommandLine;
use crate::mapping::SavedMapping;
use crate::options::{Declared, Field, Options, texts};
use crate::settings::{Layers, Origin};

/// The part of the mapping that comes from the profile; `None` if there is none. The run
/// of a rejects file overrides the profile, but has the same mapping if it used this one.
pub(in crate::settings) fn in_use(layers: &Layers, options: &Options) -> Option<SavedMapping> {
    let profile = layers.profile.as_ref()?;
    let saved = profile.options();
    let fields = options.fields().into_iter();
    let is_saved = |(declared, field): &Declared<&dyn Field>| {
        let saved = saved.field(declared.key).and_then(Field::json);
        let is_same = saved.is_some() && field.json() == saved;
        declared.names_columns
            && is_same
            && layers.origin(|given| given.has(declared)) != Origin::Flag
    };
    let flags = fields.filter(is_saved).map(|(declared, _)| declared.flag());
    let flags: Vec<String> = flags.collect();
    let columns = &saved.mapping.columns;
    (!flags.is_empty()).then(|| SavedMapping {
        place: profile.place(),
        save_command: command_to_save_again(profile, layers),
        flags,
        columns: columns.is_some().then(|| texts(columns)),
        is_saved_again: options.mapping.save_mapping.is_some(),
    })
}

fn command_to_save_again(profile: &Profile, layers: &Layers) -> String {
    let name = profile.name.as_deref().unwrap_or(DEFAULT_PROFILE);
    let mut words: Vec<OsString> = ["leadload", "check", "FILE"].map(Into::into).into();
    words.extend(flags_for_file(&profile.file, layers));
    words.extend(["--save-mapping".into(), name.into()]);
    let command = CommandLine::of(&words);
    let command = command.shown().unwrap_or("leadload check --save-mapping");
    command.to_owned()
}
