//! What became of rows: how many there are of each status, campaign and country.

use std::cmp::Reverse;

use super::CampaignNames;
use super::advice::{meaning, status_name};
use super::block::{Block, Column, Count, Form, Table};
use super::kinds::Kinds;
use super::tally::Tally;
use crate::lead::{Counts, Status};
use crate::message::Text;
use crate::text::{grouped, shown_name};

/// How many campaigns and countries are listed.
const MAX_RANKED: usize = 15;

pub fn counts(counts: &Counts) -> Block {
    let counts = counts.all().filter(|(_, rows)| *rows > 0);
    let counts =
        counts.map(|(status, rows)| Count::new(status_name(status), rows, meaning(status)));
    Block::Counts(counts.collect())
}

/// What became of all rows.
pub(super) fn rows(tally: &Tally) -> Vec<Block> {
    let mut blocks = vec![counts(&tally.counts)];
    blocks.extend(earlier(tally));
    blocks
}

/// What earlier runs have to do with these rows.
pub(super) fn earlier(tally: &Tally) -> Vec<Block> {
    let (rows, people) = (tally.known_bad, tally.suppressed_leads);
    let known_bad = (rows > 0).then(|| text!(
        "{Skipped (--known-bad skip): |}{rows:row} {that |}{rows?was:were} already bad in an earlier {run.|list, and {rows?is:are} not sent}",
        rows
    ));
    let leads = (people > 0).then(|| text!(
        "{people:} {people?person:people} on a do-not-call list {people?is a lead:are leads} already, from an earlier {run|list}{: |; }delete {people?this lead:these leads} {at|in} {the_service}, or it may call them.",
        people
    ));
    let known_bad = known_bad.map(Block::Paragraph);
    known_bad
        .into_iter()
        .chain(leads.map(Block::Note))
        .collect()
}

/// The rows of each campaign, and how many of them have this status; those of campaigns too that are
/// known only by their names.
pub(super) fn by_campaign(tally: &Tally, names: &CampaignNames, status: Status) -> Block {
    let by_id = tally.by_campaign.iter();
    let by_id = by_id.map(|(id, counts)| (Text::said(names.shown(*id)), counts));
    let by_name = tally.by_campaign_name.iter();
    let by_name =
        by_name.map(|(name, counts)| (text!("`{name}`", name = shown_name(name)), counts));
    let mut campaigns: Vec<(Text, &Counts)> = by_id.chain(by_name).collect();
    campaigns.sort_by_key(|(_, counts)| Reverse(counts.total()));
    let rows = campaigns.into_iter().map(|(name, counts)| {
        let done = text!(
            "{rows:} {status}",
            rows = counts.of(status),
            status = status.as_str()
        );
        (name, counts.total(), done)
    });
    ranked(
        text!("Rows by campaign"),
        [text!("campaign"), text!("rows"), text!("of these")],
        rows.collect(),
    )
}

/// How many numbers are of each country, and of which type. No block if there are none.
pub(super) fn by_country(kinds: &Kinds) -> Option<Block> {
    let countries = kinds.countries();
    let rows = countries.iter().map(|country| {
        (
            Text::said(country.name()),
            country.numbers,
            Text::said(country.lines()),
        )
    });
    let numbers: u64 = countries.iter().map(|country| country.numbers).sum();
    (!countries.is_empty()).then(|| {
        ranked(
            text!("{numbers:number} by country and type", numbers),
            [text!("country"), text!("numbers"), text!("type")],
            rows.collect(),
        )
    })
}

/// Of rows after the first few only the sum is said.
fn ranked(title: Text, [name, number, rest]: [Text; 3], rows: Vec<(Text, u64, Text)>) -> Block {
    let others = match rows.get(MAX_RANKED..) {
        Some(others @ [_, _, ..]) => others,
        _ => &[],
    };
    let sum: u64 = others.iter().map(|(_, number, _)| number).sum();
    let shown = rows.iter().take(rows.len() - others.len());
    let shown = shown
        .map(|(name, number, rest)| vec![name.clone(), Text::said(grouped(*number)), rest.clone()]);
    Block::Table(Table {
        title,
        columns: vec![
            Column::new(name, Form::Words),
            Column::new(number, Form::Number),
            Column::new(rest, Form::Words),
        ],
        rows: shown.collect(),
        rest: match others.len() {
            0 => Text::default(),
            others => text!("and {sum:} in {others:other}", sum, others),
        },
    })
}
