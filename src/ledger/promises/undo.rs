//! Undoing runs: what is planned, asked for, removed and kept, and who counts as new.

use super::*;

#[test]
fn created_leads_with_an_id_are_removed_and_nothing_else_is_known_to_be_ours() {
    each(|mut subject| {
        let without_id = RowOutcome {
            lead_id: None,
            ..created()
        };
        let duplicate = RowOutcome::not_sent(Status::Duplicate, None, None);
        let rejected = RowOutcome::not_sent(Status::Rejected, None, None);
        let rows = [
            (1, id(1)),
            (2, duplicate),
            (3, lost_duplicate()),
            (4, uncertain()),
            (5, rejected),
            (6, without_id),
            (7, id(7)),
        ];
        subject.send(RUN, &rows);
        subject.end(RUN);
        let unknown = Some(UndoStatus::Unknown);
        let planned = [
            (1, None),
            (3, unknown),
            (4, unknown),
            (6, unknown),
            (7, None),
        ];
        assert_eq!(brief(&subject.ledger.undo_plan(RUN).unwrap()), planned);
        assert_eq!(subject.ledger.undo_rows(RUN).unwrap(), []);
        subject.ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        assert_eq!(brief(&subject.ledger.undo_rows(RUN).unwrap()), planned);
        let rows = subject.ledger.undo_rows(RUN).unwrap();
        let why = rows
            .iter()
            .filter_map(|row| row.outcome.as_ref()?.error.as_deref());
        let expected = [
            crate::ledger::undo::PERHAPS_ANOTHERS,
            crate::ledger::undo::MAY_HAVE_ARRIVED,
            crate::ledger::undo::NO_LEAD_ID,
        ];
        assert_eq!(why.collect::<Vec<_>>(), expected);
        let looked_up = rows.iter().filter(|row| row.may_be_looked_up);
        let looked_up: Vec<u64> = looked_up.map(|row| row.row.0).collect();
        assert_eq!(looked_up, [3, 4]);
    });
}

#[test]
fn a_lead_that_was_removed_counts_as_never_sent_and_stays_in_the_export() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1)), (2, id(2))]);
        subject.end(RUN);
        let ledger = &mut subject.ledger;
        ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        ledger.ask_to_undo(RUN, RowId(1), at(3)).unwrap();
        // It was killed: that lead may be removed.
        ledger.begin_undo(RUN, at(4)).unwrap().unwrap();
        let next = ledger.undo_rows(RUN).unwrap();
        assert_eq!(brief(&next), [(1, None), (2, None)]);
        assert!(next[0].was_asked && !next[1].was_asked);
        let outcomes = [
            (next[0].clone(), done(UndoStatus::Undone)),
            (next[1].clone(), done(UndoStatus::Kept)),
        ];
        for (row, outcome) in &outcomes {
            ledger.settle_undo(RUN, row, outcome).unwrap();
        }
        assert_eq!(subject.known(number(1)), Known::default());
        assert!(subject.known(number(2)).settled.is_some());
        assert_eq!(
            subject.rows(RUN),
            [
                (1, Status::Created, Some(ErrorCode::Undone)),
                (2, Status::Created, None),
            ]
        );
        let record = subject.ledger.runs().unwrap()[0].undo.unwrap();
        assert_eq!(record.began_at, at(2));
        assert_eq!(record.counts.of(UndoStatus::Undone), 1);
        assert_eq!(record.counts.of(UndoStatus::Kept), 1);
        // The same command tries once more what was kept, and nothing that is removed.
        subject.ledger.begin_undo(RUN, at(9)).unwrap().unwrap();
        let rows = subject.ledger.undo_rows(RUN).unwrap();
        assert_eq!(brief(&rows), [(1, Some(UndoStatus::Undone)), (2, None)]);
        assert_eq!(
            subject.ledger.runs().unwrap()[0].undo.unwrap().began_at,
            at(2)
        );
    });
}

