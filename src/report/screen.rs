//! The terminal on which `indicatif` draws the progress bar.
//!
//! indicatif's own target moves the cursor up by the number of rows that it has drawn. When a
//! window is resized, it rewraps those rows; indicatif then leaves torn lines or erases what is
//! above them. It also panics when the terminal is gone. So indicatif draws on this target instead:
//!
//! - Between two drawings the cursor rests in an empty line above the bar. Everything below
//!   belongs to the bar, and one sequence clears it, however a resized window has wrapped it.
//! - A drawing is written in one piece, so that nothing flickers. The cursor is never hidden and
//!   no mode remains set after a drawing: a killed process leaves a working terminal.
//! - If the terminal goes away because its window was closed, the run continues: errors are
//!   ignored.

use std::io;
use std::sync::{Mutex, PoisonError};

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};

use super::width::size_of;

/// A terminal with fewer lines gets no empty line above the bar.
const MIN_HEIGHT_FOR_SPACE: u16 = 8;

/// Turns automatic wrapping off and on: the window may get narrower during a drawing.
#[cfg(not(windows))]
const WRAPPING: (&str, &str) = ("\x1b[?7l", "\x1b[?7h");

/// Older consoles show such sequences as text.
#[cfg(windows)]
const WRAPPING: (&str, &str) = ("", "");

/// Draws on standard error, even if it is not a terminal (`--progress always`).
pub(super) fn draw_target() -> ProgressDrawTarget {
    ProgressDrawTarget::term_like(Box::new(Screen::default()))
}

/// How many characters fit into a line: one fewer than there are
/// columns, since some terminals begin a new line after the last column.
pub(super) fn width() -> usize {
    usize::from(size_of(&Term::stderr()).1.saturating_sub(1).max(1))
}

#[derive(Debug, Default)]
struct Screen(Mutex<Drawing>);

#[derive(Debug, Default)]
struct Drawing {
    clears: bool,
    lines: Vec<String>,
}

impl Screen {
    fn change(&self, change: impl FnOnce(&mut Drawing)) -> io::Result<()> {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }
}

impl Drawing {
    fn write(&self) -> io::Result<()> {
        let term = if cfg!(windows) {
            // On Windows, clearing is a system call that does not wait for buffered text.
            Term::stderr()
        } else {
            Term::buffered_stderr()
        };
        if self.clears {
            term.write_str("\r")?;
            term.clear_to_end_of_screen()?;
        }
        if !self.lines.is_empty() {
            let space = if size_of(&term).0 < MIN_HEIGHT_FOR_SPACE {
                ""
            } else {
                "\n"
            };
            let text = self.lines.join("\n");
            term.write_str(&[WRAPPING.0, space, &text, WRAPPING.1].concat())?;
            match self.lines.len() - 1 + space.len() {
                0 => {}
                down => term.move_cursor_up(down)?,
            }
            term.write_str("\r")?;
        }
        term.flush()
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        width() as u16
    }

    fn height(&self) -> u16 {
        size_of(&Term::stderr()).0
    }

    // The cursor is above the bar already.
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        self.write_str(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        // indicatif fills lines up with spaces, which would wrap when the window gets narrower.
        let text = text.trim_end();
        self.change(|drawing| {
            drawing
                .lines
                .extend((!text.is_empty()).then(|| text.to_owned()))
        })
    }

    fn clear_line(&self) -> io::Result<()> {
        self.change(|drawing| drawing.clears = true)
    }

    fn flush(&self) -> io::Result<()> {
        self.change(|drawing| {
            let _ = std::mem::take(drawing).write();
        })
    }
}
