//! Whose turn it is among rows that are new, that were tried before, and that are put off.

use super::*;
use crate::intake::Earlier;
use crate::message::Text;

/// Runs with so many rows, of which some were tried before.
fn run_known(
    service: &Service,
    policy: Policy,
    rows: u32,
    earlier: impl Fn(u32) -> Option<Earlier>,
) -> Ran {
    let numbers: Vec<u32> = (0..rows).collect();
    let prepared = prepare_known(policy, &list_of(&numbers), 1, None, |row, known| {
        known.earlier = earlier(row as u32 - 1).map(Box::new);
    });
    run_prepared(service, policy, prepared, &[])
}

fn has_created(ran: &Ran, n: u32) -> bool {
    let outcome = ran.rows[n as usize].1;
    outcome.is_some_and(|(status, _)| status == Status::Created)
}

fn met_a_stop() -> Earlier {
    Earlier {
        attempts: 1,
        was_refused: true,
        ..Earlier::default()
    }
}

/// Each of these rows gets this answer whenever it comes.
fn always(service: &Service, rows: impl IntoIterator<Item = u32>, verdict: &Verdict) {
    for n in rows {
        service.says(&number(n), vec![reply(50, verdict.clone(), false); 500]);
    }
}

#[test]
fn a_row_that_met_a_stop_is_sent_though_no_other_row_is_taken() {
    let service = Service::default();
    always(&service, 1..6, &lost());
    let policy = Policy {
        concurrency: in_flight(1),
        max_attempts: 1,
        ..policy()
    };
    let ran = run_known(&service, policy, 6, |n| (n == 0).then(met_a_stop));
    assert!(has_created(&ran, 0));
}

#[test]
fn a_row_that_met_a_stop_goes_before_rows_that_keep_the_start_from_coming_to_it() {
    let service = Service::default();
    let unreadable = Verdict::PerhapsTaken {
        code: ErrorCode::UnreadableAnswer,
        text: "no".into(),
    };
    always(&service, 1..31, &unreadable);
    let policy = Policy {
        concurrency: in_flight(4),
        ..policy()
    };
    let ran = run_known(&service, policy, 32, |n| (n == 31).then(met_a_stop));
    assert_eq!(ran.end.stop.as_ref().unwrap().by(), StoppedBy::Unreadable);
    assert!(has_created(&ran, 31));
}

#[test]
fn rows_that_were_refused_before_leave_one_whose_answer_was_lost_its_turn() {
    let rejected = Verdict::Rejected {
        code: ErrorCode::Http(422),
        text: "no".into(),
    };
    let in_doubt = || Earlier {
        attempts: 1,
        doubt: Some(Text::said("lost")),
        was_refused: false,
    };
    // Rejected by another run, or counted by a stop.
    for was_refused in [false, true] {
        let refused = || Earlier {
            was_refused,
            ..Earlier::default()
        };
        let service = Service::default();
        always(&service, 0..200, &rejected);
        let policy = Policy {
            concurrency: in_flight(4),
            stop_after: NonZeroU32::new(25).unwrap(),
            ..policy()
        };
        let earlier = |n| Some(if n == 200 { in_doubt() } else { refused() });
        let ran = run_known(&service, policy, 201, earlier);
        // What a stop has counted is rejected once another row was taken.
        let stop = (!was_refused).then_some(StoppedBy::Rejections);
        assert_eq!(ran.end.stop.as_ref().map(Stop::by), stop);
        assert!(has_created(&ran, 200), "{was_refused}");
    }
}

/// With 429, which is about a limit for all.
#[test]
fn a_row_that_is_refused_for_now_is_next_again_but_after_the_second_time_another_goes_first() {
    let service = Service::default();
    let mut replies = vec![reply(50, refused(Some(1)), false); 2];
    replies.push(reply(50, created(), true));
    service.says(&number(0), replies);
    let policy = Policy {
        concurrency: in_flight(1),
        ..policy()
    };
    let ran = run_known(&service, policy, 3, |_| None);
    let attempted = service.attempted();
    assert_eq!(attempted[..2], [number(0), number(0)]);
    assert_ne!(attempted[2], number(0));
    assert!((0..3).all(|n| has_created(&ran, n)));
}

/// Asked to come back with 423: that is about the row. 429 would be a limit for all.
#[test]
fn rows_that_are_put_off_keep_no_others_waiting_wherever_they_stand() {
    let later = Verdict::RetryLater {
        wait: Some(Duration::from_secs(20)),
        may_be_taken: false,
        code: ErrorCode::Http(423),
        text: "locked".into(),
    };
    for on_uncertain in [OnUncertain::Resend, OnUncertain::Hold] {
        for most in [1, 4] {
            for put_off in [0..1, 0..2, 0..8, 11..14, 28..30] {
                let service = Service::default();
                always(&service, put_off.clone(), &later);
                let policy = Policy {
                    concurrency: in_flight(most),
                    on_uncertain,
                    ..impatient(600)
                };
                let ran = run_known(&service, policy, 30, |_| None);
                let what = format!("{on_uncertain:?}, {most}, {put_off:?}");
                assert_eq!(ran.end.stop, None, "{what}");
                for n in 0..30 {
                    let is_put_off = put_off.contains(&n);
                    assert_eq!(has_created(&ran, n), !is_put_off, "{what}: {n}");
                }
            }
        }
    }
}
