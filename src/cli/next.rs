//! The command that comes next, made of the one that was typed.
//!
//! Rule: pure. It works as it stands: what is typed again is what rejects, or a profile,
//! do not bring with them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory};

use super::Cli;

/// What is said of one list and its outputs, and of no other.
const OF_THE_INPUT: [&str; 16] = [
    "inputs",
    "results",
    "rejects",
    "report",
    "limit",
    "min_rows",
    "encoding",
    "delimiter",
    "no_header",
    "sheet",
    "again",
    "max_new",
    "test_to",
    "dry_run",
    // What is not mended yet is to come back, and whoever pastes a command is asked.
    "known_bad",
    "yes",
];

/// What is said of one check, or says where its mapping is kept.
const OF_ONE_CHECK: [&str; 12] = [
    "inputs",
    "results",
    "rejects",
    "report",
    "limit",
    "min_rows",
    "max_new",
    "test_to",
    "dry_run",
    "config",
    "profile",
    "save_mapping",
];

/// What rejects take from the run that wrote them, where the ledger knows it.
pub(crate) const OF_THE_RUN: [&str; 16] = [
    "campaign",
    "campaign_column",
    "phone_column",
    "var",
    "skip_column",
    "set",
    "var_names",
    "empty",
    "variables_shape",
    "region",
    "region_column",
    "assume_plus",
    "phone_rule",
    "countries",
    "suppress",
    "keep",
];

/// The arguments that import these rejects, the program's name first; none if `args` are
/// no import. `knows_run` says that the run is in a ledger, where they find it.
pub fn mending_args(
    args: &[OsString],
    rejects: &[PathBuf],
    knows_run: bool,
) -> Option<Vec<OsString>> {
    let matches = Cli::command().try_get_matches_from(args).ok()?;
    let typed = matches.subcommand_matches("import")?;
    let is_dropped = |id: &str| OF_THE_INPUT.contains(&id) || knows_run && OF_THE_RUN.contains(&id);
    let mut built = vec![args.first()?.clone(), "import".into()];
    built.extend(rejects.iter().map(|path| operand(path)));
    built.extend(typed_again(typed, is_dropped));
    Some(built)
}

/// The arguments that import the inputs of this check with the flags `profile`, which bring
/// all that is kept in it; none if `args` are of another command.
pub fn importing_args(
    args: &[OsString],
    profile: &[OsString],
    is_kept: impl Fn(&str) -> bool,
) -> Option<Vec<OsString>> {
    let matches = Cli::command().try_get_matches_from(args).ok()?;
    let (_, typed) = matches.subcommand()?;
    let is_dropped = |id: &str| OF_ONE_CHECK.contains(&id) || is_kept(id);
    let mut built = vec![args.first()?.clone(), "import".into()];
    let inputs = typed.try_get_many::<PathBuf>("inputs").ok()??;
    built.extend(inputs.map(|path| operand(path)));
    built.extend_from_slice(profile);
    built.extend(typed_again(typed, is_dropped));
    Some(built)
}

/// The flags that were typed, as they were, but for some.
fn typed_again(typed: &ArgMatches, is_dropped: impl Fn(&str) -> bool) -> Vec<OsString> {
    let command = Cli::command();
    let import = command.find_subcommand("import");
    let flags = import.into_iter().flat_map(|import| import.get_arguments());
    let is_meant = |flag: &&Arg| {
        let id = flag.get_id().as_str();
        !is_dropped(id) && typed.value_source(id) == Some(ValueSource::CommandLine)
    };
    flags
        .filter(is_meant)
        .flat_map(|flag| as_typed(flag, typed))
        .collect()
}

/// A path that is not taken for a flag; standard input is none.
pub fn operand(path: &Path) -> OsString {
    match begins_with_dash(path.as_os_str()) && path != Path::new("-") {
        true => Path::new(".").join(path).into(),
        false => path.into(),
    }
}

fn begins_with_dash(text: &OsStr) -> bool {
    text.as_encoded_bytes().starts_with(b"-")
}

/// A flag, as often as it was given.
fn as_typed(flag: &Arg, typed: &ArgMatches) -> Vec<OsString> {
    let (id, Some(name)) = (flag.get_id().as_str(), flag.get_long()) else {
        return Vec::new();
    };
    let name = OsString::from(format!("--{name}"));
    match flag.get_action() {
        ArgAction::SetTrue => vec![name],
        ArgAction::Count => vec![name; usize::from(typed.get_count(id))],
        _ => {
            let values = typed.get_raw(id).into_iter().flatten();
            values.flat_map(|value| with_value(&name, value)).collect()
        }
    }
}

