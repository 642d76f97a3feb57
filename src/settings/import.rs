//! What `leadload import` is to do.

use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Environment, LedgerChoice, ReadingSettings, Service};
use crate::api::wire::LeadForm;
use crate::backoff::Backoff;
use crate::cli::{DeliveryArgs, ImportArgs, RateArg};
use crate::intake::OnUncertain;
use crate::pipeline::{ConcurrencyChoice, Policy};
use crate::rate::{Rate, RateChoice};
use crate::results::OutputChoice;

/// Rows rejected alike in a row that stop, where nothing is said.
const STOP_AFTER: NonZeroU32 = NonZeroU32::MIN.saturating_add(49);

/// Time without an answer about any row that stops, where nothing is said.
const MAX_OUTAGE: Duration = Duration::from_secs(3600);

/// Attempts per row, where nothing is said.
const MAX_ATTEMPTS: u32 = 8;

/// Time for a request, where nothing is said.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The only limit that such a service has ever published; where `auto` starts.
pub(super) const SLOWEST_RATE: Rate = Rate::per_minute(100);

/// What the sandbox is sent, so that a trial is short and yet to be watched.
const SANDBOX_RATE: Rate = Rate::per_second(50);

/// The settings of one import.
#[derive(Debug, Clone)]
pub struct ImportSettings {
    /// What is read, and how.
    pub reading: ReadingSettings,
    /// Where the leads go.
    pub service: Service,
    /// What limits the requests.
    pub rate: RateChoice,
    /// How rows are sent.
    pub policy: Policy,
    /// Time for each request.
    pub timeout: Duration,
    /// The time after which nothing new is sent; none means that it takes what it takes.
    pub max_duration: Option<Duration>,
    /// Where it is written down.
    pub ledger: LedgerChoice,
    /// Whether inputs that were sent before are sent again, where duplicates are allowed.
    pub again: bool,
    /// Whether another run is waited for.
    pub wait: bool,
    /// If more rows would be sent, none is.
    pub max_new: Option<u64>,
    /// Whether nothing is asked.
    pub yes: bool,
    /// Whether nothing but errors is said.
    pub quiet: bool,
}

impl ImportSettings {
    /// Works out what the flags mean, together and with the environment.
    pub fn from_cli(args: &ImportArgs, environment: &Environment) -> Result<ImportSettings> {
        let reading = ReadingSettings::from_cli(args, environment, &OutputChoice::BesideInput)?;
        Ok(ImportSettings {
            service: Service::from_cli(&args.connection, environment)?,
            ledger: LedgerChoice::for_rows(args, environment)?,
            rate: rate(&args.delivery.rate, reading.outputs.sandbox)?,
            policy: policy(&args.delivery),
            timeout: args.delivery.timeout.unwrap_or(TIMEOUT),
            max_duration: args.delivery.max_duration,
            again: args.delivery.again,
            wait: args.delivery.wait,
            max_new: args.delivery.max_new,
            yes: args.delivery.yes,
            quiet: args.output.quiet,
            reading,
        })
    }

    /// Takes up what rejects among the inputs have brought: flags that were not given.
    pub fn take_up(&mut self, args: &ImportArgs, environment: &Environment) -> Result<()> {
        self.reading = ReadingSettings::from_cli(args, environment, &OutputChoice::BesideInput)?;
        self.policy.form = lead_form(&args.delivery);
        Ok(())
    }

    /// Whether it is said to which campaign the rows belong.
    pub fn has_campaign(&self) -> bool {
        self.reading.campaign.is_some() || self.reading.mapping.campaign_column.is_some()
    }
}

/// What `--rate`, given once, several times or not at all, says together.
pub(super) fn rate(args: &[RateArg], sandbox: bool) -> Result<RateChoice> {
    match args {
        [] if sandbox => Ok(RateChoice::Limits(vec![SANDBOX_RATE])),
        [] | [RateArg::Auto] => Ok(RateChoice::Auto),
        [RateArg::Unlimited] => Ok(RateChoice::Unlimited),
        several => several
            .iter()
            .map(limit)
            .collect::<Result<_>>()
            .map(RateChoice::Limits),
    }
}

