//! What the user should know about a list before it is sent, although it can be sent: what the
//! terminal says as warnings.

use maud::{Markup, html};

use super::checking::Checked;
use super::trouble::Trouble;
use crate::exit::StoppedBy;
use crate::message::{Text, Voice};
use crate::report::{Lookup, list_notes, not_looked_up, round_numbers};

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
        Lookup::NotDone(why) => Some(not_looked_up(why)),
        Lookup::NotNeeded | Lookup::Done(_) => None,
    };
    let list = checked.intake.inputs.first();
    let list = list.map(|list| list_notes(&checked.intake, list));
    let list = list.into_iter().flatten().map(|note| note.value);
    let lists = checked.intake.suppression.lists.iter();
    let old_lists = lists.filter_map(|list| Some(list.too_old()?.what));
    let texts = lookup
        .into_iter()
        .chain(limit(checked))
        .chain(list.flatten())
        .chain(old_lists)
        .chain(round_numbers(&checked.found.tally.round_numbers))
        .chain(network(checked));
    let texts = texts.map(|text| text.words(Voice::Page));
    warnings
        .chain(texts.filter(|text| !text.is_empty()))
        .collect()
}

/// Settings of leadload may say that only the first rows are sent.
fn limit(checked: &Checked) -> Option<Text> {
    let rows = **checked.settings.given.reading.limit.as_ref()?;
    Some(text!(
        "leadload's settings on this computer say that only the first {rows:row} of a list are sent",
        rows
    ))
}

fn network(checked: &Checked) -> Option<Text> {
    checked.settings.ledger.as_ref()?.network_file_system()?;
    Some(text!(
        "leadload's record of what was sent is on a network drive, where two computers could send the same list at once; {ask_setup}, to have it put on this one"
    ))
}
