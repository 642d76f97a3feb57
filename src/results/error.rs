//! Why an output cannot be written. Each text says what, where and what next.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::source::SourceError;

/// An output that cannot be.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The operating system says no.
    #[error(
        "cannot write `{}`: {error}\n\nhint: mend that, or choose another place with `--results` and `--rejects`, then run the same command again",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
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
    /// The failure of a command that has not begun to send.
    pub fn before_sending(self) -> Failure {
        let by = match self {
            OutputError::Busy { .. } => StoppedBy::Busy,
            _ => StoppedBy::Usage,
        };
        Failure::new(by, self)
    }
}
