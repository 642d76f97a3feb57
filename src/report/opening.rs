//! What is printed before anything is read or sent: what was detected about the inputs, each
//! with the flag that overrides it, and which run this is or how it differs from another.

use serde_json::Value;

use super::countries::{completed_with, country};
use super::later_columns::by_line;
use super::width::{Width, labelled};
use crate::intake::{Intake, PlannedInput};
use crate::lead::RunId;
use crate::ledger::{Begun, Unfinished};
use crate::mapping::{Mapping, MarkKind, NamedMark};
use crate::source::{Certainty, Content, FooterLine, TextForm};
use crate::text::{counted, listed, printable};

/// A legacy encoding that was guessed from fewer letters may be wrong.
const FEW_LETTERS: u64 = 100;

const MAX_VARIABLES: usize = 40;

pub fn opening_lines(intake: &Intake, width: Width, has_examples: bool) -> String {
    let mut text = String::new();
    for planned in intake.inputs.iter() {
        text += &format!("{}\n", printable(planned.input.name()));
        text += &labelled(&input(intake, planned, has_examples), width);
    }
    for list in &intake.suppression.lists {
        let completed = completed_with(intake, &list.evidence);
        let completed = completed.map(|completed| format!(": {completed}"));
        let found = match list.is_american_registry {
            true => " in the form of the American registry".to_owned(),
            false if list.columns.is_empty() => completed.unwrap_or_default(),
            false => format!(
                " in {}{}",
                listed(&list.columns),
                completed.unwrap_or_default()
            ),
        };
        text += &format!(
            "{}: do-not-call list, {}{found}\n",
            printable(list.input.name()),
            counted(list.numbers.len() as u64, "number"),
        );
    }
    let kept = &intake.suppression.kept;
    if !kept.is_empty() {
        let numbers = counted(kept.len() as u64, "number");
        text += &format!("do-not-call list that leadload keeps: {numbers}\n");
    }
    text
}

