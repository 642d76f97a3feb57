//! `leadload runs copy`: makes a backup of the ledger, which may be in use, or moves it.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::half_copy::{self, HalfCopy};
use super::refuse_senders;
use crate::cli::runs::CopyArgs;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::ledger::{CopyError, Ledger, LedgerPlace};
use crate::message::{Message, Text};
use crate::options::Format;
use crate::paths::{is_same_place, with_reason};
use crate::private_file;
use crate::report::{copied_json, copied_text, transferred_json, transferred_text};
use crate::results::what_to_fix;
use crate::settings::{Layers, place_of};

/// Refuses to write over a file that is needed, or that is there.
fn refuse_taken(to: &Path, place: &LedgerPlace, layers: &Layers) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::usage(terminal_message!(
            "`{to}` is {what}",
            "name another file with `--to`",
            to = to.display().to_string(),
            what
        )))
    };
    if place.owns(to) {
        return refused("the ledger itself, or a file beside it");
    }
    if layers.reserved.iter().any(|file| is_same_place(file, to)) {
        return refused("a file for settings, a token or certificates");
    }
    // A link whose target does not exist counts as existing too.
    match to.symlink_metadata() {
        Ok(_) => Err(already_there(to)),
        Err(_) => Ok(()),
    }
}

pub(super) fn run(
    place: &LedgerPlace,
    args: &CopyArgs,
    layers: &Layers,
) -> Result<String, Failure> {
    let options = layers.options();
    let format = options.output.format();
    let Some(ledger) = Ledger::read(place)? else {
        return Err(Failure::usage(Message::new(
            Text::terminal(format!("there is no ledger `{place}` to copy")),
            terminal_text!(
                "the first import creates it; if yours is elsewhere, name it with `--ledger`"
            ),
        )));
    };
    // A ledger that moves must not get any more leads where it was.
    let _locks = match args.from {
        Some(_) => refuse_senders(&ledger)?,
        None => Vec::new(),
    };
    let to = place_of(&args.to, &options).stopped_by(StoppedBy::Usage)?;
    if let LedgerPlace::Server(_) = to {
        return to_server(&ledger, &to, args.from.is_some(), format);
    }
    let to = &args.to;
    refuse_taken(to, place, layers)?;
    half_copy::remove_left();
    let half = HalfCopy::begin(to).map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => busy(to),
        _ => not_written(to, &error),
    })?;
    let part = half.file().map_err(|error| not_written(to, &error))?;
    let copied = ledger.copy_into(part.path(), args.from.is_some());
    let runs = copied.map_err(|error| match error {
        CopyError::Ledger(error) => error.into(),
        CopyError::Output(error) => not_written(to, &error),
    })?;
    let bytes = put_in_place(part, to).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_there(to),
        _ => not_written(to, &error),
    })?;
    let backup_of = matches!(place, LedgerPlace::File(_)).then_some(place);
    Ok(match format {
        Format::Text => copied_text(backup_of, to, runs, bytes),
        Format::Json => copied_json(to, runs, bytes),
    })
}

fn to_server(
    ledger: &Ledger,
    to: &LedgerPlace,
    moves: bool,
    format: Format,
) -> Result<String, Failure> {
    let mut copy = Ledger::open(to)?;
    if !copy.is_empty()? {
        return Err(Failure::usage(Message::new(
            Text::terminal(format!("the ledger `{to}` is in use already")),
            terminal_text!(
                "`leadload runs copy` needs one that is empty: name another database with `--to`"
            ),
        )));
    }
    let copied = ledger.transfer(&mut copy, to, moves)?;
    Ok(match format {
        Format::Text => transferred_text(to, copied),
        Format::Json => transferred_json(to, copied),
    })
}

/// Gives the copy its name when it is completely on disk. Returns its size.
fn put_in_place(part: NamedTempFile, to: &Path) -> io::Result<u64> {
    part.as_file().sync_all()?;
    let bytes = part.as_file().metadata()?.len();
    part.persist_noclobber(to).map_err(|failed| failed.error)?;
    private_file::sync_folder(to);
    Ok(bytes)
}

/// The existing file may be the only good copy.
fn already_there(to: &Path) -> Failure {
    let to = to.display();
    Failure::usage(Message::new(
        Text::terminal(format!(
            "`{to}` exists already, and `leadload runs copy` replaces no file"
        )),
        terminal_text!("name another file with `--to`, such as one with today's date"),
    ))
}

fn busy(to: &Path) -> Failure {
    let message = Message::new(
        Text::terminal(format!(
            "another process is making the copy `{}`",
            to.display()
        )),
        terminal_text!("wait until it has ended, or choose another place with `--to`"),
    );
    Failure::new(StoppedBy::Busy, message)
}

fn not_written(to: &Path, error: &io::Error) -> Failure {
    let fix = what_to_fix(to, error);
    let message = Message::new(
        Text::terminal(format!("cannot write the copy {}", with_reason(to, error))),
        Text::terminal(format!(
            "{fix}, or choose another place with `--to`; then run the same command again"
        )),
    );
    Failure::new(StoppedBy::Disk, message)
}
