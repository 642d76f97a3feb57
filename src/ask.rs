//! Questions to whoever sits at the terminal.
//!
//! Rule: only where somebody can answer, and line by line: that works on any terminal, is
//! read out by screen readers, and leaves the terminal as it was however it ends.

use std::io::{self, BufRead, IsTerminal, Write};

#[cfg(unix)]
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};

use crate::options::LogFormat;

/// Whether somebody is there to be asked.
fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether questions can be asked in this form of standard error: where each line of it is
/// JSON, a question would be none, and counts as asked of nobody.
pub fn may_ask(log_format: LogFormat) -> bool {
    log_format == LogFormat::Text && is_possible()
}

/// Asks for a line; none where the input has ended. Blocks until the answer has come.
pub fn line(question: &str) -> io::Result<Option<String>> {
    forget_typed();
    // Where nobody can read it, nobody answers it.
    let _ = write!(io::stderr(), "{question} ");
    // Whatever a terminal sends, also what is no text.
    let mut answer = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut answer)?;
    if !answer.ends_with(b"\n") {
        let _ = writeln!(io::stderr());
    }
    Ok((read > 0).then(|| String::from_utf8_lossy(&answer).trim().to_owned()))
}

/// What was typed before the question was seen is no answer to it.
#[cfg(unix)]
fn forget_typed() {
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Elsewhere there is no way to tell without unsafe code.
#[cfg(not(unix))]
fn forget_typed() {}

/// Asks whether something is to be done; whatever is not yes is no.
pub fn yes(question: &str) -> io::Result<bool> {
    let answer = line(&format!("{question} [y/N]"))?;
    Ok(is_yes(&answer.unwrap_or_default()))
}

/// Whether an answer is a yes.
fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

/// While it is held, the terminal does not show what is typed. It shows it again when this
/// is dropped, also where a signal ends the waiting for the answer.
#[cfg(unix)]
#[derive(Debug)]
pub struct NoEcho {
    before: Termios,
}

#[cfg(unix)]
impl NoEcho {
    /// From now on. What was typed before is thrown away.
    pub fn begin() -> io::Result<NoEcho> {
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(NoEcho { before })
    }
}

#[cfg(unix)]
impl Drop for NoEcho {
    fn drop(&mut self) {
        // Whatever was pasted behind the line is a secret too, and answers nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
        let _ = writeln!(io::stderr());
    }
}

/// Asks for a line that is not to be seen, while there is [`NoEcho`].
#[cfg(unix)]
pub fn hidden_line(question: &str) -> io::Result<Option<String>> {
    line(question)
}

/// Elsewhere keys are read one by one, and none is shown that nobody asks to show.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct NoEcho;

#[cfg(not(unix))]
impl NoEcho {
    /// From now on.
    pub fn begin() -> io::Result<NoEcho> {
        Ok(NoEcho)
    }
}

/// Asks for a line that is not to be seen.
#[cfg(not(unix))]
pub fn hidden_line(question: &str) -> io::Result<Option<String>> {
    let _ = write!(io::stderr(), "{question} ");
    let answer = console::Term::stderr().read_secure_line()?;
    Ok(Some(answer.trim().to_owned()))
}
