//! The settings of `leadload import` and `leadload check`.

use std::time::Duration;

use anyhow::Result;

use super::check::rate;
use super::layers::settled;
use super::{Layers, ReadingSettings, Service, ledger_place};
use crate::api::wire::LeadForm;
use crate::exit::ExitCode;
use crate::ledger::LedgerPlace;
use crate::options::{DeliveryOptions, Options};
use crate::pipeline::Policy;
use crate::rate::RateChoice;
use crate::results::OutputChoice;

/// The time limit for requests that send no lead.
pub const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone)]
pub struct ImportSettings {
    pub reading: ReadingSettings,
    /// The service's name in the ledger; empty if none is given.
    pub service: String,
    pub rate: RateChoice,
    pub policy: Policy,
    pub timeout: Duration,
    /// How a complete run ends whose rows have problems.
    pub problems_exit: ExitCode,
    pub ledger: Option<LedgerPlace>,
    /// The options that these settings come from, with defaults.
    pub options: Options,
    /// The options without defaults.
    pub given: Options,
}

impl ImportSettings {
    /// Works out what the options mean together. Outputs that are not named go to `unnamed`.
    pub fn new(layers: &Layers, unnamed: &OutputChoice) -> Result<ImportSettings> {
        let options = layers.options();
        let delivery = &options.delivery;
        Ok(ImportSettings {
            reading: ReadingSettings::new(layers, unnamed)?,
            service: Service::name(&options)?.unwrap_or_default(),
            ledger: ledger_place(&options)?,
            rate: rate(delivery)?,
            policy: policy(delivery)?,
            timeout: settled(&delivery.timeout)?,
            problems_exit: settled(&delivery.problems_exit)?,
            given: layers.given(),
            options,
        })
    }

    /// Whether a campaign is given for every row.
    pub fn has_campaign(&self) -> bool {
        self.reading.campaign.is_some() || self.reading.mapping.campaign_column.is_some()
    }
}

/// The settings of commands that follow a run up.
#[derive(Debug, Clone)]
pub struct FollowUpSettings {
    pub service: Service,
    pub rate: RateChoice,
    pub timeout: Duration,
}

impl FollowUpSettings {
    pub fn new(layers: &Layers) -> Result<FollowUpSettings> {
        let options = layers.options();
        Ok(FollowUpSettings {
            service: Service::new(layers)?,
            rate: rate(&options.delivery)?,
            timeout: settled(&options.delivery.timeout)?,
        })
    }
}

fn policy(delivery: &DeliveryOptions) -> Result<Policy> {
    Ok(Policy {
        concurrency: settled(&delivery.concurrency)?,
        most_in_flight: usize::MAX,
        stop_after: settled(&delivery.stop_after)?,
        max_outage: settled(&delivery.max_outage)?,
        max_attempts: settled(&delivery.max_attempts)?.get(),
        on_uncertain: settled(&delivery.on_uncertain)?,
        awaits_token: true,
        form: LeadForm {
            variables_shape: settled(&delivery.variables_shape)?,
            allow_duplicates: delivery.allow_duplicates == Some(true),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::ConcurrencyChoice;
    use crate::rate::Rate;

    /// The rate that these flags give; without flags, the default.
    fn rate_of(rates: &[&str], sandbox: bool) -> Result<RateChoice> {
        let mut options = Options::default();
        options.connection.sandbox = Some(sandbox);
        let said = rates.iter().map(|rate| rate.parse().unwrap());
        options.delivery.rate = (!rates.is_empty()).then(|| said.collect());
        Ok(rate(&of(options).delivery)?)
    }

    fn of(typed: Options) -> Options {
        Layers::new(typed, Vec::new(), None, true).options()
    }

    #[test]
    fn the_rate_is_found_out_unless_one_is_given() {
        let limits = |rates: &[Rate]| RateChoice::Limits(rates.to_vec());
        let (second, minute) = (Rate::per_second(5), Rate::per_minute(100));
        for (said, sandbox, choice) in [
            (&[][..], false, RateChoice::Auto),
            (&[], true, limits(&[Rate::per_second(50)])),
            (&["auto"], true, RateChoice::Auto),
            (&["none"], true, RateChoice::Unlimited),
            (&["5/s"], true, limits(&[second])),
            (&["5/s", "100/min"], false, limits(&[second, minute])),
        ] {
            assert_eq!(rate_of(said, sandbox).unwrap(), choice, "{said:?}");
        }
    }

    #[test]
    fn a_rate_word_and_a_limit_contradict_each_other() {
        for (said, word) in [
            (["auto", "5/s"], "--rate auto"),
            (["5/s", "none"], "--rate none"),
            (["auto", "none"], "--rate auto"),
            (["auto", "auto"], "--rate auto"),
        ] {
            let error = rate_of(&said, false).unwrap_err().to_string();
            assert!(error.contains(word), "{said:?}: {error}");
            assert!(error.contains("with another `--rate`"), "{error}");
        }
    }

    #[test]
    fn what_stops_a_run_has_defaults_and_can_be_said() {
        let default = policy(&of(Options::default()).delivery).unwrap();
        assert_eq!(default.concurrency, ConcurrencyChoice::Auto);
        assert_eq!(default.max_outage, Duration::from_secs(3600));
        assert_eq!(default.stop_after.get(), 50);
        let mut typed = Options::default();
        typed.delivery.concurrency = "7".parse().ok();
        typed.delivery.max_outage = "90m".parse().ok();
        typed.delivery.stop_after = "1".parse().ok();
        let policy = policy(&of(typed).delivery).unwrap();
        let seven = std::num::NonZeroUsize::new(7).unwrap();
        assert_eq!(policy.concurrency, ConcurrencyChoice::Fixed(seven));
        assert_eq!(policy.max_outage, Duration::from_secs(90 * 60));
        assert_eq!(policy.stop_after.get(), 1);
    }
}
