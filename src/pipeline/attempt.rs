//! One row's attempts: what has happened to it so far, and what comes next.
//!
//! Rule: pure; chance is handed in.

use std::time::Duration;

use jiff::Timestamp;

use super::window::Slot;
use super::{Policy, Target};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::intake::{Earlier, OnUncertain};
use crate::lead::{ErrorCode, RowOutcome, Status};
use crate::ledger::Claim;

/// The shortest wait before a row is sent again that may have been taken: time
/// for the service to finish with the first attempt.
const SHORTEST_RESEND: Duration = Duration::from_secs(1);

/// A reason in one word, and in a sentence.
type Reason = (ErrorCode, String);

/// A row that is being sent.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) slot: Slot,
    /// The row, its number and its campaign.
    pub(super) claim: Claim,
    /// Requests started, by earlier processes of this run too.
    pub(super) attempts: u32,
    /// Attempts without a usable answer, as `--max-attempts` counts them.
    failures: u32,
    /// The status of the last answer.
    http_status: Option<u16>,
    /// Why an attempt may have been taken, if one may.
    doubt: Option<Reason>,
}

/// What is to be done with a row after an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It has its outcome.
    Settle(RowOutcome),
    /// Another attempt after a while.
    Again { after: Duration, why: ErrorCode },
    /// Another attempt, once the whole pipeline has waited.
    Hold {
        wait: Option<Duration>,
        why: ErrorCode,
    },
}

impl Job {
    /// A row that is to be sent, after what was tried earlier.
    pub(super) fn new(slot: Slot, claim: Claim, earlier: Option<&Earlier>) -> Job {
        let doubt = earlier.and_then(|earlier| earlier.doubt.clone());
        Job {
            slot,
            claim,
            attempts: earlier.map_or(0, |earlier| earlier.attempts),
            failures: 0,
            http_status: None,
            doubt: doubt.map(|why| (ErrorCode::AnswerLost, why)),
        }
    }

    /// What is not to be in flight twice.
    pub(super) fn target(&self) -> Target {
        (self.claim.campaign, self.claim.number)
    }

    /// What an answer means for the row; `chance` from 0 to 1 decides the wait.
    pub(super) fn judge(&mut self, answer: Answer, policy: &Policy, chance: f64) -> Step {
        self.http_status = answer.http_status;
        match answer.verdict {
            Verdict::Created { lead_id, remark } => {
                Step::Settle(self.settled(Status::Created, Some(lead_id), remark))
            }
            Verdict::Duplicate { lead_id, text } => {
                Step::Settle(self.settled(Status::Duplicate, lead_id, Some(text)))
            }
            Verdict::Rejected { code, text } | Verdict::Fatal { code, text, .. } => {
                Step::Settle(self.refused((code, text)))
            }
            Verdict::RetryLater { wait, code, .. } => Step::Hold { wait, why: code },
            Verdict::NeverTaken { code, text } => {
                self.failures += 1;
                if self.failures < policy.max_attempts {
                    let after = policy.backoff.delay(self.failures, chance);
                    return Step::Again { after, why: code };
                }
                Step::Settle(match self.doubt.take() {
                    None => self.outcome(Status::Failed, (code, text)),
                    Some(doubt) => self.outcome(Status::Uncertain, doubt),
                })
            }
            Verdict::PerhapsTaken { code, text } => {
                self.failures += 1;
                if policy.on_uncertain == OnUncertain::Hold || self.failures >= policy.max_attempts
                {
                    return Step::Settle(self.outcome(Status::Uncertain, (code, text)));
                }
                self.doubt = Some((code, text));
                let after = policy.backoff.delay(self.failures, chance);
                Step::Again {
                    after: after.max(SHORTEST_RESEND),
                    why: code,
                }
            }
        }
    }

    /// The outcome of a row that is not tried again, if an attempt of it may have
    /// been taken.
    pub(super) fn uncertain(&mut self) -> Option<RowOutcome> {
        let doubt = self.doubt.take()?;
        Some(self.outcome(Status::Uncertain, doubt))
    }

    /// The outcome of a row whose answer is not waited for.
    pub(super) fn abandoned(&self) -> RowOutcome {
        let reason = (
            ErrorCode::AnswerLost,
            "the run was ended before the answer came".to_owned(),
        );
        self.outcome(Status::Uncertain, reason)
    }

    fn settled(&self, status: Status, lead_id: Option<String>, said: Option<String>) -> RowOutcome {
        // With an earlier attempt in doubt, it is not known which of them made the lead.
        let lost = self
            .doubt
            .as_ref()
            .map(|(_, why)| format!("the answer to an earlier attempt was lost ({why})"));
        RowOutcome {
            lead_id,
            error_code: lost.is_some().then_some(ErrorCode::AnswerLost),
            error: match (lost, said) {
                (Some(lost), Some(said)) => Some(format!("{lost}; {said}")),
                (lost, said) => lost.or(said),
            },
            settled_at: Some(Timestamp::now()),
            ..self.bare(status)
        }
    }

    /// A refusal says nothing of an earlier attempt that may have been taken: only
    /// `created` and `duplicate` settle that.
    fn refused(&mut self, reason: Reason) -> RowOutcome {
        match self.doubt.take() {
            None => self.outcome(Status::Rejected, reason),
            Some((code, why)) => {
                let text = format!("{why}; sent again, it was refused: {}", reason.1);
                self.outcome(Status::Uncertain, (code, text))
            }
        }
    }

    fn outcome(&self, status: Status, (code, text): Reason) -> RowOutcome {
        RowOutcome {
            error_code: Some(code),
            error: Some(text),
            ..self.bare(status)
        }
    }

    fn bare(&self, status: Status) -> RowOutcome {
        RowOutcome {
            http_status: self.http_status,
            attempts: self.attempts,
            ..RowOutcome::not_sent(status, None, None)
        }
    }
}
