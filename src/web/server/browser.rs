//! Opens the user's browser.
//!
//! The `webbrowser` crate opens a browser, and not whatever the system opens HTML files with,
//! which may be an editor. It does not wait until a browser with windows has ended.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use tracing::debug;

/// Opens a file in the browser. That it cannot be opened is no error, since the link is printed
/// too. It works on a thread of its own, since finding the browser takes other programs; nothing
/// opens if the process ends before that thread.
pub fn open(file: PathBuf) -> JoinHandle<()> {
    thread::spawn(move || {
        if let Err(error) = webbrowser::open(&file.to_string_lossy()) {
            debug!(event = "browser", "no browser could be opened: {error}");
        }
    })
}
