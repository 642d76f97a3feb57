//! Outcomes of a round, packed: one whose id is a whole number or a UUID takes 46 to 60 bytes
//! of memory, a third of what it would take as it is read.

use std::mem;
use std::ops::Range;

use postcard::{take_from_bytes, to_extend};
use rusqlite::Error;

use super::entries::{ShortOutcome, StoredOutcome};

/// More bytes than a round is ever of. What is not used takes no memory; and from 32 MiB on
/// glibc gives back to the system what is not needed any more, whatever was freed before.
const ROOM: usize = 33 << 20;

/// Outcomes with their runs.
#[derive(Debug)]
pub(super) struct PackedOutcomes {
    places: Vec<Place>,
    /// One behind the other, in the order in which they were settled.
    bytes: Vec<u8>,
}

/// An outcome's number, and where in the bytes it begins. In this order of numbers the
/// outcomes of one row stay as they were settled: the last counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: i64,
    at: usize,
}

impl PackedOutcomes {
    /// Has its room from the beginning: what is moved to a larger place while it gathers
    /// leaves holes behind, 9 MiB in an import of three million rows.
    pub(super) fn new() -> PackedOutcomes {
        PackedOutcomes {
            places: Vec::with_capacity(ROOM / size_of::<Place>()),
            bytes: Vec::with_capacity(ROOM),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The bytes of memory that they take, roughly.
    pub(super) fn size(&self) -> usize {
        size_of::<Place>() * self.places.len() + self.bytes.len()
    }

    pub(super) fn push(&mut self, run: i64, outcome: &StoredOutcome) -> rusqlite::Result<()> {
        let number = outcome.claim.number;
        let at = self.bytes.len();
        self.places.push(Place { number, at });
        self.bytes =
            to_extend(&(run, outcome.shortened()), mem::take(&mut self.bytes)).map_err(failed)?;
        Ok(())
    }

    /// Brings them into the order of their numbers.
    pub(super) fn sort(&mut self) {
        self.places.sort_unstable();
    }

    /// Some of them, by their places in the order that they are in.
    pub(super) fn unpack(
        &self,
        which: Range<usize>,
    ) -> rusqlite::Result<Vec<(i64, ShortOutcome<'_>)>> {
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
    use crate::ledger::entries::{Entries, StoredEntries};
    use crate::ledger::samples::{created, rejected, settlements, uncertain};

    fn stored(row: u64, outcome: &RowOutcome) -> StoredOutcome {
        let entries = Entries::of(&settlements([row], outcome)).json().unwrap();
        let mut entries: StoredEntries = serde_json::from_str(&entries).unwrap();
        entries.outcomes.remove(0)
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
            packed.push(7, outcome).unwrap();
        }
        packed.sort();
        assert_eq!(packed.len(), 4);
        let [third, first, second, first_again] = &put_in;
        let expected = [first, first_again, second, third];
        let columns = expected.map(|outcome| outcome.shortened().columns(7));
        let unpacked = packed.unpack(0..4).unwrap();
        let unpacked = unpacked.iter().map(|(run, outcome)| outcome.columns(*run));
        assert_eq!(unpacked.collect::<Vec<_>>(), columns);
    }

    #[test]
    fn ids_that_have_a_short_form_are_packed_in_it() {
        let size_with = |lead_id: &str| {
            let outcome = RowOutcome {
                lead_id: Some(lead_id.to_owned()),
                ..created()
            };
            let mut packed = PackedOutcomes::new();
            packed.push(7, &stored(1, &outcome)).unwrap();
            packed.bytes.len()
        };
        // The text has its length before it.
        let rest = size_with("lead-17") - 8;
        assert_eq!(size_with("48211"), rest + 3);
        assert_eq!(size_with("0b9c3f1e-7d52-4c5e-9a61-2f0e8d7c6b5a"), rest + 16);
    }
}
