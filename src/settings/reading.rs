//! What is read, and how leads are made of it: the same for checking and sending.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::Environment;
use super::profile::saved_mapping;
use crate::campaign::CampaignChoice;
use crate::cli::{Format, ImportArgs, Progress, ReadingArgs};
use crate::intake::{KnownBad, Once};
use crate::mapping::MappingSpec;
use crate::phone::{PhoneRules, Region};
use crate::results::{OutputChoice, OutputChoices};
use crate::source::FormChoice;

/// The settings that checking and sending share.
#[derive(Debug, Clone)]
pub struct ReadingSettings {
    /// Only so many rows.
    pub limit: Option<u64>,
    /// At least so many rows.
    pub min_rows: u64,
    /// What makes a phone number.
    pub phones: PhoneRules,
    /// The country of numbers in national form.
    pub region: Option<Region>,
    /// The do-not-call lists.
    pub suppress: Vec<PathBuf>,
    /// How headers become mappings.
    pub mapping: MappingSpec,
    /// `--campaign`.
    pub campaign: Option<CampaignChoice>,
    /// Whether numbers that repeat are sent all the same.
    pub allow_duplicates: bool,
    /// The profile that says so, in words, where it was not typed.
    pub allowed_by: Option<String>,
    /// How often a number is sent otherwise.
    pub once: Once,
    /// What becomes of rows that ended badly in an earlier run.
    pub known_bad: KnownBad,
    /// Where the results, the rejects and the page for people go.
    pub outputs: OutputChoices,
    /// The form of the summary.
    pub format: Format,
    /// Whether a bar is drawn.
    pub progress: Progress,
}

impl ReadingSettings {
    /// Works out what the flags mean together. Outputs that are not named go to
    /// `unnamed`.
    pub(super) fn from_cli(
        args: &ImportArgs,
        environment: &Environment,
        unnamed: &OutputChoice,
    ) -> Result<ReadingSettings> {
        if args.delivery.again && !args.delivery.allow_duplicates {
            bail!(
                "`--again` needs `--allow-duplicates`\n\nhint: without both, the same command sends only what is new"
            );
        }
        Ok(ReadingSettings {
            limit: args.reading.limit,
            min_rows: args.reading.min_rows.unwrap_or(0),
            phones: PhoneRules {
                rule: args.phones.phone_rule.unwrap_or_default(),
                assume_plus: args.phones.assume_plus,
                countries: args.phones.countries.clone(),
            },
            region: args.phones.region,
            suppress: args.phones.suppress.clone(),
            mapping: mapping(args, environment),
            campaign: CampaignChoice::parse(args.mapping.campaign.as_deref().unwrap_or_default())?,
            allow_duplicates: args.delivery.allow_duplicates,
            allowed_by: environment.profile_giving("allow_duplicates"),
            once: args.delivery.once,
            known_bad: args.delivery.known_bad,
            outputs: output_choices(args, environment, unnamed),
            format: args.format,
            progress: args.progress,
        })
    }
}

/// What was said of the inputs' form.
pub fn form_choice(args: &ReadingArgs) -> FormChoice {
    FormChoice {
        encoding: args.encoding,
        delimiter: args.delimiter,
        no_header: args.no_header,
        sheet: args.sheet.clone(),
    }
}

fn mapping(import: &ImportArgs, environment: &Environment) -> MappingSpec {
    let args = &import.mapping;
    MappingSpec {
        saved: saved_mapping::kept(import, environment),
        phone_columns: args.phone_column.clone(),
        campaign_column: args.campaign_column.clone(),
        region_column: import.phones.region_column.clone(),
        variables: args.var.clone(),
        no_variables: args.no_var,
        skipped: args.skip_column.clone(),
        constants: args.set.clone(),
        kept: args.keep.clone(),
        var_names: args.var_names.unwrap_or_default(),
        empty_cells: args.empty.unwrap_or_default(),
    }
}

/// What was said of the outputs. Those that are not named go to `unnamed`.
pub fn output_choices(
    args: &ImportArgs,
    environment: &Environment,
    unnamed: &OutputChoice,
) -> OutputChoices {
    OutputChoices {
        results: output(args.results.as_ref(), unnamed),
        rejects: output(args.rejects.as_ref(), unnamed),
        report: args.report.clone(),
        sandbox: args.connection.sandbox,
        reserved: settings_files(args, environment),
    }
}

/// The files that say where the service is and who asks.
fn settings_files(args: &ImportArgs, environment: &Environment) -> Vec<PathBuf> {
    let connection = &args.connection;
    let profile = environment.profile.as_ref();
    let files = [
        connection.token_file.as_ref(),
        environment.token_file.as_ref(),
        connection.ca_file.as_ref(),
        connection.profile.config.as_ref(),
        environment.config.as_ref(),
        profile.map(|in_force| &in_force.profile.file),
    ];
    files.into_iter().flatten().cloned().collect()
}

fn output(typed: Option<&PathBuf>, unnamed: &OutputChoice) -> OutputChoice {
    match typed {
        None => unnamed.clone(),
        Some(path) if path.as_os_str() == "none" => OutputChoice::None,
        Some(path) => OutputChoice::Path(path.clone()),
    }
}
