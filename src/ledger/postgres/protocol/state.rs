//! What there is at one moment, and what each step changes.

use super::{Flaw, Protocol};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId, Status};
use crate::ledger::postgres::claims::{CompetingRow, Decision, decide};
use crate::ledger::record::{NO_ANSWER, without_answer};
use crate::ledger::{Claim, ClaimScope, Refusal, SenderId, SentRow};
use crate::phone::PhoneNumber;

const LEASE: u8 = 2;
const TIMEOUT: u8 = 1;

/// Which run each process sends, from 0.
const RUN_OF: [usize; 3] = [0, 1, 0];

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) now: u8,
    /// The leases, each with its process and its end; the number of a sender is its place.
    pub(super) senders: Vec<(usize, u8)>,
    /// The row of each run.
    pub(super) rows: [Option<Row>; 2],
    pub(super) processes: [Process; 3],
    /// Requests on their way: whose they are, and how long they may still arrive.
    pub(super) flights: Vec<(usize, u8)>,
    /// Whether a request was taken, or may have been, so that another one is a second call.
    pub(super) may_be_taken: bool,
    /// Whether one was written later than its lease and time-out allow.
    pub(super) was_frozen: bool,
    pub(super) is_called_twice: bool,
    /// Whether the ledger was told of the lead.
    pub(super) knows_lead: bool,
    pub(super) has_lead: bool,
    pub(super) has_killed_sender: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub(super) sender: usize,
    pub(super) is_open: bool,
    pub(super) status: Option<Answer>,
    pub(super) holds: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Answer {
    Created,
    Refused,
    /// None, or none that was understood.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) is_dead: bool,
    /// Its lease, and when it asked for it.
    pub(super) lease: Option<(usize, u8)>,
    pub(super) phase: Phase,
    /// Whether an earlier request for its row may have been taken: then a refusal says only that
    /// this one was not.
    pub(super) is_in_doubt: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Phase {
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

impl State {
    /// What there is before anything is done.
    pub(super) fn new(processes: &[usize]) -> State {
        let process = |of: usize| Process {
            is_dead: false,
            lease: None,
            phase: match processes.contains(&of) {
                true => Phase::Idle,
                false => Phase::Done,
            },
            is_in_doubt: false,
        };
        State {
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
        }
    }

    pub(super) fn tick(&mut self) {
        // A request that has not arrived by its time-out never does, for all we know.
        let (now, before) = (self.now, self.flights.len());
        self.flights.retain(|(_, until)| *until > now);
        self.may_be_taken |= self.flights.len() < before;
        self.now += 1;
    }

    pub(super) fn acquire(&mut self, of: usize) -> Option<()> {
        let has_lease = |(lease, _)| self.is_live(lease);
        let (run, now) = (RUN_OF[of], self.now);
        let is_other = |(by, until): &(usize, u8)| *by != of && RUN_OF[*by] == run && *until > now;
        if self.processes[of].lease.is_some_and(has_lease) || self.senders.iter().any(is_other) {
            return None;
        }
        self.processes[of].lease = Some((self.senders.len(), now));
        self.senders.push((of, now + LEASE));
        Some(())
    }

    pub(super) fn renew(&mut self, of: usize, flaw: Flaw) -> Option<()> {
        let now = self.now;
        let (lease, asked) = self.processes[of].lease?;
        // It renews as late as it can: earlier is no different.
        let is_due = now + 1 == asked + LEASE;
        if !is_due && flaw != Flaw::RenewsTheDead || asked == now {
            return None;
        }
        self.senders[lease].1 = now + LEASE;
        self.processes[of].lease = Some((lease, now));
        Some(())
    }

    pub(super) fn claim(&mut self, of: usize, is_lost: bool, protocol: &Protocol) -> Option<()> {
        let (lease, _) = self.processes[of].lease?;
        let decision = self.decide(of, lease, protocol)?;
        match decision {
            _ if is_lost => {}
            Decision::Grant { .. } => self.processes[of].phase = Phase::Granted(lease),
            Decision::Refuse(Refusal::Busy) => return None,
            Decision::Refuse(_) => self.end(of),
        }
        Some(())
    }

    pub(super) fn start(&mut self, of: usize, flaw: Flaw) -> Option<()> {
        let Phase::Granted(claimed) = self.processes[of].phase else {
            return None;
        };
        let (lease, asked) = self.processes[of].lease?;
        self.processes[of].phase = if lease != claimed {
            // There is another lease, under which it has to be claimed again.
            Phase::Idle
        } else if self.now < asked + LEASE || flaw == Flaw::StartsWithoutLease {
            Phase::Permitted(claimed, self.now)
        } else {
            return None;
        };
        Some(())
    }

    pub(super) fn write(&mut self, of: usize, resends: bool) -> Option<()> {
        let Phase::Permitted(claimed, asked) = self.processes[of].phase else {
            return None;
        };
        self.was_frozen |= self.now > asked + TIMEOUT;
        let is_second = self.may_be_taken || !self.flights.is_empty();
        self.is_called_twice |= is_second && !resends;
        self.flights.push((of, self.now.max(asked + TIMEOUT)));
        self.processes[of].phase = Phase::Waiting(claimed);
        Some(())
    }

    pub(super) fn serve(&mut self, of: usize, answer: Answer, is_heard: bool) -> Option<()> {
        let place = self.flights.iter().position(|(by, _)| *by == of)?;
        self.flights.remove(place);
        self.has_lead |= answer == Answer::Created;
        // A refusal that nobody hears may have been a lead, as far as anyone knows.
        self.may_be_taken |= answer == Answer::Created || !is_heard;
        if let Phase::Waiting(claimed) = self.processes[of].phase {
            let is_clear = answer == Answer::Created || !self.processes[of].is_in_doubt;
            let is_told = is_heard && is_clear;
            let heard = if is_told { answer } else { Answer::Lost };
            self.processes[of].phase = Phase::Settling(claimed, heard);
        }
        Some(())
    }

    pub(super) fn give_up(&mut self, of: usize) -> Option<()> {
        let Phase::Waiting(claimed) = self.processes[of].phase else {
            return None;
        };
        if self.flights.iter().any(|(by, _)| *by == of) {
            return None;
        }
        self.processes[of].phase = Phase::Settling(claimed, Answer::Lost);
        Some(())
    }

    pub(super) fn settle(&mut self, of: usize, is_lost: bool, flaw: Flaw) -> Option<()> {
        let Phase::Settling(claimed, answer) = self.processes[of].phase else {
            return None;
        };
        self.take_outcome(RUN_OF[of], claimed, answer, flaw);
        if !is_lost {
            self.end(of);
        }
        Some(())
    }

    pub(super) fn kill(&mut self, of: usize) {
        self.has_killed_sender |= self.processes[of].lease.is_some();
        self.processes[of].is_dead = true;
        self.end(of);
    }

    fn is_live(&self, sender: usize) -> bool {
        self.senders
            .get(sender)
            .is_some_and(|(_, until)| *until > self.now)
    }

    /// The rows that have the number, as a claim finds them.
    fn found(&self, flaw: Flaw) -> Vec<CompetingRow> {
        let has_expired = |until: u8| match flaw {
            Flaw::ExpiresAtOnce => until <= self.now,
            _ => until + TIMEOUT < self.now,
        };
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(run, row)| {
            let row = row.as_ref()?;
            let (_, until) = self.senders.get(row.sender)?;
            Some(CompetingRow {
                record: record(run, row.status),
                is_open: row.is_open,
                is_expired: row.is_open && has_expired(*until),
                sender: sender_id(row.sender),
                holds: row.holds,
            })
        })
        .collect()
    }

    /// What the ledger decides about a claim under this lease, and changes.
    fn decide(&mut self, process: usize, lease: usize, protocol: &Protocol) -> Option<Decision> {
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
        let found: Vec<&CompetingRow> = found.iter().collect();
        let decision = decide(&claim, ClaimScope::Campaign, run_id(run), &mine, &found);
        if let Decision::Grant { expired, displaced } = &decision {
            for (run, _) in expired {
                if let Some(row) = self.row_of(*run) {
                    (row.is_open, row.status) = (false, Some(Answer::Lost));
                }
            }
            for (run, _) in displaced {
                if let Some(row) = self.row_of(*run) {
                    row.holds = false;
                }
            }
            let own = self.rows[run].as_ref();
            let was_lost = own.is_some_and(|row| row.status == Some(Answer::Lost));
            let is_mine = own.is_some_and(|row| mine.contains(&sender_id(row.sender)));
            self.processes[process].is_in_doubt |= was_lost && !is_mine || !displaced.is_empty();
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

    fn row_of(&mut self, run: RunId) -> Option<&mut Row> {
        self.rows[(run.0 - 1) as usize].as_mut()
    }

    /// A process has nothing more to do.
    fn end(&mut self, process: usize) {
        let process = &mut self.processes[process];
        process.phase = Phase::Done;
        process.lease = None;
        process.is_in_doubt = false;
    }

    fn take_outcome(&mut self, run: usize, sender: usize, answer: Answer, flaw: Flaw) {
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

fn record(run: usize, status: Option<Answer>) -> SentRow {
    let of = |status| RowOutcome::not_sent(status, None, None);
    SentRow {
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
