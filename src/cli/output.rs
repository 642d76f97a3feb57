//! What is said, where and how.

use clap::ValueEnum;

use super::Command;

/// The flags for standard error.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Say more on standard error (twice: every attempt)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Say nothing on standard error but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Form of log lines on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub log_format: LogFormat,
}

impl Command {
    /// What is said on standard error; some commands leave no choice.
    pub fn output(&self) -> OutputArgs {
        match self {
            Command::Import(args) | Command::Check(args) => args.output.clone(),
            Command::Campaigns(args) => args.output.clone(),
            Command::Runs(args) => args.output.clone(),
            Command::Config(args) => args.output().clone(),
            Command::Sandbox(_) | Command::Completions(_) | Command::Man(_) => {
                OutputArgs::default()
            }
        }
    }

    /// Whether standard output is JSON, also where something is wrong.
    pub fn wants_json(&self) -> bool {
        match self {
            Command::Import(args) | Command::Check(args) => args.format == Format::Json,
            Command::Campaigns(args) => args.format == ListFormat::Json,
            Command::Runs(args) => args.format == Format::Json,
            Command::Config(args) => args.format() == Format::Json,
            Command::Sandbox(_) | Command::Completions(_) | Command::Man(_) => false,
        }
    }
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people
    #[default]
    Text,
    /// One JSON object on each line
    Json,
}

/// The form of a summary on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// The form of a list on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table
    Text,
    /// One JSON object
    Json,
    /// CSV with a header
    Csv,
}

/// When to draw a progress bar on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// On a terminal
    Auto,
    /// Also where standard error is no terminal
    Always,
    /// Not at all
    Never,
}
