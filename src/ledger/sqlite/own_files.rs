//! Refuses a ledger whose file has a second name.
//!
//! SQLite names the log and its index after the file's path, and so are the locks of senders. Programs
//! that open one file by two names see neither each other's leads nor each other's locks.
//!
//! A folder may have any number of names: the files next to the ledger are the same in all of them.

use std::io::{self, ErrorKind};
use std::path::Path;

use super::{FilePlace, LedgerError};

/// Why a file has a second name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecondName {
    HardLink,
    /// The file itself is mounted, and not its folder.
    Mount,
}

pub(super) fn refuse_second_name(place: &FilePlace) -> Result<(), LedgerError> {
    for file in place.of_sqlite() {
        let found = second_name(&file).map_err(|error| LedgerError::unusable(place, error))?;
        if let Some(how) = found {
            return Err(LedgerError::has_second_name(place, &file, how));
        }
    }
    Ok(())
}

fn second_name(file: &Path) -> io::Result<Option<SecondName>> {
    match names(file).and_then(|names| Ok((names, is_mounted(file)?))) {
        Ok((2.., _)) => Ok(Some(SecondName::HardLink)),
        Ok((_, true)) => Ok(Some(SecondName::Mount)),
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

/// Whether the file is a mount point, as the process sees it: whoever uses a mounted name sees that.
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
        let place = test.ledger.place();
        for file in [place.path().to_owned(), place.log()] {
            let link = file.with_file_name("link");
            std::fs::hard_link(&file, &link).unwrap();
            for refused in [
                SqliteLedger::open(place).err(),
                SqliteLedger::read(place).err(),
            ] {
                let text = refused.unwrap().0.to_string();
                assert!(text.contains("has a second name (a hard link)"), "{text}");
            }
            std::fs::remove_file(link).unwrap();
            SqliteLedger::read(place).unwrap().unwrap();
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
