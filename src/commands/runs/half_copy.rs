//! A copy of the ledger until it is complete.
//!
//! It lies in a folder of its own beside its place. A kill leaves that folder with the numbers of
//! everyone in it, so it is noted in the user's state folder before anything is written: the next
//! copy, prune or forget removes it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};
use tracing::warn;

use crate::paths::{absolute_place, folder_of, with_reason};
use crate::private_file;
use crate::settings::copies_folder;

/// What is appended to the name of the copy.
const FOLDER: &str = ".leadload-copy";

/// The file in the folder that is locked as long as somebody writes there.
const LOCK: &str = "leadload.lock";

#[derive(Debug)]
pub(super) struct HalfCopy {
    folder: PathBuf,
    /// `None` without a state folder that can be written to: that is no reason not to make a backup.
    note: Option<TempPath>,
    _lock: File,
}

impl HalfCopy {
    /// Removes what an earlier copy to this place has left, and begins another.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ResourceBusy`] if another process is making a copy there.
    pub(super) fn begin(to: &Path) -> io::Result<HalfCopy> {
        let to = absolute_place(to)?;
        let mut name = OsString::from(to.file_name().ok_or(ErrorKind::InvalidFilename)?);
        name.push(FOLDER);
        let folder = to.with_file_name(name);
        remove(&folder)?;
        private_file::folders().recursive(false).create(&folder)?;
        let lock = private_file::create(&folder.join(LOCK))?;
        if !private_file::try_lock(&lock)? {
            return Err(ErrorKind::ResourceBusy.into());
        }
        Ok(HalfCopy {
            note: note(&folder).ok(),
            folder,
            _lock: lock,
        })
    }

    /// The file to copy into, which is empty.
    pub(super) fn file(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(&self.folder)
    }
}

impl Drop for HalfCopy {
    fn drop(&mut self) {
        // What cannot be removed now stays noted.
        if fs::remove_dir_all(&self.folder).is_err() {
            let _ = self.note.take().map(TempPath::keep);
        }
    }
}

/// Notes where a copy is being made, until what is returned is dropped.
fn note(folder: &Path) -> io::Result<TempPath> {
    let notes = copies_folder().ok_or(ErrorKind::NotFound)?;
    let folder = folder.to_str().ok_or(ErrorKind::InvalidFilename)?;
    private_file::folders().create(&notes)?;
    let mut note = NamedTempFile::new_in(notes)?;
    note.write_all(folder.as_bytes())?;
    note.as_file().sync_all()?;
    Ok(note.into_temp_path())
}

/// Removes what copies of this user have left that were killed.
pub(super) fn remove_left() {
    let notes = copies_folder().and_then(|notes| fs::read_dir(notes).ok());
    for note in notes.into_iter().flatten().flatten() {
        let note = note.path();
        let Some(folder) = fs::read_to_string(&note)
            .ok()
            .filter(|noted| !noted.is_empty())
        else {
            continue;
        };
        let folder = Path::new(&folder);
        match remove(folder) {
            Ok(()) => drop(fs::remove_file(note)),
            // It may be on a disk that is not there now.
            Err(error) if matches!(error.kind(), ErrorKind::ResourceBusy | ErrorKind::NotFound) => {
            }
            Err(error) => warn!(
                event = "warning",
                "a copy of a ledger that was not completed cannot be removed: {}",
                with_reason(folder, &error)
            ),
        }
    }
}

/// Removes the folder of a half copy, if there is one and nobody is writing there.
fn remove(folder: &Path) -> io::Result<()> {
    folder_of(folder).metadata()?;
    let removed = match File::options().write(true).open(folder.join(LOCK)) {
        Ok(lock) if !private_file::try_lock(&lock)? => return Err(ErrorKind::ResourceBusy.into()),
        Ok(_lock) => fs::remove_dir_all(folder),
        // Without the lock nothing was written: only an empty one is removed.
        Err(error) if error.kind() == ErrorKind::NotFound => fs::remove_dir(folder),
        Err(error) => Err(error),
    };
    removed.or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}
