//! The attempts of one row: what has happened so far, and what to do next.

use std::time::Duration;

use super::window::Slot;
use super::{Policy, Target};
use crate::api::Answer;
use crate::api::verdict::{Verdict, naming};
use crate::backoff;
use crate::clock;
use crate::intake::{Earlier, OnUncertain};
use crate::lead::{ErrorCode, RowOutcome, Status};
use crate::ledger::{Attempted, Claim};
use crate::message::Text;
use crate::simulation::{Fault, is_planted};

/// The shortest wait before a row that may have been taken is sent again: time for the
/// service to finish the first attempt.
pub(super) const SHORTEST_RESEND: Duration = Duration::from_secs(1);

/// How often a row must be asked to come back, at least, to end as refused: a limit of requests
/// may hit the same row twice.
const FEWEST_WAITS: u32 = 3;

/// If more rows than this are put off one after the other, it is the service that is busy.
const MOST_PUT_OFF: u32 = 4;

type Reason = (ErrorCode, Text);

#[derive(Debug)]
pub(super) struct Job {
    pub(super) slot: Slot,
    pub(super) claim: Claim,
    /// Requests started, including those of earlier processes of this run.
    pub(super) attempts: u32,
    failures: Failures,
    http_status: Option<u16>,
    /// When this process has sent it, …
    attempted: Option<Attempted>,
    /// … and the same before its last attempt.
    attempted_before: Option<Attempted>,
    /// Why an earlier attempt may have been taken, if that is possible.
    doubt: Option<Reason>,
    /// Whether its claim was not granted, so that nothing of it is in the ledger.
    pub(super) is_unclaimed: bool,
    /// Whether another run has claimed its number, and may be sending it.
    pub(super) is_others: bool,
    /// Whether an earlier start has tried it, …
    pub(super) was_tried: bool,
    /// … and could not tell if the service refused the row or everything.
    pub(super) was_refused: bool,
    pub(super) waits: Waits,
    /// How many refusals had come that may hold for all when it was sent.
    pub(super) refusals_before: u64,
}

/// How often the service has asked a row to come back later.
#[derive(Debug, Default)]
pub(super) struct Waits {
    asked: u32,
    /// Those that count as its own: other rows were taken in between. Or no other was left, and it is
    /// known that the service takes others.
    pub(super) among_others: u32,
    /// How many had been taken at the first one, and at the last one.
    first: u64,
    taken: u64,
    /// What the last one said, unless it was about the limit for all.
    said: Option<Reason>,
}

impl Waits {
    fn count(&mut self, periods: &OutagePeriods, was_tried: bool) -> u32 {
        self.asked += 1;
        if self.asked == 1 {
            self.first = periods.taken;
        }
        let is_known = (periods.taken > 0 || was_tried) && periods.put_off <= MOST_PUT_OFF;
        let is_own = self.first < periods.taken || self.said.is_some() && is_known;
        let is_last = !periods.has_others && is_own;
        if self.among_others == 0 || self.taken < periods.taken || is_last {
            self.among_others += 1;
            self.taken = periods.taken;
        }
        self.among_others
    }
}

/// Counts answers about rows and outages, to tell a row that fails by itself from one that
/// fails together with all others.
#[derive(Debug, Default)]
pub(super) struct OutagePeriods {
    now: u64,
    /// How many rows were taken.
    taken: u64,
    /// How many rows were put off for the first time since then.
    put_off: u32,
    /// Whether any row is left that was not tried yet.
    pub(super) has_others: bool,
    /// Those in which the service went away: failures in them say nothing about the rows.
    forgiven: Vec<u64>,
}

impl OutagePeriods {
    pub(super) fn answered(&mut self) {
        self.now += 1;
    }

    pub(super) fn took(&mut self) {
        self.taken += 1;
        self.put_off = 0;
    }

    /// Counts a row that is put off, if it is the first time.
    pub(super) fn putting_off(&mut self, job: &Job) {
        self.put_off += u32::from(job.waits.asked == 0);
    }

    pub(super) fn went_away(&mut self) {
        self.forgiven.push(self.now);
        self.now += 1;
    }
}

