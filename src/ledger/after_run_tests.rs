//! What both kinds of ledger promise about the time after a run: the do-not-call list, undoing,
//! and looking uncertain rows up.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

#[cfg(unix)]
use super::ClaimScope;
#[cfg(unix)]
use super::cluster::Cluster;
#[cfg(unix)]
use super::on_server::OnServer;
use super::sqlite::samples::{
    CAMPAIGN, RUN, claim, claims, created, invalid_row, number, rejected, settlements, uncertain,
};
use super::{
    AskedPause, Attempted, CellsDigest, Ending, Group, Known, Ledger, LedgerPlace, ListPosition,
    NewRun, OutputKind, OutputRecord, RecentUse, Record, Scope, Selection, Sending, ServiceId,
    Settlement, StartsInSecond, TokenUsed, UndoOutcome, UndoRow, UndoStatus, Wanted,
    this_user_here,
};
use crate::lead::{CampaignId, Counts, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::phone::PhoneNumber;
use crate::rate::KnownRate;

/// A ledger of either kind, with one run.
struct Subject {
    ledger: Ledger,
    service: ServiceId,
    place: LedgerPlace,
    _keeps: Box<dyn std::any::Any>,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn new_run(service: ServiceId, identity: u8) -> NewRun {
    NewRun {
        service,
        identity: [identity; 32],
        options: serde_json::json!({}),
        defaults: String::new(),
        reopens: false,
        sending: Sending::default(),
        expected: Default::default(),
        inputs: Vec::new(),
        lists: Vec::new(),
        outputs: Vec::new(),
    }
}

impl Subject {
    fn on_file() -> Subject {
        let folder = tempfile::tempdir().unwrap();
        let place = LedgerPlace::file(folder.path().join("ledger"));
        let mut ledger = Ledger::open(&place).unwrap();
        let service = ledger.service("https://calls.example").unwrap();
        let mut subject = Subject {
            ledger,
            service,
            place,
            _keeps: Box::new(folder),
        };
        assert_eq!(subject.begin(1), RUN);
        subject
    }

    #[cfg(unix)]
    fn on_server() -> Option<Subject> {
        Cluster::database()?;
        let OnServer {
            ledger,
            service,
            database,
            place,
            ..
        } = OnServer::start(ClaimScope::Campaign);
        Some(Subject {
            ledger,
            service,
            place,
            _keeps: Box::new(database),
        })
    }

    fn begin(&mut self, identity: u8) -> RunId {
        self.begin_at(identity, at(0))
    }

    fn begin_at(&mut self, identity: u8, now: Timestamp) -> RunId {
        let mut run = new_run(self.service, identity);
        run.expected = self.ledger.predecessors(&run).unwrap().latest;
        self.ledger.begin(&run, now).unwrap().unwrap().run
    }

    fn commit(&mut self, run: RunId, group: Group) {
        self.ledger.commit(run, &group).unwrap();
    }

    /// Claims rows and settles them.
    fn send(&mut self, run: RunId, rows: &[(u64, RowOutcome)]) {
        for (row, outcome) in rows {
            self.commit(run, claims([*row]));
            self.commit(run, settlements([*row], outcome));
        }
    }

    /// The run's process has ended: nothing is sent any more.
    fn end(&mut self, run: RunId) {
        let mut counts = Counts::default();
        for row in self.rows(run) {
            counts.add(row.1);
        }
        let ending = Ending {
            complete: true,
            counts,
            ..Ending::default()
        };
        self.ledger.end(run, 1, &ending, at(1)).unwrap();
        self.ledger.recover(self.service).unwrap();
    }

    /// Which of these cells a later run knows to be bad.
    fn known_bad(&self, cells: &[CellsDigest]) -> Vec<CellsDigest> {
        let wanted = Wanted {
            service: self.service,
            run: None,
            numbers: Vec::new(),
            digests: cells.to_vec(),
        };
        let mut recall = self.ledger.recall().unwrap();
        let mut look = recall.look(&wanted).unwrap();
        let later = RunId(RUN.0 + 1);
        let mut is_bad = |cells| look.is_known_bad(self.service, cells, later).unwrap();
        let cells = cells.iter().copied();
        cells.filter(|&cells| is_bad(cells)).collect()
    }

    fn known(&self, of: PhoneNumber) -> Known {
        self.known_in(Scope::Service, of)
    }

    fn known_in(&self, scope: Scope, of: PhoneNumber) -> Known {
        let wanted = Wanted {
            service: self.service,
            run: None,
            numbers: vec![of],
            digests: Vec::new(),
        };
        let mut recall = self.ledger.recall().unwrap();
        let mut look = recall.look(&wanted).unwrap();
        look.find(self.service, of, scope).unwrap()
    }

    fn rows(&self, run: RunId) -> Vec<(u64, Status, Option<ErrorCode>)> {
        let selection = Selection {
            runs: vec![run],
            campaign: None,
            statuses: Vec::new(),
        };
        let mut rows = Vec::new();
        let exported: Result<(), super::LedgerError> = self.ledger.export(&selection, |row| {
            rows.push((row.row.0, row.outcome.status, row.outcome.error_code));
            Ok(())
        });
        exported.unwrap();
        rows
    }
}

/// Each kind of ledger that is there.
fn each(test: impl Fn(Subject)) {
    test(Subject::on_file());
    #[cfg(unix)]
    Subject::on_server().into_iter().for_each(test);
}

fn id(row: u64) -> RowOutcome {
    RowOutcome {
        lead_id: Some(format!("{}", 1000 + row)),
        ..created()
    }
}

fn lost_duplicate() -> RowOutcome {
    RowOutcome {
        error_code: Some(ErrorCode::AnswerLost),
        ..RowOutcome::not_sent(Status::Duplicate, None, None)
    }
}

fn done(status: UndoStatus) -> UndoOutcome {
    UndoOutcome {
        status,
        http_status: Some(200),
        error: None,
        settled_at: Some(at(9)),
    }
}

/// Each row and what became of it.
fn brief(rows: &[UndoRow]) -> Vec<(u64, Option<UndoStatus>)> {
    let status = |row: &UndoRow| row.outcome.as_ref().map(|outcome| outcome.status);
    rows.iter().map(|row| (row.row.0, status(row))).collect()
}

#[test]
fn who_is_at_work_has_begun_last_whatever_the_clock_said_and_is_named() {
    each(|mut subject| {
        subject.begin_at(2, at(365 * 24 * 3600));
        let last = subject.begin(3);
        let at_work = subject.ledger.at_work(subject.service).unwrap().unwrap();
        assert_eq!(at_work.run, last);
        let (host, user) = this_user_here();
        assert_eq!((at_work.by.host, at_work.by.user), (host, Some(user)));
    });
}

#[test]
fn a_number_is_on_the_list_once_until_it_is_taken_off() {
    each(|mut subject| {
        let ledger = &mut subject.ledger;
        let asked = Some("asked us to");
        let [one, two, three] = [1, 2, 3].map(number);
        assert_eq!(
            ledger.suppress(&[two, one], asked, at(1)).unwrap(),
            [two, one]
        );
        let again = ledger.suppress(&[one, three, three], None, at(2)).unwrap();
        assert_eq!(again, [three]);
        let list = ledger.suppressed().unwrap();
        let list: Vec<_> = list
            .iter()
            .map(|of| (of.number, of.reason.as_deref(), of.added_at))
            .collect();
        assert_eq!(
            list,
            [
                (two, asked, at(1)),
                (one, asked, at(1)),
                (three, None, at(2))
            ]
        );
        assert_eq!(ledger.unsuppress(&[two, number(4)]).unwrap(), [two]);
        assert_eq!(ledger.suppressed().unwrap().len(), 2);
    });
}

#[test]
fn what_came_on_the_list_is_in_the_reply_to_the_next_group() {
    each(|mut subject| {
        let position = |subject: &Subject| {
            let new = subject.ledger.suppressed_after(ListPosition::default());
            new.unwrap().to
        };
        let group = |known| Group {
            suppressed_to: Some(known),
            ..claims([5])
        };
        let start = position(&subject);
        let mut other = Ledger::open(&subject.place).unwrap();
        other.suppress(&[number(1)], None, at(1)).unwrap();
        let suppressed = subject
            .ledger
            .commit(RUN, &group(start))
            .unwrap()
            .suppressed
            .unwrap();
        assert_eq!(suppressed.numbers, [(number(1), at(1))]);
        let known = suppressed.to;
        let suppressed = subject
            .ledger
            .commit(RUN, &group(known))
            .unwrap()
            .suppressed
            .unwrap();
        assert!(suppressed.numbers.is_empty());
        assert_eq!(suppressed.to, known);
        // A number that was taken off and comes on again is new again.
        other.unsuppress(&[number(1)]).unwrap();
        other.suppress(&[number(1)], None, at(2)).unwrap();
        let suppressed = subject
            .ledger
            .commit(RUN, &group(known))
            .unwrap()
            .suppressed
            .unwrap();
        assert_eq!(suppressed.numbers, [(number(1), at(2))]);
        assert_eq!(suppressed.to, position(&subject));
    });
}

#[test]
fn neither_pruning_nor_forgetting_takes_a_number_off_the_list() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1))]);
        subject.end(RUN);
        let ledger = &mut subject.ledger;
        ledger.suppress(&[number(1)], Some("why"), at(1)).unwrap();
        ledger.prune(Timestamp::MAX).unwrap();
        ledger.forget_number(number(1)).unwrap();
        ledger.forget_run(RUN).unwrap();
        assert_eq!(
            ledger.suppressed().unwrap()[0].reason.as_deref(),
            Some("why")
        );
    });
}

