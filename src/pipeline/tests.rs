//! The loop against a service in memory, under a stopped clock.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::api::verdict::{FatalCause, Verdict, Wait};
use crate::campaign::{CampaignBook, CampaignChoice};
use crate::intake::{InspectedInput, Intake, Once, Purpose};
use crate::lead::{ErrorCode, Status};
use crate::mapping::MappingSpec;
use crate::phone::{PhoneReader, PhoneRules};
use crate::rate::RateChoice;
use crate::source::FormChoice;
use crate::source::Input;

/// What the service does with one attempt: how long it takes, and what it says.
#[derive(Debug, Clone)]
struct Reply {
    takes: Duration,
    verdict: Verdict,
    stores: bool,
}

/// A service in memory: says what it is told to, then creates.
#[derive(Debug, Clone, Default)]
pub(super) struct Service(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    script: HashMap<String, Vec<Reply>>,
    /// When each attempt came, and for which number.
    attempts: Vec<(Instant, String)>,
    in_flight: Vec<String>,
    peak_in_flight: usize,
    same_number_at_once: bool,
    leads: HashSet<String>,
    allow_duplicates: bool,
    /// Campaigns that say the same to all attempts after the first few.
    from_then_on: HashMap<i64, (usize, Verdict)>,
}

impl Service {
    fn says(&self, number: &str, replies: Vec<Reply>) {
        self.0
            .borrow_mut()
            .script
            .insert(number.to_owned(), replies);
    }

    fn attempts_at(&self) -> Vec<Instant> {
        self.0.borrow().attempts.iter().map(|(at, _)| *at).collect()
    }
}

impl State {
    fn arrive(&mut self, number: &str, campaign: i64) -> Reply {
        self.attempts.push((Instant::now(), number.to_owned()));
        self.same_number_at_once |= self.in_flight.iter().any(|other| other == number);
        self.in_flight.push(number.to_owned());
        self.peak_in_flight = self.peak_in_flight.max(self.in_flight.len());
        let scripted = self
            .script
            .get_mut(number)
            .filter(|replies| !replies.is_empty());
        let mut answer = match scripted {
            Some(replies) => replies.remove(0),
            None => reply(10, created(), true),
        };
        match self.from_then_on.get_mut(&campaign) {
            Some((0, verdict)) => answer = reply(10, verdict.clone(), false),
            Some((left, _)) => *left -= 1,
            None => {}
        }
        let mut reply = answer;
        if reply.stores && !self.leads.insert(number.to_owned()) && !self.allow_duplicates {
            reply.verdict = Verdict::Duplicate {
                lead_id: None,
                text: "there already".into(),
            };
        }
        reply
    }

    fn leave(&mut self, number: &str) {
        if let Some(at) = self.in_flight.iter().position(|other| other == number) {
            self.in_flight.swap_remove(at);
        }
    }
}

impl LeadSender for Service {
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static {
        let state = Rc::clone(&self.0);
        async move {
            let json: Value = serde_json::from_slice(&body).unwrap();
            let number = json["phone_number"].as_str().unwrap().to_owned();
            let campaign = json["campaign_id"].as_i64().unwrap();
            let reply = state.borrow_mut().arrive(&number, campaign);
            tokio::time::sleep(reply.takes).await;
            state.borrow_mut().leave(&number);
            Answer {
                http_status: None,
                verdict: reply.verdict,
                quota: None,
            }
        }
    }
}

fn created() -> Verdict {
    Verdict::Created {
        lead_id: "1".into(),
        remark: None,
    }
}

fn lost() -> Verdict {
    Verdict::PerhapsTaken {
        code: ErrorCode::Timeout,
        text: "lost".into(),
    }
}

fn refused(wait: Option<u64>) -> Verdict {
    Verdict::RetryLater {
        wait: wait.map_or(Wait::Unsaid, |s| Wait::Said(Duration::from_secs(s))),
        code: ErrorCode::Http(429),
        text: "too many".into(),
    }
}

fn never_taken() -> Verdict {
    Verdict::NeverTaken {
        code: ErrorCode::Connection,
        text: "refused".into(),
        is_lasting: false,
    }
}

fn reply(millis: u64, verdict: Verdict, stores: bool) -> Reply {
    Reply {
        takes: Duration::from_millis(millis),
        verdict,
        stores,
    }
}