fn with_value(name: &OsStr, value: &OsStr) -> Vec<OsString> {
    if !begins_with_dash(value) {
        return vec![name.to_owned(), value.to_owned()];
    }
    let mut joined = name.to_owned();
    joined.push("=");
    joined.push(value);
    vec![joined]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::MappingToSave;

    fn mending(line: &str, knows_run: bool) -> Option<String> {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let rejects = [PathBuf::from("leads.rejects.csv")];
        let built = mending_args(&args, &rejects, knows_run)?;
        let words: Vec<&str> = built.iter().map(|word| word.to_str().unwrap()).collect();
        Some(words.join(" "))
    }

    #[test]
    fn what_the_run_knows_is_not_typed_again() {
        let typed = "leadload import leads.csv --campaign 101 --region GB --suppress a.csv \
                     --suppress=b.csv --rate 5/s --rate 100/min --limit 10 --delimiter ; \
                     --results out.csv --rejects bad.csv --token-file t -vv --wait";
        assert_eq!(
            mending(typed, true).unwrap(),
            "leadload import leads.rejects.csv --token-file t --rate 5/s --rate 100/min \
             --wait --verbose --verbose"
        );
        assert_eq!(
            mending(typed, false).unwrap(),
            "leadload import leads.rejects.csv --token-file t --campaign 101 --region GB \
             --suppress a.csv --suppress b.csv --rate 5/s --rate 100/min --wait --verbose \
             --verbose"
        );
    }

    #[test]
    fn a_command_that_says_nothing_more_is_short() {
        assert_eq!(
            mending("./leadload import leads.csv --campaign 101", true).unwrap(),
            "./leadload import leads.rejects.csv"
        );
    }

    #[test]
    fn what_begins_with_a_dash_is_no_flag() {
        let args = ["leadload", "import", "a.csv", "--ledger=-l"].map(OsString::from);
        let built = mending_args(&args, &[PathBuf::from("-a.csv")], true).unwrap();
        assert_eq!(built[2], Path::new("./-a.csv"));
        assert_eq!(built[3], "--ledger=-l");
    }

    /// What is typed again: where the leads go, and how.
    const TYPED_AGAIN: [&str; 26] = [
        "config",
        "profile",
        "base_url",
        "token_file",
        "sandbox",
        "ca_file",
        "insecure_http",
        "ledger",
        "save_mapping",
        "rate",
        "concurrency",
        "max_attempts",
        "timeout",
        "max_duration",
        "max_outage",
        "stop_after",
        "allow_duplicates",
        "on_uncertain",
        "once",
        "wait",
        "metrics_file",
        "format",
        "progress",
        "verbose",
        "quiet",
        "log_format",
    ];

    #[test]
    fn every_flag_is_of_the_input_or_of_the_run_or_typed_again() {
        let classes = [&OF_THE_INPUT[..], &OF_THE_RUN, &TYPED_AGAIN];
        let mut classified = classes.concat();
        classified.sort_unstable();
        assert_eq!(ids_of_import(), classified);
    }

    /// Every flag of an import, in the order of letters.
    fn ids_of_import() -> Vec<String> {
        let command = Cli::command();
        let import = command.find_subcommand("import").unwrap();
        let ids = import.get_arguments().map(|arg| arg.get_id().to_string());
        let mut ids: Vec<String> = ids.collect();
        ids.sort_unstable();
        ids
    }

    /// What is typed again after a check: how the service is reached, and how leads go there.
    const TYPED_AFTER_A_CHECK: [&str; 28] = [
        "base_url",
        "token_file",
        "sandbox",
        "ca_file",
        "insecure_http",
        "ledger",
        "campaign",
        "variables_shape",
        "again",
        "rate",
        "concurrency",
        "max_attempts",
        "timeout",
        "yes",
        "max_duration",
        "max_outage",
        "stop_after",
        "allow_duplicates",
        "on_uncertain",
        "once",
        "known_bad",
        "wait",
        "metrics_file",
        "format",
        "progress",
        "verbose",
        "quiet",
        "log_format",
    ];

    #[test]
    fn after_a_check_every_flag_is_kept_in_the_profile_or_of_the_check_or_typed_again() {
        let mut classified = [&OF_ONE_CHECK[..], &TYPED_AFTER_A_CHECK].concat();
        let ids = ids_of_import();
        let kept = ids.iter().filter(|id| MappingToSave::keeps(id));
        classified.extend(kept.map(String::as_str));
        classified.sort_unstable();
        assert_eq!(ids, classified);
    }

    #[test]
    fn only_an_import_leaves_rejects_to_import() {
        assert_eq!(mending("leadload check leads.csv", true), None);
        assert_eq!(mending("leadload", true), None);
    }
}
