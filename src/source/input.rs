//! An input file or standard input, as the user named it.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{Compression, Fingerprint, SourceError, decompressed, zipped};
use crate::message::{Message, Text};
use crate::paths::{file_identity, folder_of};
use crate::text::{is_quoted, nearest, printable};

const STANDARD_INPUT: &str = "-";

/// An input that can be read from the top any number of times.
#[derive(Debug, Clone)]
pub struct Input {
    name: String,
    origin: Origin,
    /// The only file of a zip archive, unpacked, and when it was last changed.
    zipped: Option<(Arc<File>, Option<Date>)>,
}

#[derive(Debug, Clone)]
enum Origin {
    Path {
        path: PathBuf,
        known: Arc<Mutex<Known>>,
    },
    /// Standard input, copied to a file that no other program can open.
    Spool(Arc<File>),
}

impl Input {
    /// Makes sure that `path` is a file that can be read. For `-` reads standard input to its end.
    pub fn open(path: &Path) -> Result<Input, SourceError> {
        let name = path.display().to_string();
        let unreadable = |error| SourceError::unreadable(&name, None, &error);
        if name == STANDARD_INPUT {
            let mut spool = tempfile::tempfile().map_err(|error| SourceError::no_spool(&error))?;
            io::copy(&mut io::stdin().lock(), &mut spool).map_err(unreadable)?;
            return Ok(Input {
                name: "standard input".into(),
                origin: Origin::Spool(Arc::new(spool)),
                zipped: None,
            });
        }
        if !path.try_exists().map_err(unreadable)? {
            return Err(SourceError::unusable(no_such_file(path, &name)));
        }
        // Checked before opening: opening a pipe without a writer would wait forever.
        let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
        if !kind.is_file() {
            let message = match kind.is_dir() {
                true => message!(
                    "`{name}` is a folder, not a file",
                    "{name|choose} the file itself",
                    name
                ),
                false => message!(
                    "`{name}` is a device or a pipe, not a file",
                    "{pipe it in, with `-` for the name|choose the file itself}",
                    name
                ),
            };
            return Err(SourceError::unusable(message));
        }
        let state = state_of(path).map_err(unreadable)?;
        // A file may exist and still not be readable.
        File::open(path).map_err(unreadable)?;
        Ok(Input {
            name,
            origin: Origin::Path {
                path: path.to_owned(),
                known: Arc::new(Mutex::new(Known {
                    state,
                    fingerprint: None,
                })),
            },
            zipped: None,
        })
    }

    /// Opens a do-not-call list, which may be the only file in a zip archive.
    pub fn open_list(path: &Path) -> Result<Input, SourceError> {
        let mut input = Input::open(path)?;
        if let Origin::Path { path, .. } = &input.origin {
            let unpacked = File::open(path).and_then(zipped::single_file);
            let unpacked = unpacked.map_err(|error| input.unreadable(error))?;
            input.zipped = unpacked.map(|(file, changed)| (Arc::new(file), changed));
        }
        Ok(input)
    }

    /// The day on which the list was last changed, as far as that is known.
    pub fn changed_on(&self) -> Option<Date> {
        match (&self.zipped, &self.origin) {
            (Some((_, changed)), _) => *changed,
            (None, Origin::Path { known, .. }) => {
                let modified = locked(known).state.modified?;
                let changed = Timestamp::try_from(modified).ok()?;
                Some(changed.to_zoned(TimeZone::system()).date())
            }
            (None, Origin::Spool(_)) => None,
        }
    }

    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Input {
        use std::io::Write;
        let mut spool = tempfile::tempfile().unwrap();
        spool.write_all(text.as_bytes()).unwrap();
        Input {
            name: "text".into(),
            origin: Origin::Spool(Arc::new(spool)),
            zipped: None,
        }
    }

