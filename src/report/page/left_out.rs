//! Rows that made no lead although nothing is wrong with them.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::Page;
use super::examples::Example;
use super::problems::examples;
use super::prose::marked;
use crate::lead::{ErrorCode, Status};
use crate::report::advice::meaning;
use crate::text::counted;

/// Rows that are told of together: whether the answer to an earlier attempt was lost makes
/// a duplicate another thing.
type Kind = (Status, bool);

/// Each kind with its examples; none where there are no such rows.
pub(super) fn section(page: &Page<'_>) -> Markup {
    let tally = page.ended.tally;
    let mut groups: BTreeMap<Kind, (u64, &[Example])> = BTreeMap::new();
    let left_out = tally
        .groups
        .iter()
        .filter(|((status, _), _)| !status.is_problem());
    for ((status, code), group) in left_out {
        let kind = (*status, *code == Some(ErrorCode::AnswerLost));
        let (rows, found) = groups.entry(kind).or_default();
        *rows += group.rows;
        if found.is_empty() {
            *found = page.notes.examples.of(*status, *code);
        }
    }
    let known_bad = tally.known_bad;
    html! {
        @if !groups.is_empty() || known_bad > 0 {
            section {
                h2 { "Left out, with nothing to mend" }
                @for (kind @ (status, _), (rows, found)) in &groups {
                    article.problem {
                        h3 { (name(*kind)) }
                        p.tags { strong { (counted(*rows, "row")) } " " code { (status) } " " (meaning(*status)) }
                        p { (why(*kind)) }
                        (examples(page, found, *rows))
                    }
                }
                @if known_bad > 0 {
                    article.problem {
                        h3 { "Known to be bad" }
                        p.tags { strong { (counted(known_bad, "row")) } }
                        p {
                            "These rows were invalid or refused in an earlier run, and their cells have not "
                            "changed since. " (marked("`--known-bad skip` leaves them alone."))
                        }
                    }
                }
            }
        }
    }
}

fn name((status, is_after_lost): Kind) -> &'static str {
    match status {
        Status::Duplicate if is_after_lost => "In the campaign, most likely by this import",
        Status::Duplicate => "In the campaign already",
        Status::Repeated => "More than once in the list",
        Status::AlreadyImported => "Imported before",
        Status::Excluded => "Not among the rows to send",
        Status::Suppressed => "On a do-not-call list",
        _ => status.as_str(),
    }
}

/// Why such a row makes no lead.
fn why((status, is_after_lost): Kind) -> &'static str {
    match status {
        Status::Duplicate if is_after_lost => {
            "The answer to the first attempt was lost on the way. The second was told that the \
             campaign has the number, so the first has most likely made the lead."
        }
        Status::Duplicate => {
            "Somebody has brought these people to the campaign before, perhaps by another way than \
             leadload. The service refuses a second lead, so nobody is called twice."
        }
        Status::Repeated => {
            "Each number is sent once to a campaign. The first row that has it counts, and its \
             other rows are not sent. Rows are counted from 1, without the header."
        }
        Status::AlreadyImported => {
            "An earlier run has brought these people to the campaign, so they are not sent again."
        }
        Status::Excluded => {
            "Whoever started the import has said which rows are wanted (--only), and these are not."
        }
        Status::Suppressed => {
            "These people are not to be called. Somebody who is on the list by mistake has to be \
             taken off it before the next import."
        }
        _ => "",
    }
}
