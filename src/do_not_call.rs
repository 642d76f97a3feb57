//! The do-not-call list that stays: numbers are put on it and taken off, by the command line and by
//! the page.
//!
//! Rule: a list is read completely before anything is changed, and as strictly as an import reads
//! its do-not-call lists: a number that is left out is a person who is called.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::clock;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::CampaignId;
use crate::ledger::{LeadAt, Ledger, LedgerError, LedgerPlace};
use crate::phone::PhoneNumber;
use crate::screen::SuppressionLists;
use crate::settings::PhoneSettings;

/// How many numbers are looked up at once.
const AT_ONCE: usize = 10_000;

/// Numbers as people name them.
pub struct Named<'a> {
    pub numbers: &'a [String],
    pub files: &'a [PathBuf],
}

/// What became of numbers that were put on the list.
#[derive(Debug)]
pub struct Added {
    pub added: u64,
    /// How many were on it already.
    pub known: u64,
    /// The leads that these people are already, and rows that may be leads.
    pub leads: Vec<LeadAt>,
    /// The names of campaigns, by service and id, as far as they are known.
    campaigns: BTreeMap<String, HashMap<CampaignId, String>>,
}

impl Added {
    /// The name of a lead's campaign, if an import has named it.
    pub fn campaign(&self, lead: &LeadAt) -> Option<&str> {
        let of_service = self.campaigns.get(&lead.service)?;
        of_service.get(&lead.record.campaign).map(String::as_str)
    }

    /// How many of these people are leads, or may be.
    pub fn people(&self) -> u64 {
        let mut numbers: Vec<_> = self.leads.iter().map(|lead| lead.record.number).collect();
        numbers.dedup();
        numbers.len() as u64
    }
}

/// Puts numbers on the list.
pub fn add(
    place: &LedgerPlace,
    numbers: &[PhoneNumber],
    reason: Option<&str>,
) -> Result<Added, Failure> {
    let mut ledger = Ledger::open(place)?;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    let added = ledger.suppress(numbers, reason, clock::now())?;
    Ok(Added {
        added: added.len() as u64,
        known: (numbers.len() - added.len()) as u64,
        leads: leads(&ledger, numbers)?,
        campaigns: campaign_names(&ledger)?,
    })
}

/// Takes numbers off the list, and returns how many were on it.
pub fn remove(place: &LedgerPlace, numbers: &[PhoneNumber]) -> Result<u64, Failure> {
    let removed = match Ledger::read(place)? {
        None => Vec::new(),
        Some(_) => Ledger::open(place)?.unsuppress(numbers)?,
    };
    Ok(removed.len() as u64)
}

/// The numbers that are named and those in the files, each once, in order.
pub fn numbers(named: &Named<'_>, settings: &PhoneSettings) -> Result<Vec<PhoneNumber>, Failure> {
    let typed = named.numbers.iter();
    let typed = typed.map(|text| number(text, settings));
    let mut numbers: Vec<PhoneNumber> = typed.collect::<Result<_, Failure>>()?;
    let region = settings.region.as_ref().map(|given| given.region);
    let lists =
        SuppressionLists::read_to_keep(named.files, &settings.phones, region, settings.doubts)
            .stopped_by(StoppedBy::Usage)?;
    numbers.extend(lists.numbers());
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The number is not repeated: messages may end up in a log.
fn number(text: &str, settings: &PhoneSettings) -> Result<PhoneNumber, Failure> {
    let region = settings.region.as_ref().map(|given| given.region);
    settings.phones.for_lists().read(text, region).map_err(|problem| {
        Failure::usage(message!("{the value of `--number`|this} is no number that can be called: {why}", "write it{ whole,|} with `+` and the country code, such as {+447700900201; or name its country with {--region}|+44 7700 900201, or choose its country}", why = problem.of_typed()))
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
