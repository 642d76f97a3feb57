//! The summary for people, to be read in ten seconds.
//!
//! It shows what happened to the rows, what to do about the most frequent problems,
//! where the files are, and at the end, where it is noticed first, the command to
//! run next. Only lines with a path or a command may be wider than 79 characters.

use std::fmt::{self, Write};
use std::path::Path;

use super::advice::{Outlook, TRIAL, meaning, short_advice};
use super::later_columns::by_row;
use super::outcome::Outcome;
use super::stop_text::stopped;
use super::tally::{OutcomeGroup, Tally};
use super::width::{Width, paragraph, written};
use crate::command_line::CommandLine;
use crate::lead::{Counts, ErrorCode, Status};
use crate::message::in_lines;
use crate::phone::RoundNumbers;
use crate::results::{Written, WrittenRejects};
use crate::text::{counted, grouped, printable, was};

pub(super) const MAX_PROBLEMS: usize = 3;

pub fn text_summary(outcome: &Outcome<'_>) -> String {
    written(|text| write_summary(text, outcome))
}

fn write_summary(text: &mut String, outcome: &Outcome<'_>) -> fmt::Result {
    let counts = &outcome.tally.counts;
    let rows = outcome.rows_done();
    let took = seconds(outcome.elapsed_s);
    match &outcome.stop {
        Some(stop) => {
            let said = stopped(stop, &format!("after {rows} in {took}"));
            let said = paragraph(&format!("Stopped {said}"), Width::default());
            writeln!(text, "{said}")?;
            if stop.is_interrupted() && outcome.written.results.is_some() {
                writeln!(
                    text,
                    "Rows without a line in the results have not been sent."
                )?;
            }
        }
        None => writeln!(text, "{rows} in {took}")?,
    }
    write_rows(text, outcome.tally)?;
    write_blank_rows(text, outcome)?;
    write_footers(text, outcome)?;
    if let Some(later) = by_row(&outcome.list_notes.later_columns) {
        write_paragraph(text, &later.to_string())?;
    }
    write_problems(text, outcome, MAX_PROBLEMS)?;
    write_written(text, outcome)?;
    if outcome.sandbox {
        write_paragraph(text, TRIAL)?;
    }
    if let Some(command) = &outcome.look_up_with {
        let what = match counts.of(Status::Uncertain) {
            1 => "To look the uncertain row up at the service",
            _ => "To look the uncertain rows up at the service",
        };
        write_command(text, what, command)?;
    }
    if let Some(said) = outcome.refused_rows() {
        write_paragraph(text, &said.to_string())?;
    }
    match (&outcome.continue_with, &outcome.send_rejects_with) {
        (Some(command), _) => {
            let made = counts.of(Status::Created) + counts.of(Status::Duplicate);
            // Without a ledger nothing is known about the leads of a trial afterwards.
            if made > 0 && (outcome.run.is_some() || !outcome.sandbox) {
                let (are, stay) = if made == 1 {
                    ("is", "stays")
                } else {
                    ("are", "stay")
                };
                let leads = counted(made, "lead");
                let said = format!("{leads} of this list {are} at the service and {stay} there.");
                write_paragraph(text, &said)?;
            }
            if let Some(said) = outcome.without_ledger() {
                write_paragraph(text, said)?;
            }
            write_command(text, outcome.same_command(), command)
        }
        (None, Some(command)) => {
            let what = if outcome.has_something_to_fix() {
                "When the rejects are fixed, send them"
            } else {
                "When the service is back, send the rejects"
            };
            write_command(text, what, command)
        }
        (None, None) => Ok(()),
    }
}

/// What became of all rows.
pub(super) fn write_rows(text: &mut String, tally: &Tally) -> fmt::Result {
    write_counts(text, &tally.counts)?;
    if tally.known_bad > 0 {
        let rows = counted(tally.known_bad, "row");
        let were = was(tally.known_bad);
        let said = format!(
            "Skipped (--known-bad skip): {rows} that {were} already bad in an earlier run."
        );
        write_paragraph(text, &said)?;
    }
    if let Some(said) = suppressed_leads(tally) {
        write_paragraph(text, &said)?;
    }
    Ok(())
}

/// Says how many people on a do-not-call list are leads already.
pub(super) fn suppressed_leads(tally: &Tally) -> Option<String> {
    let (people, leads) = match tally.suppressed_leads {
        0 => return None,
        1 => (
            "1 person on a do-not-call list is a lead".into(),
            "this lead",
        ),
        many => (
            format!("{} people on a do-not-call list are leads", grouped(many)),
            "these leads",
        ),
    };
    Some(format!(
        "{people} already, from an earlier run: delete {leads} at the service, or it may call them."
    ))
}

fn write_blank_rows(text: &mut String, outcome: &Outcome<'_>) -> fmt::Result {
    match outcome.list_notes.blank_rows {
        0 => Ok(()),
        rows => write_paragraph(text, &format!("Blank rows, not counted: {}", grouped(rows))),
    }
}

