//! The real binary against the real embedded service over a real socket.

// Helpers outside of test functions fail by panicking too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod bad_input;
mod campaigns;
mod check;
mod corpus;
mod crashes;
mod faults;
mod import;
mod ledger;
mod mending;
mod nightly;
mod outputs;
mod pacing;
mod properties;
mod runs;
mod secrets;
mod sheets;
mod spreadsheets;
mod stops;
mod suppression;
mod util;
mod wire;
mod workbooks;
