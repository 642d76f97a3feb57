//! What is wrong, the most frequent problem first, and how to fix it;
//! and rows that were left out although nothing is wrong with them.

use maud::{Markup, html};

use super::Page;
use super::notes::Example;
use super::prose::{marked, table};
use crate::lead::{ErrorCode, Status};
use crate::message::{Text, Voice};
use crate::report::advice::{Advice, Outlook, left_out as reason, meaning};
use crate::report::check_text::MAX_PROBLEMS;
use crate::report::summary::suppressed_leads;
use crate::report::tally::OutcomeGroup;
use crate::text::counted;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let problems = page.outcome.tally.problems();
    let others = problems.iter().skip(MAX_PROBLEMS);
    let others: u64 = others.map(|(_, _, group)| group.rows).sum();
    html! {
        section {
            h2 { "Problems and how to fix them" }
            @if problems.is_empty() {
                p { "None." }
            } @else {
                p.intro { "The most frequent first. The examples are as they are in the list." }
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

fn problem(page: &Page<'_>, status: Status, code: ErrorCode, group: &OutcomeGroup) -> Markup {
    let advice = Advice::of(status, code, group, Outlook::after(page.outcome));
    html! {
        article.problem {
            h3 { (advice.title) }
            p.tags {
                strong { (counted(group.rows, "row")) }
                " " code { (status) } " " code { (code) }
            }
            p { (marked(&Text::from(advice.meaning).to_string())) }
            h4 { "How to fix it" }
            ul.steps {
                @if let (ErrorCode::PhoneMissing, Some(elsewhere)) = (code, &page.outcome.list_notes.elsewhere) {
                    li { "In another column " (marked(elsewhere)) }
                }
                @for step in advice.steps(Voice::Terminal) { li { (marked(&step)) } }
            }
            (examples(page, page.notes.examples(status, Some(code)), group.rows))
        }
    }
}

/// Rows that made no lead although nothing is wrong with them. Empty if there are none.
pub(super) fn left_out(page: &Page<'_>) -> Markup {
    let tally = page.outcome.tally;
    let groups: Vec<_> = tally.left_out().collect();
    html! {
        @if !groups.is_empty() || tally.known_bad > 0 {
            section {
                h2 { "Left out, with nothing to fix" }
                @for (status, code, group) in groups {
                    @let (title, why) = reason(status, code == Some(ErrorCode::AnswerLost));
                    article.problem {
                        h3 { (title) }
                        p.tags { strong { (counted(group.rows, "row")) } " " code { (status) } " " (meaning(status)) }
                        p { (marked(why)) }
                        @if let (Status::Suppressed, Some(said)) = (status, suppressed_leads(tally)) { p { (said) } }
                        (examples(page, page.notes.examples(status, code), group.rows))
                    }
                }
                @if tally.known_bad > 0 {
                    article.problem {
                        h3 { "Known to be bad" }
                        p.tags { strong { (counted(tally.known_bad, "row")) } }
                        p {
                            "These rows were invalid or refused in an earlier run, and their cells have not "
                            "changed since. " (marked("`--known-bad skip` does not send them."))
                        }
                    }
                }
            }
        }
    }
}

fn examples(page: &Page<'_>, examples: &[Example], rows: u64) -> Markup {
    let has_files = page.outcome.inputs.len() > 1;
    let has_errors = examples.iter().any(|example| example.error.is_some());
    let shown = examples.len() as u64;
    let caption = match rows {
        1 => "The row".to_owned(),
        2 if shown == 2 => "Both rows".to_owned(),
        _ if shown == rows => format!("All {rows} rows"),
        _ => format!("The first {shown} of {}", counted(rows, "row")),
    };
    let columns = [
        has_files.then_some(("File", false)),
        Some(("Line", true)),
        Some(("Phone cell", false)),
        has_errors.then_some(("What is wrong", false)),
    ];
    let columns: Vec<_> = columns.into_iter().flatten().collect();
    let rows = html! {
        tbody {
            @for example in examples {
                tr {
                    @if has_files { td.wide { bdi { (page.input(example.file)) } } }
                    th.number scope="row" { (example.line) }
                    td.found {
                        @if example.cell.is_empty() { em { "(empty)" } } @else { bdi.cell { (example.cell) } }
                    }
                    @if has_errors { td.wide { bdi { (marked(example.error.as_deref().unwrap_or_default())) } } }
                }
            }
        }
    };
    html! {
        @if !examples.is_empty() { (table("examples stack", &caption, &columns, &rows)) }
    }
}
