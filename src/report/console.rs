//! The two streams: data on standard output, everything else on standard error.

use std::io::{self, ErrorKind, Write};

use crate::text::printable_lines;

/// Writes to standard output. A reader that has closed its end is a normal end;
/// whatever else goes wrong is an error, or data would be lost unseen.
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

/// Writes an error to standard error; said also under `--quiet`. File names may hold
/// what would steer a terminal.
pub fn error(text: &str) {
    let _ = writeln!(io::stderr().lock(), "error: {}", printable_lines(text));
}

/// Writes what is worth knowing beside the log to standard error.
pub fn note(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
