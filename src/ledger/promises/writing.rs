//! Groups: written as a whole, and counted; and what is removed for good.

use super::*;
use crate::ledger::Begun;

impl Subject {
    /// Another start of the first run, after its process was killed.
    fn begin_again(&mut self) -> Begun {
        if let Ledger::Server(_) = self.ledger {
            expire(self);
        }
        self.ledger = Ledger::open(&self.place).unwrap();
        self.ledger.recover(self.service).unwrap();
        let mut run = new_run(self.service, 1);
        run.expected = self.ledger.predecessors(&run).unwrap().latest;
        self.ledger.begin(&run, at(100)).unwrap().unwrap()
    }

    fn end_at(&mut self, start: u32, now: Timestamp) {
        let end = StartEnd::default();
        self.ledger.end(RUN, start, &end, now).unwrap();
    }
}

#[test]
fn a_group_that_fails_leaves_nothing_and_can_be_committed_again() {
    each(|mut subject| {
        let mut group = claims([1, 2]);
        // No table takes an invalid row without a reason.
        group.invalid = vec![invalid_row(3, "x")];
        group.invalid[0].outcome.error_code = None;
        assert!(subject.ledger.commit(RUN, &group).is_err());
        assert_eq!(subject.rows(RUN), []);
        group.invalid.clear();
        subject.commit(RUN, group);
        let claimed = (Status::Uncertain, Some(ErrorCode::AnswerLost));
        let rows = subject.rows(RUN);
        assert_eq!(rows, [(1, claimed.0, claimed.1), (2, claimed.0, claimed.1)]);
    });
}

#[test]
fn nothing_is_committed_for_a_run_that_is_not_there() {
    each(|mut subject| {
        assert!(subject.ledger.commit(RunId(9), &claims([1])).is_err());
        assert_eq!(subject.rows(RunId(9)), []);
        assert_eq!(subject.known(number(1)), Known::default());
    });
}

#[test]
fn the_highest_row_that_was_claimed_is_known() {
    each(|mut subject| {
        for rows in [[3], [11], [9]] {
            subject.commit(RUN, claims(rows));
            subject.commit(RUN, settlements(rows, &created()));
        }
        assert_eq!(subject.begin_again().reached, 11);
    });
}

#[test]
fn a_start_that_counts_from_the_beginning_again_does_not_lose_the_counts_of_the_run() {
    each(|mut subject| {
        for (counted, known) in [(3, 3), (1, 3), (2, 3), (4, 4)] {
            let mut group = Group::default();
            (0..counted).for_each(|_| group.counts.add(Status::Created));
            subject.commit(RUN, group);
            let counts = subject.ledger.counts_of(RUN).unwrap();
            assert_eq!(counts.of(Status::Created), known);
        }
    });
}

#[test]
fn a_run_is_as_old_as_its_last_end_and_one_that_was_killed_as_its_beginning() {
    each(|mut subject| {
        subject.end_at(1, at(50));
        let old = |subject: &Subject, second| subject.ledger.old_runs(at(second)).unwrap();
        assert_eq!(old(&subject, 49), []);
        assert_eq!(old(&subject, 50), [RUN]);
        let start = subject.begin_again().start;
        assert_eq!(old(&subject, 99), []);
        assert_eq!(old(&subject, 100), [RUN]);
        subject.end_at(start, at(150));
        assert_eq!(old(&subject, 149), []);
    });
}

#[test]
fn what_is_pruned_loses_its_texts_and_keeps_its_numbers() {
    each(|mut subject| {
        let with_text = Group {
            invalid: vec![invalid_row(3, "call Grace Hopper first")],
            ..claims([1, 2, 4])
        };
        subject.commit(RUN, with_text);
        subject.commit(RUN, settlements([1], &rejected()));
        subject.commit(RUN, settlements([2], &created()));
        subject.end_at(1, at(50));
        if let Ledger::Server(_) = subject.ledger {
            expire(&subject);
        }
        // The claim has become uncertain, for a reason.
        let pruned = subject.ledger.prune(at(50)).unwrap();
        assert_eq!((pruned.runs, pruned.rows), (1, 3));
        assert_eq!(subject.ledger.prune(at(50)).unwrap().runs, 0);
        let selection = Selection {
            runs: vec![RUN],
            campaign: None,
            statuses: Vec::new(),
        };
        let exported: Result<(), crate::ledger::LedgerError> =
            subject.ledger.export(&selection, |row| {
                assert_eq!(row.outcome.error, None);
                assert!(!row.phone.contains("Grace"), "{}", row.phone);
                Ok(())
            });
        exported.unwrap();
        let run = subject.ledger.runs().unwrap().remove(0);
        assert!(run.options.is_none() && run.pruned_at.is_some());
        assert_eq!(run.counts.of(Status::Uncertain), 1);
        assert!(subject.known(number(2)).settled.is_some());
        assert!(subject.known(number(4)).uncertain.is_some());
    });
}

#[test]
fn a_run_that_is_forgotten_is_as_if_never_sent_but_for_its_number() {
    each(|mut subject| {
        subject.send(RUN, &[(1, created()), (2, rejected())]);
        subject.commit(RUN, claims([3]));
        subject.end_at(1, at(50));
        if let Ledger::Server(_) = subject.ledger {
            expire(&subject);
        }
        assert_eq!(subject.ledger.forget_run(RUN).unwrap(), 1);
        assert_eq!(subject.ledger.runs().unwrap(), []);
        for row in 1..=3 {
            assert_eq!(subject.known(number(row)), Known::default());
        }
        assert_eq!(subject.begin(2), RunId(2));
    });
}

#[test]
fn a_run_that_is_complete_stays_so_whatever_a_process_says_that_was_cut_off() {
    each(|mut subject| {
        let complete = StartEnd {
            complete: true,
            ..StartEnd::default()
        };
        subject.ledger.end(RUN, 1, &complete, at(50)).unwrap();
        subject.end_at(1, at(60));
        let run = subject.ledger.runs().unwrap().remove(0);
        assert_eq!(run.completed_at, Some(at(50)));
    });
}

#[test]
fn all_invalid_rows_of_a_group_are_kept_and_their_cells_known_by_the_first_row() {
    each(|mut subject| {
        let rows = 1..=1_200;
        let group = Group {
            // Many rows have the same cells.
            invalid: rows.clone().map(|row| invalid_row(row, "n/a")).collect(),
            ..Group::default()
        };
        subject.commit(RUN, group);
        let known = subject.rows(RUN);
        assert!(known.iter().map(|(row, ..)| *row).eq(rows));
        let end = StartEnd {
            has_rejects: true,
            last_read: 1_200,
            ..StartEnd::default()
        };
        subject.ledger.end(RUN, 1, &end, at(50)).unwrap();
        let digests: Vec<CellsDigest> = (0..=255).map(|byte| CellsDigest([byte; 16])).collect();
        assert_eq!(subject.known_bad(&digests), digests);
    });
}
