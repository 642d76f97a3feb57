//! The real binary against the real embedded service over a real socket.

// Helpers outside test functions may fail by panicking too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]
// Tests that send signals are for Unix alone, and leave some names unused elsewhere.
#![cfg_attr(not(unix), allow(unused_imports, dead_code))]

mod bad_input;
mod bad_nights;
mod blank_rows;
mod campaign_names;
mod campaign_pages;
mod campaigns;
mod campaigns_apart;
mod changed_inputs;
mod check;
#[cfg(unix)]
#[path = "../support/cluster.rs"]
// Benchmarks use the rest.
#[allow(dead_code)]
mod cluster;
mod compressed_answers;
mod config;
mod connections;
mod copies;
mod corpus;
mod countries;
mod crashes;
mod cut_off;
mod dead_ends;
mod doubt;
mod faults;
mod fixed_rejects;
mod footers;
mod guards;
mod help;
mod hidden_rows;
mod import;
mod json_log;
mod json_summary;
mod keep;
mod kept_ledgers;
mod kept_outputs;
mod ledger;
#[cfg(target_os = "linux")]
mod ledger_files;
mod limits;
#[cfg(unix)]
#[path = "../support/link.rs"]
#[allow(dead_code)]
mod link;
#[path = "../support/listen.rs"]
mod listen;
mod manual;
mod marks;
mod max_new;
mod messages;
mod metrics;
#[cfg(unix)]
mod moved_names;
mod moved_outputs;
#[cfg(unix)]
mod new_ledger;
mod nightly;
mod odd_answers;
mod odd_services;
mod only;
mod outages;
mod outputs;
#[cfg(unix)]
mod overview;
mod page;
mod page_bad_input;
mod page_client;
mod page_do_not_call;
mod page_files;
mod page_notes;
mod page_runs;
mod page_session;
mod page_undo;
#[cfg(unix)]
mod phone_columns;
mod picker;
mod properties;
#[cfg(unix)]
mod questions;
#[cfg(target_os = "linux")]
mod readers;
#[cfg(unix)]
mod recipes;
mod reconcile;
mod refusals_for_now;
mod rejects_of_runs;
mod relay;
mod report_page;
mod restarts;
mod runs;
mod screen;
mod secrets;
#[cfg(unix)]
mod setup;
mod several_sheets;
#[cfg(unix)]
mod shared_copies;
#[cfg(unix)]
mod shared_crashes;
#[cfg(unix)]
mod shared_ledger;
#[cfg(unix)]
mod shared_outages;
#[cfg(unix)]
mod shared_pace;
#[cfg(unix)]
mod shared_security;
#[cfg(unix)]
mod shared_strangers;
mod sheets;
mod spreadsheets;
mod stop_after;
mod stops;
mod strange_ledgers;
mod summary;
mod suppress;
mod suppression;
#[cfg(unix)]
mod ten_nights;
mod terminal;
mod test_to;
mod time_up;
mod tokens;
mod totals;
mod transcript;
mod undo;
#[cfg(unix)]
mod units;
mod unseen;
mod util;
mod variables;
mod web_security;
mod wire;
mod workbooks;
