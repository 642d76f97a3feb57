//! Numbers that are not sent: repeats within the import, numbers on a do-not-call list or marked by
//! the list itself, and numbers that the region for the whole list may have completed wrongly.
//!
//! Rule: bounded memory, at most 16 bytes for each distinct number.

mod cut_off;
mod doubt;
mod evidence;
mod first_rows;
mod kept_list;
mod marked;
mod numbers;
mod suppression;

pub use cut_off::Lengths;
pub use doubt::{Against, Doubt, Fitting, ListDoubt, are_many, is_wrong_for};
pub use evidence::{Completed, Evidence, LaterColumns, Sample};
pub use first_rows::FirstRows;
pub use kept_list::KeptList;
pub use marked::{MarkedColumn, MarkedNumbers};
pub use suppression::{Listing, SuppressionList, SuppressionLists, WrongList};