/// How a run came out.
struct Ran {
    /// Row, status and attempts, in the order in which they were handed on.
    rows: Vec<(u64, Option<(Status, u32)>)>,
    end: End,
    took: Duration,
}

pub(super) fn in_flight(most: usize) -> ConcurrencyChoice {
    ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap())
}

pub(super) fn policy() -> Policy {
    Policy {
        concurrency: in_flight(8),
        stop_after: NonZeroU32::new(50).unwrap(),
        max_outage: Duration::from_secs(3600),
        max_attempts: 4,
        on_uncertain: OnUncertain::Resend,
        form: LeadForm::default(),
    }
}

/// Rows, their inputs, and a runtime whose clock stands still.
pub(super) type Prepared = (Batches, Arc<[PlannedInput]>, tokio::runtime::Runtime);

/// Rows with these numbers (`+4479110NNNNN`), all read before the clock starts: it
/// moves on whenever nothing is to be done, also while a file is read.
pub(super) fn prepare(policy: Policy, numbers: &[u32]) -> Prepared {
    let numbers = numbers.iter().map(|n| format!("+4479110{n:05}\n"));
    let list: String = std::iter::once("phone\n".to_owned())
        .chain(numbers)
        .collect();
    prepare_list(policy, &list, 1, None)
}

/// The rows of a list, likewise.
pub(super) fn prepare_list(
    policy: Policy,
    list: &str,
    campaign: i64,
    campaign_column: Option<&str>,
) -> Prepared {
    let input = Input::of_text(list);
    let spec = MappingSpec {
        campaign_column: campaign_column.map(str::to_owned),
        ..MappingSpec::default()
    };
    let surveyed = InspectedInput::new(input, &FormChoice::default()).unwrap();
    let planned = PlannedInput::new(surveyed, &spec).unwrap();
    let intake = Intake {
        inputs: [planned].into(),
        limit: None,
        phones: PhoneReader::new(PhoneRules::default()),
        region: None,
        doubts: false,
        doubted: None,
        doubt: None,
        suppression: Arc::default(),
        allow_duplicates: policy.form.allow_duplicates,
        once: Once::Campaign,
    };
    let campaign = CampaignChoice::Id(CampaignId(campaign));
    let mut received = intake.start(
        CampaignBook::new(Some(campaign), HashMap::new()),
        Purpose::Sending,
        None,
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let batches = runtime.block_on(async {
        let mut read = Vec::new();
        while let Some(batch) = received.next().await {
            read.push(batch.unwrap());
        }
        Batches::ready(read)
    });
    (batches, intake.inputs, runtime)
}

fn run_with(service: &Service, policy: Policy, numbers: &[u32], rates: &[&str]) -> Ran {
    run_prepared(service, policy, prepare(policy, numbers), rates)
}

fn run_prepared(service: &Service, policy: Policy, prepared: Prepared, rates: &[&str]) -> Ran {
    run_changed(service, policy, prepared, rates, |_| {})
}

/// The same with a pipeline that is changed before it begins.
fn run_changed(
    service: &Service,
    policy: Policy,
    prepared: Prepared,
    rates: &[&str],
    change: impl FnOnce(&mut Pipeline<'_, Service>),
) -> Ran {
    let (batches, inputs, runtime) = prepared;
    runtime.block_on(async {
        let began = Instant::now();
        let rates: Vec<_> = rates.iter().map(|rate| rate.parse().unwrap()).collect();
        let (settled, mut done) = mpsc::channel(10_000);
        let (_no_interrupts, interrupts) = mpsc::channel(1);
        let interrupts = Interrupts::new(interrupts);
        let mut no_events = |_: RunEvent<'_>| {};
        let rate = RateController::new(&RateChoice::Limits(rates), None);
        let outlet = Outlet::Writer(settled);
        let mut pipeline = Pipeline::new(
            service.clone(),
            policy,
            rate,
            inputs,
            outlet,
            &mut no_events,
        );
        change(&mut pipeline);
        // Nothing takes so long but a loop that waits for what does not come.
        let day = Duration::from_secs(24 * 3600);
        let running = tokio::time::timeout(day, pipeline.run(batches, interrupts));
        let end = running.await.expect("the run comes to an end");
        let mut rows = Vec::new();
        while let Some(batch) = done.recv().await {
            for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
                let outcome = prepared.outcome.as_ref().map(|o| (o.status, o.attempts));
                rows.push((row.id().0, outcome));
            }
        }
        Ran {
            rows,
            end,
            took: began.elapsed(),
        }
    })
}

fn run(service: &Service, rows: u32) -> Ran {
    let numbers: Vec<u32> = (0..rows).collect();
    run_with(service, policy(), &numbers, &[])
}

fn number(n: u32) -> String {
    format!("+4479110{n:05}")
}

#[test]
fn a_row_in_a_long_backoff_holds_up_no_other_and_is_written_in_order() {
    let service = Service::default();
    // A minute for each of three answers that are lost.
    service.says(&number(2), vec![reply(60_000, lost(), false); 3]);
    let ran = run(&service, 3000);
    let order: Vec<u64> = ran.rows.iter().map(|(row, _)| *row).collect();
    assert_eq!(order, (1..=3000).collect::<Vec<_>>());
    assert_eq!(ran.rows[2].1, Some((Status::Created, 4)));
    // 2,999 rows at seven a time and 10 ms each are through in 4.3 s.
    let state = service.0.borrow();
    let began = state.attempts[0].0;
    let others = state.attempts.iter().filter(|(_, n)| *n != number(2));
    let last = others.map(|(at, _)| *at - began).max().unwrap();
    assert!(last < Duration::from_secs(5), "{last:?}");
    assert!(ran.took >= Duration::from_secs(180));
}

#[test]
fn a_refusal_with_a_wait_holds_the_whole_pipeline() {
    let service = Service::default();
    service.says(&number(20), vec![reply(5, refused(Some(37)), false)]);
    let ran = run(&service, 100);
    assert!(
        ran.rows
            .iter()
            .all(|(_, o)| o.is_some_and(|(s, _)| s == Status::Created))
    );
    assert_eq!(ran.end.requests, 101);
    let at = service.attempts_at();
    let pauses: Vec<Duration> = at
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|pause| *pause > Duration::from_millis(500))
        .collect();
    assert_eq!(pauses.len(), 1);
    assert!(pauses[0] >= Duration::from_millis(36_990), "{pauses:?}");
}

