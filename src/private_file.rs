//! Files with personal data or secrets: readable by their owner only. Where permissions are not
//! those of Unix, a file takes those of its folder, and a user's own folders are private.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, absolute};

use tempfile::NamedTempFile;

use crate::source::folder_of;

/// Options for a file that is created for its owner only. One that exists keeps its
/// permissions and its content.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file for its owner only, where there is none.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = options();
    options.create_new(true);
    options.open(path)
}

pub fn folders() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders
}

/// Creates or replaces a file, atomically and durably. It and missing folders are for their
/// owner only, unless other permissions are given.
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

/// Whether [`replace`] would be permitted, as far as that can be known before. Nothing is
/// left behind, and missing folders are not created.
pub fn probe(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let folder = absolute(folder_of(path))?;
    let there = folder.ancestors().find(|folder| folder.exists());
    there.map_or(Ok(()), |folder| beside(&folder.join("probe")).map(drop))
}

/// A new file beside `path`, for its owner only, which is deleted when it is dropped. Errors do
/// not have its generated name.
pub fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut name = OsString::from(path.file_name().ok_or(ErrorKind::InvalidFilename)?);
    name.push(".");
    let folder = folder_of(path);
    // The usual error, in the words of the operating system.
    folder.metadata()?;
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(|error| error.kind().into())
}

/// Makes a rename durable, where the file system can. The data is durable anyway.
#[cfg(unix)]
pub fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

/// Folders cannot be synced here; the file system's journal takes care of names.
#[cfg(not(unix))]
pub fn sync_folder(_path: &Path) {}

/// What others can do with a file that should be private, as a verb. A group that can only read
/// is fine: service managers and clusters pass a secret to a user that way (`LoadCredential=`
/// with an ACL, whose mask is shown as the group's permissions; `fsGroup`).
#[cfg(unix)]
pub fn others_can(path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path).ok()?;
    // A pipe, for example, is gone when it has been read.
    let mode = found.is_file().then(|| found.permissions().mode())?;
    if mode & 0o004 != 0 {
        return Some("read");
    }
    (mode & 0o022 != 0).then_some("change")
}

/// Elsewhere permissions are not numbers, and are not checked.
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
            // Secrets of a cluster are links to the file of the day.
            assert_eq!(others_can(&link), verb, "{mode:o}");
        }
        assert_eq!(others_can(folder.path()), None);
    }
}
