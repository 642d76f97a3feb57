//! One output file, from the first byte beside its place to its name.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use thiserror::Error;

/// Why an output cannot be written. The text says what, where and what next.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The operating system says no.
    #[error(
        "cannot write `{}`: {error}\n\nhint: free some space or choose another place with `--results` and `--rejects`, then run the same command again",
        path.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
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
        "two outputs would be written to `{}`\n\nhint: name different files with `--results` and `--rejects`",
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

/// A file that is written beside its place. Dropped unfinished, it is removed,
/// unless it holds what is not known elsewhere.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    part: PathBuf,
    /// What every version of the file begins with.
    prefix: &'static [u8],
    /// Whether an unfinished file is left where it is.
    is_kept: Cell<bool>,
    /// None once it has been finished.
    file: Option<BufWriter<File>>,
}

impl OutputFile {
    /// Creates `PATH.part`. A lock on it keeps a second run from writing there too;
    /// one that a killed run has left behind is begun anew.
    pub(super) fn create(path: &Path, has_bom: bool) -> Result<OutputFile, OutputError> {
        let part = part_of(path);
        let unwritable = |error| OutputError::Unwritable {
            path: path.to_owned(),
            error,
        };
        let file = open_private(&part).map_err(unwritable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(OutputError::Busy {
                    path: path.to_owned(),
                });
            }
            // A file system without locks: then there is no keeping others out.
            Err(fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(fs::TryLockError::Error(error)) => return Err(unwritable(error)),
        }
        let mut output = OutputFile {
            path: path.to_owned(),
            part,
            prefix: if has_bom { "\u{FEFF}".as_bytes() } else { b"" },
            is_kept: Cell::new(false),
            file: Some(BufWriter::with_capacity(64 * 1024, file)),
        };
        output.begin().map_err(unwritable)?;
        Ok(output)
    }

    /// What went wrong, with the file's name.
    pub(super) fn error(&self, error: impl Into<io::Error>) -> OutputError {
        OutputError::Unwritable {
            path: self.path.clone(),
            error: error.into(),
        }
    }

    /// Empties the file and returns a copy of what was in it, to be written anew
    /// in another form.
    pub(super) fn restart(&mut self) -> Result<File, OutputError> {
        self.copy_and_begin().map_err(|error| self.error(error))
    }

    fn copy_and_begin(&mut self) -> io::Result<File> {
        if let Some(file) = &mut self.file {
            file.flush()?;
        }
        let mut copy = tempfile::tempfile()?;
        io::copy(&mut File::open(&self.part)?, &mut copy)?;
        copy.rewind()?;
        self.begin()?;
        Ok(copy)
    }

    fn begin(&mut self) -> io::Result<()> {
        let file = self.file.as_mut().ok_or_else(already_finished)?;
        file.seek(SeekFrom::Start(0))?;
        file.get_ref().set_len(0)?;
        file.write_all(self.prefix)
    }

    /// Puts the file in its place, once it is safely on disk. A file that stands
    /// there is kept under another name, which is returned.
    pub(super) fn finish(mut self) -> Result<(PathBuf, Option<PathBuf>), OutputError> {
        let kept = self.put_in_place().map_err(|error| self.error(error))?;
        Ok((self.path.clone(), kept))
    }

    /// Whether the file, should it never be finished, is left for people to read.
    pub(super) fn set_kept(&self, is_kept: bool) {
        self.is_kept.set(is_kept);
    }

    /// Leaves no file behind; one that stands in its place is kept under another
    /// name all the same, since it is not of this run.
    pub(super) fn discard(self) -> Result<Option<PathBuf>, OutputError> {
        self.set_kept(false);
        keep_existing(&self.path).map_err(|error| self.error(error))
    }

    fn put_in_place(&mut self) -> io::Result<Option<PathBuf>> {
        let file = self.file.take().ok_or_else(already_finished)?;
        let placed = file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| keep_existing(&self.path))
            .and_then(|kept| fs::rename(&self.part, &self.path).map(|()| kept));
        sync_folder(&self.path);
        placed
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Err(already_finished()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        // The buffer is ours, and is emptied when it is full and at the end.
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.is_kept.get() {
            return;
        }
        if let Some(file) = self.file.take() {
            // Without writing out the buffer of a file that is to go.
            let _ = file.into_parts();
            let _ = fs::remove_file(&self.part);
        }
    }
}

fn already_finished() -> io::Error {
    io::Error::other("the file is finished already")
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
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

#[cfg(unix)]
fn open_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)?;
    // One that was left behind may have been made more open since.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Elsewhere a file takes the permissions of its folder, which for a user's own
/// folders are that user's alone.
#[cfg(not(unix))]
fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Makes a rename durable. Where it cannot be, the data still is.
#[cfg(unix)]
fn sync_folder(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Folders cannot be synced here; the file system's journal takes care of names.
#[cfg(not(unix))]
fn sync_folder(_path: &Path) {}
