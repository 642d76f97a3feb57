//! One output file, from the first byte beside its place to its name.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use same_file::Handle;

use super::OutputError;
use super::paths::part_of;
use crate::source::folder_of;

/// A file that is written beside its place, under a lock that keeps a second run
/// from writing there too. Dropped unfinished, it is removed, unless it is to be
/// left for people to read.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    part: PathBuf,
    /// What every version of the file begins with.
    prefix: &'static [u8],
    is_left: Cell<bool>,
    /// None once it has been finished.
    file: Option<File>,
}

impl OutputFile {
    /// Creates `PATH.part`. What a killed run has left there is kept under another
    /// name: it may be all that is known of the leads that it made.
    pub(super) fn create(path: &Path, prefix: &'static [u8]) -> Result<OutputFile, OutputError> {
        let part = part_of(path);
        let unwritable = |error| OutputError::Unwritable {
            path: path.to_owned(),
            error,
        };
        let file = loop {
            let file = open_private(&part).map_err(unwritable)?;
            if !lock(&file).map_err(unwritable)? {
                return Err(OutputError::Busy {
                    path: path.to_owned(),
                });
            }
            // Between the opening and the lock another run may have put the file in
            // its place: then it is no part any more.
            let is_the_part = is_file_at(&file, &part).map_err(unwritable)?;
            if is_the_part && file.metadata().map_err(unwritable)?.len() == 0 {
                break file;
            }
            if is_the_part {
                keep_existing(&part).map_err(unwritable)?;
            }
        };
        let mut output = OutputFile {
            path: path.to_owned(),
            part,
            prefix,
            is_left: Cell::new(false),
            file: Some(file),
        };
        output.begin().map_err(unwritable)?;
        Ok(output)
    }

    /// What it will be called.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What went wrong, with the file's name.
    pub(super) fn error(&self, error: impl Into<io::Error>) -> OutputError {
        OutputError::Unwritable {
            path: self.path.clone(),
            error: error.into(),
        }
    }

    /// A copy of what has been written, to be read.
    pub(super) fn copy(&mut self) -> Result<File, OutputError> {
        let copied = self.try_copy();
        copied.map_err(|error| self.error(error))
    }

    fn try_copy(&mut self) -> io::Result<File> {
        let mut copy = tempfile::tempfile()?;
        // Through the handle that holds the lock: on Windows no other may read.
        let file = self.file.as_mut().ok_or_else(already_finished)?;
        file.rewind()?;
        io::copy(file, &mut copy)?;
        copy.rewind()?;
        Ok(copy)
    }

    /// Puts other content in the place of what has been written.
    pub(super) fn replace(&mut self, mut content: File) -> Result<(), OutputError> {
        let replaced = self.begin().and_then(|()| {
            content.rewind()?;
            let file = self.file.as_mut().ok_or_else(already_finished)?;
            io::copy(&mut content, file).map(drop)
        });
        replaced.map_err(|error| self.error(error))
    }

    /// Puts the file at `path` instead, when it is finished.
    pub(super) fn rename(&mut self, path: PathBuf) {
        self.path = path;
    }

    fn begin(&mut self) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(already_finished)?;
        file.seek(SeekFrom::Start(0))?;
        file.set_len(0)?;
        file.write_all(self.prefix)
    }

    /// From now on the file is left where it is should it never be finished.
    pub(super) fn leave(&self) {
        self.is_left.set(true);
    }

    /// Puts the file in its place, once it is safely on disk. A file that stands
    /// there is kept under another name, which is returned.
    pub(super) fn finish(mut self) -> Result<(PathBuf, Option<PathBuf>), OutputError> {
        let kept = self.put_in_place().map_err(|error| self.error(error))?;
        Ok((self.path.clone(), kept))
    }

    fn put_in_place(&mut self) -> io::Result<Option<PathBuf>> {
        let file = self.file.as_ref().ok_or_else(already_finished)?;
        file.sync_all()?;
        let kept = keep_existing(&self.path)?;
        fs::rename(&self.part, &self.path)?;
        // Only now the lock may go: before, another run could take the part over.
        self.file = None;
        sync_folder(&self.path);
        Ok(kept)
    }

    /// Leaves no file behind; one that stands in its place is kept under another
    /// name all the same, since it is not of this run.
    pub(super) fn discard(self) -> Result<Option<PathBuf>, OutputError> {
        self.is_left.set(false);
        keep_existing(&self.path).map_err(|error| self.error(error))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file
            .as_mut()
            .ok_or_else(already_finished)?
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().ok_or_else(already_finished)?.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Removed while the lock is held, so that it is never another run's part.
        if self.file.is_some() && !self.is_left.get() {
            let _ = fs::remove_file(&self.part);
        }
    }
}

fn already_finished() -> io::Error {
    io::Error::other("the file is finished already")
}

/// Whether the lock was to be had. Where a file system knows no locks, there is no
/// keeping others out.
fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether `file` is what stands at `path`.
fn is_file_at(file: &File, path: &Path) -> io::Result<bool> {
    match Handle::from_path(path) {
        Ok(at_path) => Ok(Handle::from_file(file.try_clone()?)? == at_path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames what stands at `path`, if anything does: `leads.results.csv` becomes
/// `leads.results.20261121T031022Z.csv`.
fn keep_existing(path: &Path) -> io::Result<Option<PathBuf>> {
    if !path.try_exists()? {
        return Ok(None);
    }
    let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    for attempt in 0..100 {
        let suffix = match attempt {
            0 => stamp.clone(),
            _ => format!("{stamp}-{attempt}"),
        };
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{suffix}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        let kept = path.with_file_name(name);
        if !kept.try_exists()? {
            fs::rename(path, &kept)?;
            return Ok(Some(kept));
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    make_private(&mut options);
    options.open(path)
}

#[cfg(unix)]
fn make_private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

/// Elsewhere a file takes the permissions of its folder, which for a user's own
/// folders are that user's alone.
#[cfg(not(unix))]
fn make_private(_options: &mut OpenOptions) {}

/// Makes a rename durable. Where it cannot be, the data still is.
#[cfg(unix)]
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Folders cannot be synced here; the file system's journal takes care of names.
#[cfg(not(unix))]
fn sync_folder(path: &Path) {
    let _ = folder_of(path);
}
