//! One lead, one attempt, when the [`Pacer`] has let it start.
//!
//! The answer means what it means to the first row of a run; but where a run would wait and
//! try again, this ends. Once the service has answered about the lead, that is the result, even
//! after a signal: a user who reads that the test was stopped would send it again, and the
//! phone would ring twice.

use std::num::NonZeroU32;
use std::pin::pin;

use bytes::Bytes;
use tokio::time::Instant;

use super::attempt::{Job, OutagePeriods, Step};
use super::in_flight::Flight;
use super::pacer::{Heard, Pacer};
use super::stops::{self, Consequence, Stops};
use super::throttle::wall_clock_ahead;
use super::window::Slot;
use super::{LeadSender, Policy};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::api::wire::values_in;
use crate::intake::OnUncertain;
use crate::lead::RowOutcome;
use crate::ledger::Claim;
use crate::signals::{Interrupt, Interrupts};
use crate::stop::{Stop, StopReason};
use crate::text::without_numbers;

/// How sending a test lead has ended.
#[derive(Debug)]
pub struct TestSend {
    /// The outcome; `None` if the lead was certainly not created, for a reason that is not
    /// about the row.
    pub outcome: Option<RowOutcome>,
    pub stop: Option<Stop>,
}

/// Sends it, which `pacer` has let start then. After a signal, or when the time is up, it still waits
/// for the answer; after a second signal it does not.
pub async fn send_once(
    sender: &impl LeadSender,
    claim: Claim,
    body: Bytes,
    policy: Policy,
    (pacer, started): (&mut Pacer, Instant),
    interrupts: &mut Interrupts,
) -> TestSend {
    let mut job = Job::new(Slot::default(), claim, None);
    job.attempts = 1;
    let mut sending = pin!(sender.send(body.clone()));
    let mut ended_by = None;
    let answer = loop {
        let interrupt = tokio::select! {
            answer = &mut sending => break answer,
            interrupt = interrupts.next() => interrupt,
        };
        match (interrupt, ended_by) {
            (Interrupt::Signal, Some(Interrupt::Signal)) => {
                return TestSend {
                    outcome: Some(job.abandoned()),
                    stop: Some(Stop::new(StopReason::TestInterrupted(Interrupt::Signal))),
                };
            }
            (Interrupt::Signal, _) => ended_by = Some(Interrupt::Signal),
            (Interrupt::TimeUp, earlier) => ended_by = earlier.or(Some(Interrupt::TimeUp)),
        }
    };
    let mut flight = Flight {
        job,
        started,
        was_full: false,
        body: body.len(),
    };
    let heard = Heard::of(&answer, &mut flight, &OutagePeriods::default(), false);
    pacer.hear(&heard, &mut |_| ());
    let sent = judge(flight.job, answer.clone(), policy);
    let values = values_in(&body);
    let stop = sent.stop.map(|stop| {
        let values = values.iter().map(String::as_str);
        let stop = stops::redact_personal_data(stop, &answer, values);
        match ended_by {
            None => stop,
            Some(interrupt) => Stop::new(StopReason::TestInterrupted(interrupt)).with(stop),
        }
    });
    TestSend { stop, ..sent }
}

fn judge(mut job: Job, answer: Answer, policy: Policy) -> TestSend {
    let mut stops = Stops::new(NonZeroU32::MAX);
    let stop = match stops.observe(&job, false, &answer) {
        // There is no other row that could show whether it is about this one alone.
        Consequence::Stop(_, stop) | Consequence::PutAside(stop) => Some(stop),
        _ => None,
    };
    if stop.is_some() {
        let outcome = None;
        return TestSend { outcome, stop };
    }
    let stop = no_answer(&answer.verdict);
    let policy = Policy {
        max_attempts: 1,
        on_uncertain: OnUncertain::Hold,
        ..policy
    };
    let outcome = match job.judge(answer, &policy, &OutagePeriods::default(), false) {
        Step::Settle(outcome) => Some(outcome),
        // No lead was created. A run would try the row again.
        Step::Exhausted(_) | Step::Again { .. } | Step::Later { .. } => None,
    };
    TestSend { outcome, stop }
}

