//! Rows by campaign in a check, and what the names of campaigns mean.

use std::cmp::Reverse;
use std::fmt::Write;

use serde::Serialize;

use super::findings::Checked;
use super::width::{Width, paragraph};
use crate::campaign::{CampaignError, UnclearNames};
use crate::lead::{Counts, Status};
use crate::text::{counted, grouped, printable, shown_name};

/// How many campaigns are spelled out.
const MAX_CAMPAIGNS: usize = 15;

/// Whether the names of campaigns were looked up at the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// There are none.
    NotNeeded,
    /// They were not, and why.
    NotDone(String),
    /// They were, and some of them may not each mean one campaign.
    Done(Option<UnclearNames>),
}

impl Lookup {
    /// The names that do not each mean one campaign.
    pub fn unclear(&self) -> Option<&UnclearNames> {
        match self {
            Lookup::Done(unclear) => unclear.as_ref(),
            _ => None,
        }
    }
}

/// The rows of each campaign, where there are several or any is known by its name alone; and
/// what was found out of the names.
pub(super) fn write_campaigns(text: &mut String, checked: &Checked<'_>) -> std::fmt::Result {
    let tally = checked.ended.tally;
    let by_name = &tally.by_campaign_name;
    let campaigns = tally.by_campaign.len() + by_name.len();
    if campaigns > 1 || *checked.lookup != Lookup::NotNeeded {
        let by_id = tally.by_campaign.iter();
        let by_id = by_id.map(|(id, counts)| (checked.ended.campaign_names.shown(*id), *counts));
        let by_name = by_name.iter();
        let by_name = by_name.map(|(name, counts)| (format!("`{}`", shown_name(name)), *counts));
        write_rows(text, by_id.chain(by_name).collect())?;
    }
    let said = match checked.lookup {
        Lookup::NotDone(why) => format!(
            "The names of campaigns were not looked up at the service: {}.",
            printable(why)
        ),
        Lookup::Done(Some(unclear)) => return write_unclear(text, unclear),
        _ => return Ok(()),
    };
    writeln!(text, "\n{}", paragraph(&said, Width::default()))
}

fn write_rows(text: &mut String, mut campaigns: Vec<(String, Counts)>) -> std::fmt::Result {
    if campaigns.is_empty() {
        return Ok(());
    }
    campaigns.sort_by_key(|(_, counts)| Reverse(counts.total()));
    writeln!(text, "\nRows by campaign:")?;
    for (campaign, counts) in campaigns.iter().take(MAX_CAMPAIGNS) {
        writeln!(
            text,
            "  {campaign:<28}{:>9}  {} ready",
            grouped(counts.total()),
            grouped(counts.of(Status::Ready))
        )?;
    }
    let Some(others @ [_, ..]) = campaigns.get(MAX_CAMPAIGNS..) else {
        return Ok(());
    };
    let rows: u64 = others.iter().map(|(_, counts)| counts.total()).sum();
    writeln!(
        text,
        "  and {} of {}",
        counted(rows, "row"),
        counted(others.len() as u64, "more campaign")
    )
}

fn write_unclear(text: &mut String, unclear: &UnclearNames) -> std::fmt::Result {
    writeln!(
        text,
        "\nAn import would send nothing, since these names are not clear:"
    )?;
    for line in unclear.lines() {
        writeln!(text, "  {line}")?;
    }
    for line in paragraph(&unclear.hint(), Width::default().less(2)).lines() {
        writeln!(text, "  {line}")?;
    }
    Ok(())
}

/// The same for machines; nothing where there are no names.
#[derive(Serialize)]
pub(super) struct LookupJson<'a> {
    looked_up: bool,
    /// Why they were not.
    reason: Option<&'a str>,
    unclear: Vec<UnclearJson<'a>>,
}

#[derive(Serialize)]
struct UnclearJson<'a> {
    name: &'a str,
    problem: &'static str,
    ids: Vec<&'a str>,
    rows: u64,
    first: Vec<PlaceJson<'a>>,
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    file: &'a str,
    line: u64,
}

pub(super) fn lookup_json<'a>(lookup: &'a Lookup, inputs: &[&'a str]) -> Option<LookupJson<'a>> {
    let reason = match lookup {
        Lookup::NotNeeded => return None,
        Lookup::NotDone(why) => Some(why.as_str()),
        Lookup::Done(_) => None,
    };
    let names = lookup.unclear().into_iter().flat_map(UnclearNames::names);
    let unclear = names.map(|(error, name, named)| {
        let (problem, ids) = match error {
            CampaignError::Ambiguous { ids, .. } => {
                ("ambiguous", ids.iter().map(String::as_str).collect())
            }
            CampaignError::NotAnInteger { id, .. } => ("not_an_integer", vec![id.as_str()]),
            CampaignError::Unknown { .. } => ("unknown", Vec::new()),
        };
        let first = named.first.iter().map(|(file, line)| PlaceJson {
            file: inputs.get(*file).copied().unwrap_or_default(),
            line: *line,
        });
        UnclearJson {
            name,
            problem,
            ids,
            rows: named.rows,
            first: first.collect(),
        }
    });
    Some(LookupJson {
        looked_up: reason.is_none(),
        reason,
        unclear: unclear.collect(),
    })
}
