//! The controller against services in memory, in simulated time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::Future;
use std::num::NonZeroU32;

use super::*;
use crate::ledger::StartsInSecond;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    Sliding,
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Headers {
    None,
    Counts,
    All,
}

/// A service with a limit, counting as the sandbox does.
#[derive(Debug, Clone)]
struct Service {
    limit: usize,
    per: Duration,
    window: Window,
    headers: Headers,
    has_hint: bool,
    latency: Duration,
    /// Each way takes its half of it, more or less by up to this share.
    jitter: f64,
    /// At that time the limit becomes another.
    change: Option<(Duration, usize)>,
    /// One request in this many is refused for a second, at any pace.
    random: Option<u32>,
    seed: u64,
    admitted: VecDeque<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Reply {
    is_accepted: bool,
    hint: Option<Duration>,
    quota: Option<Quota>,
}

impl Service {
    fn new(limit: &str, window: Window) -> Service {
        let rate: Rate = limit.parse().unwrap();
        Service {
            limit: rate.requests.get() as usize,
            per: rate.per,
            window,
            headers: Headers::None,
            has_hint: true,
            latency: Duration::from_millis(5),
            jitter: 0.0,
            change: None,
            random: None,
            seed: 7,
            admitted: VecDeque::new(),
        }
    }

    fn way(&self, chance: &mut fastrand::Rng) -> Duration {
        let more_or_less = (chance.f64() * 2.0 - 1.0) * self.jitter;
        (self.latency / 2).mul_f64(1.0 + more_or_less)
    }

    fn pace(&self) -> f64 {
        self.limit as f64 / self.per.as_secs_f64()
    }

    fn answer(&mut self, origin: Instant, now: Instant, chance: &mut fastrand::Rng) -> Reply {
        if let Some((at, limit)) = self.change
            && now >= origin + at
        {
            self.limit = limit;
        }
        while let Some(&first) = self.admitted.front()
            && first + self.per <= now
        {
            match self.window {
                Window::Sliding => drop(self.admitted.pop_front()),
                Window::Fixed => self.admitted.clear(),
            }
        }
        let over = self.admitted.front().map_or(now, |first| *first + self.per);
        let whole = |wait: Duration| Duration::from_secs(wait.as_secs_f64().ceil() as u64);
        let over_after =
            |admitted: &VecDeque<Instant>| admitted.front().map_or(now, |first| *first + self.per);
        let is_random = self.random.is_some_and(|one_in| chance.u32(0..one_in) == 0);
        let is_accepted = self.admitted.len() < self.limit && !is_random;
        if is_accepted {
            self.admitted.push_back(now);
        }
        let left = self.limit.saturating_sub(self.admitted.len());
        let quota = Quota {
            limit: NonZeroU32::new(self.limit as u32),
            remaining: Some(left as u32),
            reset: (self.headers == Headers::All).then(|| whole(over_after(&self.admitted) - now)),
        };
        let hint = if is_random {
            Duration::from_secs(1)
        } else {
            whole(over - now)
        };
        Reply {
            is_accepted,
            hint: (!is_accepted && self.has_hint).then_some(hint),
            quota: (self.headers != Headers::None).then_some(quota),
        }
    }
}

struct Outcome {
    origin: Instant,
    end: Instant,
    controller: RateController,
    /// When each request was answered, and whether it was accepted.
    answers: Vec<(Instant, bool)>,
}

impl Outcome {
    fn share_refused(&self, from: f64) -> f64 {
        let of = |is: &dyn Fn(bool) -> bool| {
            let after = |at: &Instant| (*at - self.origin).as_secs_f64() >= from;
            self.answers
                .iter()
                .filter(|(at, ok)| after(at) && is(*ok))
                .count() as f64
        };
        of(&|ok| !ok) / of(&|_| true).max(1.0)
    }

