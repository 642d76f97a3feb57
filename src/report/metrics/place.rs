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
    /// A folder, a link or a device.
    #[error(
        "`{}` is not a regular file, so metrics cannot be written there\n\nhint: name another file with `--metrics-file`",
        path.display()
    )]
    NotAFile {
        /// The place.
        path: PathBuf,
    },
    /// A file of another program.
    #[error(
        "`{}` holds something else than metrics of leadload, and is not written over\n\nhint: name another file with `--metrics-file`",
        path.display()
    )]
    NotOurs {
        /// The place.
        path: PathBuf,
    },
    /// Results, rejects, report or ledger are there, or will be.
    #[error(
        "`{}` is another file of this import, so metrics cannot be written there\n\nhint: name another file with `--metrics-file`",
        path.display()
    )]
    Twice {
        /// The place.
        path: PathBuf,
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
            _ => StoppedBy::Usage,
        };
        Failure::new(by, error)
    }
}

/// What is in a place where metrics may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// Nothing.
    Nothing,
    /// A file without content.
    Empty,
    /// Figures of ours.
    Figures,
}

/// The place must have nothing, an empty file, or metrics of ours in it.
pub(super) fn refuse_place(path: &Path) -> Result<Stands, MetricsError> {
    let owned = || path.to_owned();
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.as_os_str() != "-" => {
            return Ok(Stands::Nothing);
        }
        found => found,
    };
    match found {
        Ok(found) if !found.is_file() => return Err(MetricsError::NotAFile { path: owned() }),
        Err(_) => return Err(MetricsError::NotAFile { path: owned() }),
        // There is nothing to lose.
        Ok(found) if found.len() == 0 => return Ok(Stands::Empty),
        Ok(_) => {}
    }
    let mut beginning = vec![0; BEGINNING.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    match read {
        Ok(()) if beginning == BEGINNING.as_bytes() => Ok(Stands::Figures),
        _ => Err(MetricsError::NotOurs { path: owned() }),
    }
}
