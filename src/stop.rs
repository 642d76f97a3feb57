//! Why a run ends early, as data. `report::stop_text` puts it into words, and nothing else
//! does.

use std::num::NonZeroU32;

use jiff::Timestamp;

use crate::api::verdict::FatalCause;
use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode};
use crate::message::Message;
use crate::signals::Interrupt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub reason: StopReason,
    /// What the service said, with the token masked. All who operate the run read it, so it
    /// holds no phone numbers and no values of the row that met it.
    pub said: Option<String>,
    /// What would have stopped the run otherwise, and needs attention too.
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
    /// No connection can be made, and to try again changes nothing: a sentence of ours.
    NoConnection(String),
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
    /// This many rows are left, and nothing that could happen would get them sent: a bug.
    Stuck(u64),
    Interrupted(Interrupt),
    /// The thread that writes the results has ended; it reports why.
    ResultsEnded,
    /// These campaigns were refused while others went on; never empty.
    Campaigns {
        refused: Vec<(CampaignId, Stop)>,
        /// Whether leads of other campaigns were made.
        others_were_sent: bool,
    },
    Error {
        by: StoppedBy,
        message: Message,
    },
    TestUnanswered {
        code: ErrorCode,
        /// Whether the lead may have been made all the same.
        may_be_made: bool,
    },
    TestThrottled {
        code: ErrorCode,
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
