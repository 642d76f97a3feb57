//! The summary for people, to be read in ten seconds.

use std::cmp::Reverse;
use std::fmt::Write;

use super::tally::{Ended, Problem};
use crate::lead::{ErrorCode, Status};
use crate::text::counted;

/// How many kinds of problems are spelled out.
const MOST_PROBLEMS: usize = 3;

/// The summary of a command that has ended.
pub fn text_summary(ended: &Ended<'_>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_summary(&mut text, ended);
    text
}

fn write_summary(text: &mut String, ended: &Ended<'_>) -> std::fmt::Result {
    let counts = &ended.tally.counts;
    let rows = counted(counts.total(), "row");
    let how = match (&ended.stop, ended.dry_run) {
        (Some(stop), _) => format!(
            "Stopped ({}) after {rows} in {}",
            stop.by,
            seconds(ended.elapsed_s)
        ),
        (None, true) => format!("{rows} checked, nothing was sent"),
        (None, false) => format!("{rows} in {}", seconds(ended.elapsed_s)),
    };
    writeln!(text, "{how}")?;
    for (status, rows) in counts.all().filter(|(_, rows)| *rows > 0) {
        writeln!(
            text,
            "  {:<17}{rows:>9}  {}",
            status.as_str(),
            meaning(status)
        )?;
    }
    write_problems(text, ended)?;
    if let Some(path) = &ended.written.results {
        writeln!(text, "\nResults: {}", path.display())?;
    }
    for path in &ended.written.rejects {
        writeln!(
            text,
            "Rejects: {} (mend these rows and import this file)",
            path.display()
        )?;
    }
    for path in &ended.written.kept {
        writeln!(text, "An older file is kept as {}", path.display())?;
    }
    if ended.sandbox && !ended.dry_run {
        writeln!(
            text,
            "\nThis was a trial on the sandbox: nothing left this computer."
        )?;
    }
    Ok(())
}

fn write_problems(text: &mut String, ended: &Ended<'_>) -> std::fmt::Result {
    let mut problems: Vec<_> = ended.tally.problems.iter().collect();
    if problems.is_empty() {
        return Ok(());
    }
    // The most frequent first, and as they stand in the input among equals.
    problems.sort_by_key(|(_, p)| (Reverse(p.rows), p.first_file, p.first_line));
    writeln!(text, "\nProblems:")?;
    for ((status, code), problem) in problems.iter().take(MOST_PROBLEMS) {
        writeln!(
            text,
            "  {code}: {}, the first in {}\n    {}",
            counted(problem.rows, "row"),
            place(problem, &ended.inputs),
            advice(*status, *code),
        )?;
    }
    if problems.len() > MOST_PROBLEMS {
        let others: u64 = problems[MOST_PROBLEMS..].iter().map(|(_, p)| p.rows).sum();
        writeln!(text, "  and {} with other problems", counted(others, "row"))?;
    }
    Ok(())
}

fn place(problem: &Problem, inputs: &[&str]) -> String {
    match inputs {
        [] | [_] => format!("line {}", problem.first_line),
        several => format!(
            "line {} of {}",
            problem.first_line,
            several.get(problem.first_file).copied().unwrap_or_default()
        ),
    }
}

/// What to do about it. What the service said stands in the results, since it may
/// name a person.
fn advice(status: Status, code: ErrorCode) -> &'static str {
    if status == Status::Uncertain {
        return "these may be leads already: look for them at the service before sending them again";
    }
    match code {
        ErrorCode::PhoneMissing => "fill in the phone number, or leave the row out",
        ErrorCode::PhoneNotE164 => {
            "write the number as + and country code, then digits only, such as +447911123456"
        }
        ErrorCode::FieldCount => "look for a missing or surplus comma or quote in the row",
        ErrorCode::CampaignInvalid => "fill in a campaign's id or name, or give --campaign",
        ErrorCode::Encoding => "save the file as \"CSV UTF-8\" in the program it comes from",
        ErrorCode::Timeout => "the service did not answer in time; import the rejects later",
        ErrorCode::Connection => {
            "the connection could not be made or broke; import the rejects later"
        }
        ErrorCode::UnreadableAnswer => "the answer could not be read; check the base URL",
        ErrorCode::AnswerLost | ErrorCode::Http(_) => {
            "what the service said stands in the results, in the column error"
        }
    }
}

fn meaning(status: Status) -> &'static str {
    match status {
        Status::Created => "the service made the lead",
        Status::Duplicate => "the campaign had the number already",
        Status::Repeated => "the same number stands earlier in the input; not sent",
        Status::AlreadyImported => "an earlier run settled it; not sent",
        Status::Suppressed => "on a do-not-call list; not sent",
        Status::Invalid => "cannot be sent as it stands; not sent",
        Status::Rejected => "the service refused the row",
        Status::Failed => "not delivered, and safe to send again",
        Status::Uncertain => "may or may not have been taken",
        Status::Ready => "would be sent",
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {} s", (s / 60.0) as u64, (s % 60.0) as u64),
        s => format!(
            "{} h {} min",
            (s / 3600.0) as u64,
            (s % 3600.0 / 60.0) as u64
        ),
    }
}
