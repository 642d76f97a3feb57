//! What became of the rows, counted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::command_line::CommandLine;
use crate::event::RunEvent;
use crate::exit::{ExitCode, Stop};
use crate::lead::{CampaignId, Counts, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::phone::RoundNumbers;
use crate::results::Written;
use crate::source::Row;

/// How many places are remembered of each kind of outcome.
const MOST_PLACES: usize = 3;

/// Rows that ended alike, and where the first of them stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Group {
    /// How many there are.
    pub rows: u64,
    /// The first few.
    pub first: Vec<Place>,
    /// What is wrong with the first, where that names nobody.
    pub example: Option<String>,
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line there, from 1.
    pub line: u64,
    /// Its number among all rows.
    pub row: RowId,
}

/// The sums of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// All rows by status.
    pub counts: Counts,
    /// All rows of each input.
    pub rows_by_file: Vec<u64>,
    /// Rows that ended badly in an earlier run and are left alone.
    pub known_bad: u64,
    /// The same for each campaign whose id is known.
    pub by_campaign: BTreeMap<CampaignId, Counts>,
    /// Rows that were not simply sent, by status and error code.
    pub groups: BTreeMap<(Status, Option<ErrorCode>), Group>,
    /// Numbers that may have lost digits.
    pub round_numbers: RoundNumbers,
    /// Requests in flight.
    pub in_flight: usize,
}

impl Tally {
    /// Nothing yet, of so many inputs.
    pub fn new(inputs: usize) -> Tally {
        Tally {
            rows_by_file: vec![0; inputs],
            ..Tally::default()
        }
    }

    /// A run on its way, for tests of how that is said.
    #[cfg(test)]
    pub(super) fn midway() -> Tally {
        let mut tally = Tally::default();
        (0..1180).for_each(|_| tally.counts.add(Status::Created));
        (0..20).for_each(|_| tally.counts.add(Status::Rejected));
        tally.in_flight = 3;
        tally
    }

    /// Takes an event.
    pub fn note(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settled {
                row,
                phone,
                campaign,
                outcome,
            } => {
                self.counts.add(outcome.status);
                if let Some(rows) = self.rows_by_file.get_mut(row.file()) {
                    *rows += 1;
                }
                if let Some(campaign) = campaign {
                    self.by_campaign
                        .entry(*campaign)
                        .or_default()
                        .add(outcome.status);
                }
                if let Some(phone) = phone {
                    self.round_numbers.note(*phone);
                }
                if outcome.is_known_bad {
                    self.known_bad += 1;
                } else if !matches!(outcome.status, Status::Created | Status::Ready) {
                    self.note_group(*row, outcome);
                }
            }
            RunEvent::InFlight(count) => self.in_flight = *count,
            RunEvent::Pulse(pulse) => self.in_flight = pulse.in_flight,
            _ => {}
        }
    }

    fn note_group(&mut self, row: Row<'_>, outcome: &RowOutcome) {
        let key = (outcome.status, outcome.error_code);
        let group = self.groups.entry(key).or_default();
        group.rows += 1;
        // What is wrong with a cell is said without it; what the service says may
        // name a person.
        if outcome.status == Status::Invalid && group.example.is_none() {
            group.example.clone_from(&outcome.error);
        }
        if group.first.len() < MOST_PLACES {
            group.first.push(Place {
                file: row.file(),
                line: row.line(),
                row: row.id(),
            });
        }
    }

    /// Rows that ask for attention, by status and error code, the most frequent first
    /// and as they stand in the input among equals.
    pub fn problems(&self) -> Vec<(Status, ErrorCode, &Group)> {
        let mut problems: Vec<_> = self
            .groups
            .iter()
            .filter(|((status, _), _)| status.is_problem())
            .filter_map(|((status, code), group)| Some((*status, (*code)?, group)))
            .collect();
        problems.sort_by_key(|(_, _, group)| (Reverse(group.rows), group.first.first().copied()));
        problems
    }

    /// Whether any row asks for attention.
    pub fn has_problems(&self) -> bool {
        let problems = self.counts.all().filter(|(status, _)| status.is_problem());
        problems.map(|(_, rows)| rows).sum::<u64>() > self.known_bad
    }
}

/// A command that has ended, for its summary.
#[derive(Debug)]
pub struct Ended<'a> {
    /// The run's number, where there is a ledger.
    pub run: Option<RunId>,
    /// What became of the rows.
    pub tally: &'a Tally,
    /// The inputs' names.
    pub inputs: Vec<&'a str>,
    /// Why it ended early, and a text for people.
    pub stop: Option<Stop>,
    /// The exit code.
    pub exit_code: ExitCode,
    /// Requests started.
    pub requests: u64,
    /// How long it took, in seconds.
    pub elapsed_s: f64,
    /// The files left behind.
    pub written: Written,
    /// Whether it was a trial on the embedded service.
    pub sandbox: bool,
    /// The command, where it ended early and the same command goes on.
    pub continue_with: Option<CommandLine>,
}
