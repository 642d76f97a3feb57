//! Compares ledgers of both kinds with a model of them in memory: after
//! any operations, and a kill at any moment, both know the same.
//!
//! Leads are known by run and row here, since the rows of one process share numbers.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

#[cfg(unix)]
use super::ClaimScope;
#[cfg(unix)]
use super::cluster::Cluster;
#[cfg(unix)]
use super::on_server::OnServer;
use super::sqlite::samples::{RUN, Sample, created, rejected, uncertain};
use super::{
    CellsDigest, Claim, Group, Known, Recall, Scope, SenderId, SentRow, ServiceId, Settlement,
};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId, Status};
use crate::phone::PhoneNumber;

const ROWS: u64 = 16;
const NUMBERS: u64 = 5;

type Key = (RunId, u64);

/// An operation on a ledger.
#[derive(Debug, Clone)]
enum Action {
    Claim(u64),
    Settle(u64, RowOutcome),
    Release(u64),
    Commit,
    FileSome,
    FileAll,
    /// Kills the process. Then follow the upkeep, recovery,
    /// and a new run (`true`) or the same run again.
    Kill(Upkeep, bool),
}

#[derive(Debug, Clone, Copy)]
enum Upkeep {
    Nothing,
    Prune,
    ForgetRun,
    ForgetNumber(u64),
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (1..=ROWS).prop_map(Action::Claim),
        8 => (1..=ROWS, any_outcome()).prop_map(|(row, outcome)| Action::Settle(row, outcome)),
        1 => (1..=ROWS).prop_map(Action::Release),
        5 => Just(Action::Commit),
        6 => Just(Action::FileSome),
        1 => Just(Action::FileAll),
        1 => (any_upkeep(), any::<bool>()).prop_map(|(upkeep, is_new)| Action::Kill(upkeep, is_new)),
    ]
}

fn any_upkeep() -> impl Strategy<Value = Upkeep> {
    prop_oneof![
        3 => Just(Upkeep::Nothing),
        1 => Just(Upkeep::Prune),
        1 => Just(Upkeep::ForgetRun),
        1 => (0..NUMBERS).prop_map(Upkeep::ForgetNumber),
    ]
}

fn any_outcome() -> impl Strategy<Value = RowOutcome> {
    let at = |second: i64| jiff::Timestamp::from_second(second).ok();
    prop_oneof![
        (0..4_i64).prop_map(move |second| RowOutcome {
            settled_at: at(second),
            ..created()
        }),
        (0..4_i64).prop_map(move |second| RowOutcome {
            status: Status::Duplicate,
            settled_at: at(second),
            ..created()
        }),
        Just(rejected()),
        Just(uncertain()),
        Just(RowOutcome {
            status: Status::Failed,
            ..rejected()
        }),
    ]
}

fn number(of: u64) -> PhoneNumber {
    PhoneNumber::from_key(447_911_000_000 + of).unwrap()
}

fn campaign(row: u64) -> CampaignId {
    CampaignId(row as i64 % 2)
}

fn claim(row: u64) -> Claim {
    Claim {
        row: RowId(row),
        file: (row % 3) as usize,
        line: 2 * row,
        number: number(row % NUMBERS),
        campaign: campaign(row),
        resends: false,
        sender: SenderId::default(),
    }
}

fn digest(row: u64) -> CellsDigest {
    CellsDigest([row as u8; 16])
}

/// What the ledger should know.
#[derive(Debug, Clone, Default)]
struct Model {
    records: BTreeMap<Key, SentRow>,
    /// Claimed rows, with their outcome if they have one.
    journal: BTreeMap<Key, Option<RowOutcome>>,
    bad: BTreeMap<CellsDigest, RunId>,
    /// Runs that have done nothing since they were pruned, so they are not pruned again.
    pruned: BTreeSet<RunId>,
    /// Runs that continued after a kill. [`Sample::start`] gives that
    /// a time later than any pruning, so they are pruned every time.
    resumed: BTreeSet<RunId>,
}

impl Model {
    fn commit(&mut self, run: RunId, group: &Group) {
        for claim in &group.claims {
            self.journal.insert((run, claim.row.0), None);
        }
        for settlement in &group.settlements {
            let outcome = settlement.outcome.clone();
            if outcome.status == Status::Rejected {
                self.bad.insert(digest(settlement.claim.row.0), run);
            }
            self.journal
                .insert((run, settlement.claim.row.0), Some(outcome));
        }
        for row in &group.releases {
            self.journal.remove(&(run, row.0));
        }
    }

    fn file(&mut self) {
        for (key, outcome) in std::mem::take(&mut self.journal) {
            match outcome {
                Some(outcome) => drop(self.records.insert(key, record(key, outcome))),
                None => drop(self.journal.insert(key, None)),
            }
        }
    }