#[test]
fn a_lead_whose_removal_was_asked_for_is_in_doubt_until_it_is_known_what_became_of_it() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1)), (2, id(2)), (3, id(3))]);
        subject.end(RUN);
        let before = subject.known(number(2));
        subject.ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        for row in 1..=3 {
            subject.ledger.ask_to_undo(RUN, RowId(row), at(3)).unwrap();
        }
        for row in 1..=3 {
            let known = subject.known(number(row));
            assert!(known.settled.is_none() && known.uncertain.is_some());
        }
        // They are known by their ids, and need no look-up.
        assert_eq!(subject.ledger.rows_to_look_up(RUN).unwrap(), []);
        subject.ledger.begin_undo(RUN, at(4)).unwrap().unwrap();
        let asked = subject.ledger.undo_rows(RUN).unwrap();
        assert_eq!(brief(&asked), [(1, None), (2, None), (3, None)]);
        let came = [UndoStatus::Undone, UndoStatus::Kept, UndoStatus::Unknown];
        for (row, status) in asked.iter().zip(came) {
            subject.ledger.settle_undo(RUN, row, &done(status)).unwrap();
        }
        assert_eq!(subject.known(number(1)), Known::default());
        assert_eq!(subject.known(number(2)), before);
        let known = subject.known(number(3));
        assert!(known.settled.is_none() && known.uncertain.is_some());
        // The same command asks once more for those that may be there.
        subject.ledger.begin_undo(RUN, at(5)).unwrap().unwrap();
        let again = subject.ledger.undo_rows(RUN).unwrap();
        let removed = Some(UndoStatus::Undone);
        assert_eq!(brief(&again), [(1, removed), (2, None), (3, None)]);
    });
}

#[test]
fn a_row_that_was_refused_as_a_duplicate_of_a_lead_that_was_removed_settles_nobody() {
    each(|mut subject| {
        subject.send(RUN, &[1, 2, 3, 4, 5, 6].map(|row| (row, uncertain())));
        subject.end(RUN);
        let later = subject.begin(2);
        let mut again = claims(1..=6);
        again
            .claims
            .iter_mut()
            .for_each(|claim| claim.resends = true);
        subject.commit(later, again);
        let with_id = |row| RowOutcome {
            lead_id: id(row).lead_id,
            ..lost_duplicate()
        };
        // Rows 3 and 4 are not about the lead that is removed, or its lead is not removed. Those of the last
        // two may be: the answer was lost, or the program was killed before it came.
        let rows = [
            (1, lost_duplicate()),
            (2, with_id(2)),
            (3, with_id(77)),
            (4, lost_duplicate()),
            (5, lost_duplicate()),
            (6, lost_duplicate()),
        ];
        for (row, outcome) in rows {
            subject.commit(later, settlements([row], &outcome));
        }
        subject.end(later);
        for (record, _) in subject.ledger.rows_to_look_up(RUN).unwrap() {
            let found = id(record.row.0);
            subject.ledger.reconcile(&record, &found).unwrap();
        }
        let settled = |subject: &Subject| {
            [1, 2, 3, 4, 5, 6].map(|row| subject.known(number(row)).settled.is_some())
        };
        subject.ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        subject.ledger.ask_to_undo(RUN, RowId(1), at(2)).unwrap();
        subject.ledger.cancel_undo(RUN).unwrap();
        assert_eq!(settled(&subject), [true; 6]);
        subject.ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        let rows = subject.ledger.undo_rows(RUN).unwrap();
        for row in &rows {
            let ledger = &mut subject.ledger;
            ledger.ask_to_undo(RUN, row.row, at(3)).unwrap();
        }
        assert_eq!(settled(&subject), [false, false, true, false, false, false]);
        for row in &rows[..5] {
            let status = match row.row {
                RowId(4) => UndoStatus::Kept,
                RowId(5) => UndoStatus::Unknown,
                _ => UndoStatus::Undone,
            };
            let ledger = &mut subject.ledger;
            ledger.settle_undo(RUN, row, &done(status)).unwrap();
        }
        assert_eq!(settled(&subject), [false, false, true, true, false, false]);
        let (undone, lost) = (Some(ErrorCode::Undone), Some(ErrorCode::AnswerLost));
        let codes = [undone, undone, lost, lost, undone, undone];
        let duplicates = codes.map(|code| (Status::Duplicate, code));
        let exported = subject.rows(later).into_iter();
        let exported: Vec<_> = exported.map(|(_, status, code)| (status, code)).collect();
        assert_eq!(exported, duplicates);
        // What the service has said of them still counts where they are looked up or undone themselves, except
        // where the lead was surely that one.
        let looked_up = subject.ledger.rows_to_look_up(later).unwrap();
        let looked_up = looked_up.into_iter().map(|(record, _)| record.row.0);
        assert_eq!(looked_up.collect::<Vec<_>>(), [1, 4, 5, 6]);
        let planned = subject.ledger.undo_plan(later).unwrap();
        let planned = planned
            .iter()
            .map(|row| (row.row.0, row.outcome.as_ref().unwrap().status));
        let unknown = [1, 3, 4, 5, 6].map(|row| (row, UndoStatus::Unknown));
        assert_eq!(planned.collect::<Vec<_>>(), unknown);
        // Undo goes on, and two of the leads are there after all.
        subject.ledger.begin_undo(RUN, at(4)).unwrap().unwrap();
        for row in &rows[4..] {
            let ledger = &mut subject.ledger;
            ledger
                .settle_undo(RUN, row, &done(UndoStatus::Kept))
                .unwrap();
        }
        assert_eq!(settled(&subject), [false, false, true, true, true, true]);
        let codes = subject.rows(later).into_iter().map(|(_, _, code)| code);
        let kept = [undone, undone, lost, lost, lost, lost];
        assert_eq!(codes.collect::<Vec<_>>(), kept);
        // Another run may claim the others.
        let third = subject.begin(3);
        subject.send(third, &[(1, id(5)), (2, id(6))]);
        subject.end(third);
        assert_eq!(settled(&subject), [true; 6]);
    });
}

