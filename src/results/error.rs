//! Why an output cannot be written. Each text says what, where and what next.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::source::{SourceError, folder_of};

/// How the hints name the flags of an import that name outputs.
const OF_IMPORT: &str = "`--results`, `--rejects` or `--report`";

/// The one that an export has.
const OF_EXPORT: &str = "`--results`";

/// An output that cannot be.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The operating system says no.
    #[error("{}", unwritable(path, error, OF_IMPORT))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// What stands in its place does not give way: on Windows, while another program has
    /// it open.
    #[error(
        "cannot replace `{}`: {error}\n\nhint: if another program has it open, close it there; then run the same command again",
        path.display()
    )]
    NotReplaced {
        /// The file in whose place an output goes.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// Somebody has removed what was being written.
    #[error(
        "`{}`, which was being written, has been deleted or moved away\n\nhint: leave it there while leadload is at work, and run the same command again: it writes the whole file anew",
        path.display()
    )]
    Gone {
        /// The file as it is called until it is complete.
        path: PathBuf,
    },
    /// What has been written cannot be read again to change its form.
    #[error(
        "cannot change the form of `{}`: {error}\n\nhint: what was written before is in the file that ends in `.part`",
        path.display()
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: Box<SourceError>,
    },
    /// A folder, a link or a device stands there.
    #[error(
        "`{}` is not a regular file, so it cannot be an output\n\nhint: name another file",
        path.display()
    )]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A results file by the name of something else.
    #[error(
        "the results cannot be `{}`: they are a CSV file\n\nhint: give it a name that ends in `.csv`",
        path.display()
    )]
    NotCsv {
        /// The path.
        path: PathBuf,
    },
    /// A page by the name of something else.
    #[error(
        "the report cannot be `{}`: it is a page for a browser\n\nhint: give it a name that ends in `.html`",
        path.display()
    )]
    NotHtml {
        /// The path.
        path: PathBuf,
    },
    /// The output is an input of the same command.
    #[error("{}", is_an_input(path, OF_IMPORT))]
    IsAnInput {
        /// The path.
        path: PathBuf,
    },
    /// The output is a file of the ledger.
    #[error(
        "`{}` is a file of the ledger, which is never written over\n\nhint: name another file",
        path.display()
    )]
    IsTheLedger {
        /// The path.
        path: PathBuf,
    },
    /// The output is a file of settings, a token or certificates.
    #[error(
        "`{}` holds settings, a token or certificates that this command uses, and is never written over\n\nhint: name another file",
        path.display()
    )]
    IsReserved {
        /// The path.
        path: PathBuf,
    },
    /// Two outputs would be one file.
    #[error(
        "two outputs would be written to `{}`\n\nhint: name different files with `--results`, `--rejects` and `--report`, or import the inputs one by one",
        path.display()
    )]
    Twice {
        /// The path.
        path: PathBuf,
    },
    /// `--rejects FILE` with several inputs, whose headers may differ.
    #[error(
        "`--rejects` names one file, but there are several inputs, and each has rejects of its own\n\nhint: leave `--rejects` out, or import the files one by one"
    )]
    OneRejectsForSeveral,
    /// Another run writes the same output.
    #[error("{}", busy(path, OF_IMPORT))]
    Busy {
        /// The path.
        path: PathBuf,
    },
}

impl OutputError {
    pub(super) fn not_replaced(path: &Path, error: io::Error) -> OutputError {
        OutputError::NotReplaced {
            path: path.to_owned(),
            error,
        }
    }

    /// The failure of a command that has not begun to send.
    pub fn before_sending(self) -> Failure {
        Failure::new(self.stops_before(), self)
    }

    /// The failure of an export that has not begun to write.
    pub fn before_exporting(self) -> Failure {
        Failure::new(self.stops_before(), ExportError(self))
    }

    fn stops_before(&self) -> StoppedBy {
        match self {
            OutputError::Busy { .. } => StoppedBy::Busy,
            OutputError::Unwritable { .. } | OutputError::NotReplaced { .. } => StoppedBy::Disk,
            _ => StoppedBy::Usage,
        }
    }
}

/// An output that cannot be, of an export: it has no other flag for a file than `--results`.
#[derive(Debug, Error)]
#[error("{}", of_export(.0))]
pub struct ExportError(pub OutputError);

fn of_export(error: &OutputError) -> String {
    match error {
        OutputError::Unwritable { path, error } => unwritable(path, error, OF_EXPORT),
        OutputError::IsAnInput { path } => is_an_input(path, OF_EXPORT),
        OutputError::Busy { path } => busy(path, OF_EXPORT),
        other => other.to_string(),
    }
}