    fn recover(&mut self) -> u64 {
        self.file();
        let open = std::mem::take(&mut self.journal);
        for key in open.keys() {
            let earlier = self.records.get(key).map_or(0, |r| r.outcome.attempts);
            let outcome = RowOutcome {
                attempts: earlier + 1,
                ..uncertain()
            };
            self.records.insert(*key, record(*key, outcome));
        }
        open.len() as u64
    }

    fn prune(&mut self, last: RunId) {
        self.file();
        for record in self.records.values_mut() {
            if !self.pruned.contains(&record.run) {
                record.outcome.error = None;
            }
        }
        let all = (1..=last.0).map(RunId);
        self.pruned
            .extend(all.filter(|run| !self.resumed.contains(run)));
    }

    fn forget(&mut self, is_forgotten: impl Fn(&Key) -> bool) -> u64 {
        self.file();
        let forgotten = self.records.iter().filter(|(key, _)| is_forgotten(key));
        let leads = forgotten
            .filter(|(_, record)| {
                matches!(record.outcome.status, Status::Created | Status::Duplicate)
            })
            .count();
        self.records.retain(|key, _| !is_forgotten(key));
        self.journal.retain(|key, _| !is_forgotten(key));
        leads as u64
    }

    fn known(&self, number: PhoneNumber, scope: Scope) -> Known {
        let is_meant = |record: &&SentRow| {
            record.number == number
                && match scope {
                    Scope::Campaign(campaign) => record.campaign == campaign,
                    Scope::Service => true,
                }
        };
        let all: Vec<&SentRow> = self.records.values().filter(is_meant).collect();
        let with = |status| {
            all.iter()
                .copied()
                .filter(move |r| r.outcome.status == status)
        };
        let earliest = |status| with(status).min_by_key(|r| (r.outcome.settled_at, r.run, r.row));
        let latest = |status| with(status).max_by_key(|r| (r.run, r.row)).cloned();
        let settled = earliest(Status::Created).or_else(|| earliest(Status::Duplicate));
        let was_refused =
            |r: &&&SentRow| r.outcome.status == Status::Rejected || r.outcome.is_tried_again();
        let refused = all.iter().filter(was_refused);
        Known {
            settled: settled.cloned(),
            uncertain: latest(Status::Uncertain),
            rejected: refused.max_by_key(|r| (r.run, r.row)).map(|r| (*r).clone()),
        }
    }
}

fn record((run, row): Key, outcome: RowOutcome) -> SentRow {
    let Claim {
        row,
        file,
        line,
        number,
        campaign,
        ..
    } = claim(row);
    SentRow {
        run,
        row,
        campaign,
        number,
        file,
        line,
        outcome,
    }
}

/// A ledger of one kind whose process can be killed.
trait Subject: Sized {
    /// Whether claims without an outcome become uncertain by themselves, before anything can be
    /// removed, and not only when the next run begins.
    const EXPIRES: bool;

    /// An empty one, with the run [`RUN`].
    fn new() -> Self;
    fn commit(&mut self, run: RunId, group: Group);
    fn file_some(&mut self);
    fn file_all(&mut self);
    fn kill(&mut self);
    /// What happens before the next run; returns how many rows became uncertain.
    fn recover(&mut self) -> u64;
    fn begin(&mut self) -> RunId;
    /// Continues this run, at a time later than any pruning.
    fn go_on(&mut self, run: RunId);
    fn prune(&mut self);
    fn forget_run(&mut self, run: RunId) -> u64;
    fn forget_number(&mut self, number: PhoneNumber) -> u64;
    /// Looks up what would be known if the process were killed now; `bad` are the runs
    /// whose bad rows are in rejects.
    fn if_killed(&self, bad: &[RunId], look: impl FnOnce(ServiceId, &Recall));
    /// The record of a row that is known without a kill.
    fn filed(&self, run: RunId, row: u64) -> Option<Option<SentRow>>;
}

impl Subject for Sample {
    const EXPIRES: bool = false;

    fn new() -> Sample {
        let mut sample = Sample::new();
        sample.file_in_small_slices();
        sample
    }

    fn commit(&mut self, run: RunId, group: Group) {
        self.commit(run, group);
    }

    fn file_some(&mut self) {
        self.ledger.file_some().unwrap();
    }

    fn file_all(&mut self) {
        self.ledger.file_all().unwrap();
    }

    fn kill(&mut self) {
        *self = self.killed();
        self.file_in_small_slices();
    }

    fn recover(&mut self) -> u64 {
        self.recover()
    }

    fn begin(&mut self) -> RunId {
        self.run()
    }

    fn go_on(&mut self, run: RunId) {
        self.start(run);
    }

