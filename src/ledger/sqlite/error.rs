//! Why the ledger's file cannot be used. Each text says what happened, where, and what to do.

use std::fmt::Display;
use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use super::{FilePlace, LedgerError};
use crate::message::ASK_SETUP;
use crate::paths::reason;
use crate::results::what_to_fix_with_folders;

/// What the page says of a ledger that is none, or no longer one.
const DAMAGED: &str = "leadload's record of what was sent is damaged, so nothing is sent";

const ASK: &str = "Ask the person who set up leadload on this computer to put a backup of it in its place. Without it only the calling service knows who has been sent.";

impl LedgerError {
    /// For an error of the operating system about the ledger's file or one of the files next to it.
    pub(super) fn unusable(place: &FilePlace, error: io::Error) -> LedgerError {
        let fix = what_to_fix_with_folders(place.path(), &error);
        let why = reason(place.path(), &error);
        LedgerError::new(
            format!("cannot use the ledger `{place}`: {why}"),
            format!("{fix}, or name another file with `--ledger`"),
        )
        .on_page(
            format!("leadload's record of what was sent can't be used: {why}"),
            "Free some space on this computer and check that you may write in your home folder, then try again.",
        )
    }

    pub(super) fn not_a_ledger(place: &FilePlace) -> LedgerError {
        LedgerError::new(
            format!("`{place}` is not a ledger of leadload"),
            "name another file with `--ledger`; an import creates it if it does not exist",
        )
        .on_page(DAMAGED, ASK)
    }

    pub(super) fn damaged(place: &FilePlace, detail: impl Display) -> LedgerError {
        LedgerError::new(
            format!("the ledger `{place}` is damaged ({detail})"),
            "remove it with its `-wal` and `-shm`, and put a backup in its place; without one, move it away, and only the service can refuse leads that it already has",
        )
        .on_page(DAMAGED, ASK)
    }

    /// For a file that programs could use by another name at the same time.
    pub(super) fn has_second_name(
        place: &FilePlace,
        file: &Path,
        how: &str,
        hint: &str,
    ) -> LedgerError {
        let file = file.display();
        LedgerError::new(
            format!(
                "the file `{file}` of the ledger `{place}` has a second name ({how}), and runs that use both names would not know of each other"
            ),
            format!("{hint}; or name another file with `--ledger`"),
        )
        .on_page(
            "leadload's record of what was sent has a second name on this computer, so two lists could be sent at once",
            ASK_SETUP,
        )
    }

    pub(super) fn has_foreign_file(place: &FilePlace, file: &Path) -> LedgerError {
        LedgerError::new(
            format!(
                "`{}` beside the ledger `{place}` belongs to another user of this computer, who may have put anything into it",
                file.display()
            ),
            "find out whose it is; while nothing is being sent, move it away, and keep the ledger in a folder that only you can write to",
        )
        .on_page(
            "A file beside leadload's record of what was sent belongs to another user of this computer",
            ASK_SETUP,
        )
    }

    pub(super) fn lost_lock(place: &FilePlace, lock: &Path) -> LedgerError {
        LedgerError::new(
            format!(
                "`{}` was removed or replaced while this run used it, so another run can send with the ledger `{place}` at the same time",
                lock.display()
            ),
            "leave the files beside the ledger where they are, and run the same command again once no other run is at it",
        )
        .on_page(
            "A file beside leadload's record of what was sent was removed, so two lists could be sent at once",
            ASK_SETUP,
        )
    }

    #[cfg(unix)]
    pub(super) fn exposed(place: &FilePlace, error: &io::Error) -> LedgerError {
        let why = reason(place.path(), error);
        LedgerError::new(
            format!(
                "the ledger `{place}`, or a file beside it, can be used by other users of this computer, and cannot be made private: {why}"
            ),
            "have its owner run `chmod 600` on it and the files beside it, or name another file with `--ledger`",
        )
        .on_page(
            "Other people on this computer can read leadload's record of what was sent, and that can't be changed",
            ASK_SETUP,
        )
    }

    /// For a reader that keeps nobody from writing, since it may write nothing itself.
    pub(super) fn changed_meanwhile(place: &FilePlace) -> LedgerError {
        LedgerError::new(
            format!("the ledger `{place}` was changed while it was read"),
            "run the same command again",
        )
    }

    /// For the private copy by which a ledger is read that cannot be read where it is.
    pub(super) fn not_copied(place: &FilePlace, why: impl Display) -> LedgerError {
        let folder = std::env::temp_dir();
        let folder = folder.display();
        LedgerError::new(
            format!(
                "the ledger `{place}` has to be copied to be read, and no private copy can be made in `{folder}`: {why}"
            ),
            "name another folder by TMPDIR (on Windows TMP); an import into this ledger, where it can be written, makes the copy unnecessary",
        )
    }

    pub(super) fn gone(place: &FilePlace) -> LedgerError {
        LedgerError::new(
            format!("the ledger `{place}` was deleted or moved away while it was in use"),
            "put it back, then run the same command again; without it only the service can refuse leads that it already has",
        )
        .on_page(
            "leadload's record of what was sent was deleted or moved away",
            "Put it back and try again, or ask the person who set up leadload on this computer. Without it only the calling service knows who has been sent.",
        )
    }

    pub(super) fn of(place: &FilePlace, error: rusqlite::Error) -> LedgerError {
        let (what, hint, why, advice) = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => return LedgerError::not_a_ledger(place),
            Some(ErrorCode::DatabaseCorrupt) => return LedgerError::damaged(place, error),
            None if is_unreadable(&error) => return LedgerError::damaged(place, error),
            Some(ErrorCode::DiskFull) => (
                "cannot grow: the disk is full".to_owned(),
                "free space on that disk, then run the same command again",
                "the disk is full",
                "Free some space, then try again.",
            ),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                "is locked by another program".to_owned(),
                "close the program that has it open, then run the same command again",
                "another program has it open",
                "Close that program, then try again.",
            ),
            Some(ErrorCode::ReadOnly) => (
                "cannot be written: it, or its folder, is read-only".to_owned(),
                "fix that, or name another file with `--ledger`",
                "it is read-only",
                ASK_SETUP,
            ),
            _ => (
                format!("cannot be used: {error}"),
                "fix that, then run the same command again",
                "the disk may be full or broken",
                "Free some space, then try again.",
            ),
        };
        let error = LedgerError::new(format!("the ledger `{place}` {what}"), hint);
        let on_page = format!("leadload's record of what was sent can't be used: {why}");
        error.on_page(on_page, advice)
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
            (
                ffi::SQLITE_FULL,
                "cannot grow: the disk is full",
                "free space on that disk",
            ),
            (
                ffi::SQLITE_BUSY,
                "is locked by another program",
                "close the program",
            ),
            (
                ffi::SQLITE_READONLY,
                "it, or its folder, is read-only",
                "fix that, or name",
            ),
            (
                ffi::SQLITE_NOTADB,
                "is not a ledger of leadload",
                "name another file",
            ),
            (ffi::SQLITE_CORRUPT, "is damaged", "backup"),
            (ffi::SQLITE_IOERR, "cannot be used: ", "fix that, then run"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let LedgerError(message) = LedgerError::of(&place, error);
            assert!(message.what.contains(what), "{}", message.what);
            let hint = message.hint.unwrap_or_default();
            assert!(hint.contains(helps), "{hint}");
        }
    }
}
