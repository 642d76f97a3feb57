//! What became of the rows, counted.

use std::collections::BTreeMap;

use crate::event::RunEvent;
use crate::exit::{ExitCode, Stop};
use crate::lead::{CampaignId, ErrorCode, Status};
use crate::results::Written;

/// How many rows ended in each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; Status::ALL.len()]);

impl Counts {
    /// Every status with its rows, in the order of [`Status::ALL`].
    pub fn all(&self) -> impl Iterator<Item = (Status, u64)> {
        Status::ALL.into_iter().zip(self.0)
    }

    /// All rows.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    fn add(&mut self, status: Status) {
        self.0[status as usize] += 1;
    }
}

/// A kind of problem, and where it was met first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Rows that have it.
    pub rows: u64,
    /// The input of the first, counted from 0.
    pub first_file: usize,
    /// The line of the first.
    pub first_line: u64,
}

/// The sums of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// All rows by status.
    pub counts: Counts,
    /// The same for each campaign whose id is known.
    pub by_campaign: BTreeMap<CampaignId, Counts>,
    /// Rows that ask for attention, by status and error code.
    pub problems: BTreeMap<(Status, ErrorCode), Problem>,
    /// Requests in flight.
    pub in_flight: usize,
}

impl Tally {
    /// Takes an event.
    pub fn note(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settled {
                row,
                campaign,
                outcome,
            } => {
                self.counts.add(outcome.status);
                if let Some(campaign) = campaign {
                    self.by_campaign
                        .entry(*campaign)
                        .or_default()
                        .add(outcome.status);
                }
                if let Some(code) = outcome.error_code
                    && outcome.status.is_problem()
                {
                    self.problems
                        .entry((outcome.status, code))
                        .or_insert_with(|| Problem {
                            rows: 0,
                            first_file: row.file(),
                            first_line: row.line(),
                        })
                        .rows += 1;
                }
            }
            RunEvent::InFlight(count) => self.in_flight = *count,
            _ => {}
        }
    }

    /// Whether any row asks for attention.
    pub fn has_problems(&self) -> bool {
        self.counts
            .all()
            .any(|(status, rows)| rows > 0 && status.is_problem())
    }
}

/// A command that has ended, for its summary.
#[derive(Debug)]
pub struct Ended<'a> {
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
    /// Whether nothing was to be sent.
    pub dry_run: bool,
}
