//! Why an output cannot be written. Each text says what happened, where, and what to do.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::exit::{Failure, StoppedBy};
use crate::message::Message;
use crate::paths::{folder_of, with_reason};

const FLAGS: &str = "`--results`, `--rejects` or `--report`";

/// An output that cannot be written.
#[derive(Debug)]
pub struct OutputError {
    what: String,
    hint: String,
    /// The flags with which the user can name another file. They end the hint.
    flags: Option<&'static str>,
    /// What stopped the run, if nothing has been sent yet.
    stopped_by: StoppedBy,
    is_gone: bool,
}

impl OutputError {
    fn new(stopped_by: StoppedBy, what: String, hint: &str) -> OutputError {
        OutputError {
            what,
            hint: hint.to_owned(),
            flags: None,
            stopped_by,
            is_gone: false,
        }
    }

    /// For an output path that the user has to change.
    pub(super) fn usage(what: String, hint: &str) -> OutputError {
        OutputError::new(StoppedBy::Usage, what, hint)
    }

    pub(super) fn busy(path: &Path) -> OutputError {
        let what = format!("another run is writing `{}`", path.display());
        let hint = "wait until it has ended, or ";
        OutputError::new(StoppedBy::Busy, what, hint).naming_flags()
    }

    pub(super) fn unwritable(path: &Path, error: io::Error) -> OutputError {
        let what = format!("cannot write {}", with_reason(path, &error));
        let fix = what_to_fix(path, &error);
        let hint = format!("{fix}, then run the same command again, or ");
        OutputError::new(StoppedBy::Disk, what, &hint).naming_flags()
    }

    /// For a file that another program has open (on Windows).
    pub(super) fn not_replaced(path: &Path, error: io::Error) -> OutputError {
        OutputError::new(
            StoppedBy::Disk,
            format!("cannot replace `{}`: {error}", path.display()),
            "if another program has it open, close it there; then run the same command again",
        )
    }

    pub(super) fn gone(part: &Path) -> OutputError {
        let what = format!(
            "`{}`, which was being written, has been deleted or moved away",
            part.display()
        );
        let hint = "leave it there while leadload is running, and run the same command again: it writes the whole file again";
        OutputError {
            is_gone: true,
            ..OutputError::usage(what, hint)
        }
    }

    /// For a thread that has panicked.
    pub fn died() -> OutputError {
        OutputError::usage(
            "the thread that writes results has died".to_owned(),
            "this is a bug in leadload, please report it; run the same command again",
        )
    }

    pub(super) fn not_a_file(path: &Path) -> OutputError {
        let path = path.display();
        let what = format!("`{path}` is not a regular file, so it cannot be an output");
        OutputError::usage(what, "name another file")
    }

    pub(super) fn naming_flags(self) -> OutputError {
        OutputError {
            flags: Some(FLAGS),
            ..self
        }
    }

    pub fn message(&self) -> Message {
        let another = self
            .flags
            .map(|flags| format!("name another file with {flags}"));
        let message = Message::new(&self.what, self.hint.clone() + &another.unwrap_or_default());
        let on_page = match self.stopped_by {
            StoppedBy::Busy => {
                "Another list is writing its results there. Wait until it has ended, then try again."
            }
            StoppedBy::Disk => "Free some space on this computer's disk, then try again.",
            _ => "Try again. If it happens again, choose the list again as a new list.",
        };
        message.hint_on_page(on_page)
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

    /// The same error for an export, or for undoing a run, whose only flag for a file is `--results`.
    pub fn of_export(self) -> OutputError {
        OutputError {
            flags: self.flags.map(|_| "`--results`"),
            ..self
        }
    }
}

/// What has to be fixed before the file can be written.
pub fn what_to_fix(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path).display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free space on that disk".to_owned(),
        ErrorKind::FileTooLarge => {
            "lift the limit on the size of files (`ulimit -f`), if it is not the disk's own"
                .to_owned()
        }
        _ if folder_of(path).is_file() => {
            format!("remove the file `{folder}`, which is in the place of a folder")
        }
        // For example a virtual folder of the system.
        ErrorKind::NotFound if folder_of(path).is_dir() => {
            format!("make sure that files can be created in the folder `{folder}`")
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => format!("create the folder `{folder}`"),
        ErrorKind::PermissionDenied if is_read_only(path) => {
            format!("get permission to write `{}`", path.display())
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            format!("get permission to write in the folder `{folder}`")
        }
        _ => "fix that".to_owned(),
    }
}

/// Like [`what_to_fix`], for a path whose missing folders are created:
/// names what prevents the first of them.
pub fn what_to_fix_with_folders(path: &Path, error: &io::Error) -> String {
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
            (ErrorKind::PermissionDenied, "get permission to write in"),
            (
                ErrorKind::NotFound,
                "make sure that files can be created in",
            ),
        ] {
            assert_eq!(
                what_to_fix_with_folders(&path, &kind.into()),
                format!("{advice} the folder `{above}`")
            );
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
            assert!(text.ends_with(" with `--results`"), "{text}");
        }
    }

    #[test]
    fn every_reason_why_a_file_cannot_be_written_says_what_to_do() {
        for (kind, advice) in [
            (ErrorKind::StorageFull, "free space on that disk, then run"),
            (
                ErrorKind::QuotaExceeded,
                "free space on that disk, then run",
            ),
            (
                ErrorKind::FileTooLarge,
                "lift the limit on the size of files",
            ),
            (ErrorKind::NotFound, "create the folder `out`, then run"),
            (
                ErrorKind::PermissionDenied,
                "get permission to write in the folder `out`",
            ),
            (
                ErrorKind::ReadOnlyFilesystem,
                "get permission to write in the folder `out`",
            ),
            (
                ErrorKind::Other,
                "fix that, then run the same command again, or name",
            ),
        ] {
            let path = Path::new("out/leads.results.csv");
            let text = OutputError::unwritable(path, kind.into())
                .message()
                .to_string();
            assert!(
                text.starts_with("cannot write `out/leads.results.csv`: "),
                "{text}"
            );
            assert!(text.contains(&format!("\n\nhint: {advice}")), "{text}");
            assert!(
                text.ends_with(" with `--results`, `--rejects` or `--report`"),
                "{text}"
            );
        }
    }
}
