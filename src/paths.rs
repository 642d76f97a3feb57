//! Compares paths: whether they lead to the same file. Says why one cannot be read or written.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::source::folder_of;

/// The absolute path with its folder resolved. The file itself need not exist.
///
/// # Errors
///
/// If the folder does not exist, or the path does not name a file.
pub fn absolute_place(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    Ok(folder_of(path).canonicalize()?.join(name))
}

/// Whether two paths lead to the same file, even if the file does not exist yet.
pub fn is_same_place(a: &Path, b: &Path) -> bool {
    let place = |path| absolute_place(path).ok();
    same_file::is_same_file(a, b).unwrap_or(false) || place(a).is_some() && place(a) == place(b)
}

/// Why the file at `path` cannot be read or written: the system's words, where there are no better.
pub fn reason(path: &Path, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound if folder_of(path).is_dir() => "there is no such file",
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "there is no such folder"
        }
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::PermissionDenied => "you do not have permission",
        _ => return error.to_string(),
    };
    why.to_owned()
}

/// The path in backquotes, and the reason.
pub fn with_reason(path: &Path, error: &io::Error) -> String {
    format!("`{}`: {}", path.display(), reason(path, error))
}
