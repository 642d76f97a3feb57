//! Phone numbers: from whatever a cell holds to a number that can be called.
//!
//! | file | what it is about |
//! |---|---|
//! | `number` | the number itself |
//! | `region`, `country_name`, `country_cell` | countries, their names, and cells with these |
//! | `rules` | what the user wants, and whether a number is so |
//! | `reader` | from a cell to a number: the order of the steps |
//! | `tidy`, `damage`, `several`, `extension`, `dialled` | the steps |
//! | `written` | in what form it was written |
//! | `fitting` | of which other countries numbers may be |
//! | `google` | what the library reads in digits |
//! | `plan`, `plans` | what Google's metadata says of the digits |
//! | `kind` | country and line |
//! | `problem` | why a cell gives no number |
//! | `looks` | whether a cell looks like a number at all |
//!
//! Nothing here reads or writes anything; a cell goes in, a number or a reason comes
//! out.

mod country_cell;
mod country_name;
mod damage;
mod dialled;
mod extension;
mod fitting;
mod google;
mod kind;
mod looks;
mod number;
mod plan;
#[rustfmt::skip]
mod plans;
mod problem;
mod reader;
mod region;
mod round_numbers;
mod rules;
mod several;
mod tidy;
mod written;

#[cfg(test)]
mod against_google;
#[cfg(test)]
mod messy_cells;

pub use country_cell::CountryCell;
pub use fitting::others_fitting;
pub use kind::{LineKind, NumberKind};
pub use looks::{is_surely_number, looks_like_number};
pub use number::PhoneNumber;
pub use problem::{Origin, PhoneProblem};
pub use reader::PhoneReader;
pub use region::Region;
pub use round_numbers::RoundNumbers;
pub use rules::{PhoneRule, PhoneRules};
pub use written::Written;
