//! Where the program keeps what is no setting.

use std::path::PathBuf;

use directories::ProjectDirs;

/// Where copies of ledgers are noted while they are made.
pub fn copies_folder() -> Option<PathBuf> {
    Some(state_folder()?.join("copies"))
}

/// On Linux the user's state folder, elsewhere the folder for local data; `None` without a home.
pub(super) fn state_folder() -> Option<PathBuf> {
    let folders = ProjectDirs::from("", "", "leadload")?;
    let folder = folders
        .state_dir()
        .unwrap_or_else(|| folders.data_local_dir());
    Some(folder.to_owned())
}
