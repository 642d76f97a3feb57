//! What goes wrong, and for which requests.
//!
//! The rule: chance is a hash of seed, campaign, number and attempt. Neither the clock nor the
//! order of arrival has a say, so concurrency does not change which requests fail.

use serde::Deserialize;

/// Shares of requests (0 to 1) that meet each fault; together at most 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// 429 with a hint when to come again; nothing is stored.
    pub status_429: f64,
    /// 500, nothing stored.
    pub status_500_before: f64,
    /// 500, although the lead was stored.
    pub status_500_after: f64,
    /// 502 as an HTML page, nothing stored.
    pub status_502: f64,
    /// 503 with `Retry-After`, nothing stored.
    pub status_503: f64,
    /// 503 as an HTML page without `Retry-After`, nothing stored.
    pub status_503_html: f64,
    /// The connection is closed without an answer, nothing stored.
    pub drop_before: f64,
    /// The lead is stored, then the connection is closed without an answer.
    pub drop_after: f64,
    /// The lead is stored, the answer is 200 with an HTML page.
    pub unreadable: f64,
    /// The lead is stored, the answer breaks off in the middle of its body.
    pub truncated: f64,
    /// No answer ever, nothing stored.
    pub hang_before: f64,
    /// No answer ever, although the lead was stored.
    pub hang_after: f64,
}

/// One thing that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Status429,
    Status500Before,
    Status500After,
    Status502,
    Status503,
    Status503Html,
    DropBefore,
    DropAfter,
    Unreadable,
    Truncated,
    HangBefore,
    HangAfter,
}

impl Fault {
    /// Its name in scenarios and statistics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Status429 => "status_429",
            Self::Status500Before => "status_500_before",
            Self::Status500After => "status_500_after",
            Self::Status502 => "status_502",
            Self::Status503 => "status_503",
            Self::Status503Html => "status_503_html",
            Self::DropBefore => "drop_before",
            Self::DropAfter => "drop_after",
            Self::Unreadable => "unreadable",
            Self::Truncated => "truncated",
            Self::HangBefore => "hang_before",
            Self::HangAfter => "hang_after",
        }
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

impl Faults {
    fn shares(&self) -> [(Fault, f64); 12] {
        [
            (Fault::Status429, self.status_429),
            (Fault::Status500Before, self.status_500_before),
            (Fault::Status500After, self.status_500_after),
            (Fault::Status502, self.status_502),
            (Fault::Status503, self.status_503),
            (Fault::Status503Html, self.status_503_html),
            (Fault::DropBefore, self.drop_before),
            (Fault::DropAfter, self.drop_after),
            (Fault::Unreadable, self.unreadable),
            (Fault::Truncated, self.truncated),
            (Fault::HangBefore, self.hang_before),
            (Fault::HangAfter, self.hang_after),
        ]
    }

    /// The fault whose share `chance` (0 to 1) falls into.
    pub(super) fn pick(&self, chance: f64) -> Option<Fault> {
        let mut upto = 0.0;
        self.shares().into_iter().find_map(|(fault, share)| {
            upto += share;
            (chance < upto).then_some(fault)
        })
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let mut sum = 0.0;
        for (fault, share) in self.shares() {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("`{}` must be between 0 and 1", fault.name()));
            }
            sum += share;
        }
        // Decimal fractions that add up to one may come out a hair above it.
        if sum > 1.0 + 1e-9 {
            return Err(format!(
                "the shares of faults add up to {sum:.3}, at most 1 is possible"
            ));
        }
        Ok(())
    }
}

/// Which attempt is meant; everything that chance may depend on.
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
