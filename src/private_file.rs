//! Files that hold what is known of people: readable by their owner only.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::source::folder_of;

/// Options for a file that is made for its owner only. One that is there keeps what it
/// is, in rights and in content.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    keep_others_out(&mut options);
    options
}

/// Makes a file for its owner only, where there is none.
///
/// # Errors
///
/// [`ErrorKind::AlreadyExists`] where there is anything, and those of making files.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = options();
    options.create_new(true);
    options.open(path)
}

/// Makes folders for their owner only.
pub fn folders() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    keep_others_out_of(&mut folders);
    folders
}

/// Puts a file with this content in the place of whatever stands there, all at once and
/// durably. It and the folders that are missing are for their owner only, unless other
/// permissions are given.
pub fn replace(path: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let folder = folder_of(path);
    folders().create(folder)?;
    let mut file = beside(path)?;
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(path);
    Ok(())
}

/// Whether [`replace`] would find the right to do its work, as far as that can be known
/// before. Nothing is left behind, not even folders that are missing.
pub fn probe(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folders = folder_of(path).ancestors();
    let folder = folders
        .map(|folder| {
            if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            }
        })
        .find(|folder| folder.exists());
    folder.map_or(Ok(()), |folder| beside(&folder.join("probe")).map(drop))
}

/// A new file beside `path`, for its owner only, which is gone when it is dropped.
///
/// # Errors
///
/// What the operating system says, without the file's name, of which nobody has heard.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut name = OsString::from(path.file_name().ok_or(ErrorKind::InvalidFilename)?);
    name.push(".");
    let folder = folder_of(path);
    // What is usually wrong, in the words of the operating system.
    folder.metadata()?;
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(|error| error.kind().into())
}

/// Makes a rename durable. Where it cannot be, the data still is.
#[cfg(unix)]
pub fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Folders cannot be synced here; the file system's journal takes care of names.
#[cfg(not(unix))]
pub fn sync_folder(_path: &Path) {}

/// What others can do with a file that should be its owner's alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Everybody on this machine can read it.
    Readable,
    /// Its group or everybody can write to it.
    Writable,
}

/// How far a file is open to others; none where it is not. A group that can only read is
/// fine: that is how service managers and clusters hand a secret to the one user who needs
/// it (`LoadCredential=` with an ACL, whose mask stands where the group's rights do;
/// `fsGroup`).
#[cfg(unix)]
pub fn exposure(path: &Path) -> Option<Exposure> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path).ok()?;
    // What is no file, such as a pipe, is gone when it has been read.
    let mode = found.is_file().then(|| found.permissions().mode())?;
    if mode & 0o004 != 0 {
        return Some(Exposure::Readable);
    }
    (mode & 0o022 != 0).then_some(Exposure::Writable)
}

/// Elsewhere permissions are not numbers, and nothing is said of them.
#[cfg(not(unix))]
pub fn exposure(_path: &Path) -> Option<Exposure> {
    None
}

#[cfg(unix)]
fn keep_others_out(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(unix)]
fn keep_others_out_of(folders: &mut DirBuilder) {
    use std::os::unix::fs::DirBuilderExt;
    folders.mode(0o700);
}

/// Elsewhere a file takes the permissions of its folder, which for a user's own folders
/// are that user's alone.
#[cfg(not(unix))]
fn keep_others_out(_options: &mut OpenOptions) {}

#[cfg(not(unix))]
fn keep_others_out_of(_folders: &mut DirBuilder) {}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_secret_is_exposed_to_all_readers_and_to_any_other_writer_but_not_to_a_reading_group() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "t0ken").unwrap();
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        for (mode, exposure_of_it) in [
            (0o400, None),
            (0o600, None),
            (0o440, None),
            (0o640, None),
            (0o711, None),
            (0o444, Some(Exposure::Readable)),
            (0o604, Some(Exposure::Readable)),
            (0o644, Some(Exposure::Readable)),
            (0o666, Some(Exposure::Readable)),
            (0o620, Some(Exposure::Writable)),
            (0o660, Some(Exposure::Writable)),
            (0o602, Some(Exposure::Writable)),
        ] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(exposure(&path), exposure_of_it, "{mode:o}");
            // Secrets of a cluster are links to the file of the day.
            assert_eq!(exposure(&link), exposure_of_it, "{mode:o}");
        }
        assert_eq!(exposure(folder.path()), None);
    }
}
