//! What the lists of a command say as a whole, as far as they have been read.

use serde::Serialize;

use crate::intake::Intake;
use crate::phone::Region;
use crate::screen::{Completed, Evidence};
use crate::shell::quoted;
use crate::source::FooterLine;
use crate::text::{grouped, printable};

/// What was found beside rows, and where the countries of numbers came from.
#[derive(Debug, Default)]
pub struct Lists {
    /// What stands below the rows and is none of them: its input, counted from 0, and the line.
    pub footers: Vec<(usize, FooterLine)>,
    /// Where the countries of numbers without a calling code came from.
    pub(super) countries: Countries,
    /// Where rows without a number have one, if they do.
    pub(super) elsewhere: Option<String>,
}

/// The same for machines.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Countries {
    /// The country for rows that name none; null where none is given.
    region: Option<String>,
    /// Who gives it.
    region_from: Option<String>,
    /// The columns that say it row by row.
    region_columns: Vec<String>,
    /// Numbers that were completed, by country.
    completed: Vec<CompletedWith>,
    /// Those among them that may be of another country.
    doubtful: u64,
}

#[derive(Debug, Clone, Serialize)]
struct CompletedWith {
    country: String,
    /// `column` or `region`.
    by: &'static str,
    numbers: u64,
    not_in_use: u64,
}

impl Lists {
    /// Of these inputs.
    pub fn of(intake: &Intake) -> Lists {
        let inputs = intake.inputs.iter().enumerate();
        let footers = inputs.flat_map(|(file, planned)| {
            let footer = planned.footer().iter();
            footer.map(move |line| (file, line.clone()))
        });
        Lists {
            footers: footers.collect(),
            countries: Countries::of(intake),
            elsewhere: elsewhere(intake),
        }
    }
}

/// How many of the rows without a number another column would fill, and what takes it.
fn elsewhere(intake: &Intake) -> Option<String> {
    let parts = intake.inputs.iter().flat_map(|planned| {
        let used = planned.phone_column_names();
        let used: Vec<String> = used.iter().map(|name| flag(name)).collect();
        let would_fill = planned.evidence().map(|evidence| &evidence.would_fill);
        let would_fill = would_fill.into_iter().flatten();
        let parts = would_fill.map(move |(column, rows)| {
            let name = planned.flag_text(*column);
            format!(
                "{} of them in `{}`: {} {}",
                grouped(*rows),
                printable(&name),
                used.join(" "),
                flag(&name)
            )
        });
        parts.collect::<Vec<String>>()
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("there is a number for {}", parts.join("; ")))
}

fn flag(column: &str) -> String {
    format!("--phone-column {}", quoted(column))
}

impl Countries {
    fn of(intake: &Intake) -> Countries {
        let mut all = Evidence::default();
        let mut region_columns: Vec<String> = Vec::new();
        for planned in intake.inputs.iter() {
            if let Some(evidence) = planned.evidence() {
                all.add(evidence.clone());
            }
            for column in &planned.mapping.region_columns {
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

fn with(region: Region, by: &'static str, completed: Completed) -> CompletedWith {
    CompletedWith {
        country: region.to_string(),
        by,
        numbers: completed.numbers,
        not_in_use: completed.not_in_use,
    }
}