#[test]
fn a_file_that_is_put_aside_is_known_under_both_names_unless_its_run_is_pruned() {
    each(|mut subject| {
        let output = |path: &str| OutputRecord {
            run: RUN,
            path: Some(path.into()),
            kind: OutputKind::Results,
            sha256: Some([1; 32]),
            rows: Some(2),
            state: None,
        };
        let known = |subject: &Subject| {
            let runs = subject.ledger.runs().unwrap();
            let outputs = runs.into_iter().flat_map(|run| run.outputs);
            let names = outputs.map(|output| output.path.map(|path| path.display().to_string()));
            names.collect::<Vec<Option<String>>>()
        };
        let record = |subject: &mut Subject, by: RunId, path: &str| {
            let recorded = subject.ledger.record_outputs(by, &[output(path)]);
            recorded.unwrap();
            known(subject)
        };
        record(&mut subject, RUN, "a");
        subject.end(RUN);
        let later = subject.begin(2);
        let both = ["a", "b"].map(|name| Some(name.to_owned()));
        assert_eq!(record(&mut subject, later, "b"), both);
        subject.end(later);
        // Nothing is that old.
        subject.ledger.prune(at(-1)).unwrap();
        assert_eq!(known(&subject), both);
        subject.ledger.prune(Timestamp::MAX).unwrap();
        assert_eq!(record(&mut subject, later, "c"), [None, None, None]);
        let found = subject.ledger.outputs_at(&["a".into()]).unwrap();
        assert_eq!(found, [output("a")]);
        subject.ledger.forget_run(RUN).unwrap();
        assert!(record(&mut subject, later, "d").is_empty());
    });
}

