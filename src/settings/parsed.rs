//! A command line, read together with the environment and with the profile that stands
//! behind it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgMatches, Command, FromArgMatches};
use toml_edit::Item;

use super::profile::config_file::{self, ConfigFile};
use super::profile::in_force::Typed;
use super::profile::table::DEFAULT_PROFILE;
use super::profile::{self, table};
use super::{Environment, Profile, ProfileInForce};
use crate::cli::{self, Cli};

/// What a command has to go by.
pub struct Parsed {
    /// What is to be done.
    pub cli: Cli,
    /// The same as clap has read it, the profile's settings among it.
    pub matches: ArgMatches,
    /// What stands behind it.
    pub environment: Environment,
}

/// Why there is nothing to be done.
#[derive(Debug)]
pub struct Refused {
    /// The reason.
    pub reason: Refusal,
    /// Whether the reason is to be said as JSON too.
    pub wants_json: bool,
    /// Whether the log is to be JSON.
    pub wants_json_log: bool,
    /// The import that keeps figures, where it was one and only its profile is wrong.
    pub import: Option<RefusedImport>,
}

/// An import that cannot begin, and keeps figures nevertheless.
#[derive(Debug)]
pub struct RefusedImport {
    /// Where they are.
    pub metrics_file: PathBuf,
    /// The profile that was to be used.
    pub profile: Option<String>,
    /// What was to be imported.
    pub inputs: Vec<PathBuf>,
}

/// The reason.
#[derive(Debug)]
pub enum Refusal {
    /// The command line is wrong, or asks for help.
    CommandLine(clap::Error),
    /// The settings are wrong.
    Settings(anyhow::Error),
}

impl From<clap::Error> for Refusal {
    fn from(error: clap::Error) -> Refusal {
        Refusal::CommandLine(error)
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Refusal {
        Refusal::Settings(error)
    }
}

impl Parsed {
    /// Reads it; the program's name comes first.
    pub fn new(args: &[OsString], mut environment: Environment) -> Result<Parsed, Refused> {
        match parse(args, &environment) {
            Ok((matches, cli, profile)) => {
                environment.profile = profile;
                Ok(Parsed {
                    cli,
                    matches,
                    environment,
                })
            }
            Err(reason) => Err(Refused {
                reason,
                wants_json: says_json(args, "format", &environment),
                wants_json_log: says_json(args, "log_format", &environment),
                import: refused_import(args, &environment),
            }),
        }
    }
}

fn parse(
    args: &[OsString],
    environment: &Environment,
) -> Result<(ArgMatches, Cli, Option<ProfileInForce>), Refusal> {
    let command = cli::command();
    let matches = command.clone().try_get_matches_from(args)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    let Some(place) = place_of_profile(&command, &matches) else {
        return Ok((matches, cli, None));
    };
    let Some(profile) = profile_for(place.matches, environment)? else {
        return Ok((matches, cli, None));
    };
    let typed = Typed {
        command: place.command,
        matches: place.matches,
        environment,
    };
    let (words, stands_in_for) = typed.completed_by(&profile);
    let in_force = ProfileInForce {
        no_token: typed.no_token(&profile),
        typed: import_args_of(&mut cli).cloned().map(Box::new),
        stands_in_for,
        profile,
    };
    let completed = place.completed(args, words);
    let matches = command.clone().try_get_matches_from(completed)?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    // No word of a command line says this.
    if let Some(import) = import_args_of(&mut cli) {
        import.mapping.no_var = in_force.gives("var") && import.mapping.var.is_empty();
    }
    Ok((matches, cli, Some(in_force)))
}

/// Where a command line takes settings from a profile.
struct Place<'a> {
    /// How many commands stand before: `leadload`, `config`.
    depth: usize,
    command: &'a Command,
    matches: &'a ArgMatches,
}

impl Place<'_> {
    /// The command line with further words behind the command's name.
    fn completed(&self, args: &[OsString], words: Vec<OsString>) -> Vec<OsString> {
        let name = OsStr::new(self.command.get_name());
        let at = args.iter().skip(self.depth).position(|arg| arg == name);
        let at = at.map_or(args.len(), |at| self.depth + at + 1);
        let (before, after) = args.split_at(at);
        [before, &words, after].concat()
    }
}

/// The command that takes a profile, if the one that was typed does. `config init` makes
/// one, and takes none.
fn place_of_profile<'a>(command: &'a Command, matches: &'a ArgMatches) -> Option<Place<'a>> {
    let mut place = Place {
        depth: 0,
        command,
        matches,
    };
    while let Some((name, matches)) = place.matches.subcommand() {
        place = Place {
            depth: place.depth + 1,
            command: place.command.find_subcommand(name)?,
            matches,
        };
        if takes_profile(place.command) {
            return (name != "init").then_some(place);
        }
    }
    None
}

fn takes_profile(command: &Command) -> bool {
    let mut flags = command.get_arguments();
    flags.any(|flag| flag.get_id() == "profile")
}

