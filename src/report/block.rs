//! The lines at the lower end of the terminal that are drawn again and again.
//!
//! Rules:
//!
//! - Between two drawings the cursor rests above the lines, in a line of its own that is
//!   empty. Everything below it is ours, so that one sequence clears it, however a
//!   resized window has wrapped it meanwhile.
//! - The cursor is never hidden, and no mode outlasts a drawing: whatever ends the process
//!   leaves a terminal that works.
//! - A drawing begins with the clearing and goes out in one piece, so that nothing
//!   flickers; the same lines are not drawn twice.
//! - A log line takes the place of the lines, which are drawn again below it.
//! - A terminal that goes away, because somebody has closed the window, ends no run: what
//!   cannot be drawn is not drawn.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use console::Term;

/// On lower terminals there is no empty line to spare.
const LOW: usize = 8;

/// Keeps what is wider than the window from going on in the next line, and lets it again:
/// somebody may make the window smaller just while it is drawn.
#[cfg(not(windows))]
const WRAPPING: (&str, &str) = ("\x1b[?7l", "\x1b[?7h");

/// There the cursor is moved by calls, and older windows show sequences as they are.
#[cfg(windows)]
const WRAPPING: (&str, &str) = ("", "");

/// The lines, and standard error, where they are. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct Block(Arc<Mutex<Drawn>>);

/// What is on the screen.
#[derive(Debug, Default)]
struct Drawn {
    term: Option<Term>,
    lines: Vec<String>,
    /// As they were when it was drawn, in lines and columns.
    size: (u16, u16),
}

impl Block {
    /// The width for lines, in characters: one less than there is room for, since some
    /// terminals begin a new line behind the last character and others do not.
    pub(super) fn width(&self) -> usize {
        let (_, columns) = self.drawn().term().size();
        usize::from(columns).saturating_sub(1)
    }

    /// Shows these lines in place of those that are shown. Empty ones are left out, and
    /// none may be wider than [`width`](Self::width).
    pub(super) fn show(&self, lines: Vec<String>) {
        let mut drawn = self.drawn();
        let size = drawn.term().size();
        if drawn.lines == lines && drawn.size == size {
            return;
        }
        drawn.clear();
        (drawn.lines, drawn.size) = (lines, size);
        drawn.draw();
    }

    /// Takes the lines away.
    pub(super) fn hide(&self) {
        let mut drawn = self.drawn();
        drawn.clear();
        drawn.lines.clear();
        drawn.flush();
    }

    /// Writes whole lines above.
    pub(super) fn write_above(&self, text: &str) {
        let mut drawn = self.drawn();
        drawn.clear();
        let _ = drawn.term().write_str(text);
        drawn.draw();
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        // Whoever has panicked here has left lines on the screen and nothing worse.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drawn {
    fn term(&mut self) -> &Term {
        self.term.get_or_insert_with(Term::buffered_stderr)
    }

    fn is_shown(&self) -> bool {
        self.lines.iter().any(|line| !line.is_empty())
    }

    /// Clears what is shown. Somebody may have typed where the cursor rests.
    fn clear(&mut self) {
        if !self.is_shown() {
            return;
        }
        let term = self.term();
        let _ = term.write_str("\r");
        // Where clearing is a call and no text, the text has to be there before it.
        if cfg!(windows) {
            let _ = term.flush();
        }
        let _ = term.clear_to_end_of_screen();
    }

    fn draw(&mut self) {
        if self.is_shown() {
            let _ = self.try_to_draw();
        }
        self.flush();
    }

    fn try_to_draw(&mut self) -> io::Result<()> {
        let height = usize::from(self.term().size().0);
        let is_low = height < LOW;
        let shown = self.lines.iter().filter(|line| !line.is_empty());
        // On what is lower still, the first lines matter most.
        let shown: Vec<&str> = shown.map(String::as_str).take(height.max(1)).collect();
        let mut text = shown.join("\n");
        if !is_low {
            text.insert(0, '\n');
        }
        let down = text.matches('\n').count();
        let term = self.term();
        for part in [WRAPPING.0, &text, WRAPPING.1] {
            term.write_str(part)?;
        }
        if cfg!(windows) {
            term.flush()?;
        }
        if down > 0 {
            term.move_cursor_up(down)?;
        }
        term.write_str("\r")
    }

    fn flush(&mut self) {
        if self.term().flush().is_err() {
            // What could not be written would be kept, and grow.
            self.term = None;
        }
    }
}
