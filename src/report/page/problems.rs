//! What is wrong, the most frequent first, and how to mend it.

use maud::{Markup, html};

use super::Page;
use super::examples::Example;
use super::mending::Mending;
use super::prose::marked;
use crate::lead::{ErrorCode, Status};
use crate::report::advice::Outlook;
use crate::report::check_text::MAX_PROBLEMS;
use crate::report::tally::Group;
use crate::text::counted;

/// Each problem with its examples.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let problems = page.ended.tally.problems();
    let others: u64 = problems
        .iter()
        .skip(MAX_PROBLEMS)
        .map(|(_, _, group)| group.rows)
        .sum();
    html! {
        section {
            h2 { "Problems and how to mend them" }
            @if problems.is_empty() {
                p { "None." }
            } @else {
                p.intro { "The most frequent first. The examples are as they stand in the list." }
            }
            @for (status, code, group) in problems.iter().take(MAX_PROBLEMS) {
                (problem(page, *status, *code, group))
            }
            @if others > 0 {
                p { "And " (counted(others, "row")) " with other problems: the results have each of them." }
            }
        }
    }
}

fn problem(page: &Page<'_>, status: Status, code: ErrorCode, group: &Group) -> Markup {
    let mending = Mending::of(status, code, Outlook::after(page.ended));
    html! {
        article.problem {
            h3 { (mending.title) }
            p.tags {
                strong { (counted(group.rows, "row")) }
                " " code { (status) } " " code { (code) }
            }
            p { (marked(mending.meaning)) }
            h4 { "How to mend it" }
            ul.steps {
                @if let (ErrorCode::PhoneMissing, Some(elsewhere)) = (code, &page.ended.list_notes.elsewhere) {
                    li { "In another column " (marked(elsewhere)) }
                }
                @for step in mending.steps { li { (marked(step)) } }
            }
            (examples(page, page.notes.examples.of(status, Some(code)), group.rows))
        }
    }
}

/// Rows, with the cell that the number was looked for in.
pub(super) fn examples(page: &Page<'_>, examples: &[Example], rows: u64) -> Markup {
    let has_files = page.ended.inputs.len() > 1;
    let has_errors = examples.iter().any(|example| example.error.is_some());
    let shown = examples.len() as u64;
    let caption = match shown == rows {
        true if rows == 1 => "The row".to_owned(),
        true if rows == 2 => "Both rows".to_owned(),
        true => format!("All {rows} rows"),
        false => format!("The first {shown} of {}", counted(rows, "row")),
    };
    html! {
        @if !examples.is_empty() {
            div.scroll {
                table.examples.stack {
                    caption { (caption) }
                    thead {
                        tr {
                            @if has_files { th scope="col" { "File" } }
                            th.number scope="col" { "Line" }
                            th scope="col" { "Phone cell" }
                            @if has_errors { th scope="col" { "What is said of it" } }
                        }
                    }
                    tbody {
                        @for example in examples {
                            tr {
                                @if has_files { td.wide { bdi { (page.input(example.file)) } } }
                                th.number scope="row" { (example.line) }
                                td.found { (cell(&example.cell)) }
                                @if has_errors { td.wide { bdi { (marked(example.error.as_deref().unwrap_or_default())) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell(text: &str) -> Markup {
    html! {
        @if text.is_empty() { em { "(empty)" } } @else { bdi.cell { (text) } }
    }
}
