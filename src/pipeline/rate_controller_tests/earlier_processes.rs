//! What earlier processes have sent counts too.

use super::*;
use crate::ledger::{AskedPause, StartsInSecond};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

fn limited(rate: &str, recent: &RecentUse, now: Timestamp) -> RateController {
    let choice = RateChoice::Limits(vec![rate.parse().unwrap()]);
    RateController::new(&choice, None).after(recent, now)
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
    let asked = |asked_at, seconds| RecentUse {
        starts: Vec::new(),
        pause: Some(AskedPause {
            asked_at: at(asked_at),
            wait: Duration::from_secs(seconds),
            http_status: 429,
        }),
    };
    let mut rate = limited("20/s", &asked(50_000, 650), at(100_000));
    let (_, why) = rate.pause_at_start.unwrap();
    assert_eq!(why, ErrorCode::Http(429));
    assert_eq!(start(&mut rate, 1).await, [Duration::from_secs(600)]);
    // Over, or noted under a clock that was ahead.
    for asked_at in [80_000, 900_000] {
        let mut rate = limited("20/s", &asked(asked_at, 20), at(100_000));
        assert_eq!(rate.pause_at_start, None);
        assert_eq!(start(&mut rate, 1).await, [Duration::ZERO]);
    }
}

#[tokio::test(start_paused = true)]
async fn starts_recorded_in_the_future_count_as_made_now_or_not_at_all_if_the_clock_was_wrong() {
    let recent = counted([130, 131, 5_000, 5_001].into_iter());
    let mut rate = limited("2/10s", &recent, at(100_000));
    let new = start(&mut rate, 1).await;
    let expected = Duration::from_millis(11_100);
    assert!(
        new[0].abs_diff(expected) < Duration::from_millis(10),
        "{new:?}"
    );
}
