//! A mapping that was kept in a profile, as far as it is in force.
//!
//! What is kept is an allow-list. Which columns are sent is settled when somebody has
//! looked at them, and a column that appears later is sent by no accident. Where a mapping
//! is kept again, the one that was kept is in force: what was left out stays left out,
//! unless it is named.

use std::ffi::OsString;

use super::Profile;
use super::table::{DEFAULT_PROFILE, flags_for_file};
use crate::cli::ImportArgs;
use crate::command_line::CommandLine;
use crate::mapping::{MissingColumn, SavedMapping};
use crate::settings::Environment;

/// What of a mapping comes from the profile, if anything does. What the run of a rejects
/// file has brought comes before it.
pub(in crate::settings) fn kept(
    import: &ImportArgs,
    environment: &Environment,
) -> Option<SavedMapping> {
    let profile = environment.profile.as_ref()?;
    let args = &import.mapping;
    let one = |column: &Option<String>| column.iter().cloned().collect::<Vec<_>>();
    let in_force = [
        ("--var", "var", args.var.clone()),
        ("--phone-column", "phone_column", args.phone_column.clone()),
        ("--skip-column", "skip_column", args.skip_column.clone()),
        (
            "--campaign-column",
            "campaign_column",
            one(&args.campaign_column),
        ),
        (
            "--region-column",
            "region_column",
            one(&import.phones.region_column),
        ),
    ];
    let is_kept = |key: &str, values: &[String]| {
        // Rejects of a run that sent all columns name none either.
        let is_said = !values.is_empty() || args.no_var;
        let kept = profile.profile.setting(key);
        is_said && profile.gives(key) && kept.is_some_and(|kept| kept.texts() == values)
    };
    let kept = in_force
        .iter()
        .filter(|(_, key, values)| is_kept(key, values));
    let flags: Vec<&'static str> = kept.map(|(flag, _, _)| *flag).collect();
    (!flags.is_empty()).then(|| SavedMapping {
        place: profile.profile.place(),
        keep_anew: keep_anew(&profile.profile, environment),
        flags,
        columns: profile.profile.columns.clone(),
        missing: match args.save_mapping {
            Some(_) => MissingColumn::LeftOut,
            None => MissingColumn::Refused,
        },
    })
}

fn keep_anew(profile: &Profile, environment: &Environment) -> String {
    let name = profile.name.as_deref().unwrap_or(DEFAULT_PROFILE);
    let mut words: Vec<OsString> = ["leadload", "check", "FILE"].map(Into::into).into();
    words.extend(flags_for_file(&profile.file, environment));
    words.extend(["--save-mapping".into(), name.into()]);
    let command = CommandLine::of(&words);
    let command = command.shown().unwrap_or("leadload check --save-mapping");
    command.to_owned()
}
