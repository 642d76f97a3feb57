//! How leads are sent.

use std::num::NonZeroU32;
use std::time::Duration;

use super::Given;
use super::declare::options;
use super::value::Bound;
use crate::api::wire::VariablesShape;
use crate::exit::ExitCode;
use crate::intake::{KnownBad, OnUncertain, Once};
use crate::pipeline::ConcurrencyChoice;
use crate::rate::RateChoice;

options! {
    #[command(next_help_heading = "Delivery")]
    pub struct DeliveryOptions {
        /// The same as `leadload check`: send nothing
        #[arg(long, action = clap::ArgAction::SetTrue)]
        dry_run: bool => Command;

        /// Rate limit, such as `100/min` [default: auto]
        ///
        /// `20/s`, `100/min`, `20/10s` and `0.5/s` limit the requests in any span of that length.
        /// Repeatable: all limits apply. `auto` finds out what the service allows, `none` sets
        /// no limit. With --sandbox the default is 50/s.
        #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
        rate: Vec<Given<RateChoice>> => Delivery { default: Some("auto") };

        /// Maximum number of requests in flight; `auto` finds out how many the service can handle
        /// [default: auto]
        #[arg(long, value_name = "N|auto")]
        concurrency: Given<ConcurrencyChoice> => Delivery { default: Some("auto") };

        /// Maximum number of attempts for each row; refusals that ask to retry later do not count
        /// [default: 8]
        #[arg(long, value_name = "N")]
        max_attempts: Given<NonZeroU32> => Delivery { default: Some("8") };

        /// Time limit for each request [default: 60s]
        #[arg(long, value_name = "DURATION")]
        timeout: Given<Duration> => Delivery { default: Some("60s") };

        /// Send nothing if more rows would be sent
        ///
        /// P%: of the rows of the last complete run of the list at this path.
        #[arg(long, value_name = "N|P%")]
        max_new: Given<Bound> => List;

        /// Send one lead to this number, and nothing else
        ///
        /// It has the variables of the first row that would be sent. Call yourself before thousands
        /// are called.
        #[arg(long, value_name = "NUMBER")]
        test_to: Given<String> => Command { is_personal: true };

        /// Do not ask before sending
        // Not repeated in commands that are shown: the user who pastes one is asked.
        #[arg(long, action = clap::ArgAction::SetTrue)]
        yes: bool => Delivery { is_repeated_after_import: false };

        /// Stop cleanly after this long, time in which the computer slept included
        /// [default: no limit]
        #[arg(long, value_name = "DURATION")]
        max_duration: Given<Duration> => Delivery;

        /// Stop when the service has given no answer about any row for this long [default: 1h]
        #[arg(long, value_name = "DURATION")]
        max_outage: Given<Duration> => Delivery { default: Some("1h") };

        /// Stop when N consecutive rows were rejected for the same reason [default: 50]
        #[arg(long, value_name = "N")]
        stop_after: Given<NonZeroU32> => Delivery { default: Some("50") };

        /// Let the service create a second lead for a number that a campaign already has, and send
        /// repeated numbers of the input
        #[arg(long, action = clap::ArgAction::SetTrue)]
        allow_duplicates: bool => Delivery { is_identity: true };

        /// What to do about an attempt that the service may have accepted [default: resend; hold
        /// with --allow-duplicates]
        #[arg(long, value_name = "WHAT")]
        on_uncertain: Given<OnUncertain> => Delivery { default: Some("resend") };

        /// How often a number is sent [default: campaign]
        #[arg(long, value_name = "SCOPE")]
        once: Given<Once> => Delivery { default: Some("campaign") };

        /// What to do about rows that were invalid or rejected before and are unchanged
        /// [default: retry]
        // Not repeated in commands that are shown: rows that are not fixed yet should come back.
        #[arg(long, value_name = "WHAT")]
        known_bad: Given<KnownBad> => Delivery { default: Some("retry"), is_repeated_after_import: false };

        /// Format of variables in requests [default: array]
        #[arg(long, value_name = "SHAPE")]
        variables_shape: Given<VariablesShape> => Mapping {
            default: Some("array"),
            is_identity: true,
            is_kept_with_mapping: false,
            is_repeated_after_check: true
        };

        /// Send a list whose run was undone, or whose campaign was made anew; with
        /// --allow-duplicates: one that an earlier run has sent
        #[arg(long, action = clap::ArgAction::SetTrue)]
        again: bool => Command { is_repeated_after_check: true };

        /// Send although the ledger is new and results of earlier runs lie beside the list
        #[arg(long, action = clap::ArgAction::SetTrue)]
        new_ledger: bool => Command;

        /// Exit code of a complete run with rows that have problems [default: 1]
        #[arg(long, value_name = "CODE")]
        problems_exit: Given<ExitCode> => Delivery { default: Some("1") };

        /// Wait for another run to end, instead of stopping with exit code 6
        #[arg(long, action = clap::ArgAction::SetTrue)]
        wait: bool => Delivery;
    }
}
