//! The file that leads a browser to the page, so that the secret is in no program's arguments:
//! any user of a computer can read those.
//!
//! It is in a folder of its own in the home folder, which has no dot before its name: browsers
//! that are installed as snaps can read neither hidden nor temporary folders. Only its owner can
//! read either. The path is noted, so that a start after a crash can remove the file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use maud::html;
use tempfile::TempDir;

use super::answers::document;
use super::secret::Secret;
use crate::private_file;

const FILE: &str = "open.html";

/// The beginning of the folder's name.
const FOLDER: &str = "leadload-";

/// Where such files are written, one at a time.
#[derive(Debug, Clone)]
pub struct RedirectPlace {
    /// The user's home folder.
    pub home: PathBuf,
    /// The file that notes the path.
    pub note: PathBuf,
}

/// The file, which is removed when this is dropped.
pub struct RedirectFile {
    folder: TempDir,
    note: PathBuf,
    code: Secret,
    written: Instant,
}

impl RedirectFile {
    pub fn write(link: &str, code: Secret, place: &RedirectPlace) -> io::Result<RedirectFile> {
        let RedirectPlace { home, note } = place;
        let folder = private_folder(home)?;
        remove_noted(note);
        let path = folder.path().as_os_str().as_encoded_bytes();
        private_file::create(note)?.write_all(path)?;
        let body = html! {
            p { a href=(link) { "Open leadload" } }
        };
        let page = document("leadload", Some(link), &body);
        private_file::create(&folder.path().join(FILE))?.write_all(page.as_bytes())?;
        Ok(RedirectFile {
            folder,
            note: note.clone(),
            code,
            written: Instant::now(),
        })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    /// The one-time code of the link in it.
    pub fn code(&self) -> &Secret {
        &self.code
    }

    pub fn age(&self) -> Duration {
        self.written.elapsed()
    }
}

fn private_folder(home: &Path) -> io::Result<TempDir> {
    let mut folders = private_file::temporary_folders();
    folders.prefix(FOLDER).tempdir_in(home)
}

impl Drop for RedirectFile {
    fn drop(&mut self) {
        // The folder itself is removed by its own type.
        let _ = fs::remove_file(&self.note);
    }
}

/// Removes the file of a process that was killed, which has noted where it is. Nothing but that
/// file is removed, and the folder only if nothing else is in it.
pub fn remove_noted(note: &Path) {
    let Ok(folder) = fs::read_to_string(note) else {
        return;
    };
    let folder = Path::new(&folder);
    let name = folder.file_name().and_then(|name| name.to_str());
    if name.is_some_and(|name| name.starts_with(FOLDER)) {
        let _ = fs::remove_file(folder.join(FILE));
        let _ = fs::remove_dir(folder);
    }
    let _ = fs::remove_file(note);
}
