//! The controller against services in memory, in simulated time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroUsize;

use super::*;

/// How a service treats a request, given how many it is working on.
#[derive(Debug, Clone, Copy)]
enum Carries {
    /// Any number.
    All,
    /// So many at once; the rest queues.
    Queue(usize),
    /// So many at once, and another number from second 40 on.
    Changes(usize, usize),
    /// One after the other, each so long, beside the latency.
    Work(f64),
    /// So many; with more, all become slow out of proportion.
    Collapses(f64),
    /// It accepts this many; further requests are refused at once.
    Refuses(usize),
    /// One request in this many is refused for a second, at any concurrency.
    Random(u32),
}

#[derive(Debug, Clone, Copy)]
struct Service {
    carries: Carries,
    latency: f64,
    /// By such a share it is more or less, as it happens.
    spread: f64,
    /// From this time on the latency grows by this factor, over this many seconds.
    slows: Option<(f64, f64, f64)>,
}

impl Service {
    /// How many it works on at once.
    fn carries(&self, now: f64) -> usize {
        match self.carries {
            Carries::Queue(most) => most,
            Carries::Changes(before, after) => [before, after][usize::from(now >= 40.0)],
            _ => usize::MAX,
        }
    }

    fn takes(&self, chance: &mut fastrand::Rng) -> f64 {
        self.latency * (1.0 + self.spread * (2.0 * chance.f64() - 1.0))
    }
}

struct Outcome {
    /// Seconds and limit at each good answer.
    good: Vec<(f64, usize)>,
}

impl Outcome {
    fn throughput(&self, from: f64, to: f64) -> f64 {
        let count = self
            .good
            .iter()
            .filter(|(at, _)| (from..to).contains(at))
            .count();
        count as f64 / (to - from)
    }

    fn most(&self, from: f64) -> usize {
        let late = self.good.iter().filter(|(at, _)| *at >= from);
        late.map(|(_, limit)| *limit).max().unwrap_or(0)
    }

    fn last(&self) -> usize {
        self.good.last().unwrap().1
    }
}

/// Keeps as many in flight as allowed, for so long.
fn run(service: Service, choice: ConcurrencyChoice, seconds: f64) -> Outcome {
    let origin = Instant::now();
    let mut chance = fastrand::Rng::with_seed(3);
    let mut concurrency = Concurrency::new(choice, usize::MAX);
    let mut now = 0.0;
    let mut held = 0.0;
    // Microseconds of the end, number, microseconds of the start, and whether it is good.
    let mut answers = BinaryHeap::new();
    let mut queue: VecDeque<f64> = VecDeque::new();
    let mut served = 0;
    let mut taken = 0;
    let mut free_at: f64 = 0.0;
    let mut number = 0u64;
    let mut good = Vec::new();
    let micros = |seconds: f64| (seconds * 1e6).round() as u64;
    while now < seconds {
        while answers.len() + queue.len() < concurrency.limit() && now >= held {
            number += 1;
            let there = answers.len() + queue.len() + 1;
            let mut latency = service.takes(&mut chance);
            if let Some((at, times, within)) = service.slows {
                let part = ((now - at) / within).clamp(0.0, 1.0);
                latency *= times.powf(part);
            }
            let mut is_good = true;
            let end = match service.carries {
                _ if served >= service.carries(now) => {
                    queue.push_back(now);
                    continue;
                }
                Carries::All | Carries::Queue(_) | Carries::Changes(..) => now + latency,
                Carries::Work(work) => {
                    free_at = free_at.max(now) + work;
                    free_at + latency
                }
                Carries::Collapses(most) => now + latency * (there as f64 / most).max(1.0).powi(3),
                Carries::Refuses(most) if taken >= most => {
                    is_good = false;
                    now + latency / 10.0
                }
                Carries::Refuses(_) => now + latency,
                Carries::Random(one_in) => {
                    is_good = chance.u32(0..one_in) != 0;
                    now + latency
                }
            };
            served += 1;
            taken += usize::from(is_good);
            answers.push(Reverse((micros(end), number, micros(now), is_good)));
        }
        let Some(Reverse((at, _, start, is_good))) = answers.pop() else {
            now = held;
            continue;
        };
        now = at as f64 / 1e6;
        served -= 1;
        taken -= usize::from(is_good);
        let instant = origin + Duration::from_micros(at);
        if is_good {
            good.push((now, concurrency.limit()));
            concurrency.answered(origin + Duration::from_micros(start), instant, true, true);
        } else {
            concurrency.refused(origin + Duration::from_micros(start), instant);
            if matches!(service.carries, Carries::Random(_)) {
                held = now + 1.0;
            }
        }
        while served < service.carries(now)
            && let Some(waiting) = queue.pop_front()
        {
            number += 1;
            served += 1;
            taken += 1;
            let latency = service.takes(&mut chance);
            answers.push(Reverse((
                micros(now + latency),
                number,
                micros(waiting),
                true,
            )));
        }
    }
    Outcome { good }
}

