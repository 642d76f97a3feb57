//! Where the countries of numbers come from that have no calling code.

use crate::intake::{Intake, PlannedInput};
use crate::screen::{Completed, Evidence};
use crate::text::{grouped, listed};

/// What says of which country the numbers of an input are; none where nothing does.
pub(super) fn country(intake: &Intake, planned: &PlannedInput) -> Option<String> {
    let mapping = &planned.mapping;
    // Of columns that were found, those that say nothing are not worth a word.
    let says_something =
        |column: &&usize| !mapping.finds_regions || !planned.samples[**column].is_empty();
    let columns = mapping.region_columns.iter().filter(says_something);
    let columns: Vec<&String> = columns
        .map(|column| &planned.header.names[*column])
        .collect();
    let by_row = match columns.is_empty() {
        true => None,
        false => Some(format!("{} (--region-column)", listed(&columns))),
    };
    let by_region = intake
        .region
        .as_ref()
        .map(|region| match region.from.starts_with('-') {
            true => format!("{} ({})", region.region, region.from),
            false => format!("{}, set by {} (--region)", region.region, region.from),
        });
    match (by_row, by_region) {
        (Some(by_row), Some(by_region)) => {
            Some(format!("{by_row}; where that is empty {by_region}"))
        }
        (by_row, by_region) => by_row.or(by_region),
    }
}

/// The country for rows that name none, and who gives it.
pub fn region_for_all(intake: &Intake) -> Option<String> {
    let given = intake.region.as_ref()?;
    Some(match given.from.starts_with('-') {
        true => format!("{} ({})", given.region, given.from),
        false => format!("{}, set by {} (--region)", given.region, given.from),
    })
}

/// How many numbers were completed with which country, and how many of them are in no range in
/// use; none where none was.
pub(super) fn completed_with(intake: &Intake, evidence: &Evidence) -> Option<String> {
    let Evidence {
        by_row, by_region, ..
    } = evidence;
    let by_row = by_row.iter().map(|(region, completed)| {
        format!("{} with {} by row", counted(*completed), region.name())
    });
    let given = intake.region.as_ref().filter(|_| by_region.numbers > 0);
    let by_region = given.map(|given| {
        let numbers = counted(*by_region);
        format!("{numbers} with {} by {}", given.region.name(), given.from)
    });
    let parts: Vec<String> = by_row.chain(by_region).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn counted(completed: Completed) -> String {
    match completed.not_in_use {
        0 => grouped(completed.numbers),
        not_in_use => format!(
            "{} ({} in no range in use)",
            grouped(completed.numbers),
            grouped(not_in_use)
        ),
    }
}
