//! Numbers that are not sent again, or not at all: those that stood earlier in the
//! same import, and those on a do-not-call list.
//!
//! Rule: bounded memory, at most 16 bytes for each distinct number.

mod first_rows;
mod numbers;
mod suppression;

pub use first_rows::FirstRows;
pub use suppression::{ListFacts, Suppressed, SuppressionError, SuppressionLists};
