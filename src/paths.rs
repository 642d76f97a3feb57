//! Paths: the folder of one, whether two lead to the same file, and why one cannot be used.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use crate::message::Text;

pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether a path leads into this folder, as it is written: not by `..` out of it again.
pub fn is_within(path: &Path, folder: &Path) -> bool {
    let climbs = path.components().any(|part| part == Component::ParentDir);
    path.starts_with(folder) && !climbs
}

/// The absolute path with its folder resolved. The file itself need not exist.
///
/// # Errors
///
/// If the folder does not exist, or the path does not name a file.
pub fn absolute_place(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    Ok(folder_of(path).canonicalize()?.join(name))
}

/// The path from the current folder, if it leads into that: it is shorter to read.
pub fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir();
    let rest = here.ok().and_then(|here| path.strip_prefix(here).ok());
    rest.unwrap_or(path)
}

/// Whether two paths lead to the same file, even if the file does not exist yet.
pub fn is_same_place(a: &Path, b: &Path) -> bool {
    is_same_file(a, b) || known_place(a).is_ok_and(|a| known_place(b).is_ok_and(|b| a == b))
}

/// The absolute place of a path, by which it is compared with others.
pub fn known_place(path: &Path) -> io::Result<PathBuf> {
    absolute_place(path).map(in_one_case)
}

/// The path in lower case, on systems where paths that differ in nothing but case usually lead to
/// the same file.
fn in_one_case(path: PathBuf) -> PathBuf {
    match cfg!(any(windows, target_os = "macos")) {
        true => path.to_string_lossy().to_lowercase().into(),
        false => path,
    }
}

/// Whether two paths lead to the same existing file. On Unix it opens neither: when a process
/// closes a file it loses all its locks on it, and SQLite needs those on the ledger.
#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    let identity = |path: &Path| file_identity(&path.metadata().ok()?);
    identity(a).is_some() && identity(a) == identity(b)
}

#[cfg(not(unix))]
fn is_same_file(a: &Path, b: &Path) -> bool {
    same_file::is_same_file(a, b).unwrap_or(false)
}

/// Distinguishes a file from another one at the same path, without opening either.
#[cfg(unix)]
pub fn file_identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Other systems give this only for an open file.
#[cfg(not(unix))]
pub fn file_identity(_metadata: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Why the file at `path` cannot be read or written: the system's words, where there are no better.
pub fn reason(path: &Path, error: &io::Error) -> Text {
    match error.kind() {
        ErrorKind::NotFound if folder_of(path).is_dir() => text!("there is no such file"),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            text!("there is no such folder")
        }
        ErrorKind::IsADirectory => text!("it is a folder"),
        ErrorKind::PermissionDenied => text!("you do not have permission"),
        _ => text!("{error}", error),
    }
}

/// The path in backquotes, and the reason.
pub fn with_reason(path: &Path, error: &io::Error) -> Text {
    text!(
        "`{path}`: {why}",
        path = path.display().to_string(),
        why = reason(path, error)
    )
}
