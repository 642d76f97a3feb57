//! How close the controller gets to the limits of simulated services, and how often it is refused.

use super::simulation::*;
use super::*;

#[test]
fn nothing_is_limited_before_the_first_refusal() {
    let mut service = Service::new("1000000/s", Window::Sliding);
    service.headers = Headers::All;
    let end = send(&RateChoice::Unlimited, None, service, 4, 5.0, usize::MAX);
    assert_eq!(end.controller.pace(), None);
    assert!(end.throughput(0.0) >= 790.0);
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
                service.chance = Some((0.02, Some(Duration::from_secs(1))));
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

#[test]
fn a_limit_whose_period_is_a_guess_lifts_nothing_above_ten_a_second() {
    for window in WINDOWS {
        let mut service = Service::new("100000/h", window);
        service.headers = Headers::Counts;
        let end = send(&RateChoice::Auto, None, service, 16, 600.0, usize::MAX);
        let second = end.origin + Duration::from_secs(1);
        let at_first = end.answers.iter().filter(|(at, _)| *at < second).count();
        assert!(at_first <= 3, "{at_first}");
        assert!(end.throughput(0.0) <= MOST);
        assert!(end.throughput(300.0) >= 0.95 * MOST);
        let pace = end.controller.pace().unwrap();
        assert_eq!(pace.to_string(), "10/s, the most that is tried");
    }
}

#[test]
fn a_limit_above_ten_a_second_is_used_once_its_window_was_seen_to_refill() {
    for window in WINDOWS {
        let mut service = Service::new("1000/min", window);
        service.headers = Headers::Counts;
        let best = service.pace();
        let end = send(&RateChoice::Auto, None, service, 16, 1500.0, usize::MAX);
        tell(format!("auto, 1000/min {window:?}"), &end, best);
        assert!(end.throughput(600.0) >= 0.96 * best);
        assert!(end.share_refused(300.0) <= 0.03);
        assert!(end.controller.known().unwrap().is_stated);
    }
}
