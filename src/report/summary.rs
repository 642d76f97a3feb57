//! The summary for people, to be read in ten seconds.
//!
//! It shows what happened to the rows, what to do about the most frequent problems,
//! where the files are, and at the end, where it is noticed first, the command to
//! run next.

use super::block::Block;
use super::later_columns::by_row;
use super::list_facts::footer;
use super::next::{files, next};
use super::outcome::Outcome;
use super::problems::{FEW_PROBLEMS, problems};
use super::rows::rows;
use super::stop_text::stopped;
use crate::message::Text;
use crate::text::printable;

/// How a command with rows has ended.
pub fn summary(outcome: &Outcome<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Title(title(outcome))];
    let results = &outcome.written.results;
    let is_interrupted = outcome
        .stop
        .as_ref()
        .is_some_and(|stop| stop.is_interrupted());
    if is_interrupted && results.is_some() {
        let said = terminal_text!("Rows without a line in the results have not been sent.");
        blocks.push(Block::Title(said));
    }
    blocks.extend(rows(outcome.tally));
    blocks.extend(list_notes(outcome));
    blocks.extend(problems(outcome, FEW_PROBLEMS, None));
    blocks.extend(files(outcome));
    blocks.extend(next(outcome));
    blocks
}

fn title(outcome: &Outcome<'_>) -> Text {
    let (rows, took) = (outcome.rows_done(), seconds(outcome.elapsed_s));
    match &outcome.stop {
        Some(stop) => {
            let stopped = stopped(stop, &format!("after {rows} in {took}"));
            terminal_text!("Stopped {stopped}", stopped)
        }
        None => terminal_text!("{rows} in {took}", rows, took),
    }
}

/// What was noticed about the lists: blank rows, and in full what is below them, since a line there may
/// be a contact after all.
pub(super) fn list_notes(outcome: &Outcome<'_>) -> Vec<Block> {
    let notes = &outcome.list_notes;
    let mut blocks = Vec::new();
    if notes.blank_rows > 0 {
        let rows = notes.blank_rows;
        blocks.push(Block::Paragraph(text!(
            "Blank rows, not counted: {rows:}",
            rows
        )));
    }
    if !notes.footers.is_empty() {
        let lines = notes.footers.len();
        blocks.push(Block::Heading(text!(
            "{lines:line} below the list, not sent",
            lines
        )));
        let lines = notes
            .footers
            .iter()
            .map(|(file, line)| match outcome.inputs.len() {
                1 => footer(line),
                _ => footer(line).behind(printable(outcome.input(*file)) + ","),
            });
        blocks.push(Block::List(lines.collect()));
    }
    let later = by_row(&notes.later_columns);
    blocks.extend(later.map(Block::Paragraph));
    blocks
}

/// A time in words: `3.2 s`, `1 min 5 s`, `2 h 10 min`.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        // Times that would be rounded to 60.0 s are shown as a minute.
        s if s < 59.95 => format!("{s:.1} s"),
        s => match s.round() as u64 {
            s @ ..3600 => format!("{} min {} s", s / 60, s % 60),
            s => format!("{} h {} min", s / 3600, s % 3600 / 60),
        },
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
