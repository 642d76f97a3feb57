//! The real binary against the real embedded service over a real socket.

// Helpers outside of test functions fail by panicking too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod bad_input;
mod campaigns;
mod campaigns_apart;
mod canary;
mod check;
mod connections;
mod corpus;
mod crashes;
mod faults;
mod import;
mod ledger;
mod limits;
mod mending;
mod nightly;
mod outages;
mod outputs;
mod pacing;
mod properties;
mod refusals_for_now;
mod relay;
mod runs;
mod secrets;
mod sheets;
mod spreadsheets;
mod stop_after;
mod stops;
mod suppression;
mod time_up;
mod util;
mod wire;
mod workbooks;
