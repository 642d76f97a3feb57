//! Questions to the user at the terminal.
//!
//! Questions and answers are single lines: that works on any terminal, screen
//! readers read it out, and the terminal stays usable however the process ends. A
//! signal ends a question. The time until the answer does not count as working time.

use std::future::Future;
use std::io::{self, BufRead, IsTerminal, Write};
use std::time::Instant;

#[cfg(unix)]
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};

use anyhow::anyhow;
use thiserror::Error;

use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::{WorkTime, service};
use crate::options::LogFormat;
use crate::report::{Width, console, paragraph};
use crate::signals::{self, Interrupt, Interrupts};

/// How many columns of the terminal are left for an answer, next to its question.
const WIDTH_OF_ANSWER: usize = 20;

/// Whether the user can answer. With JSON log lines a question would be mixed with them.
pub(super) fn can_ask(log_format: LogFormat) -> bool {
    log_format == LogFormat::Text && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The terminal of a running command, and how long the command has worked.
pub(super) struct Terminal {
    pub(super) time: WorkTime,
    /// What the command does, as in "nothing was sent".
    work: &'static str,
}

/// Runs work that the user can interrupt, before anything is `done`.
pub(super) fn interruptible<T>(
    done: &'static str,
    work: impl AsyncFnOnce(&Terminal) -> Result<T, Failure>,
) -> Result<T, Failure> {
    service::block_on(async {
        let terminal = Terminal::open(done);
        let mut interrupts = signals::listen().stopped_by(StoppedBy::Usage)?;
        let working = work(&terminal);
        terminal.or_interrupted(&mut interrupts, working).await
    })
}

impl Terminal {
    pub(super) fn open(work: &'static str) -> Terminal {
        Terminal {
            time: WorkTime::start(),
            work,
        }
    }

    /// The result of `work`, unless a signal or the end of `--max-duration` comes first.
    pub(super) async fn or_interrupted<T>(
        &self,
        interrupts: &mut Interrupts,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            biased;
            interrupt = interrupts.next() => Err(match interrupt {
                Interrupt::Signal => Failure::new(StoppedBy::Signal, Cancelled(self.work)),
                Interrupt::TimeUp => Failure::new(
                    StoppedBy::MaxDuration,
                    anyhow!("`--max-duration` was over before anything was sent"),
                ),
            }),
            done = work => done,
        }
    }

    /// Asks for a line, which may be empty; `None` at the end of the input.
    pub(super) async fn line(&self, question: &str) -> Result<Option<String>, Failure> {
        self.answer(question, WIDTH_OF_ANSWER, read_line).await
    }

    pub(super) async fn hidden_line(&self, question: &str) -> Result<Option<String>, Failure> {
        #[cfg(unix)]
        let _no_echo = NoEcho::begin().stopped_by(StoppedBy::Usage)?;
        self.answer(question, WIDTH_OF_ANSWER, read_hidden_line)
            .await
    }

    /// Asks for a yes; any other answer means no.
    pub(super) async fn yes(&self, question: &str) -> Result<bool, Failure> {
        let question = format!("{question} [y/N]");
        let answer = self.answer(&question, " yes".len(), read_line).await?;
        Ok(is_yes(&answer.unwrap_or_default()))
    }

    /// Asks for one of these names, which have been listed with their numbers: by its number or
    /// by the name itself. `None` for an empty answer.
    pub(super) async fn one_of(&self, names: &[&str]) -> Result<Option<String>, Failure> {
        loop {
            let answer = self.line("Number or name (Enter cancels):").await?;
            let Some(answer) = answer.filter(|answer| !answer.is_empty()) else {
                return Ok(None);
            };
            let number = answer.parse::<usize>().ok();
            let by_number = number.and_then(|number| names.get(number.checked_sub(1)?));
            let is_named = |name: &&&str| name.eq_ignore_ascii_case(&answer);
            match by_number.or_else(|| names.iter().find(is_named)) {
                Some(name) => return Ok(Some((*name).to_owned())),
                None => note(&format!("Enter a number from 1 to {}.", names.len())),
            }
        }
    }

    /// Waits for the answer, which has room next to the question, on a thread of its own. If no
    /// answer comes, the thread ends with the process.
    async fn answer(
        &self,
        question: &str,
        room: usize,
        read: fn() -> io::Result<Option<String>>,
    ) -> Result<Option<String>, Failure> {
        let question = paragraph(question, Width::of_stderr().less(room));
        let asked = Instant::now();
        let answer = service::on_a_thread(move || {
            show(&question);
            read().stopped_by(StoppedBy::Usage)
        });
        let answer = answer.await;
        self.time.has_waited(asked.elapsed());
        answer
    }
}

fn show(question: &str) {
    forget_typed();
    console::note(&format!("{question} "));
}

/// The error if the user did not say yes.
#[derive(Debug, Error)]
#[error("Cancelled. Nothing was {0}.")]
pub(super) struct Cancelled(pub(super) &'static str);

impl From<Cancelled> for Failure {
    fn from(cancelled: Cancelled) -> Failure {
        Failure::new(StoppedBy::Usage, cancelled)
    }
}

/// Writes a choice with its number, from 1.
pub(super) fn list(at: usize, what: &str) {
    console::note(&format!("  {}  {what}\n", at + 1));
}

pub(super) fn note(text: &str) {
    console::note(&format!("{}\n", paragraph(text, Width::of_stderr())));
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.to_lowercase().as_str(), "y" | "yes")
}

fn read_line() -> io::Result<Option<String>> {
    // A terminal can send anything, even text that is not Unicode.
    let mut answer = Vec::new();
    let read = io::stdin().lock().read_until(b'\n', &mut answer)?;
    if !answer.ends_with(b"\n") {
        let _ = writeln!(io::stderr());
    }
    Ok((read > 0).then(|| String::from_utf8_lossy(&answer).trim().to_owned()))
}

#[cfg(unix)]
fn read_hidden_line() -> io::Result<Option<String>> {
    read_line()
}

#[cfg(not(unix))]
fn read_hidden_line() -> io::Result<Option<String>> {
    let answer = ::console::Term::stderr().read_secure_line()?;
    Ok(Some(answer.trim().to_owned()))
}

/// Drops what was typed before the question was visible: it is no answer to it.
#[cfg(unix)]
fn forget_typed() {
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Other systems cannot do this without unsafe code.
#[cfg(not(unix))]
fn forget_typed() {}

/// Hides what is typed, until it is dropped. A signal that ends the question drops it too.
#[cfg(unix)]
struct NoEcho {
    before: Termios,
}

#[cfg(unix)]
impl NoEcho {
    fn begin() -> io::Result<NoEcho> {
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
        // This drops pasted input after the line: it is part of a secret too.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.before);
        let _ = writeln!(io::stderr());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        for yes in ["y", "Y", "yes", "YES"] {
            assert!(is_yes(yes), "{yes}");
        }
        for no in ["", "n", "no", "j", "yes please", "1"] {
            assert!(!is_yes(no), "{no}");
        }
    }
}
