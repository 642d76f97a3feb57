//! The error that numbers may belong to another country than the region that completes them.

use thiserror::Error;

use super::countries::Countries;
use crate::exit::{Failure, StoppedBy};
use crate::intake::Intake;
use crate::message::{Message, Template, Text};
use crate::screen::{Against, Doubt, ListDoubt};
use crate::text::{counted, grouped, lines, printable};

/// Too many numbers may belong to another country, so nothing
/// is sent. The text has line numbers but no phone numbers.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct DoubtError {
    /// How many numbers of which lists, and what speaks against their country.
    pub message: Message,
    pub(super) countries: Countries,
}

impl DoubtError {
    /// `None` if there is no doubt that keeps the lists from being sent.
    pub fn of(intake: &Intake) -> Option<DoubtError> {
        let doubt = intake.doubt.as_ref().filter(|doubt| doubt.refuses)?;
        Some(DoubtError {
            message: Message::new(
                text!(
                    "{{at_terminal}|{on_page}}",
                    at_terminal = at_terminal(intake, doubt),
                    on_page = on_page(doubt)
                ),
                text!(
                    "{{at_terminal}|{on_page}}",
                    at_terminal = cure(doubt),
                    on_page = CURE
                ),
            ),
            countries: Countries::of(intake),
        })
    }
}

impl From<DoubtError> for Failure {
    fn from(error: DoubtError) -> Failure {
        let message = error.message.clone();
        Failure::new(StoppedBy::Usage, anyhow::Error::new(error).context(message))
    }
}

/// How many numbers of which lists, and what speaks against their country. It has the numbers of lines,
/// but no phone numbers.
fn at_terminal(intake: &Intake, doubt: &Doubt) -> Text {
    let completed: u64 = doubt.lists.iter().map(|list| list.by_region.numbers).sum();
    let names = intake.names();
    let lists = doubt.lists.iter().zip(&names);
    let lists = lists.filter(|(list, _)| list.doubtful > 0);
    let lists: Vec<String> = lists
        .map(|(list, name)| format!("in `{}` {}", printable(name), reasons(doubt, list)))
        .collect();
    terminal_text!(
        "{doubtful:} of {completed:number} without a country code do not look like numbers of {country} ({given}): {lists}",
        doubtful = doubt.doubtful(),
        completed,
        country = doubt.region.in_sentence(),
        given = given(intake),
        lists = lists.join("; ")
    )
}

fn cure(doubt: &Doubt) -> Text {
    let fitting = match (fitting(doubt), doubt.likely()) {
        (None, _) => String::new(),
        (Some(fitting), Some(country)) => {
            format!("{fitting} If they are from there, use `--region {country}`. ")
        }
        (Some(fitting), None) => format!("{fitting} Name their country with `--region`. "),
    };
    terminal_text!(
        "nothing is sent until you decide. {fitting}If a column names the country, name that column with `--region-column`. If the numbers are right, add `--phone-rule possible`",
        fitting
    )
}

/// The page shows one of the numbers.
fn on_page(doubt: &Doubt) -> Text {
    let country = doubt.region.in_sentence();
    let like = match doubt.likely() {
        Some(likely) => text!(
            "looks like a number of {likely}",
            likely = likely.in_sentence()
        ),
        None => text!("does not look like one of its numbers"),
    };
    let first = doubt.lists.iter().map(|list| &list.first);
    let mut first = first.flat_map(|first| first.cells.iter().zip(&first.lines));
    let example = match first.next() {
        Some((cell, line)) => text!(
            ". {cell} in line {line} {like} but would be dialled as a number of {country}",
            cell,
            line = *line,
            like,
            country
        ),
        None => Text::default(),
    };
    let fits = match doubt.likely() {
        Some(likely) => text!("; most of them fit {likely}", likely = likely.in_sentence()),
        None => Text::default(),
    };
    text!(
        "{doubtful:number} may be in the wrong country{example}{fits}",
        doubtful = doubt.doubtful(),
        example,
        fits
    )
}

const CURE: Template = template!(
    "choose the country, or the column that names it; if the numbers are right as they are, tick that below {--region}"
);

fn given(intake: &Intake) -> String {
    match &intake.region {
        Some(given) if given.is_typed() => format!("`{} {}`", given.from, given.region),
        Some(given) => format!("set by {}", given.from),
        None => "no region".to_owned(),
    }
}

fn reasons(doubt: &Doubt, list: &ListDoubt) -> String {
    let country = doubt.region.in_sentence();
    let against = list.against.map(|against| match against {
        Against::Country(other) => format!(
            "the rows that name a country name {}, and these name none",
            other.in_sentence()
        ),
        Against::International(count) => format!(
            "there are {} with a country code, and none of them is of {country}",
            counted(count, "number")
        ),
        Against::Impossible(count) => format!(
            "{} are too long or too short for {country}",
            counted(count, "other number")
        ),
    });
    let kinds = [
        (list.by_region.foreign, "not written as there"),
        (list.contradicted, "in rows that name another country"),
        (list.by_region.not_in_use, "not in use there"),
    ];
    let kinds = kinds.into_iter().filter(|(numbers, _)| *numbers > 0);
    let kinds = kinds.map(|(numbers, what)| match numbers {
        1 => format!("1 is {what}"),
        _ => format!("{} are {what}", grouped(numbers)),
    });
    let reasons: Vec<String> = against.into_iter().chain(kinds).collect();
    let first: Vec<(usize, u64)> = list.first.lines.iter().map(|line| (0, *line)).collect();
    let some = match first.len() as u64 == list.doubtful {
        true => "",
        false => "the first in ",
    };
    format!("{} ({some}{})", reasons.join(", "), lines(&first, &[]))
}

const MAX_OFFERED: usize = 5;

/// Says in which countries the numbers would be valid; `None` if in none.
pub fn fitting(doubt: &Doubt) -> Option<String> {
    let named = doubt.fitting.iter().take(MAX_OFFERED).map(|fit| {
        let country = fit.country.in_sentence();
        format!("{country} ({} of {})", fit.numbers, doubt.tried)
    });
    let named: Vec<String> = named.collect();
    let more = match doubt.fitting.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = named.join(", ");
    (!named.is_empty()).then(|| format!("These numbers would be valid in {named}{more}."))
}
