use std::rc::Rc;

use futures::future::join_all;

use super::*;
use crate::api::{BaseUrl, Certificates, Token};
use crate::exit::StoppedBy;
use crate::ledger::{AskedPause, LedgerPlace, RecentUse};
use crate::rate::RateChoice;

const HOUR: Duration = Duration::from_secs(3600);

/// What the service says to one call.
type Answered = Result<(), CallError>;

/// A client whose requests are recorded in a ledger of its own.
struct Test {
    client: PacedClient,
    service: ServiceId,
    _folder: tempfile::TempDir,
}

impl Test {
    /// The service has asked an earlier process for this wait.
    fn after(wait: Option<Duration>) -> Test {
        let folder = tempfile::tempdir().unwrap();
        let place = LedgerPlace::file(folder.path().join("ledger.sqlite3"));
        let mut ledger = Ledger::open(&place).unwrap();
        let service = ledger.service("https://service.example").unwrap();
        let recent = RecentUse {
            starts: Vec::new(),
            pause: wait.map(|wait| AskedPause::asked_now(wait, 429)),
        };
        let rate = RateController::new(&RateChoice::Unlimited, None);
        let rate = rate.after(&recent, clock::now());
        let address = BaseUrl::parse("http://127.0.0.1:9/api", false).unwrap();
        let token = Token::from_text("0123456789abcdef", "a test's token").unwrap();
        let trusted = Certificates::default();
        let client = Client::new(&address, token, trusted, None, HOUR).unwrap();
        Test {
            client: PacedClient::new(client, ledger, Some(service), rate, usize::MAX),
            service,
            _folder: folder,
        }
    }

    fn new() -> Test {
        Test::after(None)
    }

    /// Makes a call: `answer` is given how many attempts there were before, and says how long the
    /// service takes and what it answers then.
    async fn make(&self, answer: impl Fn(usize) -> (Duration, Answered)) -> Result<Answered, Stop> {
        let attempts = Cell::new(0);
        let call = async |_: &Client| {
            let (takes, result) = answer(attempts.get());
            attempts.update(|attempts| attempts + 1);
            tokio::time::sleep(takes).await;
            let is_answered = !matches!(result, Err(CallError::NoAnswer { .. }));
            CallResult {
                http_status: is_answered.then_some(200),
                quota: None,
                result,
            }
        };
        let made = self.client.make(call, |_| Ok(())).await;
        made.map(|called| called.result)
    }

    /// The service is understood from now on.
    async fn understand(&self) {
        let made = self.make(|_| (Duration::ZERO, Ok(()))).await;
        made.unwrap().unwrap();
    }

    async fn recorded_wait(&self) -> Option<Duration> {
        let service = self.service;
        let reading = move |ledger: &mut Ledger| ledger.recent_use(service, clock::now());
        let recent = self.client.ledger.with(reading).await.unwrap();
        recent.pause.map(|pause| pause.wait)
    }
}

fn later(seconds: u64) -> Answered {
    Err(CallError::Later {
        wait: Some(Duration::from_secs(seconds)),
        may_be_done: false,
        code: ErrorCode::Http(429),
        text: "too many".into(),
    })
}

fn lost(was_sent: bool) -> Answered {
    Err(CallError::NoAnswer {
        code: ErrorCode::Connection,
        text: "no connection".into(),
        was_sent,
        is_lasting: false,
    })
}

/// When each attempt has started, and how many were under way then, itself included.
#[derive(Clone, Default)]
struct Attempts(Rc<RefCell<Vec<(Instant, usize)>>>, Rc<Cell<usize>>);

impl Attempts {
    fn start(&self) {
        self.1.update(|out| out + 1);
        self.0.borrow_mut().push((Instant::now(), self.1.get()));
    }