    fn throughput(&self, from: f64) -> f64 {
        let after = |at: &Instant| (*at - self.origin).as_secs_f64() >= from;
        let count = self
            .answers
            .iter()
            .filter(|(at, ok)| after(at) && *ok)
            .count();
        count as f64 / ((self.end - self.origin).as_secs_f64() - from)
    }
}

/// Sends as the loop does, for this long or until this many answers are accepted.
fn send(
    choice: &RateChoice,
    known: Option<KnownRate>,
    service: Service,
    in_flight: usize,
    seconds: f64,
    count: usize,
) -> Outcome {
    stopped_clock(send_all(choice, known, service, in_flight, seconds, count))
}

fn stopped_clock<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(future)
}

async fn wait_until(at: Instant) {
    tokio::time::advance(at.saturating_duration_since(Instant::now())).await;
}

async fn send_all(
    choice: &RateChoice,
    known: Option<KnownRate>,
    mut service: Service,
    in_flight: usize,
    seconds: f64,
    count: usize,
) -> Outcome {
    let origin = Instant::now();
    let end = origin + Duration::from_secs_f64(seconds);
    let mut chance = fastrand::Rng::with_seed(service.seed);
    let mut controller = RateController::new(choice, known);
    let mut unhinted = 0;
    let mut under_way = 0;
    let mut answers = Vec::new();
    let mut accepted = 0;
    // Time, number, start, and the reply once the service has seen it.
    let mut events = BinaryHeap::new();
    let mut replies: Vec<(Instant, Option<Reply>)> = Vec::new();
    while Instant::now() < end && accepted < count {
        let mut wake = None;
        while under_way < in_flight {
            match controller.try_start() {
                Ok(now) => {
                    under_way += 1;
                    let way = service.way(&mut chance);
                    events.push(Reverse((now + way, replies.len())));
                    replies.push((now, None));
                }
                Err(when) => {
                    wake = Some(when);
                    break;
                }
            }
        }
        let event = events.peek().map(|Reverse((at, _))| *at);
        if let Some(when) = wake
            && event.is_none_or(|at| when < at)
        {
            wait_until(when).await;
            continue;
        }
        let Some(Reverse((now, number))) = events.pop() else {
            continue;
        };
        wait_until(now).await;
        let (start, reply) = replies[number];
        let Some(reply) = reply else {
            replies[number].1 = Some(service.answer(origin, now, &mut chance));
            let way = service.way(&mut chance);
            events.push(Reverse((now + way, number)));
            continue;
        };
        under_way -= 1;
        answers.push((now, reply.is_accepted));
        if reply.is_accepted {
            unhinted = 0;
            accepted += 1;
            controller.accepted(start, reply.quota.as_ref());
            continue;
        }
        let is_held = controller.limiter.held_until().is_some();
        let wait = match reply.hint {
            None if is_held => Duration::ZERO,
            None => {
                unhinted += 1;
                let wait = crate::backoff::long_delay(unhinted, 0.5);
                wait.min(controller.longest_guess())
            }
            Some(hint) => hint,
        };
        controller.limiter.hold(now + wait);
        controller.refused(start, reply.quota.as_ref(), reply.hint.is_some());
    }
    Outcome {
        origin,
        end: Instant::now(),
        controller,
        answers,
    }
}

const WINDOWS: [Window; 2] = [Window::Sliding, Window::Fixed];

/// Prints the figures, for developers who change a rule: `cargo test -- --nocapture`.
fn tell(what: String, end: &Outcome, best: f64) {
    println!(
        "{what}: refused {:.2} %, after five minutes {:.2} %, throughput {:.1} %, pace {}",
        end.share_refused(0.0) * 100.0,
        end.share_refused(300.0) * 100.0,
        end.throughput(0.0) / best * 100.0,
        end.controller
            .pace()
            .map_or("none".into(), |pace| pace.to_string()),
    );
}

#[test]
fn without_a_limit_of_its_own_it_finds_a_hundred_a_second_within_seconds() {
    for in_flight in [1, 16, 64] {
        for window in WINDOWS {
            let service = Service::new("100/s", window);
            let end = send(
                &RateChoice::Unlimited,
                None,
                service,
                in_flight,
                60.0,
                usize::MAX,
            );
            tell(
                format!("none, 100/s {window:?}, {in_flight} in flight"),
                &end,
                100.0,
            );
            assert!(end.share_refused(0.0) <= 0.05);
            assert!(end.throughput(0.0) >= 92.0);
        }
    }
}

