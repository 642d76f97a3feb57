//! The flags that can stand in a profile, as clap knows them: there is one list of flags,
//! one reader of their values, and one wording of what is wrong with a value: that of the
//! command line.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};

use crate::cli;

/// The keys that say where the settings come from, or what one command is to do.
const OF_ONE_COMMAND: [&str; 7] = [
    "config",
    "profile",
    "sandbox",
    "dry_run",
    "again",
    "test_to",
    "save_mapping",
];

/// The files that an import leaves behind. Two profiles would take them from each other.
pub(super) const OUTPUTS: [&str; 4] = ["results", "rejects", "report", "metrics_file"];

/// `leadload import`, which has every flag that a profile can have.
pub(in crate::settings) fn of_import() -> Command {
    let command = cli::command();
    let import = command.find_subcommand("import").cloned();
    // Apart from the program it has no version of its own.
    import.unwrap_or(command).version(env!("CARGO_PKG_VERSION"))
}

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::settings) enum Takes {
    /// Nothing: it is said or not.
    Nothing,
    /// Nothing, and it counts how often it is said.
    Count,
    /// One value.
    One,
    /// A value each time it is said.
    Several,
}

/// What the flag takes.
pub(in crate::settings) fn takes(flag: &Arg) -> Takes {
    match flag.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => Takes::Nothing,
        ArgAction::Count => Takes::Count,
        ArgAction::Append => Takes::Several,
        _ => Takes::One,
    }
}

/// Whether its values are files.
pub(in crate::settings) fn is_file(flag: &Arg) -> bool {
    flag.get_value_hint() == ValueHint::FilePath
}

/// The name under which a flag stands in a profile.
pub(in crate::settings) fn key_of(flag: &Arg) -> &str {
    flag.get_id().as_str()
}

/// The flags that say how something is done, rather than that something else is: help,
/// the version.
pub(in crate::settings) fn settings(import: &Command) -> impl Iterator<Item = &Arg> {
    let is_setting = |flag: &&Arg| {
        let explains = matches!(flag.get_action(), ArgAction::Help | ArgAction::Version);
        flag.get_long().is_some() && !explains
    };
    import.get_arguments().filter(is_setting)
}

/// The flag that a key means, or why it can stand in no profile.
pub(in crate::settings) fn find<'a>(import: &'a Command, key: &str) -> Result<&'a Arg, String> {
    let name = key.replace('-', "_");
    if OF_ONE_COMMAND.contains(&name.as_str()) {
        return Err(format!(
            "is said for one command only\n\nhint: leave it out here, and type `--{}` where it is meant",
            name.replace('_', "-")
        ));
    }
    if name == "token" {
        return Err(
            "is no setting: a token stands in a file of its own, which only you can read\n\nhint: put it into one, take it out here, and name that file: `token_file = \"…\"`".into(),
        );
    }
    match settings(import).find(|flag| key_of(flag) == name) {
        Some(flag) => Ok(flag),
        None => Err(unknown(import, &name)),
    }
}

fn unknown(import: &Command, name: &str) -> String {
    let keys: Vec<&str> = settings(import)
        .map(key_of)
        .filter(|key| !OF_ONE_COMMAND.contains(key))
        .collect();
    let hint = match crate::text::nearest(name, &keys) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "settings have the names of the flags that `leadload import --help` lists, such as `region` or `token_file`".into(),
    };
    format!("is no setting\n\nhint: {hint}")
}

/// Reads words as `leadload import` would.
pub(in crate::settings) fn read(
    import: &Command,
    words: &[OsString],
) -> Result<ArgMatches, clap::Error> {
    let input = OsString::from("leads.csv");
    let line = words.iter().cloned().chain([input]);
    import
        .clone()
        .no_binary_name(true)
        .try_get_matches_from(line)
}

/// What is wrong with a value, and what to write, as it is told of a command line.
pub(in crate::settings) fn complaint(error: &clap::Error) -> String {
    match cli::wrong_value(error) {
        Some((what, next)) => format!("{what}\n\nhint: {next}"),
        None => "it cannot be used\n\nhint: write it as `leadload import --help` says".into(),
    }
}

/// Whether two flags cannot be said together.
pub(in crate::settings) fn conflict(command: &Command, one: &Arg, other: &Arg) -> bool {
    let declares = |flag: &Arg, against: &Arg| {
        let conflicts = command.get_arg_conflicts_with(flag);
        conflicts.iter().any(|arg| arg.get_id() == against.get_id())
    };
    declares(one, other) || declares(other, one)
}