    fn prune(&mut self) {
        self.ledger.prune(jiff::Timestamp::MAX).unwrap();
    }

    fn forget_run(&mut self, run: RunId) -> u64 {
        self.ledger.forget_run(run).unwrap()
    }

    fn forget_number(&mut self, number: PhoneNumber) -> u64 {
        self.ledger.forget_number(number).unwrap()
    }

    fn if_killed(&self, bad: &[RunId], look: impl FnOnce(ServiceId, &Recall)) {
        let mut killed = self.killed();
        killed.recover();
        bad.iter().for_each(|run| killed.record_rejects(*run));
        look(killed.service, &killed.ledger.recall().unwrap());
    }

    fn filed(&self, run: RunId, row: u64) -> Option<Option<SentRow>> {
        let (number, campaign) = (number(row % NUMBERS), campaign(row));
        let look = self.look(vec![number]);
        Some(look.row(number, campaign, run, RowId(row)).cloned())
    }
}

#[cfg(unix)]
impl Subject for OnServer {
    const EXPIRES: bool = true;

    fn new() -> OnServer {
        OnServer::start(ClaimScope::Row)
    }

    fn commit(&mut self, run: RunId, mut group: Group) {
        // A row that is claimed again may have been taken, and the pipeline says so.
        group
            .claims
            .iter_mut()
            .for_each(|claim| claim.resends = true);
        // Outcomes come in a later group than their claims.
        let claims = Group {
            claims: std::mem::take(&mut group.claims),
            ..Group::default()
        };
        let reply = self.commit(run, claims);
        assert_eq!(reply.refused, []);
        for settled in &mut group.settlements {
            settled.claim.sender = reply.sender;
        }
        self.commit(run, group);
    }

    fn file_some(&mut self) {}

    fn file_all(&mut self) {}

    fn kill(&mut self) {
        self.kill();
    }

    fn recover(&mut self) -> u64 {
        self.recover()
    }

    fn begin(&mut self) -> RunId {
        self.begin()
    }

    fn go_on(&mut self, run: RunId) {
        assert_eq!(self.go_on(9_000_000_000), run);
    }

    fn prune(&mut self) {
        self.expire();
        self.ledger.prune(jiff::Timestamp::MAX).unwrap();
    }

    fn forget_run(&mut self, run: RunId) -> u64 {
        self.expire();
        self.ledger.forget_run(run).unwrap()
    }

    fn forget_number(&mut self, number: PhoneNumber) -> u64 {
        self.expire();
        self.ledger.forget_number(number).unwrap()
    }

    fn if_killed(&self, bad: &[RunId], look: impl FnOnce(ServiceId, &Recall)) {
        self.record_rejects(bad);
        // What it would be when all leases have run out.
        let shift = |by: &str| format!("UPDATE leadload.senders SET until = until {by}");
        self.database.sql(&shift("- interval '1 year'"));
        look(self.service, &self.ledger.recall().unwrap());
        self.database.sql(&shift("+ interval '1 year'"));
    }

    fn filed(&self, _: RunId, _: u64) -> Option<Option<SentRow>> {
        None
    }
}

/// A ledger, its model, and the process that works on both.
struct World<S> {
    sample: S,
    model: Model,
    run: RunId,
    /// Entries that are gathered but not committed.
    group: Group,
    /// The rows that this process has claimed, and whether they are settled or released.
    rows: BTreeMap<u64, bool>,
}

impl<S: Subject> World<S> {
    fn new() -> World<S> {
        World {
            sample: S::new(),
            model: Model::default(),
            run: RUN,
            group: Group::default(),
            rows: BTreeMap::new(),
        }
    }

    /// Performs the action, if a process could do it now.
    fn perform(&mut self, action: &Action) {
        match action {
            // A lead is never sent again.
            Action::Claim(row) if !self.rows.contains_key(row) && !self.is_settled(*row) => {
                self.group.claims.push(claim(*row));
                self.rows.insert(*row, false);
            }
            Action::Settle(row, outcome) if self.rows.get(row) == Some(&false) => {
                self.group.settlements.push(Settlement {
                    claim: claim(*row),
                    outcome: outcome.clone(),
                    cells: Some(digest(*row)),
                    attempted: None,
                });
                self.rows.insert(*row, true);
            }
            Action::Release(row) if self.rows.get(row) == Some(&false) => {
                self.group.releases.push(RowId(*row));
                self.rows.insert(*row, true);
            }
            Action::Commit => {
                let group = std::mem::take(&mut self.group);
                self.model.commit(self.run, &group);
                self.sample.commit(self.run, group);
            }
            Action::FileSome => self.sample.file_some(),
            Action::FileAll => self.sample.file_all(),
            Action::Kill(upkeep, is_new) => self.kill(*upkeep, *is_new),
            Action::Claim(_) | Action::Settle(..) | Action::Release(_) => {}
        }
    }

