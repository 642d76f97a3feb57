//! Why an output cannot be written. Each text says what, where and what next.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::source::{SourceError, folder_of};

/// An output that cannot be.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The operating system says no.
    #[error(
        "cannot write `{}`: {error}\n\nhint: {}, or choose another place with `--results` and `--rejects`; then run the same command again",
        path.display(), what_to_mend(path, error)
    )]
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
        "`{}` is not a regular file, so it cannot be an output\n\nhint: name another file, or `none`",
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
    /// The output is an input of the same command.
    #[error(
        "`{}` is an input, and inputs are never written to\n\nhint: name another file with `--results` or `--rejects`",
        path.display()
    )]
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
    /// Two outputs would be one file.
    #[error(
        "two outputs would be written to `{}`\n\nhint: name different files with `--results` and `--rejects`, or import the inputs one by one",
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
    #[error(
        "another run is writing `{}`\n\nhint: wait until it is done, or name another file with `--results` and `--rejects`",
        path.display()
    )]
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
        let by = match self {
            OutputError::Busy { .. } => StoppedBy::Busy,
            _ => StoppedBy::Usage,
        };
        Failure::new(by, self)
    }
}

/// What has to be mended before the file can be written.
fn what_to_mend(path: &Path, error: &io::Error) -> String {
    let folder = folder_of(path).display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on that disk".to_owned(),
        ErrorKind::FileTooLarge => {
            "lift the limit on the size of files (`ulimit -f`), if it is not the disk's own"
                .to_owned()
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => format!("make the folder `{folder}`"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            format!("get the right to write in the folder `{folder}`")
        }
        _ => "mend that".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
