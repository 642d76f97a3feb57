//! What is told to people and machines while rows are sent, and afterwards.
//!
//! Rule: listens, never steers. The pipeline tells [`RunEvent`]s; a [`Tally`]
//! counts them, and bar, log, summary and JSON are made from events and tally.
//!
//! What is shown here names nobody: phone numbers and variables, and what the
//! service says of a row, which may quote them, stand in the output files alone.
//!
//! [`RunEvent`]: crate::event::RunEvent

mod bar;
mod campaigns;
pub mod console;
mod forgiving_term;
mod json;
mod log;
mod summary;
mod tally;

pub use bar::Bar;
pub use campaigns::{campaign_csv, campaign_json, campaign_table};
pub use json::{json_failure, json_summary};
pub use log::{Log, log_event};
pub use summary::text_summary;
pub use tally::{Ended, Tally};