#[test]
fn a_lead_that_two_runs_have_settles_nobody_once_it_is_removed_for_one() {
    each(|mut subject| {
        subject.send(RUN, &[(1, uncertain())]);
        subject.end(RUN);
        let later = subject.begin(2);
        let mut again = claims([1]);
        again.claims[0].resends = true;
        subject.commit(later, again);
        // The service answers with the lead that it has.
        let answered = settlements([1], &id(1));
        subject.commit(later, answered.clone());
        // The same person is in another campaign too.
        let elsewhere = Claim {
            campaign: CampaignId(18),
            number: number(1),
            ..claim(2)
        };
        let mut claimed = claims([2]);
        claimed.claims[0] = elsewhere;
        subject.commit(later, claimed);
        let mut settled = settlements([2], &lost_duplicate());
        settled.settlements[0].claim = elsewhere;
        subject.commit(later, settled);
        subject.ledger.recover(subject.service).unwrap();
        let (record, _) = subject.ledger.rows_to_look_up(RUN).unwrap().remove(0);
        subject.ledger.reconcile(&record, &id(1)).unwrap();
        subject.ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        let row = subject.ledger.undo_rows(RUN).unwrap().remove(0);
        let is_settled = |subject: &Subject| {
            let known = subject.known_in(Scope::Campaign(claim(1).campaign), number(1));
            known.settled.is_some()
        };
        let own = |subject: &Subject| {
            let recall = subject.ledger.recall().unwrap();
            let look = recall.look(subject.service, Some(later), vec![number(1)]);
            let look = look.unwrap();
            let own = look.row(number(1), claim(1).campaign, later, RowId(1));
            own.map(|record| record.outcome.status)
        };
        let planned = |subject: &Subject| {
            let rows = subject.ledger.undo_plan(later).unwrap().into_iter();
            let rows = rows.map(|row| (row.row.0, row.outcome.unwrap().status));
            rows.collect::<Vec<_>>()
        };
        let lost_elsewhere = (2, UndoStatus::Unknown);
        for (status, settles, of_later) in [
            (UndoStatus::Kept, true, Some(UndoStatus::Kept)),
            (UndoStatus::Unknown, false, Some(UndoStatus::Unknown)),
            (UndoStatus::Undone, false, None),
        ] {
            subject.ledger.ask_to_undo(RUN, RowId(1), at(3)).unwrap();
            assert!(!is_settled(&subject));
            let ledger = &mut subject.ledger;
            ledger.settle_undo(RUN, &row, &done(status)).unwrap();
            assert_eq!(is_settled(&subject), settles, "{status:?}");
            assert_eq!(own(&subject), settles.then_some(Status::Created));
            let mut expected: Vec<_> = of_later.map(|status| (1, status)).into_iter().collect();
            expected.push(lost_elsewhere);
            assert_eq!(planned(&subject), expected);
        }
        let removed = (1, Status::Created, Some(ErrorCode::Undone));
        let elsewhere = (2, Status::Duplicate, Some(ErrorCode::AnswerLost));
        assert_eq!(subject.rows(later), [removed, elsewhere]);
        if let Ledger::Server(_) = subject.ledger {
            // The answer to the commit was lost, so it is repeated.
            subject.commit(later, answered);
            assert!(!is_settled(&subject));
        }
        // The run that goes on sends the person again.
        subject.commit(later, claims([1]));
        subject.commit(later, settlements([1], &id(9)));
        subject.end(later);
        assert_eq!(own(&subject), Some(Status::Created));
        assert!(is_settled(&subject));
    });
}

