//! One lead, one attempt: no repetition, no ledger, and whoever sends it keeps to the pace.
//!
//! The answer means what it means to the first row of a run; but where a run would wait and
//! try again, this is the end. Once the service has said what became of the lead nothing is
//! left to do, whatever else was to end it: who is told that it was stopped would send it
//! again, and that is a second call.

use std::num::NonZeroU32;
use std::pin::pin;

use bytes::Bytes;

use super::answering::asked_pause;
use super::attempt::{Context, Job, Step};
use super::stops::{self, Answered, Consequence, Stops};
use super::window::Slot;
use super::{LeadSender, Policy};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::api::wire::values_in;
use crate::exit::{Stop, StoppedBy};
use crate::intake::OnUncertain;
use crate::lead::{ErrorCode, RowOutcome};
use crate::ledger::{AskedPause, Claim};
use crate::signals::{Interrupt, Interrupts};
use crate::text::without_numbers;

/// What a single attempt came to.
#[derive(Debug)]
pub struct Single {
    /// What became of the row; none where the lead was certainly not made, for a reason that
    /// is not the row's.
    pub outcome: Option<RowOutcome>,
    /// Why it did not end as it should.
    pub stop: Option<Stop>,
    /// How long the service asks to be left alone.
    pub pause: Option<AskedPause>,
}

/// Sends it. A signal, or the end of the time, waits for the answer, a second signal does
/// not.
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
                    stop: Some(abandoned()),
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
            Some(interrupt) => interrupted(interrupt, stop),
        }),
        ..single
    }
}

fn judge(mut job: Job, answer: Answer, policy: Policy) -> Single {
    let mut stops = Stops::new(NonZeroU32::MAX);
    let answered = Answered {
        row: job.slot,
        is_excused: false,
        is_in_doubt: false,
    };
    let consequence = stops.observe(job.claim.campaign, answered, &answer);
    if let Consequence::Stop(stop) | Consequence::StopCampaign(stop) = consequence {
        return Single {
            outcome: None,
            stop: Some(stop),
            pause: None,
        };
    }
    let pause = match &answer.verdict {
        Verdict::RetryLater { wait, code, .. } => asked_pause(*wait, *code),
        _ => None,
    };
    let stop = no_answer(&answer, pause);
    let policy = Policy {
        max_attempts: 1,
        on_uncertain: OnUncertain::Hold,
        ..policy
    };
    let context = Context {
        epoch: 0,
        is_excused: false,
        chance: 0.0,
    };
    let outcome = match job.judge(answer, &policy, context) {
        Step::Settle(outcome) => Some(outcome),
        // Nothing was made. In a run the row would be tried again.
        Step::Exhausted(_) | Step::Again { .. } | Step::Later => None,
    };
    Single {
        outcome,
        stop,
        pause,
    }
}

const NO_ANSWER: &str = "the service gave no usable answer";

const MAY_BE_MADE: &str = "the lead may have been made, and the phone may ring: look for it at the service, or wait for the call, before you test again";

/// Why the service is to be asked again some other time, where it has said nothing of the
/// lead.
fn no_answer(answer: &Answer, pause: Option<AskedPause>) -> Option<Stop> {
    let (code, what, text, next) = match &answer.verdict {
        Verdict::PerhapsTaken { code, text } => (*code, NO_ANSWER, text, MAY_BE_MADE.to_owned()),
        Verdict::NeverTaken { code, text, .. } => (
            *code,
            NO_ANSWER,
            text,
            "when the service is there again, test again".to_owned(),
        ),
        Verdict::RetryLater { code, text, .. } => (
            *code,
            "the service takes no leads just now",
            text,
            pause.map_or_else(
                || "test again later".to_owned(),
                |pause| format!("test again after {:.0}", pause.until),
            ),
        ),
        Verdict::TokenReplaced => {
            return Some(Stop {
                by: StoppedBy::Token,
                text: "the service does not accept the token, and the token file has another one by now\n\nhint: run the same command again".to_owned(),
            });
        }
        Verdict::Created { .. }
        | Verdict::Duplicate { .. }
        | Verdict::Rejected { .. }
        | Verdict::Fatal { .. } => return None,
    };
    let text = without_numbers(text);
    Some(Stop {
        by: match code {
            ErrorCode::UnreadableAnswer => StoppedBy::Unreadable,
            _ => StoppedBy::Outage,
        },
        text: format!("{what} ({text})\n\nhint: {next}"),
    })
}