#[test]
fn nothing_is_limited_before_the_first_refusal() {
    let mut service = Service::new("1000000/s", Window::Sliding);
    service.headers = Headers::All;
    let end = send(&RateChoice::Unlimited, None, service, 4, 5.0, usize::MAX);
    assert_eq!(end.controller.pace(), None);
    assert!(end.throughput(0.0) >= 790.0);
}

#[test]
fn auto_gets_close_to_any_limit_whatever_the_service_states() {
    for limit in ["60/min", "300/min", "20/s"] {
        for window in WINDOWS {
            for headers in [Headers::None, Headers::Counts, Headers::All] {
                for has_hint in [true, false] {
                    let mut service = Service::new(limit, window);
                    service.headers = headers;
                    service.has_hint = has_hint;
                    let (best, share) = match headers {
                        Headers::None => (service.pace().min(MOST), 0.95),
                        // The span is known to within a start or so.
                        Headers::Counts => (service.pace(), 0.96),
                        Headers::All => (service.pace(), 0.98),
                    };
                    let end = send(&RateChoice::Auto, None, service, 16, 1500.0, usize::MAX);
                    let what =
                        format!("auto, {limit} {window:?}, headers {headers:?}, hints {has_hint}");
                    tell(what.clone(), &end, best);
                    assert!(end.share_refused(300.0) <= 0.03, "{what}");
                    assert!(end.throughput(600.0) >= share * best, "{what}");
                }
            }
        }
    }
}

/// The service changes its limit of 60 a minute after ten minutes.
fn change_to(to: usize, from: f64, shares: [f64; 2]) {
    for window in WINDOWS {
        for headers in [Headers::None, Headers::Counts, Headers::All] {
            for has_hint in [true, false] {
                let mut service = Service::new("60/min", window);
                service.headers = headers;
                service.has_hint = has_hint;
                service.change = Some((Duration::from_secs(600), to));
                let best = to as f64 / 60.0;
                let share = shares[usize::from(headers != Headers::None)];
                let end = send(
                    &RateChoice::Auto,
                    None,
                    service,
                    16,
                    from + 900.0,
                    usize::MAX,
                );
                let what = format!("to {to}/min {window:?}, headers {headers:?}, hints {has_hint}");
                println!(
                    "{what}: then refused {:.2} %, from {from} s on {:.1} %",
                    end.share_refused(600.0) * 100.0,
                    end.throughput(from) / best * 100.0
                );
                assert!(end.share_refused(600.0) <= 0.08, "{what}");
                assert!(end.throughput(from) >= share * best, "{what}");
            }
        }
    }
}

#[test]
fn a_limit_that_is_halved_is_followed_at_once() {
    change_to(30, 900.0, [0.95, 0.98]);
}

#[test]
fn a_limit_that_is_doubled_is_found_within_a_quarter_of_an_hour() {
    change_to(120, 1500.0, [0.95, 0.98]);
}

#[test]
fn refusals_unrelated_to_the_pace_do_not_take_it_down_to_nothing() {
    for (choice, least) in [(RateChoice::Unlimited, 8.0), (RateChoice::Auto, 2.0)] {
        for in_flight in [1, 16, 64] {
            for seed in 1..=4 {
                let mut service = Service::new("1000000/s", Window::Sliding);
                service.latency = Duration::from_millis(1);
                service.random = Some(50);
                service.seed = seed;
                let end = send(&choice, None, service, in_flight, 1e6, 5000);
                let made = end.throughput(0.0);
                println!("one in fifty refused, {choice:?}, {in_flight} in flight: {made:.1}/s");
                assert!(made >= least, "{made}");
            }
        }
    }
}

