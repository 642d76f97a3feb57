//! Looking rows up whose answers were lost: what is known of them, and what becomes of them.

use super::*;

#[cfg(not(unix))]
fn expire(_: &Subject) {}

#[test]
fn a_row_that_may_be_looked_up_is_known_with_the_times_of_its_attempts() {
    each(|mut subject| {
        let attempted = |first, last| Attempted {
            first: at(first),
            last: at(last),
            ended: None,
        };
        for (row, outcome, (first, last)) in [
            (1, uncertain(), (10, 20)),
            (1, uncertain(), (15, 40)),
            (3, lost_duplicate(), (50, 60)),
        ] {
            let mut group = settlements([row], &outcome);
            group.settlements[0].attempted = Some(attempted(first, last));
            subject.commit(RUN, claims([row]));
            if let Ledger::Server(_) = subject.ledger {
                // A settlement is of the sender that has claimed the row.
                group.settlements[0].claim.sender = subject.ledger.lease().permits().unwrap();
            }
            subject.commit(RUN, group);
        }
        // Of these nothing is to be found out: one has an id, the other was never in doubt.
        let with_id = RowOutcome {
            lead_id: id(4).lead_id,
            ..lost_duplicate()
        };
        let duplicate = RowOutcome::not_sent(Status::Duplicate, None, None);
        subject.send(RUN, &[(2, id(2)), (4, with_id), (5, duplicate)]);
        subject.end(RUN);
        let rows = subject.ledger.rows_to_look_up(RUN).unwrap();
        let brief: Vec<_> = rows
            .iter()
            .map(|(row, times)| (row.row.0, times.clone()))
            .collect();
        // Each start has its own.
        let both = vec![attempted(10, 20), attempted(15, 40)];
        assert_eq!(brief, [(1, both), (3, vec![attempted(50, 60)])]);
        // They are kept until the row is decided.
        subject.ledger.reconcile(&rows[1].0, &id(3)).unwrap();
        let rows = subject.ledger.rows_to_look_up(RUN).unwrap();
        assert_eq!(rows.len(), 1);
        let counts = subject.ledger.counts_of(RUN).unwrap();
        assert_eq!(
            (counts.of(Status::Created), counts.of(Status::Duplicate)),
            (2, 2)
        );
        let made = subject.ledger.leads_made(RUN).unwrap();
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].row, RowId(3));
    });
}

#[test]
fn of_a_claim_without_an_answer_the_claim_is_on_record_and_until_when_others_may_have_followed() {
    each(|mut subject| {
        let group = Group {
            claimed_at_ms: at(10).as_millisecond(),
            ..claims([1])
        };
        subject.commit(RUN, group);
        if let Ledger::Server(_) = subject.ledger {
            assert_eq!(subject.ledger.rows_to_look_up(RUN).unwrap(), []);
            #[cfg(unix)]
            subject
                ._keeps
                .downcast_ref::<crate::ledger::cluster::Database>()
                .unwrap()
                .sql("UPDATE leadload.senders SET until = to_timestamp(1700000030)");
        }
        // Reading finds the same as is written afterwards.
        let before = subject.ledger.rows_to_look_up(RUN).unwrap();
        let counted = |subject: &Subject| subject.ledger.runs().unwrap()[0].counts;
        assert_eq!(counted(&subject).of(Status::Uncertain), 1);
        assert_eq!(subject.ledger.counts_of(RUN).unwrap(), Counts::default());
        let unknown = [(1, Some(UndoStatus::Unknown))];
        assert_eq!(brief(&subject.ledger.undo_plan(RUN).unwrap()), unknown);
        for _ in 0..2 {
            subject.ledger.recover(subject.service).unwrap();
            subject.ledger.expire_claims(RUN).unwrap();
            assert_eq!(counted(&subject).of(Status::Uncertain), 1);
        }
        assert_eq!(brief(&subject.ledger.undo_plan(RUN).unwrap()), unknown);
        let rows = subject.ledger.rows_to_look_up(RUN).unwrap();
        let [(row, times)] = &rows[..] else {
            panic!("{rows:?}");
        };
        let [times] = &times[..] else {
            panic!("{times:?}");
        };
        assert_eq!(row.row, RowId(1));
        assert_eq!(before[0].0.outcome.status, Status::Uncertain);
        assert_eq!(before[0].1[0].first, times.first);
        assert_eq!((times.first, times.last), (at(10), at(10)));
        match subject.ledger {
            Ledger::Server(_) => assert_eq!(times.surely_over(), at(30)),
            Ledger::File(_) => {
                let ago = times.surely_over().duration_until(Timestamp::now());
                assert!((0..60).contains(&ago.as_secs()), "{ago}");
            }
        }
        // Sent again by a later start, it keeps the time of the claim.
        subject.commit(RUN, claims([1]));
        let mut group = settlements([1], &uncertain());
        let last = at(2_000_000_000);
        group.settlements[0].attempted = Some(Attempted {
            first: at(50),
            last,
            ended: None,
        });
        if let Ledger::Server(_) = subject.ledger {
            group.settlements[0].claim.sender = subject.ledger.lease().permits().unwrap();
        }
        subject.commit(RUN, group);
        subject.ledger.recover(subject.service).unwrap();
        let times = &subject.ledger.rows_to_look_up(RUN).unwrap()[0].1;
        let times: Vec<_> = times.iter().map(|of| (of.first, of.last)).collect();
        assert_eq!(times, [(at(10), at(10)), (at(50), last)]);
    });
}

