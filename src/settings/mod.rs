//! What was typed, together with the environment and a profile, and what it means.
//!
//! Flags come before the environment, that before the profile, and that before defaults.
//!
//! Rule: the only reader of environment variables, and the only place for
//! defaults that depend on something. What is decided here is not asked again.
//! The variables for proxies and for the system's certificates are the exception:
//! libraries read them, as `api::client` says.

mod check;
mod connection;
mod defaults;
mod environment;
mod import;
mod ledger;
mod parsed;
#[cfg(test)]
mod precedence_tests;
mod profile;
mod reading;

pub use check::{CheckSettings, Pace};
pub use connection::{Connection, Service};
pub use defaults::{RunDefaults, word};
pub use environment::Environment;
pub use import::{ImportSettings, TIMEOUT};
pub use ledger::LedgerChoice;
pub use parsed::{Parsed, Refusal, Refused, RefusedImport};
pub use profile::{
    EnvironmentWord, MappingToSave, NewProfile, Origin, PresentRegion, Profile, ProfileInForce,
    RegionChoice, Replaced, Said, SettingInForce, WrittenProfile, settings_in_force,
};
pub use reading::{ReadingSettings, form_choice, output_choices};
