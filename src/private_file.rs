//! Files that hold what is known of people: readable by their owner only.

use std::fs::{DirBuilder, OpenOptions};

/// Options for a file that is made for its owner only. One that is there keeps what it
/// is, in rights and in content.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    keep_others_out(&mut options);
    options
}

/// Makes folders for their owner only.
pub fn folders() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    keep_others_out_of(&mut folders);
    folders
}

#[cfg(unix)]
fn keep_others_out(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(unix)]
fn keep_others_out_of(folders: &mut DirBuilder) {
    use std::os::unix::fs::DirBuilderExt;
    folders.mode(0o700);
}

/// Elsewhere a file takes the permissions of its folder, which for a user's own folders
/// are that user's alone.
#[cfg(not(unix))]
fn keep_others_out(_options: &mut OpenOptions) {}

#[cfg(not(unix))]
fn keep_others_out_of(_folders: &mut DirBuilder) {}
