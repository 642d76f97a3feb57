//! What goes wrong, and for which requests.
//!
//! The rule: chance is a hash of seed, campaign, number and attempt. Neither the clock nor the
//! order of arrival matters, so concurrency does not change which requests fail.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub enum Fault {
    /// 429 with a hint when to come again; nothing is stored.
    Status429,
    /// 500, nothing stored.
    Status500Before,
    /// 500, although the lead was stored.
    Status500After,
    /// 502 as an HTML page, nothing stored.
    Status502,
    /// 503 with `Retry-After`, nothing stored.
    Status503,
    /// 503 as an HTML page without `Retry-After`, nothing stored.
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

/// Each fault with its name in scenarios and statistics.
const NAMES: [(Fault, &str); 12] = [
    (Fault::Status429, "status_429"),
    (Fault::Status500Before, "status_500_before"),
    (Fault::Status500After, "status_500_after"),
    (Fault::Status502, "status_502"),
    (Fault::Status503, "status_503"),
    (Fault::Status503Html, "status_503_html"),
    (Fault::DropBefore, "drop_before"),
    (Fault::DropAfter, "drop_after"),
    (Fault::Unreadable, "unreadable"),
    (Fault::Truncated, "truncated"),
    (Fault::HangBefore, "hang_before"),
    (Fault::HangAfter, "hang_after"),
];

impl TryFrom<String> for Fault {
    type Error = String;

    fn try_from(text: String) -> Result<Fault, String> {
        let found = NAMES.iter().find(|(_, name)| *name == text);
        let names = || NAMES.map(|(_, name)| format!("`{name}`")).join(", ");
        found
            .map(|(fault, _)| *fault)
            .ok_or_else(|| format!("unknown fault `{text}`, expected one of {}", names()))
    }
}

impl Fault {
    pub(super) fn name(self) -> &'static str {
        let mut names = NAMES.iter();
        let found = names.find(|(fault, _)| *fault == self);
        found.map_or("", |(_, name)| name)
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
