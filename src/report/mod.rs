//! What is told to people and machines while rows are sent, and afterwards.
//!
//! Rule: listens, never steers. The pipeline tells [`RunEvent`]s; a [`Tally`]
//! counts them, a [`Progress`] knows how the run stands, and bar, log, summary and JSON
//! are made from these.
//!
//! What is shown here names nobody: phone numbers and variables, and what the
//! service says of a row, which may quote them, stand in the output files, and in what
//! `leadload check` shows, alone.
//!
//! [`RunEvent`]: crate::event::RunEvent

mod bar;
mod campaigns;
mod check_json;
mod check_text;
pub mod console;
mod estimate;
mod findings;
mod forgiving_term;
mod json;
mod log;
mod logbook;
mod opening;
mod pace_seen;
mod progress;
mod row_total;
mod runs_json;
mod runs_text;
mod share_to_send;
mod summary;
mod tally;
mod time_left;

pub use bar::Bar;
pub use campaigns::{campaign_csv, campaign_json, campaign_table};
pub use check_json::check_json;
pub use check_text::check_text;
pub use estimate::Estimate;
pub use findings::{Checked, Findings};
pub use json::{json_failure, json_summary};
pub use log::Log;
pub use logbook::Logbook;
pub use opening::{opening_lines, run_lines};
pub use progress::Progress;
pub use row_total::RowTotal;
pub use runs_json::{export_json, forgotten_json, pruned_json, run_json, runs_json};
pub use runs_text::{export_text, forgotten_text, pruned_text, run_text, runs_text};
pub use summary::text_summary;
pub use tally::{Ended, Tally};