/// Others may still be on their way when the service asks for it.
#[test]
fn a_wait_longer_than_max_outage_stops_after_the_last_answer_in_flight() {
    for (last_answer, wait) in [(1, 20), (3000, 20), (10, 24 * 3600)] {
        let service = Service::default();
        service.says(&number(3), vec![reply(5, refused(Some(wait)), false)]);
        service.says(&number(4), vec![reply(last_answer, created(), true)]);
        let ran = run_with(&service, impatient(5), &[0, 1, 2, 3, 4, 5], &[]);
        let stop = ran.end.stop.unwrap();
        assert_eq!(stop.by(), StoppedBy::Outage);
        let has_asked = matches!(
            stop.reason,
            StopReason::AskedToWait {
                why: ErrorCode::Http(429),
                ..
            }
        );
        assert!(has_asked, "{stop:?}");
        assert_eq!(ran.end.requests, 6);
        assert!(ran.took < Duration::from_millis(last_answer + 100));
    }
}

#[test]
fn refusals_without_a_wait_for_too_long_are_reported_as_no_answers() {
    let service = Service::default();
    service.says(&number(1), vec![reply(5, refused(None), false); 50]);
    let ran = run_with(&service, impatient(60), &[0, 1], &[]);
    let stop = ran.end.stop.unwrap();
    let is_silent = matches!(
        stop.reason,
        StopReason::NoAnswers {
            last: Some(ErrorCode::Http(429)),
            detail: None,
            ..
        }
    );
    assert!(is_silent, "{stop:?}");
    let took = ran.took.as_secs();
    assert!((60..=61).contains(&took), "{took}");
}

/// Stops after so many seconds without an answer.
fn impatient(seconds: u64) -> Policy {
    Policy {
        max_outage: Duration::from_secs(seconds),
        ..policy()
    }
}

#[test]
fn refusals_without_a_hint_wait_longer_each_time() {
    let service = Service::default();
    service.says(&number(3), vec![reply(5, refused(None), false); 5]);
    let one_by_one = Policy {
        concurrency: in_flight(1),
        ..policy()
    };
    let ran = run_with(&service, one_by_one, &[0, 1, 2, 3, 4], &[]);
    assert_eq!(ran.end.requests, 10);
    // At least half of 1, 2, 4, 8 and 16 seconds.
    assert!(ran.took >= Duration::from_millis(15_500), "{:?}", ran.took);
}

