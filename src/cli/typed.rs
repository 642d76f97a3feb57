//! What was typed, as options.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::config::ConfigCommand;
use super::{Command, ListFormat};
use crate::options::{Format, Group, LedgerOptions, Options, OutputOptions, Said};

impl Command {
    /// The lists that it is about.
    pub fn inputs(&self) -> &[PathBuf] {
        match self {
            Command::Import(args) | Command::Check(args) => &args.inputs,
            _ => &[],
        }
    }

    /// What was typed of the options of an import; other commands have some of them.
    pub fn typed(&self) -> Options {
        let options = match self {
            Command::Import(args) | Command::Check(args) => args.options.clone(),
            Command::Campaigns(args) => Options {
                place: args.place.clone(),
                connection: args.connection.clone(),
                output: format(args.format.map(|format| match format {
                    ListFormat::Json => Said::told_as(Format::Json, "json"),
                    ListFormat::Text | ListFormat::Csv => Said::told_as(Format::Text, "text"),
                })),
                log: args.log.clone(),
                ..Options::default()
            },
            Command::Runs(args) => Options {
                place: args.place.clone(),
                ledger: LedgerOptions {
                    ledger: args.ledger.clone(),
                },
                output: format(args.format.clone()),
                log: args.log.clone(),
                ..Options::default()
            },
            Command::Config(args) => match &args.command {
                ConfigCommand::Init(args) => Options {
                    place: args.place.clone(),
                    connection: args.connection.clone(),
                    log: args.log.clone(),
                    ..Options::default()
                },
                ConfigCommand::Show(args) => args.options.clone(),
            },
            Command::Sandbox(_) | Command::Completions(_) | Command::Man(_) => Options::default(),
        };
        options.as_typed()
    }
}

fn format(format: Option<Said<Format>>) -> OutputOptions {
    OutputOptions {
        format,
        ..OutputOptions::default()
    }
}

/// The options with values in a command line that is wrong, as far as they can be told.
pub fn typed_anyway(args: &[OsString]) -> Options {
    let mut options = Options::default();
    for (declared, field) in options.fields_mut() {
        if let Some(text) = said(args, &declared.flag()) {
            // An error here is reported by the parser, which has read the same words.
            let _ = field.say(&[text]);
        }
    }
    options
}

/// The value of a flag in a command line that may be wrong.
fn said<'a>(args: &'a [OsString], flag: &str) -> Option<&'a OsStr> {
    let mut pairs = args.windows(2);
    let beside = pairs
        .find(|pair| pair[0] == flag)
        .map(|pair| pair[1].as_os_str());
    beside.or_else(|| {
        let texts = args.iter().filter_map(|arg| arg.to_str());
        let mut values = texts.filter_map(|arg| arg.strip_prefix(flag)?.strip_prefix('='));
        values.next().map(OsStr::new)
    })
}
