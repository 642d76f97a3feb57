//! The summary for people, to be read in ten seconds.

use std::fmt::Write;
use std::path::Path;

use super::tally::{Ended, Group, Tally};
use crate::lead::{Counts, ErrorCode, Status};
use crate::phone::RoundNumbers;
use crate::text::{counted, printable};

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
    let took = seconds(ended.elapsed_s);
    match &ended.stop {
        Some(stop) => writeln!(text, "Stopped ({}) after {rows} in {took}", stop.by)?,
        None => writeln!(text, "{rows} in {took}")?,
    }
    write_counts(text, counts)?;
    if ended.tally.known_bad > 0 {
        writeln!(
            text,
            "\n{} ended so in an earlier run too and were left alone (--known-bad skip).",
            counted(ended.tally.known_bad, "row")
        )?;
    }
    write_problems(text, ended.tally, &ended.inputs, MOST_PROBLEMS)?;
    write_files(text, ended)?;
    if ended.sandbox {
        writeln!(
            text,
            "\nThis was a trial on the sandbox: nothing left this computer."
        )?;
    }
    write_how_to_go_on(text, ended)
}

/// What to do about a run that has ended early: last, where it is seen first.
fn write_how_to_go_on(text: &mut String, ended: &Ended<'_>) -> std::fmt::Result {
    let Some(command) = &ended.continue_with else {
        return Ok(());
    };
    match command.shown() {
        Some(line) => writeln!(
            text,
            "\nThe same command goes on where this stopped:\n  {line}"
        ),
        None => writeln!(text, "\nThe same command goes on where this stopped."),
    }
}

/// The rows by status, with what each status means.
pub(super) fn write_counts(text: &mut String, counts: &Counts) -> std::fmt::Result {
    for (status, rows) in counts.all().filter(|(_, rows)| *rows > 0) {
        writeln!(
            text,
            "  {:<17}{rows:>9}  {}",
            status.as_str(),
            meaning(status)
        )?;
    }
    Ok(())
}

/// The `most` frequent problems, each with what to do.
pub(super) fn write_problems(
    text: &mut String,
    tally: &Tally,
    inputs: &[&str],
    most: usize,
) -> std::fmt::Result {
    let problems = tally.problems();
    if !problems.is_empty() {
        writeln!(text, "\nProblems:")?;
    }
    for (status, code, group) in problems.iter().take(most) {
        writeln!(
            text,
            "  {code}: {}, {}\n    {}",
            counted(group.rows, "row"),
            places(group, inputs),
            advice(*status, *code, group),
        )?;
    }
    if problems.len() > most {
        let others: u64 = problems[most..].iter().map(|(_, _, g)| g.rows).sum();
        writeln!(text, "  and {} with other problems", counted(others, "row"))?;
    }
    if tally.round_numbers.are_suspicious() {
        writeln!(text, "\n{}", round_numbers(&tally.round_numbers))?;
    }
    Ok(())
}

/// What many zeros at the end of numbers mean.
fn round_numbers(found: &RoundNumbers) -> String {
    format!(
        "{} of {} phone numbers end in 00000: a spreadsheet may have lost their last digits.\nLook at them before they are called, and export the list again with the numbers as text.",
        found.round, found.numbers
    )
}

/// Where the files are.
pub(super) fn write_files(text: &mut String, ended: &Ended<'_>) -> std::fmt::Result {
    let written = &ended.written;
    if written.results.is_some() || !written.rejects.is_empty() || !written.kept.is_empty() {
        writeln!(text)?;
    }
    if let Some(path) = &written.results {
        writeln!(text, "Results: {}", shown(path))?;
    }
    for path in &written.rejects {
        writeln!(
            text,
            "Rejects: {} (mend these rows and import this file)",
            shown(path)
        )?;
    }
    for note in &written.notes {
        writeln!(text, "{note}")?;
    }
    for path in &written.kept {
        writeln!(text, "An older file is kept as {}", shown(path))?;
    }
    Ok(())
}

/// A path as a terminal may be shown it.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Where the rows stand that ended alike, or the first few of them: `in lines 3, 7`.
pub(super) fn places(group: &Group, inputs: &[&str]) -> String {
    let first = match group.first.len() as u64 == group.rows {
        true => "in",
        false => "the first in",
    };
    let several_files = inputs.len() > 1;
    let places: Vec<String> = group
        .first
        .iter()
        .map(|place| match several_files {
            true => {
                let file = inputs.get(place.file).copied().unwrap_or_default();
                format!("line {} of {}", place.line, printable(file))
            }
            false => place.line.to_string(),
        })
        .collect();
    let noun = match (several_files, places.len()) {
        (true, _) => "",
        (false, 1) => "line ",
        (false, _) => "lines ",
    };
    format!("{first} {noun}{}", places.join(", "))
}