fn fixed(most: usize) -> ConcurrencyChoice {
    ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap())
}

/// The best throughput of any fixed number.
fn best(service: Service) -> f64 {
    let from = service.latency * 2.0;
    let runs = (0..10).map(|power| {
        let to = from + service.latency * 4.0 + 0.2;
        run(service, fixed(1 << power), to).throughput(from, to)
    });
    runs.fold(0.0, f64::max)
}

fn service(carries: Carries, latency: f64) -> Service {
    Service {
        carries,
        latency,
        spread: 0.2,
        slows: None,
    }
}

#[test]
fn auto_reaches_nine_tenths_of_the_best_concurrency_within_ten_seconds_and_stays() {
    for (carries, latency) in [
        (Carries::All, 0.05),
        (Carries::All, 0.5),
        (Carries::Queue(20), 0.05),
        (Carries::Queue(20), 0.5),
        (Carries::Queue(3), 0.05),
        (Carries::Work(30e-6), 0.005),
        (Carries::Work(1e-3), 0.05),
    ] {
        let service = service(carries, latency);
        let best = best(service);
        let is_fast = best > 5000.0;
        let to = if is_fast { 13.0 } else { 60.0 };
        let end = run(service, ConcurrencyChoice::Auto, to);
        let soon = end.throughput(10.0, 13.0) / best;
        let later = end.throughput(to / 2.0, to) / best;
        println!(
            "{carries:?} {latency} s: best {best:.0}/s, soon {:.0} %, later {:.0} %, limit {}, at most {}",
            soon * 100.0,
            later * 100.0,
            end.last(),
            end.most(0.0)
        );
        assert!(soon >= 0.9, "{carries:?} {latency} s: {soon}");
        assert!(later >= 0.9, "{carries:?} {latency} s: {later}");
    }
}

#[test]
fn answers_in_bursts_do_not_end_the_startup() {
    for (latency, spread) in [0.05, 0.5]
        .into_iter()
        .flat_map(|latency| [0.0, 0.001, 0.01, 0.05].map(|spread| (latency, spread)))
    {
        let mut service = service(Carries::All, latency);
        service.spread = spread;
        let end = run(service, ConcurrencyChoice::Auto, 13.0);
        let share = end.throughput(10.0, 13.0) / (512.0 / latency);
        println!("{latency} s, give or take {spread}: {:.0} %", share * 100.0);
        assert!(share >= 0.9, "{latency} s, {spread}: {share}");
    }
}

#[test]
fn a_fast_service_is_fully_used_within_two_seconds() {
    let service = service(Carries::All, 0.005);
    let end = run(service, ConcurrencyChoice::Auto, 2.5);
    assert!(end.throughput(2.0, 2.5) >= 0.9 * 512.0 / 0.005);
}

#[test]
fn a_service_that_queues_or_collapses_is_not_overrun() {
    for carries in [Carries::Queue(20), Carries::Collapses(20.0)] {
        for latency in [0.005, 0.05, 0.5] {
            let end = run(service(carries, latency), ConcurrencyChoice::Auto, 40.0);
            println!(
                "{carries:?} {latency} s: at most {}, last {}",
                end.most(0.0),
                end.last()
            );
            assert!(
                end.most(0.0) <= 50,
                "{carries:?} {latency} s: {}",
                end.most(0.0)
            );
            assert!(end.last() >= 15);
        }
    }
}

#[test]
fn queueing_at_the_service_is_not_taken_for_latency_in_the_long_run() {
    for carries in [Carries::Queue(20), Carries::Collapses(20.0)] {
        let end = run(service(carries, 0.05), ConcurrencyChoice::Auto, 900.0);
        let share = end.throughput(600.0, 900.0) / best(service(carries, 0.05));
        println!("{carries:?}: at most {}, share {share:.2}", end.most(0.0));
        assert!(end.most(0.0) <= 40 && share >= 0.9, "{carries:?}: {share}");
    }
}

#[test]
fn latency_that_grows_by_itself_costs_no_concurrency_in_the_end() {
    let mut service = service(Carries::All, 0.05);
    service.slows = Some((10.0, 10.0, 20.0));
    let end = run(service, ConcurrencyChoice::Auto, 120.0);
    let at = |second: f64| end.good.iter().find(|(at, _)| *at >= second).unwrap().1;
    let share = end.throughput(100.0, 120.0) / (512.0 / 0.5);
    println!(
        "slower: {} {} {} {}, {:.0} % in the end",
        at(9.0),
        at(20.0),
        at(30.0),
        end.last(),
        share * 100.0
    );
    assert_eq!(at(9.0), 512);
    assert_eq!(end.last(), 512);
    assert!(share >= 0.9, "{share}");
}

