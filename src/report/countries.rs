//! What the lists of a command show as a whole: footers, blank rows, and
//! which country was assumed for numbers without a country code.

use serde::Serialize;
use serde_json::{Value, json};

use super::list_mapping::ListMapping;
use crate::intake::{GivenRegion, Intake, PlannedInput};
use crate::message::Text;
use crate::phone::Region;
use crate::screen::{Completed, Evidence, LaterColumns};
use crate::shell::quoted;
use crate::source::FooterLine;
use crate::text::{grouped, printable};

#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Countries {
    /// The country for rows that name none; null if none is given.
    region: Option<String>,
    region_from: Option<String>,
    region_columns: Vec<String>,
    completed: Vec<Value>,
    /// Numbers among the completed ones that may belong to another country.
    doubtful: u64,
}

/// What determines the country of an input's numbers; `None` if nothing does.
pub(super) fn country(intake: &Intake, planned: &PlannedInput) -> Option<Text> {
    let mapping = &planned.mapping;
    // A detected column without values is not worth mentioning.
    let says_something =
        |column: &&usize| !mapping.countries.are_found || !planned.samples[**column].is_empty();
    let columns = mapping.countries.used.iter().filter(says_something);
    let columns: Vec<String> = columns
        .map(|column| planned.header.names[*column].clone())
        .collect();
    let given = intake.region.as_ref().map(GivenRegion::to_string);
    match (columns.is_empty(), given) {
        (true, given) => given.map(Text::terminal),
        (false, None) => Some(terminal_text!("{columns} (--region-column)", columns)),
        (false, Some(given)) => Some(terminal_text!(
            "{columns} (--region-column); where that is empty {given}",
            columns,
            given
        )),
    }
}

/// How many numbers were completed with which country, and how
/// many of those do not fit it; `None` if no number was completed.
pub(super) fn completed_with(intake: &Intake, evidence: &Evidence) -> Option<Text> {
    let Evidence {
        by_row, by_region, ..
    } = evidence;
    let by_row = by_row.iter();
    let by_row = by_row.map(|(region, completed)| (*region, "by row", *completed));
    let given = intake.region.as_ref().filter(|_| by_region.numbers > 0);
    let by_region = given.map(|given| (given.region, given.from.as_str(), *by_region));
    let parts: Vec<(Region, &str, Completed)> = by_row.chain(by_region).collect();
    let all: u64 = parts.iter().map(|(.., completed)| completed.numbers).sum();
    let taken = match &parts[..] {
        [] => return None,
        [(region, from, completed)] => format!(", {}", taken_as(*region, from, *completed)),
        _ => {
            let parts = parts.iter().map(|(region, from, completed)| {
                let taken = taken_as(*region, from, *completed);
                format!("{} {taken}", grouped(completed.numbers))
            });
            format!(": {}", parts.collect::<Vec<String>>().join(", "))
        }
    };
    Some(terminal_text!(
        "{all:number} without a country code{taken}",
        all,
        taken
    ))
}

fn taken_as(region: Region, from: &str, completed: Completed) -> String {
    let remarks = [
        (completed.foreign, "not written like numbers there"),
        (completed.not_in_use, "not in use there"),
    ];
    let remarks = remarks.into_iter().filter(|(numbers, _)| *numbers > 0);
    let remarks = remarks.map(|(numbers, what)| match numbers {
        1 => format!("; 1 is {what}"),
        _ => format!("; {} are {what}", grouped(numbers)),
    });
    let remarks: String = remarks.collect();
    format!("taken as {} ({from}{remarks})", region.name())
}

impl Countries {
    pub(super) fn of(intake: &Intake) -> Countries {
        let mut all = Evidence::default();
        let mut region_columns: Vec<String> = Vec::new();
        for planned in intake.inputs.iter() {
            if let Some(evidence) = planned.evidence() {
                all.add(evidence.clone());
            }
            for column in &planned.mapping.countries.used {
                let name = &planned.header.names[*column];
                if !region_columns.contains(name) {
                    region_columns.push(name.clone());
                }
            }
        }
        let given = intake.region.as_ref();
        let by_row = all.by_row.iter();
        let by_row = by_row.map(|(region, completed)| with(*region, "column", *completed));
        let by_region = given
            .filter(|_| all.by_region.numbers > 0)
            .map(|given| with(given.region, "region", all.by_region));
        Countries {
            region: given.map(|given| given.region.to_string()),
            region_from: given.map(|given| given.from.clone()),
            region_columns,
            completed: by_row.chain(by_region).collect(),
            doubtful: intake.doubt.as_ref().map_or(0, |doubt| doubt.doubtful()),
        }
    }
}

fn with(region: Region, by: &str, completed: Completed) -> Value {
    json!({
        "country": region.to_string(),
        "by": by,
        "numbers": completed.numbers,
        "not_in_use": completed.not_in_use,
        "not_written_so": completed.foreign,
    })
}

#[derive(Debug, Default)]
pub struct ListNotes {
    /// Lines below the rows, each with its input, counted from 0.
    pub footers: Vec<(usize, FooterLine)>,
    /// Rows with nothing but white space in their cells, which are not counted.
    pub blank_rows: u64,
    pub(super) mapping: ListMapping,
    pub(super) countries: Countries,
    /// In which other columns rows without a number have one, if they do.
    pub(super) elsewhere: Option<Text>,
    pub(super) later_columns: LaterColumns,
}

impl ListNotes {
    pub fn of(intake: &Intake) -> ListNotes {
        let inputs = intake.inputs.iter().enumerate();
        let footers = inputs.flat_map(|(file, planned)| {
            let footer = planned.footer().iter();
            footer.map(move |line| (file, line.clone()))
        });
        ListNotes {
            footers: footers.collect(),
            blank_rows: blank_rows(&intake.inputs),
            mapping: ListMapping::of(intake),
            countries: Countries::of(intake),
            elsewhere: elsewhere(intake),
            later_columns: later_columns(intake),
        }
    }
}

fn later_columns(intake: &Intake) -> LaterColumns {
    let mut all = LaterColumns::default();
    let found = intake.inputs.iter().filter_map(PlannedInput::evidence);
    found.for_each(|evidence| all.add(&evidence.later_columns));
    all
}

fn blank_rows(inputs: &[PlannedInput]) -> u64 {
    inputs.iter().filter_map(PlannedInput::blank_rows).sum()
}

/// How many of the rows without a number another column
/// would fill, and the flags that use that column.
fn elsewhere(intake: &Intake) -> Option<Text> {
    let parts = intake.inputs.iter().flat_map(|planned| {
        let used = planned.phone_column_names();
        let used: Vec<String> = used.iter().map(|name| flag(name)).collect();
        let would_fill = planned.evidence().map(|evidence| &evidence.would_fill);
        let would_fill = would_fill.into_iter().flatten();
        let names = planned.flag_texts(would_fill.clone().map(|(column, _)| *column));
        let parts = would_fill.zip(names).map(move |((_, rows), name)| {
            terminal_text!(
                "{rows:} of them in `{column}`: {used} {flag}",
                rows = *rows,
                column = printable(&name),
                used = used.join(" "),
                flag = flag(&name)
            )
        });
        parts.collect::<Vec<Text>>()
    });
    let parts = parts.reduce(|all, part| terminal_text!("{all}; {part}", all, part));
    parts.map(|parts| terminal_text!("there is a number for {parts}", parts))
}

fn flag(column: &str) -> String {
    format!("--phone-column {}", quoted(column))
}
