//! What became of the rows: a bar, and a table with what each status means.

use maud::{Markup, html};

use super::Page;
use super::chart::{Part, stacked_bar, swatch};
use super::prose::{joined, share};
use crate::lead::{Counts, Status};
use crate::report::advice::meaning;
use crate::report::summary::round_numbers;
use crate::text::{counted, grouped};

/// How many campaigns are told apart.
const MAX_CAMPAIGNS: usize = 20;

/// Rows by status, and by campaign where there are several.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let tally = page.ended.tally;
    let counts = &tally.counts;
    html! {
        section {
            h2 { "What became of the rows" }
            @if counts.is_empty() {
                p { "There are no rows." }
            } @else {
                (by_status(counts))
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
    let present: Vec<(Status, u64)> = counts.all().filter(|(_, rows)| *rows > 0).collect();
    let parts: Vec<Part> = present
        .iter()
        .enumerate()
        .map(|(at, (status, rows))| Part {
            key: (at + 1).to_string(),
            class: status.as_str(),
            title: format!("{status}: {}", counted(*rows, "row")),
            value: *rows,
        })
        .collect();
    let words: Vec<String> = present
        .iter()
        .map(|(status, rows)| format!("{} {status}", grouped(*rows)))
        .collect();
    let text = format!("{}: {}", counted(total, "row"), joined(&words));
    html! {
        (stacked_bar(&parts, &text))
        div.scroll {
            table.status.stack {
                caption { "Rows by status" }
                thead {
                    tr {
                        th scope="col" { "Status" }
                        th.number scope="col" { "Rows" }
                        th.number scope="col" { "Share" }
                        th scope="col" { "What it means" }
                    }
                }
                tbody {
                    @for (part, (status, rows)) in parts.iter().zip(&present) {
                        tr {
                            th scope="row" { (swatch(part)) " " (status) }
                            td.number { (grouped(*rows)) }
                            td.number { (share(*rows, total)) }
                            td.wide { (meaning(*status)) }
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
            }
        }
    }
}

fn by_campaign(page: &Page<'_>) -> Markup {
    let campaigns = &page.ended.tally.by_campaign;
    let mut most: Vec<_> = campaigns.iter().collect();
    most.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.total()));
    let done = if page.is_check() {
        Status::Ready
    } else {
        Status::Created
    };
    html! {
        div.scroll {
            table {
                caption { "Rows by campaign" }
                thead {
                    tr {
                        th scope="col" { "Campaign" }
                        th.number scope="col" { "Rows" }
                        th.number scope="col" { (done) }
                        th.number scope="col" { "Need attention" }
                    }
                }
                tbody {
                    @for (campaign, counts) in most.iter().take(MAX_CAMPAIGNS) {
                        tr {
                            th scope="row" { bdi { (page.ended.campaign_names.shown(**campaign)) } }
                            td.number { (grouped(counts.total())) }
                            td.number { (grouped(counts.of(done))) }
                            td.number { (grouped(page.ended.tally.problems_of(**campaign))) }
                        }
                    }
                }
            }
        }
        @if most.len() > MAX_CAMPAIGNS {
            @let others = &most[MAX_CAMPAIGNS..];
            @let rows: u64 = others.iter().map(|(_, counts)| counts.total()).sum();
            p { "And " (counted(rows, "row")) " of " (counted(others.len() as u64, "more campaign")) "." }
        }
    }
}
