//! Files with personal data or secrets, which only their owner can read. On systems without Unix
//! permissions a file has the permissions of its folder, and a user's own folders are private.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, absolute};

use tempfile::NamedTempFile;

use crate::paths::folder_of;

/// Options that create a file for its owner only. An existing file keeps
/// its permissions and its content.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file for its owner only. It is an error if the file exists.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = options();
    options.create_new(true);
    options.open(path)
}

/// Copies a file to a new one for its owner only. A copy by the system would take the permissions of the
/// original.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut File::open(from)?, &mut create(to)?).map(drop)
}

/// Creates folders for their owner only, with those above them. An existing one is left as it is.
pub fn folders() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders
}

/// Creates a folder that is the program's own. An existing one becomes its owner's alone.
///
/// # Errors
///
/// Also if the folder belongs to somebody else, or others can write to it and that cannot be changed.
pub fn own_folder(path: &Path) -> io::Result<()> {
    folders().create(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let closed = std::fs::set_permissions(path, Permissions::from_mode(0o700));
        let found = path.metadata()?;
        let is_ours = found.uid() == rustix::process::geteuid().as_raw();
        // File systems without modes refuse to change them.
        closed.or_else(|error| match is_ours && found.mode() & 0o022 == 0 {
            true => Ok(()),
            false => Err(error),
        })?;
    }
    Ok(())
}

/// Creates folders that are removed when they are dropped, for their owner only: the default of
/// `tempfile` leaves that to the umask.
pub fn temporary_folders<'a, 'b>() -> tempfile::Builder<'a, 'b> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has permissions"))]
    let mut folders = tempfile::Builder::new();
    #[cfg(unix)]
    folders.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    folders
}

/// Creates or replaces a file, atomically and durably. The file and missing folders are for
/// their owner only, unless `permissions` gives the file others.
pub fn replace(path: &Path, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    replace_with(path, |file| {
        file.write_all(content)?;
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))
    })
}

/// Creates or replaces a file with what `write` writes, as [`replace`] does. If that fails, what was
/// there stays.
pub fn replace_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), E>,
) -> Result<(), E> {
    folders().create(folder_of(path))?;
    let mut file = beside(path)?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(io::Error::from)?;
    sync_folder(path);
    Ok(())
}

/// Whether the file could be locked. On a file system without locks this is true, and other
/// processes cannot be kept out.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Checks whether [`replace`] would be permitted, as well as this can be known
/// in advance. Leaves nothing behind, and does not create missing folders.
pub fn probe(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folder = absolute(folder_of(path))?;
    let there = folder.ancestors().find(|folder| folder.exists());
    there.map_or(Ok(()), |folder| beside(&folder.join("probe")).map(drop))
}

/// A new file in the folder of `path`, for its owner only. It is deleted
/// when it is dropped. Errors do not mention its generated name.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut name = OsString::from(path.file_name().ok_or(ErrorKind::InvalidFilename)?);
    name.push(".");
    let folder = folder_of(path);
    // Gives the usual error of the operating system if the folder is missing.
    folder.metadata()?;
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(|error| error.kind().into())
}

/// Makes a rename durable, if the file system supports it. The data is durable anyway.
#[cfg(unix)]
pub fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Folders cannot be synced here. The journal of the file system protects the names.
#[cfg(not(unix))]
pub fn sync_folder(_path: &Path) {}

/// What others can do with a file that should be private, as a verb; `None` if
/// nothing. A group that can only read is allowed, because service managers
/// and clusters pass a secret to a user that way (`LoadCredential=` with an
/// ACL, whose mask is shown as the permissions of the group; `fsGroup`).
#[cfg(unix)]
pub fn others_can(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path).ok()?;
    // Only regular files are checked: a pipe, for example, can be read only once.
    let mode = found.is_file().then(|| found.permissions().mode())?;
    if mode & 0o004 != 0 {
        return Some("read");
    }
    (mode & 0o022 != 0).then_some("change")
}

/// Other systems do not have Unix permissions, so nothing is checked.
#[cfg(not(unix))]
pub fn others_can(_path: &Path) -> Option<&'static str> {
    None
}

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
        for (mode, verb) in [
            (0o400, None),
            (0o600, None),
            (0o440, None),
            (0o640, None),
            (0o711, None),
            (0o444, Some("read")),
            (0o604, Some("read")),
            (0o644, Some("read")),
            (0o666, Some("read")),
            (0o620, Some("change")),
            (0o660, Some("change")),
            (0o602, Some("change")),
        ] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(others_can(&path), verb, "{mode:o}");
            // In a cluster a secret is a link to the current file.
            assert_eq!(others_can(&link), verb, "{mode:o}");
        }
        assert_eq!(others_can(folder.path()), None);
    }
}