#[test]
fn a_person_whose_lead_was_removed_is_claimed_by_another_run() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1))]);
        subject.end(RUN);
        let ledger = &mut subject.ledger;
        ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        let next = ledger.undo_rows(RUN).unwrap();
        let outcome = done(UndoStatus::Gone);
        ledger.settle_undo(RUN, &next[0], &outcome).unwrap();
        let later = subject.begin(77);
        let reply = subject.ledger.commit(later, &claims([1])).unwrap();
        assert!(reply.refused.is_empty());
        subject.commit(later, settlements([1], &id(5)));
        subject.end(later);
        let settled = subject.known(number(1)).settled.unwrap();
        assert_eq!(
            (settled.run, settled.outcome.lead_id),
            (later, id(5).lead_id)
        );
        // Undoing the first run once more touches nothing of the second.
        assert_eq!(subject.ledger.undo_plan(RUN).unwrap(), []);
    });
}

#[test]
fn a_lead_that_an_earlier_run_made_too_is_kept() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1))]);
        subject.end(RUN);
        let later = subject.begin(77);
        // With duplicates allowed, a service may answer with the lead that it has.
        let same = Claim {
            number: number(1),
            ..claim(2)
        };
        subject.send_as(later, same, id(1));
        subject.ledger.recover(subject.service).unwrap();
        let plan = subject.ledger.undo_plan(later).unwrap();
        // A server refuses the second claim where duplicates are not allowed.
        if matches!(subject.ledger, Ledger::File(_)) {
            assert_eq!(brief(&plan), [(2, Some(UndoStatus::Kept))]);
            let outcome = plan[0].outcome.as_ref().unwrap();
            let why = outcome.error.as_deref();
            assert_eq!(why, Some("this lead was made by an earlier run: run 1"));
        }
        assert_eq!(brief(&subject.ledger.undo_plan(RUN).unwrap()), [(1, None)]);
    });
}

#[test]
fn an_undone_run_does_not_continue_and_the_next_one_of_its_kind_is_new() {
    each(|mut subject| {
        let run = new_run(subject.service, 78);
        let begun = subject.begin(78);
        subject.send(begun, &[(1, id(1))]);
        if let Ledger::Server(_) = subject.ledger {
            let busy = subject.ledger.begin_undo(begun, at(2)).unwrap();
            assert_eq!(busy.unwrap_err().run, begun);
            assert!(
                subject
                    .ledger
                    .runs()
                    .unwrap()
                    .iter()
                    .all(|run| run.undo.is_none())
            );
        }
        let ending = StartEnd {
            exit_code: 4,
            stopped_by: Some("signal"),
            requests: 1,
            last_read: 1,
            ..StartEnd::default()
        };
        subject.ledger.end(begun, 1, &ending, at(2)).unwrap();
        subject.ledger.recover(subject.service).unwrap();
        let found = subject.ledger.predecessors(&run).unwrap();
        assert_eq!(
            (found.latest.going_on, found.latest.undone),
            (Some(begun), None)
        );
        subject.ledger.begin_undo(begun, at(3)).unwrap().unwrap();
        if let Ledger::Server(_) = subject.ledger {
            // Planned before it was undone, it would send all of it once more.
            let stale = new_run(subject.service, 78);
            let begun = subject.ledger.begin(&stale, at(4)).unwrap();
            assert_eq!(begun.unwrap_err(), crate::ledger::NotBegun::Changed);
        }
        let found = subject.ledger.predecessors(&run).unwrap();
        assert_eq!(
            (found.latest.going_on, found.latest.undone),
            (None, Some(begun))
        );
        let next = subject.begin(78);
        assert!(next > begun);
        let found = subject.ledger.predecessors(&run).unwrap();
        assert_eq!(
            (found.latest.going_on, found.latest.undone),
            (Some(next), None)
        );
    });
}

