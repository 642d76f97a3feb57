//! Outputs and messages.

use std::path::PathBuf;

use clap::ValueHint;

use super::Given;
use super::declare::options;
use super::value::{Format, LogFormat, Progress};

options! {
    #[command(next_help_heading = "Output")]
    pub struct OutputOptions {
        /// Results file, a line for every row; `none` writes none [default: NAME.results.csv]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        results: Given<PathBuf> => List { is_output: true };

        /// Rows to fix and send again; `none` writes none [default: NAME.rejects.csv]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        rejects: Given<PathBuf> => List { is_output: true };

        /// Write a report: one self-contained HTML page
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        report: Given<PathBuf> => List { is_output: true };

        /// Write metrics of the run to this file, in Prometheus text format
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        metrics_file: Given<PathBuf> => Delivery { is_output: true, is_repeated_after_import: false };

        /// Format of the summary on standard output [default: text]
        #[arg(long, value_name = "FORMAT")]
        format: Given<Format> => Output { default: Some("text") };

        /// Progress bar on standard error [default: auto]
        #[arg(long, value_name = "WHEN")]
        progress: Given<Progress> => Output { default: Some("auto") };
    }
}

options! {
    #[command(next_help_heading = "Output")]
    pub struct LogOptions {
        /// Log more on standard error (twice: every attempt)
        #[arg(short, long, global = true, action = clap::ArgAction::Count)]
        verbose: u8 => Output;

        /// Log only errors on standard error
        #[arg(
            short,
            long,
            global = true,
            action = clap::ArgAction::SetTrue,
            conflicts_with = "verbose"
        )]
        quiet: bool => Output;

        /// Format of log lines on standard error [default: text]
        #[arg(long, value_name = "FORMAT", global = true)]
        log_format: Given<LogFormat> => Output { default: Some("text") };
    }
}

impl OutputOptions {
    pub fn format(&self) -> Format {
        self.format.as_deref().copied().unwrap_or_default()
    }
}

impl LogOptions {
    pub fn is_quiet(&self) -> bool {
        self.quiet == Some(true)
    }

    pub fn format(&self) -> LogFormat {
        self.log_format.as_deref().copied().unwrap_or_default()
    }
}
