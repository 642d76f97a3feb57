//! The two streams: data on standard output, everything else on standard error.
//!
//! If the log is JSON, so is all of standard error: each message is
//! then an event. The format is set once, when the log is started.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use tracing::{Level, enabled};

use super::block::Block;
use super::text::text;
use super::width::{Width, paragraph};
use crate::exit::StoppedBy;
use crate::message::Message;
use crate::options::LogFormat;
use crate::text::printable_lines;

/// The format of standard error; text until the log is started.
static FORM: OnceLock<LogFormat> = OnceLock::new();

pub(super) fn set_form(form: LogFormat) {
    let _ = FORM.set(form);
}

pub fn is_json() -> bool {
    FORM.get() == Some(&LogFormat::Json)
}

/// Standard output. A closed pipe counts as a normal end. Any other
/// failure is an error, otherwise data would be lost without notice.
#[derive(Debug)]
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(io::Error::new(
                error.kind(),
                format!("cannot write to standard output: {error}"),
            )),
            _ => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a text to [standard output](Stdout). Nothing from a list, a service or a file name in it
/// steers a terminal.
pub fn print(text: &str) -> io::Result<()> {
    Stdout.write_all(printable_lines(text).as_bytes())
}

/// A report as [`show`] writes it.
pub fn text_on_stdout(blocks: &[Block]) -> String {
    text(blocks, Width::of_stdout())
}

/// Writes a report to standard output, as wide as that is.
pub fn show(blocks: &[Block]) -> io::Result<()> {
    print(&text_on_stdout(blocks))
}

/// Writes a report to standard error, as a [`note`].
pub fn tell(blocks: &[Block]) {
    note(&text(blocks, Width::of_stderr()));
}

/// Writes an error to standard error, also under `--quiet`. File names may have
/// what would steer a terminal.
pub fn error(message: &Message) {
    if is_json() {
        let (what, hint) = message.at_terminal();
        tracing::error!(event = "error", hint, "{what}");
    } else {
        let mut text = format!("error: {}", printable_lines(&message.to_string()));
        if io::stderr().is_terminal() {
            let width = Width::of_stderr();
            let lines = text.split('\n').map(|line| paragraph(line, width));
            text = lines.collect::<Vec<_>>().join("\n");
        }
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Writes why a command ends before its end. A signal and a time that is up were intended: they
/// are no errors, and those who want to hear of errors only do not hear of them.
pub fn stop(by: StoppedBy, message: &Message) {
    match by {
        StoppedBy::MaxDuration | StoppedBy::Signal if enabled!(Level::WARN) => {
            note(&format!("{message}\n"));
        }
        StoppedBy::MaxDuration | StoppedBy::Signal => {}
        _ => error(message),
    }
}

/// Begins a new line on a terminal, where something else may have been printed.
pub fn begin_line() {
    if io::stderr().is_terminal() {
        note("\n");
    }
}

/// Writes to standard error what is no error, as [`print`] does.
pub fn note(text: &str) {
    match is_json() {
        true if text.trim().is_empty() => {}
        true => tracing::info!(event = "note", "{}", text.trim_end()),
        false => {
            let text = printable_lines(text);
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    }
}
