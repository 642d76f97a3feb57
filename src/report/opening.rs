//! What is printed before anything is read or sent: what was guessed of the inputs, each guess
//! with the flag that overrules it, and which run this is or what differs from it.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::countries::{completed_with, country};
use super::width::{Width, write_line};
use crate::intake::{Intake, PlannedInput};
use crate::lead::RunId;
use crate::ledger::{Begun, Unfinished};
use crate::mapping::Mapping;
use crate::source::{Certainty, Content, Form, TextForm};
use crate::text::{counted, listed, printable};

/// A legacy encoding that was guessed from fewer letters may well be another.
const FEW_LETTERS: u64 = 100;

const MAX_VARIABLES: usize = 40;

pub fn opening_lines(intake: &Intake, width: Width) -> String {
    let mut text = String::new();
    for planned in intake.inputs.iter() {
        // Writing to a string does not fail.
        let _ = write_input(&mut text, intake, planned, width);
    }
    for list in &intake.suppression.lists {
        let _ = writeln!(
            text,
            "{}: do-not-call list, {}{}",
            printable(list.input.name()),
            counted(list.numbers.len() as u64, "number"),
            completed_with(intake, &list.evidence)
                .map_or_else(String::new, |with| format!(": {with}"))
        );
    }
    text
}

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

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn run_line(begun: &Begun) -> String {
    if begun.continues {
        going_on_line(begun.run)
    } else {
        format!("run {}\n", begun.run)
    }
}

pub(super) fn going_on_line(run: RunId) -> String {
    format!("run {run} goes on: what it has sent is not sent again\n")
}

pub fn destination_lines(options: &Map<String, Value>, width: Width) -> String {
    let mut text = String::new();
    let service = plain(&options["service"]);
    // Writing to a string does not fail.
    let _ = write_line(&mut text, "campaign", &printable(&campaign(options)), width);
    let _ = write_line(&mut text, "service", &printable(&service), width);
    text
}

/// What a run has otherwise than one of the same inputs that was not finished: each option,
/// there and here.
pub fn difference_lines(
    other: &Unfinished,
    differences: &[(&str, &Value, &Value)],
    width: Width,
) -> String {
    let other = other.run;
    let because = if differences.is_empty() {
        // Its options were pruned, or a campaign's name means another one now.
        ", and this is another run."
    } else {
        ". This is another run, because:"
    };
    let mut text = format!("  run {other} of the same input was not finished{because}\n");
    for (name, there, here) in differences {
        let found = match *name {
            // All that is known of them is that they differ.
            "constants" => "the values of --set are others".to_owned(),
            _ => format!("{name} was {}, is {}", plain(there), plain(here)),
        };
        // Writing to a string does not fail.
        let _ = write_line(&mut text, "-", &printable(&found), width);
    }
    let _ = writeln!(
        text,
        "  Leads that run {other} has made are not changed (leadload runs show {other})."
    );
    text
}

fn write_input(
    text: &mut String,
    intake: &Intake,
    planned: &PlannedInput,
    width: Width,
) -> std::fmt::Result {
    writeln!(text, "{}", printable(planned.input.name()))?;
    for (what, found) in form(planned) {
        write_line(text, what, &found, width)?;
    }
    let names = &planned.header.names;
    let phone_columns = planned.mapping.phone_columns.iter();
    let phones: Vec<&String> = phone_columns.map(|column| &names[*column]).collect();
    write_line(
        text,
        "phone",
        &format!("{} (--phone-column)", listed(&phones)),
        width,
    )?;
    if let Some(country) = country(intake, planned) {
        write_line(text, "country", &printable(&country), width)?;
    }
    let completed = planned.evidence();
    if let Some(completed) = completed.and_then(|evidence| completed_with(intake, evidence)) {
        write_line(text, "completed", &printable(&completed), width)?;
    }
    if let Some(only) = only(planned) {
        write_line(text, "only", &printable(&only), width)?;
    }
    write_line(text, "variables", &variables(planned), width)?;
    for line in planned.footer() {
        let found = format!("line {}, no contact: {}", line.line, line.text);
        write_line(text, "footer", &printable(&found), width)?;
    }
    for note in &planned.mapping.notes {
        let found = format!("{} ({})", note.text, note.flag);
        write_line(text, "note", &found, width)?;
    }
    if let Some(new) = planned.new_columns_listed() {
        let found = format!(
            "not sent, since new since the mapping was kept: {new} (--var, --save-mapping)"
        );
        write_line(text, "note", &found, width)?;
    }
    // The next reader of the rows meets the same error and reports it.
    if let Ok((round, _)) = intake.sampled([planned])
        && round.are_suspicious()
    {
        let found = format!(
            "of the first {}, {} end in 00000: digits may be lost",
            counted(round.numbers, "number"),
            round.round
        );
        write_line(text, "note", &found, width)?;
    }
    Ok(())
}

fn only(planned: &PlannedInput) -> Option<String> {
    let rules = planned.mapping.only.iter().map(|rule| {
        let column = listed(&planned.header.names[rule.column..=rule.column]);
        format!("rows with {} in {column}", rule.values())
    });
    let rules: Vec<String> = rules.collect();
    (!rules.is_empty()).then(|| format!("{} (--only)", rules.join(", and ")))
}

fn form(planned: &PlannedInput) -> Vec<(&'static str, String)> {
    // The form of rejects is found out whatever the flags say.
    let is_rejects = planned.mapping.rejects_form.is_some();
    let flag = |flag: &str| {
        if is_rejects {
            String::new()
        } else {
            format!(" ({flag})")
        }
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
            let shown = printable(&sheet.name);
            let found = match sheet.names.len() {
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
            Some(line) if planned.form.above > 0 => {
                format!("line {line}; the lines above it are not part of the list (--no-header)")
            }
            Some(line) => format!("line {line} (--no-header)"),
            None => "none: columns are called 1, 2, and so on".to_owned(),
        },
    ));
    lines
}

fn encoding(form: &TextForm) -> String {
    let bom = if form.has_bom {
        " with byte order mark"
    } else {
        ""
    };
    let doubt = match form.certainty {
        Certainty::Certain => String::new(),
        Certainty::DamagedUtf8(bytes) => format!(", but for {}", counted(bytes, "byte")),
        Certainty::Guess(letters) if letters < FEW_LETTERS => {
            format!(
                ", guessed from {}: please check them",
                counted(letters, "letter")
            )
        }
        Certainty::Guess(_) => ", most likely".to_owned(),
    };
    format!("{}{bom}{doubt}", form.encoding)
}

fn delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => format!("`{}`", char::from(other)),
    }
}

/// What is sent, and from which column where the name does not show it.
fn variables(planned: &PlannedInput) -> String {
    let Mapping {
        variables,
        constants,
        ..
    } = &planned.mapping;
    let from_columns = variables.iter().map(|(name, column)| {
        let header = planned.header.names[*column].trim();
        if letters(header) == letters(name) || header.is_empty() {
            listed(&[name])
        } else {
            format!("{} from {}", listed(&[name]), listed(&[header]))
        }
    });
    let constants = constants.iter().map(|(name, _)| listed(&[name]));
    let mut named: Vec<String> = from_columns.chain(constants).collect();
    if named.is_empty() {
        return "none (--var)".to_owned();
    }
    let rest = if named.len() > MAX_VARIABLES {
        " and more"
    } else {
        ""
    };
    named.truncate(MAX_VARIABLES);
    format!("{}{rest} (--var, --skip-column)", named.join(", "))
}

/// What is the same in a header and in the name that is made of it.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
