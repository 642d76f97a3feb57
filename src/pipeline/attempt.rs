//! One row's attempts: what has happened to it so far, and what comes next.

use std::time::Duration;

use jiff::Timestamp;

use super::window::Slot;
use super::{Policy, Target};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::backoff;
use crate::intake::{Earlier, OnUncertain};
use crate::lead::{ErrorCode, RowOutcome, Status};
use crate::ledger::Claim;

/// The shortest wait before a row is sent again that may have been taken: time
/// for the service to finish with the first attempt.
pub(super) const SHORTEST_RESEND: Duration = Duration::from_secs(1);

type Reason = (ErrorCode, String);

#[derive(Debug)]
pub(super) struct Job {
    pub(super) slot: Slot,
    pub(super) claim: Claim,
    /// Requests started, by earlier processes of this run too.
    pub(super) attempts: u32,
    failures: Failures,
    http_status: Option<u16>,
    /// Why an attempt may have been taken, if one may have been.
    doubt: Option<Reason>,
}

/// How many answers about rows there have been, and outages: so that what failed by itself can
/// be told from what failed with all others.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    now: u64,
    /// Those in which the service went away: what failed in them says nothing of the rows.
    forgiven: Vec<u64>,
}

impl Epochs {
    pub(super) fn answered(&mut self) {
        self.now += 1;
    }

    pub(super) fn went_away(&mut self) {
        self.forgiven.push(self.now);
        self.now += 1;
    }
}

/// Attempts without a usable answer, as `--max-attempts` counts them.
///
/// Those after which no other row was answered yet are kept apart: if it turns out that
/// the service was away, they say nothing of the row.
#[derive(Debug, Default)]
struct Failures {
    own: u32,
    /// In the epoch of the last one.
    recent: u32,
    epoch: u64,
}

impl Failures {
    fn settle(&mut self, epochs: &Epochs) {
        if self.epoch != epochs.now {
            let recent = std::mem::take(&mut self.recent);
            if !epochs.forgiven.contains(&self.epoch) {
                self.own += recent;
            }
            self.epoch = epochs.now;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Settle(RowOutcome),
    /// It has had all attempts that it may have, none of them with a usable answer; this
    /// is its outcome, unless the service turns out to be away.
    Exhausted(RowOutcome),
    Again {
        after: Duration,
        why: ErrorCode,
    },
    /// Another attempt, once the whole pipeline has waited.
    Later,
}

impl Job {
    pub(super) fn new(slot: Slot, claim: Claim, earlier: Option<&Earlier>) -> Job {
        let doubt = earlier.and_then(|earlier| earlier.doubt.clone());
        Job {
            slot,
            claim,
            attempts: earlier.map_or(0, |earlier| earlier.attempts),
            failures: Failures::default(),
            http_status: None,
            doubt: doubt.map(|why| (ErrorCode::AnswerLost, why)),
        }
    }

    /// What must not be in flight twice.
    pub(super) fn target(&self) -> Target {
        (self.claim.campaign, self.claim.number)
    }

    pub(super) fn is_suspect(&mut self, epochs: &Epochs) -> bool {
        self.failures.settle(epochs);
        self.failures.own > 0
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.doubt.is_some()
    }

    /// What comes next after an answer. `is_excused` says that the service was away: that no
    /// answer came says nothing of the row then.
    pub(super) fn judge(
        &mut self,
        answer: Answer,
        policy: &Policy,
        epochs: &Epochs,
        is_excused: bool,
    ) -> Step {
        let chance = fastrand::f64();
        let fail = |job: &mut Job| {
            // The outage decides when the next attempt starts, for all rows.
            let excused = is_excused.then_some(SHORTEST_RESEND);
            excused.or_else(|| job.fail(policy.max_attempts, epochs, chance))
        };
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
            Verdict::RetryLater { .. } => Step::Later,
            Verdict::TokenReplaced => {
                self.attempts -= 1;
                Step::Later
            }
            Verdict::NeverTaken { code, text, .. } => {
                if let Some(after) = fail(self) {
                    return Step::Again { after, why: code };
                }
                Step::Exhausted(match self.doubt.clone() {
                    None => self.outcome(Status::Failed, (code, text)),
                    Some(doubt) => self.outcome(Status::Uncertain, doubt),
                })
            }
            Verdict::PerhapsTaken { code, text } => {
                let doubt = (code, text);
                if policy.on_uncertain == OnUncertain::Hold {
                    return Step::Settle(self.outcome(Status::Uncertain, doubt));
                }
                self.doubt = Some(doubt.clone());
                match fail(self) {
                    None => Step::Exhausted(self.outcome(Status::Uncertain, doubt)),
                    Some(after) => Step::Again {
                        after: after.max(SHORTEST_RESEND),
                        why: code,
                    },
                }
            }
        }
    }

    /// Records that the row may have been taken, where an answer says so.
    pub(super) fn note_doubt(&mut self, answer: Answer) {
        if let Verdict::PerhapsTaken { code, text } = answer.verdict {
            self.http_status = answer.http_status;
            self.doubt = Some((code, text));
        }
    }

    /// Counts an attempt without a usable answer. Returns how long the row waits for the
    /// next one; nothing if it has had all that it may have.
    fn fail(&mut self, most: u32, epochs: &Epochs, chance: f64) -> Option<Duration> {
        self.failures.settle(epochs);
        self.failures.recent += 1;
        let failures = self.failures.own + self.failures.recent;
        (failures < most).then(|| backoff::delay(failures, chance))
    }

    /// The outcome of a row that is not tried again, if an attempt of it may have
    /// been taken.
    pub(super) fn uncertain(&mut self) -> Option<RowOutcome> {
        let doubt = self.doubt.take()?;
        Some(self.outcome(Status::Uncertain, doubt))
    }

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
                // What an earlier start of the program has recorded may tell of a refusal
                // already: it would grow with each start.
                let lost = match code {
                    ErrorCode::AnswerLost => "an earlier attempt may have been taken",
                    _ => &why,
                };
                let text = format!("{lost}; sent again, it was refused: {}", reason.1);
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
