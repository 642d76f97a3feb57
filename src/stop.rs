//! Why a run ends early, as data. Only `report::stop_text` puts it into words.

use std::num::NonZeroU32;

use jiff::Timestamp;

use crate::api::verdict::FatalCause;
use crate::exit::{ExitCode, StoppedBy};
use crate::lead::{CampaignId, ErrorCode};
use crate::ledger::LedgerError;
use crate::message::{Message, Template};
use crate::signals::Interrupt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub reason: StopReason,
    /// What the service said, with the token masked. Everyone who operates the run reads it, so it
    /// holds no phone numbers and no values of the row that triggered the stop.
    pub said: Option<String>,
    /// Another stop that would have ended the run by itself, and needs attention too.
    pub also: Option<Box<Stop>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The service refuses in a way that likely holds for every row.
    Refused(FatalCause),
    /// This many successes in a row could not be read.
    UnreadableAnswers(u32),
    NoUsableAnswer {
        rows: u32,
        last: ErrorCode,
    },
    /// No connection can be made, and trying again changes nothing until it is cured.
    NoConnection {
        why: String,
        cure: Template,
    },
    /// This many rows in a row were rejected with the same status and text.
    RejectedAlike(NonZeroU32),
    /// No answer about any row for longer than `--max-outage`.
    NoAnswers {
        since: Timestamp,
        last: Option<ErrorCode>,
        detail: Option<String>,
    },
    /// The service asks for a wait that ends later than `--max-outage` allows.
    AskedToWait {
        until: Timestamp,
        why: ErrorCode,
    },
    /// This many rows are left, and no further event would get them sent: a bug.
    Stuck(u64),
    Interrupted(Interrupt),
    /// The thread that writes the results has ended; it reports the reason itself.
    ResultsEnded,
    /// These campaigns were refused while others continued; never empty.
    Campaigns {
        refused: Vec<(CampaignId, Stop)>,
        /// Whether leads of other campaigns were created.
        others_were_sent: bool,
    },
    Error {
        by: StoppedBy,
        message: Message,
    },
    /// The service does not have a call that is needed. The text is what it has said instead.
    NotOffered {
        call: &'static str,
        text: String,
    },
    TestUnanswered {
        code: ErrorCode,
        /// Whether the lead may have been created nevertheless.
        may_be_made: bool,
    },
    TestThrottled {
        code: ErrorCode,
        until: Option<Timestamp>,
    },
    /// The token was refused for a test lead, and its file holds another token by now.
    TokenReplaced,
    /// A test lead was interrupted while it waited for its answer. If the attempt ended with a stop
    /// of its own, that is in [`Stop::also`].
    TestInterrupted(Interrupt),
}

impl Stop {
    /// A stop about which the service said nothing.
    pub fn new(reason: StopReason) -> Stop {
        Stop {
            reason,
            said: None,
            also: None,
        }
    }

    pub fn error(by: StoppedBy, message: Message) -> Stop {
        Stop::new(StopReason::Error { by, message })
    }

    #[must_use]
    pub fn saying(self, said: impl Into<String>) -> Stop {
        Stop {
            said: Some(said.into()),
            ..self
        }
    }

    /// The same stop, with `other` added to [`Stop::also`].
    #[must_use]
    pub fn with(self, other: Stop) -> Stop {
        let other = match self.also {
            None => other,
            Some(also) => also.with(other),
        };
        Stop {
            also: Some(Box::new(other)),
            ..self
        }
    }

    /// The worse of two reasons to stop, with the other one in [`Stop::also`].
    pub fn both(earlier: Option<Stop>, other: Stop) -> Stop {
        match earlier {
            None => other,
            Some(stop) if stop.is_as_bad_as(&other) => stop.with(other),
            Some(stop) => other.with(stop),
        }
    }

    fn is_as_bad_as(&self, other: &Stop) -> bool {
        self.by().exit_code() >= other.by().exit_code()
    }

    /// Whether a signal or the end of `--max-duration` is the reason: no error.
    pub fn is_interrupted(&self) -> bool {
        self.by().exit_code() == ExitCode::Interrupted
    }

    /// The reason in one word, for JSON.
    pub fn by(&self) -> StoppedBy {
        match &self.reason {
            StopReason::Refused(cause) => (*cause).into(),
            StopReason::UnreadableAnswers(_) | StopReason::NotOffered { .. } => {
                StoppedBy::Unreadable
            }
            StopReason::NoUsableAnswer { last: code, .. }
            | StopReason::TestUnanswered { code, .. }
            | StopReason::TestThrottled { code, .. } => match code {
                ErrorCode::UnreadableAnswer => StoppedBy::Unreadable,
                _ => StoppedBy::Outage,
            },
            StopReason::NoConnection { .. }
            | StopReason::NoAnswers { .. }
            | StopReason::AskedToWait { .. }
            | StopReason::Stuck(_) => StoppedBy::Outage,
            StopReason::RejectedAlike(_) => StoppedBy::Rejections,
            StopReason::Interrupted(interrupt) | StopReason::TestInterrupted(interrupt) => {
                match interrupt {
                    Interrupt::Signal => StoppedBy::Signal,
                    Interrupt::TimeUp => StoppedBy::MaxDuration,
                }
            }
            StopReason::ResultsEnded => StoppedBy::Disk,
            StopReason::Campaigns { refused, .. } => refused
                .first()
                .map_or(StoppedBy::Campaign, |(_, stop)| stop.by()),
            StopReason::Error { by, .. } => *by,
            StopReason::TokenReplaced => StoppedBy::Token,
        }
    }

    /// The reason to stop with the higher exit code; if both are equal, the earlier one.
    pub fn worse(earlier: Option<Stop>, other: Stop) -> Stop {
        match earlier {
            Some(stop) if stop.is_as_bad_as(&other) => stop,
            _ => other,
        }
    }
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Stop {
        Stop::error(StoppedBy::Ledger, error.0)
    }
}
