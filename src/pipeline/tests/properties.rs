//! What holds for any rows and any answers.

use proptest::prelude::*;

use super::*;

fn any_reply() -> impl Strategy<Value = Reply> {
    let verdict = prop_oneof![
        4 => Just((created(), true)),
        1 => Just((lost(), true)),
        1 => Just((lost(), false)),
        1 => Just((never_taken(), false)),
        1 => Just((refused(Some(2)), false)),
        1 => Just((refused(None), false)),
        1 => Just((Verdict::Rejected { code: ErrorCode::Http(422), text: "no".into() }, false)),
        1 => Just((Verdict::Fatal {
            cause: FatalCause::Forbidden,
            code: ErrorCode::Http(403),
            text: "no".into(),
        }, false)),
    ];
    (1u64..3000, verdict).prop_map(|(millis, (verdict, stores))| reply(millis, verdict, stores))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn for_any_answers_every_row_has_one_outcome_in_order_and_every_attempt_is_counted(
        numbers in prop::collection::vec(0u32..12, 1..40),
        scripts in prop::collection::btree_map(0u32..12, prop::collection::vec(any_reply(), 0..6), 0..12),
        concurrency in 1usize..6,
        allow_duplicates: bool,
        hold: bool,
        campaigns in 1u32..4,
    ) {
        let service = Service::default();
        service.0.borrow_mut().allow_duplicates = allow_duplicates;
        for (n, replies) in scripts {
            service.says(&number(n), replies);
        }
        let policy = Policy {
            concurrency: in_flight(concurrency),
            on_uncertain: if hold { OnUncertain::Hold } else { OnUncertain::Resend },
            form: LeadForm { allow_duplicates, ..LeadForm::default() },
            ..policy()
        };
        // Each number has its campaign.
        let rows = numbers.iter().map(|n| format!("+4479110{n:05},{}\n", n % campaigns));
        let list: String = std::iter::once("phone,list\n".to_owned()).chain(rows).collect();
        let column = (campaigns > 1).then_some("list");
        let prepared = prepare_list(policy, &list, 0, column);
        let ran = run_prepared(&service, policy, prepared, &[]);
        let state = service.0.borrow();

        // Only a loop that never ends reaches the longest outage.
        let by = ran.end.stop.as_ref().map(|stop| stop.by());
        prop_assert!(by != Some(StoppedBy::Outage), "{:?}", ran.end.stop);
        let order: Vec<u64> = ran.rows.iter().map(|(row, _)| *row).collect();
        prop_assert_eq!(order, (1..=numbers.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(ran.end.requests, state.attempts.len() as u64);
        if ran.end.stop.is_none() {
            prop_assert!(ran.rows.iter().all(|(_, outcome)| outcome.is_some()));
            let outcomes = ran.rows.iter().filter_map(|(_, outcome)| *outcome);
            let attempts: u64 = outcomes.map(|(_, attempts)| u64::from(attempts)).sum();
            prop_assert_eq!(attempts, ran.end.requests);
        }
        prop_assert!(state.peak_in_flight <= concurrency);
        prop_assert!(!state.same_number_at_once);

        // The truth about every number: settled rows exist, and what exists is
        // settled or said to be uncertain.
        let mut by_number: BTreeMap<u32, Vec<Status>> = BTreeMap::new();
        for (n, (_, outcome)) in numbers.iter().zip(&ran.rows) {
            let statuses = by_number.entry(*n).or_default();
            statuses.extend(outcome.map(|(status, _)| status));
        }
        for (n, statuses) in by_number {
            let exists = state.leads.contains(&number(n));
            let is_settled = statuses.iter().any(|s| matches!(s, Status::Created | Status::Duplicate));
            let is_uncertain = statuses.contains(&Status::Uncertain);
            prop_assert!(!is_settled || exists, "{n}: {statuses:?}");
            prop_assert!(!exists || is_settled || is_uncertain, "{n}: {statuses:?}");
        }
    }
}

/// What all attempts of a campaign are answered from some time on.
fn any_end_of_a_campaign() -> impl Strategy<Value = (usize, Verdict)> {
    let token = Verdict::Fatal {
        cause: FatalCause::Forbidden,
        code: ErrorCode::Http(403),
        text: "no".into(),
    };
    let verdict = prop_oneof![
        3 => Just(missing_campaign()),
        1 => Just(token),
        1 => Just(Verdict::Rejected { code: ErrorCode::Http(422), text: "no".into() }),
        1 => Just(never_taken()),
        1 => Just(lost()),
    ];
    (0usize..20, verdict)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn for_any_mix_of_campaigns_numbers_and_answers_the_run_ends(
        rows in 1u32..700,
        numbers in prop_oneof![1u32..40, Just(10_000)],
        scripts in prop::collection::btree_map(0u32..40, prop::collection::vec(any_reply(), 0..6), 0..30),
        campaigns in 1u32..5,
        ends in prop::collection::hash_map(0i64..5, any_end_of_a_campaign(), 0..3),
        concurrency in 1usize..10,
        max_attempts in 1u32..5,
        allow_duplicates: bool,
        hold: bool,
        has_small_window: bool,
    ) {
        let service = Service::default();
        {
            let mut state = service.0.borrow_mut();
            state.allow_duplicates = allow_duplicates;
            state.from_then_on = ends.clone();
        }
        for (n, replies) in scripts {
            service.says(&number(n), replies);
        }
        let policy = Policy {
            concurrency: in_flight(concurrency),
            max_attempts,
            on_uncertain: if hold { OnUncertain::Hold } else { OnUncertain::Resend },
            form: LeadForm { allow_duplicates, ..LeadForm::default() },
            ..policy()
        };
        let numbers: Vec<u32> = (0..rows).map(|row| row * 7 % numbers).collect();
        let campaign_of = |n: u32| i64::from(n % campaigns);
        let rows = numbers.iter().map(|n| format!("{},{}\n", number(*n), campaign_of(*n)));
        let list: String = std::iter::once("phone,list\n".to_owned()).chain(rows).collect();
        let column = (campaigns > 1).then_some("list");
        let prepared = prepare_list(policy, &list, 0, column);
        // It is here that it would not end: see `run_changed`.
        let ran = run_changed(&service, policy, prepared, &[], |pipeline| {
            if has_small_window {
                pipeline.window = Window::nearly_full();
            }
        });
        let stop = ran.end.stop.as_ref();
        let is_stuck = stop.is_some_and(|stop| matches!(stop.reason, StopReason::Stuck(_)));
        prop_assert!(!is_stuck, "{stop:?}");
        match stop.map(|stop| stop.by()) {
            None => prop_assert!(ran.rows.iter().all(|(_, outcome)| outcome.is_some())),
            // A run is stopped only by its answers: a 403 for a whole campaign, or several in a row.
            Some(by) => {
                let is_expected = matches!(
                    by,
                    StoppedBy::Campaign | StoppedBy::Token | StoppedBy::Outage | StoppedBy::Rejections
                );
                prop_assert!(is_expected, "{stop:?}");
            }
        }
        prop_assert!(!service.0.borrow().same_number_at_once);
    }
}