#[test]
fn answers_that_take_unevenly_long_do_not_end_the_climb() {
    for carries in [Carries::All, Carries::Queue(20)] {
        for latency in [0.05, 0.5] {
            let mut service = service(carries, latency);
            service.spread = 0.9;
            let end = run(service, ConcurrencyChoice::Auto, 60.0);
            let best = service.carries(0.0).min(512) as f64 / latency;
            let share = end.throughput(20.0, 60.0) / best;
            println!("{carries:?} {latency} s, uneven: {:.0} %", share * 100.0);
            assert!(share >= 0.85, "{carries:?} {latency} s: {share}");
        }
    }
}

#[test]
fn a_service_that_carries_more_or_fewer_from_some_time_on_is_followed() {
    for (before, after) in [(20, 80), (80, 20)] {
        let service = service(Carries::Changes(before, after), 0.1);
        let end = run(service, ConcurrencyChoice::Auto, 110.0);
        let share = end.throughput(80.0, 110.0) / (after as f64 / 0.1);
        println!(
            "{before}, then {after}: {:.0} %, at most {}",
            share * 100.0,
            end.most(80.0)
        );
        assert!(share >= 0.9, "{before}, then {after}: {share}");
        assert!(end.most(80.0) <= after * 2);
    }
}

#[test]
fn where_more_are_refused_concurrency_stays_at_what_is_accepted() {
    for choice in [ConcurrencyChoice::Auto, fixed(64)] {
        let end = run(service(Carries::Refuses(20), 0.05), choice, 20.0);
        println!(
            "refuses more than 20, {choice:?}: {:.0}/s, last {}",
            end.throughput(10.0, 20.0),
            end.last()
        );
        assert!(end.throughput(10.0, 20.0) >= 0.9 * 20.0 / 0.05);
        assert!(end.most(10.0) <= 30);
    }
}

#[test]
fn random_refusals_do_not_lower_a_fixed_number_for_long() {
    for latency in [0.001, 0.05, 0.5] {
        let end = run(service(Carries::Random(50), latency), fixed(64), 120.0);
        let mean = end.good.iter().map(|(_, limit)| limit).sum::<usize>() / end.good.len();
        println!("one in fifty refused, {latency} s: mean limit {mean}");
        assert!(mean >= 56, "{mean}");
    }
}

#[test]
fn a_fixed_number_shrinks_on_refusals_only_and_recovers() {
    let origin = Instant::now();
    let at = |millis| origin + Duration::from_millis(millis);
    let mut concurrency = Concurrency::new(fixed(10), usize::MAX);
    for i in 0..10 {
        concurrency.refused(at(i), at(i));
    }
    assert_eq!(concurrency.limit(), 10);
    concurrency.refused(at(9), at(100));
    assert_eq!(concurrency.limit(), 7);
    for i in 0..100 {
        concurrency.answered(at(150 + i * 20), at(160 + i * 20), false, true);
    }
    assert_eq!(concurrency.limit(), 10);
}

#[test]
fn concurrency_does_not_grow_while_it_is_not_used() {
    let origin = Instant::now();
    let mut concurrency = Concurrency::new(ConcurrencyChoice::Auto, usize::MAX);
    for i in 0..1000 {
        let now = origin + Duration::from_millis(i * 10);
        concurrency.answered(now, now + Duration::from_millis(5), false, true);
    }
    assert_eq!(concurrency.limit(), 1);
}

#[test]
fn concurrency_never_falls_below_one() {
    let origin = Instant::now();
    for choice in [ConcurrencyChoice::Auto, fixed(3)] {
        let mut concurrency = Concurrency::new(choice, usize::MAX);
        for i in 0..100 {
            let now = origin + Duration::from_millis(i * 150);
            concurrency.refused(now, now);
        }
        assert_eq!(concurrency.limit(), 1);
    }
}

#[test]
fn a_stuck_request_does_not_hold_up_the_others() {
    let start = Instant::now();
    let now = start + Duration::from_secs(2);
    let stuck = |count: usize| std::iter::repeat_n(start, count);
    let auto = Concurrency::new(ConcurrencyChoice::Auto, usize::MAX);
    assert_eq!(auto.limit_beside(stuck(1), start), 1);
    assert_eq!(auto.limit_beside(stuck(1), now), 2);
    assert_eq!(auto.limit_beside(stuck(100), now), 5);
    let given = Concurrency::new(ConcurrencyChoice::Fixed(NonZeroUsize::MIN), usize::MAX);
    assert_eq!(given.limit_beside(stuck(1), now), 1);
}

#[test]
fn no_more_are_in_flight_than_there_may_be_connections() {
    let now = Instant::now();
    for choice in [ConcurrencyChoice::Auto, fixed(64)] {
        let mut concurrency = Concurrency::new(choice, 3);
        for second in 0..60 {
            let later = now + Duration::from_secs(second);
            for _ in 0..10 {
                concurrency.answered(later, later + Duration::from_millis(10), true, true);
            }
            let stuck = [now; 9].into_iter();
            let limit = concurrency.limit_beside(stuck, later + Duration::from_secs(60));
            assert!((1..=3).contains(&limit), "{limit}");
        }
    }
}