#[test]
fn it_is_known_of_a_number_in_which_campaigns_it_is_a_lead() {
    each(|mut subject| {
        subject.send(RUN, &[(1, id(1)), (3, uncertain())]);
        subject.commit(RUN, claims([2]));
        let leads = subject.ledger.leads_of(&[1, 2, 3, 4].map(number)).unwrap();
        let leads: Vec<_> = leads
            .iter()
            .map(|lead| {
                (
                    lead.record.number,
                    lead.record.campaign,
                    lead.record.outcome.status,
                )
            })
            .collect();
        let [one, two, three] = [1, 2, 3].map(number);
        assert_eq!(
            leads,
            [
                (one, CAMPAIGN, Status::Created),
                (two, CAMPAIGN, Status::Uncertain),
                (three, CAMPAIGN, Status::Uncertain),
            ]
        );
        let lead = &subject.ledger.leads_of(&[one]).unwrap()[0];
        assert_eq!(lead.service, "https://calls.example");
    });
}

#[test]
fn starts_are_in_the_order_in_which_they_were_recorded_whatever_the_clock_said() {
    each(|mut subject| {
        let mut begin = |identity, second| {
            let mut run = new_run(subject.service, identity);
            run.expected = subject.ledger.predecessors(&run).unwrap().latest;
            let begun = subject.ledger.begin(&run, at(second)).unwrap().unwrap();
            let ending = Ending::default();
            subject
                .ledger
                .end(begun.run, begun.start, &ending, at(second))
                .unwrap();
            let runs = subject.ledger.runs().unwrap();
            let last = runs.iter().max_by_key(|run| run.last_start()).unwrap();
            (begun.name(), last.run)
        };
        let (second, last) = begin(2, 31_536_000);
        assert_eq!(last, second.run);
        let (third, last) = begin(3, 0);
        assert_eq!(last, third.run);
        assert_ne!((second.tag, third.tag), (None, None));
        // Going on it keeps its tag.
        assert_eq!(begin(2, -100), (second, second.run));
    });
}

