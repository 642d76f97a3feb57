//! What the user should know about a list before it is sent, although it can be sent: what the
//! terminal says as warnings.

use maud::{Markup, html};

use super::checking::Checked;
use super::trouble::Trouble;
use crate::exit::StoppedBy;
use crate::message::{Text, Voice};
use crate::report::{Lookup, by_line};
use crate::source::FooterLine;
use crate::text::{counted, grouped, shortened};

/// How much is shown of a line below a list, and of how many lines.
const FOOTER: usize = 60;
const FOOTERS: usize = 5;

pub fn section(checked: &Checked) -> Markup {
    let notes = notes(checked);
    html! {
        @for note in &notes { p.note { (note) } }
    }
}

fn notes(checked: &Checked) -> Vec<String> {
    let warnings = checked.warnings.iter();
    let warnings = warnings.map(|warning| Trouble::of_message(StoppedBy::Usage, warning).text());
    let lookup = match &checked.lookup {
        Lookup::NotDone(why) => {
            let text = text!(
                "the names of the campaigns could not be looked up, so some rows may be refused when the list is sent: {why}",
                why = why.clone()
            );
            Some(text.words(Voice::Page))
        }
        Lookup::NotNeeded | Lookup::Done(_) => None,
    };
    warnings
        .chain(lookup)
        .chain(limit(checked))
        .chain(columns(checked))
        .chain(marks(checked))
        .chain(later_columns(checked))
        .chain(old_lists(checked))
        .chain(round_numbers(checked))
        .chain(blank_rows(checked))
        .chain(full_sheet(checked))
        .chain(footers(checked))
        .chain(network(checked))
        .collect()
}

/// Settings of leadload may say that only the first rows are sent.
fn limit(checked: &Checked) -> Option<String> {
    let rows = **checked.settings.given.reading.limit.as_ref()?;
    let first = counted(rows, "row");
    Some(format!(
        "leadload's settings on this computer say that only the first {first} of a list are sent."
    ))
}

/// What was noticed about columns.
fn columns(checked: &Checked) -> impl Iterator<Item = String> {
    let notes = checked
        .intake
        .inputs
        .iter()
        .flat_map(|list| &list.mapping.notes);
    notes.map(|note| note.text().words(Voice::Page))
}

/// Whom the list itself says must not be called, and about whom it says nothing.
fn marks(checked: &Checked) -> impl Iterator<Item = String> {
    let columns = checked.intake.marked.columns.iter();
    let columns = columns.filter(|column| column.rows + column.empty_consents() > 0);
    columns.map(|marked| {
        let (says, rows, empty) = (marked.column.says(), marked.rows, marked.empty_consents());
        let called = match empty {
            0 => Text::default(),
            _ => text!(
                "; {empty:row} {empty?has:have} nothing there: these people are called too",
                empty
            ),
        };
        text!("{says}: {rows:row} left out{called}", says, rows, called).words(Voice::Page)
    })
}

/// How many numbers are not from the first phone column.
fn later_columns(checked: &Checked) -> Option<String> {
    let evidence = checked.intake.inputs.first()?.evidence()?;
    by_line(&evidence.later_columns).map(|later| later.words(Voice::Page))
}

fn old_lists(checked: &Checked) -> impl Iterator<Item = String> {
    let lists = checked.intake.suppression.lists.iter();
    lists.filter_map(|list| Some(list.too_old()?.what.words(Voice::Page)))
}

fn round_numbers(checked: &Checked) -> Option<String> {
    let found = &checked.found.tally.round_numbers;
    found.are_suspicious().then(|| {
        format!(
            "{} of {} end in 00000. Excel may have lost their last digits. Look at them before you send. If they are wrong, export the list again and choose it here without opening it in Excel.",
            grouped(found.round),
            counted(found.numbers, "phone number")
        )
    })
}

fn blank_rows(checked: &Checked) -> Option<String> {
    let rows = checked.intake.inputs.first()?.blank_rows()?;
    let text = text!(
        "{rows:row} in the list {rows?is:are} blank, and not counted",
        rows
    );
    (rows > 0).then(|| text.words(Voice::Page))
}

fn full_sheet(checked: &Checked) -> Option<String> {
    let rows = checked.intake.inputs.first()?.rows_of_full_sheet()?;
    let rows = counted(rows, "row");
    Some(format!(
        "The list has exactly {rows}, as many as an Excel sheet holds. The rest may have been cut off: compare it with the program that it comes from."
    ))
}

/// Lines that a program has added below the list.
fn footers(checked: &Checked) -> Option<String> {
    let lines = checked.intake.inputs.first()?.footer();
    let shown = lines
        .iter()
        .take(FOOTERS)
        .map(|FooterLine { line, text }| format!("“{}” in line {line}", shortened(text, FOOTER)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    (!lines.is_empty()).then(|| format!("Below the list, and not taken for a contact: {shown}."))
}

fn network(checked: &Checked) -> Option<String> {
    checked.settings.ledger.as_ref()?.network_file_system()?;
    Some("leadload's record of what was sent is on a network drive, where two computers could send the same list at once. Ask the person who set up leadload to put it on this computer.".to_owned())
}
