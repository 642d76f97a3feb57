//! Standard error, for the bar: a terminal that may go away.
//!
//! The bar's library panics where drawing fails, and a run must not end because
//! somebody has closed the window: what cannot be drawn is not drawn.

use std::io;

use console::Term;
use indicatif::TermLike;

/// A terminal on which nothing fails.
#[derive(Debug)]
pub(super) struct ForgivingTerm(Term);

impl ForgivingTerm {
    /// Standard error, be it a terminal or not.
    pub(super) fn stderr() -> ForgivingTerm {
        ForgivingTerm(Term::stderr())
    }
}

fn forgive(_drawn: io::Result<()>) -> io::Result<()> {
    Ok(())
}

impl TermLike for ForgivingTerm {
    fn width(&self) -> u16 {
        TermLike::width(&self.0)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        forgive(self.0.move_cursor_up(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        forgive(self.0.move_cursor_down(n))
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        forgive(self.0.move_cursor_right(n))
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        forgive(self.0.move_cursor_left(n))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        forgive(self.0.write_line(text))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        forgive(self.0.write_str(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        forgive(self.0.clear_line())
    }

    fn flush(&self) -> io::Result<()> {
        forgive(self.0.flush())
    }
}
