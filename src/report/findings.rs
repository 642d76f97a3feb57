//! What a check finds in addition to the outcome of each row.

use super::estimate::Estimate;
use super::kinds::Kinds;
use super::outcome::Outcome;
use crate::api::wire::LeadForm;
use crate::campaign::UnclearNames;
use crate::command_line::CommandLine;
use crate::intake::{Intake, PreparedRow};
use crate::mapping::Mapping;
use crate::message::Text;
use crate::settings::MappingToSave;
use crate::source::Row;

const BODIES: usize = 3;

#[derive(Debug, Default)]
pub struct Findings {
    pub bodies: Vec<String>,
    /// Whether one of the bodies has no campaign id.
    pub has_unknown_campaign: bool,
    pub(super) kinds: Kinds,
}

/// Whether the names of campaigns were looked up at the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    NotNeeded,
    NotDone(Text),
    /// They were looked up. Some names may be unclear: unknown or ambiguous.
    Done(Option<UnclearNames>),
}

impl Lookup {
    pub fn unclear(&self) -> Option<&UnclearNames> {
        match self {
            Lookup::Done(unclear) => unclear.as_ref(),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub struct Checked<'a> {
    pub outcome: &'a Outcome<'a>,
    pub intake: &'a Intake,
    pub findings: &'a Findings,
    pub lookup: &'a Lookup,
    pub estimate: Option<&'a Estimate>,
    /// The mapping that was saved, if one was.
    pub saved: Option<&'a MappingToSave>,
    /// The command that imports by it.
    pub next: Option<CommandLine>,
}

impl Findings {
    /// Takes a row. If it has no outcome yet, it is ready.
    pub fn count(
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
            self.kinds.count(kind);
        }
        if self.bodies.len() < BODIES {
            self.has_unknown_campaign |= prepared.campaign.is_none();
            let variables = mapping.variables(row);
            self.bodies
                .push(form.preview(phone, prepared.campaign, variables));
        }
    }
}
