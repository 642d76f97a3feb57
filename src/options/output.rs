//! What is written and what is said, where and how.

use std::path::PathBuf;

use clap::{ValueEnum, ValueHint};

use super::Said;
use super::declare::options;

options! {
    /// What an import leaves behind, and what it says on standard output.
    #[command(next_help_heading = "Output")]
    pub struct OutputOptions {
        /// Results file, a line for every row; `none` writes none [default: NAME.results.csv]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        results: Said<PathBuf> => List { is_output: true };

        /// Rows to mend and send again; `none` writes none [default: NAME.rejects.csv]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        rejects: Said<PathBuf> => List { is_output: true };

        /// Write a report for people: one HTML page with charts that needs nothing else
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        report: Said<PathBuf> => List { is_output: true };

        /// Write figures of the run into this file all the while, in the text form of Prometheus
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        metrics_file: Said<PathBuf> => Delivery { is_output: true };

        /// Form of the summary on standard output [default: text]
        #[arg(long, value_name = "FORMAT")]
        format: Said<Format> => Output { default: Some("text") };

        /// Progress bar on standard error [default: auto]
        #[arg(long, value_name = "WHEN")]
        progress: Said<Progress> => Output { default: Some("auto") };
    }
}

options! {
    /// What is said on standard error.
    #[command(next_help_heading = "Output")]
    pub struct LogOptions {
        /// Say more on standard error (twice: every attempt)
        #[arg(short, long, global = true, action = clap::ArgAction::Count)]
        verbose: u8 => Output;

        /// Say nothing on standard error but errors
        #[arg(
            short,
            long,
            global = true,
            action = clap::ArgAction::SetTrue,
            conflicts_with = "verbose"
        )]
        quiet: bool => Output;

        /// Form of log lines on standard error [default: text]
        #[arg(long, value_name = "FORMAT", global = true)]
        log_format: Said<LogFormat> => Output { default: Some("text") };
    }
}

impl OutputOptions {
    /// The form of the summary.
    pub fn form(&self) -> Format {
        self.format.as_deref().copied().unwrap_or_default()
    }
}

impl LogOptions {
    /// The form of log lines.
    pub fn form(&self) -> LogFormat {
        self.log_format.as_deref().copied().unwrap_or_default()
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
}

/// When to draw a progress bar on standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// On a terminal
    #[default]
    Auto,
    /// Also where standard error is no terminal
    Always,
    /// Not at all
    Never,
}