/// Attempts without a usable answer, as `--max-attempts` counts them.
///
/// Those since the last answer to another row are counted separately: if the service turns out
/// to be away, they say nothing about the row.
#[derive(Debug, Default)]
struct Failures {
    own: u32,
    /// Those in `epoch`.
    recent: u32,
    epoch: u64,
}

impl Failures {
    fn settle(&mut self, periods: &OutagePeriods) {
        if self.epoch != periods.now {
            let recent = std::mem::take(&mut self.recent);
            if !periods.forgiven.contains(&self.epoch) {
                self.own += recent;
            }
            self.epoch = periods.now;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Settle(RowOutcome),
    /// All allowed attempts ended without a usable answer. This is the outcome, unless the
    /// service turns out to be away.
    Exhausted(RowOutcome),
    Again {
        after: Duration,
        why: ErrorCode,
    },
    /// Another attempt after the wait that holds the whole pipeline.
    Later {
        /// How long others go first, if they do.
        behind: Option<Duration>,
    },
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
            attempted: None,
            attempted_before: None,
            doubt: doubt.map(|why| (ErrorCode::AnswerLost, why)),
            is_unclaimed: false,
            is_others: false,
            was_tried: earlier.is_some(),
            was_refused: earlier.is_some_and(|earlier| earlier.was_refused),
            waits: Waits::default(),
            refusals_before: 0,
        }
    }

    /// Counts an attempt that starts now.
    pub(super) fn start(&mut self) {
        let now = clock::now();
        self.attempts += 1;
        self.attempted_before = self.attempted;
        self.attempted = Some(Attempted {
            first: self.attempted.map_or(now, |earlier| earlier.first),
            last: now,
            ended: None,
        });
    }

    /// When this process has sent it so that it may have made a lead: the attempt that was refused as a
    /// duplicate has made none.
    pub(super) fn attempted(&self, outcome: &RowOutcome) -> Option<Attempted> {
        match outcome.status {
            Status::Duplicate => self.attempted_before,
            _ => self.attempted,
        }
    }

    pub(super) fn target(&self) -> Target {
        (self.claim.campaign, self.claim.number)
    }

    pub(super) fn is_suspect(&mut self, periods: &OutagePeriods) -> bool {
        self.failures.settle(periods);
        self.failures.own > 0
    }

    pub(super) fn is_in_doubt(&self) -> bool {
        self.doubt.is_some()
    }

    /// Whether neither this process nor an earlier one has tried it.
    pub(super) fn is_fresh(&self) -> bool {
        !self.was_tried && self.attempts == 0
    }

    /// Whether the service has asked it to come back; twice, where that may be about a limit for all.
    pub(super) fn is_put_off(&self) -> bool {
        self.waits.said.is_some() || self.waits.asked > 1
    }

    /// Whether others go first: it was put off, and no other row was taken since.
    pub(super) fn lets_others_go(&self, periods: &OutagePeriods) -> bool {
        self.is_put_off() && self.waits.taken == periods.taken
    }

    /// How long this row alone waits, if that is what the answer means: the service has asked it
    /// before, and has taken other rows since. A limit of requests holds for all.
    pub(super) fn own_wait(&self, verdict: &Verdict, periods: &OutagePeriods) -> Option<Duration> {
        let Verdict::RetryLater { wait, code, .. } = verdict else {
            return None;
        };
        let is_alone = self.waits.among_others > 0 && self.waits.taken < periods.taken;
        let guess = || backoff::long_delay(self.waits.among_others, fastrand::f64());
        (is_alone && *code != ErrorCode::Http(429)).then(|| wait.unwrap_or_else(guess))
    }

    /// The end of a row that was never taken by this attempt; an earlier one may have been.
    fn not_taken(&self, reason: Reason) -> RowOutcome {
        match self.doubt.clone() {
            None => self.outcome(Status::Failed, reason),
            Some(doubt) => self.outcome(Status::Uncertain, doubt),
        }
    }

