//! Whether a ledger is on a network file system.
//!
//! The ledger's promises need two things from the file system: locks that every process
//! obeys, and a log next to the ledger whose index the processes share in memory. Over
//! a network neither is certain, and only the file system knows whether it works.

use std::path::Path;

/// The name of the network file system that holds `path`, or the folder in
/// which `path` will be created. `None` if it is a local one or not known.
pub(super) fn network_file_system(path: &Path) -> Option<&'static str> {
    let path = std::path::absolute(path).ok()?;
    kind_at(path.ancestors().find(|place| place.exists())?)
}

/// Recognizes file systems by their numbers in statfs(2). FUSE file systems share
/// one number, so they cannot be told apart; many of them encrypt a local folder.
#[cfg(target_os = "linux")]
fn kind_at(path: &Path) -> Option<&'static str> {
    match rustix::fs::statfs(path).ok()?.f_type as u32 {
        0x6969 => Some("NFS"),
        0x517B | 0xFE53_4D42 | 0xFF53_4D42 => Some("SMB"),
        0x00C3_6400 => Some("Ceph"),
        // The shared folders of virtual machines.
        0x0102_1997 => Some("9p"),
        _ => None,
    }
}

#[cfg(target_os = "macos")]
fn kind_at(path: &Path) -> Option<&'static str> {
    let is_local = rustix::fs::statfs(path).ok()?.f_flags & libc::MNT_LOCAL as u32 != 0;
    (!is_local).then_some("of another computer")
}

#[cfg(windows)]
fn kind_at(path: &Path) -> Option<&'static str> {
    use std::path::{Component, Prefix};
    // `canonicalize` turns the drive letter of a share into the name of the share.
    match path.canonicalize().ok()?.components().next()? {
        Component::Prefix(prefix) => match prefix.kind() {
            Prefix::UNC(..) | Prefix::VerbatimUNC(..) => Some("a shared folder"),
            _ => None,
        },
        _ => None,
    }
}

/// Other systems have no common way to tell.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn kind_at(_path: &Path) -> Option<&'static str> {
    None
}
