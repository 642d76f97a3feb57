//! Numbers by country and type.

use maud::{Markup, html};

use super::Page;
use super::chart::bar;
use super::prose::share;
use crate::report::check_text::MAX_COUNTRIES;
use crate::text::{counted, grouped};

/// A table; none where there are no numbers.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let countries = page.notes.kinds.countries();
    let total: u64 = countries.iter().map(|country| country.numbers).sum();
    let most = countries.first().map_or(0, |country| country.numbers);
    let others = countries.get(MAX_COUNTRIES..).unwrap_or_default();
    let which = if page.is_check() {
        "that would be sent"
    } else {
        "that were sent"
    };
    html! {
        @if total > 0 {
            section {
                h2 { "Numbers by country" }
                div.scroll {
                    table.countries.stack {
                        caption { (counted(total, "number")) " " (which) ", by country and type" }
                        thead {
                            tr {
                                th scope="col" { "Country" }
                                th.number scope="col" { "Numbers" }
                                th.number scope="col" { "Share" }
                                td.room {}
                                th scope="col" { "Type" }
                            }
                        }
                        tbody {
                            @for country in countries.iter().take(MAX_COUNTRIES) {
                                tr {
                                    th scope="row" { (country.name()) }
                                    td.number { (grouped(country.numbers)) }
                                    td.number { (share(country.numbers, total)) }
                                    td.room { (bar(country.numbers, most)) }
                                    td.wide { (country.lines()) }
                                }
                            }
                        }
                    }
                }
                @if !others.is_empty() {
                    @let numbers: u64 = others.iter().map(|country| country.numbers).sum();
                    p { "And " (counted(numbers, "number")) " of " (others.len()) " more countries." }
                }
            }
        }
    }
}