#[test]
fn an_undo_that_has_removed_nothing_can_be_taken_back() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1)), (2, id(2))]);
        subject.end(RUN);
        let ledger = &mut subject.ledger;
        ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        ledger.ask_to_undo(RUN, RowId(1), at(3)).unwrap();
        ledger.cancel_undo(RUN).unwrap();
        assert_eq!(ledger.runs().unwrap()[0].undo, None);
        assert_eq!(ledger.undo_rows(RUN).unwrap(), []);
        assert!(subject.known(number(1)).settled.is_some());
        let ledger = &mut subject.ledger;
        for status in [UndoStatus::Undone, UndoStatus::Unknown] {
            ledger.begin_undo(RUN, at(4)).unwrap().unwrap();
            ledger.ask_to_undo(RUN, RowId(1), at(5)).unwrap();
            let row = ledger.undo_rows(RUN).unwrap()[0].clone();
            ledger.settle_undo(RUN, &row, &done(status)).unwrap();
            ledger.cancel_undo(RUN).unwrap();
            assert!(ledger.runs().unwrap()[0].undo.is_some(), "{status:?}");
        }
        // That the service was asked stays known when it is tried again.
        ledger.begin_undo(RUN, at(6)).unwrap().unwrap();
        assert!(ledger.undo_rows(RUN).unwrap()[0].was_asked);
    });
}

#[test]
fn a_process_that_was_cut_off_sends_nothing_more_of_a_run_that_was_undone() {
    each(|mut subject| {
        let Ledger::Server(_) = subject.ledger else {
            return;
        };
        subject.send(RUN, &[(1, id(1))]);
        let mut other = Ledger::open(&subject.place).unwrap();
        expire(&subject);
        other.begin_undo(RUN, at(2)).unwrap().unwrap();
        let error = subject.ledger.commit(RUN, &claims([2])).unwrap_err();
        assert!(
            error.0.to_string().contains("run 1 was undone"),
            "{}",
            error.0
        );
    });
}

#[test]
fn what_was_created_and_what_was_claimed_before_a_kill_is_in_the_plan_to_undo() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1)), (2, id(2))]);
        subject.commit(RUN, claims([3]));
        let reading = Ledger::read(&subject.place).unwrap().unwrap();
        let planned = [(1, None), (2, None), (3, Some(UndoStatus::Unknown))];
        assert_eq!(brief(&reading.undo_plan(RUN).unwrap()), planned);
    });
}

#[test]
fn a_lead_that_an_earlier_row_was_found_to_be_a_duplicate_of_later_is_removed_by_its_own_run() {
    each(|mut subject| {
        subject.commit(RUN, claims([1]));
        if let Ledger::Server(_) = subject.ledger {
            expire(&subject);
        }
        subject.ledger.recover(subject.service).unwrap();
        subject.ledger.expire_claims(RUN).unwrap();
        let later = subject.begin(77);
        let same = Claim {
            number: number(1),
            resends: true,
            ..claim(2)
        };
        subject.send_as(later, same, id(1));
        subject.ledger.recover(subject.service).unwrap();
        let rows = subject.ledger.rows_to_look_up(RUN).unwrap();
        let made_by_the_later = RowOutcome {
            lead_id: id(1).lead_id,
            settled_at: Some(at(90)),
            ..lost_duplicate()
        };
        subject
            .ledger
            .reconcile(&rows[0].0, &made_by_the_later)
            .unwrap();
        let plan = subject.ledger.undo_plan(later).unwrap();
        assert_eq!(brief(&plan), [(2, None)]);
    });
}
