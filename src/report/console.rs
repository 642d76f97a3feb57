//! The two streams: data on standard output, everything else on standard error.
//!
//! If the log is JSON, so is all of standard error: each message is
//! then an event. The format is set once, when the log is started.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use tracing::{Level, enabled};

use crate::exit::StoppedBy;
use crate::options::LogFormat;
use crate::text::printable_lines;

/// The format of standard error; text until the log is started.
static FORM: OnceLock<LogFormat> = OnceLock::new();

pub(super) fn set_form(form: LogFormat) {
    let _ = FORM.set(form);
}

fn is_json() -> bool {
    FORM.get() == Some(&LogFormat::Json)
}

/// Writes to standard output. A closed pipe counts as a normal end. Any
/// other failure is an error, otherwise data would be lost without notice.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!("cannot write to standard output: {error}"),
        )),
        Ok(()) => Ok(()),
    }
}

/// Writes an error to standard error, even under `--quiet`.
/// File names may contain characters that steer a terminal.
pub fn error(text: &str) {
    if !is_json() {
        let _ = writeln!(io::stderr().lock(), "error: {}", printable_lines(text));
        return;
    }
    let (what, hint) = match text.split_once("\n\nhint: ") {
        Some((what, hint)) => (what, Some(hint)),
        None => (text, None),
    };
    tracing::error!(event = "error", hint, "{what}");
}

/// Writes why a command ends early. The end of `--max-duration` was planned, so
/// it is not an error: it is shown as a note, and not at all with `--quiet`.
pub fn stop(by: StoppedBy, text: &str) {
    match by {
        StoppedBy::MaxDuration if enabled!(Level::WARN) => {
            note(&format!("{}\n", printable_lines(text)));
        }
        StoppedBy::MaxDuration => {}
        _ => error(text),
    }
}

/// Begins a new line on a terminal, where something else may have been printed.
pub fn begin_line() {
    if io::stderr().is_terminal() {
        note("\n");
    }
}

pub fn note(text: &str) {
    match is_json() {
        true if text.trim().is_empty() => {}
        true => tracing::info!(event = "note", "{}", text.trim_end()),
        false => {
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    }
}