    fn end(&self) {
        self.1.update(|out| out - 1);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_wait_one_call_goes_first_though_an_older_one_was_answered_meanwhile() {
    let test = Test::new();
    test.understand().await;
    let began = Instant::now();
    let all = Attempts::default();
    let second = Duration::from_secs(1);
    // One is refused after a second, one answered after two; the others wait for room from then on.
    let calls = (0..AT_ONCE + 8).map(|nth| {
        let (test, attempts) = (&test, all.clone());
        async move {
            let attempt = async |_: &Client| {
                let is_first = began.elapsed() < second;
                attempts.start();
                let (takes, result) = match nth {
                    0 if is_first => (second, later(5)),
                    _ if is_first => (2 * second, Ok(())),
                    _ => (3 * second, Ok(())),
                };
                tokio::time::sleep(takes).await;
                attempts.end();
                CallResult {
                    http_status: Some(200),
                    quota: None,
                    result,
                }
            };
            test.client.make(attempt, |_| Ok(())).await.unwrap()
        }
    });
    join_all(calls).await;
    let attempts = all.0.borrow();
    let after_it = attempts[AT_ONCE..].iter();
    let after_it: Vec<(u64, usize)> = after_it
        .map(|(at, out)| ((*at - began).as_secs(), *out))
        .collect();
    // The refusal came after a second, and the answer to the first one after the wait took three.
    assert_eq!(after_it[0], (6, 1));
    let rest = &after_it[1..];
    assert!(rest.iter().all(|(at, _)| *at == 9), "{rest:?}");
    assert_eq!(rest.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn while_no_connection_can_be_made_one_attempt_at_a_time_goes_out_after_growing_pauses() {
    let test = Test::new();
    test.understand().await;
    let back = Instant::now() + Duration::from_secs(600);
    let attempts = Cell::new(0);
    let calls = (0..AT_ONCE).map(|_| {
        test.make(|_| {
            attempts.update(|attempts| attempts + 1);
            let is_back = Instant::now() >= back;
            (Duration::ZERO, if is_back { Ok(()) } else { lost(false) })
        })
    });
    for made in join_all(calls).await {
        assert_eq!(made.unwrap(), Ok(()));
    }
    let failed = attempts.get() - AT_ONCE;
    // The first of each, and some while pauses grew to a minute.
    assert!((AT_ONCE..AT_ONCE + 30).contains(&failed), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_takes_requests_and_answers_none_of_several_calls_is_down() {
    let test = Test::new();
    test.understand().await;
    let began = Instant::now();
    let attempts = Cell::new(0);
    let calls = (0..AT_ONCE as u64).map(|nth| {
        let (began, attempts) = (&began, &attempts);
        test.make(move |_| {
            let is_back = began.elapsed().as_secs() >= 60;
            attempts.update(|attempts| attempts + 1);
            let takes = Duration::from_millis(nth);
            (takes, if is_back { Ok(()) } else { lost(true) })
        })
    });
    for made in join_all(calls).await {
        assert_eq!(made.unwrap(), Ok(()));
    }
    assert!(attempts.get() < 3 * AT_ONCE, "{}", attempts.get());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_answered_is_given_up_and_keeps_no_other_waiting() {
    let test = Test::new();
    test.understand().await;
    let bad = test.make(|_| (Duration::ZERO, lost(true)));
    let good = async {
        let began = Instant::now();
        for _ in 0..50 {
            test.understand().await;
        }
        began.elapsed()
    };
    let (bad, took) = tokio::join!(bad, good);
    assert_eq!(bad.unwrap(), lost(true));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_longer_than_anybody_waits_stops_and_is_recorded() {
    let test = Test::new();
    let wait = 2 * HOUR;
    let began = Instant::now();
    let made = test.make(|_| (Duration::ZERO, later(wait.as_secs()))).await;
    let reason = made.unwrap_err().reason;
    assert!(matches!(reason, StopReason::AskedToWait { .. }));
    assert_eq!(test.recorded_wait().await, Some(wait));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_an_earlier_process_was_asked_for_is_kept_or_stops_before_the_first_call() {
    let began = Instant::now();
    Test::after(Some(HOUR / 2)).understand().await;
    let took = began.elapsed();
    assert!(
        (HOUR / 2).abs_diff(took) < Duration::from_secs(2),
        "{took:?}"
    );
    let test = Test::after(Some(2 * HOUR));
    let made = test.make(|_| (Duration::ZERO, Ok(()))).await;
    assert_eq!(made.unwrap_err().by(), StoppedBy::Outage);
    assert_eq!(test.client.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn time_between_calls_is_no_outage() {
    let test = Test::new();
    test.understand().await;
    let made = test.make(|_| (Duration::ZERO, lost(true))).await;
    assert_eq!(made.unwrap(), lost(true));
    // Somebody is asked a question, and comes back much later.
    tokio::time::advance(3 * HOUR).await;
    let made = test.make(|attempts| {
        (
            Duration::ZERO,
            if attempts < 2 { lost(true) } else { Ok(()) },
        )
    });
    assert_eq!(made.await.unwrap(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn an_hour_without_an_answer_stops_everything_and_says_why() {
    let test = Test::new();
    test.understand().await;
    let began = Instant::now();
    let made = test.make(|_| (Duration::ZERO, lost(false))).await;
    let StopReason::NoAnswers { detail, .. } = made.unwrap_err().reason else {
        panic!("another reason");
    };
    assert_eq!(detail.as_deref(), Some("no connection"));
    let late = began.elapsed().checked_sub(HOUR).unwrap();
    assert!(late < Duration::from_secs(61), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_let_start_does_not_if_a_wait_is_asked_for_before_it_has() {
    let test = Test::new();
    test.understand().await;
    let may_start = async || test.client.record(|_| Ok(())).await.unwrap();
    assert!(may_start().await);
    let refused = test.make(|attempts| match attempts {
        0 => (Duration::ZERO, later(30)),
        _ => (Duration::ZERO, Ok(())),
    });
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!may_start().await);
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(may_start().await);
        test.client.stop();
        assert!(!may_start().await);
    };
    let (refused, ()) = tokio::join!(refused, meanwhile);
    assert_eq!(refused.unwrap(), Ok(()));
}
