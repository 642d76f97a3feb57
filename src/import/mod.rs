//! An import in its steps, for the command line and for the page in a browser.
//!
//! ```text
//! inputs::survey → inputs::plan → inputs::protect → Prepared::new → sending::send → an Observer
//!     form of        columns,       do-not-call       outputs,        run, rows,     is told
//!     the files      doubt          lists             campaigns       results
//!                        └→ dry_run::run: what would become of every row
//! ```
//!
//! Rule: nothing here asks a question or writes to the terminal, log lines aside. The
//! caller decides what to ask between two steps, and shows what comes of it.

pub mod campaign_list;
pub mod dry_run;
mod ending;
mod guards;
mod identity;
pub mod inputs;
mod moved_names;
mod new_ledger;
mod observer;
mod open_ledger;
mod planned_run;
mod prepared;
mod rejects;
mod remembered;
mod sending;
pub mod service;
mod test_lead;
mod warnings;
mod work_time;

pub use guards::Guards;
pub use inputs::Request;
pub use moved_names::{MovedName, moved_names};
pub use observer::Observer;
pub use open_ledger::{OpenLedger, SentBefore, Turn, pace};
pub use planned_run::PlannedRun;
pub use prepared::{Concern, Import, Prepared, results_file};
pub use rejects::{columns_digest, passed_on, run_of_rejects};
pub use remembered::{Remembered, remember};
pub use sending::send;
pub use test_lead::{TestLead, TestSent};
pub use warnings::Warnings;
pub use work_time::WorkTime;