fn abandoned() -> Stop {
    Stop {
        by: StoppedBy::Signal,
        text: format!("stopped by a signal before the answer came\n\nhint: {MAY_BE_MADE}"),
    }
}

/// It was to end before the answer came, which was awaited and settles nothing.
fn interrupted(interrupt: Interrupt, stop: Stop) -> Stop {
    let (by, what) = match interrupt {
        Interrupt::Signal => (StoppedBy::Signal, "stopped by a signal"),
        Interrupt::TimeUp => (
            StoppedBy::MaxDuration,
            "stopped after the time that `--max-duration` allows",
        ),
    };
    Stop {
        by,
        text: format!("{what}; {}", stop.text),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::api::verdict::FatalCause;
    use crate::lead::{CampaignId, RowId, Status};
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
            };
            async move {
                sleep(LATE).await;
                answer
            }
        }
    }

    /// What one attempt comes to under a stopped clock, with signals beforehand and so much
    /// time, and how long it took.
    fn send(verdict: Verdict, signals: usize, time: Option<Duration>) -> (Single, Duration) {
        let claim = Claim {
            row: RowId(1),
            file: 0,
            line: 2,
            number: PhoneNumber::from_e164("+447911000001").unwrap(),
            campaign: CampaignId(101),
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

    /// Status, what it was stopped by, and what is said of that.
    fn told(single: &Single) -> (Option<Status>, Option<(StoppedBy, &str)>) {
        let status = single.outcome.as_ref().map(|outcome| outcome.status);
        let stop = single.stop.as_ref();
        (status, stop.map(|stop| (stop.by, &stop.text[..])))
    }

    #[test]
    fn an_answer_that_settles_the_lead_completes_the_test_whatever_was_to_end_it() {
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
                assert_eq!(told(&single), (Some(status), None));
                assert_eq!(took, LATE);
            }
        }
    }

    #[test]
    fn where_no_usable_answer_came_it_is_stopped_by_what_was_to_end_it() {
        let lost = || Verdict::PerhapsTaken {
            code: ErrorCode::Timeout,
            text: "lost".into(),
        };
        let said = format!("; the service gave no usable answer (lost)\n\nhint: {MAY_BE_MADE}");
        let (single, took) = send(lost(), 0, Some(LATE / 2));
        let text = format!("stopped after the time that `--max-duration` allows{said}");
        let stop = Some((StoppedBy::MaxDuration, &text[..]));
        assert_eq!(told(&single), (Some(Status::Uncertain), stop));
        assert_eq!(took, LATE);
        let (single, _) = send(lost(), 1, None);
        let text = format!("stopped by a signal{said}");
        let stop = Some((StoppedBy::Signal, &text[..]));
        assert_eq!(told(&single), (Some(Status::Uncertain), stop));
    }

    #[test]
    fn a_second_signal_does_not_wait_for_the_answer() {
        let fatal = Verdict::Fatal {
            cause: FatalCause::Token,
            code: ErrorCode::Http(401),
            text: "no".into(),
        };
        let (single, took) = send(fatal, 2, None);
        let text = format!("stopped by a signal before the answer came\n\nhint: {MAY_BE_MADE}");
        let stop = Some((StoppedBy::Signal, &text[..]));
        assert_eq!(told(&single), (Some(Status::Uncertain), stop));
        assert_eq!(took, Duration::ZERO);
    }
}
