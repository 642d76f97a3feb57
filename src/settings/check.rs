//! What `leadload check` is to do.

use anyhow::Result;

use super::import::{SLOWEST_RATE, lead_form, rate};
use super::layers::settled;
use super::{Layers, ReadingSettings, Service};
use crate::api::wire::LeadForm;
use crate::intake::OnUncertain;
use crate::options::LogFormat;
use crate::rate::{Rate, RateChoice};
use crate::results::OutputChoice;

/// What `auto` grows to, at most.
const FASTEST_RATE: Rate = Rate::per_second(10);

/// The settings of one check.
#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// What is read, and how.
    pub reading: ReadingSettings,
    /// The form of what would be sent.
    pub lead_form: LeadForm,
    /// How fast it would be sent.
    pub pace: Pace,
    /// The name by which the ledger knows the service, where one is given.
    pub service: Option<String>,
    /// Whether inputs that were sent before are sent again, where duplicates are allowed.
    pub again: bool,
    /// What would be done about rows that may have been taken.
    pub on_uncertain: OnUncertain,
    /// If more rows would be sent, none would be.
    pub max_new: Option<u64>,
    /// Whether `--test-to` was given, which only an import does.
    pub tests: bool,
    /// Whether nothing but errors is said.
    pub quiet: bool,
    /// The form of log lines.
    pub log_format: LogFormat,
}

/// How fast leads would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pace {
    /// Within these limits, at least one.
    Limited(Vec<Rate>),
    /// As fast as the service answers.
    Unlimited,
    /// What the service is found to allow: somewhere between these two.
    Between(Rate, Rate),
}

impl From<&RateChoice> for Pace {
    fn from(rate: &RateChoice) -> Pace {
        match rate {
            RateChoice::Limits(limits) => Pace::Limited(limits.clone()),
            RateChoice::Unlimited => Pace::Unlimited,
            RateChoice::Auto => Pace::Between(SLOWEST_RATE, FASTEST_RATE),
        }
    }
}

impl CheckSettings {
    /// Works out what the options mean together. Files are written only when named.
    ///
    /// # Errors
    ///
    /// Where two of them contradict each other, or the service's address is none.
    pub fn new(layers: &Layers) -> Result<CheckSettings> {
        let options = layers.options();
        let delivery = &options.delivery;
        Ok(CheckSettings {
            reading: ReadingSettings::new(layers, &OutputChoice::None)?,
            service: Service::name(&options)?,
            on_uncertain: settled("on_uncertain", &delivery.on_uncertain)?,
            again: delivery.again == Some(true),
            lead_form: lead_form(delivery)?,
            pace: Pace::from(&rate(delivery)?),
            max_new: delivery.max_new.as_deref().copied(),
            tests: delivery.test_to.is_some(),
            quiet: options.log.quiet == Some(true),
            log_format: settled("log_format", &options.log.log_format)?,
        })
    }
}
