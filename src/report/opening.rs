//! What was guessed of the inputs, each guess with the flag that overrules it.

use std::fmt::Write;

use crate::intake::{Intake, PlannedInput};
use crate::mapping::Mapping;
use crate::source::{Basis, Content, Form, TextForm};
use crate::text::{counted, listed, printable};

/// A legacy encoding that was guessed from fewer letters may well be another.
const FEW_LETTERS: u64 = 100;

/// The lines that an import opens with.
pub fn opening_lines(intake: &Intake) -> String {
    let mut text = String::new();
    for planned in intake.inputs.iter() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}: {}", name(planned), form(planned));
        let _ = writeln!(text, "  {}", mapping(planned));
        if let Some(note) = &planned.mapping.note {
            let _ = writeln!(text, "  note: {note} (--phone-column)");
        }
        // Whoever reads the rows next meets the same error and says it.
        if let Ok(round) = intake.sampled_numbers(planned)
            && round.are_suspicious()
        {
            let _ = writeln!(
                text,
                "  note: of the first {}, {} end in 00000: digits may be lost",
                counted(round.numbers, "number"),
                round.round
            );
        }
    }
    for (list, numbers) in intake.suppression.sizes() {
        let _ = writeln!(
            text,
            "{}: do-not-call list, {}",
            printable(list),
            counted(numbers as u64, "number")
        );
    }
    text
}

fn name(planned: &PlannedInput) -> String {
    printable(planned.input.name()).into_owned()
}

/// In what form the input was read.
fn form(planned: &PlannedInput) -> String {
    let mut parts = Vec::new();
    let Form {
        compression,
        content,
        ..
    } = &planned.form;
    if let Some(compression) = compression {
        parts.push(format!("packed by {compression}"));
    }
    // The form of rejects is found out whatever the flags say.
    let is_rejects = planned.mapping.rejects_form.is_some();
    let flag = |flag: &str| match is_rejects {
        true => String::new(),
        false => format!(" ({flag})"),
    };
    match content {
        Content::Text(form) => {
            parts.push(format!("{}{}", encoding(form), flag("--encoding")));
            parts.push(format!(
                "{} between cells{}",
                delimiter(form.delimiter),
                flag("--delimiter")
            ));
        }
        Content::Sheet(sheet) => {
            let shown = printable(sheet.name());
            parts.push(match sheet.names().len() {
                0 | 1 => format!("sheet `{shown}`"),
                count => format!("sheet `{shown}`, one of {count}{}", flag("--sheet")),
            });
        }
    }
    parts.push(match planned.header.line {
        Some(line) if is_rejects => {
            format!("rejects of an earlier run, header in line {line}")
        }
        Some(line) => format!("header in line {line} (--no-header)"),
        None => "no header".to_owned(),
    });
    parts.join(", ")
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

/// Which columns the number and the variables come from.
fn mapping(planned: &PlannedInput) -> String {
    let names = &planned.header.names;
    let Mapping {
        phone_columns,
        variables,
        constants,
        ..
    } = &planned.mapping;
    let phones: Vec<&String> = phone_columns.iter().map(|column| &names[*column]).collect();
    let from_columns = variables.iter().map(|(name, _)| name);
    let sent: Vec<&String> = from_columns
        .chain(constants.iter().map(|(name, _)| name))
        .collect();
    let variables = match sent.is_empty() {
        true => "no variables".to_owned(),
        false => format!("variables {}", listed(&sent)),
    };
    format!(
        "phone numbers from {} (--phone-column), {variables} (--var, --skip-column)",
        listed(&phones)
    )
}
