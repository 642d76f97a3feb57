//! What goes wrong, and for which requests.
//!
//! The rule: chance is a hash of seed, campaign, number and attempt. Neither the clock nor the
//! order of arrival matters, so concurrency does not change which requests fail.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// 429 with a hint when to try again; nothing is stored.
    #[serde(rename = "status_429")]
    Status429,
    /// 500, nothing stored.
    #[serde(rename = "status_500_before")]
    Status500Before,
    /// 500, although the lead was stored.
    #[serde(rename = "status_500_after")]
    Status500After,
    /// 502 as an HTML page, nothing stored.
    #[serde(rename = "status_502", alias = "502")]
    Status502,
    /// 503 with `Retry-After`, nothing stored.
    #[serde(rename = "status_503")]
    Status503,
    /// 503 as an HTML page without `Retry-After`, nothing stored.
    #[serde(rename = "status_503_html", alias = "503")]
    Status503Html,
    /// The connection is closed without an answer, nothing stored.
    #[serde(alias = "close")]
    DropBefore,
    /// The lead is stored, then the connection is closed without an answer.
    DropAfter,
    /// The lead is stored, the answer is 200 with an HTML page.
    Unreadable,
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

    /// Whether the lead is stored nevertheless.
    pub(super) fn stores(self) -> bool {
        matches!(
            self,
            Self::Status500After | Self::DropAfter | Self::Unreadable | Self::HangAfter
        )
    }
}

/// Shares of requests (0 to 1) that meet each fault; together at most 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Faults(pub BTreeMap<Fault, f64>);

/// The flags for these shares.
#[derive(Clone, Default, clap::Args)]
pub struct FaultFlags {
    /// Share of requests answered 429, such as `0.02` or `2%`
    #[arg(long, value_name = "P", value_parser = share)]
    share_429: Option<f64>,
    /// Share of requests answered 500; half of their leads are stored
    #[arg(long, value_name = "P", value_parser = share)]
    share_500: Option<f64>,
    /// Share of requests answered 502
    #[arg(long, value_name = "P", value_parser = share)]
    share_502: Option<f64>,
    /// Share of requests answered 503 with `Retry-After`
    #[arg(long, value_name = "P", value_parser = share)]
    share_503: Option<f64>,
    /// Share of requests dropped unanswered, lead not stored
    #[arg(long, value_name = "P", value_parser = share)]
    drop_before: Option<f64>,
    /// Share of requests dropped unanswered, lead stored
    #[arg(long, value_name = "P", value_parser = share)]
    drop_after: Option<f64>,
    /// Share of requests answered 200 with an HTML page, the lead stored
    #[arg(long, value_name = "P", value_parser = share)]
    unreadable: Option<f64>,
    /// Share of requests never answered, the connection left open; half of their leads are stored
    #[arg(long, value_name = "P", value_parser = share)]
    hang: Option<f64>,
}

/// `0.02` or `2%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, divisor) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let number = number.trim().parse::<f64>().ok();
    let share = number.map(|number| number / divisor);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "write a number from 0 to 1, or a percentage such as `2%`".to_owned())
}

impl Faults {
    /// Takes the shares that flags give, each divided between its faults.
    pub(crate) fn override_by(&mut self, flags: &FaultFlags) {
        let flags: [(Option<f64>, &[Fault]); 8] = [
            (flags.share_429, &[Fault::Status429]),
            (
                flags.share_500,
                &[Fault::Status500Before, Fault::Status500After],
            ),
            (flags.share_502, &[Fault::Status502]),
            (flags.share_503, &[Fault::Status503]),
            (flags.drop_before, &[Fault::DropBefore]),
            (flags.drop_after, &[Fault::DropAfter]),
            (flags.unreadable, &[Fault::Unreadable]),
            (flags.hang, &[Fault::HangBefore, Fault::HangAfter]),
        ];
        for (share, faults) in flags {
            let each = share.map(|share| share / faults.len() as f64);
            self.0
                .extend(faults.iter().filter_map(|fault| Some((*fault, each?))));
        }
    }

    /// The fault whose share `chance` (0 to 1) falls into.
    pub(super) fn pick(&self, chance: f64) -> Option<Fault> {
        let mut upto = 0.0;
        self.0.iter().find_map(|(fault, share)| {
            upto += share;
            (chance < upto).then_some(*fault)
        })
    }

    pub(super) fn check(&self) -> anyhow::Result<()> {
        for (fault, share) in &self.0 {
            let name = fault.name();
            ensure!(
                (0.0..=1.0).contains(share),
                "`{name}` must be between 0 and 1"
            );
        }
        let sum: f64 = self.0.values().sum();
        // Decimal fractions that add up to one may come out slightly above it.
        ensure!(
            sum <= 1.0 + 1e-9,
            "the shares of faults add up to {sum:.3}, at most 1 is possible"
        );
        Ok(())
    }
}

/// A number from 0 (included) to 1 (excluded), evenly spread, that `words` decide.
pub(super) fn chance(words: [u64; 5]) -> f64 {
    let hash = words.into_iter().fold(0, |hash, word| mix(hash ^ word));
    // 53 bits are what an f64 holds exactly.
    (hash >> 11) as f64 / (1u64 << 53) as f64
}

/// The splitmix64 step: the same on every platform and in every version, unlike std's hashers.
fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fractions_or_percentages() {
        assert_eq!(share("0.02"), Ok(0.02));
        assert_eq!(share("2%"), Ok(0.02));
        assert_eq!(share("1"), Ok(1.0));
        for text in ["", "2", "-0.1", "101%", "NaN", "some"] {
            assert!(share(text).is_err(), "{text:?}");
        }
    }
}
