//! Keeps the ledger's files to their owner: whatever permissions they had, they hold personal data.

use std::path::PathBuf;

use super::{FilePlace, LedgerError};

/// Takes all permissions of other users from these files of the ledger, where they exist.
///
/// # Errors
///
/// If others can read or write one of them, and the system does not allow that to be changed.
#[cfg(unix)]
pub(super) fn restrict(place: &FilePlace, files: &[PathBuf]) -> Result<(), LedgerError> {
    use tracing::warn;
    let mut is_open = false;
    for file in files {
        let left = unix::restrict(file).map_err(|error| LedgerError::exposed(place, &error))?;
        is_open |= left == unix::Left::Open;
    }
    if is_open {
        warn!(
            event = "warning",
            "the ledger `{place}` is on a file system without permissions, so other users of this computer may be able to read it: keep it in a folder of your own on another disk"
        );
    }
    Ok(())
}

/// Files have the permissions of their folder here, and a user's own folders are private.
#[cfg(not(unix))]
pub(super) fn restrict(_place: &FilePlace, _files: &[PathBuf]) -> Result<(), LedgerError> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Permissions};
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    const PRIVATE: u32 = 0o600;

    /// Reading and writing, by the group and by all.
    const BY_OTHERS: u32 = 0o066;

    #[derive(Debug, PartialEq, Eq)]
    pub(super) enum Left {
        Private,
        /// The file system has no permissions that could be changed.
        Open,
    }

    pub(super) fn restrict(file: &Path) -> io::Result<Left> {
        // A link is never followed: what it leads to is not a file of the ledger.
        let mode = || match file.symlink_metadata() {
            Ok(found) if found.is_file() => Ok(Some(found.permissions().mode() & 0o777)),
            Ok(_) => Err(io::Error::other("it is not a regular file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        if mode()?.is_none_or(|mode| mode == PRIVATE) {
            return Ok(Left::Private);
        }
        let changed = fs::set_permissions(file, Permissions::from_mode(PRIVATE));
        // SQLite may have removed its log meanwhile.
        let mode = mode()?.unwrap_or(PRIVATE);
        judge(mode, changed, has_permissions(file))
    }

    /// Judges the mode that a file has after it was to be made private.
    fn judge(mode: u32, changed: io::Result<()>, has_permissions: bool) -> io::Result<Left> {
        match changed {
            _ if mode & BY_OTHERS == 0 => Ok(Left::Private),
            // As shared folders of virtual machines and network drives do.
            Ok(()) => Ok(Left::Open),
            Err(error) if error.kind() == ErrorKind::Unsupported || !has_permissions => {
                drop(error);
                Ok(Left::Open)
            }
            Err(error) => Err(error),
        }
    }

    /// FAT and exFAT refuse to change permissions as if somebody had no right to.
    #[cfg(target_os = "linux")]
    fn has_permissions(file: &Path) -> bool {
        let kind = rustix::fs::statfs(file).map(|found| found.f_type as u32);
        !matches!(kind, Ok(0x4d44 | 0x2011_BAB0))
    }

    /// Other systems accept the change there, without effect.
    #[cfg(not(target_os = "linux"))]
    fn has_permissions(_file: &Path) -> bool {
        true
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn judged(mode: u32, error: Option<ErrorKind>, has_permissions: bool) -> Option<Left> {
            let changed = error.map_or(Ok(()), |kind| Err(kind.into()));
            judge(mode, changed, has_permissions).ok()
        }

        #[test]
        fn what_others_can_neither_read_nor_write_is_private_whatever_was_refused() {
            for mode in [0o600, 0o400, 0o700, 0o711] {
                for error in [None, Some(ErrorKind::PermissionDenied)] {
                    assert_eq!(judged(mode, error, true), Some(Left::Private), "{mode:o}");
                }
            }
        }

        #[test]
        fn what_cannot_be_made_private_is_refused_unless_there_are_no_permissions() {
            use ErrorKind::{PermissionDenied, ReadOnlyFilesystem, Unsupported};
            for mode in [0o644, 0o640, 0o660, 0o666, 0o604, 0o620, 0o602, 0o777] {
                let judged = |error, has_permissions| judged(mode, error, has_permissions);
                assert_eq!(judged(Some(PermissionDenied), true), None, "{mode:o}");
                assert_eq!(judged(Some(ReadOnlyFilesystem), true), None, "{mode:o}");
                for (error, has_permissions) in [
                    (None, true),
                    (Some(Unsupported), true),
                    (Some(PermissionDenied), false),
                ] {
                    assert_eq!(judged(error, has_permissions), Some(Left::Open), "{mode:o}");
                }
            }
        }

        #[test]
        fn a_link_in_a_files_place_is_not_followed() {
            let folder = tempfile::tempdir().unwrap();
            let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
            std::os::unix::fs::symlink(&file, &link).unwrap();
            restrict(&link).unwrap_err();
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o644);
            assert_eq!(restrict(&file).unwrap(), Left::Private);
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
