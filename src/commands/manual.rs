//! `leadload man` and `leadload completions`: the manual,
//! and scripts that complete commands and flags in a shell.

use std::fs;
use std::io;

use clap_mangen::Man;

use crate::cli::{self, CompletionsArgs, ManArgs};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::paths::with_reason;
use crate::report::console;
use crate::results::what_to_fix_with_folders;

pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "leadload", &mut script);
    let script = String::from_utf8_lossy(&script);
    console::print(&script).or_stopped(StoppedBy::Usage)?;
    Ok(ExitCode::Complete)
}

/// Prints the program's manual page, or writes a page for every command into a folder.
pub fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    let program = cli::command();
    let Some(folder) = args.folder.as_deref() else {
        let mut page = Vec::new();
        let rendered = Man::new(program).render(&mut page);
        rendered.or_stopped(StoppedBy::Usage)?;
        console::print(&String::from_utf8_lossy(&page)).or_stopped(StoppedBy::Usage)?;
        return Ok(ExitCode::Complete);
    };
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder));
    written.map_err(|error: io::Error| {
        let fix = what_to_fix_with_folders(folder, &error);
        Failure::usage(
            format!("cannot write to {}", with_reason(folder, &error)),
            format!("{fix}, or name another folder"),
        )
    })?;
    Ok(ExitCode::Complete)
}