#[test]
fn a_row_that_may_have_been_taken_waits_a_second_before_it_is_sent_again() {
    let service = Service::default();
    service.says(&number(0), vec![reply(1, lost(), true)]);
    let ran = run(&service, 1);
    assert_eq!(ran.rows, [(1, Some((Status::Duplicate, 2)))]);
    assert!(ran.took >= Duration::from_secs(1));
}

#[test]
fn attempts_that_were_never_taken_end_in_failed_and_others_in_uncertain() {
    let service = Service::default();
    service.says(&number(1), vec![reply(1, never_taken(), false); 9]);
    service.says(
        &number(2),
        vec![
            reply(1, lost(), false),
            reply(1, never_taken(), false),
            reply(1, never_taken(), false),
            reply(1, never_taken(), false),
        ],
    );
    // Others are answered all the while: it is not the service that is away.
    let numbers: Vec<u32> = (0..2000).collect();
    let ran = run_with(&service, policy(), &numbers, &["100/s"]);
    let first = ran.rows.iter().take(3);
    let outcomes: Vec<_> = first.map(|(_, outcome)| outcome.unwrap()).collect();
    assert_eq!(
        outcomes,
        [
            (Status::Created, 1),
            (Status::Failed, 4),
            (Status::Uncertain, 4)
        ]
    );
}

#[test]
fn three_consecutive_rows_refused_the_same_way_stop_and_have_no_outcome() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Forbidden,
        code: ErrorCode::Http(403),
        text: "HTTP 403".into(),
    };
    for n in 10..20 {
        service.says(&number(n), vec![reply(10, fatal.clone(), false)]);
    }
    let one_by_one = Policy {
        concurrency: in_flight(1),
        ..policy()
    };
    let numbers: Vec<u32> = (0..30).collect();
    let ran = run_with(&service, one_by_one, &numbers, &[]);
    assert_eq!(ran.end.stop.unwrap().by(), StoppedBy::Token);
    assert_eq!(ran.end.requests, 13);
    let with_outcome = ran.rows.iter().filter(|(_, outcome)| outcome.is_some());
    assert_eq!(with_outcome.count(), 10);
}

#[test]
fn one_or_two_refusals_at_the_end_of_a_run_concern_only_their_rows() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    };
    service.says(&number(8), vec![reply(10, fatal.clone(), false)]);
    service.says(&number(9), vec![reply(10, fatal, false)]);
    let ran = run(&service, 10);
    assert!(ran.end.stop.is_none());
    let rejected = Some((Status::Rejected, 1));
    assert_eq!((ran.rows[8].1, ran.rows[9].1), (rejected, rejected));
}

/// Held rows are few, and those that are put aside are among them.
#[test]
fn postponed_rows_leave_room_for_the_row_that_shows_what_was_refused() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    };
    for n in [1, 2] {
        service.says(&number(n), vec![reply(10, fatal.clone(), false)]);
    }
    let held_one_by_one = Policy {
        concurrency: in_flight(1),
        on_uncertain: OnUncertain::Hold,
        ..policy()
    };
    let ran = run_with(&service, held_one_by_one, &[0, 1, 2, 3, 4], &[]);
    let outcomes: Vec<_> = ran
        .rows
        .iter()
        .filter_map(|(_, o)| o.map(|(s, _)| s))
        .collect();
    let (created, rejected) = (Status::Created, Status::Rejected);
    assert_eq!(outcomes, [created, rejected, rejected, created, created]);
}

/// Nothing that is sent can show any more whose refusal it was: the rows behind
/// fill the window, and none of them is to be sent.
#[test]
fn a_postponed_row_is_settled_when_the_window_is_full() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    };
    service.says(&number(1), vec![reply(10, fatal, false)]);
    let mut numbers = vec![0, 1];
    numbers.extend(std::iter::repeat_n(0, 130_000));
    let ran = run_with(&service, policy(), &numbers, &[]);
    assert!(ran.end.stop.is_none());
    assert_eq!(ran.rows.len(), 130_002);
    assert_eq!(ran.rows[1].1, Some((Status::Rejected, 1)));
}