/// The profile that is named, or the default one; nothing where there are no settings.
fn profile_for(matches: &ArgMatches, environment: &Environment) -> Result<Option<Profile>> {
    let named = named(matches, environment);
    let file = file(matches, environment)?;
    match (&file, named.profile(file.as_ref())) {
        (Some(file), name) => Profile::of(file, name).map(Some),
        (None, Some(name)) => Err(profile::without_file(name)),
        (None, None) => Ok(None),
    }
}

fn named<'a>(matches: &'a ArgMatches, environment: &'a Environment) -> Named<'a> {
    Named {
        typed: matches.get_one::<String>("profile").map(String::as_str),
        kept_in: mapping_goes_to(matches),
        environment: environment.profile_name.as_deref(),
    }
}

/// What may say which profile is in force.
struct Named<'a> {
    typed: Option<&'a str>,
    /// Where a mapping is to be kept.
    kept_in: Option<&'a str>,
    environment: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// The profile that is meant, unless it is the default one. A mapping that is kept again
    /// starts from what is kept, so that what was left out on purpose stays left out; a
    /// profile that is about to be made starts from the one that would be in force anyway.
    fn profile(&self, file: Option<&ConfigFile>) -> Option<&'a str> {
        let is_there = |name: &&str| file.is_some_and(|file| table::has(file, name));
        let is_meant = |name: &&str| self.kept_in != Some(*name) || is_there(name);
        let typed = self.typed.filter(is_meant);
        let kept_in = || self.kept_in.filter(is_there);
        typed
            .or_else(kept_in)
            .or_else(|| self.environment.filter(is_meant))
    }
}

/// The profile in which a mapping is about to be kept.
fn mapping_goes_to(matches: &ArgMatches) -> Option<&str> {
    let profile = matches.try_get_one::<String>("save_mapping");
    profile.ok().flatten().map(String::as_str)
}

fn file(matches: &ArgMatches, environment: &Environment) -> Result<Option<ConfigFile>> {
    let named = matches.get_one::<PathBuf>("config");
    let named = named.or(environment.config.as_ref());
    match named {
        // It is about to be made.
        Some(path) if mapping_goes_to(matches).is_some() => ConfigFile::read(path),
        named => ConfigFile::find(named.map(PathBuf::as_path)),
    }
}

/// The flags of an import or a check.
fn import_args_of(cli: &mut Cli) -> Option<&mut cli::ImportArgs> {
    match &mut cli.command {
        cli::Command::Import(args) | cli::Command::Check(args) => Some(args),
        _ => None,
    }
}

/// The import whose profile is wrong, as far as that can be told. Of a command line that is
/// wrong itself it cannot.
fn refused_import(args: &[OsString], environment: &Environment) -> Option<RefusedImport> {
    let matches = cli::command().try_get_matches_from(args).ok()?;
    let typed = Cli::from_arg_matches(&matches).ok()?;
    let cli::Command::Import(import) = typed.command else {
        return None;
    };
    if import.delivery.dry_run || import.delivery.test_to.is_some() {
        return None;
    }
    let (_, matches) = matches.subcommand()?;
    let file = file(matches, environment).ok().flatten();
    let name = named(matches, environment).profile(file.as_ref());
    let of_profile = || {
        let file = file.as_ref().filter(|_| !import.connection.sandbox)?;
        let path = table::item_in(file, name, "metrics_file")?.as_str()?;
        Some(config_file::resolved(file.folder(), path))
    };
    let is_default = |name: &&str| file.as_ref().is_some_and(|file| table::has(file, name));
    let profile = name.or(Some(DEFAULT_PROFILE).filter(is_default));
    Some(RefusedImport {
        metrics_file: import.metrics_file.clone().or_else(of_profile)?,
        profile: profile.map(str::to_owned),
        inputs: import.inputs,
    })
}

/// Whether a flag says `json`, as far as that can be told where something is wrong with the
/// command line or with the profile.
fn says_json(args: &[OsString], key: &str, environment: &Environment) -> bool {
    let flag = format!("--{}", key.replace('_', "-"));
    said(args, &flag).is_some_and(|format| format == "json")
        || profile_says_json(args, key, environment)
}

fn profile_says_json(args: &[OsString], key: &str, environment: &Environment) -> bool {
    let command = cli::command();
    let name = args.get(1).and_then(|name| name.to_str());
    let typed = name.and_then(|name| command.find_subcommand(name));
    let file = said(args, "--config").map(PathBuf::from);
    let file = ConfigFile::find(file.as_deref().or(environment.config.as_deref()));
    let text = |flag| said(args, flag).and_then(OsStr::to_str);
    let named = Named {
        typed: text("--profile"),
        kept_in: text("--save-mapping"),
        environment: environment.profile_name.as_deref(),
    };
    match file {
        Ok(Some(file)) if typed.is_some_and(takes_profile) => {
            let said = table::item_in(&file, named.profile(Some(&file)), key);
            said.and_then(Item::as_str) == Some("json")
        }
        _ => false,
    }
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