fn unwritable(path: &Path, error: &io::Error, flags: &str) -> String {
    format!(
        "cannot write `{}`: {error}\n\nhint: {}, or choose another place with {flags}; then run the same command again",
        path.display(),
        what_to_mend(path, error)
    )
}

fn is_an_input(path: &Path, flags: &str) -> String {
    format!(
        "`{}` is an input, and inputs are never written to\n\nhint: name another file with {flags}",
        path.display()
    )
}

fn busy(path: &Path, flags: &str) -> String {
    format!(
        "another run is writing `{}`\n\nhint: wait until it is done, or name another file with {flags}",
        path.display()
    )
}

/// What has to be mended before the file can be written.
pub fn what_to_mend(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path).display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on that disk".to_owned(),
        ErrorKind::FileTooLarge => {
            "lift the limit on the size of files (`ulimit -f`), if it is not the disk's own"
                .to_owned()
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory if folder_of(path).is_file() => {
            format!("name a folder, which `{folder}` is not")
        }
        // Such as a folder that the system makes up.
        ErrorKind::NotFound if folder_of(path).is_dir() => {
            format!("find out why no file can be made in the folder `{folder}`")
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => format!("make the folder `{folder}`"),
        ErrorKind::PermissionDenied if is_read_only(path) => {
            format!("get the right to write `{}`", path.display())
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            format!("get the right to write in the folder `{folder}`")
        }
        _ => "mend that".to_owned(),
    }
}

/// The same where missing folders are made: what keeps the first of them from being made.
pub fn what_to_mend_with_folders(path: &Path, error: &io::Error) -> String {
    let missing = path.ancestors().filter(|place| !place.exists());
    let missing = missing.filter(|place| !place.as_os_str().is_empty());
    what_to_mend(missing.last().unwrap_or(path), error)
}

fn is_read_only(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().readonly())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_folders_are_made_it_is_the_one_above_them_that_has_to_be_mended() {
        let folder = tempfile::tempdir().unwrap();
        let above = folder.path().display();
        let path = folder.path().join("a/b/config.toml");
        for (kind, advice) in [
            (ErrorKind::PermissionDenied, "get the right to write in"),
            (ErrorKind::NotFound, "find out why no file can be made in"),
        ] {
            assert_eq!(
                what_to_mend_with_folders(&path, &kind.into()),
                format!("{advice} the folder `{above}`")
            );
        }
    }

    #[test]
    fn hints_of_an_export_name_its_flag_and_leave_paths_as_they_are() {
        let path = PathBuf::from(format!("{OF_IMPORT}.csv"));
        let error = || io::Error::from(ErrorKind::Other);
        for error in [
            OutputError::Unwritable {
                path: path.clone(),
                error: error(),
            },
            OutputError::IsAnInput { path: path.clone() },
            OutputError::Busy { path: path.clone() },
        ] {
            let failure = error.before_exporting().error;
            let text = failure.to_string();
            assert!(text.contains(&format!("`{}`", path.display())), "{text}");
            assert!(text.contains(" with `--results`"), "{text}");
            assert!(!text.contains(" with `--results`, `--rejects`"), "{text}");
            assert!(failure.is::<ExportError>());
        }
    }

    #[test]
    fn every_reason_why_a_file_cannot_be_written_says_what_to_do() {
        for (kind, advice) in [
            (ErrorKind::StorageFull, "make room on that disk, or choose"),
            (
                ErrorKind::QuotaExceeded,
                "make room on that disk, or choose",
            ),
            (
                ErrorKind::FileTooLarge,
                "lift the limit on the size of files",
            ),
            (
                ErrorKind::NotFound,
                "make the folder `out`, or choose another",
            ),
            (
                ErrorKind::PermissionDenied,
                "get the right to write in the folder `out`",
            ),
            (
                ErrorKind::ReadOnlyFilesystem,
                "get the right to write in the folder `out`",
            ),
            (
                ErrorKind::Other,
                "mend that, or choose another place with `--results`",
            ),
        ] {
            let text = OutputError::Unwritable {
                path: "out/leads.results.csv".into(),
                error: kind.into(),
            }
            .to_string();
            assert!(
                text.starts_with("cannot write `out/leads.results.csv`: "),
                "{text}"
            );
            assert!(text.contains(&format!("\n\nhint: {advice}")), "{text}");
            assert!(
                text.ends_with("; then run the same command again"),
                "{text}"
            );
        }
    }
}
