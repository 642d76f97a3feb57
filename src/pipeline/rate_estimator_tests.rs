//! The estimator and the limiter against services in memory, in simulated time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU32;

use super::*;
use crate::pipeline::rate_limiter::RateLimiter;

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
    estimator: RateEstimator,
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
    mut service: Service,
    in_flight: usize,
    seconds: f64,
    count: usize,
) -> Outcome {
    let seed = service.seed;
    let origin = Instant::now();
    let end = origin + Duration::from_secs_f64(seconds);
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut now = origin;
    let mut estimator = RateEstimator::new(choice, known, now);
    let mut limiter = RateLimiter::new(&estimator.limits);
    let mut held = origin;
    let mut unhinted = 0;
    let mut under_way = 0;
    let mut answers = Vec::new();
    let mut accepted = 0;
    // Time, number, start, and the reply once the service has seen it.
    let mut events = BinaryHeap::new();
    let mut replies: Vec<(Instant, Option<Reply>)> = Vec::new();
    while now < end && accepted < count {
        let mut wake = None;
        while under_way < in_flight {
            match limiter.try_start(now) {
                Ok(()) => {
                    estimator.started(now);
                    limiter.set_limits(&estimator.limits);
                    under_way += 1;
                    let way = service.way(&mut chance);
                    events.push(Reverse((now + way, replies.len())));
                    replies.push((now, None));
                }
                Err(when) => {
                    if now >= held {
                        estimator.binds = true;
                    }
                    wake = Some(when);
                    break;
                }
            }
        }
        let event = events.peek().map(|Reverse((at, _))| *at);
        if let Some(when) = wake
            && event.is_none_or(|at| when < at)
        {
            now = when.max(now);
            continue;
        }
        let Some(Reverse((at, number))) = events.pop() else {
            continue;
        };
        now = at;
        let (start, reply) = replies[number];
        let Some(reply) = reply else {
            replies[number].1 = Some(service.answer(origin, now, &mut chance));
            let way = service.way(&mut chance);
            events.push(Reverse((now + way, number)));
            continue;
        };
        under_way -= 1;
        answers.push((now, reply.is_accepted));
        let hold = if reply.is_accepted {
            unhinted = 0;
            accepted += 1;
            estimator.accepted(start, reply.quota.as_ref(), now)
        } else {
            let until = match reply.hint {
                Some(hint) => now + hint,
                None if now < held => held,
                None => {
                    unhinted += 1;
                    let longest = f64::from(1u32 << (unhinted - 1).min(6)).min(60.0);
                    now + Duration::from_secs_f64(0.75 * longest)
                }
            };
            held = held.max(until);
            limiter.hold(until);
            estimator.refused(start, reply.quota.as_ref(), held, now);
            None
        };
        limiter.set_limits(&estimator.limits);
        if let Some(until) = hold {
            held = held.max(until);
            limiter.hold(until);
        }
    }
    Outcome {
        origin,
        end: now,
        estimator,
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
        end.estimator
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
    assert_eq!(end.estimator.pace(), None);
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

#[test]
fn a_limit_that_is_halved_or_doubled_is_followed() {
    for to in [30, 120] {
        for window in WINDOWS {
            for headers in [Headers::None, Headers::Counts, Headers::All] {
                for has_hint in [true, false] {
                    let mut service = Service::new("60/min", window);
                    service.headers = headers;
                    service.has_hint = has_hint;
                    service.change = Some((Duration::from_secs(600), to));
                    let best = to as f64 / 60.0;
                    let share = if headers == Headers::None { 0.9 } else { 0.98 };
                    let end = send(&RateChoice::Auto, None, service, 16, 1800.0, usize::MAX);
                    let what = format!(
                        "auto, 60/min to {to}/min {window:?}, headers {headers:?}, hints {has_hint}"
                    );
                    println!(
                        "{what}: then refused {:.2} %, throughput five minutes later {:.1} %",
                        end.share_refused(600.0) * 100.0,
                        end.throughput(900.0) / best * 100.0
                    );
                    assert!(end.share_refused(600.0) <= 0.07, "{what}");
                    assert!(end.throughput(900.0) >= share * best, "{what}");
                }
            }
        }
    }
}

#[test]
fn refusals_unrelated_to_the_pace_do_not_slow_it_down() {
    let (mut total, mut count) = (0.0, 0);
    for in_flight in [1, 16, 64] {
        for seed in 1..=4 {
            let mut service = Service::new("1000000/s", Window::Sliding);
            service.latency = Duration::from_millis(1);
            service.random = Some(50);
            service.seed = seed;
            let end = send(&RateChoice::Unlimited, None, service, in_flight, 1e6, 5000);
            let refused = end.answers.iter().filter(|(_, ok)| !ok).count();
            let took = (end.end - end.origin).as_secs_f64();
            let obeying = refused as f64 + 5.0 / in_flight as f64;
            println!(
                "one in fifty refused, {in_flight} in flight: {took:.0} s, obeying {obeying:.0} s"
            );
            assert!(took <= 3.0 * obeying, "{took} s");
            total += took / obeying;
            count += 1;
        }
    }
    assert!(total / f64::from(count) <= 2.2, "{total} / {count}");
}

#[test]
fn a_given_limit_is_the_ceiling_and_is_reached_again() {
    let rates = vec![Rate::per_second(5)];
    let choice = RateChoice::Limits(rates.clone());
    let mut service = Service::new("60/min", Window::Fixed);
    service.headers = Headers::All;
    service.change = Some((Duration::from_secs(300), 6000));
    let end = send(&choice, None, service, 16, 290.0, usize::MAX);
    assert!(end.estimator.pace().unwrap().pace() < 1.2);
    assert_eq!(end.estimator.limits[0], rates[0]);
    let mut service = Service::new("60/min", Window::Fixed);
    service.change = Some((Duration::from_secs(300), 6000));
    let end = send(&choice, None, service, 16, 2400.0, usize::MAX);
    assert_eq!(end.estimator.limits, rates);
    assert_eq!(end.estimator.known(), None);
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
                    let known = end.estimator.known().unwrap();
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
    assert_eq!(end.estimator.known(), Some(stated));

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
    assert!(!end.estimator.known().unwrap().is_stated);
}

#[test]
fn two_stated_limits_are_both_kept() {
    let now = Instant::now();
    let mut estimator = RateEstimator::new(&RateChoice::Auto, None, now);
    for (i, (limit, left)) in [(20, 19), (100, 18)].into_iter().enumerate() {
        let now = now + Duration::from_secs(i as u64);
        let quota = Quota {
            limit: NonZeroU32::new(limit),
            remaining: Some(left),
            reset: Some(Duration::from_secs(if limit == 20 { 10 } else { 60 })),
        };
        estimator.started(now);
        estimator.accepted(now, Some(&quota), now);
    }
    let told: Vec<String> = estimator.limits.iter().map(Rate::to_string).collect();
    assert_eq!(told, ["20/10s", "100/min"]);
}

#[test]
fn an_hourly_limit_is_recognized_by_its_reset() {
    for window in WINDOWS {
        let mut service = Service::new("1000/h", window);
        service.headers = Headers::All;
        let end = send(&RateChoice::Auto, None, service, 16, 5400.0, usize::MAX);
        assert_eq!(end.share_refused(0.0), 0.0);
        assert_eq!(end.estimator.pace().unwrap().to_string(), "1000/h");
        assert!(end.throughput(0.0) >= 0.97 * 1000.0 / 3600.0);
    }
}

#[test]
fn use_of_the_limit_by_others_is_waited_out() {
    let now = Instant::now();
    let mut estimator = RateEstimator::new(&RateChoice::Auto, None, now);
    let quota = Quota {
        limit: NonZeroU32::new(60),
        remaining: Some(0),
        reset: Some(Duration::from_secs(20)),
    };
    estimator.started(now);
    let hold = estimator.accepted(now, Some(&quota), now);
    assert_eq!(hold, Some(now + Duration::from_secs(20)));
    assert_eq!(estimator.pace(), Some(Rate::per_minute(60)));
}

#[test]
fn the_pace_does_not_grow_while_it_is_not_used() {
    let origin = Instant::now();
    let mut estimator = RateEstimator::new(&RateChoice::Auto, None, origin);
    for second in 0..600 {
        let now = origin + Duration::from_secs(second);
        estimator.started(now);
        estimator.accepted(now, None, now);
    }
    assert_eq!(estimator.pace(), Some(Rate::per_minute(100)));
}

#[test]
fn refusals_in_one_pause_count_once_and_late_ones_do_not_count() {
    let origin = Instant::now();
    let at = |millis| origin + Duration::from_millis(millis);
    let mut estimator = RateEstimator::new(
        &RateChoice::Limits(vec![Rate::per_second(100)]),
        None,
        origin,
    );
    // One alone would be an accident.
    estimator.refused(at(0), None, at(0), at(0));
    assert_eq!(estimator.pace(), Some(Rate::per_second(100)));
    for i in 0..100 {
        estimator.started(at(i * 10));
        estimator.accepted(at(i * 10), None, at(i * 10 + 5));
    }
    for _ in 0..10 {
        estimator.refused(at(1000), None, at(6000), at(1005));
    }
    estimator.started(at(6000));
    estimator.accepted(at(6000), None, at(6010));
    let pace = estimator.pace().unwrap().pace();
    assert!((16.0..17.0).contains(&pace), "{pace}");
    estimator.refused(at(1000), None, at(7000), at(6020));
    assert_eq!(estimator.pace().unwrap().pace(), pace);
}

#[test]
fn without_limits_or_refusals_auto_doubles_every_half_minute_up_to_ten_a_second() {
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
        (end.estimator.pace().unwrap().pace(), end.estimator.known())
    };
    let (pace, known) = pace_after(30.0);
    assert!((3.2..3.4).contains(&pace), "{pace}");
    assert_eq!(known.unwrap().rate.pace().round(), 3.0, "as far as it came");
    let (pace, known) = pace_after(120.0);
    assert_eq!(pace, MOST);
    assert_eq!(known.unwrap().rate.pace(), MOST);
}

#[test]
fn a_request_that_was_lost_does_not_make_a_span_shorter() {
    let origin = Instant::now();
    let mut estimator = RateEstimator::new(&RateChoice::Auto, None, origin);
    let quota = |used: u32| Quota {
        limit: NonZeroU32::new(100),
        remaining: Some(100 - used),
        reset: Some(Duration::from_secs(60)),
    };
    let at = |second| origin + Duration::from_secs(second);
    estimator.started(at(0));
    estimator.accepted(at(0), Some(&quota(1)), at(0));
    estimator.started(at(10));
    estimator.lost(at(10));
    estimator.started(at(20));
    let rest = Quota {
        reset: Some(Duration::from_secs(40)),
        ..quota(2)
    };
    estimator.accepted(at(20), Some(&rest), at(20));
    assert_eq!(estimator.limits, [Rate::per_minute(100)]);
}
