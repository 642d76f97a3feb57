//! Standard error for a bar that is wanted although it is no terminal.

use std::io::{self, Write};

use indicatif::TermLike;

/// How wide it is taken to be.
const WIDTH: u16 = 80;

/// Writes what a terminal of 80 columns would be sent.
#[derive(Debug)]
pub(super) struct PlainTerm;

impl PlainTerm {
    fn write(&self, text: &str) -> io::Result<()> {
        io::stderr().lock().write_all(text.as_bytes())
    }

    /// A cursor movement by `n`, as terminals understand it (ECMA-48).
    fn control(&self, n: usize, letter: char) -> io::Result<()> {
        match n {
            0 => Ok(()),
            n => self.write(&format!("\x1b[{n}{letter}")),
        }
    }
}

impl TermLike for PlainTerm {
    fn width(&self) -> u16 {
        WIDTH
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.control(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.control(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.control(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.control(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.write(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
