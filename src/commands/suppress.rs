//! `leadload suppress`: the do-not-call list that stays.
//!
//! Rule: a list is read completely before anything is changed, and as strictly as an import reads
//! its do-not-call lists: a number that is left out is a person who is called.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::ledger::{ledger_of, refuse_missing};
use crate::cli::ListFormat;
use crate::cli::suppress::{AddArgs, NumbersArgs, RemoveArgs, SuppressArgs, SuppressCommand};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::lead::CampaignId;
use crate::ledger::{LeadAt, Ledger, LedgerError, LedgerPlace};
use crate::message::Message;
use crate::options::Format;
use crate::phone::{PhoneNumber, PhoneProblem};
use crate::report::{
    AddedNumbers, added_json, added_text, console, removed_json, removed_text, suppressed_csv,
    suppressed_json, suppressed_text,
};
use crate::screen::SuppressionLists;
use crate::settings::{Layers, PhoneSettings};

/// How many numbers are looked up at once.
const AT_ONCE: usize = 10_000;

pub fn run(args: &SuppressArgs, layers: &Layers) -> Result<ExitCode, Failure> {
    let ledger = ledger_of(layers, "the do-not-call list is")?;
    let format = layers.options().output.format();
    let text = match &args.command {
        SuppressCommand::Add(add) => self::add(add, layers, &ledger, format)?,
        SuppressCommand::Remove(remove) => self::remove(remove, layers, &ledger, format)?,
        SuppressCommand::List(list) => {
            refuse_missing(layers, &ledger)?;
            let of_profile = || match format {
                Format::Json => ListFormat::Json,
                Format::Text => ListFormat::Text,
            };
            self::list(&ledger, list.format.unwrap_or_else(of_profile))?
        }
    };
    console::print(&text).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}

fn add(
    args: &AddArgs,
    layers: &Layers,
    place: &LedgerPlace,
    format: Format,
) -> Result<String, Failure> {
    let numbers = numbers(&args.numbers, layers)?;
    let mut ledger = Ledger::open(place)?;
    let reason = args.reason.as_deref().map(str::trim);
    let reason = reason.filter(|reason| !reason.is_empty());
    let added = ledger.suppress(&numbers, reason, Timestamp::now())?;
    let added = AddedNumbers {
        added: added.len() as u64,
        known: (numbers.len() - added.len()) as u64,
        leads: leads(&ledger, &numbers)?,
        campaigns: campaign_names(&ledger)?,
    };
    Ok(match format {
        Format::Text => added_text(&added),
        Format::Json => added_json(&added),
    })
}

fn remove(
    args: &RemoveArgs,
    layers: &Layers,
    place: &LedgerPlace,
    format: Format,
) -> Result<String, Failure> {
    refuse_missing(layers, place)?;
    let numbers = numbers(&args.numbers, layers)?;
    let removed = match Ledger::read(place)? {
        None => Vec::new(),
        Some(_) => Ledger::open(place)?.unsuppress(&numbers)?,
    };
    let (removed, unknown) = (removed.len() as u64, (numbers.len() - removed.len()) as u64);
    Ok(match format {
        Format::Text => removed_text(removed, unknown),
        Format::Json => removed_json(removed, unknown),
    })
}

fn list(place: &LedgerPlace, format: ListFormat) -> Result<String, Failure> {
    let ledger = Ledger::read(place)?;
    let list = ledger.as_ref().map(Ledger::suppressed).transpose()?;
    let list = list.unwrap_or_default();
    Ok(match format {
        ListFormat::Text => suppressed_text(&list),
        ListFormat::Json => suppressed_json(&list),
        ListFormat::Csv => suppressed_csv(&list).or_stopped(StoppedBy::Disk)?,
    })
}

/// The numbers that are named and those in the files, each once, in order.
fn numbers(args: &NumbersArgs, layers: &Layers) -> Result<Vec<PhoneNumber>, Failure> {
    let settings = PhoneSettings::new(layers).or_stopped(StoppedBy::Usage)?;
    let named = args.number.iter();
    let named = named.map(|text| number(text, &settings));
    let mut numbers: Vec<PhoneNumber> = named.collect::<Result<_, Failure>>()?;
    let region = settings.region.as_ref().map(|given| given.region);
    let lists =
        SuppressionLists::read_to_keep(&args.files, &settings.phones, region, settings.doubts)
            .or_stopped(StoppedBy::Usage)?;
    numbers.extend(lists.numbers());
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The number is not repeated: messages may end up in a log.
fn number(text: &str, settings: &PhoneSettings) -> Result<PhoneNumber, Failure> {
    let region = settings.region.as_ref().map(|given| given.region);
    settings.phones.for_lists().read(text, region).map_err(|problem| {
        let why = match problem {
            // Their advice is about the numbers of a list.
            PhoneProblem::NoDigits => "it has no digits".to_owned(),
            PhoneProblem::NoCountry { .. } => "it has no country".to_owned(),
            other => other.to_string(),
        };
        let message = Message::new(
            format!("the value of `--number` is no number that can be called: {why}"),
            "write it whole, with `+` and the country code, such as +447700900201; or name its country with `--region`",
        );
        Failure::new(StoppedBy::Usage, message)
    })
}

/// The leads that these people are already.
fn leads(ledger: &Ledger, numbers: &[PhoneNumber]) -> Result<Vec<LeadAt>, LedgerError> {
    let mut leads = Vec::new();
    for numbers in numbers.chunks(AT_ONCE) {
        leads.extend(ledger.leads_of(numbers)?);
    }
    Ok(leads)
}

/// The names of campaigns, by service and id, as far as imports have named them.
fn campaign_names(
    ledger: &Ledger,
) -> Result<BTreeMap<String, HashMap<CampaignId, String>>, LedgerError> {
    let mut names: BTreeMap<String, HashMap<CampaignId, String>> = BTreeMap::new();
    for run in ledger.runs()? {
        let of_service = names.entry(run.service.clone()).or_default();
        of_service.extend(run.campaigns_named());
    }
    Ok(names)
}
