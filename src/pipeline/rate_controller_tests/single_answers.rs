//! What single answers teach the controller.

use std::num::NonZeroU32;

use super::*;

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

#[tokio::test(start_paused = true)]
async fn a_request_that_got_no_answer_does_not_count_in_the_span_of_a_limit() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    let unanswered = controller.try_start().unwrap();
    tokio::time::advance(Duration::from_secs(20)).await;
    controller.lost(unanswered);
    let quota = Quota {
        limit: NonZeroU32::new(10),
        remaining: Some(9),
        reset: Some(Duration::from_secs(10)),
    };
    answer(&mut controller, quota).await;
    assert_eq!(controller.rates[0].to_string(), "10/10s");
}

/// One more is used than was started: that of a request that is forgotten here.
#[tokio::test(start_paused = true)]
async fn one_request_more_does_not_show_that_a_limit_has_a_longer_span() {
    let mut controller = RateController::new(&RateChoice::Unlimited, None);
    for used in [[1, 2, 3, 4, 5], [2, 3, 4, 5, 6]] {
        for used in used {
            let quota = Quota {
                limit: NonZeroU32::new(60),
                remaining: Some(60 - used),
                reset: None,
            };
            start(&mut controller, 1).await;
            controller.accepted(Instant::now(), Some(&quota));
            tokio::time::advance(Duration::from_millis(10)).await;
        }
        assert_eq!(controller.stated.rates()[0].to_string(), "60/min");
        tokio::time::advance(Duration::from_secs(70)).await;
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
async fn a_ledger_starts_no_run_faster_than_the_program_would_try_by_itself() {
    for is_stated in [false, true] {
        let known = KnownRate {
            rate: Rate::per_second(1_000_000),
            is_stated,
        };
        let controller = RateController::new(&RateChoice::Auto, Some(known));
        let pace = controller.pace().unwrap().to_string();
        assert_eq!(pace, "10/s, the most that is tried");
    }
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

#[tokio::test(start_paused = true)]
async fn a_count_that_never_changes_shows_no_refilled_window() {
    let mut controller = RateController::new(&RateChoice::Auto, None);
    let quota = Quota {
        limit: NonZeroU32::new(100_000),
        remaining: Some(99_999),
        reset: None,
    };
    for _ in 0..300 {
        start(&mut controller, 1).await;
        controller.accepted(Instant::now(), Some(&quota));
    }
    let starts = start(&mut controller, 21).await;
    assert!(starts[20] >= Duration::from_millis(1900), "{starts:?}");
}
