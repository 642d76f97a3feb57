//! What is told to people and machines while rows are sent, and afterwards.
//!
//! Rule: listens, never steers. The pipeline tells [`RunEvent`]s; a [`Tally`]
//! counts them, and bar, log, summary and JSON are made from events and tally.

mod bar;
pub mod console;
mod event;
mod json;
mod log;
mod summary;
mod tally;

pub use bar::Bar;
pub use event::RunEvent;
pub use json::json_object;
pub use log::{Log, log_event};
pub use summary::text_summary;
pub use tally::{Ended, Tally};
