//! The flags of `leadload sandbox`.
//!
//! The rule: only what was typed. A flag that was not given is `None`, and the scenario decides.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::values::duration;
use crate::rate::Rate;
use crate::sandbox::{DuplicateStyle, IdType, ListShape};

/// A local stand-in for the lead service, for trials and tests
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SandboxArgs {
    /// Loopback address and port to listen on; port 0 takes a free one [default: 127.0.0.1:8088]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,

    /// Accept only the token in this file [default: any token]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Settings, faults and scripted answers in a TOML file; flags come on top
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,

    /// Decides which requests meet which fault; the same seed, the same faults
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Time until an answer, such as `50ms`, `2s` or `1min`
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub latency: Option<Duration>,

    /// Refuse what exceeds this many requests for leads in any such span: `20/s`, `100/min`,
    /// `20/10s`. Repeatable
    #[arg(long, value_name = "N/UNIT")]
    pub rate_limit: Vec<Rate>,

    /// Share of requests answered 429 (shares are 0 to 1, or such as `2%`)
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_429: Option<f64>,

    /// Share of requests answered 500, in half of which the lead is stored all the same
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_500: Option<f64>,

    /// Share of requests answered 502
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_502: Option<f64>,

    /// Share of requests answered 503 with `Retry-After`
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_503: Option<f64>,

    /// Share of requests whose connection is closed without an answer, the lead not stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub drop_before: Option<f64>,

    /// Share of requests whose connection is closed without an answer, although the lead is stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub drop_after: Option<f64>,

    /// Share of requests answered 200 with an HTML page, the lead stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub unreadable: Option<f64>,

    /// Share of requests never answered, in half of which the lead is stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub hang: Option<f64>,

    /// Be away after this many requests for leads: connections are closed without an answer
    #[arg(long, value_name = "N")]
    pub outage_after: Option<u64>,

    /// How long to be away [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "outage_after")]
    pub outage_for: Option<Duration>,

    /// Refuse the token after this many requests for leads
    #[arg(long, value_name = "N")]
    pub token_revoked_after: Option<u64>,

    /// What a refused duplicate looks like
    #[arg(long, value_name = "NAME", value_enum)]
    pub duplicate_style: Option<DuplicateStyle>,

    /// How ids come back
    #[arg(long, value_name = "NAME", value_enum)]
    pub id_type: Option<IdType>,

    /// What the campaign list looks like
    #[arg(long, value_name = "NAME", value_enum)]
    pub list_shape: Option<ListShape>,
}

/// `0.02` or `2%`.
fn share(text: &str) -> Result<f64, String> {
    let (number, divisor) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let number: Option<f64> = number.trim().parse().ok();
    number
        .map(|number| number / divisor)
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a share is a number from 0 to 1, or such as `2%`".to_owned())
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
