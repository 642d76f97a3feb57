//! `leadload completions`: a script that completes commands and flags in a shell.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::console;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "leadload", &mut script);
    let script = String::from_utf8_lossy(&script);
    console::print(&script).or_stopped(StoppedBy::Usage)?;
    Ok(ExitCode::Complete)
}
