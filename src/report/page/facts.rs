//! The facts about the command: when, what and where.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Page, RunMode};
use crate::campaign::CampaignChoice;
use crate::intake::PlannedInput;
use crate::message::Text;
use crate::report::block::{Block, Fact};
use crate::report::countries::{completed_with, country};
use crate::report::list_facts::{do_not_call_lists, footer};
use crate::report::summary::seconds;
use crate::text::counted;

pub(super) fn facts(page: &Page<'_>, now: Timestamp, zone: &TimeZone) -> Block {
    let outcome = page.outcome;
    let took = SignedDuration::try_from_secs_f64(outcome.elapsed_s).unwrap_or_default();
    let began = now.checked_sub(took).unwrap_or(now);
    let notes = &outcome.list_notes;
    let blank = (notes.blank_rows > 0).then(|| text!("{rows:}", rows = notes.blank_rows));
    let footers = notes
        .footers
        .iter()
        .map(|(file, line)| match outcome.inputs.len() {
            1 => footer(line),
            _ => footer(line).behind(format!("{},", outcome.input(*file))),
        });
    let mut facts = vec![
        Fact::new(text!("began"), moment(began, zone)),
        Fact::new(text!("ended"), moment(now, zone)),
        Fact::new(text!("took"), Text::said(seconds(outcome.elapsed_s))),
        Fact::of_lines(
            text!("file{number?:s}", number = outcome.inputs.len()),
            files(page),
        ),
        Fact::of_lines(text!("countries"), countries(page)),
        Fact::of_lines(
            text!("blank rows, not counted"),
            blank.into_iter().collect(),
        ),
        Fact::of_lines(text!("below the list"), footers.collect()),
        Fact::of_lines(text!("do not call"), do_not_call_lists(page.intake)),
        Fact::new(text!("campaign"), Text::said(campaign(page))),
    ];
    if let RunMode::Sent { service, goes_on } = &page.mode {
        facts.push(Fact::new(text!("service"), Text::said(host(service))));
        facts.extend(outcome.run.map(|run| {
            let goes_on = match goes_on {
                true => text!(", which continues what an earlier start has sent"),
                false => Text::default(),
            };
            Fact::new(
                text!("run"),
                text!("{run}{goes_on}", run = run.to_string(), goes_on),
            )
        }));
        let requests = outcome.requests;
        let requests = text!(
            "{requests:} in this start, repeated ones included",
            requests
        );
        facts.push(Fact::new(text!("requests"), requests));
    }
    Block::Facts(facts)
}

/// The service's address without the scheme, which only programs need.
fn host(service: &str) -> &str {
    service.split_once("://").map_or(service, |(_, host)| host)
}

fn moment(time: Timestamp, zone: &TimeZone) -> Text {
    let zoned = time.to_zoned(zone.clone());
    Text::said(zoned.strftime("%-d %B %Y, %H:%M:%S (UTC%:z)").to_string())
}

fn files(page: &Page<'_>) -> Vec<Text> {
    let inputs = &page.outcome.inputs;
    let finished = match page.outcome.stop {
        Some(_) => " finished",
        None => "",
    };
    let files = inputs.iter().zip(&page.outcome.tally.rows_by_file);
    let files = files.map(|(input, rows)| {
        // With several inputs, the number of rows in each is not known.
        let rows = match inputs.len() {
            1 => page.outcome.rows_done(),
            _ => counted(*rows, "row"),
        };
        text!("{input}, {rows}{finished}", input = *input, rows, finished)
    });
    files.collect()
}

/// Where the countries of numbers without a country code came from.
fn countries(page: &Page<'_>) -> Vec<Text> {
    let inputs = page.intake.inputs.iter();
    let found = inputs.flat_map(|planned| {
        let completed = planned.evidence();
        let completed = completed.and_then(|evidence| completed_with(page.intake, evidence));
        let found = [country(page.intake, planned), completed]
            .into_iter()
            .flatten();
        let is_one_of_several = page.intake.inputs.len() > 1;
        found.map(move |found| match is_one_of_several {
            true => found.behind(format!("{}:", planned.input.name())),
            false => found,
        })
    });
    found.collect()
}

/// The campaign as it was chosen, with its id if the rows have revealed it.
fn campaign(page: &Page<'_>) -> String {
    let has_column = |input: &PlannedInput| input.mapping.campaign_column.is_some();
    let by_row = page.intake.inputs.iter().any(has_column);
    let names = &page.outcome.campaign_names;
    let ids = &page.outcome.tally.by_campaign;
    let default = page.campaign.map(|campaign| match campaign {
        CampaignChoice::Id(id) => names.shown(*id),
        CampaignChoice::Name(_) if !by_row && ids.len() == 1 => {
            ids.keys().map(|id| names.shown(*id)).collect()
        }
        CampaignChoice::Name(name) => name.clone(),
    });
    match (default, by_row) {
        (Some(default), false) => default,
        (Some(default), true) => format!("as each row says, or else {default}"),
        (None, true) => "as each row says".to_owned(),
        (None, false) => "none chosen yet".to_owned(),
    }
}
