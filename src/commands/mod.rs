//! The outline of each command.
//!
//! Rule: this reads like a table of contents; the work is done in the other modules.

mod ask;
mod campaigns;
mod check;
mod config;
mod import;
mod ledger;
mod manual;
mod outcome;
mod questions;
mod runs;
mod sandbox;
mod save_mapping;
mod suppress;
mod web;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use tracing::Level;

use self::ask::Cancelled;
use crate::cli::{self, Command, ConfigCommand};
use crate::command_line::CommandLine;
use crate::double_click;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::Request;
use crate::message::Voice;
use crate::open_files;
use crate::options::{Format, LogFormat, LogOptions, Options};
use crate::report::{Log, console, json_failure, log_failure};
use crate::results::OutputChoice;
use crate::settings::{Layers, environment, warn_of_misspelled};

/// Runs the command of the command line `args`, which begins with the program's name. Without
/// a command: the page after a double click, else help.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if let [_, word, file] = &args[..]
        && word == crate::web::OPEN
    {
        return crate::web::open_alone(Path::new(file));
    }
    if args.len() > 1 || !double_click::has_own_console() {
        return run_command(&args);
    }
    args.push("web".into());
    let ended = run_command(&args);
    if ended != ExitCode::Complete {
        console::note("\nPress Enter to close this window.");
        // It closes all the same if nothing can be read.
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    ended
}

fn run_command(args: &[OsString]) -> ExitCode {
    open_files::begin();
    let command = match cli::parse(args) {
        Ok(command) => command,
        Err(error) => return refuse(&error, args),
    };
    let (layers, checked) = load(&command);
    let wants_json = layers.given().output.format() == Format::Json;
    let log = start_log(&layers.options().log);
    if has_settings(&command) {
        warn_of_misspelled();
    }
    let ended = match checked.stopped_by(StoppedBy::Usage) {
        Ok(()) => perform(&command, layers, args, &log),
        Err(failure) => {
            import::record_refusal(&command, &layers, &failure);
            Err(failure)
        }
    };
    ended.unwrap_or_else(|failure| report(&failure, wants_json))
}

fn load(command: &Command) -> (Layers, anyhow::Result<()>) {
    let has_profile = match command {
        Command::Config(ConfigCommand::Init(_))
        | Command::Sandbox(_)
        | Command::Completions(_)
        | Command::Man(_) => false,
        Command::Import(_)
        | Command::Check(_)
        | Command::Campaigns(_)
        | Command::Web(_)
        | Command::Runs(_)
        | Command::Suppress(_)
        | Command::Config(ConfigCommand::Show(_)) => true,
    };
    let environment = match has_settings(command) {
        true => environment(),
        false => Vec::new(),
    };
    let writes_outputs = !matches!(command, Command::Check(_) | Command::Web(_));
    Layers::load(command.typed(), environment, has_profile, writes_outputs)
}

/// Whether a command has any of an import's settings.
fn has_settings(command: &Command) -> bool {
    !matches!(
        command,
        Command::Sandbox(_) | Command::Completions(_) | Command::Man(_)
    )
}

fn perform(
    command: &Command,
    layers: Layers,
    args: &[OsString],
    log: &Log,
) -> Result<ExitCode, Failure> {
    let request = |files: &[PathBuf], layers: Layers| Request {
        files: files.to_vec(),
        unnamed: OutputChoice::BesideInput,
        only_checks: false,
        line: CommandLine::new(args, layers.typed()),
        warnings: crate::import::Warnings::default(),
        has_settings_of_rejects: false,
        asks_for_settings: false,
        voice: Voice::Terminal,
        layers,
    };
    match command {
        Command::Import(args) => import::run(request(&args.inputs, layers), log),
        Command::Check(args) => check::run(request(&args.inputs, layers), log),
        Command::Campaigns(args) => campaigns::run(args.format, &layers),
        Command::Web(args) => web::run(args, &layers, log),
        Command::Runs(args) => runs::run(args, &layers, log),
        Command::Suppress(args) => suppress::run(args, &layers),
        Command::Config(command) => config::run(command, &layers),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
        Command::Sandbox(args) => sandbox::run(args),
    }
}

/// Prints help to standard output and command line errors to standard
/// error. If JSON is asked for, errors go to standard output as JSON too.
fn refuse(error: &clap::Error, args: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            console::note(&error.render().to_string());
            return ExitCode::Usage;
        }
        // clap's text for a subcommand of a command would begin with a name that nobody can type.
        ErrorKind::DisplayVersion => {
            let _ = console::print(&format!("{}\n", cli::version()));
            return ExitCode::Complete;
        }
        ErrorKind::DisplayHelp => {
            let _ = error.print();
            return ExitCode::Complete;
        }
        _ => {}
    }
    if wants_in(args, "--log-format") {
        Log::start(Level::INFO, LogFormat::Json);
    }
    let failure = Failure::new(StoppedBy::Usage, cli::explained(error));
    report(&failure, wants_in(args, "--format"))
}

/// Whether the command line, which cannot be parsed, has this flag with the value `json`.
fn wants_in(args: &[OsString], flag: &str) -> bool {
    let joined = format!("{flag}=json");
    let mut pairs = args.windows(2);
    args.iter().any(|arg| *arg == *joined) || pairs.any(|pair| pair[0] == flag && pair[1] == "json")
}

fn start_log(log: &LogOptions) -> Log {
    let level = match (log.is_quiet(), log.verbose.unwrap_or(0)) {
        (true, _) => Level::ERROR,
        // Programs that read the log need to know that a command began and how it ended.
        (false, 0) if log.format() == LogFormat::Text => Level::WARN,
        (false, 0 | 1) => Level::INFO,
        (false, _) => Level::DEBUG,
    };
    Log::start(level, log.format())
}

fn report(failure: &Failure, json: bool) -> ExitCode {
    if json {
        // If that fails, the exit code still reports the failure.
        let _ = console::print(&json_failure(failure));
    }
    tell(failure)
}

/// Says what a command has done. `--quiet` is without it; a program that asks for JSON needs it.
fn confirm(text: &str, options: &Options) -> Result<(), Failure> {
    if options.log.is_quiet() && options.output.format() == Format::Text {
        return Ok(());
    }
    console::print(text).stopped_by(StoppedBy::Disk)
}

/// Tells people, and the log, why the command has ended.
fn tell(failure: &Failure) -> ExitCode {
    if failure.stopped_by.exit_code() == ExitCode::Interrupted {
        // The cursor is behind a question, or behind the `^C` that the terminal shows.
        console::begin_line();
    }
    let message = failure.message();
    if failure.error.is::<Cancelled>() {
        console::note(&format!("{message}\n"));
    } else {
        console::stop(failure.stopped_by, &message);
    }
    log_failure(failure);
    failure.stopped_by.exit_code()
}
