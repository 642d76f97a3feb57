//! One lead, one attempt, without a ledger; the caller takes care of the pace.
//!
//! The answer means what it means to the first row of a run; but where a run would wait and
//! try again, this ends. Once the service has answered about the lead, that is the result, even
//! after a signal: a user who reads that the test was stopped would send it again, and the
//! phone would ring twice.

use std::num::NonZeroU32;
use std::pin::pin;

use bytes::Bytes;

use super::attempt::{Epochs, Job, Step};
use super::stops::{self, Consequence, Stops};
use super::throttle::asked_pause;
use super::window::Slot;
use super::{LeadSender, Policy};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::api::wire::values_in;
use crate::intake::OnUncertain;
use crate::lead::RowOutcome;
use crate::ledger::{AskedPause, Claim};
use crate::signals::{Interrupt, Interrupts};
use crate::stop::{Stop, StopReason};
use crate::text::without_numbers;

#[derive(Debug)]
pub struct Single {
    /// The outcome; `None` if the lead was certainly not created, for a reason that is not
    /// about the row.
    pub outcome: Option<RowOutcome>,
    pub stop: Option<Stop>,
    /// The wait that the service asks for.
    pub pause: Option<AskedPause>,
}

/// Sends it. After a signal, or when the time is up, it still waits for the answer; after a
/// second signal it does not.
pub async fn send_once(
    sender: &impl LeadSender,
    claim: Claim,
    body: Bytes,
    policy: Policy,
    interrupts: &mut Interrupts,
) -> Single {
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
                return Single {
                    outcome: Some(job.abandoned()),
                    stop: Some(Stop::new(StopReason::TestInterrupted(Interrupt::Signal))),
                    pause: None,
                };
            }
            (Interrupt::Signal, _) => ended_by = Some(Interrupt::Signal),
            (Interrupt::TimeUp, earlier) => ended_by = earlier.or(Some(Interrupt::TimeUp)),
        }
    };
    let single = judge(job, answer.clone(), policy);
    let values = values_in(&body);
    let redact_personal_data =
        |stop| stops::redact_personal_data(stop, &answer, values.iter().map(String::as_str));
    let stop = single.stop.map(redact_personal_data);
    Single {
        stop: stop.map(|stop| match ended_by {
            None => stop,
            Some(interrupt) => Stop::new(StopReason::TestInterrupted(interrupt)).with(stop),
        }),
        ..single
    }
}

fn judge(mut job: Job, answer: Answer, policy: Policy) -> Single {
    let mut stops = Stops::new(NonZeroU32::MAX);
    let stop = match stops.observe(&job, false, &answer) {
        // There is no other row that could show whether it is about this one alone.
        Consequence::Stop(_, stop) | Consequence::PutAside(stop) => Some(stop),
        _ => None,
    };
    if let Some(stop) = stop {
        return Single {
            outcome: None,
            stop: Some(stop),
            pause: None,
        };
    }
    let pause = asked_pause(&answer.verdict);
    let stop = no_answer(&answer, pause);
    let policy = Policy {
        max_attempts: 1,
        on_uncertain: OnUncertain::Hold,
        ..policy
    };
    let outcome = match job.judge(answer, &policy, &Epochs::default(), false) {
        Step::Settle(outcome) => Some(outcome),
        // No lead was created. A run would try the row again.
        Step::Exhausted(_) | Step::Again { .. } | Step::Later { .. } => None,
    };
    Single {
        outcome,
        stop,
        pause,
    }
}

/// Why to try again some other time, if the service said nothing about the lead.
fn no_answer(answer: &Answer, pause: Option<AskedPause>) -> Option<Stop> {
    let unanswered = |code, may_be_made| StopReason::TestUnanswered { code, may_be_made };
    let (reason, said) = match &answer.verdict {
        Verdict::PerhapsTaken { code, text }
        | Verdict::RetryLater {
            may_be_taken: true,
            code,
            text,
            ..
        } => (unanswered(*code, true), text),
        Verdict::NeverTaken { code, text, .. } => (unanswered(*code, false), text),
        Verdict::RetryLater { code, text, .. } => {
            let (code, until) = (*code, pause.map(|pause| pause.until()));
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
    use crate::lead::{CampaignId, ErrorCode, RowId, Status};
    use crate::ledger::SenderId;
    use crate::phone::PhoneNumber;
    use crate::pipeline::tests::policy;

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
    /// time, and how long it took.
    fn send(verdict: Verdict, signals: usize, time: Option<Duration>) -> (Single, Duration) {
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
            let single = send_once(&Late(verdict), claim, body, policy(), &mut interrupts).await;
            (single, began.elapsed())
        })
    }

    /// The status of the row, and why it stopped.
    fn ending(single: &Single) -> (Option<Status>, Option<Stop>) {
        let status = single.outcome.as_ref().map(|outcome| outcome.status);
        (status, single.stop.clone())
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
                let (single, took) = send(verdict.clone(), signals, time);
                assert_eq!(ending(&single), (Some(status), None));
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
        let (single, took) = send(lost(), 0, Some(LATE / 2));
        let stop = Some(interrupted(Interrupt::TimeUp));
        assert_eq!(ending(&single), (Some(Status::Uncertain), stop));
        assert_eq!(took, LATE);
        let (single, _) = send(lost(), 1, None);
        let stop = Some(interrupted(Interrupt::Signal));
        assert_eq!(ending(&single), (Some(Status::Uncertain), stop));
    }

    #[test]
    fn a_second_signal_does_not_wait_for_the_answer() {
        let fatal = Verdict::Fatal {
            cause: FatalCause::Token,
            code: ErrorCode::Http(401),
            text: "no".into(),
        };
        let (single, took) = send(fatal, 2, None);
        let stop = Stop::new(StopReason::TestInterrupted(Interrupt::Signal));
        assert_eq!(ending(&single), (Some(Status::Uncertain), Some(stop)));
        assert_eq!(took, Duration::ZERO);
    }
}