    /// The name of the input in messages and in the column `file`.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path { path, .. } => Some(path),
            Origin::Spool(_) => None,
        }
    }

    /// Whether both are the same file, or both are standard input.
    pub fn is_same(&self, other: &Input) -> bool {
        match (&self.origin, &other.origin) {
            (Origin::Path { path: a, known: x }, Origin::Path { path: b, known: y }) => {
                match (identity_in(x), identity_in(y)) {
                    (Some(a), Some(b)) => a == b,
                    _ => same_file::is_same_file(a, b).unwrap_or(a == b),
                }
            }
            (Origin::Spool(_), Origin::Spool(_)) => true,
            _ => false,
        }
    }

    /// Makes sure that the content of the file has not changed since it was opened. If it has, the
    /// rows that were read may mix two versions.
    ///
    /// A file may look changed and be the same: somebody has touched it, made it private, or copied it
    /// to its place again. So its content decides, once [`Input::fingerprint`] was taken. Before that
    /// nothing is sent, and what its times do not show is left to that.
    pub fn check_unchanged(&self) -> Result<(), SourceError> {
        let Origin::Path { path, known } = &self.origin else {
            return Ok(());
        };
        let changed = || SourceError::changed(&self.name);
        let now = state_of(path).map_err(|_| changed())?;
        let mut known = locked(known);
        if now == known.state {
            return Ok(());
        }
        let is_same = match known.fingerprint {
            None => now.looks_like(&known.state),
            Some(_) if now.bytes != known.state.bytes => false,
            Some(before) => {
                let again = File::open(path).and_then(Fingerprint::of);
                again.is_ok_and(|again| again == before)
            }
        };
        if is_same && known.fingerprint.is_some() {
            // As it was before the content was read: a change meanwhile is seen next time.
            known.state = now;
        }
        is_same.then_some(()).ok_or_else(changed)
    }

    /// The digest and size of the input. Reads it to its end, the first time.
    pub fn fingerprint(&self) -> Result<Fingerprint, SourceError> {
        let of_content = || {
            let fingerprint = self.rewound().and_then(Fingerprint::of);
            fingerprint.map_err(|error| self.unreadable(error))
        };
        let Origin::Path { path, known } = &self.origin else {
            return of_content();
        };
        let before = locked(known).fingerprint;
        if let Some(fingerprint) = before {
            self.check_unchanged()?;
            return Ok(fingerprint);
        }
        let fingerprint = of_content()?;
        let mut known = locked(known);
        if state_of(path).ok().as_ref() != Some(&known.state) {
            return Err(SourceError::changed(&self.name));
        }
        known.fingerprint = Some(fingerprint);
        Ok(fingerprint)
    }

    pub(super) fn unpacked(&self) -> io::Result<(Option<Compression>, Box<dyn Read + Send>)> {
        decompressed(match &self.zipped {
            Some((file, _)) => Box::new(SpoolReader::of(file)),
            None => self.rewound()?,
        })
    }

    pub(super) fn unreadable(&self, error: io::Error) -> SourceError {
        SourceError::unreadable(&self.name, None, &error)
    }

    fn rewound(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.origin {
            Origin::Path { path, .. } => Box::new(File::open(path)?),
            Origin::Spool(spool) => Box::new(SpoolReader::of(spool)),
        })
    }
}

/// Nothing is at this path, which the user has typed or, on the page, has chosen before.
fn no_such_file(path: &Path, name: &str) -> Message {
    let at_terminal: Text = match nearest_file(path) {
        _ if is_quoted(name) => terminal_text!("leave out the quotation marks around the name"),
        Some(nearest) => terminal_text!("did you mean `{nearest}`?", nearest = printable(&nearest)),
        // Word processors and mail programs turn typed quotes and dashes into these.
        None if name.contains(['“', '”', '„', '–', '—']) => {
            terminal_text!(
                "put a name with spaces into straight quotes (\"), and begin a flag with two short dashes (--)"
            )
        }
        None => terminal_text!("check the name and the folder"),
    };
    message!(
        "{cannot read `{name}`: there is no such file|`{name}` is not at its place any more}",
        "{{at_terminal}|choose it again}",
        name,
        at_terminal
    )
}

fn nearest_file(path: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder_of(path)).ok()?.flatten();
    let names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let nearest = nearest(&path.file_name()?.to_string_lossy(), &names)?;
    Some(path.with_file_name(nearest).display().to_string())
}

/// What is known of a file, by all who read it.
#[derive(Debug)]
struct Known {
    state: FileState,
    /// Of its content, once it was taken.
    fingerprint: Option<Fingerprint>,
}

fn locked(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    // A thread that holds it only compares and assigns.
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

fn identity_in(known: &Mutex<Known>) -> Option<(u64, u64)> {
    locked(known).state.identity
}

/// What changes when a file is modified or replaced. Not every system has all of it.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
    identity: Option<(u64, u64)>,
    /// When anything about it was last changed: its content, but also its name, owner or mode. Unlike
    /// the time of its modification, nobody can set it back.
    changed: Option<(i64, i64)>,
}

impl FileState {
    /// Whether nothing differs but what a new name or mode changes too.
    fn looks_like(&self, other: &FileState) -> bool {
        self.bytes == other.bytes
            && self.modified == other.modified
            && self.identity == other.identity
    }
}

fn state_of(path: &Path) -> io::Result<FileState> {
    let metadata = std::fs::metadata(path)?;
    Ok(FileState {
        bytes: metadata.len(),
        modified: metadata.modified().ok(),
        identity: file_identity(&metadata),
        changed: changed_at(&metadata),
    })
}

#[cfg(unix)]
fn changed_at(metadata: &Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.ctime(), metadata.ctime_nsec()))
}

/// The standard library does not give the change time of NTFS. So a program that overwrites a list
/// with as many bytes and then sets its time back goes unnoticed on Windows.
#[cfg(not(unix))]
fn changed_at(_metadata: &Metadata) -> Option<(i64, i64)> {
    None
}

/// Reads a file without moving the position that all its handles share.
struct SpoolReader {
    spool: Arc<File>,
    at: u64,
}

impl SpoolReader {
    fn of(spool: &Arc<File>) -> SpoolReader {
        let spool = Arc::clone(spool);
        SpoolReader { spool, at: 0 }
    }
}

impl Read for SpoolReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.spool, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.spool, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
