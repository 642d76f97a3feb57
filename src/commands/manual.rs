//! `leadload man` and `leadload completions`: the manual,
//! and scripts that complete commands and flags in a shell.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::{self, CompletionsArgs, ManArgs};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::message::{Message, Text};
use crate::paths::with_reason;
use crate::report::console;
use crate::results::what_to_fix_with_folders;

pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "leadload", &mut script);
    let written = console::Stdout.write_all(&script);
    written.stopped_by(StoppedBy::Usage)?;
    Ok(ExitCode::Complete)
}

/// Where the program keeps things, as the manual shows it. There is none on Windows.
const FILES: [(&str, &str); 4] = [
    (
        "~/.config/leadload/config.toml",
        "settings, with profiles; on macOS in ~/Library/Application Support/leadload",
    ),
    (
        "~/.local/state/leadload/ledger.sqlite3",
        "the ledger: every lead that was sent; on macOS in ~/Library/Application Support/leadload",
    ),
    (
        "NAME.results.csv",
        "beside the list: what became of each row",
    ),
    (
        "NAME.rejects.csv, NAME.rejects.xlsx",
        "beside the list: the rows to fix and import again",
    ),
];

/// Prints the program's manual page, or writes a page for every command into a folder.
pub fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    // The help of a command is its page.
    let mut program = cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = args.folder.as_deref() else {
        let page = page(&Man::new(program)).stopped_by(StoppedBy::Usage)?;
        let written = console::Stdout.write_all(&page);
        written.stopped_by(StoppedBy::Usage)?;
        return Ok(ExitCode::Complete);
    };
    let written = fs::create_dir_all(folder).and_then(|()| write_pages(&program, folder));
    written.map_err(|error: io::Error| {
        let fix = what_to_fix_with_folders(folder, &error);
        Failure::usage(Message::new(
            Text::terminal(format!("cannot write to {}", with_reason(folder, &error))),
            Text::terminal(format!("{fix}, or name another folder")),
        ))
    })?;
    Ok(ExitCode::Complete)
}

fn write_pages(command: &clap::Command, folder: &Path) -> io::Result<()> {
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        write_pages(below, folder)?;
    }
    let man = Man::new(command.clone());
    fs::write(folder.join(man.get_filename()), page(&man)?)
}

fn page(man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page)?;
    let codes = ExitCode::MEANINGS.map(|(code, meaning)| ((code as u8).to_string(), meaning));
    let codes = codes.each_ref().map(|(code, meaning)| (&**code, *meaning));
    let mut roff = Roff::new();
    for (title, entries) in [
        ("EXIT STATUS", &codes[..]),
        ("ENVIRONMENT", &cli::VARIABLES[..]),
        ("FILES", &FILES[..]),
    ] {
        roff.control("SH", [title]);
        for (name, meaning) in entries {
            roff.control("TP", []);
            roff.text([bold(*name)]);
            roff.text([roman(*meaning)]);
        }
    }
    roff.to_writer(&mut page)?;
    Ok(page)
}
