//! Why an output cannot be written. Each text says what happened, where, and what to do.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::exit::{Failure, StoppedBy};
use crate::message::{Message, Text, Value};
use crate::paths::{folder_of, with_reason};

const FLAGS: &str = "`--results`, `--rejects` or `--report`";

/// An output that cannot be written.
#[derive(Debug)]
pub struct OutputError {
    what: Text,
    hint: Text,
    /// The flags with which the user can name another file. They end the hint at the terminal.
    flags: Option<&'static str>,
    /// What stopped the run, if nothing has been sent yet.
    stopped_by: StoppedBy,
    is_gone: bool,
}

impl OutputError {
    fn new(stopped_by: StoppedBy, what: Text, hint: Text) -> OutputError {
        OutputError {
            what,
            hint,
            flags: None,
            stopped_by,
            is_gone: false,
        }
    }

    /// For an output path that the user has to change, as `hint` says at the terminal. The page
    /// chooses its paths itself.
    pub(super) fn usage(what: Text, hint: impl Into<Value>) -> OutputError {
        let hint: Value = hint.into();
        let hint = text!(
            "{{hint}|try again; if it happens again, choose the list again as a new list}",
            hint
        );
        OutputError::new(StoppedBy::Usage, what, hint)
    }

    pub(super) fn busy(path: &Path) -> OutputError {
        let what = text!(
            "another {run is writing `{path}`|list is writing its results there}",
            path = path.display().to_string()
        );
        let hint = text!("wait until it has ended, {or |then {again}}");
        OutputError::new(StoppedBy::Busy, what, hint).naming_flags()
    }

    pub(super) fn unwritable(path: &Path, error: io::Error) -> OutputError {
        let what = text!("cannot write {path}", path = with_reason(path, &error));
        let hint = text!(
            "{fix}, then {again}{, or |}",
            fix = what_to_fix(path, &error)
        );
        OutputError::new(StoppedBy::Disk, what, hint).naming_flags()
    }

    /// For a file that another program has open (on Windows).
    pub(super) fn not_replaced(path: &Path, error: io::Error) -> OutputError {
        OutputError::new(
            StoppedBy::Disk,
            text!(
                "cannot replace `{path}`: {error}",
                path = path.display().to_string(),
                error = &error
            ),
            text!("if another program has it open, close it there; then {again}"),
        )
    }

    pub(super) fn gone(part: &Path) -> OutputError {
        let what = text!(
            "`{part}`, which was being written, has been deleted or moved away",
            part = part.display().to_string()
        );
        let hint = text!(
            "leave it there while leadload is running, and {again}: it writes the whole file again"
        );
        OutputError {
            is_gone: true,
            ..OutputError::new(StoppedBy::Usage, what, hint)
        }
    }

    /// For a thread that has panicked.
    pub fn died() -> OutputError {
        OutputError::new(
            StoppedBy::Usage,
            text!(
                "{the thread that writes results has died|the results cannot be written any more}"
            ),
            text!("{report_bug}; {again}"),
        )
    }

    pub(super) fn not_a_file(path: &Path) -> OutputError {
        let what = text!(
            "`{path}` is not a regular file, so it cannot be an output",
            path = path.display().to_string()
        );
        OutputError::usage(what, "name another file")
    }

    pub(super) fn naming_flags(self) -> OutputError {
        OutputError {
            flags: Some(FLAGS),
            ..self
        }
    }

    pub fn message(&self) -> Message {
        let hint = self.hint.clone();
        let hint = match self.flags {
            Some(flags) => text!("{hint}{name another file with {flags}|}", hint, flags),
            None => hint,
        };
        Message::new(self.what.clone(), hint)
    }

    /// Whether the file was deleted while it was being written, so that nothing of it is left.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// The failure of a command that has begun.
    pub fn while_writing(self) -> Failure {
        Failure::new(StoppedBy::Disk, self.message())
    }