fn campaign(options: &Value) -> String {
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

pub(super) fn plain(value: &Value) -> String {
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
    format!("run {run} continues: leads that it has sent are not sent again\n")
}

pub fn destination_lines(options: &Value, width: Width) -> String {
    let service = plain(&options["service"]);
    labelled(
        &[("campaign", campaign(options)), ("service", service)],
        width,
    )
}

/// How this run differs from an unfinished run of the same inputs: each option, there and here.
pub fn difference_lines(
    other: &Unfinished,
    differences: &[(&str, &Value, &Value)],
    width: Width,
) -> String {
    let other = other.run;
    let because = if differences.is_empty() {
        // The other run's options were pruned, or a campaign's name means another campaign now.
        "."
    } else {
        ", because:"
    };
    let differences = differences.iter().map(|(name, there, here)| {
        let found = match *name {
            // Only their digests are stored, so no values can be shown.
            "constants" => "the values of --set are others".to_owned(),
            _ => format!("{name} was {}, is {}", plain(there), plain(here)),
        };
        ("-", found)
    });
    format!(
        "  An earlier import of this list, run {other}, was not finished.\n  This is a new run{because}\n{}  Leads that run {other} created stay as they are (leadload runs show {other}).\n",
        labelled(&differences.collect::<Vec<_>>(), width)
    )
}

fn input(
    intake: &Intake,
    planned: &PlannedInput,
    has_examples: bool,
) -> Vec<(&'static str, String)> {
    let names = &planned.header.names;
    let phones = planned.mapping.phone_columns.iter();
    let phones = phones.map(|phone| {
        let columns: Vec<String> = phone.columns().map(|at| listed(&names[at..=at])).collect();
        columns.join(" + ")
    });
    let phones: Vec<String> = phones.collect();
    let extensions = planned.mapping.phone_columns.iter();
    let extensions: Vec<&String> = extensions
        .filter_map(|phone| Some(&names[phone.extension?]))
        .collect();
    let completed = planned.evidence();
    let completed = completed.and_then(|evidence| completed_with(intake, evidence));
    let mut lines = form(planned, has_examples);
    lines.push(("phone", format!("{} (--phone-column)", phones.join(", "))));
    if !extensions.is_empty() {
        let found = format!(
            "{}: a number with an extension is not called",
            listed(&extensions)
        );
        lines.push(("extension", found));
    }
    lines.extend(country(intake, planned).map(|country| ("country", country)));
    lines.extend(completed.map(|completed| ("no +code", completed)));
    let later = planned.evidence();
    let later = later.and_then(|evidence| by_line(&evidence.later_columns));
    lines.extend(later.map(|later| ("note", later.to_string())));
    lines.extend(only(planned).map(|only| ("only", only)));
    lines.extend(marks(intake, planned));
    lines.push(("variables", variables(planned)));
    if let Some(rows @ 1..) = planned.blank_rows() {
        lines.push(("blank", format!("{}, not counted", counted(rows, "row"))));
    }
    lines.extend(planned.footer().iter().map(footer));
    if let Some(rows) = planned.rows_of_full_sheet() {
        let found = format!(
            "exactly {}, as many as an Excel sheet holds: the rest may have been cut off",
            counted(rows, "line")
        );
        lines.push(("note", found));
    }
    for note in &planned.mapping.notes {
        lines.push(("note", format!("{} ({})", note.text(), note.flag)));
    }
    if let Some(new) = planned.new_columns_listed() {
        let found = format!("new columns, not sent: {new} (--var, --save-mapping)");
        lines.push(("note", found));
    }
    // The next reader of the rows gets the same error and reports it.
    if let Ok((round, _)) = intake.sampled([planned])
        && round.are_suspicious()
    {
        let found = format!(
            "of the first {}, {} end in 00000: digits may be lost",
            counted(round.numbers, "number"),
            round.round
        );
        lines.push(("note", found));
    }
    lines
}

/// A line below a list, which is not sent.
pub(super) fn footer(line: &FooterLine) -> (&'static str, String) {
    let found = format!("line {}, not a contact: {}", line.line, line.text);
    ("footer", found)
}

fn only(planned: &PlannedInput) -> Option<String> {
    let rules = planned.mapping.only.iter().map(|rule| {
        let column = listed(&planned.header.names[rule.column..=rule.column]);
        format!("rows with {} in {column}", rule.values())
    });
    let rules: Vec<String> = rules.collect();
    (!rules.is_empty()).then(|| format!("{} (--only)", rules.join(", and ")))
}

/// What the list itself says about calling.
fn marks(intake: &Intake, planned: &PlannedInput) -> Vec<(&'static str, String)> {
    let columns = intake.marked.columns.iter();
    let here = columns.filter(|marked| marked.column.input == planned.input.name());
    let lines = here.map(|marked| {
        let NamedMark { kind, header, .. } = &marked.column;
        let (header, rows) = (listed(&[header]), marked.rows);
        let (label, rows) = match kind {
            MarkKind::DoNotCall => ("no calls", marked_rows(rows, "says so", "say so")),
            MarkKind::Consent => ("consent", marked_rows(rows, "says no", "say no")),
        };
        let empty = match marked.empty_consents() {
            0 => String::new(),
            empty => format!(", {} nothing", marked_rows(empty, "says", "say")),
        };
        let unread = marked.unread.map_or_else(String::new, |(rows, line)| {
            let rows = counted(rows, "row");
            format!("; {rows} without a number that can be read (the first in line {line})")
        });
        let flag = kind.flag();
        (label, format!("{header}: {rows}{empty}{unread} ({flag})"))
    });
    lines.collect()
}

fn marked_rows(rows: u64, one: &str, several: &str) -> String {
    let does = if rows == 1 { one } else { several };
    format!("{} {does}", counted(rows, "row"))
}

fn form(planned: &PlannedInput, has_examples: bool) -> Vec<(&'static str, String)> {
    // The form of rejects is detected whatever the flags say.
    let is_rejects = planned.mapping.rejects_form.is_some();
    let flag = |flag: &str| {
        if is_rejects {
            String::new()
        } else {
            format!(" ({flag})")
        }
    };
    let compression = planned.form.compression.iter();
    let mut lines: Vec<_> = compression
        .map(|compression| ("packed by", compression.name().to_owned()))
        .collect();
    match &planned.form.content {
        Content::Text(form) => {
            lines.push((
                "encoding",
                encoding(form, has_examples) + &flag("--encoding"),
            ));
            let delimiter = delimiter(form.delimiter);
            lines.push(("delimiter", delimiter + &flag("--delimiter")));
        }
        Content::Sheet(sheet) => {
            let mut others = sheet.names.clone();
            others.retain(|name| *name != sheet.name);
            let mut found = listed(&[&sheet.name]);
            if planned.has_only_phones {
                found += ", the only visible one with phone numbers";
            }
            if !others.is_empty() {
                found += &format!("; not read: {}{}", listed(&others), flag("--sheet"));
            }
            lines.push(("sheet", found));
            let hidden = counted(planned.counts.hidden, "row");
            match (planned.counts.hidden, planned.mapping.skips_hidden) {
                (0, _) => {}
                (_, true) => lines.push(("hidden", format!("{hidden}, left out (--hidden-rows)"))),
                (_, false) => lines.push(("hidden", format!("{hidden}, sent too (--hidden-rows)"))),
            }
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

fn encoding(form: &TextForm, has_examples: bool) -> String {
    let bom = if form.has_bom {
        " with byte order mark"
    } else {
        ""
    };
    let doubt = match form.certainty {
        Certainty::Certain => String::new(),
        Certainty::DamagedUtf8(bytes) => format!(", with {}", counted(bytes, "invalid byte")),
        Certainty::Guess(letters) if letters < FEW_LETTERS => {
            let place = if has_examples {
                "below"
            } else {
                "with `leadload check`"
            };
            format!(
                ", guessed from {}: please check that letters such as ä and é look right {place}",
                counted(letters, "letter")
            )
        }
        Certainty::Guess(_) => ", most likely".to_owned(),
        Certainty::LikeDos => ", guessed, but the letters look like those of DOS: if they are wrong, try `--encoding cp850` (or `cp437`)".to_owned(),
    };
    format!("{}{bom}{doubt}", form.encoding.name())
}

fn delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tab".to_owned(),
        other => format!("`{}`", char::from(other)),
    }
}

/// What is sent, and from which column if the name does not show it.
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

/// The part that a header and the name made from it have in common.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
