//! What goes wrong, and for which requests.
//!
//! The rule: chance is a hash of seed, campaign, number and attempt. Neither the clock nor the
//! order of arrival matters, so concurrency does not change which requests fail.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// 429 with a hint when to come again; nothing is stored.
    #[serde(rename = "status_429")]
    Status429,
    /// 500, nothing stored.
    #[serde(rename = "status_500_before")]
    Status500Before,
    /// 500, although the lead was stored.
    #[serde(rename = "status_500_after")]
    Status500After,
    /// 502 as an HTML page, nothing stored.
    #[serde(rename = "status_502")]
    Status502,
    /// 503 with `Retry-After`, nothing stored.
    #[serde(rename = "status_503")]
    Status503,
    /// 503 as an HTML page without `Retry-After`, nothing stored.
    #[serde(rename = "status_503_html")]
    Status503Html,
    /// The connection is closed without an answer, nothing stored.
    DropBefore,
    /// The lead is stored, then the connection is closed without an answer.
    DropAfter,
    /// The lead is stored, the answer is 200 with an HTML page.
    Unreadable,
    /// The lead is stored, the answer breaks off in the middle of its body.
    Truncated,
    /// No answer ever, nothing stored.
    HangBefore,
    /// No answer ever, although the lead was stored.
    HangAfter,
}

impl Fault {
    /// Its name in scenarios and statistics.
    pub(super) fn name(self) -> String {
        let name = serde_json::to_value(self).unwrap_or_default();
        name.as_str().unwrap_or_default().to_owned()
    }

    /// Whether the lead is stored all the same.
    pub(super) fn stores(self) -> bool {
        matches!(
            self,
            Self::Status500After
                | Self::DropAfter
                | Self::Unreadable
                | Self::Truncated
                | Self::HangAfter
        )
    }
}

/// Shares of requests (0 to 1) that meet each fault; together at most 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Faults(pub BTreeMap<Fault, f64>);

impl Faults {
    /// The fault whose share `chance` (0 to 1) falls into.
    pub(super) fn pick(&self, chance: f64) -> Option<Fault> {
        let mut upto = 0.0;
        self.0.iter().find_map(|(fault, share)| {
            upto += share;
            (chance < upto).then_some(*fault)
        })
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        if let Some((fault, _)) = self.0.iter().find(|(_, share)| !is_share(share)) {
            return Err(format!("`{}` must be between 0 and 1", fault.name()));
        }
        let sum: f64 = self.0.values().sum();
        // Decimal fractions that add up to one may come out a hair above it.
        if sum > 1.0 + 1e-9 {
            return Err(format!(
                "the shares of faults add up to {sum:.3}, at most 1 is possible"
            ));
        }
        Ok(())
    }
}

/// An attempt: everything that chance may depend on.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    pub(super) seed: u64,
    pub(super) campaign: u64,
    pub(super) phone: u64,
    pub(super) attempt: u16,
}

impl Draw {
    /// A number from 0 (included) to 1 (excluded), evenly spread; each `purpose` has its own.
    pub(super) fn chance(self, purpose: u64) -> f64 {
        let words = [self.campaign, self.phone, u64::from(self.attempt), purpose];
        let hash = words
            .into_iter()
            .fold(mix(self.seed), |hash, word| mix(hash ^ word));
        // 53 bits are what an f64 holds exactly.
        (hash >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The splitmix64 step: the same on every platform and in every version, unlike std's hashers.
fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
