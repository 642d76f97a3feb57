//! A command line, and what stands behind it.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::FromArgMatches;

use super::layers::combined;
use super::profile::config_file::ConfigFile;
use super::profile::{self, table};
use super::{Layer, Layers, Profile, check_alone};
use crate::cli::{self, Cli, Command};
use crate::options::{Name, Options, Said};

/// What a command has to go by.
pub struct Parsed {
    /// What is to be done.
    pub command: Command,
    /// What is said of how it is done.
    pub layers: Layers,
}

/// Why there is nothing to be done.
#[derive(Debug)]
pub struct Refused {
    /// Why.
    pub reason: Refusal,
    /// What is said, as far as that can be told where something of it is wrong.
    pub layers: Layers,
    /// What was to be imported, where only the settings are wrong.
    pub inputs: Option<Vec<PathBuf>>,
}

/// Why a command line is refused.
#[derive(Debug)]
pub enum Refusal {
    /// The command line is wrong, or asks for help.
    CommandLine(clap::Error),
    /// The settings are wrong.
    Settings(anyhow::Error),
}

impl Parsed {
    /// Reads it, with the `environment` and the profile behind it; the program's name comes
    /// first.
    ///
    /// # Errors
    ///
    /// Where something of it is wrong, with what else is known of it.
    pub fn new(args: &[OsString], environment: Vec<Layer>) -> Result<Parsed, Box<Refused>> {
        let cli = cli::command()
            .try_get_matches_from(args)
            .and_then(|matches| Cli::from_arg_matches(&matches));
        let (command, typed) = match cli {
            Ok(Cli { command }) => {
                let typed = command.typed();
                (Ok(command), typed)
            }
            Err(error) => (Err(error), cli::typed_anyway(args)),
        };
        let found = if takes_profile(args) {
            in_use(&typed, &environment)
        } else {
            Ok(None)
        };
        let (profile, wrong) = match found {
            Ok(mut profile) => {
                let wrong = profile.as_mut().and_then(|profile| profile.wrong.take());
                (profile, wrong)
            }
            Err(error) => (None, Some(error)),
        };
        let writes_outputs = !matches!(command, Ok(Command::Check(_)));
        let layers = Layers::new(typed, environment, profile, writes_outputs);
        let command = match command {
            Ok(command) => command,
            Err(error) => return Err(refused(Refusal::CommandLine(error), layers, None)),
        };
        let checked = || check_alone(&layers.said()).map_err(|(_, error)| error);
        match wrong.map_or_else(checked, Err) {
            Ok(()) => Ok(Parsed { command, layers }),
            Err(error) => {
                let inputs = match command {
                    Command::Import(args) => Some(args.inputs),
                    _ => None,
                };
                Err(refused(Refusal::Settings(error), layers, inputs))
            }
        }
    }
}

fn refused(reason: Refusal, layers: Layers, inputs: Option<Vec<PathBuf>>) -> Box<Refused> {
    Box::new(Refused {
        reason,
        layers,
        inputs,
    })
}

/// Whether a profile stands behind the command, be its words right or not: one that can be
/// named, unless it is about to be made.
fn takes_profile(args: &[OsString]) -> bool {
    let commands = cli::commands_in(args);
    let mut flags = commands.iter().flat_map(|command| command.get_arguments());
    let is_init = commands
        .last()
        .is_some_and(|last| last.get_name() == "init");
    !is_init && flags.any(|flag| flag.get_id() == "profile")
}

/// The profile that is named, or the default one; nothing where there are no settings.
///
/// A mapping that is kept again starts from what is kept, so that what was left out on purpose
/// stays left out; a profile that is about to be made starts from the one that would be in use
/// anyway, and its file is perhaps about to be made too.
fn in_use(typed: &Options, environment: &[Layer]) -> Result<Option<Profile>> {
    let environment = combined(environment);
    let kept_in = typed.mapping.save_mapping.as_ref();
    let config = typed
        .place
        .config
        .as_ref()
        .or(environment.place.config.as_ref());
    let config = config.map(|config| config.as_path());
    let file = match (config, kept_in) {
        (Some(path), Some(_)) => ConfigFile::read(path)?,
        (config, _) => ConfigFile::find(config)?,
    };
    let is_there = |name: &&Said<Name>| {
        let file = file.as_ref();
        file.is_some_and(|file| table::table_of(file, &name.0).is_some())
    };
    let is_meant = |name: &&Said<Name>| Some(*name) != kept_in || is_there(name);
    let typed = typed.place.profile.as_ref().filter(is_meant);
    let of_environment = environment.place.profile.as_ref().filter(is_meant);
    let named = typed.or(kept_in.filter(is_there)).or(of_environment);
    let named = named.map(|name| name.0.as_str());
    match (&file, named) {
        (Some(file), name) => Profile::of(file, name).map(Some),
        (None, Some(name)) => Err(profile::without_file(name)),
        (None, None) => Ok(None),
    }
}
