//! Why a run ends early, as data. `report::stop_text` puts it into words, and nothing else
//! does.

use std::fmt;
use std::num::NonZeroU32;

use jiff::Timestamp;

use crate::api::verdict::FatalCause;
use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode};
use crate::signals::Interrupt;

/// Why a run ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// What happened.
    pub reason: StopReason,
    /// What the service said, with the token masked. All who operate the run read it, so it
    /// holds no phone numbers and no values of the row that met it.
    pub said: Option<String>,
    /// What would have stopped the run otherwise, and needs attention too.
    pub also: Option<Box<Stop>>,
}

/// What happened that ends a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The service refuses in a way that likely holds for every row.
    Refused(FatalCause),
    /// This many successes in a row could not be read.
    UnreadableAnswers(u32),
    /// None of the first rows brought a usable answer.
    NoUsableAnswer {
        /// How many rows.
        rows: u32,
        /// What came of the last attempt.
        last: ErrorCode,
    },
    /// No connection can be made, and to try again changes nothing: a sentence of ours.
    NoConnection(String),
    /// This many rows in a row were rejected with the same status and text.
    RejectedAlike(NonZeroU32),
    /// No answer about any row for longer than `--max-outage`.
    NoAnswers {
        /// Since when.
        since: Timestamp,
        /// What came of the last attempt.
        last: Option<ErrorCode>,
        /// The same in a sentence of ours, where there was no answer at all.
        detail: Option<String>,
    },
    /// The service asks for a wait that ends later than `--max-outage` allows.
    AskedToWait {
        /// Until when.
        until: Timestamp,
        /// With which answer it asked.
        why: ErrorCode,
    },
    /// This many rows are left, and nothing that could happen would get them sent: a bug.
    Stuck(u64),
    /// Rows are left that were not reached.
    Interrupted(Interrupt),
    /// The thread that writes the results has ended; it reports why.
    ResultsEnded,
    /// These campaigns were refused while others went on; never empty.
    Campaigns {
        /// Each with its own reason.
        refused: Vec<(CampaignId, Stop)>,
        /// Whether leads of other campaigns were made.
        others_were_sent: bool,
    },
    /// An error of this machine or its files: what happened and what to do.
    Error {
        /// What it stops.
        by: StoppedBy,
        /// The error's own text.
        text: String,
    },
    /// A test lead got no usable answer.
    TestUnanswered {
        /// What came instead.
        code: ErrorCode,
        /// Whether the lead may have been made all the same.
        may_be_made: bool,
    },
    /// The service takes no test lead for now.
    TestThrottled {
        /// With which answer it said so.
        code: ErrorCode,
        /// Until when it asks to be left alone.
        until: Option<Timestamp>,
    },
    /// The token was refused for a test lead, and its file holds another one by now.
    TokenReplaced,
    /// A test lead was interrupted while its answer was awaited; what came of it is in
    /// [`Stop::also`], if anything did.
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

    /// A stop for an error that says what happened and what to do.
    pub fn error(by: StoppedBy, error: impl fmt::Display) -> Stop {
        let text = error.to_string();
        Stop::new(StopReason::Error { by, text })
    }

    /// The same with what the service said.
    #[must_use]
    pub fn saying(self, said: impl Into<String>) -> Stop {
        Stop {
            said: Some(said.into()),
            ..self
        }
    }

    /// The same with what would have stopped the run otherwise.
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

    /// The worse of two reasons to stop, with the other one beside it.
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

    /// The reason in one word, as JSON has it.
    pub fn by(&self) -> StoppedBy {
        match &self.reason {
            StopReason::Refused(cause) => (*cause).into(),
            StopReason::UnreadableAnswers(_) => StoppedBy::Unreadable,
            StopReason::NoUsableAnswer { last: code, .. }
            | StopReason::TestUnanswered { code, .. }
            | StopReason::TestThrottled { code, .. } => match code {
                ErrorCode::UnreadableAnswer => StoppedBy::Unreadable,
                _ => StoppedBy::Outage,
            },
            StopReason::NoConnection(_)
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

    /// Of two reasons to stop, the one with the higher exit code; the earlier one among
    /// equals.
    pub fn worse(earlier: Option<Stop>, other: Stop) -> Stop {
        match earlier {
            Some(stop) if stop.is_as_bad_as(&other) => stop,
            _ => other,
        }
    }
}
