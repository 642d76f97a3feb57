//! Opens the user's browser.
//!
//! The `webbrowser` crate opens a browser, and not whatever the system opens HTML files with,
//! which may be an editor. It does not wait until a browser with windows has ended.
//!
//! What it starts has the environment of its process, where the token and passwords may be, and a
//! process cannot safely take variables out of its own. So it works in another process of this
//! program, which is started without them.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};

use tracing::debug;

use crate::exit::ExitCode;
use crate::settings::own_variables;

/// The word by which the other process knows what to do. It is no command for people.
pub const OPEN: &str = "open-in-browser";

/// Opens a file in the browser. That it cannot be opened is no error, since the link is printed
/// too. It works on a thread of its own, since finding the browser takes other programs.
pub fn open(file: PathBuf) -> JoinHandle<()> {
    thread::spawn(move || {
        let why = match in_another_process(&file) {
            Ok(true) => return,
            Ok(false) => "none was found".to_owned(),
            Err(error) => error.to_string(),
        };
        debug!(event = "browser", "no browser could be opened: {why}");
    })
}

/// Returns whether a browser was opened.
fn in_another_process(file: &Path) -> io::Result<bool> {
    let mut opener = Command::new(env::current_exe()?);
    opener.arg(OPEN).arg(file);
    for name in own_variables() {
        opener.env_remove(name);
    }
    Ok(opener.status()?.success())
}

/// The work of the other process.
pub fn open_alone(file: &Path) -> ExitCode {
    match webbrowser::open(&file.to_string_lossy()) {
        Ok(()) => ExitCode::Complete,
        Err(_) => ExitCode::Usage,
    }
}
