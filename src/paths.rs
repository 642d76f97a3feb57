//! Paths: the folder of one, and whether two lead to the same file.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The absolute path with its folder resolved. The file itself need not exist.
///
/// # Errors
///
/// If the folder does not exist, or the path does not name a file.
pub fn absolute_place(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(folder_of(path).canonicalize()?.join(name))
}

/// Whether two paths lead to the same file, even if the file does not exist yet.
pub fn is_same_place(a: &Path, b: &Path) -> bool {
    let place = |path| absolute_place(path).ok();
    is_same_file(a, b) || place(a).is_some() && place(a) == place(b)
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