/// Lines below the lists, which were not sent, in full: one may be a contact after all.
fn write_footers(text: &mut String, outcome: &Outcome<'_>) -> fmt::Result {
    let footers = &outcome.list_notes.footers;
    if footers.is_empty() {
        return Ok(());
    }
    let lines = grouped(footers.len() as u64);
    write_paragraph(text, &format!("Lines below the list, not sent: {lines}"))?;
    for (file, line) in footers {
        let name = match outcome.inputs.len() {
            1 => String::new(),
            _ => format!("{} ", printable(outcome.inputs[*file])),
        };
        writeln!(
            text,
            "  {name}line {}: {}",
            line.line,
            printable(&line.text)
        )?;
    }
    Ok(())
}

pub(super) fn write_paragraph(text: &mut String, said: &str) -> fmt::Result {
    writeln!(text, "\n{}", paragraph(said, Width::default()))
}

fn write_command(text: &mut String, what: &str, command: &CommandLine) -> fmt::Result {
    match command.shown() {
        Some(line) => writeln!(text, "\n{what}:\n  {line}"),
        None => writeln!(text, "\n{what}."),
    }
}

pub(super) fn write_counts(text: &mut String, counts: &Counts) -> fmt::Result {
    for (status, rows) in counts.all().filter(|(_, rows)| *rows > 0) {
        writeln!(
            text,
            "  {:<17}{:>9}  {}",
            status.as_str(),
            grouped(rows),
            meaning(status)
        )?;
    }
    Ok(())
}

pub(super) fn write_problems(text: &mut String, outcome: &Outcome<'_>, most: usize) -> fmt::Result {
    let (tally, inputs) = (outcome.tally, &outcome.inputs);
    let problems = tally.problems();
    if !problems.is_empty() {
        writeln!(text, "\nProblems:")?;
    }
    for (status, code, group) in problems.iter().take(most) {
        writeln!(
            text,
            "  {code}: {}, {}",
            counted(group.rows, "row"),
            places(group, inputs),
        )?;
        let mut advice = short_advice(*status, *code, group, Outlook::after(outcome), inputs);
        if let (ErrorCode::PhoneMissing, Some(elsewhere)) = (code, &outcome.list_notes.elsewhere) {
            advice = format!("{advice}; {elsewhere}");
        }
        for line in paragraph(&advice, Width::default().less(4)).lines() {
            writeln!(text, "    {line}")?;
        }
    }
    if problems.len() > most {
        let others: u64 = problems[most..].iter().map(|(_, _, g)| g.rows).sum();
        writeln!(text, "  and {} with other problems", counted(others, "row"))?;
    }
    if tally.round_numbers.are_suspicious() {
        write_paragraph(text, &round_numbers(&tally.round_numbers))?;
    }
    Ok(())
}

pub(super) fn round_numbers(found: &RoundNumbers) -> String {
    format!(
        "{} of {} end in 00000: a spreadsheet may have lost their last digits. Check them before you send, and if they are wrong export the list again with the numbers as text.",
        grouped(found.round),
        counted(found.numbers, "phone number")
    )
}

pub(super) fn write_written(text: &mut String, outcome: &Outcome<'_>) -> fmt::Result {
    write_files(text, &outcome.written, |rejects| {
        match (&outcome.send_rejects_with, &outcome.stop) {
            // After a stop the exit code does not show whether there are rejects.
            (_, Some(_)) => format!(" ({})", counted(rejects.rows, "row")),
            // If no command can be shown, a few words replace it.
            (None, None) => " (fix these rows and import this file)".to_owned(),
            (Some(_), None) => String::new(),
        }
    })
}

/// Where the files are, with a remark about each rejects file.
pub(super) fn write_files(
    text: &mut String,
    written: &Written,
    remark: impl Fn(&WrittenRejects) -> String,
) -> fmt::Result {
    if *written != Written::default() {
        writeln!(text)?;
    }
    if let Some(path) = &written.results {
        writeln!(text, "Results: {}", shown(path))?;
    }
    for rejects in &written.rejects {
        writeln!(text, "Rejects: {}{}", shown(&rejects.path), remark(rejects))?;
    }
    for note in &written.notes {
        writeln!(text, "{note}")?;
    }
    if let Some(path) = &written.report {
        writeln!(text, "Report: {}", shown(path))?;
    }
    for path in &written.kept {
        writeln!(text, "An older file is kept as {}", shown(path))?;
    }
    Ok(())
}

pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Where the rows of a group are, or the first few of them: `in lines 3, 7`.
pub(super) fn places(group: &OutcomeGroup, inputs: &[&str]) -> String {
    let first = group.first.iter().map(|place| (place.file, place.line));
    in_lines(group.rows, &first.collect::<Vec<_>>(), inputs).to_string()
}

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
