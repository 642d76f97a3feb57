//! What all options mean together.
//!
//! What was typed comes before the environment, that before the profile, and that before
//! defaults: [`Layers`].
//!
//! Rule: the only reader of environment variables, and the only place for
//! defaults that depend on something. What is decided here is not asked again.
//! The variables for proxies and for the system's certificates are the exception:
//! libraries read them, as `api::client` says.

mod connection;
mod defaults;
mod environment;
mod import;
mod layers;
mod ledger;
mod parsed;
#[cfg(test)]
mod precedence_tests;
mod profile;
mod reading;
mod shown;

pub use connection::{Connection, Service};
pub use environment::environment;
pub use import::{ImportSettings, TIMEOUT};
pub use layers::{Layer, Layers, Origin};
pub use ledger::LedgerChoice;
pub use parsed::{Parsed, Refusal, Refused};
pub use profile::{MappingToSave, NewProfile, Profile, Stated, WrittenProfile};
pub use reading::{ReadingSettings, form_choice, output_choices};
pub use shown::{SettingInUse, settings_in_use};

use import::check_alone;
