//! What `leadload import` is to do.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Environment, Service};
use crate::api::wire::LeadForm;
use crate::backoff::Backoff;
use crate::campaign::CampaignChoice;
use crate::cli::{Format, ImportArgs, MappingArgs, Progress, RateArg};
use crate::mapping::MappingSpec;
use crate::pipeline::{OnUncertain, Policy};
use crate::rate::Rate;
use crate::results::OutputChoice;

/// In flight at most, where nothing is said.
const CONCURRENCY: usize = 16;

/// Attempts per row, where nothing is said.
const MAX_ATTEMPTS: u32 = 8;

/// Time for a request, where nothing is said.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// The only limit that such a service has ever published.
const RATE: Rate = Rate {
    requests: NonZeroU32::MIN.saturating_add(99),
    per: Duration::from_secs(60),
};

/// What the sandbox is sent, so that a trial is short and yet to be watched.
const SANDBOX_RATE: Rate = Rate {
    requests: NonZeroU32::MIN.saturating_add(49),
    per: Duration::from_secs(1),
};

/// The settings of one import.
#[derive(Debug, Clone)]
pub struct ImportSettings {
    /// The inputs as named.
    pub inputs: Vec<PathBuf>,
    /// The service; none for a dry run, which needs none.
    pub service: Option<Service>,
    /// Whether the files are named as a trial's.
    pub sandbox: bool,
    /// `--campaign`.
    pub campaign: Option<CampaignChoice>,
    /// How headers become mappings.
    pub mapping: MappingSpec,
    /// Only so many rows.
    pub limit: Option<u64>,
    /// Limits of our own; none means none.
    pub rates: Vec<Rate>,
    /// How rows are sent.
    pub policy: Policy,
    /// Time for each request.
    pub timeout: Duration,
    /// Where the results go.
    pub results: OutputChoice,
    /// Where the rejects go.
    pub rejects: OutputChoice,
    /// The form of the summary.
    pub format: Format,
    /// Whether a bar is drawn.
    pub progress: Progress,
}

impl ImportSettings {
    /// Works out what the flags mean, together and with the environment.
    pub fn from_cli(args: &ImportArgs, environment: &Environment) -> Result<ImportSettings> {
        let delivery = &args.delivery;
        let campaign = campaign(&args.mapping, delivery.dry_run)?;
        // A dry run writes files only when told to.
        let unnamed = match delivery.dry_run {
            true => OutputChoice::None,
            false => OutputChoice::BesideInput,
        };
        Ok(ImportSettings {
            inputs: args.inputs.clone(),
            service: match delivery.dry_run {
                true => None,
                false => Some(Service::from_cli(&args.connection, environment)?),
            },
            sandbox: args.connection.sandbox,
            campaign,
            mapping: mapping(&args.mapping),
            limit: args.mapping.limit,
            rates: rates(&delivery.rate, args.connection.sandbox)?,
            policy: policy(args),
            timeout: delivery.timeout.unwrap_or(TIMEOUT),
            results: output(args.results.as_ref(), &unnamed),
            rejects: output(args.rejects.as_ref(), &unnamed),
            format: args.format,
            progress: args.progress,
        })
    }

    /// Whether nothing is to be sent.
    pub fn is_dry_run(&self) -> bool {
        self.service.is_none()
    }
}

fn campaign(args: &MappingArgs, dry_run: bool) -> Result<Option<CampaignChoice>> {
    let campaign = CampaignChoice::parse(args.campaign.as_deref().unwrap_or_default())?;
    if campaign.is_none() && args.campaign_column.is_none() && !dry_run {
        bail!(
            "no campaign is given\n\nhint: name it with `--campaign`, by id or by name, or with `--campaign-column`; `leadload campaigns` lists them"
        );
    }
    Ok(campaign)
}

fn mapping(args: &MappingArgs) -> MappingSpec {
    MappingSpec {
        phone_columns: args.phone_column.clone(),
        campaign_column: args.campaign_column.clone(),
        variables: args.var.clone(),
        skipped: args.skip_column.clone(),
        constants: args.set.clone(),
        var_names: args.var_names,
        empty_cells: args.empty,
    }
}

fn rates(args: &[RateArg], sandbox: bool) -> Result<Vec<Rate>> {
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
        (true, false) => vec![RATE],
        (false, _) => limits,
    })
}

fn policy(args: &ImportArgs) -> Policy {
    let delivery = &args.delivery;
    Policy {
        concurrency: delivery.concurrency.map_or(CONCURRENCY, NonZeroUsize::get),
        max_attempts: delivery.max_attempts.map_or(MAX_ATTEMPTS, NonZeroU32::get),
        on_uncertain: match delivery.on_uncertain {
            Some(choice) => choice,
            // Where the service makes duplicates, nothing refuses a second call.
            None if delivery.allow_duplicates => OnUncertain::Hold,
            None => OnUncertain::Resend,
        },
        backoff: Backoff::default(),
        form: LeadForm {
            variables_shape: delivery.variables_shape,
            allow_duplicates: delivery.allow_duplicates,
        },
    }
}

fn output(typed: Option<&PathBuf>, unnamed: &OutputChoice) -> OutputChoice {
    match typed {
        None => unnamed.clone(),
        Some(path) if path.as_os_str() == "none" => OutputChoice::None,
        Some(path) => OutputChoice::Path(path.clone()),
    }
}
