//! The protocol of claims and leases, checked: a small model of it, all of whose interleavings
//! are gone through.
//!
//! One number is on the lists of two runs. Run 1 is sent by one process, or by two: the second is
//! started while the first may be dead, frozen or cut off. The steps are those of the
//! module's introduction, and [`decide`] is the code's own. Any process may be killed at any time,
//! the answer to any commit may be lost, and a process may be frozen between the question whether
//! it may start and its request. Time passes in steps: a lease takes two, a request one.
//!
//! That the model can fail is shown by models with a flaw: each of them does.

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::claims::{Decision, Standing, decide};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId, Status};
use crate::ledger::record::{NO_ANSWER, without_answer};
use crate::ledger::{Claim, ClaimScope, Record, Refusal, SenderId};
use crate::phone::PhoneNumber;

const LEASE: u8 = 2;
const TIMEOUT: u8 = 1;
/// Long enough for a lease, its time-out, another lease, and what comes late.
const END: u8 = 6;

/// Which run each process sends, from 0.
const RUN_OF: [usize; 3] = [0, 1, 0];

/// What is left out of the protocol, to see that it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// A start does not ask whether its lease has run out.
    StartsWithoutLease,
    /// An open claim expires with its lease, without its time-out.
    ExpiresAtOnce,
    /// A lease is renewed though it has run out.
    RenewsTheDead,
    /// A late refusal replaces what is settled.
    TakesEveryOutcome,
}

#[derive(Debug, Clone, Copy)]
struct Protocol {
    flaw: Flaw,
    /// Whether a row in doubt is sent again.
    resends: bool,
    /// The processes that there are.
    processes: &'static [usize],
}

/// Two processes of different runs, and two of one run.
const PAIRS: [&[usize]; 2] = [&[0, 1], &[0, 2]];

