//! The do-not-call list that stays: numbers that no import sends.

use jiff::Timestamp;

use crate::phone::PhoneNumber;

/// A number on the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub number: PhoneNumber,
    /// In the words of the person who put it there.
    pub reason: Option<String>,
    /// In whole seconds.
    pub added_at: Timestamp,
}

/// How much of the list is known. Numbers that are added later come after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPosition(pub(super) i64);

/// The numbers that came on the list after a position, each with the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewlySuppressed {
    pub numbers: Vec<(PhoneNumber, Timestamp)>,
    /// The position after them.
    pub to: ListPosition,
}