    /// After an answer that leaves open whether the lead was made: `is_held` rows are not sent again.
    fn perhaps_taken(
        &mut self,
        doubt: Reason,
        is_held: bool,
        fail: impl FnOnce(&mut Job) -> Option<Duration>,
    ) -> Step {
        if is_held && !is_planted(Fault::ResendWhatIsHeld) {
            return Step::Settle(self.outcome(Status::Uncertain, doubt));
        }
        self.doubt = Some(doubt.clone());
        match fail(self) {
            None => Step::Exhausted(self.outcome(Status::Uncertain, doubt)),
            Some(after) => Step::Again {
                after: after.max(SHORTEST_RESEND),
                why: doubt.0,
            },
        }
    }

    /// What to do after an answer. With `is_excused` the service was away, so a missing
    /// answer says nothing about the row.
    pub(super) fn judge(
        &mut self,
        answer: Answer,
        policy: &Policy,
        periods: &OutagePeriods,
        is_excused: bool,
    ) -> Step {
        let own_wait = self.own_wait(&answer.verdict, periods);
        let is_held = policy.on_uncertain == OnUncertain::Hold;
        let chance = fastrand::f64();
        let fail = |job: &mut Job| {
            // The outage decides when the next attempt starts, for all rows.
            let excused = is_excused.then_some(SHORTEST_RESEND);
            excused.or_else(|| job.fail(policy.max_attempts, periods, chance))
        };
        self.http_status = answer.http_status;
        let answer = with_planted_fault(answer);
        let named = |said: String| naming(&said, answer.request_id.as_deref());
        match answer.verdict {
            Verdict::Created { lead_id, remark } => {
                let remark = remark.map(Text::said);
                Step::Settle(self.settled(Status::Created, Some(lead_id), remark))
            }
            Verdict::Duplicate { lead_id, text } => {
                Step::Settle(self.settled(Status::Duplicate, lead_id, Some(Text::said(text))))
            }
            Verdict::Rejected { code, text } | Verdict::Fatal { code, text, .. } => {
                Step::Settle(self.refused((code, named(text))))
            }
            Verdict::RetryLater {
                wait,
                may_be_taken,
                code,
                text,
            } => {
                let reason = (code, named(text));
                if may_be_taken && is_held {
                    return Step::Settle(self.outcome(Status::Uncertain, reason));
                }
                let longer = own_wait.unwrap_or(wait.unwrap_or_default() + SHORTEST_RESEND);
                self.put_off(reason, may_be_taken, longer, policy.max_attempts, periods)
            }
            Verdict::TokenReplaced => {
                self.attempts -= 1;
                Step::Later { behind: None }
            }
            Verdict::NeverTaken { code, text, .. } => {
                if let Some(after) = fail(self) {
                    return Step::Again { after, why: code };
                }
                Step::Exhausted(self.not_taken((code, named(text))))
            }
            Verdict::PerhapsTaken { code, text } => {
                self.perhaps_taken((code, named(text)), is_held, fail)
            }
        }
    }

    /// The service has asked it to come back. It may mean this row alone, so others go first: for so
    /// long, if it was asked before.
    fn put_off(
        &mut self,
        reason: Reason,
        may_be_taken: bool,
        longer: Duration,
        most: u32,
        periods: &OutagePeriods,
    ) -> Step {
        let code = reason.0;
        if may_be_taken {
            self.doubt = Some(reason.clone());
        }
        let was_asked = self.waits.among_others > 0 || may_be_taken;
        let may_be_own = code.is_refusal() && code != ErrorCode::Http(429);
        self.waits.said = may_be_own.then(|| reason.clone());
        if self.waits.count(periods, self.was_tried) >= most.max(FEWEST_WAITS) {
            return Step::Settle(self.refused(reason));
        }
        let behind = match was_asked {
            true => Some(longer),
            false => may_be_own.then_some(Duration::ZERO),
        };
        Step::Later { behind }
    }

    /// Records that another run may have sent it.
    pub(super) fn doubt(&mut self, why: Text) {
        self.doubt = Some((ErrorCode::AnswerLost, why));
    }

    /// Records that the row may have been taken, if that is what the answer says.
    pub(super) fn note_doubt(&mut self, answer: Answer) {
        if let Verdict::PerhapsTaken { code, text } = &answer.verdict {
            self.http_status = answer.http_status;
            self.doubt = Some((*code, naming(text, answer.request_id.as_deref())));
        }
    }

