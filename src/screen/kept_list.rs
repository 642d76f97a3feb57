//! The do-not-call list that leadload keeps in its ledger.
//!
//! It may grow while an import is under way, by another process or from the page. Several threads
//! ask it: those that read rows, and the one that sends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::numbers::Numbers;
use crate::ledger::{ListPosition, NewlySuppressed};
use crate::phone::PhoneNumber;

const DAY: i64 = 24 * 3600;

#[derive(Debug, Default)]
pub struct KeptList {
    known: RwLock<ListSnapshot>,
    /// How many numbers are known. Most lists are empty, and then nothing is locked.
    len: AtomicUsize,
}

#[derive(Debug, Default)]
struct ListSnapshot {
    /// Each number with the day on which it was added, counted from the beginning of 1970.
    numbers: Numbers,
    to: ListPosition,
}

impl KeptList {
    /// Takes what the ledger has added. A number that was taken off stays, for this import.
    pub fn add(&self, new: &NewlySuppressed) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for (number, added_at) in &new.numbers {
            let day = u32::try_from(added_at.as_second() / DAY).unwrap_or_default();
            known.numbers.record(number.key(), day);
        }
        known.to = known.to.max(new.to);
        self.len.store(known.numbers.len(), Ordering::Release);
    }

    /// How much of the ledger's list is known.
    pub fn position(&self) -> ListPosition {
        self.known.read().unwrap_or_else(PoisonError::into_inner).to
    }

    pub fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The day, in UTC, on which the number came on the list; `None` if it is not on it.
    pub fn since(&self, number: PhoneNumber) -> Option<Date> {
        if self.is_empty() {
            return None;
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let day = known.numbers.get(number.key())?;
        let time = Timestamp::from_second(i64::from(day) * DAY).unwrap_or_default();
        Some(time.to_zoned(TimeZone::UTC).date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_on_it_since_the_day_on_which_it_was_added() {
        let list = KeptList::default();
        let number = |text: &str| PhoneNumber::from_e164(text).unwrap();
        let (one, other) = (number("+447911000001"), number("+447911000002"));
        assert_eq!(list.since(one), None);
        let added_at = "2026-11-26T23:59:59Z".parse().unwrap();
        list.add(&NewlySuppressed {
            numbers: vec![(one, added_at)],
            to: ListPosition::default(),
        });
        assert_eq!(list.since(one), Some(jiff::civil::date(2026, 11, 26)));
        assert_eq!(list.since(other), None);
        assert_eq!(list.len(), 1);
    }
}
