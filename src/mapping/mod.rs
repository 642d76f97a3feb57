//! Header to plan, row to what is sent.
//!
//! Rule: pure. A [`Mapping`] is made once for each input from its header, from its
//! first rows and from what the user asked for ([`MappingSpec`]); whatever does not
//! fit is found there, before anything is sent.

mod columns;
mod detect;
mod error;
mod phone_words;
mod plan;
mod rejects_form;
mod spec;

pub use error::MappingError;
pub use plan::{ColumnRole, ColumnUse, Mapping};
pub use rejects_form::{ADDED_COLUMNS, RejectsForm, SURPLUS_COLUMN};
pub use spec::{EmptyCells, MappingSpec, VarNames};