#[test]
fn a_given_limit_is_the_ceiling_and_is_reached_again() {
    let rates = vec![Rate::per_second(5)];
    let choice = RateChoice::Limits(rates.clone());
    let mut service = Service::new("60/min", Window::Fixed);
    service.headers = Headers::All;
    service.change = Some((Duration::from_secs(300), 6000));
    let end = send(&choice, None, service, 16, 290.0, usize::MAX);
    assert_eq!(end.share_refused(0.0), 0.0, "used up, it is waited for");
    assert!(end.throughput(60.0) >= 0.98);
    assert_eq!(end.controller.rates, rates);
    let mut service = Service::new("60/min", Window::Fixed);
    service.change = Some((Duration::from_secs(300), 6000));
    let end = send(&choice, None, service, 16, 2400.0, usize::MAX);
    let given = Pace {
        rate: rates[0],
        source: PaceSource::Given,
    };
    assert_eq!(end.controller.pace(), Some(given));
    assert_eq!(end.controller.known(), None);
}

#[test]
fn the_span_of_a_stated_limit_is_never_found_too_short_nor_much_too_long() {
    for (limit, seconds) in [
        ("20/s", 1.0),
        ("20/10s", 10.0),
        ("100/10s", 10.0),
        ("60/min", 60.0),
        ("300/min", 60.0),
    ] {
        for window in WINDOWS {
            for headers in [Headers::Counts, Headers::All] {
                for (millis, jitter) in [(5, 0.0), (50, 0.3), (300, 0.8)] {
                    let mut service = Service::new(limit, window);
                    service.headers = headers;
                    service.latency = Duration::from_millis(millis);
                    service.jitter = jitter;
                    let end = send(&RateChoice::Auto, None, service, 64, 400.0, usize::MAX);
                    // What is known is the stated limit; chance on the way may cost a
                    // refusal now and then, and the pace for a while.
                    let known = end.controller.known().unwrap();
                    let found = known.rate.per.as_secs_f64();
                    let what = format!("{limit} {window:?} {headers:?} {millis} ms: {found}");
                    println!("{what}, refused {:.4}", end.share_refused(0.0));
                    assert!(found >= seconds * 0.98, "{what}");
                    assert!(
                        found <= seconds * 1.3 + 2.0 * millis as f64 / 1000.0,
                        "{what}"
                    );
                    assert!(known.is_stated, "{what}");
                    assert!(end.share_refused(0.0) <= 0.02, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_run_starts_at_the_rate_of_the_last_one() {
    let stated = KnownRate {
        rate: "300/min".parse().unwrap(),
        is_stated: true,
    };
    let mut service = Service::new("300/min", Window::Fixed);
    service.headers = Headers::Counts;
    let end = send(
        &RateChoice::Auto,
        Some(stated),
        service,
        16,
        120.0,
        usize::MAX,
    );
    assert_eq!(end.share_refused(0.0), 0.0);
    assert!(end.throughput(0.0) >= 0.98 * 5.0);
    assert_eq!(end.controller.known(), Some(stated));

    let found = KnownRate {
        rate: "300/min".parse().unwrap(),
        is_stated: false,
    };
    let end = send(
        &RateChoice::Auto,
        Some(found),
        Service::new("300/min", Window::Fixed),
        16,
        600.0,
        usize::MAX,
    );
    assert!(end.share_refused(0.0) <= 0.01);
    assert!(end.throughput(0.0) >= 0.95 * 5.0);
    assert!(!end.controller.known().unwrap().is_stated);
}

/// A request that is answered at once.
async fn answer(controller: &mut RateController, quota: Quota) {
    let started = controller.try_start().unwrap();
    controller.accepted(started, Some(&quota));
}

#[tokio::test(start_paused = true)]
async fn two_stated_limits_are_both_kept() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    for (limit, left) in [(20, 19), (100, 18)] {
        let quota = Quota {
            limit: NonZeroU32::new(limit),
            remaining: Some(left),
            reset: Some(Duration::from_secs(if limit == 20 { 10 } else { 60 })),
        };
        answer(&mut controller, quota).await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let told: Vec<String> = controller.rates.iter().map(Rate::to_string).collect();
    assert_eq!(told, ["20/10s", "100/min"]);
}

#[test]
fn an_hourly_limit_is_recognized_by_its_reset() {
    for window in WINDOWS {
        let mut service = Service::new("1000/h", window);
        service.headers = Headers::All;
        let end = send(&RateChoice::Auto, None, service, 16, 5400.0, usize::MAX);
        assert_eq!(end.share_refused(0.0), 0.0);
        assert_eq!(
            end.controller.pace().unwrap().to_string(),
            "1000/h, as the service states"
        );
        assert!(end.throughput(0.0) >= 0.97 * 1000.0 / 3600.0);
    }
}

#[tokio::test(start_paused = true)]
async fn where_a_limit_is_stated_no_longer_its_pace_is_kept() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    let stated = Quota {
        limit: NonZeroU32::new(60),
        remaining: Some(59),
        reset: None,
    };
    let unstated = Quota {
        limit: None,
        ..stated
    };
    for quota in [[stated].as_slice(), &[unstated; 60]].concat() {
        start(&mut controller, 1).await;
        controller.accepted(Instant::now(), Some(&quota));
    }
    assert_eq!(controller.rates, []);
    let kept = controller.pace().unwrap();
    assert_eq!(kept.to_string(), "about 60/min, found by trying");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_minutes_teaches_what_was_taken_before_it() {
    let mut controller = RateController::new(&RateChoice::Unlimited, None);
    for _ in 0..100 {
        start(&mut controller, 1).await;
        controller.accepted(Instant::now(), None);
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    start(&mut controller, 1).await;
    controller
        .limiter
        .hold(Instant::now() + Duration::from_secs(120));
    controller.refused(Instant::now(), None, true);
    start(&mut controller, 1).await;
    controller.accepted(Instant::now(), None);
    // A hundred in 130 seconds, perhaps one less.
    let taught = controller.pace().unwrap();
    assert_eq!(taught.to_string(), "about 46/min, found by trying");
    let known = KnownRate {
        rate: taught.rate,
        is_stated: false,
    };
    assert_eq!(controller.known(), Some(known));
}

#[tokio::test(start_paused = true)]
async fn a_stated_limit_of_which_far_less_is_taken_is_not_where_the_next_run_starts() {
    let stated = KnownRate {
        rate: Rate::per_minute(600),
        is_stated: true,
    };
    let mut controller = RateController::new(&RateChoice::Auto, Some(stated));
    assert_eq!(controller.known(), Some(stated));
    for _ in 0..2 {
        for _ in 0..20 {
            start(&mut controller, 1).await;
            controller.accepted(Instant::now(), None);
        }
        start(&mut controller, 1).await;
        controller
            .limiter
            .hold(Instant::now() + Duration::from_secs(58));
        controller.refused(Instant::now(), None, true);
    }
    start(&mut controller, 1).await;
    controller.accepted(Instant::now(), None);
    let known = controller.known().unwrap();
    assert!(!known.is_stated && known.rate.pace() < 0.5, "{known:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_called_the_most_that_is_tried() {
    let known = KnownRate {
        rate: Rate::per_second(10),
        is_stated: false,
    };
    let mut controller = RateController::new(&RateChoice::Auto, Some(known));
    let told = |controller: &RateController| controller.pace().unwrap().to_string();
    assert_eq!(told(&controller), "10/s, the most that is tried");
    for _ in 0..50 {
        start(&mut controller, 1).await;
        controller.accepted(Instant::now(), None);
    }
    start(&mut controller, 1).await;
    controller
        .limiter
        .hold(Instant::now() + Duration::from_secs(1));
    controller.refused(Instant::now(), None, true);
    start(&mut controller, 1).await;
    controller.accepted(Instant::now(), None);
    let after = told(&controller);
    assert!(after.ends_with("/s, found by trying"), "{after}");
}

#[test]
fn a_limit_that_drops_to_a_fiftieth_is_followed() {
    for has_hint in [true, false] {
        let mut service = Service::new("600/min", Window::Sliding);
        service.has_hint = has_hint;
        service.change = Some((Duration::from_secs(600), 12));
        let end = send(&RateChoice::Auto, None, service, 16, 1800.0, usize::MAX);
        let refused = end.share_refused(720.0);
        let used = end.throughput(720.0) / 0.2;
        println!("hints {has_hint}: refused {refused:.3}, used {used:.2}");
        assert!(refused <= 0.1 && used >= 0.8);
    }
}

#[tokio::test(start_paused = true)]
async fn use_of_the_limit_by_others_is_waited_out() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    let quota = Quota {
        limit: NonZeroU32::new(60),
        remaining: Some(0),
        reset: Some(Duration::from_secs(20)),
    };
    let until = Instant::now() + Duration::from_secs(20);
    answer(&mut controller, quota).await;
    assert_eq!(controller.limiter.held_until(), Some(until));
    let stated = Pace::stated(Rate::per_minute(60));
    assert_eq!(controller.pace(), Some(stated));
}

#[tokio::test(start_paused = true)]
async fn the_pace_does_not_grow_while_it_is_not_used() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    for _ in 0..600 {
        let started = controller.try_start().unwrap();
        controller.accepted(started, None);
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    let pace = controller.pace().unwrap();
    assert_eq!(pace.rate, Rate::per_minute(100));
    assert_eq!(pace.source, PaceSource::Trying);
}

#[tokio::test(start_paused = true)]
async fn refusals_in_one_wait_count_once_and_late_ones_do_not_count() {
    let given = Rate::per_second(100);
    let mut controller = RateController::new(&RateChoice::Limits(vec![given]), None);
    let pace = |controller: &RateController| controller.pace().unwrap().rate.pace();
    let send = async |controller: &mut RateController| {
        start(controller, 1).await;
        Instant::now()
    };
    // One alone would be an accident.
    let first = send(&mut controller).await;
    controller.refused(first, None, true);
    for _ in 0..99 {
        let started = send(&mut controller).await;
        controller.accepted(started, None);
    }
    assert_eq!(pace(&controller), 100.0);
    let late = send(&mut controller).await;
    controller
        .limiter
        .hold(Instant::now() + Duration::from_secs(9));
    for _ in 0..10 {
        controller.refused(late, None, true);
    }
    let started = send(&mut controller).await;
    controller.accepted(started, None);
    // A hundred in ten seconds, the wait included.
    let fallen = pace(&controller);
    assert!((9.0..11.0).contains(&fallen), "{fallen}");
    assert_eq!(controller.known(), None, "a rate was given");
    controller
        .limiter
        .hold(Instant::now() + Duration::from_secs(9));
    controller.refused(late, None, true);
    assert_eq!(pace(&controller), fallen);
}

#[test]
fn without_limits_or_refusals_auto_doubles_every_75_requests_up_to_ten_a_second() {
    let service = Service::new("1000000/s", Window::Sliding);
    let pace_after = |seconds| {
        let end = send(
            &RateChoice::Auto,
            None,
            service.clone(),
            4,
            seconds,
            usize::MAX,
        );
        (end.controller.pace().unwrap(), end.controller.known())
    };
    let (pace, known) = pace_after(25.0);
    let first = pace.rate.pace();
    assert!((2.6..2.8).contains(&first), "{first}");
    assert_eq!(pace.source, PaceSource::Trying);
    assert_eq!(known, None, "it is a guess");
    let (pace, known) = pace_after(60.0);
    assert_eq!(pace.to_string(), "10/s, the most that is tried");
    assert_eq!(known.unwrap().rate.pace(), MOST);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_lost_does_not_make_a_span_shorter() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    let quota = |used: u32, reset| Quota {
        limit: NonZeroU32::new(100),
        remaining: Some(100 - used),
        reset: Some(Duration::from_secs(reset)),
    };
    answer(&mut controller, quota(1, 60)).await;
    tokio::time::advance(Duration::from_secs(10)).await;
    let lost = controller.try_start().unwrap();
    controller.lost(lost);
    tokio::time::advance(Duration::from_secs(10)).await;
    answer(&mut controller, quota(2, 40)).await;
    assert_eq!(controller.rates, [Rate::per_minute(100)]);
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

fn limited(rate: &str, recent: &RecentUse, now: Timestamp) -> RateController {
    let choice = RateChoice::Limits(vec![rate.parse().unwrap()]);
    RateController::new(&choice, None).after(recent, now)
}

/// How long after the beginning each of these requests may start.
async fn start(rate: &mut RateController, requests: usize) -> Vec<Duration> {
    let began = Instant::now();
    let mut starts = Vec::new();
    while starts.len() < requests {
        match rate.try_start() {
            Ok(at) => starts.push(at - began),
            Err(when) => tokio::time::sleep_until(when).await,
        }
    }
    starts
}

fn counted(seconds: impl Iterator<Item = i64>) -> RecentUse {
    let start = |second| StartsInSecond {
        second,
        requests: 1,
    };
    RecentUse {
        starts: seconds.map(start).collect(),
        pause: None,
    }
}

#[tokio::test(start_paused = true)]
async fn requests_of_earlier_processes_count_towards_the_limit() {
    // Fifteen requests, a second apart, the last of them half a second ago.
    let recent = counted(86..=100);
    let mut rate = limited("20/10s", &recent, at(100_500));
    let mut all: Vec<f64> = (86..=100).map(|second| second as f64).collect();
    let new = start(&mut rate, 40).await;
    all.extend(new.iter().map(|after| 100.5 + after.as_secs_f64()));
    for (first, at) in all.iter().enumerate() {
        let in_span = all[first..].iter().take_while(|t| **t < at + 10.0);
        assert!(in_span.count() <= 20, "from {at}: {all:?}");
    }
    assert!(new[0] < Duration::from_millis(1_100), "{:?}", new[0]);
}

#[tokio::test(start_paused = true)]
async fn three_processes_one_after_the_other_keep_to_one_limit() {
    let began = Instant::now();
    let wall_clock = || at(1_000_000 + began.elapsed().as_millis() as i64);
    let mut all: Vec<Duration> = Vec::new();
    for requests in [9, 9, 9] {
        let seconds = all.iter().map(|at| 1_000 + at.as_secs() as i64);
        let mut rate = limited("20/10s", &counted(seconds), wall_clock());
        let before = began.elapsed();
        let new = start(&mut rate, requests).await;
        all.extend(new.into_iter().map(|after| before + after));
    }
    for (first, at) in all.iter().enumerate() {
        let span = *at + Duration::from_secs(10);
        assert!(all[first..].iter().take_while(|t| **t < span).count() <= 20);
    }
    // Evenly spread all the while, but for a second at each beginning.
    assert!(all[26] < Duration::from_secs(17), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_an_earlier_process_was_asked_for_is_obeyed_to_its_end() {
    let asked = |until| RecentUse {
        starts: Vec::new(),
        pause: Some(AskedPause {
            until: at(until),
            http_status: 429,
        }),
    };
    let mut rate = limited("20/s", &asked(700_000), at(100_000));
    let (_, why) = rate.pause_at_start.unwrap();
    assert_eq!(why, ErrorCode::Http(429));
    assert_eq!(start(&mut rate, 1).await, [Duration::from_secs(600)]);
    let mut rate = limited("20/s", &asked(100_000), at(100_000));
    assert_eq!(rate.pause_at_start, None);
    assert_eq!(start(&mut rate, 1).await, [Duration::ZERO]);
}

#[tokio::test(start_paused = true)]
async fn starts_recorded_in_the_future_count_as_made_now() {
    let recent = counted([5_000, 5_001].into_iter());
    let mut rate = limited("2/10s", &recent, at(100_000));
    let new = start(&mut rate, 1).await;
    let expected = Duration::from_millis(11_100);
    assert!(
        new[0].abs_diff(expected) < Duration::from_millis(10),
        "{new:?}"
    );
}
