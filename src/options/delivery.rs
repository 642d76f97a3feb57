//! How leads are sent.

use std::num::NonZeroU32;
use std::time::Duration;

use super::Said;
use super::declare::options;
use super::value::{Name, RateArg};
use crate::api::wire::VariablesShape;
use crate::intake::{KnownBad, OnUncertain, Once};
use crate::pipeline::ConcurrencyChoice;

options! {
    /// How leads are sent.
    #[command(next_help_heading = "Delivery")]
    pub struct DeliveryOptions {
        /// The same as `leadload check`: send nothing
        #[arg(long, action = clap::ArgAction::SetTrue)]
        dry_run: bool => Command;

        /// Requests in a time, at most, such as `100/min` [default: auto]
        ///
        /// `20/s`, `100/min`, `20/10s` and `0.5/s` bound the requests in any span of that length;
        /// given several times, all of them hold. `auto` finds out what the service allows, `none`
        /// sets no limit. With --sandbox the default is 50/s.
        #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
        rate: Vec<Said<RateArg>> => Delivery { default: Some("auto") };

        /// Requests in flight, at most; `auto` finds out how many the service carries
        /// [default: auto]
        #[arg(long, value_name = "N|auto")]
        concurrency: Said<ConcurrencyChoice> => Delivery { default: Some("auto") };

        /// Attempts for each row, at most; refusals that ask to come back later do not count
        /// [default: 8]
        #[arg(long, value_name = "N")]
        max_attempts: Said<NonZeroU32> => Delivery { default: Some("8") };

        /// Time for each request [default: 60s]
        #[arg(long, value_name = "DURATION")]
        timeout: Said<Duration> => Delivery { default: Some("60s") };

        /// Send nothing if more than N rows would be sent
        #[arg(long, value_name = "N")]
        max_new: Said<u64> => List;

        /// Send one lead to this number, and nothing else
        ///
        /// It has the first ready row's variables. For a call to oneself before thousands are
        /// called.
        #[arg(long, value_name = "NUMBER")]
        test_to: Said<Name> => Command { is_personal: true };

        /// Ask nothing before sending
        // Whoever pastes a command that was shown is asked.
        #[arg(long, action = clap::ArgAction::SetTrue)]
        yes: bool => Delivery { is_repeated_after_import: false };

        /// Stop cleanly after this long [default: no limit]
        #[arg(long, value_name = "DURATION")]
        max_duration: Said<Duration> => Delivery;

        /// Stop when no answer about any row has come for this long [default: 1h]
        #[arg(long, value_name = "DURATION")]
        max_outage: Said<Duration> => Delivery { default: Some("1h") };

        /// Stop when so many rows in a row were rejected for the same reason [default: 50]
        #[arg(long, value_name = "N")]
        stop_after: Said<NonZeroU32> => Delivery { default: Some("50") };

        /// Let the service make a second lead for a number that a campaign has, and send numbers
        /// that repeat in the input
        #[arg(long, action = clap::ArgAction::SetTrue)]
        allow_duplicates: bool => Delivery { is_identity: true };

        /// What to do about an attempt that may have been taken [default: resend; hold with
        /// --allow-duplicates]
        #[arg(long, value_name = "WHAT")]
        on_uncertain: Said<OnUncertain> => Delivery { default: Some("resend") };

        /// How often a number is sent [default: campaign]
        #[arg(long, value_name = "SCOPE")]
        once: Said<Once> => Delivery { default: Some("campaign") };

        /// What to do about rows that were invalid or rejected before and have the same cells
        /// [default: retry]
        // What is not mended yet is to come back.
        #[arg(long, value_name = "WHAT")]
        known_bad: Said<KnownBad> => Delivery { default: Some("retry"), is_repeated_after_import: false };

        /// Form in which variables are sent [default: array]
        #[arg(long, value_name = "SHAPE")]
        variables_shape: Said<VariablesShape> => Mapping {
            default: Some("array"),
            is_identity: true,
            is_kept_with_mapping: false,
            is_repeated_after_check: true
        };

        /// With --allow-duplicates: send a list that an earlier run has sent
        #[arg(long, action = clap::ArgAction::SetTrue)]
        again: bool => Command { is_repeated_after_check: true };

        /// Wait while another run is at it, instead of ending with exit code 6
        #[arg(long, action = clap::ArgAction::SetTrue)]
        wait: bool => Delivery;
    }
}
