//! What `leadload import` is to do.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Environment, LedgerChoice, ReadingSettings, Service};
use crate::api::wire::LeadForm;
use crate::backoff::Backoff;
use crate::cli::{DeliveryArgs, ImportArgs, RateArg};
use crate::intake::OnUncertain;
use crate::pipeline::Policy;
use crate::rate::Rate;
use crate::results::OutputChoice;

/// In flight at most, where nothing is said.
const CONCURRENCY: usize = 16;

/// Attempts per row, where nothing is said.
const MAX_ATTEMPTS: u32 = 8;

/// Time for a request, where nothing is said.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The only limit that such a service has ever published.
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
    /// Limits of our own; none means none.
    pub rates: Vec<Rate>,
    /// How rows are sent.
    pub policy: Policy,
    /// Time for each request.
    pub timeout: Duration,
    /// Where it is written down.
    pub ledger: LedgerChoice,
    /// Whether inputs that were sent before are sent again, where duplicates are allowed.
    pub again: bool,
    /// Whether another run is waited for.
    pub wait: bool,
    /// Whether nothing but errors is said.
    pub quiet: bool,
}

impl ImportSettings {
    /// Works out what the flags mean, together and with the environment.
    pub fn from_cli(args: &ImportArgs, environment: &Environment) -> Result<ImportSettings> {
        let reading = ReadingSettings::from_cli(args, &OutputChoice::BesideInput)?;
        Ok(ImportSettings {
            service: Service::from_cli(&args.connection, environment)?,
            ledger: LedgerChoice::for_rows(args, environment)?,
            rates: rates(&args.delivery.rate, reading.sandbox)?,
            policy: policy(&args.delivery),
            timeout: args.delivery.timeout.unwrap_or(TIMEOUT),
            again: args.delivery.again,
            wait: args.delivery.wait,
            quiet: args.output.quiet,
            reading,
        })
    }

    /// Takes up what rejects among the inputs have brought: flags that were not given.
    /// Now a campaign must be known.
    pub fn take_up(&mut self, args: &ImportArgs) -> Result<()> {
        self.reading = ReadingSettings::from_cli(args, &OutputChoice::BesideInput)?;
        self.policy.form = lead_form(&args.delivery);
        if self.reading.campaign.is_none() && self.reading.mapping.campaign_column.is_none() {
            bail!(
                "no campaign is given\n\nhint: name it with `--campaign`, by id or by name, or with `--campaign-column`; `leadload campaigns` lists them"
            );
        }
        Ok(())
    }
}

pub(super) fn rates(args: &[RateArg], sandbox: bool) -> Result<Vec<Rate>> {
    let limits: Vec<Rate> = args
        .iter()
        .filter_map(|arg| match arg {
            RateArg::Unlimited => None,
            RateArg::Limit(rate) => Some(*rate),
        })
        .collect();
    if limits.len() < args.len() && args.len() > 1 {
        bail!("`--rate none` cannot stand beside another `--rate`\n\nhint: drop one of the two");
    }
    Ok(match (args.is_empty(), sandbox) {
        (true, true) => vec![SANDBOX_RATE],
        (true, false) => vec![SLOWEST_RATE],
        (false, _) => limits,
    })
}

fn policy(delivery: &DeliveryArgs) -> Policy {
    Policy {
        concurrency: delivery.concurrency.map_or(CONCURRENCY, NonZeroUsize::get),
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
