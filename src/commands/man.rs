//! `leadload man`: the page of the program, or a page for every command.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Result, anyhow};

use crate::cli::{self, ManArgs, man_page};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::console;
use crate::results::what_to_fix_with_folders;

/// Prints the page, or writes all of them.
pub fn run(args: &ManArgs) -> Result<ExitCode, Failure> {
    let mut program = cli::manual().disable_help_subcommand(true);
    program.build();
    match &args.folder {
        None => print(&program).or_stopped(StoppedBy::Usage)?,
        Some(folder) => write(&program, folder).or_stopped(StoppedBy::Usage)?,
    }
    Ok(ExitCode::Complete)
}

fn print(program: &clap::Command) -> io::Result<()> {
    console::print(&String::from_utf8_lossy(&man_page(program)?))
}

/// Writes the pages of a command and of those below it.
fn write(command: &clap::Command, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = folder.join(format!("{name}.1"));
    let page = man_page(command)?;
    fs::write(&path, page).map_err(|error| unwritable(&path, &error))?;
    command
        .get_subcommands()
        .try_for_each(|command| write(command, folder))
}

fn unwritable(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow!(
        "cannot write `{}`: {error}\n\nhint: {}, or name another folder",
        path.display(),
        what_to_fix_with_folders(path, error)
    )
}
