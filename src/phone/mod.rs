//! Phone numbers: from a cell to a number that can be called.
//!
//! `reader` has the order of the steps from a cell to a number (`tidy`, `damage`,
//! `several`, `extension`, `dialled`, then `google` and `rules`); `plan` and `plans` are what
//! Google's metadata says of the digits. The types `number`, `region`, `kind` and `plan`
//! refer to each other: a number's country is found in the plan, which lists countries.
//!
//! Rule: no I/O; a cell goes in, a number or the reason why there is none comes out.

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
mod against_google_tests;
#[cfg(test)]
mod messy_cells_tests;

pub use country_cell::CountryCell;
pub use fitting::others_fitting;
pub use kind::{LineKind, NumberKind};
pub use looks::{is_surely_number, looks_like_number};
pub use number::PhoneNumber;
pub use problem::{Origin, PhoneProblem};
pub use region::Region;
pub use round_numbers::RoundNumbers;
pub use rules::{PhoneRule, PhoneRules};
pub use written::Written;
