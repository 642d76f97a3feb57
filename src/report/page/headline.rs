//! What happened, in a sentence.

use maud::{Markup, html};

use super::Page;
use super::prose::{joined, message};
use crate::exit::StoppedBy;
use crate::lead::Status;
use crate::report::Ended;
use crate::report::advice::TRIAL;
use crate::report::stop_text;
use crate::report::summary::rows_done;
use crate::text::{counted, grouped};

/// What the page is called in a tab and in a list of files.
pub(super) fn title(page: &Page<'_>) -> String {
    let files = match &page.ended.inputs[..] {
        [one] => (*one).to_owned(),
        [one, others @ ..] => format!("{one} and {}", counted(others.len() as u64, "more file")),
        [] => String::new(),
    };
    match (page.is_check(), page.ended.sandbox) {
        (true, _) => format!("Check of {files}"),
        (false, true) => format!("Trial import of {files}"),
        (false, false) => format!("Import of {files}"),
    }
}

/// The top of the page.
pub(super) fn header(page: &Page<'_>) -> Markup {
    let (badge, class) = badge(page);
    html! {
        header {
            p.kicker { "leadload report" }
            h1 { bdi { (title(page)) } }
            div class={ "verdict " (class) } {
                p.badge { (badge) }
                p.sentence { (sentence(page)) }
                @if page.ended.sandbox && !page.is_check() { p { (TRIAL) } }
                @if let Some(stop) = &page.ended.stop {
                    div.words { (message(&stop_text(stop))) }
                }
            }
        }
    }
}

/// The outcome in a word or two, and the class that colours it.
fn badge(page: &Page<'_>) -> (&'static str, &'static str) {
    let has_problems = page.ended.tally.has_problems();
    match (&page.ended.stop, page.is_check(), has_problems) {
        (Some(_), _, _) => ("Stopped before the end", "stopped"),
        (None, true, false) if page.ended.tally.counts.of(Status::Ready) == 0 => {
            ("Checked: nothing to send", "mixed")
        }
        (None, true, false) => ("Checked: ready", "good"),
        (None, true, true) => ("Checked: some rows need mending", "mixed"),
        (None, false, false) => ("Complete", "good"),
        (None, false, true) => ("Complete, but some rows need attention", "mixed"),
    }
}

/// One or two sentences.
fn sentence(page: &Page<'_>) -> String {
    let counts = &page.ended.tally.counts;
    let rows = rows(page.ended);
    match &page.ended.stop {
        Some(stop) => {
            let why = because(stop.by());
            let next = match (&page.ended.continue_with, page.ended.run) {
                // What is to be done first stands below.
                (Some(_), Some(_)) if stop.by() == StoppedBy::Ledger => "",
                (Some(_), Some(_)) => " Nothing is lost: the same command goes on from there.",
                (Some(_), None) => {
                    " The rest of the list was not sent: the same command sends all of it again."
                }
                (None, _) => "",
            };
            format!("The import stopped before its end, because {why}. Until then: {rows}.{next}")
        }
        None if counts.is_empty() => {
            "There are no rows in the list, so there was nothing to do.".to_owned()
        }
        None if page.is_check() => {
            format!("This was a check: nothing was sent. The result: {rows}.")
        }
        None => format!("The import has gone through the whole list: {rows}."),
    }
}

/// All rows by what they mean to whoever ordered the import.
fn rows(ended: &Ended<'_>) -> String {
    let counts = &ended.tally.counts;
    let problems = counts.problems().saturating_sub(ended.tally.known_bad);
    let (created, ready) = (counts.of(Status::Created), counts.of(Status::Ready));
    let left_out = counts.total() - problems - created - ready;
    let parts = [
        (created, "became a lead", "became leads"),
        (ready, "is ready to be sent", "are ready to be sent"),
        (left_out, "was left out", "were left out"),
        (problems, "needs attention", "need attention"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(rows, _, _)| *rows > 0)
        .map(|(rows, one, several)| {
            let verb = if rows == 1 { one } else { several };
            format!("{} {verb}", grouped(rows))
        })
        .collect();
    let total = ended.rows_total.unwrap_or(counts.total());
    let of_total = counted(total, "row");
    let parts = joined(&parts);
    match counts.total() {
        0 => format!("of {of_total} none was finished"),
        done if done == total => format!("of {of_total}, {parts}"),
        _ => format!("{} were finished; {parts}", rows_done(ended)),
    }
}

/// Why a run stopped, for people who know neither tokens nor status codes.
fn because(by: StoppedBy) -> &'static str {
    match by {
        StoppedBy::Token => "the service did not accept the access token",
        StoppedBy::Campaign => "the campaign does not exist or takes no leads",
        StoppedBy::Balance => "the account at the service has no balance left for more leads",
        StoppedBy::Redirect => "the service sends callers to another address",
        StoppedBy::Outage => "the service did not answer any more",
        StoppedBy::Unreadable => "what answered does not seem to be the service",
        StoppedBy::Rejections => "the service refused one row after the other for the same reason",
        StoppedBy::Signal => "it was told to stop on this computer",
        StoppedBy::MaxDuration => "the time that it was given was up",
        StoppedBy::Disk => "this computer could not write a file",
        StoppedBy::Ledger => "this computer could not keep its record of what was sent",
        StoppedBy::Input => "the list was changed or became unreadable meanwhile",
        StoppedBy::Busy => "another import is at work",
        StoppedBy::Usage => "it could not begin",
    }
}
