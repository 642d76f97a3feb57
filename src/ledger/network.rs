//! Whether a ledger is on a network file system.
//!
//! Its promises need two things of the file system: locks that every process obeys, and a
//! log beside the ledger whose index processes share in memory. Over a network neither is
//! certain, and nothing but the file system knows whether it works.

use std::io;
use std::path::Path;

/// What a network file system is called that `path`, or the folder in which it is to be
/// made, is on. Nothing for a local one, and where it cannot be told.
pub fn network_file_system(path: &Path) -> Option<String> {
    first_known(&std::path::absolute(path).ok()?, system::kind_at)
}

/// The kind of the nearest place that is there.
fn first_known(
    path: &Path,
    kind_at: impl Fn(&Path) -> io::Result<Option<String>>,
) -> Option<String> {
    let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let mut kinds = path.ancestors().map(kind_at);
    let first = kinds.find(|kind| !kind.as_ref().is_err_and(is_missing));
    first?.ok()?
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    /// File systems that are programs: any of them, local ones too.
    const FUSE: u32 = 0x6573_5546;

    pub(super) fn kind_at(path: &Path) -> io::Result<Option<String>> {
        // As wide and as signed as the system has it; the kinds are numbers of 32 bits.
        let kind = rustix::fs::statfs(path)?.f_type as u32;
        if kind != FUSE {
            return Ok(super::kind(kind).map(str::to_owned));
        }
        let device = path.metadata()?.dev();
        let device = (rustix::fs::major(device), rustix::fs::minor(device));
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let found = super::mounted_type(&mounts, device).filter(|name| super::is_remote(name));
        Ok(found.map(str::to_owned))
    }
}

#[cfg(target_os = "macos")]
mod system {
    use std::io;
    use std::path::Path;

    pub(super) fn kind_at(path: &Path) -> io::Result<Option<String>> {
        let found = rustix::fs::statfs(path)?;
        if found.f_flags & libc::MNT_LOCAL as u32 != 0 {
            return Ok(None);
        }
        let name = found.f_fstypename.iter().map(|byte| *byte as u8);
        let name: Vec<u8> = name.take_while(|byte| *byte != 0).collect();
        Ok(Some(String::from_utf8_lossy(&name).into_owned()))
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::path::{Component, Path, Prefix};

    pub(super) fn kind_at(path: &Path) -> io::Result<Option<String>> {
        // A drive that stands for a share becomes the share's own name.
        let path = path.canonicalize()?;
        let is_share = match path.components().next() {
            Some(Component::Prefix(prefix)) => {
                matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..))
            }
            _ => false,
        };
        Ok(is_share.then(|| "a shared folder".to_owned()))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod system {
    use std::io;
    use std::path::Path;

    /// Other systems do not say it in one way.
    pub(super) fn kind_at(_path: &Path) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// What a network file system is called whose kind Linux gives so (statfs(2), `f_type`);
/// the shared folders of virtual machines are such, too.
#[cfg(any(target_os = "linux", test))]
fn kind(f_type: u32) -> Option<&'static str> {
    Some(match f_type {
        0x0000_6969 => "NFS",
        0x0000_517B | 0xFF53_4D42 | 0xFE53_4D42 => "SMB",
        0x0102_1997 => "9p",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x00C3_6400 => "Ceph",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x1983_0326 => "BeeGFS",
        0x2003_0528 => "OrangeFS",
        0xAAD7_AAEA => "PanFS",
        0xBEEF_DEAD => "StorNext",
        0x7375_7245 => "Coda",
        0x0000_564C => "NCP",
        0x786F_4256 => "a VirtualBox folder",
        0xBACB_ACBC => "a VMware folder",
        0x7C7C_6673 => "a Parallels folder",
        _ => return None,
    })
}

/// The type of the file system that is mounted from `device`, by what Linux says of all
/// mounts (proc(5), `mountinfo`).
#[cfg(any(target_os = "linux", test))]
fn mounted_type(mounts: &str, device: (u32, u32)) -> Option<&str> {
    let device = format!("{}:{}", device.0, device.1);
    let line = mounts
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(&device))?;
    // Behind fields whose number differs.
    line.split_once(" - ")?.1.split(' ').next()
}

/// Whether a file system that is a program fetches its files from elsewhere: as far as it
/// is known by name, since others encrypt or lay one folder over another, and are local.
#[cfg(any(target_os = "linux", test))]
fn is_remote(fuse_type: &str) -> bool {
    const REMOTE: [&str; 16] = [
        "sshfs",
        "s3fs",
        "rclone",
        "glusterfs",
        "ceph-fuse",
        "gcsfuse",
        "goofys",
        "mount-s3",
        "blobfuse2",
        "davfs",
        "curlftpfs",
        "smbnetfs",
        "juicefs",
        "moosefs",
        "vmhgfs-fuse",
        "grpcfuse",
    ];
    let name = fuse_type.strip_prefix("fuse.");
    name.is_some_and(|name| REMOTE.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones_by_their_kind() {
        for (f_type, name) in [
            (0x6969, Some("NFS")),
            (0xFF53_4D42, Some("SMB")),
            (0xFE53_4D42, Some("SMB")),
            (0x517B, Some("SMB")),
            (0x0102_1997, Some("9p")),
            (0x5346_414F, Some("AFS")),
            (0x00C3_6400, Some("Ceph")),
            (0x0BD0_0BD0, Some("Lustre")),
            (0x4750_4653, Some("GPFS")),
            // ext4, btrfs, XFS, ZFS, tmpfs, overlayfs.
            (0xEF53, None),
            (0x9123_683E, None),
            (0x5846_5342, None),
            (0x2FC1_2FC1, None),
            (0x0102_1994, None),
            (0x794C_7630, None),
        ] {
            assert_eq!(kind(f_type), name, "{f_type:x}");
        }
    }

    #[test]
    fn a_file_system_that_is_a_program_is_known_by_its_mount() {
        let mounts = "\
            22 27 0:21 / /proc rw,relatime - proc proc rw\n\
            40 27 0:52 / /home/a/far rw,nosuid shared:7 master:1 - fuse.sshfs host:/srv rw\n\
            41 27 0:53 / /home/a/safe rw - fuse.gocryptfs /home/a/.safe rw\n\
            42 27 8:17 / /media/usb rw - fuseblk /dev/sdb1 rw\n";
        let remote = |device| mounted_type(mounts, device).is_some_and(is_remote);
        assert_eq!(mounted_type(mounts, (0, 52)), Some("fuse.sshfs"));
        assert!(remote((0, 52)));
        assert!(!remote((0, 53)));
        assert!(!remote((8, 17)));
        assert!(!remote((9, 9)));
    }

    #[test]
    fn a_file_that_is_not_there_yet_is_on_what_its_folder_is_on() {
        let kind_at = |path: &Path| match path.to_str() {
            Some("/far") => Ok(Some("NFS".to_owned())),
            Some("/far/near") => Ok(None),
            Some("/closed") => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        for (path, kind) in [
            ("/far/new/ledger.db", Some("NFS")),
            ("/far/near/ledger.db", None),
            ("/closed/ledger.db", None),
            ("/ledger.db", None),
        ] {
            let found = first_known(Path::new(path), kind_at);
            assert_eq!(found.as_deref(), kind, "{path}");
        }
    }
}
