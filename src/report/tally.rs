//! Counts the outcomes of rows.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::event::RunEvent;
use crate::exit::ExitCode;
use crate::lead::{CampaignId, Counts, ErrorCode, RowId, RowOutcome, Status};
use crate::message::Text;
use crate::phone::RoundNumbers;
use crate::source::Row;
use crate::stop::Stop;

const MAX_PLACES: usize = 3;

const MAX_NAMES: usize = 1000;

/// Rows with the same status and error code, and where the first of them are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutcomeGroup {
    pub rows: u64,
    /// How many of them are on a do-not-call list by now. That is not why they are
    /// in this group: they may have been taken earlier, and are not sent again.
    pub suppressed: u64,
    pub first: Vec<Place>,
    /// What is wrong with one of the rows, if that text holds no personal data, and
    /// the input and the line of the row.
    pub example: Option<((usize, u64), Text)>,
    /// Whether other rows have other texts.
    pub is_mixed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: usize,
    pub line: u64,
    pub row: RowId,
}

#[derive(Debug, Default)]
pub struct Tally {
    pub counts: Counts,
    pub rows_by_file: Vec<u64>,
    /// Rows that were invalid or rejected in an earlier run and are left alone.
    pub known_bad: u64,
    /// Rows on a do-not-call list whose people are leads already.
    pub suppressed_leads: u64,
    /// All rows by status, for each campaign whose id is known.
    pub by_campaign: BTreeMap<CampaignId, Counts>,
    /// All rows by status, for each campaign name whose id is not known; only a check has such
    /// names.
    pub by_campaign_name: BTreeMap<String, Counts>,
    pub groups: BTreeMap<(Status, Option<ErrorCode>), OutcomeGroup>,
    /// Counts numbers that may have lost digits.
    pub round_numbers: RoundNumbers,
    pub in_flight: usize,
}

impl Tally {
    pub fn new(inputs: usize) -> Tally {
        Tally {
            rows_by_file: vec![0; inputs],
            ..Tally::default()
        }
    }

    #[cfg(test)]
    pub(super) fn midway() -> Tally {
        let mut tally = Tally::default();
        (0..1180).for_each(|_| tally.counts.add(Status::Created));
        (0..20).for_each(|_| tally.counts.add(Status::Rejected));
        tally.in_flight = 3;
        tally
    }

    pub fn count(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settled {
                row,
                phone,
                campaign,
                outcome,
                ..
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
                    self.round_numbers.record(*phone);
                }
                let is_suppressed = outcome.status == Status::Suppressed;
                self.suppressed_leads += u64::from(is_suppressed && outcome.lead_id.is_some());
                if outcome.is_known_bad {
                    self.known_bad += 1;
                } else if !matches!(outcome.status, Status::Created | Status::Ready) {
                    self.count_group(*row, outcome);
                }
            }
            RunEvent::Stopping { in_flight, .. } => self.in_flight = *in_flight,
            RunEvent::Pulse(pulse) => self.in_flight = pulse.in_flight,
            _ => {}
        }
    }

    /// Counts a row of a campaign that is known only by its name. If a column has
    /// more names than there can be campaigns, its content is something else.
    pub fn count_campaign_name(&mut self, name: String, status: Status) {
        let names = &mut self.by_campaign_name;
        if names.len() < MAX_NAMES || names.contains_key(&name) {
            names.entry(name).or_default().add(status);
        }
    }

    fn count_group(&mut self, row: Row<'_>, outcome: &RowOutcome) {
        let key = (outcome.status, outcome.error_code);
        let group = self.groups.entry(key).or_default();
        group.rows += 1;
        group.suppressed += u64::from(outcome.is_suppressed);
        // Our own error texts do not quote the cell; the service's may name a person.
        if outcome.status == Status::Invalid {
            let text = outcome.error.as_ref().filter(|_| !outcome.quotes_cells);
            match (&group.example, text) {
                (Some((_, example)), text) => group.is_mixed |= text != Some(example),
                (None, Some(text)) => {
                    group.is_mixed = group.rows > 1;
                    group.example = Some(((row.file(), row.line()), text.clone()));
                }
                (None, None) => {}
            }
        }
        let place = Place {
            file: row.file(),
            line: row.line(),
            row: row.id(),
        };
        // Rows come in the order of their answers; the first ones of the list are kept.
        let at = group.first.partition_point(|other| *other < place);
        group.first.insert(at, place);
        group.first.truncate(MAX_PLACES);
    }

    /// Rows that need attention, by status and error code. The most frequent
    /// come first; if there are equally many, those that are first in the input.
    pub fn problems(&self) -> Vec<(Status, ErrorCode, &OutcomeGroup)> {
        let mut problems: Vec<_> = self
            .groups
            .iter()
            .filter(|((status, _), _)| status.is_problem())
            .filter_map(|((status, code), group)| Some((*status, (*code)?, group)))
            .collect();
        problems.sort_by_key(|(_, _, group)| (Reverse(group.rows), group.first.first().copied()));
        problems
    }

    /// Rows that are not sent although nothing is wrong with them.
    pub fn left_out(&self) -> impl Iterator<Item = (Status, Option<ErrorCode>, &OutcomeGroup)> {
        let groups = self.groups.iter();
        let groups = groups.filter(|((status, _), _)| !status.is_problem());
        groups.map(|((status, code), group)| (*status, *code, group))
    }

    /// How the command ends: with `on_problems` if it is complete and rows have problems.
    pub fn exit_code(&self, stop: Option<&Stop>, on_problems: ExitCode) -> ExitCode {
        match stop {
            Some(stop) => stop.by().exit_code(),
            None if self.has_problems() => on_problems,
            None => ExitCode::Complete,
        }
    }

    /// The rows with this status, known bad ones aside.
    pub fn rows_of(&self, status: Status) -> u64 {
        let groups = self.groups.iter().filter(|((of, _), _)| *of == status);
        groups.map(|(_, group)| group.rows).sum()
    }

    pub fn has_problems(&self) -> bool {
        self.counts.problems() > self.known_bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::RowBatch;

    #[test]
    fn the_first_places_are_the_first_of_the_input_in_whatever_order_rows_are_answered() {
        let rows = RowBatch::of_text(&[&["a"], &["b"], &["c"], &["d"], &["e"]]);
        let rows: Vec<_> = rows.rows().collect();
        let outcome = RowOutcome::not_sent(Status::Uncertain, Some(ErrorCode::AnswerLost), None);
        let mut tally = Tally::new(1);
        for at in [3, 4, 1, 2, 0] {
            tally.count(&RunEvent::Settled {
                row: rows[at],
                phone: None,
                campaign: None,
                outcome: &outcome,
                sent: true,
            });
        }
        let (_, _, group) = tally.problems()[0];
        let first: Vec<RowId> = group.first.iter().map(|place| place.row).collect();
        assert_eq!(first, [rows[0].id(), rows[1].id(), rows[2].id()]);
        assert_eq!(group.rows, 5);
    }
}