/// Nor can anything show that it was the service that was away.
#[test]
fn a_row_without_attempts_left_is_settled_when_the_window_is_full() {
    let service = Service::default();
    service.says(&number(1), vec![reply(10, never_taken(), false); 9]);
    let mut numbers = vec![0, 1];
    numbers.extend(std::iter::repeat_n(0, 130_000));
    let ran = run_with(&service, policy(), &numbers, &[]);
    assert!(ran.end.stop.is_none());
    assert_eq!(ran.rows.len(), 130_002);
    assert_eq!(ran.rows[1].1, Some((Status::Failed, 4)));
}

#[test]
fn a_failed_row_does_not_show_that_refusals_concern_only_their_rows() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    };
    for n in [1, 3, 4] {
        service.says(&number(n), vec![reply(10, fatal.clone(), false)]);
    }
    service.says(&number(2), vec![reply(10, never_taken(), false)]);
    let one_by_one = Policy {
        concurrency: in_flight(1),
        max_attempts: 1,
        ..policy()
    };
    let ran = run_with(&service, one_by_one, &[0, 1, 2, 3, 4, 5], &[]);
    assert_eq!(ran.end.stop.unwrap().by(), StoppedBy::Campaign);
    let outcomes: Vec<_> = ran.rows.iter().map(|(_, o)| o.map(|(s, _)| s)).collect();
    assert_eq!(
        outcomes,
        [
            Some(Status::Created),
            None,
            Some(Status::Failed),
            None,
            None,
            None
        ]
    );
}

#[test]
fn requests_in_flight_refused_together_count_as_one_refusal() {
    let service = Service::default();
    for n in 1..9 {
        service.says(&number(n), vec![reply(5, refused(None), false)]);
    }
    let ran = run(&service, 9);
    assert_eq!(ran.end.requests, 17);
    assert!(ran.took < Duration::from_secs(2), "{:?}", ran.took);
}

#[test]
fn a_writer_that_ends_stops_the_run_at_once() {
    let service = Service::default();
    let numbers: Vec<u32> = (0..3000).collect();
    let (batches, inputs, runtime) = prepare(policy(), &numbers);
    let end = runtime.block_on(async {
        let (settled, done) = mpsc::channel(1);
        drop(done);
        let (_no_interrupts, interrupts) = mpsc::channel(1);
        let interrupts = Interrupts::new(interrupts);
        let mut no_events = |_: RunEvent<'_>| {};
        let rate = RateController::new(&RateChoice::Unlimited, None);
        let outlet = Outlet::Writer(settled);
        let pipeline = Pipeline::new(
            service.clone(),
            policy(),
            rate,
            inputs,
            outlet,
            &mut no_events,
        );
        pipeline.run(batches, interrupts).await
    });
    assert_eq!(end.stop.unwrap().by(), StoppedBy::Disk);
    // The first batch, and what was in flight.
    assert!(end.requests < 300, "{}", end.requests);
}

#[test]
fn every_attempt_keeps_the_rate() {
    let service = Service::default();
    for n in 0..50 {
        service.says(&number(2 * n + 1), vec![reply(1, lost(), false)]);
    }
    let numbers: Vec<u32> = (0..100).collect();
    let ran = run_with(&service, policy(), &numbers, &["10/s"]);
    assert_eq!(ran.end.requests, 150);
    let at = service.attempts_at();
    let most = (0..at.len())
        .map(|i| {
            at[i..]
                .iter()
                .take_while(|t| **t < at[i] + Duration::from_secs(1))
                .count()
        })
        .max();
    assert!(most <= Some(10), "{most:?}");
}

fn missing_campaign() -> Verdict {
    Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    }
}

