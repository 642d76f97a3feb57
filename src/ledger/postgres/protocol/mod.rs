//! The protocol of claims and leases, checked: a small model of it, all of whose interleavings
//! are gone through.
//!
//! One number is on the lists of two runs. Run 1 is sent by one process, or by two: the second is
//! started while the first may be dead, frozen or cut off. The steps are those of the
//! module's introduction, and [`decide`](super::claims::decide) is the code's own. Any process may
//! be killed at any time, the answer to any commit may be lost, and a process may be frozen between
//! the question whether it may start and its request. Time passes in steps: a lease takes two, a
//! request one.
//!
//! That the model can fail is shown by models with a flaw: each of them does.

use stateright::{Checker, HasDiscoveries, Model, Property};

use state::{Answer, Phase, Process, Row, State};

mod state;

/// Long enough for a lease, its time-out, another lease, and what comes late.
const END: u8 = 6;

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

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self.processes)]
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
        match action {
            Action::Tick => state.tick(),
            Action::Acquire(of) => state.acquire(of)?,
            Action::Renew(of) => state.renew(of, self.flaw)?,
            Action::Claim(of, is_lost) => state.claim(of, is_lost, self)?,
            Action::Start(of) => state.start(of, self.flaw)?,
            Action::Write(of) => state.write(of, self.resends)?,
            Action::Serve(of, answer, is_heard) => state.serve(of, answer, is_heard)?,
            Action::GiveUp(of) => state.give_up(of)?,
            Action::Settle(of, is_lost) => state.settle(of, is_lost, self.flaw)?,
            Action::Kill(of) => state.kill(of),
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
