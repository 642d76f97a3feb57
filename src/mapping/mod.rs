//! Header to plan, row to what is sent.
//!
//! Rule: pure. A [`Mapping`] is made once for each input from its header, from its
//! first rows and from what the user asked for ([`MappingSpec`]); whatever does not
//! fit is found there, before anything is sent.

mod allow_list;
mod columns;
mod country_columns;
mod country_words;
mod detect;
mod error;
mod list_columns;
mod only;
mod phone_words;
mod plan;
mod rejects_form;
mod row_region;
mod saved;
mod spec;
mod test_leads;

pub use allow_list::AllowList;
pub use detect::rows_above_header;
pub use error::{MappingError, PhoneCandidate};
pub use list_columns::ListColumns;
pub use only::OnlyRule;
pub use plan::{ColumnRole, ColumnUse, LIKE_FOOTER, Mapping, Note};
pub use rejects_form::{ADDED_COLUMNS, RejectsForm, SURPLUS_COLUMN};
pub use row_region::{RowRegion, RowRegions};
pub use saved::{MissingColumn, SavedMapping};
pub use spec::{EmptyCells, MappingSpec, RegionColumns, VarNames};
