//! A command's page in the manual.
//!
//! Rule: says what `--help` says, in the sections that such pages have.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// The page of a command that has been built.
pub fn man_page(command: &Command) -> io::Result<Vec<u8>> {
    let version = command.get_version().unwrap_or_default();
    let command = &as_at_length(command);
    let man = Man::new(command.clone())
        .source(format!("leadload {version}"))
        .manual("User Commands");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let below = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    if let Some(text) = below {
        sections(&text.to_string()).to_writer(&mut page)?;
    }
    Ok(page)
}

/// The command with the flags that `--help` has, all of them explained: a page is no short
/// help.
fn as_at_length(command: &Command) -> Command {
    command.clone().mut_args(|arg| {
        let is_hidden = arg.is_hide_set() || arg.is_hide_long_help_set();
        arg.hide(is_hidden).hide_short_help(false)
    })
}

/// How the command is called. The flags stand below, and would fill a screen here.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim_start();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([roman(usage)]);
    roff
}

/// What stands below the flags: a paragraph of indented lines is a section under its first
/// line, another one a paragraph of notes.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut has_notes = false;
    for paragraph in text.split("\n\n") {
        match paragraph.split_once(":\n") {
            Some((heading, lines)) => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
                roff.control("nf", []);
                for line in lines.lines() {
                    roff.text([roman(line.trim_start())]);
                }
                roff.control("fi", []);
                has_notes = false;
            }
            None => {
                let heading = if has_notes {
                    ("PP", None)
                } else {
                    ("SH", Some("NOTES"))
                };
                roff.control(heading.0, heading.1);
                for line in paragraph.lines() {
                    roff.text([roman(line)]);
                }
                has_notes = true;
            }
        }
    }
    roff
}
