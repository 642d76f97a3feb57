//! What is read and how it becomes leads: the same for checking and sending.

use std::path::PathBuf;

use anyhow::Result;

use super::check::campaign;
use super::layers::settled;
use super::profile::saved_mapping;
use super::{Layers, Origin};
use crate::campaign::CampaignChoice;
use crate::intake::{GivenRegion, KnownBad, Once};
use crate::mapping::MappingSpec;
use crate::options::{Bound, Given, Options, Progress, ReadingOptions, texts};
use crate::phone::{LineKinds, PhoneRules, Region};
use crate::results::{OutputChoice, OutputChoices};
use crate::source::FormChoice;

/// The settings that checking and sending share.
#[derive(Debug, Clone)]
pub struct ReadingSettings {
    pub limit: Option<u64>,
    pub min_rows: Option<Given<Bound>>,
    pub phones: PhoneRules,
    /// The country of numbers in national form, for rows that name no country.
    pub region: Option<GivenRegion>,
    /// The region of the run that wrote rejects among the inputs, if it is known.
    pub doubted: Option<Region>,
    /// Whether numbers that `region` completes may count
    /// as doubtful: unless `--phone-rule` is given.
    pub doubts: bool,
    pub suppress: Vec<PathBuf>,
    pub mapping: MappingSpec,
    pub campaign: Option<CampaignChoice>,
    pub allow_duplicates: bool,
    pub once: Once,
    pub known_bad: KnownBad,
    /// Where results, rejects and the report go.
    pub outputs: OutputChoices,
    pub progress: Progress,
}

/// How numbers are read that stand in no list of contacts.
#[derive(Debug, Clone)]
pub struct PhoneSettings {
    pub phones: PhoneRules,
    /// The country of numbers in national form, for rows that name no country.
    pub region: Option<GivenRegion>,
    /// Whether numbers that `region` completes may count
    /// as doubtful: unless `--phone-rule` is given.
    pub doubts: bool,
}

impl PhoneSettings {
    pub fn new(layers: &Layers) -> Result<PhoneSettings> {
        let options = layers.options();
        let phones = &options.phones;
        Ok(PhoneSettings {
            phones: PhoneRules {
                rule: settled(&phones.phone_rule)?,
                assume_plus: phones.assume_plus == Some(true),
                countries: values(&phones.countries),
                kinds: LineKinds::chosen(&values(&phones.phone_kinds)),
            },
            region: region(layers, &options),
            doubts: layers.given().phones.phone_rule.is_none(),
        })
    }
}

impl ReadingSettings {
    /// Works out what the options mean together. Outputs that are not named go to `unnamed`.
    pub(super) fn new(layers: &Layers, unnamed: &OutputChoice) -> Result<ReadingSettings> {
        let options = layers.options();
        let Options {
            reading,
            phones,
            delivery,
            output,
            ..
        } = &options;
        let numbers = PhoneSettings::new(layers)?;
        let allow_duplicates = delivery.allow_duplicates == Some(true);
        Ok(ReadingSettings {
            limit: reading.limit.as_deref().copied(),
            min_rows: reading.min_rows.clone(),
            phones: numbers.phones,
            region: numbers.region,
            doubted: layers.region_of_run(),
            doubts: numbers.doubts,
            suppress: values(&phones.suppress),
            mapping: mapping(layers, &options)?,
            campaign: campaign(&options)?,
            allow_duplicates,
            once: settled(&delivery.once)?,
            known_bad: settled(&delivery.known_bad)?,
            outputs: output_choices(layers, unnamed),
            progress: settled(&output.progress)?,
        })
    }
}

/// The country of numbers in national form, and the source of that option.
fn region(layers: &Layers, options: &Options) -> Option<GivenRegion> {
    let region = (*options.phones.region.as_deref()?)?;
    let from = match layers.origin(|given| given.phones.region.is_some()) {
        Origin::Flag => "--region".to_owned(),
        origin => origin.to_string(),
    };
    Some(GivenRegion { region, from })
}

pub fn form_choice(reading: &ReadingOptions) -> FormChoice {
    FormChoice {
        encoding: reading.encoding.as_deref().copied(),
        delimiter: reading.delimiter.as_deref().map(|delimiter| delimiter.0),
        no_header: reading.no_header == Some(true),
        sheet: reading.sheet.as_deref().cloned(),
    }
}

fn mapping(layers: &Layers, options: &Options) -> Result<MappingSpec> {
    let Options {
        mapping, phones, ..
    } = options;
    let constants = mapping.set.iter().flatten();
    Ok(MappingSpec {
        saved: saved_mapping::in_use(layers, options),
        phone_columns: texts(&mapping.phone_column),
        campaign_column: mapping.campaign_column.as_deref().cloned(),
        region_columns: settled(&phones.region_column)?,
        do_not_call: settled(&mapping.do_not_call_column)?,
        consent: settled(&mapping.consent_column)?,
        unclear_marks: mapping.unclear_marks.as_deref().copied(),
        empty_consent: mapping.empty_consent.as_deref().copied(),
        only: texts(&mapping.only),
        hidden_rows: options.reading.hidden_rows.as_deref().copied(),
        variables: texts(&mapping.var),
        no_variables: mapping.var.as_ref().is_some_and(Vec::is_empty),
        skipped: texts(&mapping.skip_column),
        constants: constants
            .map(|c| (c.name.clone(), c.value.clone()))
            .collect(),
        kept: texts(&mapping.keep),
        var_names: settled(&mapping.var_names)?,
        empty_cells: settled(&mapping.empty)?,
    })
}

fn values<T: Clone>(list: &Option<Vec<Given<T>>>) -> Vec<T> {
    let list = list.iter().flatten();
    list.map(|given| (**given).clone()).collect()
}

/// Where the outputs go. Those that are not named go to `unnamed`.
pub fn output_choices(layers: &Layers, unnamed: &OutputChoice) -> OutputChoices {
    let options = layers.options();
    let output = &options.output;
    OutputChoices {
        results: place(&output.results, unnamed),
        rejects: place(&output.rejects, unnamed),
        report: output.report.as_deref().cloned(),
        sandbox: options.connection.sandbox == Some(true),
        reserved: layers.reserved.clone(),
    }
}

fn place(given: &Option<Given<PathBuf>>, unnamed: &OutputChoice) -> OutputChoice {
    match given.as_deref() {
        None => unnamed.clone(),
        Some(path) if path.as_os_str() == "none" => OutputChoice::None,
        Some(path) => OutputChoice::Path(path.clone()),
    }
}