/// What to do about it. What the service said stands in the results, since it may
/// name a person.
fn advice(status: Status, code: ErrorCode, group: &Group) -> &str {
    if status == Status::Uncertain {
        return "these may be leads already: look for them at the service before sending them again";
    }
    match code {
        ErrorCode::PhoneMissing => "fill in the phone number, or leave the row out",
        // The text of the first row says more.
        ErrorCode::PhoneNotE164
        | ErrorCode::PhoneImpossible
        | ErrorCode::PhoneInvalid
        | ErrorCode::PhoneAmbiguous
        | ErrorCode::PhoneDamaged
        | ErrorCode::CountryNotAllowed => group.example.as_deref().unwrap_or_default(),
        ErrorCode::FieldCount => "look for a missing or surplus comma or quote in the row",
        ErrorCode::RowTooLong => "look for what does not belong into a list of contacts",
        ErrorCode::UnclosedQuote => "close the quote in the row, or take it out",
        ErrorCode::CampaignInvalid => "fill in a campaign's id or name, or give --campaign",
        ErrorCode::Encoding => {
            "name the file's encoding with --encoding, or save it as \"CSV UTF-8\" where it comes from"
        }
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

/// A span of time as people say it.
pub(super) fn seconds(seconds: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use crate::exit::{ExitCode, Stop, StoppedBy};
    use crate::results::Written;

    /// A run that has ended early.
    fn stopped(by: StoppedBy, tally: &Tally, continue_with: Option<CommandLine>) -> Ended<'_> {
        Ended {
            run: None,
            tally,
            inputs: vec!["leads.csv"],
            stop: Some(Stop {
                by,
                text: String::new(),
            }),
            exit_code: by.exit_code(),
            requests: 0,
            elapsed_s: 1.5,
            written: Written::default(),
            sandbox: false,
            continue_with,
        }
    }

    /// The last lines about a run that somebody has stopped.
    fn end_of_summary(continue_with: Option<CommandLine>) -> String {
        let tally = Tally::default();
        let text = text_summary(&stopped(StoppedBy::Signal, &tally, continue_with));
        let end = text.strip_prefix("Stopped (signal) after 0 rows in 1.5 s\n");
        end.unwrap().to_owned()
    }

    #[test]
    fn whatever_stops_a_run_that_can_go_on_is_named_to_people_and_machines() {
        let tally = Tally::default();
        for (by, word, code) in [
            (StoppedBy::Outage, "outage", ExitCode::Service),
            (StoppedBy::Rejections, "rejections", ExitCode::Service),
            (
                StoppedBy::MaxDuration,
                "max_duration",
                ExitCode::Interrupted,
            ),
        ] {
            let line = CommandLine::of(&["leadload", "import"].map(Into::into));
            let ended = stopped(by, &tally, Some(line));
            assert_eq!(
                text_summary(&ended),
                format!(
                    "Stopped ({word}) after 0 rows in 1.5 s\n\nThe same command goes on where this stopped:\n  leadload import\n"
                )
            );
            let json: serde_json::Value =
                serde_json::from_str(&crate::report::json_summary(&ended)).unwrap();
            assert_eq!(json["stopped_by"], word);
            assert_eq!(json["exit_code"], code as u8);
        }
    }

    #[test]
    fn a_run_that_can_go_on_ends_with_the_command_that_does_it() {
        let command = ["leadload", "import", "my leads.csv"].map(Into::into);
        let line = CommandLine::of(&command);
        assert_eq!(
            end_of_summary(Some(line.clone())),
            format!(
                "\nThe same command goes on where this stopped:\n  {}\n",
                line.shown().unwrap()
            )
        );
    }

    #[test]
    fn a_command_that_cannot_be_shown_goes_on_all_the_same() {
        let line = CommandLine::of(&["leadload".into(), "import".into(), "a\u{1b}b".into()]);
        assert_eq!(
            end_of_summary(Some(line)),
            "\nThe same command goes on where this stopped.\n"
        );
    }

    #[test]
    fn nothing_is_said_of_a_run_that_cannot_go_on() {
        assert_eq!(end_of_summary(None), "");
    }
}
