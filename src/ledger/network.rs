//! Whether a ledger is on a network file system.
//!
//! Its promises need two things of the file system: locks that every process obeys, and a
//! log beside the ledger whose index processes share in memory. Over a network neither is
//! certain, and only the file system knows whether it works.

use std::io;
use std::path::Path;

/// The name of the network file system that `path`, or the folder in which it will be made, is
/// on. Nothing for a local one, and where that is not known.
pub(super) fn network_file_system(path: &Path) -> Option<String> {
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

    pub(super) fn kind_at(path: &Path) -> io::Result<Option<String>> {
        let device = path.metadata()?.dev();
        let device = (rustix::fs::major(device), rustix::fs::minor(device));
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let found = super::mounted_type(&mounts, device).and_then(super::remote_name);
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
        // A drive letter of a share becomes the share's own name.
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

/// What a file system of this type is called, where it keeps its files elsewhere; the shared
/// folders of virtual machines are such, too. Of those that are programs (`fuse.`) only the
/// ones that are known by name: others encrypt or lay one folder over another, and are local.
#[cfg(any(target_os = "linux", test))]
fn remote_name(mounted: &str) -> Option<&str> {
    const FUSE: &str = "sshfs s3fs rclone glusterfs ceph-fuse gcsfuse goofys mount-s3 blobfuse2 \
        davfs curlftpfs smbnetfs juicefs moosefs vmhgfs-fuse grpcfuse";
    match mounted {
        "nfs" | "nfs4" => Some("NFS"),
        "cifs" | "smb3" | "smbfs" => Some("SMB"),
        "afs" | "ceph" | "lustre" | "gpfs" | "beegfs" | "pvfs2" | "panfs" | "cvfs" | "coda"
        | "ncpfs" | "9p" => Some(mounted),
        "vboxsf" => Some("a VirtualBox folder"),
        "vmhgfs" => Some("a VMware folder"),
        "prl_fs" => Some("a Parallels folder"),
        _ => mounted
            .strip_prefix("fuse.")
            .filter(|name| FUSE.split(' ').any(|known| known == *name))
            .map(|_| mounted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_the_type_of_their_mount() {
        let mounts = "\
            22 27 0:21 / /proc rw,relatime - proc proc rw\n\
            27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            39 27 0:50 / /home/a/nfs rw shared:6 - nfs4 host:/srv rw\n\
            40 27 0:52 / /home/a/far rw,nosuid shared:7 master:1 - fuse.sshfs host:/srv rw\n\
            41 27 0:53 / /home/a/safe rw - fuse.gocryptfs /home/a/.safe rw\n\
            42 27 8:17 / /media/usb rw - fuseblk /dev/sdb1 rw\n";
        for (device, name) in [
            ((8, 1), None),
            ((0, 50), Some("NFS")),
            ((0, 52), Some("fuse.sshfs")),
            ((0, 53), None),
            ((8, 17), None),
            ((9, 9), None),
        ] {
            let found = mounted_type(mounts, device).and_then(remote_name);
            assert_eq!(found, name, "{device:?}");
        }
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
