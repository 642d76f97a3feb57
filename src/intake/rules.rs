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
    /// Send again; while duplicates are not allowed the service refuses a second lead.
    Resend,
    Hold,
}

#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    pub service: ServiceId,
    /// The run; none where it is only a check.
    pub run: Option<RunId>,
    pub goes_on: bool,
    pub once: Once,
    pub on_uncertain: OnUncertain,
    pub known_bad: KnownBad,
    /// Whether leads are known by run and row rather than by number.
    pub allow_duplicates: bool,
}
