//! Reads phone numbers: from a cell to a number that can be called.
//!
//! `reader` runs the steps from a cell to digits in order (`tidy`, `damage`, `several`, `extension`,
//! `dialled`), and `dialling` those from digits to a number (`google`, `rules`); `area_code` reads a
//! number in two cells. `plan` and `plans` hold what Google's
//! metadata says about the digits. The modules `number`, `region`, `kind` and `plan` refer to
//! each other: the country of a number is found in the plan, and the plan lists countries.
//!
//! Rule: no I/O. The input is a cell; the output is a number, or the reason why there is none.

mod amount;
mod area_code;
mod country_cell;
mod country_name;
mod damage;
mod date;
mod dialled;
mod dialling;
mod digits;
mod extension;
mod fitting;
mod flag;
mod google;
mod kind;
mod looks;
mod mask;
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
mod words;
mod written;

#[cfg(test)]
mod against_google_tests;
#[cfg(test)]
mod area_code_tests;
#[cfg(test)]
mod messy_cells_tests;
#[cfg(test)]
mod wrong_people_tests;

pub use country_cell::CountryCell;
pub use fitting::others_fitting;
pub use kind::{KindChoice, LineKind, LineKinds, NumberKind};
pub use looks::{is_surely_number, looks_like_number};
pub use number::PhoneNumber;
pub use problem::{Origin, PhoneProblem};
pub use reader::Read;
pub use region::Region;
pub use round_numbers::RoundNumbers;
pub use rules::{PhoneRule, PhoneRules};
pub use written::Written;
