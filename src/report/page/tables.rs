//! Tables: rows by status and campaign, numbers by country, and the columns sent.

use std::cmp::Reverse;

use maud::{Markup, html};

use super::Page;
use super::prose::{share, table};
use crate::intake::PlannedInput;
use crate::lead::{Counts, Status};
use crate::report::advice::meaning;
use crate::report::check_text::{self, MAX_RANKED};
use crate::report::summary::round_numbers;
use crate::text::{counted, grouped};

pub(super) fn rows(page: &Page<'_>) -> Markup {
    let tally = page.outcome.tally;
    html! {
        section {
            h2 { "What became of the rows" }
            @if tally.counts.is_empty() {
                p { "There are no rows." }
            } @else {
                (by_status(&tally.counts))
                @if tally.by_campaign.len() > 1 { (by_campaign(page)) }
                @if tally.round_numbers.are_suspicious() {
                    p.note { strong { "Look at the numbers. " } (round_numbers(&tally.round_numbers)) }
                }
            }
        }
    }
}

fn by_status(counts: &Counts) -> Markup {
    let total = counts.total();
    let columns = [
        ("Status", false),
        ("Rows", true),
        ("Share", true),
        ("What it means", false),
    ];
    let rows = html! {
        tbody {
            @for (status, rows) in counts.all().filter(|(_, rows)| *rows > 0) {
                tr {
                    th scope="row" { (status) }
                    td.number { (grouped(rows)) }
                    td.number { (share(rows, total)) }
                    td.wide { (meaning(status)) }
                }
            }
        }
        tfoot {
            tr {
                th scope="row" { "all" }
                td.number { (grouped(total)) }
                td.number { (share(total, total)) }
                td {}
            }
        }
    };
    table("status stack", "Rows by status", &columns, &rows)
}

fn by_campaign(page: &Page<'_>) -> Markup {
    let mut campaigns: Vec<_> = page.outcome.tally.by_campaign.iter().collect();
    campaigns.sort_by_key(|(_, counts)| Reverse(counts.total()));
    let done = if page.is_check() {
        Status::Ready
    } else {
        Status::Created
    };
    let columns = [("Campaign", false), ("Rows", true), (done.as_str(), true)];
    let rows = html! {
        tbody {
            @for (campaign, counts) in campaigns.iter().take(MAX_RANKED) {
                tr {
                    th scope="row" { bdi { (page.outcome.campaign_names.shown(**campaign)) } }
                    td.number { (grouped(counts.total())) }
                    td.number { (grouped(counts.of(done))) }
                }
            }
        }
    };
    html! {
        (table("campaigns", "Rows by campaign", &columns, &rows))
        (and_more(campaigns.len(), "campaigns"))
    }
}

pub(super) fn countries(page: &Page<'_>) -> Markup {
    let countries = page.notes.kinds.countries();
    let total: u64 = countries.iter().map(|country| country.numbers).sum();
    let which = if page.is_check() {
        "that would be sent"
    } else {
        "that were sent"
    };
    let columns = [
        ("Country", false),
        ("Numbers", true),
        ("Share", true),
        ("Type", false),
    ];
    let caption = format!("{} {which}, by country and type", counted(total, "number"));
    let rows = html! {
        tbody {
            @for country in countries.iter().take(MAX_RANKED) {
                tr {
                    th scope="row" { (country.name()) }
                    td.number { (grouped(country.numbers)) }
                    td.number { (share(country.numbers, total)) }
                    td.wide { (country.lines()) }
                }
            }
        }
    };
    html! {
        @if total > 0 {
            section {
                h2 { "Numbers by country" }
                (table("countries stack", &caption, &columns, &rows))
                (and_more(countries.len(), "countries"))
            }
        }
    }
}

/// Which columns of each file go to the service, and under which names.
pub(super) fn columns(page: &Page<'_>) -> Markup {
    let inputs = &page.intake.inputs;
    html! {
        section {
            h2 { "Columns" }
            p.intro { "What the service learns about each person, and what stays here." }
            @for input in inputs.iter() {
                (columns_of(input, page.is_check()))
            }
        }
    }
}

fn columns_of(input: &PlannedInput, has_samples: bool) -> Markup {
    let all = check_text::columns(input);
    let headings = [
        ("Column", false),
        ("Sent as", false),
        ("For example", false),
    ];
    let headings = if has_samples {
        &headings
    } else {
        &headings[..2]
    };
    let rows = html! {
        tbody {
            @for [title, sent_as, samples] in all {
                tr {
                    th scope="row" { bdi { (title) } }
                    td { bdi { (sent_as) } }
                    @if has_samples { td { bdi { (samples) } } }
                }
            }
        }
    };
    table("columns", input.input.name(), headings, &rows)
}

/// How many there are beyond those that are shown; nothing where that is all.
fn and_more(all: usize, what: &str) -> Markup {
    let left = all.saturating_sub(MAX_RANKED);
    html! { @if left > 0 { p { "And " (left) " more " (what) "." } } }
}
