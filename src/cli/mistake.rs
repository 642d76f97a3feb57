//! What is wrong with a command line, in the form of all other errors.
//!
//! Rule: values are shown as far as they cannot be a token, a phone number or a variable:
//! what somebody types may end in a log.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::help::command;
use super::values::ValueError;
use crate::text::{looks_secret, quoted_value, shown_name, without_numbers};

/// Flags whose values are people's.
const PERSONAL: [&str; 3] = ["--set", "--number", "--test-to"];

/// What is wrong, and what next; none where the parser's own text has to do.
pub fn mistake(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let command = command_of(args);
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
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => wrong_value(error)?,
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

/// What is wrong with a value, and what to write instead, wherever it stands; none where
/// it is not the value that is wrong.
pub fn wrong_value(error: &clap::Error) -> Option<(String, String)> {
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => refused(error),
        _ => None,
    }
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
    let reason = error.source().and_then(|reason| reason.downcast_ref());
    let is_too_large = matches!(reason, Some(ValueError::TooLarge(_)));
    let what = if value.is_empty() {
        format!("`{arg}` has no value")
    } else if is_too_large {
        too_large(value, arg)
    } else if PERSONAL.contains(&arg) {
        format!("the value of `{arg}` cannot be used")
    } else if arg.starts_with('-') {
        format!("{} cannot be used for `{arg}`", quoted_value(value))
    } else {
        format!("{} cannot be used as {arg}", quoted_value(value))
    };
    Some((what, next))
}

/// A number, or a time, beyond what the flag takes. A long one is not shown: it could be
/// anybody's.
fn too_large(value: &str, arg: &str) -> String {
    match looks_secret(value) || without_numbers(value) != value {
        true => format!("the value of `{arg}` is too large"),
        false => format!("{} is too large for `{arg}`", quoted_value(value)),
    }
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

/// The commands that were typed, the program's name first.
fn command_of(args: &[OsString]) -> String {
    let mut typed = String::from("leadload");
    let mut command = command();
    for word in args.iter().skip(1).filter_map(|arg| arg.to_str()) {
        let Some(subcommand) = command.find_subcommand(word) else {
            break;
        };
        typed = format!("{typed} {word}");
        command = subcommand.clone();
    }
    typed
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

/// `` `a`, `b` or `c` ``.
fn alternatives<S: AsRef<str>>(words: &[S]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("`{}`", word.as_ref()))
        .collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
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
