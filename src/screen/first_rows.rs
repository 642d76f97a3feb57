//! Numbers that occurred earlier in the same import.
//!
//! Up to 16,384 campaigns share one set of tables: an E.164 number needs only 50
//! of a key's 64 bits.

use std::collections::HashMap;

use super::numbers::Numbers;
use crate::campaign::CampaignKey;
use crate::lead::RowId;
use crate::phone::PhoneNumber;

#[derive(Debug, Default)]
pub struct FirstRows {
    /// The tables by the upper bits of the campaign's key.
    groups: HashMap<u32, Numbers>,
}

/// The bits of a key that hold the number: fifteen digits are less than 2^50.
const NUMBER_BITS: u32 = 50;

/// How many campaigns are in one group: as many as the other bits can distinguish.
const GROUP: u32 = 1 << (u64::BITS - NUMBER_BITS);

impl FirstRows {
    /// Records that `row` has `number`. Returns the row that had it first, if there was one.
    pub fn record(
        &mut self,
        campaign: CampaignKey,
        number: PhoneNumber,
        row: RowId,
    ) -> Option<RowId> {
        let numbers = self.groups.entry(campaign.0 / GROUP).or_default();
        // A row number of more than 32 bits is recorded as the largest one that fits: a repeat of
        // that row is still detected, but reported with the wrong first row.
        let row = u32::try_from(row.0).unwrap_or(u32::MAX);
        let first = numbers.record(key(campaign, number), row)?;
        Some(RowId(u64::from(first)))
    }

    /// Makes [`record`](Self::record) faster for the next numbers of one campaign; see
    /// `Numbers::warm`.
    pub fn warm(&self, campaign: CampaignKey, next: impl Iterator<Item = PhoneNumber>) {
        if let Some(numbers) = self.groups.get(&(campaign.0 / GROUP)) {
            numbers.warm(next.map(|number| key(campaign, number)));
        }
    }
}

fn key(campaign: CampaignKey, number: PhoneNumber) -> u64 {
    (u64::from(campaign.0 % GROUP) << NUMBER_BITS) | number.key()
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
        assert_eq!(rows.record(CampaignKey(1), n, RowId(1)), None);
        assert_eq!(rows.record(CampaignKey(2), n, RowId(2)), None);
        assert_eq!(rows.record(CampaignKey(1), n, RowId(3)), Some(RowId(1)));
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
                let found = first_rows.record(CampaignKey(campaign), number(1_000_000 + digits), row);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