/// One limit of several that hold at once.
fn limit(arg: &RateArg) -> Result<Rate> {
    let word = match arg {
        RateArg::Limit(rate) => return Ok(*rate),
        RateArg::Auto => "auto",
        RateArg::Unlimited => "none",
    };
    bail!("`--rate {word}` cannot stand beside another `--rate`\n\nhint: drop one of the two")
}

/// How rows are sent.
pub(super) fn policy(delivery: &DeliveryArgs) -> Policy {
    Policy {
        concurrency: delivery.concurrency.unwrap_or(ConcurrencyChoice::Auto),
        stop_after: delivery.stop_after.unwrap_or(STOP_AFTER),
        max_outage: delivery.max_outage.unwrap_or(MAX_OUTAGE),
        max_attempts: delivery.max_attempts.map_or(MAX_ATTEMPTS, NonZeroU32::get),
        on_uncertain: on_uncertain(delivery),
        backoff: Backoff::default(),
        form: lead_form(delivery),
    }
}

/// What is done about attempts that may have been taken.
pub(super) fn on_uncertain(delivery: &DeliveryArgs) -> OnUncertain {
    match delivery.on_uncertain {
        Some(choice) => choice,
        // Where the service makes duplicates, nothing refuses a second call.
        None if delivery.allow_duplicates => OnUncertain::Hold,
        None => OnUncertain::Resend,
    }
}

/// The form of what is sent.
pub(super) fn lead_form(delivery: &DeliveryArgs) -> LeadForm {
    LeadForm {
        variables_shape: delivery.variables_shape.unwrap_or_default(),
        allow_duplicates: delivery.allow_duplicates,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn delivery(line: &str) -> DeliveryArgs {
        let words = "leadload import leads.csv".split(' ');
        match Cli::try_parse_from(words.chain(line.split_whitespace()))
            .unwrap()
            .command
        {
            Command::Import(args) => args.delivery,
            _ => unreachable!(),
        }
    }

    fn rate_of(line: &str, sandbox: bool) -> Result<RateChoice> {
        rate(&delivery(line).rate, sandbox)
    }

    #[test]
    fn the_rate_is_found_out_unless_one_is_given() {
        let limits = |rates: &[Rate]| RateChoice::Limits(rates.to_vec());
        let (second, minute) = (Rate::per_second(5), Rate::per_minute(100));
        for (line, sandbox, choice) in [
            ("", false, RateChoice::Auto),
            ("", true, limits(&[SANDBOX_RATE])),
            ("--rate auto", true, RateChoice::Auto),
            ("--rate none", true, RateChoice::Unlimited),
            ("--rate 5/s", true, limits(&[second])),
            (
                "--rate 5/s --rate 100/min",
                false,
                limits(&[second, minute]),
            ),
        ] {
            assert_eq!(rate_of(line, sandbox).unwrap(), choice, "{line}");
        }
    }

    #[test]
    fn a_word_and_a_limit_contradict_each_other() {
        for (line, word) in [
            ("--rate auto --rate 5/s", "--rate auto"),
            ("--rate 5/s --rate none", "--rate none"),
            ("--rate auto --rate none", "--rate auto"),
            ("--rate auto --rate auto", "--rate auto"),
        ] {
            let error = rate_of(line, false).unwrap_err().to_string();
            assert!(error.contains(word), "{line}: {error}");
            assert!(error.contains("beside another `--rate`"), "{error}");
        }
    }

    #[test]
    fn what_stops_a_run_has_defaults_and_can_be_said() {
        let default = policy(&delivery(""));
        assert_eq!(default.concurrency, ConcurrencyChoice::Auto);
        assert_eq!(default.max_outage, Duration::from_secs(3600));
        assert_eq!(default.stop_after.get(), 50);
        let said = delivery("--concurrency 7 --max-outage 90m --stop-after 1 --max-duration 2d");
        assert_eq!(said.max_duration, Some(Duration::from_secs(2 * 86_400)));
        let said = policy(&said);
        let seven = std::num::NonZeroUsize::new(7).unwrap();
        assert_eq!(said.concurrency, ConcurrencyChoice::Fixed(seven));
        assert_eq!(said.max_outage, Duration::from_secs(90 * 60));
        assert_eq!(said.stop_after.get(), 1);
    }
}
