//! From a header to a plan, and from a row to what is sent.
//!
//! Rule: pure. A [`Mapping`] is made once for each input from its header, its
//! first rows and the user's choices ([`MappingSpec`]). Whatever does not fit is
//! detected there, before anything is sent.
//!
//! From the bottom up: `header_words` and `spec`; `columns` finds a column by name or number;
//! `country_columns`, `area_codes`, `extension_column`, `detect`, `mark` and `only` choose columns;
//! `planner` puts these together into a `plan`, and `allow_list` turns a plan into what a profile saves.

mod allow_list;
mod area_codes;
mod beside;
mod columns;
mod country_columns;
mod date_cell;
mod detect;
mod error;
mod extension_column;
mod header_row;
mod header_words;
mod list_columns;
mod mark;
mod only;
mod phone_column;
#[cfg(test)]
mod phone_headers_tests;
mod plan;
mod planner;
mod rejects_form;
mod row_region;
mod row_shape;
mod saved;
mod spec;
mod test_leads;

pub use allow_list::AllowList;
pub use columns::column_texts;
pub use country_columns::CountryColumns;
pub use error::{MappingError, PhoneCandidate, SheetRows, UnknownMark};
pub use header_row::rows_above_header;
pub use header_words::is_private;
pub use list_columns::ListColumns;
pub use mark::{Mark, MarkColumn, MarkKind, NamedMark};
pub use only::{OnlyRule, comparable};
pub use phone_column::PhoneColumn;
pub use plan::{ChangedColumns, ColumnRole, ColumnUse, Mapping, Note};
pub use rejects_form::{ADDED_COLUMNS, RejectsForm, SURPLUS_COLUMN};
pub use row_region::{RowRegion, RowRegions};
pub use row_shape::{LIKE_FOOTER, RowShape};
pub use spec::{
    ColumnChoice, EmptyCells, HiddenRows, MappingSpec, SavedMapping, Unclear, VarNames,
};
