//! Compares paths: whether they lead to the same file.

use std::io;
use std::path::{Path, PathBuf};

use crate::source::folder_of;

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
    same_file::is_same_file(a, b).unwrap_or(false) || place(a).is_some() && place(a) == place(b)
}
