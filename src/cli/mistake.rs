//! What is wrong with a command line, in the form of all other errors.
//!
//! Rule: values are shown as far as they cannot be a token, a phone number or a variable:
//! what somebody types may end in a log.

use std::error::Error;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::help::command;
use crate::options::{Options, unusable};
use crate::text::{alternatives, quoted_value, shown_name};

/// What is wrong, and what next; none where the parser's own text has to do.
pub fn mistake(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let commands = commands_in(args);
    let names: Vec<&str> = commands.iter().map(Command::get_name).collect();
    let command = names.join(" ");
    let (what, next) = match error.kind() {
        ErrorKind::UnknownArgument => unknown(error, &command)?,
        ErrorKind::InvalidSubcommand => {
            let typed = quoted_value(text(error, ContextKind::InvalidSubcommand)?);
            let suggested = suggested(error, ContextKind::SuggestedSubcommand);
            let commands = || match command.as_str() {
                "leadload" => {
                    "`leadload import` sends a list; `leadload --help` lists the commands"
                        .to_owned()
                }
                _ => format!("`{command} --help` lists the commands"),
            };
            (
                format!("there is no command {typed}"),
                suggested.unwrap_or_else(commands),
            )
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => refused(error)?,
        ErrorKind::TooManyValues => {
            let flag = name(text(error, ContextKind::InvalidArg)?);
            (
                format!("`{flag}` takes no value"),
                format!("write `{flag}` alone"),
            )
        }
        ErrorKind::MissingRequiredArgument => (
            missing(texts(error, ContextKind::InvalidArg)?),
            format!("`{command} --help` shows what the command takes"),
        ),
        ErrorKind::ArgumentConflict => conflict(error)?,
        ErrorKind::InvalidUtf8 => (
            "a word of the command line is not UTF-8".to_owned(),
            "only names of files may be anything else".to_owned(),
        ),
        _ => return None,
    };
    Some(format!("{what}\n\nhint: {next}"))
}

/// A flag that there is not, or a word too many.
fn unknown(error: &clap::Error, command: &str) -> Option<(String, String)> {
    let explained = match command {
        // It takes those of an import, which explains them.
        "leadload config show" => "leadload import",
        other => other,
    };
    let all_flags = format!("`{explained} --help` lists all flags");
    let typed = text(error, ContextKind::InvalidArg)?;
    if !typed.starts_with('-') {
        let typed = quoted_value(typed);
        return Some((format!("{typed} is one word too many"), all_flags));
    }
    let is_before_command = command == "leadload";
    let next = match suggested(error, ContextKind::SuggestedArg) {
        Some(suggested) => suggested,
        None if is_before_command => "flags stand after the command".to_owned(),
        None => all_flags,
    };
    Some((format!("there is no flag `{}`", shown_name(typed)), next))
}

/// A value that a flag does not take, or none where one is needed.
fn refused(error: &clap::Error) -> Option<(String, String)> {
    let arg = name(text(error, ContextKind::InvalidArg)?);
    let value = text(error, ContextKind::InvalidValue)?;
    let possible = texts(error, ContextKind::ValidValue).unwrap_or_default();
    let next = match (error.source(), possible) {
        (Some(reason), _) => reason.to_string(),
        (None, []) => format!("write it after the flag: `{arg} …`"),
        (None, words) => match suggested(error, ContextKind::SuggestedValue) {
            Some(suggested) => format!("{suggested} It takes {}", alternatives(words)),
            None => format!("it takes {}", alternatives(words)),
        },
    };
    Some((unusable(value, arg, is_personal(arg)), next))
}

/// Whether the values of a flag are people's.
fn is_personal(flag: &str) -> bool {
    let mut declared = Options::declared().into_iter();
    flag == "--number" || declared.any(|option| option.is_personal && option.flag() == flag)
}

/// Two flags that exclude each other, or one that is given twice.
fn conflict(error: &clap::Error) -> Option<(String, String)> {
    let one = name(text(error, ContextKind::InvalidArg)?);
    let others: Vec<&str> = match error.get(ContextKind::PriorArg)? {
        ContextValue::String(other) => vec![name(other)],
        ContextValue::Strings(others) => others.iter().map(|other| name(other)).collect(),
        _ => return None,
    };
    Some(match others.as_slice() {
        [other] if *other == one => (
            format!("`{one}` is given twice"),
            format!("give `{one}` once"),
        ),
        others => (
            format!("`{one}` cannot stand beside {}", alternatives(others)),
            "drop one of the two".to_owned(),
        ),
    })
}

/// Of several things that are missing, all.
fn missing(args: &[String]) -> String {
    let named: Vec<String> = args
        .iter()
        .map(|arg| arg.replace(['<', '>'], "").replace("...", ""))
        .map(|arg| format!("`{}`", arg.replace('|', "` or `")))
        .collect();
    match named.as_slice() {
        [one] if one.starts_with("`--outage-after") => format!("`--outage-for` needs {one}"),
        [one] => format!("{one} is missing"),
        several => format!("{} are missing", several.join(" and ")),
    }
}

/// The commands that were typed, the program first.
pub fn commands_in(args: &[OsString]) -> Vec<Command> {
    let (mut last, mut commands) = (command(), Vec::new());
    for word in args.iter().skip(1) {
        let named = word.to_str().and_then(|word| last.find_subcommand(word));
        let Some(named) = named.cloned() else {
            break;
        };
        commands.push(std::mem::replace(&mut last, named));
    }
    commands.push(last);
    commands
}

/// `--rate` of `--rate <RATE>`, `SHELL` of `<SHELL>`.
fn name(arg: &str) -> &str {
    let word = arg.split([' ', '=']).next().unwrap_or(arg);
    word.trim_matches(['<', '>', '[', ']', '.'])
}

/// What was meant, where the parser has an idea of it.
fn suggested(error: &clap::Error, kind: ContextKind) -> Option<String> {
    let meant = match error.get(kind)? {
        ContextValue::String(one) => format!("`{one}`"),
        ContextValue::Strings(several) => alternatives(several),
        _ => return None,
    };
    Some(format!("did you mean {meant}?"))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Option<&[String]> {
    match error.get(kind)? {
        ContextValue::Strings(texts) => Some(texts),
        _ => None,
    }
}
