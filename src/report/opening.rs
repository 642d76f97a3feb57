//! What was guessed of the inputs, each guess with the flag that overrules it.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::intake::{Intake, PlannedInput};
use crate::ledger::Begun;
use crate::mapping::Mapping;
use crate::source::{Basis, Content, Form, TextForm};
use crate::text::{counted, listed, printable};

/// A legacy encoding that was guessed from fewer letters may well be another.
const FEW_LETTERS: u64 = 100;

/// How long a line gets, in characters: half of an old screen stays readable.
const WIDTH: usize = 78;

/// How far the text of a line is indented.
const INDENT: usize = 13;

/// The lines that an import opens with.
pub fn opening_lines(intake: &Intake) -> String {
    let mut text = String::new();
    for planned in intake.inputs.iter() {
        // Writing to a string does not fail.
        let _ = write_input(&mut text, intake, planned);
    }
    for list in intake.suppression.records() {
        let _ = writeln!(
            text,
            "{}: do-not-call list, {}",
            printable(list.name),
            counted(list.numbers as u64, "number")
        );
    }
    text
}

/// Where the leads go.
fn campaign(options: &Map<String, Value>) -> String {
    let default = &options["campaign"];
    match &options["campaign_column"] {
        Value::Null => plain(default),
        column if default.is_null() => format!("by the column {}", plain(column)),
        column => format!(
            "by the column {}, or else {}",
            plain(column),
            plain(default)
        ),
    }
}

/// A value as people write it.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Which run it is, and what it has otherwise than one of the same inputs that was not
/// finished: each option, there and here.
pub fn run_lines(
    begun: &Begun,
    options: &Map<String, Value>,
    differences: &[(&str, &Value, &Value)],
) -> String {
    let run = begun.run;
    let goes_on = match begun.continues {
        true => " goes on: what it has sent is not sent again",
        false => "",
    };
    let mut text = format!("run {run}{goes_on}\n");
    // Writing to a string does not fail.
    let _ = write_line(&mut text, "campaign", &printable(&campaign(options)));
    let _ = write_line(
        &mut text,
        "service",
        &printable(&plain(&options["service"])),
    );
    if begun.continues {
        return text;
    }
    let Some(other) = &begun.other else {
        return text;
    };
    let other = other.run;
    if differences.is_empty() {
        // Its options were pruned, or a campaign's name means another one now.
        let _ = writeln!(
            text,
            "  run {other} of the same input was not finished, and this is another run."
        );
    } else {
        let _ = writeln!(
            text,
            "  run {other} of the same input was not finished. This is another run, because:"
        );
    }
    for (name, there, here) in differences {
        let found = match *name {
            // All that is known of them is that they differ.
            "constants" => "the values of --set are others".to_owned(),
            _ => format!("{name} was {}, is {}", plain(there), plain(here)),
        };
        let _ = write_line(&mut text, "-", &printable(&found));
    }
    let _ = writeln!(
        text,
        "  Leads that run {other} has made stay as they are (leadload runs show {other})."
    );
    text
}

fn write_input(text: &mut String, intake: &Intake, planned: &PlannedInput) -> std::fmt::Result {
    writeln!(text, "{}", printable(planned.input.name()))?;
    for (what, found) in form(planned) {
        write_line(text, what, &found)?;
    }
    let names = &planned.header.names;
    let phone_columns = planned.mapping.phone_columns.iter();
    let phones: Vec<&String> = phone_columns.map(|column| &names[*column]).collect();
    write_line(
        text,
        "phone",
        &format!("{} (--phone-column)", listed(&phones)),
    )?;
    write_line(text, "variables", &variables(planned))?;
    if let Some(note) = &planned.mapping.note {
        write_line(text, "note", &format!("{note} (--phone-column)"))?;
    }
    // Whoever reads the rows next meets the same error and says it.
    if let Ok(round) = intake.sampled_numbers(planned)
        && round.are_suspicious()
    {
        let found = format!(
            "of the first {}, {} end in 00000: digits may be lost",
            counted(round.numbers, "number"),
            round.round
        );
        write_line(text, "note", &found)?;
    }
    Ok(())
}

/// What it is and what was found, broken between words.
fn write_line(text: &mut String, what: &str, found: &str) -> std::fmt::Result {
    let mut line = format!("  {what:<width$}", width = INDENT - 2);
    for word in found.split(' ') {
        let is_full = line.chars().count() + word.chars().count() > WIDTH;
        if is_full && line.len() > INDENT {
            writeln!(text, "{}", line.trim_end())?;
            line = " ".repeat(INDENT);
        }
        line.push_str(word);
        line.push(' ');
    }
    writeln!(text, "{}", line.trim_end())
}

/// In what form the input was read.
fn form(planned: &PlannedInput) -> Vec<(&'static str, String)> {
    // The form of rejects is found out whatever the flags say.
    let is_rejects = planned.mapping.rejects_form.is_some();
    let flag = |flag: &str| match is_rejects {
        true => String::new(),
        false => format!(" ({flag})"),
    };
    let Form {
        compression,
        content,
        ..
    } = &planned.form;
    let mut lines = Vec::new();
    if let Some(compression) = compression {
        lines.push(("packed by", compression.to_string()));
    }
    match content {
        Content::Text(form) => {
            lines.push(("encoding", encoding(form) + &flag("--encoding")));
            let delimiter = delimiter(form.delimiter);
            lines.push(("delimiter", delimiter + &flag("--delimiter")));
        }
        Content::Sheet(sheet) => {
            let shown = printable(sheet.name());
            let found = match sheet.names().len() {
                0 | 1 => format!("`{shown}`"),
                count => format!("`{shown}`, one of {count}{}", flag("--sheet")),
            };
            lines.push(("sheet", found));
        }
    }
    lines.push((
        "header",
        match planned.header.line {
            Some(line) if is_rejects => format!("line {line}, rejects of an earlier run"),
            Some(line) => format!("line {line} (--no-header)"),
            None => "none: columns are called 1, 2, and so on".to_owned(),
        },
    ));
    lines
}

fn encoding(form: &TextForm) -> String {
    let bom = match form.bom {
        Some(_) => " with byte order mark",
        None => "",
    };
    let doubt = match form.basis {
        Some(Basis::DamagedUtf8(bytes)) => {
            format!(", but for {}", counted(bytes, "byte"))
        }
        Some(Basis::Guess(letters)) if letters < FEW_LETTERS => {
            format!(
                ", guessed from {}: look at them",
                counted(letters, "letter")
            )
        }
        Some(Basis::Guess(_)) => ", most likely".to_owned(),
        _ => String::new(),
    };
    format!("{}{bom}{doubt}", form.encoding)
}

fn delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => format!("`{}`", char::from(other)),
    }
}

/// Under which names columns are sent.
fn variables(planned: &PlannedInput) -> String {
    let Mapping {
        variables,
        constants,
        ..
    } = &planned.mapping;
    let from_columns = variables.iter().map(|(name, _)| name);
    let names: Vec<&String> = from_columns
        .chain(constants.iter().map(|(name, _)| name))
        .collect();
    match names.is_empty() {
        true => "none (--var)".to_owned(),
        false => format!("{} (--var, --skip-column)", listed(&names)),
    }
}
