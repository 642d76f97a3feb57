//! The two streams: data on standard output, everything else on standard error.
//!
//! A reader that has closed its end is a normal end, not an error.

use std::io::{self, Write};

/// Writes to standard output.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Writes an error to standard error; said also under `--quiet`.
pub fn error(text: &str) {
    let _ = writeln!(io::stderr().lock(), "error: {text}");
}
