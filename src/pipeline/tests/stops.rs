//! What stops a run, and which rows a refusal concerns.

use super::*;

fn one_by_one() -> Policy {
    Policy {
        concurrency: in_flight(1),
        ..policy()
    }
}

/// Runs with these numbers, of which the service refuses some.
fn run_refusing(policy: Policy, numbers: u32, refused: impl IntoIterator<Item = u32>) -> Ran {
    let service = Service::default();
    for n in refused {
        service.says(&number(n), vec![reply(10, missing_campaign(), false)]);
    }
    let numbers: Vec<u32> = (0..numbers).collect();
    run_with(&service, policy, &numbers, &[])
}

fn statuses(ran: &Ran) -> Vec<Option<Status>> {
    let outcomes = ran.rows.iter();
    outcomes
        .map(|(_, outcome)| outcome.map(|(status, _)| status))
        .collect()
}

#[test]
fn when_all_are_refused_a_handful_shows_it_and_these_have_no_outcome() {
    for rows in [1, 3, 6, 66] {
        let ran = run_refusing(policy(), rows, 0..rows);
        assert_eq!(ran.end.stop.unwrap().by(), StoppedBy::Campaign);
        assert_eq!(ran.end.requests, u64::from(rows.min(6)));
        assert_eq!(ran.end.stopped_at.len(), rows.min(6) as usize);
        assert!(ran.rows.iter().all(|(_, outcome)| outcome.is_none()));
    }
}

/// Postponed rows count among the held rows, of which only a few are allowed.
#[test]
fn postponed_rows_leave_room_for_the_row_that_shows_what_was_refused() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    };
    for n in [1, 2] {
        service.says(&number(n), vec![reply(10, fatal.clone(), false)]);
    }
    let held_one_by_one = Policy {
        concurrency: in_flight(1),
        on_uncertain: OnUncertain::Hold,
        ..policy()
    };
    let ran = run_with(&service, held_one_by_one, &[0, 1, 2, 3, 4], &[]);
    let outcomes: Vec<_> = ran
        .rows
        .iter()
        .filter_map(|(_, o)| o.map(|(s, _)| s))
        .collect();
    let (created, rejected) = (Status::Created, Status::Rejected);
    assert_eq!(outcomes, [created, rejected, rejected, created, created]);
}

/// No request can show any more whether the refusal concerns the row or the campaign: the
/// following rows fill the window, and none of them is sent.
#[test]
fn a_postponed_row_is_settled_when_the_window_is_full() {
    let service = Service::default();
    let fatal = Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    };
    service.says(&number(1), vec![reply(10, fatal, false)]);
    let mut numbers = vec![0, 1];
    numbers.extend(std::iter::repeat_n(0, 130_000));
    let ran = run_with(&service, policy(), &numbers, &[]);
    assert!(ran.end.stop.is_none());
    assert_eq!(ran.rows.len(), 130_002);
    assert_eq!(ran.rows[1].1, Some((Status::Rejected, 1)));
}

/// Likewise nothing can show any more that the service was down.
#[test]
fn a_row_without_attempts_left_is_settled_when_the_window_is_full() {
    let service = Service::default();
    service.says(&number(1), vec![reply(10, never_taken(), false); 9]);
    let mut numbers = vec![0, 1];
    numbers.extend(std::iter::repeat_n(0, 130_000));
    let ran = run_with(&service, policy(), &numbers, &[]);
    assert!(ran.end.stop.is_none());
    assert_eq!(ran.rows.len(), 130_002);
    assert_eq!(ran.rows[1].1, Some((Status::Failed, 4)));
}

#[test]
fn a_failed_row_does_not_show_that_refusals_concern_only_their_rows() {
    let service = Service::default();
    for n in [0, 1, 3, 4] {
        service.says(&number(n), vec![reply(10, missing_campaign(), false)]);
    }
    service.says(&number(2), vec![reply(10, never_taken(), false)]);
    let policy = Policy {
        max_attempts: 1,
        ..one_by_one()
    };
    let ran = run_with(&service, policy, &[0, 1, 2, 3, 4], &[]);
    assert_eq!(ran.end.stop.as_ref().unwrap().by(), StoppedBy::Campaign);
    let failed = Some(Status::Failed);
    assert_eq!(statuses(&ran), [None, None, failed, None, None]);
}

#[test]
fn a_writer_that_ends_stops_the_run_at_once() {
    let service = Service::default();
    let numbers: Vec<u32> = (0..3000).collect();
    let (batches, inputs, runtime) = prepare(policy(), &numbers);
    let end = runtime.block_on(async {
        let (settled, done) = mpsc::channel(1);
        drop(done);
        let (_no_interrupts, interrupts) = mpsc::channel(1);
        let interrupts = Interrupts::new(interrupts);
        run_into(&service, batches, inputs, settled, interrupts).await
    });
    assert_eq!(end.stop.unwrap().by(), StoppedBy::Disk);
    // The first batch, and what was in flight.
    assert!(end.requests < 300, "{}", end.requests);
}

/// Rows of one number wait for each other; none may wait for one that was abandoned with its
/// campaign.
#[test]
fn rows_of_one_number_end_with_their_campaign_and_the_others_are_sent() {
    for hold in [false, true] {
        let service = Service::default();
        service.0.borrow_mut().allow_duplicates = true;
        let from_then_on = [(1, (1, missing_campaign()))];
        service.0.borrow_mut().from_then_on = from_then_on.into();
        for n in [1, 5, 30] {
            service.says(&number(n), vec![reply(5, refused(Some(1)), false); 2]);
        }
        let same = std::iter::repeat_n("+447911000001,1\n".to_owned(), 30);
        let others = (2..302).map(|n| format!("{},2\n", number(n)));
        let list: String = ["phone,list\n+447911000000,1\n".to_owned()]
            .into_iter()
            .chain(same)
            .chain(others)
            .collect();
        let policy = Policy {
            on_uncertain: if hold {
                OnUncertain::Hold
            } else {
                OnUncertain::Resend
            },
            form: LeadForm {
                allow_duplicates: true,
                ..LeadForm::default()
            },
            ..policy()
        };
        let prepared = prepare_list(policy, &list, 0, Some("list"));
        let ran = run_prepared(&service, policy, prepared, &[]);
        let stop = ran.end.stop.unwrap();
        assert_eq!(stop.by(), StoppedBy::Campaign, "{stop:?}");
        let created = ran.rows.iter().filter(|(_, outcome)| outcome.is_some());
        assert_eq!(created.count(), 301, "hold: {hold}");
    }
}

/// The run must not wait for what no answer, no time and no row can change.
#[test]
fn rows_that_can_never_be_settled_stop_the_run_as_stuck() {
    let service = Service::default();
    let prepared = prepare(policy(), &[0, 1, 2]);
    let ran = run_changed(&service, policy(), prepared, &[], |pipeline| {
        // As if a request for it were under way.
        let busy = PhoneNumber::from_key(447_911_000_001).unwrap();
        pipeline.schedule.depart((CampaignId(1), busy));
    });
    let stop = ran.end.stop.unwrap();
    assert_eq!(stop, Stop::new(StopReason::Stuck(1)));
    let statuses = ran.rows.iter().map(|(_, o)| o.map(|(status, _)| status));
    let created = Some(Status::Created);
    assert_eq!(statuses.collect::<Vec<_>>(), [created, None, created]);
}
