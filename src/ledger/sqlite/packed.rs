//! The outcomes of a round, packed: each takes 50 to
//! 80 bytes of memory, a third of its unpacked size.

use std::mem;
use std::ops::Range;

use postcard::{take_from_bytes, to_extend};
use rusqlite::Error;

use super::Settlement;
use crate::lead::RunId;
use crate::phone::PhoneNumber;

/// More bytes than any round has. Unused capacity takes no memory, and glibc
/// returns blocks of 32 MiB and more to the system as soon as they are freed.
const CAPACITY: usize = 33 << 20;

#[derive(Debug)]
pub(super) struct PackedOutcomes {
    places: Vec<Place>,
    /// The packed outcomes one after the other, in the order in which they were settled.
    bytes: Vec<u8>,
}

/// The number of an outcome, and where its bytes begin. Sorted by both, the outcomes
/// of one row stay in the order in which they were settled: the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: PhoneNumber,
    at: usize,
}

impl PackedOutcomes {
    /// Reserves the whole capacity at once: growing vectors leave
    /// holes in memory, 9 MiB in an import of three million rows.
    pub(super) fn new() -> PackedOutcomes {
        PackedOutcomes {
            places: Vec::with_capacity(CAPACITY / size_of::<Place>()),
            bytes: Vec::with_capacity(CAPACITY),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The memory that the outcomes take, in bytes, roughly.
    pub(super) fn size(&self) -> usize {
        size_of::<Place>() * self.places.len() + self.bytes.len()
    }

    pub(super) fn push(&mut self, run: RunId, outcome: &Settlement) -> rusqlite::Result<()> {
        let number = outcome.claim.number;
        let at = self.bytes.len();
        self.places.push(Place { number, at });
        self.bytes = to_extend(&(run, outcome), mem::take(&mut self.bytes)).map_err(failed)?;
        Ok(())
    }

    pub(super) fn sort(&mut self) {
        self.places.sort_unstable();
    }

    /// The outcomes at these positions of the present order.
    pub(super) fn unpack(&self, which: Range<usize>) -> rusqlite::Result<Vec<(RunId, Settlement)>> {
        let places = self.places[which].iter();
        places
            .map(|place| {
                let (outcome, _) = take_from_bytes(&self.bytes[place.at..])?;
                Ok(outcome)
            })
            .collect::<postcard::Result<_>>()
            .map_err(failed)
    }
}

fn failed(error: postcard::Error) -> Error {
    Error::ToSqlConversionFailure(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::RowOutcome;
    use crate::ledger::sqlite::samples::{created, rejected, settlements, uncertain};

    fn stored(row: u64, outcome: &RowOutcome) -> Settlement {
        let settlement = settlements([row], outcome).settlements.remove(0);
        Settlement {
            cells: None,
            ..settlement
        }
    }

    #[test]
    fn outcomes_come_out_as_they_were_put_in_by_number_and_then_by_time() {
        let mut packed = PackedOutcomes::new();
        let put_in = [
            (3, created()),
            (1, rejected()),
            (2, uncertain()),
            (1, created()),
        ];
        let put_in = put_in.map(|(row, outcome)| stored(row, &outcome));
        for outcome in &put_in {
            packed.push(RunId(7), outcome).unwrap();
        }
        packed.sort();
        assert_eq!(packed.len(), 4);
        let [third, first, second, first_again] = &put_in;
        let expected = [first, first_again, second, third];
        let expected = expected.map(|outcome| (RunId(7), outcome.clone()));
        assert_eq!(packed.unpack(0..4).unwrap(), expected);
    }
}
