//! The files that were written, and what to do next.

use std::path::Path;

use maud::{Markup, html};

use super::prose::marked;
use super::{Page, RunMode};
use crate::lead::Status;
use crate::report::summary::shown;

pub(super) fn section(page: &Page<'_>) -> Markup {
    html! {
        (files(page))
        section {
            h2 { "What comes next" }
            (steps(page))
        }
    }
}

fn files(page: &Page<'_>) -> Markup {
    let written = &page.outcome.written;
    let results = written
        .results
        .iter()
        .map(|path| (path.as_path(), "what became of each row"));
    let what = match page.outcome.stop {
        Some(_) => "the rows that ended badly so far",
        None if page.outcome.has_something_to_fix() => {
            "the rows to fix, ready to be imported again"
        }
        None => "the rows to send again",
    };
    let rejects = written.rejects_paths();
    let rejects = rejects.map(|path| (path, what));
    let kept = &written.kept;
    let kept = kept.iter().map(|path| {
        (
            path.as_path(),
            "an older file of the same name, kept under this one",
        )
    });
    let all: Vec<(&Path, &str)> = results.chain(rejects).chain(kept).collect();
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Files" }
                dl.files {
                    @for (path, what) in all {
                        div { dt { bdi { (shown(path)) } } dd { (what) } }
                    }
                }
                @for note in &written.notes { p { (note) } }
            }
        }
    }
}

fn steps(page: &Page<'_>) -> Markup {
    let outcome = page.outcome;
    let has_problems = outcome.tally.has_problems();
    let is_ready = outcome.tally.counts.of(Status::Ready) > 0;
    html! {
        @if let Some(command) = &outcome.continue_with {
            @if let Some(said) = outcome.without_ledger() { p { (said) } }
            p { (outcome.same_command()) @if command.shown().is_some() { ":" } @else { "." } }
            @if let Some(line) = command.shown() { pre { code { (line) } } }
        }
        ul.steps {
            @if let RunMode::Checked { estimate } = &page.mode {
                @if has_problems && is_ready {
                    li { "Fix the rows above in the list and check it again, or send what is ready and fix the rest afterwards: an import leaves a file of the rows to fix." }
                } @else if has_problems {
                    li { "Nothing is ready to be sent. Fix the rows above in the list and check it again." }
                } @else if !is_ready {
                    li { "Nothing in this list is left to send." }
                }
                @if is_ready { li { (marked("To send, run the same command with `import` instead of `check`.")) } }
                @if let Some(estimate) = estimate.filter(|_| is_ready) {
                    li { (estimate.text()) }
                }
            } @else {
                @if outcome.stop.is_none() && !has_problems { li { "Nothing is left to do for this list." } }
                @if has_problems && outcome.stop.is_none() { (fix(page)) }
                @if outcome.has_something_to_fix() && outcome.continue_with.is_some() {
                    li { "Rows to fix can wait until then: when the whole list was read, the rejects file has all of them." }
                }
                @if outcome.sandbox { li { (marked("When the trial looks right, run the same command without `--sandbox`.")) } }
            }
        }
    }
}

fn fix(page: &Page<'_>) -> Markup {
    let written = &page.outcome.written;
    html! {
        @if written.rejects.is_empty() {
            li {
                @if page.outcome.has_something_to_fix() { "Fix the rows above in the list and import it again" }
                @else { "Nothing to fix: import the list again as it is" }
                ": people who are leads by then are not sent twice."
            }
        } @else if !page.outcome.has_something_to_fix() {
            li { "Nothing to fix: send the file as it is when the service is back." (command(page)) }
        } @else {
            li {
                "Fix the rows in "
                @for (at, path) in written.rejects_paths().enumerate() {
                    @if at > 0 { ", " }
                    bdi { (shown(path)) }
                }
                ". It has the columns of the list, and behind them what is wrong with each row. Keep the "
                "name and the format when you save."
            }
            @if page.outcome.send_rejects_with.is_some() { li { "Then import it." (command(page)) } }
        }
    }
}

/// The command that imports the rejects.
fn command(page: &Page<'_>) -> Markup {
    html! {
        @if let Some(command) = &page.outcome.send_rejects_with {
            @if page.outcome.run.is_some() { " Columns, campaign and country are taken from this run:" }
            @if let Some(line) = command.shown() { pre { code { (line) } } }
        }
    }
}
