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
        is_open |= unix::restrict(file).map_err(|error| LedgerError::exposed(place, &error))?;
    }
    if is_open {
        warn!(
            event = "warning",
            "the ledger `{place}` is on a file system without permissions, so other users of this computer may be able to read it: keep it in a folder of your own on another disk"
        );
    }
    Ok(())
}

/// Refuses a ledger that others can read or write and that [`restrict`] could not make private, before
/// SQLite makes files beside it. Those would be this user's, and keep the owner of the ledger from it.
#[cfg(unix)]
pub(super) fn refuse_exposed(place: &FilePlace) -> Result<(), LedgerError> {
    match place.of_sqlite().iter().any(|file| unix::is_exposed(file)) {
        true => Err(LedgerError::exposed(
            place,
            &std::io::ErrorKind::PermissionDenied.into(),
        )),
        false => Ok(()),
    }
}

/// Says that what is read may be wrong: reading changes no permissions.
#[cfg(unix)]
pub(super) fn warn_of_writers(place: &FilePlace) {
    static SAID: std::sync::Once = std::sync::Once::new();
    if place
        .of_sqlite()
        .iter()
        .any(|file| unix::others_write(file))
    {
        SAID.call_once(|| {
            tracing::warn!(
                event = "warning",
                "other users of this computer can write into the ledger `{place}`, or a file beside it, so what it says may be wrong: run `chmod 600` on them"
            );
        });
    }
}

#[cfg(not(unix))]
pub(super) fn refuse_exposed(_place: &FilePlace) -> Result<(), LedgerError> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn warn_of_writers(_place: &FilePlace) {}

/// Files have the permissions of their folder here, and a user's own folders are private.
#[cfg(not(unix))]
pub(super) fn restrict(_place: &FilePlace, _files: &[PathBuf]) -> Result<(), LedgerError> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::{self, Permissions};
    use std::io::{self, ErrorKind};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    const PRIVATE: u32 = 0o600;

    /// Reading and writing, by the group and by all.
    const BY_OTHERS: u32 = 0o066;

    /// Returns whether others may still use the file, since the file system has no permissions that could
    /// be changed.
    pub(super) fn restrict(file: &Path) -> io::Result<bool> {
        // A link is never followed: what it leads to is not a file of the ledger.
        let mode = || match file.symlink_metadata() {
            Ok(found) if found.is_file() => Ok(Some(found.permissions().mode() & 0o777)),
            Ok(_) => Err(io::Error::other("it is not a regular file")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        if mode()?.is_none_or(|mode| mode == PRIVATE) {
            return Ok(false);
        }
        let changed = fs::set_permissions(file, Permissions::from_mode(PRIVATE));
        // SQLite may have removed its log meanwhile.
        let mode = mode()?.unwrap_or(PRIVATE);
        judge(mode, changed, has_permissions(file))
    }

    /// Whether others can use the file, and this user may not change that.
    pub(super) fn is_exposed(file: &Path) -> bool {
        let user = rustix::process::geteuid();
        file.symlink_metadata().is_ok_and(|found| {
            let is_own = user.is_root() || found.uid() == user.as_raw();
            !is_own && found.mode() & BY_OTHERS != 0 && has_permissions(file)
        })
    }

    pub(super) fn others_write(file: &Path) -> bool {
        let found = file.symlink_metadata();
        found.is_ok_and(|found| found.mode() & BY_OTHERS & 0o222 != 0 && has_permissions(file))
    }

    /// Judges the mode that a file has after it was to be made private.
    fn judge(mode: u32, changed: io::Result<()>, has_permissions: bool) -> io::Result<bool> {
        match changed {
            _ if mode & BY_OTHERS == 0 => Ok(false),
            Err(error) if has_permissions && error.kind() != ErrorKind::Unsupported => Err(error),
            // As FAT, shared folders of virtual machines and network drives do.
            _ => Ok(true),
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

        fn judged(mode: u32, error: Option<ErrorKind>, has_permissions: bool) -> Option<bool> {
            let changed = error.map_or(Ok(()), |kind| Err(kind.into()));
            judge(mode, changed, has_permissions).ok()
        }

        #[test]
        fn what_others_can_neither_read_nor_write_is_private_whatever_was_refused() {
            for mode in [0o600, 0o400, 0o700, 0o711] {
                for error in [None, Some(ErrorKind::PermissionDenied)] {
                    assert_eq!(judged(mode, error, true), Some(false), "{mode:o}");
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
                    assert_eq!(judged(error, has_permissions), Some(true), "{mode:o}");
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
            assert!(!restrict(&file).unwrap());
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
