//! What the lists of a command say as a whole, as far as they have been read.

use super::countries::Countries;
use crate::intake::Intake;
use crate::shell::quoted;
use crate::source::FooterLine;
use crate::text::{grouped, printable};

/// What was found beside rows, and where the countries of numbers came from.
#[derive(Debug, Default)]
pub struct ListNotes {
    /// What stands below the rows and is none of them: its input, counted from 0, and the line.
    pub footers: Vec<(usize, FooterLine)>,
    /// Where the countries of numbers without a calling code came from.
    pub(super) countries: Countries,
    /// Where rows without a number have one, if they do.
    pub(super) elsewhere: Option<String>,
}

impl ListNotes {
    /// Of these inputs.
    pub fn of(intake: &Intake) -> ListNotes {
        let inputs = intake.inputs.iter().enumerate();
        let footers = inputs.flat_map(|(file, planned)| {
            let footer = planned.footer().iter();
            footer.map(move |line| (file, line.clone()))
        });
        ListNotes {
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
