//! Numbers that stood earlier in the same import.
//!
//! Rule: bounded memory. A file of tens of millions of numbers must not fill
//! the machine, so a number costs at most 16 bytes: 8 for its digits and 4 for
//! the row that had it first, in open-addressed tables that are at least three
//! quarters full. There are many small tables rather than one, so that growing
//! one of them never needs a second copy of all. Numbers of up to 16,384 campaigns
//! share tables: an E.164 number needs 50 of a key's 64 bits.

use std::collections::HashMap;

use crate::campaign::CampaignKey;
use crate::lead::RowId;
use crate::phone::PhoneNumber;

/// Remembers the first row of each number, campaign by campaign.
#[derive(Debug, Default)]
pub struct FirstRows {
    /// By the upper bits of the campaign's key.
    groups: HashMap<u32, Box<[Table; TABLES]>>,
}

/// How many tables the numbers of a group of campaigns are spread over.
const TABLES: usize = 64;

/// The bits of a key that hold the number: fifteen digits are less than 2^50.
const NUMBER_BITS: u32 = 50;

/// The campaigns in one group: what the other bits can tell apart.
const GROUP: u32 = 1 << (u64::BITS - NUMBER_BITS);

impl FirstRows {
    /// Notes that `row` has `number` and returns the row that had it before, if any.
    pub fn note(
        &mut self,
        campaign: CampaignKey,
        number: PhoneNumber,
        row: RowId,
    ) -> Option<RowId> {
        let tables = self
            .groups
            .entry(campaign.0 / GROUP)
            .or_insert_with(|| Box::new(std::array::from_fn(|_| Table::default())));
        let key = (u64::from(campaign.0 % GROUP) << NUMBER_BITS) | number.key();
        let hash = spread(key);
        let table = &mut tables[(hash % TABLES as u64) as usize];
        // Rows beyond the 32nd bit are all called by the last number that fits:
        // that such a row is a repeat is still said, if not of which.
        let row = u32::try_from(row.0).unwrap_or(u32::MAX);
        table
            .note(hash, key, row)
            .map(|first| RowId(u64::from(first)))
    }
}

/// An open-addressed table with linear probing. A key of 0, which no number has,
/// marks a free place.
#[derive(Debug, Default)]
struct Table {
    keys: Vec<u64>,
    rows: Vec<u32>,
    taken: usize,
}

impl Table {
    fn note(&mut self, hash: u64, key: u64, row: u32) -> Option<u32> {
        // At most nine tenths full: beyond, probing takes too long.
        if self.taken * 10 >= self.keys.len() * 9 {
            self.grow();
        }
        let place = self.place(hash, key);
        if self.keys[place] == key {
            return Some(self.rows[place]);
        }
        self.keys[place] = key;
        self.rows[place] = row;
        self.taken += 1;
        None
    }

    /// Where `key` stands, or else the free place that it would take. There is
    /// one, since the table is never full.
    fn place(&self, hash: u64, key: u64) -> usize {
        let len = self.keys.len();
        // The upper bits choose the place (the lower ones have chosen the table).
        let mut place = ((u128::from(hash) * len as u128) >> 64) as usize;
        while self.keys[place] != 0 && self.keys[place] != key {
            place += 1;
            if place == len {
                place = 0;
            }
        }
        place
    }

    /// Grows by a fifth, so that the table is three quarters full afterwards.
    fn grow(&mut self) {
        let len = (self.keys.len() * 6 / 5).max(16);
        let keys = std::mem::replace(&mut self.keys, vec![0; len]);
        let rows = std::mem::replace(&mut self.rows, vec![0; len]);
        for (key, row) in keys.into_iter().zip(rows) {
            if key != 0 {
                let place = self.place(spread(key), key);
                self.keys[place] = key;
                self.rows[place] = row;
            }
        }
    }
}

/// Spreads consecutive numbers over all 64 bits (the finaliser of MurmurHash3).
fn spread(mut key: u64) -> u64 {
    key ^= key >> 33;
    key = key.wrapping_mul(0xff51_afd7_ed55_8ccd);
    key ^= key >> 33;
    key = key.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ (key >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(digits: u64) -> PhoneNumber {
        PhoneNumber::from_e164(&format!("+{digits}")).unwrap()
    }

    #[test]
    fn the_same_number_for_another_campaign_is_no_repeat() {
        let mut rows = FirstRows::default();
        let n = number(447_911_123_456);
        assert_eq!(rows.note(CampaignKey(1), n, RowId(1)), None);
        assert_eq!(rows.note(CampaignKey(2), n, RowId(2)), None);
        assert_eq!(rows.note(CampaignKey(1), n, RowId(3)), Some(RowId(1)));
    }

    #[test]
    fn a_number_costs_at_most_sixteen_bytes() {
        let mut rows = FirstRows::default();
        let count = 300_000;
        for i in 0..count {
            rows.note(CampaignKey(0), number(447_900_000_000 + i), RowId(i + 1));
        }
        let bytes: usize = rows.groups[&0]
            .iter()
            .map(|table| table.keys.capacity() * 8 + table.rows.capacity() * 4)
            .sum();
        assert!(bytes <= 16 * count as usize, "{bytes} bytes for {count}");
    }

    proptest! {
        #[test]
        fn the_first_row_is_named_as_a_plain_map_would(
            rows in prop::collection::vec((prop_oneof![0u32..3, 16_383u32..16_386], 0u64..200), 1..2000),
        ) {
            let mut first_rows = FirstRows::default();
            let mut model: HashMap<(u32, u64), RowId> = HashMap::new();
            for (i, (campaign, digits)) in rows.into_iter().enumerate() {
                let row = RowId(i as u64 + 1);
                let expected = model.get(&(campaign, digits)).copied();
                model.entry((campaign, digits)).or_insert(row);
                let found = first_rows.note(CampaignKey(campaign), number(1_000_000 + digits), row);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