/// Rows of one number wait for each other; none may be left waiting for one that was
/// given up with its campaign.
#[test]
fn rows_of_one_number_end_with_their_campaign_and_the_others_are_sent() {
    for hold in [false, true] {
        let service = Service::default();
        service.0.borrow_mut().allow_duplicates = true;
        let from_then_on = [(1, (1, missing_campaign()))];
        service.0.borrow_mut().from_then_on = from_then_on.into();
        for n in [1, 5, 30] {
            service.says(&number(n), vec![reply(5, refused(Some(1)), false); 2]);
        }
        let same = std::iter::repeat_n("+447911000001,1\n".to_owned(), 30);
        let others = (2..302).map(|n| format!("{},2\n", number(n)));
        let list: String = ["phone,list\n+447911000000,1\n".to_owned()]
            .into_iter()
            .chain(same)
            .chain(others)
            .collect();
        let policy = Policy {
            on_uncertain: if hold {
                OnUncertain::Hold
            } else {
                OnUncertain::Resend
            },
            form: LeadForm {
                allow_duplicates: true,
                ..LeadForm::default()
            },
            ..policy()
        };
        let prepared = prepare_list(policy, &list, 0, Some("list"));
        let ran = run_prepared(&service, policy, prepared, &[]);
        let stop = ran.end.stop.unwrap();
        assert_eq!(stop.by(), StoppedBy::Campaign, "{stop:?}");
        let created = ran.rows.iter().filter(|(_, outcome)| outcome.is_some());
        assert_eq!(created.count(), 301, "hold: {hold}");
    }
}

/// What no answer, no time and no row can change any more must not be waited for.
#[test]
fn rows_that_can_never_be_settled_stop_the_run_as_stuck() {
    let service = Service::default();
    let prepared = prepare(policy(), &[0, 1, 2]);
    let ran = run_changed(&service, policy(), prepared, &[], |pipeline| {
        // As if a request for it were under way.
        let busy = PhoneNumber::from_key(447_911_000_001).unwrap();
        pipeline.schedule.depart((CampaignId(1), busy));
    });
    let stop = ran.end.stop.unwrap();
    assert_eq!(stop, Stop::new(StopReason::Stuck(1)));
    let statuses = ran.rows.iter().map(|(_, o)| o.map(|(status, _)| status));
    let created = Some(Status::Created);
    assert_eq!(statuses.collect::<Vec<_>>(), [created, None, created]);
}