/// The states of all three take a minute or more, so they are gone through only if this is set.
const ALL: &str = "LEADLOAD_MODEL_ALL";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    now: u8,
    /// The leases, each with its process and its end; the number of a sender is its place.
    senders: Vec<(usize, u8)>,
    /// The row of each run.
    rows: [Option<Row>; 2],
    processes: [Process; 3],
    /// Requests on their way: whose they are, and how long they may still arrive.
    flights: Vec<(usize, u8)>,
    /// Whether a request was taken, or may have been, so that another one is a second call.
    may_be_taken: bool,
    /// Whether one was written later than its lease and time-out allow.
    was_frozen: bool,
    is_called_twice: bool,
    /// Whether the ledger was told of the lead.
    knows_lead: bool,
    has_lead: bool,
    has_killed_sender: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Row {
    sender: usize,
    is_open: bool,
    status: Option<Answer>,
    holds: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Answer {
    Created,
    Refused,
    /// None, or none that was understood.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Process {
    is_dead: bool,
    /// Its lease, and when it asked for it.
    lease: Option<(usize, u8)>,
    phase: Phase,
    /// Whether an earlier request for its row may have been taken: then a refusal says only that
    /// this one was not.
    is_in_doubt: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// It has a row to send.
    Idle,
    /// Its claim under this lease is granted.
    Granted(usize),
    /// It has asked whether it may start, then, and will write its request.
    Permitted(usize, u8),
    /// Its request is out, or lost.
    Waiting(usize),
    Settling(usize, Answer),
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Action {
    Tick,
    Acquire(usize),
    Renew(usize),
    /// With whether the answer to the commit is lost.
    Claim(usize, bool),
    Start(usize),
    Write(usize),
    /// The service answers, and whether that is understood.
    Serve(usize, Answer, bool),
    GiveUp(usize),
    Settle(usize, bool),
    Kill(usize),
}

impl State {
    fn is_live(&self, sender: usize) -> bool {
        self.senders
            .get(sender)
            .is_some_and(|(_, until)| *until > self.now)
    }

    /// What stands in the way of a claim, as the ledger shows it.
    fn found(&self, flaw: Flaw) -> Vec<Standing> {
        let has_expired = |until: u8| match flaw {
            Flaw::ExpiresAtOnce => until <= self.now,
            _ => until + TIMEOUT < self.now,
        };
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(run, row)| {
            let row = row.as_ref()?;
            let (_, until) = self.senders.get(row.sender)?;
            Some(Standing {
                record: record(run, row.status),
                is_open: row.is_open,
                is_expired: row.is_open && has_expired(*until),
                sender: sender_id(row.sender),
                holds: row.holds,
            })
        })
        .collect()
    }

    fn claim(&mut self, process: usize, protocol: &Protocol) -> Option<Decision> {
        let (lease, _) = self.processes[process].lease?;
        if !self.is_live(lease) {
            return None;
        }
        let run = RUN_OF[process];
        let mine = self.senders.iter().enumerate();
        let mine = mine.filter(|(_, (of, _))| *of == process);
        let mine: Vec<SenderId> = mine.map(|(place, _)| sender_id(place)).collect();
        let claim = Claim {
            row: RowId(1),
            file: 0,
            line: 2,
            number: number(),
            campaign: CampaignId(1),
            resends: protocol.resends,
            sender: SenderId::default(),
        };
        let found = self.found(protocol.flaw);
        let decision = decide(&claim, ClaimScope::Campaign, run_id(run), &mine, &found);
        if let Decision::Grant { displaced } = &decision {
            let own = self.rows[run].as_ref();
            let was_lost = own.is_some_and(|row| row.is_open || row.status == Some(Answer::Lost));
            let is_mine = own.is_some_and(|row| mine.contains(&sender_id(row.sender)));
            self.processes[process].is_in_doubt |= was_lost && !is_mine || !displaced.is_empty();
            for other in displaced {
                let row = &mut self.rows[(other.record.run.0 - 1) as usize];
                if let Some(row) = row {
                    row.holds = false;
                    if std::mem::take(&mut row.is_open) {
                        row.status = Some(Answer::Lost);
                    }
                }
            }
            let status = self.rows[run].as_ref().and_then(|row| row.status);
            self.rows[run] = Some(Row {
                sender: lease,
                is_open: true,
                status,
                holds: true,
            });
        }
        Some(decision)
    }

    /// A process has nothing more to do.
    fn end(&mut self, process: usize) {
        let process = &mut self.processes[process];
        process.phase = Phase::Done;
        process.lease = None;
        process.is_in_doubt = false;
    }

    fn settle(&mut self, run: usize, sender: usize, answer: Answer, flaw: Flaw) {
        let Some(row) = &mut self.rows[run] else {
            return;
        };
        let counts = match (row.status, answer) {
            _ if flaw == Flaw::TakesEveryOutcome => true,
            (Some(Answer::Created), _) => false,
            (_, Answer::Created) => true,
            _ => row.sender == sender,
        };
        if counts {
            row.is_open = false;
            row.status = Some(answer);
            row.holds &= answer != Answer::Refused;
            self.knows_lead |= answer == Answer::Created;
        }
    }
}

fn number() -> PhoneNumber {
    PhoneNumber::from_key(447_911_000_000).unwrap()
}

fn run_id(run: usize) -> RunId {
    RunId(run as u64 + 1)
}

fn sender_id(place: usize) -> SenderId {
    SenderId(place as i64 + 1)
}

fn record(run: usize, status: Option<Answer>) -> Record {
    let of = |status| RowOutcome::not_sent(status, None, None);
    Record {
        run: run_id(run),
        row: RowId(1),
        campaign: CampaignId(1),
        number: number(),
        file: 0,
        line: 2,
        outcome: match status {
            Some(Answer::Created) => of(Status::Created),
            Some(Answer::Refused) => of(Status::Rejected),
            Some(Answer::Lost) | None => without_answer(0, NO_ANSWER),
        },
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let process = |of: usize| Process {
            is_dead: false,
            lease: None,
            phase: match self.processes.contains(&of) {
                true => Phase::Idle,
                false => Phase::Done,
            },
            is_in_doubt: false,
        };
        vec![State {
            now: 0,
            senders: Vec::new(),
            rows: [None, None],
            processes: [0, 1, 2].map(process),
            flights: Vec::new(),
            may_be_taken: false,
            was_frozen: false,
            is_called_twice: false,
            knows_lead: false,
            has_lead: false,
            has_killed_sender: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.push(Action::Tick);
        for (of, process) in state.processes.iter().enumerate() {
            if process.is_dead || process.phase == Phase::Done {
                continue;
            }
            actions.push(Action::Kill(of));
            // Later on a lease changes nothing for it.
            if matches!(process.phase, Phase::Idle | Phase::Granted(_)) {
                actions.push(Action::Acquire(of));
                actions.push(Action::Renew(of));
            }
            match process.phase {
                Phase::Idle => {
                    actions.extend([false, true].map(|lost| Action::Claim(of, lost)));
                }
                Phase::Granted(_) => actions.push(Action::Start(of)),
                Phase::Permitted(..) => actions.push(Action::Write(of)),
                Phase::Waiting(_) => actions.push(Action::GiveUp(of)),
                Phase::Settling(..) => {
                    actions.extend([false, true].map(|lost| Action::Settle(of, lost)));
                }
                Phase::Done => {}
            }
        }
        for (of, _) in &state.flights {
            for answer in [Answer::Created, Answer::Refused] {
                actions.extend([true, false].map(|heard| Action::Serve(*of, answer, heard)));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let now = state.now;
        match action {
            Action::Tick => {
                state.now += 1;
                // A request that has not arrived by its time-out never does, for all we know.
                let before = state.flights.len();
                state.flights.retain(|(_, until)| *until > now);
                state.may_be_taken |= state.flights.len() < before;
            }
            Action::Kill(of) => {
                state.has_killed_sender |= state.processes[of].lease.is_some();
                state.processes[of].is_dead = true;
                state.end(of);
            }
            Action::Acquire(of) => {
                let process = &state.processes[of];
                if process.lease.is_some_and(|(lease, _)| state.is_live(lease)) {
                    return None;
                }
                let run = RUN_OF[of];
                let is_other =
                    |(by, until): &(usize, u8)| *by != of && RUN_OF[*by] == run && *until > now;
                if state.senders.iter().any(is_other) {
                    return None;
                }
                state.processes[of].lease = Some((state.senders.len(), now));
                state.senders.push((of, now + LEASE));
            }
            Action::Renew(of) => {
                let (lease, asked) = state.processes[of].lease?;
                // It renews as late as it can: earlier is no different.
                let is_due = now + 1 == asked + LEASE;
                if !is_due && self.flaw != Flaw::RenewsTheDead || asked == now {
                    return None;
                }
                state.senders[lease].1 = now + LEASE;
                state.processes[of].lease = Some((lease, now));
            }
            Action::Claim(of, is_lost) => {
                let decision = state.claim(of, self)?;
                let (lease, _) = state.processes[of].lease?;
                match decision {
                    _ if is_lost => {}
                    Decision::Grant { .. } => state.processes[of].phase = Phase::Granted(lease),
                    Decision::Refuse(Refusal::Busy) => return None,
                    Decision::Refuse(_) => state.end(of),
                }
            }
            Action::Start(of) => {
                let Phase::Granted(claimed) = state.processes[of].phase else {
                    return None;
                };
                let (lease, asked) = state.processes[of].lease?;
                if lease != claimed {
                    // There is another lease, under which it has to be claimed again.
                    state.processes[of].phase = Phase::Idle;
                } else if now < asked + LEASE || self.flaw == Flaw::StartsWithoutLease {
                    state.processes[of].phase = Phase::Permitted(claimed, now);
                } else {
                    return None;
                }
            }
            Action::Write(of) => {
                let Phase::Permitted(claimed, asked) = state.processes[of].phase else {
                    return None;
                };
                state.was_frozen |= now > asked + TIMEOUT;
                let is_second = state.may_be_taken || !state.flights.is_empty();
                state.is_called_twice |= is_second && !self.resends;
                state.flights.push((of, now.max(asked + TIMEOUT)));
                state.processes[of].phase = Phase::Waiting(claimed);
            }
            Action::Serve(of, answer, is_heard) => {
                let place = state.flights.iter().position(|(by, _)| *by == of)?;
                state.flights.remove(place);
                state.has_lead |= answer == Answer::Created;
                // A refusal that nobody hears may have been a lead, as far as anyone knows.
                state.may_be_taken |= answer == Answer::Created || !is_heard;
                if let Phase::Waiting(claimed) = state.processes[of].phase {
                    let is_clear = answer == Answer::Created || !state.processes[of].is_in_doubt;
                    let is_told = is_heard && is_clear;
                    let heard = if is_told { answer } else { Answer::Lost };
                    state.processes[of].phase = Phase::Settling(claimed, heard);
                }
            }
            Action::GiveUp(of) => {
                let Phase::Waiting(claimed) = state.processes[of].phase else {
                    return None;
                };
                if state.flights.iter().any(|(by, _)| *by == of) {
                    return None;
                }
                state.processes[of].phase = Phase::Settling(claimed, Answer::Lost);
            }
            Action::Settle(of, is_lost) => {
                let Phase::Settling(claimed, answer) = state.processes[of].phase else {
                    return None;
                };
                state.settle(RUN_OF[of], claimed, answer, self.flaw);
                if !is_lost {
                    state.end(of);
                }
            }
        }
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Protocol>> {
        vec![
            Property::always(
                "no number is in flight from two senders, but for a freeze between check and write",
                |_, state: &State| state.flights.len() <= 1 || state.was_frozen,
            ),
            Property::always("no outcome is lost", |_, state: &State| {
                let rows = || state.rows.iter().flatten();
                let may_be = |row: &Row| row.is_open || row.status != Some(Answer::Refused);
                let is_told =
                    !state.knows_lead || rows().any(|row| row.status == Some(Answer::Created));
                is_told && (!state.has_lead || rows().any(may_be))
            }),
            Property::always(
                "what is in doubt is never sent again unless that is wanted",
                |_, state: &State| !state.is_called_twice || state.was_frozen,
            ),
            // That the model goes where it is meant to go.
            Property::sometimes("another process sends after a kill", |_, state: &State| {
                let is_sent = |process: &Process| {
                    matches!(process.phase, Phase::Settling(_, Answer::Created))
                };
                state.has_killed_sender && state.processes.iter().any(is_sent)
            }),
            Property::sometimes(
                "a row in doubt is sent again",
                |protocol: &Protocol, state: &State| {
                    let is_again = state.may_be_taken && !state.flights.is_empty();
                    is_again || !protocol.resends
                },
            ),
            Property::sometimes("one that was frozen sends late", |_, state: &State| {
                state.was_frozen
            }),
        ]
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.now <= END && state.senders.len() <= 3
    }
}

fn check(flaw: Flaw, resends: bool, processes: &'static [usize]) -> impl Checker<Protocol> {
    Protocol {
        flaw,
        resends,
        processes,
    }
    .checker()
    .threads(2)
    .finish_when(HasDiscoveries::AnyFailures)
    .spawn_bfs()
    .join()
}

#[test]
fn the_protocol_keeps_its_promises_whatever_happens_and_whenever() {
    let all: &[&[usize]] = match std::env::var_os(ALL) {
        Some(_) => &[&[0, 1, 2]],
        None => &PAIRS,
    };
    for processes in all {
        for resends in [true, false] {
            let checked = check(Flaw::None, resends, processes);
            checked.assert_properties();
            assert!(checked.is_done());
            eprintln!("{} states of {processes:?}", checked.unique_state_count());
        }
    }
}

#[test]
fn without_any_of_its_rules_a_promise_is_broken() {
    for flaw in [
        Flaw::StartsWithoutLease,
        Flaw::ExpiresAtOnce,
        Flaw::RenewsTheDead,
        Flaw::TakesEveryOutcome,
    ] {
        let is_broken = |processes: &'static [usize]| {
            let checked = check(flaw, true, processes);
            let broken = checked.discoveries();
            broken.keys().any(|name| name.starts_with("no "))
        };
        assert!(PAIRS.into_iter().any(is_broken), "{flaw:?}");
    }
}
