//! Services that refuse by chance, at any pace.

use proptest::prelude::*;

use super::simulation::*;
use super::*;
use crate::pipeline::by_chance::Chance;

const HINTS: [Option<Duration>; 3] = [
    None,
    Some(Duration::from_millis(10)),
    Some(Duration::from_secs(1)),
];

/// Whatever is done, a share is refused, and so much is taken a second at the pace of `auto` at first.
fn ideal(share: f64) -> f64 {
    START * (1.0 - share)
}

fn refusing(share: f64, hint: Option<Duration>, seed: u64) -> Service {
    let mut service = Service::new("1000000/s", Window::Sliding);
    service.chance = Some((share, hint));
    service.seed = seed;
    service
}

#[test]
fn refusals_by_chance_do_not_slow_auto_down_for_good() {
    does_not_slow_down(&RateChoice::Auto);
}

#[test]
fn refusals_by_chance_do_not_slow_none_down_for_good() {
    does_not_slow_down(&RateChoice::Unlimited);
}

fn does_not_slow_down(choice: &RateChoice) {
    for share in [0.05, 0.1, 0.2, 0.4, 0.5, 0.6, 0.8] {
        // Where more are refused, the waits take longer than any pace.
        let hints = match share {
            0.8 => &HINTS[1..2],
            _ => &HINTS,
        };
        for hint in hints.iter().copied() {
            for millis in [5, 300] {
                let mut made = 0.0;
                for seed in 1..=3 {
                    let mut service = refusing(share, hint, seed);
                    service.latency = Duration::from_millis(millis);
                    let end = send(choice, None, service, 4, 1800.0, 2000);
                    assert!(end.found.len() <= 1, "it is told once");
                    let half = (end.end - end.origin).as_secs_f64() / 2.0;
                    made += end.throughput(half) / 3.0;
                }
                let what = format!("{choice:?}, {share} refused, hint {hint:?}, {millis} ms");
                println!("{what}: {:.2} of the ideal", made / ideal(share));
                assert!(made >= ideal(share) / 2.0, "{what}: {made}");
            }
        }
    }
}

#[test]
fn once_it_is_told_the_pace_stays_where_it_was() {
    for choice in [RateChoice::Auto, RateChoice::Unlimited] {
        for share in [0.05, 0.1, 0.2, 0.3] {
            for hint in [None, Some(Duration::from_secs(1))] {
                let runs = (1..=3).map(|seed| {
                    let service = refusing(share, hint, seed);
                    send(&choice, None, service, 16, 3600.0, 20_000)
                });
                let minutes: Vec<_> = runs.map(|end| taken_once_told(&end)).collect();
                let all: usize = minutes.iter().map(Vec::len).sum();
                let slow: usize = minutes.iter().map(|minutes| far_below_usual(minutes)).sum();
                let what = format!("{choice:?}, {share}, {hint:?}: {minutes:?}");
                println!("{slow} of {all} slow: {what}");
                assert!(slow <= all / 10, "{what}");
            }
        }
    }
}

/// What was taken in each minute from two minutes on after it was told, when the pace has doubled.
fn taken_once_told(end: &Outcome) -> Vec<usize> {
    let [(told, _)] = end.found[..] else {
        panic!("{:?}", end.found);
    };
    let from = told + Duration::from_secs(120);
    let mut minutes = vec![0; (end.end - from).as_secs() as usize / 60];
    for (at, is_accepted) in &end.answers {
        let minute = at
            .checked_duration_since(from)
            .map(|after| after.as_secs() / 60);
        if *is_accepted && let Some(taken) = minute.and_then(|at| minutes.get_mut(at as usize)) {
            *taken += 1;
        }
    }
    minutes
}

fn far_below_usual(minutes: &[usize]) -> usize {
    let mut sorted = minutes.to_vec();
    sorted.sort_unstable();
    let usual = sorted[sorted.len() / 2];
    minutes.iter().filter(|taken| **taken < usual / 2).count()
}

#[test]
fn it_is_told_which_shares_were_compared() {
    let end = send(
        &RateChoice::Auto,
        None,
        refusing(0.4, HINTS[1], 1),
        4,
        600.0,
        usize::MAX,
    );
    let [(_, found)] = end.found[..] else {
        panic!("{:?}", end.found);
    };
    let (before, slower) = (found.before, found.slower);
    assert!(slower.1.pace() < before.1.pace(), "{found:?}");
    for share in [before.0, slower.0] {
        assert!((0.15..0.75).contains(&share), "{found:?}");
    }
}

#[test]
fn a_limit_is_kept_to_where_others_are_refused_by_chance_too() {
    for window in WINDOWS {
        for share in [0.1, 0.3] {
            let mut taken = 0.0;
            for seed in 1..=3 {
                let mut service = Service::new("300/min", window);
                service.chance = Some((share, HINTS[1]));
                service.seed = seed;
                let best = service.pace();
                let end = send(&RateChoice::Auto, None, service, 16, 1800.0, usize::MAX);
                let refused = end.share_refused(600.0);
                let what = format!("{window:?}, {share}, seed {seed}: refused {refused:.2}");
                println!("{what}, taken {:.2}", end.throughput(600.0) / best);
                assert!(refused <= share + 0.15, "{what}");
                taken += end.throughput(600.0) / best / 3.0;
            }
            assert!(taken >= 0.5, "{window:?}, {share}: {taken}");
        }
    }
}

#[test]
fn a_limit_alone_is_never_taken_for_chance() {
    for choice in [RateChoice::Auto, RateChoice::Unlimited] {
        for limit in ["10/h", "100/h", "12/min", "60/min", "300/min", "20/s"] {
            for window in WINDOWS {
                for has_hint in [true, false] {
                    let mut service = Service::new(limit, window);
                    service.has_hint = has_hint;
                    service.jitter = 0.5;
                    let end = send(&choice, None, service, 16, 7200.0, 20_000);
                    let what = format!("{choice:?}, {limit}, {window:?}, hints {has_hint}");
                    assert_eq!(end.found, [], "{what}");
                }
            }
        }
    }
}

#[test]
fn a_given_rate_is_kept_to_and_used_where_refusals_come_by_chance() {
    let choice = RateChoice::Limits(vec![Rate::per_minute(120)]);
    for hint in HINTS {
        let end = send(&choice, None, refusing(0.3, hint, 2), 4, 1800.0, usize::MAX);
        let started = end.answers.len() as f64 / 1800.0;
        assert!(started <= 2.0, "{started}");
        assert!(end.throughput(600.0) >= 0.5 * 2.0 * 0.7, "{hint:?}");
    }
}

proptest! {
    #[test]
    fn whatever_is_refused_the_pace_is_between_what_a_limit_would_make_it_and_what_it_was(
        waits in prop::collection::vec(
            (prop::collection::vec(any::<bool>(), 1..20), 0.3f64..1.0, 1u64..5000, 0u8..20),
            1..80,
        ),
    ) {
        let mut now = Instant::now();
        let (mut chance, mut pace, mut highest) = (Chance::default(), 10.0, 10.0f64);
        for (answers, fall, millis, new) in waits {
            for is_refused in answers {
                now += Duration::from_secs_f64(1.0 / pace);
                chance.answered(now, is_refused);
            }
            now += Duration::from_millis(millis);
            let (before, limited) = (pace, (pace * fall).max(1.0 / 60.0));
            pace = chance.judge(limited, before, new == 0, now);
            highest = highest.max(before);
            prop_assert!(pace >= limited && pace <= highest, "{pace}: {limited}, {highest}");
        }
    }
}
