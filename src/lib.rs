//! Bulk lead importer: reads files of contacts, sends leads to a
//! calling-campaign service, and reports a status for every row.
//!
//! # The path of a row
//!
//! ```text
//! files → source → mapping → phone → campaign → screen → ledger → pipeline → api → pipeline
//!         bytes    columns   E.164   id         repeats, known    claims,    POST  outcomes
//!         to rows  to lead                      lists    leads    pacing               │
//!         └────────────────── intake, threads ────────────────┘ └─ the async thread ─┘ │
//!                                                                                      │
//!                                               results ←─────────── ledger ←──────────┘
//!                                               CSV, rejects         settles
//!                                               └ a thread ┘         └ a thread ┘
//! ```
//!
//! Rows move in one direction. A row is read once, in batches; each stage passes batches
//! on through a bounded channel. Every row ends as exactly one [`lead::RowOutcome`],
//! which is data: errors are only for what ends the run. No request leaves before its row
//! is claimed in the ledger, and no line is written before its outcome is in the ledger.
//!
//! # The modules in that order, each with the rule that it follows
//!
//! | module | job | rule |
//! |-|-|-|
//! | [`cli`] | the command line: flags, help, and errors in it | no default that depends on anything |
//! | [`options`] | the options of an import, each declared once, as data | code that lists options uses the declarations |
//! | [`settings`] | the values of options: the command line overrides the environment, which overrides the profile, which overrides the defaults | the only reader of environment variables and of the settings file; variables for system certificates, the terminal, its time zone and the browser are read by libraries |
//! | [`commands`] | an outline for each command | reads like a table of contents |
//! | [`import`] | the steps of an import, for the command line and the page | asks nothing, prints nothing |
//! | [`source`] | files to rows | knows nothing about leads |
//! | [`mapping`] | header to plan, row to what is sent | pure |
//! | [`phone`] | a cell to a number or a reason | pure; the only way to make a number |
//! | [`campaign`] | ids and names | pure |
//! | [`screen`] | repeated numbers, do-not-call lists, numbers that may belong to other people | bounded memory |
//! | [`ledger`] | every lead that was ever sent | its module documentation lists its promises, each with tests |
//! | [`intake`] | `source` to `ledger`, put together | one path for sending and for checking |
//! | [`lead`] | the types that all others share: rows, leads, statuses | no I/O |
//! | [`pipeline`] | the one loop: pace, attempts, stops, order | never prints; the only place that sends |
//! | [`api`] | the service: client, wire format, verdicts | the only place that knows the service |
//! | [`results`] | results and rejects in input order, and the report file | the only writer of files about rows |
//! | [`report`] | what is found and what happens, as overview, bar, log, summary, JSON, page, metrics | reads the events of a run and changes nothing |
//! | [`do_not_call`] | the do-not-call list that stays: numbers are put on it and taken off | all numbers or none |
//! | [`follow_up`] | what is done about a run afterwards: undo, reconcile | touches nothing but the run's own leads |
//! | [`sandbox`] | the embedded service, with faults on demand | also what tests talk to |
//! | [`web`] | the same work in a page of the browser | lets in one person, on this computer |
//! | [`contain`] | libraries that panic | only what is needed to call them |
//! | [`event`], [`stop`] | what happens in a run, and why it ends early | data; put into words in `report` alone |
//! | [`rate`], [`backoff`], [`text`], [`message`], [`command_line`], [`shell`], [`paths`], [`private_file`], [`open_files`], [`core_file`], [`double_click`], [`clock`], [`signals`], [`simulation`], [`exit`] | small things that several modules need | one concept each |

#![cfg_attr(not(windows), forbid(unsafe_code))]

// First, since its macros are used everywhere.
#[macro_use]
pub mod message;

pub mod api;
pub mod backoff;
pub mod campaign;
pub mod cli;
pub mod clock;
pub mod command_line;
pub mod commands;
pub mod contain;
pub mod core_file;
pub mod do_not_call;
pub mod double_click;
pub mod event;
pub mod exit;
pub mod follow_up;
pub mod import;
pub mod intake;
pub mod lead;
pub mod ledger;
pub mod mapping;
pub mod open_files;
pub mod options;
pub mod paths;
pub mod phone;
pub mod pipeline;
pub mod private_file;
pub mod rate;
pub mod report;
pub mod results;
pub mod sandbox;
pub mod screen;
pub mod settings;
pub mod shell;
pub mod signals;
pub mod simulation;
pub mod source;
pub mod stop;
pub mod text;
pub mod web;