    /// Counts an attempt without a usable answer. Returns the wait before the next one;
    /// `None` if there have been `most` attempts.
    fn fail(&mut self, most: u32, periods: &OutagePeriods, chance: f64) -> Option<Duration> {
        self.failures.settle(periods);
        self.failures.recent += 1;
        let failures = self.failures.own + self.failures.recent;
        (failures < most).then(|| backoff::delay(failures, chance))
    }

    /// The outcome of a row that is not tried again, if an attempt may have been taken.
    pub(super) fn uncertain(&mut self) -> Option<RowOutcome> {
        let doubt = self.doubt.take()?;
        Some(self.outcome(Status::Uncertain, doubt))
    }

    /// What the ledger keeps of a row whose refusal may hold for all: a later start tries it again.
    pub(super) fn refused_for_now(&mut self, answer: &Answer) -> Option<RowOutcome> {
        let Verdict::Fatal { code, text, .. } = &answer.verdict else {
            return None;
        };
        let text = naming(text, answer.request_id.as_deref());
        self.http_status = answer.http_status;
        Some(match self.doubt.clone() {
            Some(doubt) => self.outcome(Status::Uncertain, doubt),
            None => self.outcome(Status::Failed, (*code, text)),
        })
    }

    /// What the ledger keeps of a row that was put off, if the run ends first: the next start sends
    /// others before it.
    pub(super) fn put_off_for_now(&mut self) -> Option<RowOutcome> {
        let reason = self.waits.said.take()?;
        if let ErrorCode::Http(status) = reason.0 {
            self.http_status = Some(status);
        }
        Some(self.outcome(Status::Failed, reason))
    }

    pub(super) fn abandoned(&self) -> RowOutcome {
        let why = text!("the run was ended before the answer came");
        self.outcome(Status::Uncertain, (ErrorCode::AnswerLost, why))
    }

    fn settled(&self, status: Status, lead_id: Option<String>, said: Option<Text>) -> RowOutcome {
        // If an earlier attempt is in doubt, it is not known which attempt made the lead.
        let lost = self.doubt.clone();
        let lost =
            lost.map(|(_, why)| text!("the answer to an earlier attempt was lost ({why})", why));
        RowOutcome {
            lead_id,
            error_code: lost.is_some().then_some(ErrorCode::AnswerLost),
            error: match (lost, said) {
                (Some(lost), Some(said)) => Some(text!("{lost}; {said}", lost, said)),
                (lost, said) => lost.or(said),
            },
            settled_at: Some(clock::now()),
            ..self.bare(status)
        }
    }

    /// A refusal says nothing about an earlier attempt that may have been taken: only
    /// `created` and `duplicate` settle that.
    fn refused(&mut self, reason: Reason) -> RowOutcome {
        match self.doubt.take() {
            None => self.outcome(Status::Rejected, reason),
            Some((code, why)) => {
                // The text of an earlier start may already mention a refusal, and would grow
                // with each start.
                let lost = match code {
                    ErrorCode::AnswerLost => text!("an earlier attempt may have been taken"),
                    _ => why,
                };
                let text = text!(
                    "{lost}; sent again, it was refused: {why}",
                    lost,
                    why = reason.1
                );
                self.outcome(Status::Uncertain, (code, text))
            }
        }
    }

    pub(super) fn outcome(&self, status: Status, (code, text): Reason) -> RowOutcome {
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

fn with_planted_fault(mut answer: Answer) -> Answer {
    let created = || Verdict::Created {
        lead_id: "1".to_owned(),
        remark: None,
    };
    match &answer.verdict {
        Verdict::PerhapsTaken { .. } if is_planted(Fault::SettleBeforeAnswer) => {
            answer.verdict = created();
        }
        Verdict::Rejected { .. } if is_planted(Fault::RefusalAsCreated) => {
            answer.verdict = created();
        }
        Verdict::Duplicate { text, .. } if is_planted(Fault::DuplicateAsRefused) => {
            answer.verdict = Verdict::Rejected {
                code: ErrorCode::Http(409),
                text: text.clone(),
            };
        }
        _ => {}
    }
    answer
}
