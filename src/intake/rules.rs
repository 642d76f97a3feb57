//! The rules for rows that were tried before.

use crate::lead::RunId;
use crate::ledger::ServiceId;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Once {
    #[default]
    Campaign,
    Service,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownBad {
    #[default]
    Retry,
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUncertain {
    /// Send again. Unless duplicates are allowed, the service refuses a second lead.
    Resend,
    Hold,
}

#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    pub service: ServiceId,
    /// `None` if the rows are only checked.
    pub run: Option<RunId>,
    pub goes_on: bool,
    pub once: Once,
    pub on_uncertain: OnUncertain,
    pub known_bad: KnownBad,
    /// Whether a lead is identified by run and row, not by its number.
    pub allow_duplicates: bool,
}
