//! What a check finds beside what becomes of each row.

use std::collections::HashMap;

use super::estimate::Estimate;
use super::tally::Ended;
use crate::api::wire::LeadForm;
use crate::intake::{Intake, PreparedRow};
use crate::mapping::Mapping;
use crate::phone::NumberKind;
use crate::source::Row;

/// How many request bodies are shown.
const BODIES: usize = 3;

/// What is known of the rows that are ready to be sent.
#[derive(Debug, Default)]
pub struct Findings {
    /// The bodies of the first requests.
    pub bodies: Vec<String>,
    /// Whether one of them has no campaign's id.
    pub has_unknown_campaign: bool,
    /// Their numbers by country and type.
    kinds: HashMap<NumberKind, u64>,
    /// The latest kind and how many have come of it in a row, which are not yet among
    /// the others.
    latest: Option<(NumberKind, u64)>,
}

/// A check that has ended, for its report.
#[derive(Debug)]
pub struct Checked<'a> {
    /// What became of the rows.
    pub ended: &'a Ended<'a>,
    /// What was read, and how.
    pub intake: &'a Intake,
    /// What else was found.
    pub findings: &'a Findings,
    /// How long sending takes; none where nothing limits it.
    pub estimate: Option<Estimate>,
}

impl Findings {
    /// Takes a row, which is ready if it has no outcome yet.
    pub fn note(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        prepared: &PreparedRow,
        form: LeadForm,
    ) {
        let (None, Some(phone)) = (&prepared.outcome, prepared.phone) else {
            return;
        };
        if let Some(kind) = prepared.kind {
            self.note_kind(kind);
        }
        if self.bodies.len() < BODIES {
            self.has_unknown_campaign |= prepared.campaign.is_none();
            let variables = mapping.variables(row);
            self.bodies
                .push(form.preview(phone, prepared.campaign, variables));
        }
    }

    /// Lists come with many numbers of one kind in a row.
    fn note_kind(&mut self, kind: NumberKind) {
        match &mut self.latest {
            Some((latest, rows)) if *latest == kind => *rows += 1,
            latest => {
                if let Some((kind, rows)) = latest.replace((kind, 1)) {
                    *self.kinds.entry(kind).or_default() += rows;
                }
            }
        }
    }

    /// The numbers by country and type, the most frequent first.
    pub(super) fn kinds(&self) -> Vec<(NumberKind, u64)> {
        let mut kinds = self.kinds.clone();
        if let Some((kind, rows)) = self.latest {
            *kinds.entry(kind).or_default() += rows;
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, rows)| (std::cmp::Reverse(*rows), *kind));
        kinds
    }
}
