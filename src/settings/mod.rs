//! What all options mean together.
//!
//! The command line overrides the environment, which overrides
//! the profile, which overrides the defaults: [`Layers`].
//!
//! Rule: this module is the only reader of environment variables, and the only place for defaults
//! that depend on something. What it decides is not decided again elsewhere. Exception: libraries
//! read the variables for the system's certificates (see `api::client`), and those that name the
//! user's browser.
//!
//! `layers` and `profile` use each other: a profile makes up two of the layers,
//! and a new profile or a saved mapping takes its content from the layers.

mod check;
mod connection;
mod environment;
mod import;
mod layers;
mod ledger;
mod page;
#[cfg(test)]
mod precedence_tests;
mod profile;
mod reading;
mod shown;
mod state;

pub use connection::{Connection, Service, refuse_unreadable_proxy};
pub use environment::{environment, has_display, own_variables, proxy_to, warn_of_misspelled};
pub use import::{FollowUpSettings, ImportSettings, TIMEOUT};
pub use layers::{Layer, Layers, Origin};
pub use ledger::{ledger_place, place_of};
pub use page::{home_folder, page_folder, pages_folder};
pub use profile::{MappingToSave, NewProfile, Profile, WrittenProfile};
pub use reading::{PhoneSettings, ReadingSettings, form_choice, output_choices};
pub use shown::{SettingInUse, settings_in_use};
pub use state::copies_folder;

use check::{check_alone, quoted};
