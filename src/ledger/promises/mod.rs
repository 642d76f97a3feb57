//! The promises of `ledger`, on each kind: groups, the do-not-call list, files and tokens of runs, undoing,
//! and looking uncertain rows up. What only one kind promises is tested beside it.

mod look_up;
mod undo;
mod writing;

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
    AskedPause, Attempted, CellsDigest, Claim, Group, Known, Ledger, LedgerPlace, ListPosition,
    NewRun, OutputKind, OutputRecord, RecentUse, Scope, Selection, Sending, SentRow, ServiceId,
    Settlement, StartEnd, StartsInSecond, TokenUsed, UndoOutcome, UndoRow, UndoStatus,
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

    /// Claims a row and settles it.
    fn send_as(&mut self, run: RunId, claim: Claim, outcome: RowOutcome) {
        let claims = Group {
            claims: vec![claim],
            ..Group::default()
        };
        self.commit(run, claims);
        let settled = Settlement {
            claim,
            outcome,
            cells: None,
            attempted: None,
        };
        let settlements = Group {
            settlements: vec![settled],
            ..Group::default()
        };
        self.commit(run, settlements);
    }

    /// The run's process has ended: nothing is sent any more.
    fn end(&mut self, run: RunId) {
        let mut counts = Counts::default();
        for row in self.rows(run) {
            counts.add(row.1);
        }
        let ending = StartEnd {
            complete: true,
            counts,
            ..StartEnd::default()
        };
        self.ledger.end(run, 1, &ending, at(1)).unwrap();
        self.ledger.recover(self.service).unwrap();
    }

    /// Which of these cells a later run knows to be bad.
    fn known_bad(&self, cells: &[CellsDigest]) -> Vec<CellsDigest> {
        let recall = self.ledger.recall().unwrap();
        let later = RunId(RUN.0 + 1);
        let of = cells.iter().copied();
        let bad = recall.known_bad(self.service, later, of.clone()).unwrap();
        of.filter(|cells| bad.contains(cells)).collect()
    }

    fn known(&self, of: PhoneNumber) -> Known {
        self.known_in(Scope::Service, of)
    }

    fn known_in(&self, scope: Scope, of: PhoneNumber) -> Known {
        let recall = self.ledger.recall().unwrap();
        let look = recall.look(self.service, None, vec![of]).unwrap();
        look.find(of, scope)
    }

    fn rows(&self, run: RunId) -> Vec<(u64, Status, Option<ErrorCode>)> {
        let selection = Selection {
            runs: vec![run],
            campaign: None,
            statuses: Vec::new(),
        };
        let mut rows = Vec::new();
        let exported: Result<(), crate::ledger::LedgerError> =
            self.ledger.export(&selection, |row| {
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

/// What became of a lead.
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
        let new_since = |subject: &mut Subject, known| {
            let group = Group {
                suppressed_to: Some(known),
                ..claims([5])
            };
            let reply = subject.ledger.commit(RUN, &group).unwrap();
            reply.suppressed.unwrap()
        };
        let start = position(&subject);
        let mut other = Ledger::open(&subject.place).unwrap();
        other.suppress(&[number(1)], None, at(1)).unwrap();
        let suppressed = new_since(&mut subject, start);
        assert_eq!(suppressed.numbers, [(number(1), at(1))]);
        let known = suppressed.to;
        let suppressed = new_since(&mut subject, known);
        assert!(suppressed.numbers.is_empty());
        assert_eq!(suppressed.to, known);
        // A number that was taken off and comes on again is new again.
        other.unsuppress(&[number(1)]).unwrap();
        other.suppress(&[number(1)], None, at(2)).unwrap();
        let suppressed = new_since(&mut subject, known);
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
            let ending = StartEnd::default();
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
fn bad_cells_are_known_at_the_end_of_a_run_whose_rejects_have_them_but_for_rows_tried_again() {
    // Rows 1 and 2 are invalid, the others were rejected.
    let cells = [1, 2, 3, 4, 5].map(|row| CellsDigest([row; 16]));
    let known_bad = |ending: &StartEnd<'_>| {
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
    let whole = StartEnd {
        complete: true,
        last_read: 5,
        has_rejects: true,
        ..StartEnd::default()
    };
    assert_eq!(known_bad(&whole), cells);
    let but_for_one = StartEnd {
        tried_again: &[RowId(4)],
        ..whole.clone()
    };
    assert_eq!(
        known_bad(&but_for_one),
        [cells[0], cells[1], cells[2], cells[4]]
    );
    let early = StartEnd {
        last_read: 3,
        ..but_for_one
    };
    assert_eq!(known_bad(&early), cells[..3]);
    let without_a_file = StartEnd {
        has_rejects: false,
        ..whole
    };
    assert_eq!(known_bad(&without_a_file), []);
}

#[cfg(unix)]
fn expire(subject: &Subject) {
    let database = subject
        ._keeps
        .downcast_ref::<crate::ledger::cluster::Database>();
    database
        .unwrap()
        .sql("UPDATE leadload.senders SET until = '-infinity'");
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
        let times = |(row, times): &(SentRow, Vec<Attempted>)| {
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