    /// The failure of a command that has not begun to send.
    pub fn before_sending(self) -> Failure {
        Failure::new(self.stopped_by, self.message())
    }

    /// This error in an export, or where a run is undone: the only flag for a file is `--results`.
    pub fn of_export(self) -> OutputError {
        OutputError {
            flags: self.flags.map(|_| "`--results`"),
            ..self
        }
    }
}

/// What has to be fixed before the file can be written.
pub fn what_to_fix(path: &Path, error: &io::Error) -> Text {
    let folder = folder_of(path).display().to_string();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            text!("free {space on that disk|some space on this computer's disk}")
        }
        ErrorKind::FileTooLarge => text!(
            "{lift the limit on the size of files (`ulimit -f`), if it is not the disk's own|free some space on this computer's disk}"
        ),
        _ if folder_of(path).is_file() => text!(
            "remove the file `{folder}`, which is in the place of a folder",
            folder
        ),
        // For example a virtual folder of the system.
        ErrorKind::NotFound if folder_of(path).is_dir() => text!(
            "make sure that files can be created in the folder `{folder}`",
            folder
        ),
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            text!("create the folder `{folder}`", folder)
        }
        ErrorKind::PermissionDenied if is_read_only(path) => text!(
            "get permission to write `{path}`",
            path = path.display().to_string()
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            text!("get permission to write in the folder `{folder}`", folder)
        }
        _ => text!("{fix that|check this computer's disk}"),
    }
}

/// Like [`what_to_fix`], for a path whose missing folders are created:
/// names what prevents the first of them.
pub fn what_to_fix_with_folders(path: &Path, error: &io::Error) -> Text {
    let missing = path.ancestors().filter(|place| !place.exists());
    let missing = missing.filter(|place| !place.as_os_str().is_empty());
    what_to_fix(missing.last().unwrap_or(path), error)
}

fn is_read_only(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_folders_to_be_created_the_hint_names_the_existing_parent() {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path().display();
        let path = folder.path().join("a/b/config.toml");
        for (kind, advice) in [
            (ErrorKind::PermissionDenied, "permission"),
            (ErrorKind::NotFound, "created"),
        ] {
            let text = what_to_fix_with_folders(&path, &kind.into()).to_string();
            assert!(text.contains(advice), "{text}");
            assert!(text.ends_with(&format!("the folder `{above}`")), "{text}");
        }
    }

    #[test]
    fn hints_of_an_export_name_its_flag_and_leave_paths_as_they_are() {
        let path = Path::new("`--results`, `--rejects` or `--report`.csv");
        for error in [
            OutputError::unwritable(path, ErrorKind::Other.into()),
            OutputError::busy(path),
        ] {
            let text = error.of_export().message().to_string();
            assert!(text.contains(&format!("`{}`", path.display())), "{text}");
            assert!(text.ends_with(" `--results`"), "{text}");
        }
    }

    #[test]
    fn every_reason_why_a_file_cannot_be_written_says_what_to_do() {
        for (kind, advice) in [
            (ErrorKind::StorageFull, "free space"),
            (ErrorKind::QuotaExceeded, "free space"),
            (ErrorKind::FileTooLarge, "size of files"),
            (ErrorKind::NotFound, "the folder `out`"),
            (ErrorKind::PermissionDenied, "permission"),
            (ErrorKind::ReadOnlyFilesystem, "permission"),
            (ErrorKind::Other, "fix that"),
        ] {
            let path = Path::new("out/leads.results.csv");
            let text = OutputError::unwritable(path, kind.into())
                .message()
                .to_string();
            assert!(text.contains("`out/leads.results.csv`"), "{text}");
            let (_, hint) = text.split_once("\n\nhint: ").unwrap();
            assert!(hint.contains(advice), "{text}");
            assert!(
                hint.ends_with("`--results`, `--rejects` or `--report`"),
                "{text}"
            );
        }
    }
}
