//! The rules for rows that were tried before.

use crate::lead::RunId;
use crate::ledger::ServiceId;

/// How often a number is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Once {
    /// Once to each campaign.
    #[default]
    Campaign,
    /// Once, whatever the campaign.
    Service,
}

/// What becomes of rows that ended badly before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownBad {
    /// They are tried again.
    #[default]
    Retry,
    /// They are left alone.
    Skip,
}

/// What to do about an attempt that may have been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUncertain {
    /// Send again; while duplicates are not allowed the service refuses a second lead.
    Resend,
    /// Leave the row `uncertain`.
    Hold,
}

/// How rows are looked up in the ledger, and what follows.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    /// The service that leads go to.
    pub service: ServiceId,
    /// The run; none where it is only a check.
    pub run: Option<RunId>,
    /// Whether it continues an earlier process.
    pub goes_on: bool,
    /// How often a number is sent.
    pub once: Once,
    /// What is done about rows that may have been taken.
    pub on_uncertain: OnUncertain,
    /// What is done about rows that ended badly.
    pub known_bad: KnownBad,
    /// Whether leads are known by run and row rather than by number.
    pub allow_duplicates: bool,
}