/// One start of a run: when it has claimed a row, in seconds; and if it was not killed then, how long
/// afterwards its first and its last attempt were.
type Start = (i64, Option<(i64, i64)>);

/// Starts of a run, some of which were killed. Days lie between some of them.
fn any_starts() -> impl Strategy<Value = Vec<Start>> {
    let gap = prop_oneof![0..90_i64, 0..400_000_i64];
    let attempts = prop::option::of((0..30_i64, 0..90_i64));
    prop::collection::vec((gap, attempts), 1..5).prop_map(|starts| {
        let mut now = 0;
        let start = |(gap, attempts): (i64, Option<(i64, i64)>)| {
            let claimed = now + gap;
            let attempts = attempts.map(|(first, more)| (claimed + first, claimed + first + more));
            now = attempts.map_or(claimed, |(_, last)| last) + 1;
            (claimed, attempts)
        };
        starts.into_iter().map(start).collect()
    })
}

/// What is on record of a start of one row: its first and its last attempt, for which the claim stands if it
/// was killed.
fn on_record((claimed, attempts): &Start) -> (Timestamp, Timestamp) {
    let (first, last) = attempts.unwrap_or((*claimed, *claimed));
    (at(first), at(last))
}

/// Claims a row as each start did, and settles it, or is killed.
fn send_by_starts(subject: &mut Subject, row: u64, starts: &[Start]) {
    for (claimed, attempts) in starts {
        let group = Group {
            claimed_at_ms: at(*claimed).as_millisecond(),
            ..claims([row])
        };
        subject.commit(RUN, group);
        if let Some((first, last)) = attempts {
            let mut group = settlements([row], &uncertain());
            group.settlements[0].attempted = Some(Attempted {
                first: at(*first),
                last: at(*last),
                ended: None,
            });
            if let Ledger::Server(_) = subject.ledger {
                group.settlements[0].claim.sender = subject.ledger.lease().permits().unwrap();
            }
            subject.commit(RUN, group);
            subject.ledger.recover(subject.service).unwrap();
        } else {
            if let Ledger::Server(_) = subject.ledger {
                expire(subject);
            }
            subject.ledger.recover(subject.service).unwrap();
            subject.ledger.expire_claims(RUN).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// Many rows at once, since a database is made for each case.
    #[test]
    fn the_time_at_which_a_kill_is_noticed_is_in_no_record_of_attempts(
        rows in prop::collection::vec(any_starts(), 1..10)
    ) {
        each(|mut subject| {
            for (row, starts) in (1..).zip(&rows) {
                send_by_starts(&mut subject, row, starts);
            }
            let found = subject.ledger.rows_to_look_up(RUN).unwrap();
            assert_eq!(found.len(), rows.len());
            for ((record, times), starts) in found.iter().zip(&rows) {
                let known: Vec<_> = times.iter().map(|of| (of.first, of.last)).collect();
                let expected: Vec<_> = starts.iter().map(on_record).collect();
                assert_eq!(known, expected, "{} {starts:?}", record.row);
                assert!(times.iter().all(|of| of.surely_over() >= of.last));
            }
        });
    }
}

#[test]
fn what_the_service_has_of_uncertain_rows_is_counted_and_known() {
    each(|mut subject| {
        let rows = [1, 2, 3, 4].map(|row| (row, uncertain()));
        subject.send(RUN, &rows);
        subject.end(RUN);
        let found = subject.ledger.rows_to_look_up(RUN).unwrap();
        let record = |at: usize| found[at].0.clone();
        let failed = RowOutcome::not_sent(Status::Failed, Some(ErrorCode::AnswerLost), None);
        let outcomes = [
            (record(0), id(1)),
            (record(1), lost_duplicate()),
            (record(2), failed),
        ];
        for (row, outcome) in &outcomes {
            subject.ledger.reconcile(row, outcome).unwrap();
        }
        let statuses: Vec<Status> = subject.rows(RUN).into_iter().map(|row| row.1).collect();
        assert_eq!(
            statuses,
            [
                Status::Created,
                Status::Duplicate,
                Status::Failed,
                Status::Uncertain
            ]
        );
        let counts = subject.ledger.counts_of(RUN).unwrap();
        for status in [
            Status::Created,
            Status::Duplicate,
            Status::Failed,
            Status::Uncertain,
        ] {
            assert_eq!(counts.of(status), 1, "{status}");
        }
        let settled = subject.known(number(1)).settled.unwrap();
        assert_eq!(settled.outcome.lead_id, id(1).lead_id);
        assert_eq!(subject.known(number(3)), Known::default());
        // Once more changes nothing.
        for (row, outcome) in &outcomes {
            subject.ledger.reconcile(row, outcome).unwrap();
        }
        assert_eq!(subject.ledger.counts_of(RUN).unwrap(), counts);
        let later = subject.begin(77);
        let reply = subject.ledger.commit(later, &claims([3])).unwrap();
        assert!(reply.refused.is_empty());
    });
}

#[test]
fn a_row_that_a_later_start_has_counted_as_imported_before_is_counted_once() {
    each(|mut subject| {
        let rows = [1, 2, 3].map(|row| (row, uncertain()));
        subject.send(RUN, &rows);
        let mut counts = Counts::default();
        (0..3).for_each(|_| counts.add(Status::AlreadyImported));
        let ending = StartEnd {
            complete: true,
            counts,
            ..StartEnd::default()
        };
        subject.ledger.end(RUN, 1, &ending, at(1)).unwrap();
        subject.ledger.recover(subject.service).unwrap();
        for (row, _) in subject.ledger.rows_to_look_up(RUN).unwrap() {
            subject.ledger.reconcile(&row, &lost_duplicate()).unwrap();
        }
        let counts = subject.ledger.counts_of(RUN).unwrap();
        assert_eq!((counts.total(), counts.of(Status::Duplicate)), (3, 3));
    });
}

#[test]
fn what_a_killed_start_has_claimed_is_counted_once_when_a_later_one_has_stopped() {
    each(|mut subject| {
        let mut run = new_run(subject.service, 80);
        run.expected = subject.ledger.predecessors(&run).unwrap().latest;
        let killed = subject.ledger.begin(&run, at(1)).unwrap().unwrap().run;
        subject.commit(killed, claims([1, 2]));
        let has_two_in_doubt = |subject: &Subject| {
            let runs = subject.ledger.runs().unwrap();
            let known = runs.iter().find(|known| known.run == killed).unwrap();
            assert_eq!(known.counts.of(Status::Uncertain), 2);
        };
        let ends = |subject: &mut Subject| match subject.ledger {
            Ledger::Server(_) => expire(subject),
            Ledger::File(_) => drop(subject.ledger.recover(subject.service).unwrap()),
        };
        ends(&mut subject);
        has_two_in_doubt(&subject);
        run.expected = subject.ledger.predecessors(&run).unwrap().latest;
        let begun = subject.ledger.begin(&run, at(2)).unwrap().unwrap();
        let mut counts = Counts::default();
        (0..2).for_each(|_| counts.add(Status::Uncertain));
        let stopped = StartEnd {
            stopped_by: Some("max_duration"),
            counts,
            last_read: 2,
            ..StartEnd::default()
        };
        subject
            .ledger
            .end(begun.run, begun.start, &stopped, at(3))
            .unwrap();
        ends(&mut subject);
        has_two_in_doubt(&subject);
        subject.ledger.expire_claims(killed).unwrap();
        has_two_in_doubt(&subject);
    });
}

#[test]
fn the_longest_timeout_of_all_starts_is_known() {
    each(|mut subject| {
        let mut run = new_run(subject.service, 79);
        let mut begun = RUN;
        for (said, longest) in [(60.0, 60), (90.5, 90), (10.0, 90)] {
            run.options = serde_json::json!({ "timeout": said });
            run.expected = subject.ledger.predecessors(&run).unwrap().latest;
            if let Ledger::Server(_) = subject.ledger {
                expire(&subject);
            }
            begun = subject.ledger.begin(&run, at(1)).unwrap().unwrap().run;
            let runs = subject.ledger.runs().unwrap();
            let record = runs.iter().find(|known| known.run == begun).unwrap();
            assert_eq!(record.timeout().map(|time| time.as_secs()), Some(longest));
        }
        assert_ne!(begun, RUN);
        assert_eq!(subject.ledger.runs().unwrap()[0].timeout(), None);
    });
}
