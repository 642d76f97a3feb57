//! What is read, and how leads are made of it: the same for checking and sending.

use std::path::PathBuf;

use anyhow::Result;

use crate::campaign::CampaignChoice;
use crate::cli::{Format, ImportArgs, MappingArgs, Progress, ReadingArgs};
use crate::intake::{KnownBad, Once};
use crate::mapping::MappingSpec;
use crate::phone::{PhoneRules, Region};
use crate::results::OutputChoice;
use crate::source::FormChoice;

/// The settings that checking and sending share.
#[derive(Debug, Clone)]
pub struct ReadingSettings {
    /// Only so many rows.
    pub limit: Option<u64>,
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
    /// How often a number is sent otherwise.
    pub once: Once,
    /// What becomes of rows that ended badly in an earlier run.
    pub known_bad: KnownBad,
    /// Whether the outputs are named as a trial's.
    pub sandbox: bool,
    /// Where the results go.
    pub results: OutputChoice,
    /// Where the rejects go.
    pub rejects: OutputChoice,
    /// The form of the summary.
    pub format: Format,
    /// Whether a bar is drawn.
    pub progress: Progress,
}

impl ReadingSettings {
    /// Works out what the flags mean together. Outputs that are not named go to
    /// `unnamed`.
    pub(super) fn from_cli(args: &ImportArgs, unnamed: &OutputChoice) -> Result<ReadingSettings> {
        Ok(ReadingSettings {
            limit: args.reading.limit,
            phones: PhoneRules {
                rule: args.phones.phone_rule.unwrap_or_default(),
                assume_plus: args.phones.assume_plus,
                countries: args.phones.countries.clone(),
            },
            region: args.phones.region,
            suppress: args.phones.suppress.clone(),
            mapping: mapping(&args.mapping, args.phones.region_column.as_ref()),
            campaign: CampaignChoice::parse(args.mapping.campaign.as_deref().unwrap_or_default())?,
            allow_duplicates: args.delivery.allow_duplicates,
            once: args.delivery.once,
            known_bad: args.delivery.known_bad,
            sandbox: args.connection.sandbox,
            results: output(args.results.as_ref(), unnamed),
            rejects: output(args.rejects.as_ref(), unnamed),
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

fn mapping(args: &MappingArgs, region_column: Option<&String>) -> MappingSpec {
    MappingSpec {
        phone_columns: args.phone_column.clone(),
        campaign_column: args.campaign_column.clone(),
        region_column: region_column.cloned(),
        variables: args.var.clone(),
        skipped: args.skip_column.clone(),
        constants: args.set.clone(),
        var_names: args.var_names.unwrap_or_default(),
        empty_cells: args.empty.unwrap_or_default(),
    }
}

fn output(typed: Option<&PathBuf>, unnamed: &OutputChoice) -> OutputChoice {
    match typed {
        None => unnamed.clone(),
        Some(path) if path.as_os_str() == "none" => OutputChoice::None,
        Some(path) => OutputChoice::Path(path.clone()),
    }
}
