//! What all options mean together.
//!
//! The command line overrides the environment, that the profile, and that the defaults:
//! [`Layers`].
//!
//! Rule: the only reader of environment variables, and the only place for defaults that depend
//! on something. What is decided here is not decided again. Exception: libraries read the
//! variables for proxies and for the system's certificates, as `api::client` says.
//!
//! `layers` and `profile` use each other: a profile is two of the layers, and what a new profile
//! or a saved mapping has comes from the layers.

mod check;
mod connection;
mod environment;
mod import;
mod layers;
mod ledger;
#[cfg(test)]
mod precedence_tests;
mod profile;
mod reading;
mod shown;

pub use connection::{Connection, Service};
pub use environment::environment;
pub use import::{ImportSettings, TIMEOUT};
pub use layers::{Layer, Layers, Origin};
pub use ledger::ledger_place;
pub use profile::{MappingToSave, NewProfile, Profile, WrittenProfile};
pub use reading::{ReadingSettings, form_choice, output_choices};
pub use shown::{SettingInUse, settings_in_use};

use check::check_alone;
