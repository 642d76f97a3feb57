//! Which flags `-h` shows, and what all commands have in common.
//!
//! Rule: what a flag does stands beside the flag, what a command is for beside the command.
//! Here is only the choice of the few that fit on a screen.

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Cli;

/// What stands below help that leaves flags out.
const MORE: &str = "`--help` shows all flags and examples.";

/// The same where lists of contacts are read.
const MORE_OF_LISTS: &str =
    "FILE is CSV, .xlsx, .xls, .ods or `-`. `--help` shows all flags and examples.";

/// The same where settings are shown.
const MORE_OF_SETTINGS: &str =
    "All flags of `leadload import` are taken too. `--help` shows examples.";

/// The flags that `-h` shows of commands that have many, and what stands below them. Of other
/// commands it shows all.
#[rustfmt::skip]
const SHORT: [(&str, &str, &str); 6] = [
    ("import", "base_url token_file sandbox campaign phone_column skip_column region suppress \
        rate test_to", MORE_OF_LISTS),
    ("check", "encoding sheet campaign phone_column skip_column region suppress format",
        MORE_OF_LISTS),
    ("campaigns", "base_url token_file sandbox format", MORE),
    ("runs", "last ledger format", MORE),
    ("sandbox", "listen scenario latency rate_limit share_429 drop_after", MORE),
    ("config show", SHORT_OF_CONFIG_SHOW, MORE_OF_SETTINGS),
];

/// Those of `config show`.
const SHORT_OF_CONFIG_SHOW: &str = "config profile base_url token_file sandbox format";

/// What its long help has besides.
const MORE_OF_CONFIG_SHOW: &str = "verbose quiet log_format help";

/// What stands below them.
const BELOW_CONFIG_SHOW: &str = "\
All flags of `leadload import` are taken too: what is shown is what an import
with them would go by.

Examples:
  leadload config show
  leadload config show --profile crm
  leadload config show --profile crm --rate 20/s --format json";

/// The command line, as it is parsed, and explained by `-h` and `--help`.
pub fn command() -> Command {
    SHORT
        .into_iter()
        .fold(manual(), |command, (path, shown, more)| {
            at(command, path, |command| shortened(command, shown, more))
        })
}

/// Changes the command that these words lead to.
fn at(command: Command, path: &str, change: impl FnOnce(Command) -> Command) -> Command {
    match path.split_once(' ') {
        Some((first, rest)) => {
            command.mut_subcommand(first, |command| command.mut_subcommand(rest, change))
        }
        None => command.mut_subcommand(path, change),
    }
}

/// The same as a manual explains it: no flag is left out.
pub fn manual() -> Command {
    common(Cli::command(), true)
        .mut_subcommands(in_common)
        // It has the flag to say that it is none for a check.
        .mut_subcommand("check", |check| {
            check.mut_arg("metrics_file", |flag| flag.hide(true))
        })
        .mut_subcommand("config", |config| {
            config.mut_subcommand("show", config_show)
        })
}

/// `config show` takes the flags of an import, and has nothing to import. Its own
/// explanation is about itself; whatever else it takes is explained where it belongs.
fn config_show(show: Command) -> Command {
    let told = SHORT_OF_CONFIG_SHOW
        .split(' ')
        .chain(MORE_OF_CONFIG_SHOW.split(' '));
    show.mut_arg("inputs", |inputs| inputs.required(false).hide(true))
        .mut_args(|arg| {
            if told.clone().any(|told| arg.get_id() == told) {
                arg
            } else {
                arg.hide_short_help(true).hide_long_help(true)
            }
        })
        .after_long_help(BELOW_CONFIG_SHOW)
}

/// What all commands but the first have in common.
fn in_common(command: Command) -> Command {
    common(command, false)
        .disable_help_subcommand(true)
        .mut_subcommands(in_common)
}

/// Flags for help and version, and values that are taken and told alike.
fn common(command: Command, is_program: bool) -> Command {
    let has_output = command
        .get_arguments()
        .any(|arg| arg.get_help_heading() == Some("Output"));
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("Print help: `-h` the most needed, `--help` all")
        .help_heading(has_output.then_some("Output"))
        .hide_short_help(!is_program);
    let version = Arg::new("version")
        .short('V')
        .long("version")
        .action(ArgAction::Version)
        .help("Print the version")
        .hide(!is_program);
    command
        .mut_args(|arg| {
            if arg.get_action().takes_values() {
                with_negative_taken(arg)
            } else {
                arg
            }
        })
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args([help, version])
}

/// No flag is a digit: what is wrong with `-1` is for the flag before it to say.
fn with_negative_taken(arg: Arg) -> Arg {
    let is_flag = !arg.is_positional();
    arg.allow_negative_numbers(is_flag)
}

/// `-h` leaves out all flags but these.
fn shortened(command: Command, shown: &str, more: &'static str) -> Command {
    command
        .mut_args(|arg| {
            let is_shown = shown.split(' ').any(|shown| arg.get_id() == shown);
            arg.hide_short_help(!is_shown)
        })
        .mut_subcommands(|command| with_more(command, more))
        .after_help(more)
}

/// Below the short help alone, the long one has what there is to say already.
fn with_more(command: Command, more: &'static str) -> Command {
    command.after_help(more).after_long_help("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
        manual().debug_assert();
    }

    #[test]
    fn every_flag_of_every_command_has_a_help_text() {
        has_help_texts(&command());
    }

    fn has_help_texts(command: &Command) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name}");
        for flag in command.get_arguments() {
            assert!(flag.get_help().is_some(), "{} of {name}", flag.get_id());
        }
        command.get_subcommands().for_each(has_help_texts);
    }

    #[test]
    fn what_is_chosen_for_the_short_help_is_there() {
        for (path, shown, _) in SHORT {
            let program = command();
            let find = |command: &Command, name| command.find_subcommand(name).cloned();
            let found = path
                .split(' ')
                .try_fold(program, |found, name| find(&found, name));
            let found = found.unwrap();
            for id in shown.split(' ') {
                assert!(
                    found.get_arguments().any(|arg| arg.get_id() == id),
                    "{id} of {path}"
                );
            }
        }
    }
}