#[test]
fn the_token_of_a_run_is_known_until_its_leads_were_made_with_several() {
    each(|mut subject| {
        let token = |subject: &Subject| subject.ledger.runs().unwrap()[0].token.clone();
        assert_eq!(token(&subject).as_deref(), Some(""));
        for (noted, known, ahead_s) in [
            ("a", "a", None),
            ("a", "a", Some(-7)),
            ("b", "-", Some(9)),
            ("a", "-", None),
        ] {
            let token_used = TokenUsed {
                token: noted.into(),
                ahead_s,
            };
            let group = Group {
                tokens: vec![token_used],
                ..settlements([1], &id(1))
            };
            subject.commit(RUN, claims([1]));
            subject.commit(RUN, group);
            assert_eq!(token(&subject).as_deref(), Some(known), "{noted}");
        }
        assert_eq!(subject.ledger.runs().unwrap()[0].ahead_s, Some(-7));
        let other = subject.begin(2);
        subject.ledger.note_token(other, "c").unwrap();
        let run = &subject.ledger.runs().unwrap()[1];
        assert!(run.was_sent_with("c") && !run.was_sent_with("a"));
    });
}

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
            super::undo::PERHAPS_ANOTHERS,
            super::undo::MAY_HAVE_ARRIVED,
            super::undo::NO_LEAD_ID,
        ];
        assert_eq!(why.collect::<Vec<_>>(), expected);
        let looked_up = rows.iter().filter(|row| row.may_be_looked_up());
        let looked_up: Vec<u64> = looked_up.map(|row| row.row.0).collect();
        assert_eq!(looked_up, [3, 4]);
    });
}

