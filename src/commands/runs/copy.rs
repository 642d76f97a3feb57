//! `leadload runs copy`: makes a backup of the ledger, which may be in use.

use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::exit::{Failure, StoppedBy};
use crate::ledger::{CopyError, Ledger, LedgerPlace};
use crate::message::Message;
use crate::options::Format;
use crate::paths::with_reason;
use crate::private_file;
use crate::report::{copied_json, copied_text};
use crate::results::what_to_fix;

pub(super) fn run(place: &LedgerPlace, to: &Path, format: Format) -> Result<String, Failure> {
    let Some(ledger) = Ledger::read(place)? else {
        return Err(Failure::usage(
            format!("there is no ledger `{place}` to copy"),
            "the first import creates it; if yours is elsewhere, name it with `--ledger`",
        ));
    };
    if place.owns(to) {
        let to = to.display();
        return Err(Failure::usage(
            format!("`{to}` is the ledger itself, or a file beside it"),
            "name another file with `--to`",
        ));
    }
    // A link whose target does not exist counts as existing too.
    if to.symlink_metadata().is_ok() {
        return Err(already_there(to));
    }
    let part = private_file::beside(to).map_err(|error| not_written(to, &error))?;
    let copied = ledger.copy_into(part.path());
    let runs = copied.map_err(|error| match error {
        CopyError::Ledger(error) => error.into(),
        CopyError::Output(error) => not_written(to, &error),
    })?;
    let bytes = put_in_place(part, to).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => already_there(to),
        _ => not_written(to, &error),
    })?;
    Ok(match format {
        Format::Text => copied_text(place, to, runs, bytes),
        Format::Json => copied_json(to, runs, bytes),
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
    Failure::usage(
        format!("`{to}` exists already, and `leadload runs copy` replaces no file"),
        "name another file with `--to`, such as one with today's date",
    )
}

fn not_written(to: &Path, error: &io::Error) -> Failure {
    let fix = what_to_fix(to, error);
    let message = Message::new(
        format!("cannot write the copy {}", with_reason(to, error)),
        format!("{fix}, or choose another place with `--to`; then run the same command again"),
    );
    Failure::new(StoppedBy::Disk, message)
}