/// Why to try again some other time, if the service said nothing about the lead.
fn no_answer(verdict: &Verdict) -> Option<Stop> {
    let unanswered = |code, may_be_made| StopReason::TestUnanswered { code, may_be_made };
    let (reason, said) = match verdict {
        Verdict::PerhapsTaken { code, text }
        | Verdict::RetryLater {
            may_be_taken: true,
            code,
            text,
            ..
        } => (unanswered(*code, true), text),
        Verdict::NeverTaken { code, text, .. } => (unanswered(*code, false), text),
        Verdict::RetryLater {
            wait, code, text, ..
        } => {
            let (code, until) = (*code, wait.map(wall_clock_ahead));
            (StopReason::TestThrottled { code, until }, text)
        }
        Verdict::TokenReplaced => return Some(Stop::new(StopReason::TokenReplaced)),
        Verdict::Created { .. }
        | Verdict::Duplicate { .. }
        | Verdict::Rejected { .. }
        | Verdict::Fatal { .. } => return None,
    };
    Some(Stop::new(reason).saying(without_numbers(said)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::api::verdict::FatalCause;
    use crate::exit::StoppedBy;
    use crate::lead::{CampaignId, ErrorCode, RowId, Status};
    use crate::ledger::{AskedPause, SenderId};
    use crate::phone::PhoneNumber;
    use crate::pipeline::RateController;
    use crate::pipeline::tests::policy;
    use crate::rate::RateChoice;

    /// How long the service takes.
    const LATE: Duration = Duration::from_secs(5);

    /// A service that says one thing, late.
    struct Late(Verdict);

    impl LeadSender for Late {
        fn send(&self, _: Bytes) -> impl Future<Output = Answer> + 'static {
            let answer = Answer {
                http_status: None,
                verdict: self.0.clone(),
                quota: None,
                request_id: None,
                token: None,
                ahead: None,
            };
            async move {
                sleep(LATE).await;
                answer
            }
        }

        fn lists_campaigns(&self) -> impl Future<Output = bool> + 'static {
            std::future::ready(false)
        }
    }

    /// The result of one attempt under a paused clock, after these signals and within this
    /// time, how long it took, and the wait that the pacer has learned of.
    fn send(
        verdict: Verdict,
        signals: usize,
        time: Option<Duration>,
    ) -> (TestSend, Duration, Option<AskedPause>) {
        let claim = Claim {
            row: RowId(1),
            file: 0,
            line: 2,
            number: PhoneNumber::from_e164("+447911000001").unwrap(),
            campaign: CampaignId(101),
            resends: false,
            sender: SenderId::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (sender, receiver) = mpsc::channel(2);
            (0..signals).for_each(|_| sender.try_send(()).unwrap());
            let began = Instant::now();
            let mut interrupts = Interrupts::new(receiver);
            interrupts.set_deadline(time.map(|time| began + time));
            let body = Bytes::new();
            let rate = RateController::new(&RateChoice::Unlimited, None);
            let policy = policy();
            let mut pacer = Pacer::for_one(rate, policy.max_outage);
            let started = pacer.request(&[]).unwrap().unwrap();
            let pace = (&mut pacer, started);
            let service = Late(verdict);
            let sending = send_once(&service, claim, body, policy, pace, &mut interrupts);
            let attempt = sending.await;
            (attempt, began.elapsed(), pacer.asked)
        })
    }

    /// The status of the row, and why it stopped.
    fn ending(attempt: &TestSend) -> (Option<Status>, Option<Stop>) {
        let status = attempt.outcome.as_ref().map(|outcome| outcome.status);
        (status, attempt.stop.clone())
    }

    #[test]
    fn an_answer_that_settles_the_lead_completes_the_test_even_while_stopping() {
        let created = Verdict::Created {
            lead_id: "1".into(),
            remark: None,
        };
        let duplicate = Verdict::Duplicate {
            lead_id: None,
            text: "there already".into(),
        };
        let rejected = Verdict::Rejected {
            code: ErrorCode::Http(422),
            text: "no".into(),
        };
        let interrupts = [
            (0, None),
            (1, None),
            (0, Some(LATE / 2)),
            (1, Some(LATE / 2)),
        ];
        for (verdict, status) in [
            (created, Status::Created),
            (duplicate, Status::Duplicate),
            (rejected, Status::Rejected),
        ] {
            for (signals, time) in interrupts {
                let (attempt, took, _) = send(verdict.clone(), signals, time);
                assert_eq!(ending(&attempt), (Some(status), None));
                assert_eq!(took, LATE);
            }
        }
    }

    #[test]
    fn without_a_usable_answer_the_test_ends_with_the_reason_of_the_stop() {
        let lost = || Verdict::PerhapsTaken {
            code: ErrorCode::Timeout,
            text: "lost".into(),
        };
        let unanswered = Stop::new(StopReason::TestUnanswered {
            code: ErrorCode::Timeout,
            may_be_made: true,
        })
        .saying("lost");
        let interrupted = |by| Stop::new(StopReason::TestInterrupted(by)).with(unanswered.clone());
        let (attempt, took, _) = send(lost(), 0, Some(LATE / 2));
        let stop = Some(interrupted(Interrupt::TimeUp));
        assert_eq!(ending(&attempt), (Some(Status::Uncertain), stop));
        assert_eq!(took, LATE);
        let (attempt, ..) = send(lost(), 1, None);
        let stop = Some(interrupted(Interrupt::Signal));
        assert_eq!(ending(&attempt), (Some(Status::Uncertain), stop));
    }

    #[test]
    fn a_wait_that_a_test_lead_is_asked_for_is_known_to_the_pace() {
        let busy = Verdict::RetryLater {
            wait: Some(Duration::from_secs(30)),
            may_be_taken: false,
            code: ErrorCode::Http(503),
            text: "busy".into(),
        };
        let (attempt, _, asked) = send(busy, 0, None);
        assert_eq!(attempt.stop.unwrap().by(), StoppedBy::Outage);
        let asked = asked.unwrap();
        assert_eq!((asked.wait.as_secs(), asked.http_status), (30, 503));
    }

    #[test]
    fn a_second_signal_does_not_wait_for_the_answer() {
        let fatal = Verdict::Fatal {
            cause: FatalCause::Token,
            code: ErrorCode::Http(401),
            text: "no".into(),
        };
        let (attempt, took, _) = send(fatal, 2, None);
        let stop = Stop::new(StopReason::TestInterrupted(Interrupt::Signal));
        assert_eq!(ending(&attempt), (Some(Status::Uncertain), Some(stop)));
        assert_eq!(took, Duration::ZERO);
    }
}
