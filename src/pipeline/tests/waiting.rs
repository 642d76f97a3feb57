//! Waits for the service, and for another token.

use super::*;

#[test]
fn a_wait_that_the_service_asks_for_goes_on_while_the_computer_sleeps() {
    let service = Service::default();
    service.says(&number(20), vec![reply(5, refused(Some(1800)), false)]);
    let numbers: Vec<u32> = (0..100).collect();
    let prepared = prepare(policy(), &numbers);
    let ran = run_changed(&service, policy(), prepared, &[], |_| {
        tokio::spawn(async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            crate::clock::testing::sleep(Duration::from_secs(1700));
        });
    });
    assert_eq!(ran.end.requests, 101);
    let took = ran.took.as_secs();
    assert!((100..120).contains(&took), "{took}");
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

#[test]
fn a_row_that_may_have_been_taken_waits_a_second_before_it_is_sent_again() {
    let service = Service::default();
    service.says(&number(0), vec![reply(1, lost(), true)]);
    let ran = run(&service, 1);
    assert_eq!(ran.rows, [(1, Some((Status::Duplicate, 2)))]);
    assert!(ran.took >= Duration::from_secs(1));
}

/// Sends six rows, of which the fourth meets a refused token at first; another token is in the file
/// so much later. Also returns when each attempt came.
fn refuse_the_token(policy: Policy, comes_after: Option<Duration>) -> (Ran, Vec<Instant>) {
    let service = Service::default();
    service.says(&number(3), vec![reply(10, token_refused(), false)]);
    let prepared = prepare(policy, &[0, 1, 2, 3, 4, 5]);
    let ran = run_changed(&service, policy, prepared, &[], |pipeline| {
        let comes_at = comes_after.map(|after| Instant::now() + after);
        pipeline.in_flight.sender.0.borrow_mut().token_comes_at = comes_at;
    });
    (ran, service.attempts_at())
}

#[test]
fn a_refused_token_is_waited_for_and_the_row_goes_again_without_a_further_attempt() {
    for most in [1, 8] {
        let policy = Policy {
            concurrency: in_flight(most),
            ..policy()
        };
        let (ran, at) = refuse_the_token(policy, Some(Duration::from_secs(60)));
        assert!(ran.end.stop.is_none(), "{:?}", ran.end.stop);
        let once = Some((Status::Created, 1));
        assert!(ran.rows.iter().all(|(_, outcome)| *outcome == once));
        assert_eq!((at.len(), ran.end.requests), (7, 7));
        let pauses = at.windows(2).map(|pair| (pair[1] - pair[0]).as_secs());
        let longest = pauses.max().unwrap();
        assert!((59..=61).contains(&longest), "{longest}");
    }
}

#[test]
fn where_no_other_token_comes_the_run_stops_after_two_minutes_or_max_outage() {
    let never = Some(Duration::from_secs(24 * 3600));
    for (max_outage, seconds) in [(3600, 120), (30, 30)] {
        let policy = Policy {
            concurrency: in_flight(1),
            ..impatient(max_outage)
        };
        let (ran, at) = refuse_the_token(policy, never);
        assert_eq!(ran.end.stop.unwrap().by(), StoppedBy::Token);
        assert_eq!((at.len(), ran.rows[3].1), (4, None));
        assert_eq!(ran.took.as_secs(), seconds);
    }
}

#[test]
fn a_token_that_cannot_come_or_is_not_waited_for_stops_at_once() {
    for (awaits_token, comes_after) in [(true, None), (false, Some(Duration::from_secs(1)))] {
        let policy = Policy {
            awaits_token,
            ..policy()
        };
        let (ran, _) = refuse_the_token(policy, comes_after);
        assert_eq!(ran.end.stop.unwrap().by(), StoppedBy::Token);
        assert!(ran.took < Duration::from_secs(1), "{:?}", ran.took);
    }
}

#[test]
fn the_end_of_the_time_ends_the_wait_for_another_token() {
    let service = Service::default();
    service.says(&number(1), vec![reply(10, token_refused(), false)]);
    let (batches, inputs, runtime) = prepare(policy(), &[0, 1, 2]);
    let (end, took) = runtime.block_on(async {
        let began = Instant::now();
        service.0.borrow_mut().token_comes_at = Some(began + Duration::from_secs(60));
        let (settled, _done) = mpsc::channel(10);
        let (_no_interrupts, interrupts) = mpsc::channel(1);
        let mut interrupts = Interrupts::new(interrupts);
        interrupts.set_deadline(Some(began + Duration::from_secs(5)));
        let end = run_into(&service, batches, inputs, settled, interrupts).await;
        (end, began.elapsed())
    });
    assert_eq!(end.stop.unwrap().by(), StoppedBy::MaxDuration);
    assert_eq!(took.as_secs(), 5);
}