#[test]
fn a_later_start_knows_the_pace_that_was_learned_what_was_used_of_it_and_a_wait() {
    each(|mut subject| {
        let learned = Some(KnownRate {
            rate: "100/min".parse().unwrap(),
            is_stated: true,
        });
        let group = Group {
            learned,
            ..Group::default()
        };
        subject.commit(RUN, group);
        let Subject {
            ledger, service, ..
        } = &mut subject;
        assert_eq!(ledger.known_rate(*service).unwrap(), learned);
        let sent = StartsInSecond {
            second: Timestamp::now().as_second(),
            requests: 3,
        };
        let wait = AskedPause::asked_now(Duration::from_secs(3600), 429);
        let more = RecentUse {
            starts: vec![sent],
            pause: Some(wait),
        };
        ledger.record_use(*service, more).unwrap();
        let recent = ledger.recent_use(*service, Timestamp::now()).unwrap();
        let requests = recent.starts.iter().map(|start| start.requests);
        assert_eq!(requests.sum::<u32>(), 3);
        let left = recent.pause.and_then(|wait| wait.left(Timestamp::now()));
        let left = left.unwrap().as_secs();
        assert!((3000..=3600).contains(&left), "{left}");
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
        let elsewhere = super::Claim {
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
            let wanted = Wanted {
                service: subject.service,
                run: Some(later),
                numbers: vec![number(1)],
                digests: Vec::new(),
            };
            let mut recall = subject.ledger.recall().unwrap();
            let mut look = recall.look(&wanted).unwrap();
            let campaign = claim(1).campaign;
            look.row(subject.service, number(1), campaign, later, RowId(1))
                .unwrap()
                .map(|record| record.outcome.status)
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
        let claim = claim(2);
        let same = super::Claim {
            number: number(1),
            ..claim
        };
        let scope = Group {
            claims: vec![same],
            ..Group::default()
        };
        subject.commit(later, scope);
        let settled = Group {
            settlements: vec![Settlement {
                claim: same,
                outcome: id(1),
                cells: None,
                attempted: None,
            }],
            ..Group::default()
        };
        subject.commit(later, settled);
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
fn bad_cells_are_known_at_the_end_of_a_run_whose_rejects_have_them_but_for_rows_tried_again() {
    // Rows 1 and 2 are invalid, the others were rejected.
    let cells = [1, 2, 3, 4, 5].map(|row| CellsDigest([row; 16]));
    let known_bad = |ending: &Ending<'_>| {
        let known = std::cell::RefCell::new(Vec::new());
        each(|mut subject| {
            let mut group = claims([3, 4, 5]);
            group.invalid = vec![invalid_row(1, "x"), invalid_row(2, "y")];
            group.settlements = settlements([3, 4, 5], &rejected()).settlements;
            for (settlement, cells) in group.settlements.iter_mut().zip(&cells[2..]) {
                settlement.cells = Some(*cells);
            }
            subject.commit(RUN, group);
            assert_eq!(subject.known_bad(&cells), [], "nobody was told of them yet");
            subject.ledger.end(RUN, 1, ending, at(1)).unwrap();
            subject.ledger.recover(subject.service).unwrap();
            known.borrow_mut().push(subject.known_bad(&cells));
        });
        let mut known = known.into_inner();
        known.dedup();
        assert_eq!(known.len(), 1, "the kinds of ledger differ: {known:?}");
        known.remove(0)
    };
    let whole = Ending {
        complete: true,
        last_read: 5,
        has_rejects: true,
        ..Ending::default()
    };
    assert_eq!(known_bad(&whole), cells);
    let but_for_one = Ending {
        tried_again: &[RowId(4)],
        ..whole.clone()
    };
    assert_eq!(
        known_bad(&but_for_one),
        [cells[0], cells[1], cells[2], cells[4]]
    );
    let early = Ending {
        last_read: 3,
        ..but_for_one
    };
    assert_eq!(known_bad(&early), cells[..3]);
    let without_a_file = Ending {
        has_rejects: false,
        ..whole
    };
    assert_eq!(known_bad(&without_a_file), []);
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
        let ending = Ending {
            exit_code: 4,
            stopped_by: Some("signal"),
            requests: 1,
            last_read: 1,
            ..Ending::default()
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
            assert_eq!(begun.unwrap_err(), super::NotBegun::Changed);
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

#[cfg(unix)]
fn expire(subject: &Subject) {
    let database = subject._keeps.downcast_ref::<super::cluster::Database>();
    database
        .unwrap()
        .sql("UPDATE leadload.senders SET until = '-infinity'");
}

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
                .downcast_ref::<super::cluster::Database>()
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
        let ending = Ending {
            complete: true,
            counts,
            ..Ending::default()
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
        let stopped = Ending {
            stopped_by: Some("max_duration"),
            counts,
            last_read: 2,
            ..Ending::default()
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

#[test]
fn a_copy_knows_when_rows_were_sent_whose_process_was_killed() {
    each(|mut subject| {
        for (row, second) in [(1, 10), (2, 20)] {
            let group = Group {
                claimed_at_ms: at(second).as_millisecond(),
                ..claims([row])
            };
            subject.commit(RUN, group);
        }
        let folder = tempfile::tempdir().unwrap();
        let place = LedgerPlace::file(folder.path().join("copy"));
        let mut copy = Ledger::open(&place).unwrap();
        subject.ledger.transfer(&mut copy, &place, false).unwrap();
        let rows = copy.rows_to_look_up(RUN).unwrap();
        let times = |(row, times): &(Record, Vec<Attempted>)| {
            let times = times
                .iter()
                .map(|of| (of.first, of.last, of.ended.is_some()));
            (row.row.0, times.collect::<Vec<_>>())
        };
        let times: Vec<_> = rows.iter().map(times).collect();
        let at = |second| (at(second), at(second), true);
        assert_eq!(times, [(1, vec![at(10)]), (2, vec![at(20)])]);
    });
}

#[test]
fn a_copy_in_the_other_kind_knows_all_of_it() {
    #[cfg(unix)]
    {
        let Some(mut server) = Subject::on_server() else {
            return;
        };
        server.send(RUN, &[(1, id(1)), (2, uncertain())]);
        server.end(RUN);
        server
            .ledger
            .suppress(&[number(9)], Some("why"), at(1))
            .unwrap();
        server.ledger.begin_undo(RUN, at(2)).unwrap().unwrap();
        let next = server.ledger.undo_rows(RUN).unwrap();
        let outcome = done(UndoStatus::Undone);
        server.ledger.settle_undo(RUN, &next[0], &outcome).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = LedgerPlace::file(folder.path().join("copy"));
        let mut copy = Ledger::open(&place).unwrap();
        server.ledger.transfer(&mut copy, &place, true).unwrap();
        assert_eq!(
            copy.suppressed().unwrap(),
            server.ledger.suppressed().unwrap()
        );
        assert_eq!(
            copy.undo_rows(RUN).unwrap(),
            server.ledger.undo_rows(RUN).unwrap()
        );
        assert_eq!(copy.runs().unwrap(), server.ledger.runs().unwrap());
    }
}
