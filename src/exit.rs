//! How a command ends: exit codes, and what stopped a run.

use std::fmt;

use serde_json::Value;

use crate::message::Message;

/// The exit codes, fixed for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Complete, and no row needs attention.
    Complete = 0,
    /// Complete, but some rows are invalid, rejected, failed or uncertain.
    Problems = 1,
    /// Nothing was sent because of usage, configuration, mapping or unreadable input.
    Usage = 2,
    Service = 3,
    /// Stopped before the end, as requested.
    Interrupted = 4,
    Machine = 5,
    Busy = 6,
}

impl ExitCode {
    /// Every code with what it means, for the help and the manual.
    pub const MEANINGS: [(ExitCode, &str); 7] = [
        (ExitCode::Complete, "complete"),
        (
            ExitCode::Problems,
            "complete, but some rows are invalid, rejected, failed or uncertain",
        ),
        (
            ExitCode::Usage,
            "nothing was sent: fix a flag, the mapping or the list",
        ),
        (
            ExitCode::Service,
            "stopped by the service; the same command continues",
        ),
        (
            ExitCode::Interrupted,
            "stopped by a signal or --max-duration; the same command continues",
        ),
        (
            ExitCode::Machine,
            "stopped by this computer; when that is fixed, the same command continues",
        ),
        (ExitCode::Busy, "another run is in progress"),
    ];
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}

/// What stopped a run, or kept it from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppedBy {
    /// The token is not accepted, or not allowed to create leads.
    Token,
    /// The campaign does not exist or accepts no leads.
    Campaign,
    /// Balance, credit or plan of the account.
    Balance,
    /// The service redirects to another address or to a login.
    Redirect,
    /// The service does not answer.
    Outage,
    /// The answers cannot be those of the service.
    Unreadable,
    /// The service rejects consecutive rows for the same reason.
    Rejections,
    Signal,
    MaxDuration,
    /// The disk, while results were written.
    Disk,
    /// The ledger cannot be used.
    Ledger,
    /// The input changed or became unreadable during the run.
    Input,
    /// Another run is sending, or writes the same outputs.
    Busy,
    /// Flags, configuration or mapping.
    Usage,
}

impl StoppedBy {
    /// Every reason with its word in the JSON summary, in the order of the enum.
    pub const WORDS: [(StoppedBy, &str); 14] = [
        (StoppedBy::Token, "token"),
        (StoppedBy::Campaign, "campaign"),
        (StoppedBy::Balance, "balance"),
        (StoppedBy::Redirect, "redirect"),
        (StoppedBy::Outage, "outage"),
        (StoppedBy::Unreadable, "unreadable"),
        (StoppedBy::Rejections, "rejections"),
        (StoppedBy::Signal, "signal"),
        (StoppedBy::MaxDuration, "max_duration"),
        (StoppedBy::Disk, "disk"),
        (StoppedBy::Ledger, "ledger"),
        (StoppedBy::Input, "input"),
        (StoppedBy::Busy, "busy"),
        (StoppedBy::Usage, "usage"),
    ];

    pub fn as_str(self) -> &'static str {
        StoppedBy::WORDS[self as usize].1
    }

    pub fn exit_code(self) -> ExitCode {
        match self {
            StoppedBy::Token
            | StoppedBy::Campaign
            | StoppedBy::Balance
            | StoppedBy::Redirect
            | StoppedBy::Outage
            | StoppedBy::Unreadable
            | StoppedBy::Rejections => ExitCode::Service,
            StoppedBy::Signal | StoppedBy::MaxDuration => ExitCode::Interrupted,
            StoppedBy::Disk | StoppedBy::Ledger | StoppedBy::Input => ExitCode::Machine,
            StoppedBy::Busy => ExitCode::Busy,
            StoppedBy::Usage => ExitCode::Usage,
        }
    }
}

impl fmt::Display for StoppedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A command that ends without having done its work. Errors
/// are for this alone: the outcome of a row is data.
#[derive(Debug)]
pub struct Failure {
    pub stopped_by: StoppedBy,
    /// A message, or an error whose type is looked at, with a message as its context. Any other
    /// error is shown with its causes.
    pub error: anyhow::Error,
    /// How many rows the inputs have, if they were read before the command ended.
    pub rows_total: Option<u64>,
    /// Which columns are used, if that was found out before.
    pub mapping: Option<Value>,
}

impl Failure {
    pub fn new(stopped_by: StoppedBy, error: impl Into<anyhow::Error>) -> Failure {
        Failure {
            stopped_by,
            error: error.into(),
            rows_total: None,
            mapping: None,
        }
    }

    /// The user has to change something; the hint says what.
    pub fn usage(message: Message) -> Failure {
        Failure::new(StoppedBy::Usage, message)
    }

    pub fn message(&self) -> Message {
        Message::of(&self.error)
    }

    pub fn of_rows(self, rows: u64) -> Failure {
        Failure {
            rows_total: Some(rows),
            ..self
        }
    }

    pub fn of_mapping(self, mapping: Value) -> Failure {
        Failure {
            mapping: Some(mapping),
            ..self
        }
    }
}

/// Assigns an error to what it stops, so that every caller has to choose.
pub trait OrStopped<T> {
    fn stopped_by(self, by: StoppedBy) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrStopped<T> for Result<T, E> {
    fn stopped_by(self, by: StoppedBy) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(by, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_the_order_of_the_reasons() {
        for (by, word) in StoppedBy::WORDS {
            assert_eq!(by.as_str(), word);
        }
    }
}
