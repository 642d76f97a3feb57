//! An input file or standard input, as the user named it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{Compression, Fingerprint, SourceError, decompressed, zipped};
use crate::message::Message;
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
        state: FileState,
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
            let message = Message::new(
                format!("cannot read `{name}`: there is no such file"),
                match nearest_file(path) {
                    _ if is_quoted(&name) => {
                        "leave out the quotation marks around the name".to_owned()
                    }
                    Some(nearest) => format!("did you mean `{}`?", printable(&nearest)),
                    // Word processors and mail programs turn typed quotes and dashes into these.
                    None if name.contains(['“', '”', '„', '–', '—']) => {
                        "put a name with spaces into straight quotes (\"), and begin a flag with two short dashes (--)".to_owned()
                    }
                    None => "check the name and the folder".to_owned(),
                },
            );
            let on_page = format!("`{name}` is not at its place any more");
            return Err(SourceError::unusable(
                message.on_page(on_page, "Choose it again."),
            ));
        }
        // Checked before opening: opening a pipe without a writer would wait forever.
        let kind = std::fs::metadata(path).map_err(unreadable)?.file_type();
        if !kind.is_file() {
            let (what, hint) = if kind.is_dir() {
                ("a folder, not a file", "name the file itself")
            } else {
                (
                    "a device or a pipe, not a file",
                    "pipe it in, with `-` for the name",
                )
            };
            let message = Message::new(format!("`{name}` is {what}"), hint);
            let message = message.hint_on_page("Choose the file itself.");
            return Err(SourceError::unusable(message));
        }
        let state = state_of(path).map_err(unreadable)?;
        // A file may exist and still not be readable.
        File::open(path).map_err(unreadable)?;
        Ok(Input {
            name,
            origin: Origin::Path {
                path: path.to_owned(),
                state,
            },
            zipped: None,
        })
    }

    /// The same for a do-not-call list, which may be the only file in a zip archive.
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
            (None, Origin::Path { state, .. }) => {
                let changed = Timestamp::try_from(state.1?).ok()?;
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
            (Origin::Path { path: a, .. }, Origin::Path { path: b, .. }) => {
                same_file::is_same_file(a, b).unwrap_or(a == b)
            }
            (Origin::Spool(_), Origin::Spool(_)) => true,
            _ => false,
        }
    }

    /// Makes sure that the file has not changed since it was opened. If it
    /// has, the rows that were read may mix two versions.
    pub fn check_unchanged(&self) -> Result<(), SourceError> {
        match &self.origin {
            Origin::Path { path, state } if state_of(path).ok().as_ref() != Some(state) => {
                Err(SourceError::changed(&self.name))
            }
            _ => Ok(()),
        }
    }

    /// The digest and size of the input. Reads it to its end.
    pub fn fingerprint(&self) -> Result<Fingerprint, SourceError> {
        let fingerprint = self.rewound().and_then(Fingerprint::of);
        let fingerprint = fingerprint.map_err(|error| self.unreadable(error))?;
        self.check_unchanged()?;
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

fn nearest_file(path: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder_of(path)).ok()?.flatten();
    let names: Vec<String> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let nearest = nearest(&path.file_name()?.to_string_lossy(), &names)?;
    Some(path.with_file_name(nearest).display().to_string())
}

/// What changes when a file is modified or replaced: its size, its
/// modification time and its identity. Not every system provides the last two.
type FileState = (u64, Option<SystemTime>, Option<(u64, u64)>);

fn state_of(path: &Path) -> io::Result<FileState> {
    let metadata = std::fs::metadata(path)?;
    let modified = metadata.modified().ok();
    Ok((metadata.len(), modified, file_identity(&metadata)))
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
