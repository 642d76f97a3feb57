//! The ledger of several machines: a schema on a PostgreSQL server.
//!
//! It keeps the promises of every ledger (`ledger`), for runs on all machines together. What is
//! different is that several processes send to one service at once, and that each of them may be
//! cut off from the server, frozen, or killed, at any moment.
//!
//! # The protocol
//!
//! | step | what | why it is safe |
//! |-|-|-|
//! | *acquire* | a sender gets a lease for its run, if no other start of the run has one | one row of `senders`; a lease that has run out is never renewed |
//! | *renew* | the lease is prolonged, before two thirds of it are over | by the server's clock, if it has not run out |
//! | *claim* | a row's number gets this row, if no other row has it | a unique key of `sent`; in one statement with the lease, committed before the request leaves |
//! | *start* | a request leaves | only within the lease, less a margin, by two clocks of this computer (`lease`), asked immediately before |
//! | *settle* | an outcome is written | taken from anyone at any time: created over duplicate over all else |
//! | *expire* | an open claim counts as uncertain | when its sender's lease **and** then its `--timeout` have passed: no request of its can be on its way |
//! | *take over* | another start acquires a lease for the run | when the old lease has run out; rows that are still open are not sent before they expire |
//! | *displace* | another run claims a number whose row is uncertain | under `--on-uncertain resend` alone |
//!
//! A process that was cut off for longer than its lease acquires another one and claims again what it
//! has not started. `protocol` checks all interleavings of these steps for three processes, with
//! lost commits, kills and frozen processes; what decides about claims is the same function there.
//! Each step is one transaction in the model. So it is here, but for a claim: what is not simply
//! granted is decided in a second transaction, and if the lease has changed by then, all claims of the
//! group are decided again (`commit`).
//!
//! # What remains
//!
//! A process that is frozen (stopped, or its machine suspended) between the question whether it
//! may start and the first byte of its request, for longer than its lease and its time-out
//! together, sends that one request when it wakes. Only the service can refuse it then.
//!
//! # Out of reach
//!
//! While the server does not answer, nothing starts. Outcomes that come meanwhile are kept and
//! written when it is back (`session`). A commit whose answer is lost is repeated; it may have
//! happened, and counts once (`commit`). Errors that pass by themselves (a restart, a replica, a
//! full disk, too many connections, a statement that took too long) are waited out alike.
//!
//! # One pace
//!
//! Start times are reserved from the server where any run has a limit (`pace`).

mod alone;
mod claims;
mod commit;
mod connection;
mod error;
mod expire;
mod ledger;
mod owners;
mod pace;
mod password_file;
mod place;
#[cfg(test)]
#[cfg(unix)]
mod promises;
#[cfg(test)]
mod protocol;
mod runs;
mod schema;
mod sender;
mod session;
mod sql;
mod statements;
mod tls;
mod transfer;

pub(super) use alone::{REBUILD, STOP_SENDERS};
pub use ledger::PostgresLedger;
pub use place::ServerPlace;
pub(super) use session::LONG_ANSWER;