    fn is_settled(&self, row: u64) -> bool {
        let key = (self.run, row);
        let filed = self.model.records.get(&key).map(|record| &record.outcome);
        let outcome = self
            .model
            .journal
            .get(&key)
            .and_then(Option::as_ref)
            .or(filed);
        outcome.is_some_and(|outcome| matches!(outcome.status, Status::Created | Status::Duplicate))
    }

    fn kill(&mut self, upkeep: Upkeep, is_new: bool) {
        self.sample.kill();
        (self.group, self.rows) = Default::default();
        let uncertain = self.model.recover();
        if S::EXPIRES {
            assert_eq!(self.sample.recover(), uncertain);
        }
        let is_gone = self.upkeep(upkeep);
        if !S::EXPIRES {
            // What removes something ends claims first.
            let has_ended = !matches!(upkeep, Upkeep::Nothing);
            let ended = self.sample.recover();
            assert!(ended == uncertain || has_ended && ended == 0);
        }
        if is_new || is_gone {
            self.run = self.sample.begin();
        } else {
            self.sample.go_on(self.run);
            self.model.pruned.remove(&self.run);
            self.model.resumed.insert(self.run);
        }
    }

    /// Returns whether the run was removed.
    fn upkeep(&mut self, upkeep: Upkeep) -> bool {
        let (sample, model, run) = (&mut self.sample, &mut self.model, self.run);
        match upkeep {
            Upkeep::Nothing => {}
            Upkeep::Prune => {
                sample.prune();
                model.prune(run);
            }
            Upkeep::ForgetRun => {
                let leads = sample.forget_run(run);
                assert_eq!(leads, model.forget(|key| key.0 == run));
                model.bad.retain(|_, first| *first != run);
            }
            Upkeep::ForgetNumber(of) => {
                let leads = sample.forget_number(number(of));
                assert_eq!(leads, model.forget(|key| key.1 % NUMBERS == of));
            }
        }
        matches!(upkeep, Upkeep::ForgetRun)
    }

    /// Checks that filed rows are correct, and that everything
    /// would be known if the process were killed now.
    fn check(&self) {
        self.check_filed();
        let mut model = self.model.clone();
        model.recover();
        let bad: Vec<RunId> = model.bad.values().copied().collect();
        self.sample.if_killed(&bad, |service, recall| {
            let numbers = (0..NUMBERS).map(number).collect();
            let look = recall.look(service, None, numbers).unwrap();
            let bad = recall.known_bad(service, self.run, (1..=ROWS).map(digest));
            let bad = bad.unwrap();
            for of in 0..NUMBERS {
                let scopes = [0, 1].map(|id| Scope::Campaign(CampaignId(id)));
                for scope in scopes.into_iter().chain([Scope::Service]) {
                    let known = look.find(number(of), scope);
                    assert_eq!(known, model.known(number(of), scope));
                }
            }
            for row in 1..=ROWS {
                let key = (self.run, row);
                let (number, campaign) = (number(row % NUMBERS), campaign(row));
                let found = look.row(number, campaign, self.run, RowId(row));
                assert_eq!(found, model.records.get(&key));
                let is_bad = bad.contains(&digest(row));
                let first = model.bad.get(&digest(row));
                assert_eq!(is_bad, first.is_some_and(|run| *run != self.run));
            }
        });
    }

    /// Checks that each filed row is as recovery left it, or as it has been settled since.
    fn check_filed(&self) {
        for row in 1..=ROWS {
            let Some(found) = self.sample.filed(self.run, row) else {
                return;
            };
            let key = (self.run, row);
            let before = self.model.records.get(&key).cloned();
            let since = self.model.journal.get(&key).cloned().flatten();
            let since = since.map(|outcome| record(key, outcome));
            assert!(
                found == before || since.is_some() && found == since,
                "{found:?}"
            );
        }
    }
}

fn check_all<S: Subject>(actions: &[Action]) {
    let mut world = World::<S>::new();
    for action in actions {
        world.perform(action);
        if matches!(
            action,
            Action::Commit | Action::FileSome | Action::FileAll | Action::Kill(..)
        ) {
            world.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_is_done_a_file_knows_what_its_model_knows(
        actions in prop::collection::vec(any_action(), 1..60),
    ) {
        check_all::<Sample>(&actions);
    }
}

#[cfg(unix)]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn whatever_is_done_a_server_knows_what_its_model_knows(
        actions in prop::collection::vec(any_action(), 1..60),
    ) {
        if Cluster::shared().is_some() {
            check_all::<OnServer>(&actions);
        }
    }
}
