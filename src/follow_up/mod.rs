//! What can be done about a run afterwards: its leads are removed from the service again (`undo`),
//! and rows that may have been taken are looked up (`reconcile`). For the command line and the page.
//!
//! Both use calls that the interface document does not have, with the token of today, about leads of
//! another day. A lead of somebody else must not be touched, so [`Target`] makes sure that this is the
//! run's own service and account, and that the run is not being sent.
//!
//! Rule: nothing here asks a question or writes to the terminal.

mod lookup;
mod ownership;
mod reconcile;
mod target;
mod undo;
mod undone;

pub use reconcile::{Reconciled, Undecided, reconcile};
pub use target::{Target, Wanted};
pub use undo::Undo;
pub use undone::{OpenRows, Undone};
