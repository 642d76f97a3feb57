//! Where metrics may be written, and why they may not.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::results::what_to_fix;

/// How every file of ours begins.
const BEGINNING: &str = "# HELP leadload_";

/// A place that cannot be written to.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// What is there is none of our metrics, or another file of this import.
    #[error(
        "`{}` {why}, so metrics cannot be written there\n\nhint: name another file with `--metrics-file`",
        path.display()
    )]
    Refused {
        /// The place.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// The operating system says no.
    #[error(
        "cannot write the metrics file `{}`: {error}\n\nhint: {}, or name another file with `--metrics-file`",
        path.display(), what_to_fix(path, error)
    )]
    Unwritable {
        /// The place.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
}

impl From<MetricsError> for Failure {
    fn from(error: MetricsError) -> Failure {
        let by = match error {
            MetricsError::Unwritable { .. } => StoppedBy::Disk,
            MetricsError::Refused { .. } => StoppedBy::Usage,
        };
        Failure::new(by, error)
    }
}

/// What is in a place where metrics may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// A file without content.
    Empty,
    /// Figures of ours.
    Figures,
}

/// The place must have nothing, an empty file, or metrics of ours in it.
pub(super) fn refuse_place(path: &Path) -> Result<Found, MetricsError> {
    let refused = |why| MetricsError::Refused {
        path: path.to_owned(),
        why,
    };
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.as_os_str() != "-" => {
            return Ok(Found::Nothing);
        }
        found => found,
    };
    match found {
        // There is nothing to lose.
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(Found::Empty),
        Ok(found) if found.is_file() => {}
        _ => return Err(refused("is not a regular file")),
    }
    let mut beginning = vec![0; BEGINNING.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    match read {
        Ok(()) if beginning == BEGINNING.as_bytes() => Ok(Found::Figures),
        _ => Err(refused("has something else than metrics of leadload in it")),
    }
}