fn any_reply() -> impl Strategy<Value = Reply> {
    let verdict = prop_oneof![
        4 => Just((created(), true)),
        1 => Just((lost(), true)),
        1 => Just((lost(), false)),
        1 => Just((never_taken(), false)),
        1 => Just((refused(Some(2)), false)),
        1 => Just((refused(None), false)),
        1 => Just((Verdict::Rejected { code: ErrorCode::Http(422), text: "no".into() }, false)),
        1 => Just((Verdict::Fatal {
            cause: FatalCause::Forbidden,
            code: ErrorCode::Http(403),
            text: "no".into(),
        }, false)),
    ];
    (1u64..3000, verdict).prop_map(|(millis, (verdict, stores))| reply(millis, verdict, stores))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn for_any_answers_every_row_has_one_outcome_in_order_and_every_attempt_is_counted(
        numbers in prop::collection::vec(0u32..12, 1..40),
        scripts in prop::collection::btree_map(0u32..12, prop::collection::vec(any_reply(), 0..6), 0..12),
        concurrency in 1usize..6,
        allow_duplicates: bool,
        hold: bool,
        campaigns in 1u32..4,
    ) {
        let service = Service::default();
        service.0.borrow_mut().allow_duplicates = allow_duplicates;
        for (n, replies) in scripts {
            service.says(&number(n), replies);
        }
        let policy = Policy {
            concurrency: in_flight(concurrency),
            on_uncertain: if hold { OnUncertain::Hold } else { OnUncertain::Resend },
            form: LeadForm { allow_duplicates, ..LeadForm::default() },
            ..policy()
        };
        // Each number has its campaign.
        let rows = numbers.iter().map(|n| format!("+4479110{n:05},{}\n", n % campaigns));
        let list: String = std::iter::once("phone,list\n".to_owned()).chain(rows).collect();
        let column = (campaigns > 1).then_some("list");
        let prepared = prepare_list(policy, &list, 0, column);
        let ran = run_prepared(&service, policy, prepared, &[]);
        let state = service.0.borrow();

        // Nothing takes so long but a loop that waits for what does not come.
        let by = ran.end.stop.as_ref().map(|stop| stop.by());
        prop_assert!(by != Some(StoppedBy::Outage), "{:?}", ran.end.stop);
        let order: Vec<u64> = ran.rows.iter().map(|(row, _)| *row).collect();
        prop_assert_eq!(order, (1..=numbers.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(ran.end.requests, state.attempts.len() as u64);
        if ran.end.stop.is_none() {
            prop_assert!(ran.rows.iter().all(|(_, outcome)| outcome.is_some()));
            let outcomes = ran.rows.iter().filter_map(|(_, outcome)| *outcome);
            let attempts: u64 = outcomes.map(|(_, attempts)| u64::from(attempts)).sum();
            prop_assert_eq!(attempts, ran.end.requests);
        }
        prop_assert!(state.peak_in_flight <= concurrency);
        prop_assert!(!state.same_number_at_once);

        // The truth about every number: settled rows exist, and what exists is
        // settled or said to be uncertain.
        let mut by_number: BTreeMap<u32, Vec<Status>> = BTreeMap::new();
        for (n, (_, outcome)) in numbers.iter().zip(&ran.rows) {
            let statuses = by_number.entry(*n).or_default();
            statuses.extend(outcome.map(|(status, _)| status));
        }
        for (n, statuses) in by_number {
            let exists = state.leads.contains(&number(n));
            let is_settled = statuses.iter().any(|s| matches!(s, Status::Created | Status::Duplicate));
            let is_uncertain = statuses.contains(&Status::Uncertain);
            prop_assert!(!is_settled || exists, "{n}: {statuses:?}");
            prop_assert!(!exists || is_settled || is_uncertain, "{n}: {statuses:?}");
        }
    }
}

/// What all attempts of a campaign are answered from some time on.
fn any_end_of_a_campaign() -> impl Strategy<Value = (usize, Verdict)> {
    let token = Verdict::Fatal {
        cause: FatalCause::Forbidden,
        code: ErrorCode::Http(403),
        text: "no".into(),
    };
    let verdict = prop_oneof![
        3 => Just(missing_campaign()),
        1 => Just(token),
        1 => Just(Verdict::Rejected { code: ErrorCode::Http(422), text: "no".into() }),
        1 => Just(never_taken()),
        1 => Just(lost()),
    ];
    (0usize..20, verdict)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn for_any_mix_of_campaigns_numbers_and_answers_the_run_ends(
        rows in 1u32..700,
        numbers in prop_oneof![1u32..40, Just(10_000)],
        scripts in prop::collection::btree_map(0u32..40, prop::collection::vec(any_reply(), 0..6), 0..30),
        campaigns in 1u32..5,
        ends in prop::collection::hash_map(0i64..5, any_end_of_a_campaign(), 0..3),
        concurrency in 1usize..10,
        max_attempts in 1u32..5,
        allow_duplicates: bool,
        hold: bool,
        has_small_window: bool,
    ) {
        let service = Service::default();
        {
            let mut state = service.0.borrow_mut();
            state.allow_duplicates = allow_duplicates;
            state.from_then_on = ends.clone();
        }
        for (n, replies) in scripts {
            service.says(&number(n), replies);
        }
        let policy = Policy {
            concurrency: in_flight(concurrency),
            max_attempts,
            on_uncertain: if hold { OnUncertain::Hold } else { OnUncertain::Resend },
            form: LeadForm { allow_duplicates, ..LeadForm::default() },
            ..policy()
        };
        let numbers: Vec<u32> = (0..rows).map(|row| row * 7 % numbers).collect();
        let campaign_of = |n: u32| i64::from(n % campaigns);
        let rows = numbers.iter().map(|n| format!("{},{}\n", number(*n), campaign_of(*n)));
        let list: String = std::iter::once("phone,list\n".to_owned()).chain(rows).collect();
        let column = (campaigns > 1).then_some("list");
        let prepared = prepare_list(policy, &list, 0, column);
        // It is here that it would not end: see `run_changed`.
        let ran = run_changed(&service, policy, prepared, &[], |pipeline| {
            if has_small_window {
                pipeline.window = Window::nearly_full();
            }
        });
        let stop = ran.end.stop.as_ref();
        let is_stuck = stop.is_some_and(|stop| matches!(stop.reason, StopReason::Stuck(_)));
        prop_assert!(!is_stuck, "{stop:?}");
        match stop.map(|stop| stop.by()) {
            None => prop_assert!(ran.rows.iter().all(|(_, outcome)| outcome.is_some())),
            // Nothing ends but by what was answered: 403 for all of a campaign, or in a row.
            Some(by) => {
                let is_expected = matches!(
                    by,
                    StoppedBy::Campaign | StoppedBy::Token | StoppedBy::Outage | StoppedBy::Rejections
                );
                prop_assert!(is_expected, "{stop:?}");
            }
        }
        prop_assert!(!service.0.borrow().same_number_at_once);
    }
}
