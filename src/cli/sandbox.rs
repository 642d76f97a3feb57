//! The flags of `leadload sandbox`.
//!
//! Rule: a flag that is not given is `None`, so that the scenario's value applies.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::options::Value;
use crate::rate::Rate;
use crate::sandbox::{DuplicateStyle, IdType, ListShape};

/// A local stand-in for the lead service, for trials and tests
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SandboxArgs {
    /// Where to listen [default: 127.0.0.1:8088]
    ///
    /// An address of this computer and a port; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub listen: Option<SocketAddr>,

    /// Accept only the token in this file [default: any token]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// TOML file of settings, faults and scripted answers; flags override it
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,

    /// Decides which requests fail and how; the same seed gives the same faults
    #[arg(long, value_name = "N", value_parser = <u64 as Value>::parse)]
    pub seed: Option<u64>,

    /// Time until an answer, such as `50ms` or `2s`
    #[arg(long, value_name = "DURATION", value_parser = <Duration as Value>::parse)]
    pub latency: Option<Duration>,

    /// Refuse more requests for leads than `100/min`
    ///
    /// Examples: `20/s`, `100/min`, `20/10s`. Repeatable.
    #[arg(long, value_name = "N/UNIT", value_parser = <Rate as Value>::parse)]
    pub rate_limit: Vec<Rate>,

    /// Share of requests answered 429, such as `2%`
    ///
    /// A share is written from 0 to 1, or as a percentage.
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_429: Option<f64>,

    /// Share of requests answered 500; half of their leads are stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_500: Option<f64>,

    /// Share of requests answered 502
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_502: Option<f64>,

    /// Share of requests answered 503 with `Retry-After`
    #[arg(long, value_name = "P", value_parser = share)]
    pub share_503: Option<f64>,

    /// Share of requests dropped unanswered, lead not stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub drop_before: Option<f64>,

    /// Share of requests dropped unanswered, lead stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub drop_after: Option<f64>,

    /// Share of requests answered 200 with an HTML page, the lead stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub unreadable: Option<f64>,

    /// Share of requests never answered, the connection left open; half of their leads are stored
    #[arg(long, value_name = "P", value_parser = share)]
    pub hang: Option<f64>,

    /// Go down after this many requests for leads: connections are closed without an answer
    #[arg(long, value_name = "N", value_parser = <u64 as Value>::parse)]
    pub outage_after: Option<u64>,

    /// How long to stay down [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = <Duration as Value>::parse, requires = "outage_after")]
    pub outage_for: Option<Duration>,

    /// Refuse the token after this many requests for leads
    #[arg(long, value_name = "N", value_parser = <u64 as Value>::parse)]
    pub token_revoked_after: Option<u64>,

    /// What a refused duplicate looks like
    #[arg(long, value_name = "NAME", value_enum)]
    pub duplicate_style: Option<DuplicateStyle>,

    /// Type of the ids in answers
    #[arg(long, value_name = "NAME", value_enum)]
    pub id_type: Option<IdType>,

    /// Shape of the campaign list
    #[arg(long, value_name = "NAME", value_enum)]
    pub list_shape: Option<ListShape>,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let hint = "write an address of this computer and a port, such as `127.0.0.1:8088`";
    text.parse().map_err(|_| hint)
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
        .ok_or_else(|| "write a number from 0 to 1, or a percentage such as `2%`".to_owned())
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
