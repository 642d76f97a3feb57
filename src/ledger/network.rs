//! Whether a ledger is on a network file system.
//!
//! Its promises need two things of the file system: locks that every process obeys, and a
//! log beside the ledger whose index processes share in memory. Over a network neither is
//! certain, and only the file system knows whether it works.

use std::path::Path;

/// What the network file system is called that `path`, or the folder in which it will be made,
/// is on. Nothing for a local one, and where that is not known.
pub(super) fn network_file_system(path: &Path) -> Option<&'static str> {
    let path = std::path::absolute(path).ok()?;
    kind_at(path.ancestors().find(|place| place.exists())?)
}

/// By the numbers of statfs(2). Those that are programs (FUSE) are not known from each other:
/// many encrypt a local folder.
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
    // A drive letter of a share becomes the share's own name.
    match path.canonicalize().ok()?.components().next()? {
        Component::Prefix(prefix) => match prefix.kind() {
            Prefix::UNC(..) | Prefix::VerbatimUNC(..) => Some("a shared folder"),
            _ => None,
        },
        _ => None,
    }
}

/// Other systems do not say it in one way.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn kind_at(_path: &Path) -> Option<&'static str> {
    None
}
