//! Opens the user's browser.
//!
//! The `webbrowser` crate opens a browser, and not whatever the system opens HTML files with,
//! which may be an editor. It does not wait for the browser to end.

use std::path::{Path, PathBuf};
use std::thread;

use tracing::debug;

/// Opens a file in the browser. That it cannot be opened is no error, since the link is printed
/// too. On a thread of its own: finding the browser takes other programs.
pub fn open(file: &Path) {
    let file: PathBuf = file.to_owned();
    thread::spawn(move || {
        let opened = webbrowser::open(&file.to_string_lossy());
        if let Err(error) = opened {
            debug!(event = "browser", "no browser could be opened: {error}");
        }
    });
}
