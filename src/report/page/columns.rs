//! Which columns go to the service, and under which names.

use maud::{Markup, html};

use super::Page;
use crate::intake::PlannedInput;
use crate::report::check_text::{samples, sent_as, title};
use crate::text::{counted, one_line, shortened};

/// How many files are told apart, and how many columns of each.
const MAX_FILES: usize = 10;
const MAX_COLUMNS: usize = 100;

/// How much is shown of a value that is the same for every row, in characters.
const LONGEST_VALUE: usize = 60;

/// A table of columns for each file.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let inputs = &page.intake.inputs;
    let has_samples = page.is_check();
    html! {
        section {
            h2 { "Columns" }
            p.intro { "What the service is told of each person, and what stays here." }
            @for input in inputs.iter().take(MAX_FILES) {
                (columns(input, has_samples))
            }
            @if inputs.len() > MAX_FILES {
                p { "And " (counted((inputs.len() - MAX_FILES) as u64, "more file")) "." }
            }
        }
    }
}

fn columns(input: &PlannedInput, has_samples: bool) -> Markup {
    let headers = &input.header.names;
    let mapping = &input.mapping;
    html! {
        div.scroll {
            table.columns {
                caption { bdi { (input.input.name()) } }
                thead {
                    tr {
                        th scope="col" { "Column" }
                        th scope="col" { "Sent as" }
                        @if has_samples { th scope="col" { "For example" } }
                    }
                }
                tbody {
                    @for (column, header) in headers.iter().enumerate().take(MAX_COLUMNS) {
                        tr {
                            th scope="row" { bdi { (title(column, header)) } }
                            td { bdi { (sent_as(mapping, column)) } }
                            @if has_samples {
                                td {
                                    @for (at, sample) in samples(input, column).iter().enumerate() {
                                        @if at > 0 { " · " }
                                        bdi { (sample) }
                                    }
                                }
                            }
                        }
                    }
                    @for (name, value) in &mapping.constants {
                        tr {
                            th scope="row" { em { "the same for every row" } }
                            td { bdi { (name) } }
                            @if has_samples { td { bdi { (shortened(&one_line(value), LONGEST_VALUE)) } } }
                        }
                    }
                }
            }
        }
        @if headers.len() > MAX_COLUMNS {
            p { "And " (counted((headers.len() - MAX_COLUMNS) as u64, "more column")) "." }
        }
    }
}
