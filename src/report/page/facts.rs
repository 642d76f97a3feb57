//! The facts about the command: when, what and where.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use super::prose::marked;
use super::{Page, RunMode};
use crate::campaign::CampaignChoice;
use crate::intake::PlannedInput;
use crate::report::countries::{completed_with, country};
use crate::report::summary::seconds;
use crate::text::{counted, grouped};

pub(super) fn section(page: &Page<'_>, now: Timestamp, zone: &TimeZone) -> Markup {
    let took = SignedDuration::try_from_secs_f64(page.outcome.elapsed_s).unwrap_or_default();
    let began = now.checked_sub(took).unwrap_or(now);
    html! {
        section {
            h2 { "At a glance" }
            dl.facts {
                (moment("Began", began, zone))
                (moment("Outcome", now, zone))
                (fact("Took", html! { (seconds(page.outcome.elapsed_s)) }))
                (files(page))
                (countries(page))
                (blank_rows(page))
                (footers(page))
                (lists(page))
                (fact("Campaign", html! { bdi { (campaign(page)) } }))
                @if let RunMode::Sent { service, goes_on } = &page.mode {
                    (fact("Service", html! { bdi { (host(service)) } }))
                    @if let Some(run) = page.outcome.run {
                        (fact("Run", html! {
                            (run)
                            @if *goes_on { ", which continues what an earlier start has sent" }
                        }))
                    }
                    (fact("Requests", html! {
                        (grouped(page.outcome.requests)) " in this start, repeated ones included"
                    }))
                }
            }
        }
    }
}

fn fact(name: &str, value: Markup) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// The service's address without the scheme, which only programs need.
fn host(service: &str) -> &str {
    service.split_once("://").map_or(service, |(_, host)| host)
}

fn moment(name: &str, time: Timestamp, zone: &TimeZone) -> Markup {
    let machine = format!("{time:.0}");
    let zoned = time.to_zoned(zone.clone());
    let shown = zoned.strftime("%-d %B %Y, %H:%M:%S (UTC%:z)");
    fact(
        name,
        html! { time datetime=(machine) { (shown.to_string()) } },
    )
}

/// A fact that is a list; nothing where it is empty.
fn several(name: &str, items: &[Markup]) -> Markup {
    let list = html! { ul { @for item in items { li { (item) } } } };
    html! { @if !items.is_empty() { (fact(name, list)) } }
}

fn files(page: &Page<'_>) -> Markup {
    let inputs = &page.outcome.inputs;
    let name = if inputs.len() == 1 { "File" } else { "Files" };
    let finished = match page.outcome.stop {
        Some(_) => " finished",
        None => "",
    };
    let items = inputs.iter().zip(&page.outcome.tally.rows_by_file);
    let items = items.map(|(input, rows)| {
        // With several inputs, the number of rows in each is not known.
        let rows = match inputs.len() {
            1 => page.outcome.rows_done(),
            _ => counted(*rows, "row"),
        };
        html! { bdi { (input) } ", " (rows) (finished) }
    });
    several(name, &items.collect::<Vec<_>>())
}

/// Where the countries of numbers without a country code came from.
fn countries(page: &Page<'_>) -> Markup {
    let inputs = page.intake.inputs.iter();
    let found = inputs.flat_map(|planned| {
        let completed = planned.evidence();
        let completed = completed.and_then(|evidence| completed_with(page.intake, evidence));
        [country(page.intake, planned), completed]
    });
    let items = found
        .flatten()
        .map(|found| html! { bdi { (marked(&found)) } });
    several("Countries", &items.collect::<Vec<_>>())
}

fn blank_rows(page: &Page<'_>) -> Markup {
    match page.outcome.list_notes.blank_rows {
        0 => html! {},
        rows => fact("Blank rows, not counted", html! { (grouped(rows)) }),
    }
}

fn footers(page: &Page<'_>) -> Markup {
    let footers = page.outcome.list_notes.footers.iter();
    let items = footers.map(|(file, line)| {
        html! {
            @if page.outcome.inputs.len() > 1 { bdi { (page.input(*file)) } ", " }
            "line " (line.line) ", not a contact: " bdi { (line.text) }
        }
    });
    several("Below the list", &items.collect::<Vec<_>>())
}

fn lists(page: &Page<'_>) -> Markup {
    let lists = page.intake.suppression.lists.iter();
    let items = lists.map(|list| {
        html! { bdi { (list.input.name()) } ", " (counted(list.numbers.len() as u64, "number")) }
    });
    let kept = &page.intake.suppression.kept;
    let numbers = || counted(kept.len() as u64, "number");
    let kept = (!kept.is_empty()).then(|| html! { "the list that leadload keeps, " (numbers()) });
    several("Do not call", &items.chain(kept).collect::<Vec<_>>())
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
