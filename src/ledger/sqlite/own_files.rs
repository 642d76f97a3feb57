//! Refuses a ledger whose file, or one beside it, is not the ledger's own. That is found out before any of
//! them is opened.
//!
//! - A file has one name. SQLite names the log and its index after the file's path, and so are the locks of
//!   senders: programs that open one file by two names see neither each other's leads nor each other's
//!   locks. A folder may have any number of names, since the files in it are the same in all of them.
//! - It is a regular file: opening a pipe would wait forever, and a link leads to a file of somebody else.
//! - It belongs to this user, to the owner of the ledger or to the system's administrator: another user who may
//!   write into the folder could add a log that takes everyone out who was sent. As administrator SQLite
//!   gives the files that it makes to the owner of the ledger.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::{FilePlace, LedgerError};

/// What a second name is, and what to do about it.
const HARD_LINK: [&str; 2] = [
    "a hard link",
    "remove the other name, or take a copy of the file",
];
const MOUNT: [&str; 2] = [
    "it is mounted by itself",
    "mount the folder that it is in, at every place where it is used",
];

pub(super) fn refuse_strange_files(place: &FilePlace) -> Result<(), LedgerError> {
    let unusable = |error| LedgerError::unusable(place, error);
    let ledger = metadata(&place.real()).map_err(unusable)?;
    for file in place.of_sqlite().into_iter().chain(place.lock_files()) {
        let Some(found) = metadata(&file).map_err(unusable)? else {
            continue;
        };
        if !found.is_file() {
            return Err(LedgerError::not_a_file(place, &file));
        }
        if let Some([how, hint]) = second_name(&file).map_err(unusable)? {
            return Err(LedgerError::has_second_name(place, &file, how, hint));
        }
        if ledger
            .as_ref()
            .is_some_and(|ledger| is_foreign(&found, ledger))
        {
            return Err(LedgerError::has_foreign_file(place, &file));
        }
    }
    Ok(())
}

/// Of the file itself, not of one that it leads to; `None` if there is none.
fn metadata(file: &Path) -> io::Result<Option<Metadata>> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Whether a file beside the ledger belongs to somebody who has nothing to do with it.
#[cfg(unix)]
fn is_foreign(file: &Metadata, ledger: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    is_of_another(file.uid(), &[ledger.uid(), own])
}

#[cfg(unix)]
fn is_of_another(user: u32, known: &[u32]) -> bool {
    const ADMINISTRATOR: u32 = 0;
    user != ADMINISTRATOR && !known.contains(&user)
}

/// The folder decides here who may make a file.
#[cfg(not(unix))]
fn is_foreign(_file: &Metadata, _ledger: &Metadata) -> bool {
    false
}

fn second_name(file: &Path) -> io::Result<Option<[&'static str; 2]>> {
    match names(file).and_then(|names| Ok((names, is_mounted(file)?))) {
        Ok((2.., _)) => Ok(Some(HARD_LINK)),
        Ok((_, true)) => Ok(Some(MOUNT)),
        Ok(_) => Ok(None),
        // Other processes make and remove the files beside the ledger.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn names(file: &Path) -> io::Result<u64> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?))
}

#[cfg(windows)]
fn names(file: &Path) -> io::Result<u64> {
    let open = winapi_util::Handle::from_path_any(file)?;
    Ok(winapi_util::file::information(&open)?.number_of_links())
}

/// Whether the file is a mount point, as the process sees it: one that uses a mounted name sees that.
#[cfg(target_os = "linux")]
fn is_mounted(file: &Path) -> io::Result<bool> {
    use std::os::unix::ffi::OsStrExt;
    let path = file.canonicalize()?;
    // Without `/proc` it is not known.
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    Ok(mounts_have(&mounts, path.as_os_str().as_bytes()))
}

/// Elsewhere only folders can be mounted.
#[cfg(not(target_os = "linux"))]
fn is_mounted(_file: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Whether the lines of `mountinfo` (proc(5)) have this mount point, which is their fifth word.
#[cfg(any(test, target_os = "linux"))]
fn mounts_have(mounts: &[u8], path: &[u8]) -> bool {
    let mut points = mounts
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let escaped: Vec<u8> = path
        .iter()
        .flat_map(|byte| match byte {
            b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
            _ => vec![*byte],
        })
        .collect();
    points.any(|point| point == escaped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::SqliteLedger;
    use crate::ledger::sqlite::testing::TestLedger;

    #[test]
    fn a_hard_link_of_any_file_that_sqlite_keeps_is_refused_by_readers_and_writers() {
        let test = TestLedger::new();
        let place = test.ledger.file().place();
        for file in [place.path().to_owned(), place.log()] {
            let link = file.with_file_name("link");
            std::fs::hard_link(&file, &link).unwrap();
            for refused in [
                SqliteLedger::open(place).err(),
                SqliteLedger::read(place).err(),
            ] {
                let text = refused.unwrap().0.to_string();
                assert!(text.contains("hard link"), "{text}");
            }
            std::fs::remove_file(link).unwrap();
            SqliteLedger::read(place).unwrap().unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_foreign_unless_it_is_of_somebody_who_is_known_or_of_root() {
        for (user, is_refused) in [(0, false), (7, false), (8, false), (9, true)] {
            assert_eq!(is_of_another(user, &[7, 8]), is_refused, "{user}");
        }
    }

    #[test]
    fn a_file_is_mounted_where_it_is_a_mount_point_and_not_only_below_one() {
        let mounts = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
            40 22 8:2 /l /leads rw shared:1 - ext4 /dev/sdb rw\n\
            41 40 8:1 /a/ledger.db /leads/ledger.db rw master:1 - ext4 /dev/sda1 rw\n\
            42 40 8:1 /a/b /leads/my\\040own\\134ledger ro - ext4 /dev/sda1 rw\n";
        for (path, is_mounted) in [
            ("/leads/ledger.db", true),
            ("/leads/my own\\ledger", true),
            ("/leads", true),
            ("/leads/other.db", false),
            ("/leads/ledger.db-wal", false),
            ("/a/ledger.db", false),
            ("/ledger.db", false),
        ] {
            assert_eq!(mounts_have(mounts, path.as_bytes()), is_mounted, "{path}");
        }
    }
}
