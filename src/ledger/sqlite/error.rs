//! Why the ledger's file cannot be used. Each text says what happened, where, and what to do.

use std::fmt::Display;
use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use super::{FilePlace, LedgerError};
use crate::message::{Message, Template, Text};
use crate::paths::reason;
use crate::results::what_to_fix_with_folders;

/// What the page says of a ledger that is none, or no longer one.
const DAMAGED: Template = template!("{ledger} is damaged, so nothing is sent");
const ASK_FOR_BACKUP: Template = template!(
    "{ask_setup} to put a backup of it in its place; without it only {the_service} knows who has been sent"
);

impl LedgerError {
    /// For an error of the operating system about the ledger's file or one of the files next to it.
    pub(super) fn unusable(place: &FilePlace, error: io::Error) -> LedgerError {
        let fix = what_to_fix_with_folders(place.path(), &error);
        LedgerError::unusable_since(place, reason(place.path(), &error), fix)
    }

    fn unusable_since(place: &FilePlace, why: Text, fix: Text) -> LedgerError {
        LedgerError(message!(
            "{cannot use {place}|{place} cannot be used}: {why}",
            "{{fix}, or name another file with `--ledger`|free some space on this computer and check that you may write in your home folder, then {again}}",
            place,
            why,
            fix
        ))
    }

    /// For a folder, a pipe or a link in the place of the ledger's file or of one next to it.
    pub(super) fn not_a_file(place: &FilePlace, file: &Path) -> LedgerError {
        let why = match file == place.real() {
            true => text!("it is not a regular file"),
            false => text!(
                "`{file}` is not a regular file",
                file = file.display().to_string()
            ),
        };
        LedgerError::unusable_since(place, why, text!("fix that"))
    }

    pub(super) fn not_a_ledger(place: &FilePlace) -> LedgerError {
        LedgerError(message!(
            "{`{place}` is not a ledger of leadload|{damaged}}",
            "{name another file with `--ledger`; an import creates it if it does not exist|{ask}}",
            place = place.to_string(),
            damaged = DAMAGED,
            ask = ASK_FOR_BACKUP
        ))
    }

    pub(super) fn damaged(place: &FilePlace, detail: impl Display) -> LedgerError {
        LedgerError(message!(
            "{{place} is damaged ({detail})|{damaged}}",
            "{remove it with its `-wal` and `-shm`, and put a backup in its place; without one, move it away, and only the service can refuse leads that it already has|{ask}}",
            place,
            detail = detail.to_string(),
            damaged = DAMAGED,
            ask = ASK_FOR_BACKUP
        ))
    }

    /// For a file that programs could use by another name at the same time.
    pub(super) fn has_second_name(
        place: &FilePlace,
        file: &Path,
        how: &str,
        hint: &str,
    ) -> LedgerError {
        LedgerError::of_setup(
            text!(
                "{the file `{file}` of {place} has a second name ({how}), and runs that use both names would not know of each other|{place} has a second name on this computer, so two lists could be sent at once}",
                file = file.display().to_string(),
                place,
                how
            ),
            &format!("{hint}; or name another file with `--ledger`"),
        )
    }

    pub(super) fn has_foreign_file(place: &FilePlace, file: &Path) -> LedgerError {
        LedgerError::of_setup(
            text!(
                "{`{file}`|a file} beside {place} belongs to another user of this computer, who may have put anything into it",
                file = file.display().to_string(),
                place
            ),
            "find out whose it is; while nothing is being sent, move it away, and keep the ledger in a folder that only you can write to",
        )
    }

    pub(super) fn lost_lock(place: &FilePlace, lock: &Path) -> LedgerError {
        LedgerError::of_setup(
            text!(
                "{`{lock}` was removed or replaced while this run used it, so another run can send with {place} at the same time|a file beside {place} was removed, so two lists could be sent at once}",
                lock = lock.display().to_string(),
                place
            ),
            "leave the files beside the ledger where they are, and run the same command again once no other run is at it",
        )
    }

    #[cfg(unix)]
    pub(super) fn exposed(place: &FilePlace, error: &io::Error) -> LedgerError {
        let why = reason(place.path(), error);
        LedgerError::of_setup(
            text!(
                "{{place}, or a file beside it, can be used by other users of this computer, and cannot be made private: {why}|other people on this computer can read {place}, and that cannot be changed}",
                place,
                why
            ),
            "have its owner run `chmod 600` on it and the files beside it, or name another file with `--ledger`",
        )
    }

    /// For a reader that keeps nobody from writing, since it may write nothing itself.
    pub(super) fn changed_meanwhile(place: &FilePlace) -> LedgerError {
        LedgerError(message!(
            "{place} was changed while it was read",
            "{again}",
            place
        ))
    }

    /// For the private copy by which a ledger is read that cannot be read where it is.
    pub(super) fn not_copied(place: &FilePlace, why: impl Display) -> LedgerError {
        LedgerError::of_setup(
            text!(
                "{place} has to be copied to be read, and no private copy can be made{ in `{folder}`: {why}|}",
                place,
                folder = std::env::temp_dir().display().to_string(),
                why = why.to_string()
            ),
            "name another folder by TMPDIR (on Windows TMP); an import into this ledger, where it can be written, makes the copy unnecessary",
        )
    }

    pub(super) fn gone(place: &FilePlace) -> LedgerError {
        LedgerError(message!(
            "{place} was deleted or moved away while it was in use",
            "put it back, then {again}{|, or {ask_setup}}; without it only {the_service} {can refuse leads that it already has|knows who has been sent}",
            place
        ))
    }

    pub(super) fn of(place: &FilePlace, error: rusqlite::Error) -> LedgerError {
        let (what, hint) = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => return LedgerError::not_a_ledger(place),
            Some(ErrorCode::DatabaseCorrupt) => return LedgerError::damaged(place, error),
            None if is_unreadable(&error) => return LedgerError::damaged(place, error),
            Some(ErrorCode::DiskFull) => (
                text!("cannot grow: the disk is full"),
                template!("free space on that disk, then {again}"),
            ),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                text!("is locked by another program"),
                template!("close the program that has it open, then {again}"),
            ),
            Some(ErrorCode::ReadOnly) => (
                text!("cannot be written: it, or its folder, is read-only"),
                template!("{fix that, or name another file with `--ledger`|{ask_setup}}"),
            ),
            _ => (
                text!(
                    "cannot be used: {{error}|the disk may be full or broken}",
                    error = error.to_string()
                ),
                template!("{fix that|free some space}, then {again}"),
            ),
        };
        LedgerError(Message::new(text!("{place} {what}", place, what), hint))
    }
}

/// Whether the database has a value that no version of the program writes.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn what_keeps_the_file_from_being_used_is_named_with_what_helps() {
        let place = FilePlace::file("/leads/ledger.sqlite3");
        for (code, what, helps) in [
            (ffi::SQLITE_FULL, "the disk is full", "free space"),
            (ffi::SQLITE_BUSY, "locked", "close"),
            (ffi::SQLITE_READONLY, "read-only", "fix that"),
            (ffi::SQLITE_NOTADB, "not a ledger", "another file"),
            (ffi::SQLITE_CORRUPT, "damaged", "backup"),
            (ffi::SQLITE_IOERR, "cannot be used", "fix that"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let LedgerError(message) = LedgerError::of(&place, error);
            let (said, hint) = message.at_terminal();
            assert!(said.contains(what), "{said}");
            let hint = hint.unwrap_or_default();
            assert!(hint.contains(helps), "{hint}");
        }
    }
}
