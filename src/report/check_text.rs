//! What a check has found, for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

use super::findings::Checked;
use super::opening::opening_lines;
use super::summary::{places, write_counts, write_files, write_problems};
use super::{Ended, Findings};
use crate::intake::PlannedInput;
use crate::lead::Status;
use crate::mapping::{ColumnRole, Mapping};
use crate::phone::{LineKind, Region};
use crate::text::{counted, printable, shortened};

/// How much is shown of a value, in characters.
const SAMPLE_LENGTH: usize = 20;

/// How much is shown of a request's body, in characters.
const BODY_LENGTH: usize = 1000;

/// How many countries are spelled out.
const MOST_COUNTRIES: usize = 15;

/// How many kinds of problems are spelled out.
const MOST_PROBLEMS: usize = 20;

/// The report of a check.
pub fn check_text(checked: &Checked<'_>) -> String {
    let mut text = opening_lines(checked.intake);
    // Writing to a string does not fail.
    let _ = write_check(&mut text, checked);
    text
}

fn write_check(text: &mut String, checked: &Checked<'_>) -> std::fmt::Result {
    let Ended { tally, inputs, .. } = checked.ended;
    for planned in checked.intake.inputs.iter() {
        writeln!(text)?;
        if checked.intake.inputs.len() > 1 {
            writeln!(text, "{}", printable(planned.input.name()))?;
        }
        writeln!(text, "{}", mapping_table(planned))?;
    }
    write_bodies(text, checked.findings)?;
    writeln!(
        text,
        "\n{} checked, nothing was sent",
        counted(tally.counts.total(), "row")
    )?;
    write_counts(text, &tally.counts)?;
    write_left_out(text, checked)?;
    write_problems(text, tally, inputs, MOST_PROBLEMS)?;
    write_countries(text, checked.findings)?;
    if let Some(estimate) = &checked.estimate
        && tally.counts.of(Status::Ready) > 0
    {
        writeln!(text, "\n{}", estimate.text())?;
    }
    write_files(text, checked.ended)
}

/// Each column, what becomes of it, and some of its values.
fn mapping_table(planned: &PlannedInput) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(["column", "sent as", "for example"]);
    for (column, header) in planned.header.names.iter().enumerate() {
        table.add_row([
            title(column, header),
            sent_as(&planned.mapping, column),
            samples(planned, column).join(" · "),
        ]);
    }
    for (name, value) in &planned.mapping.constants {
        let value = shortened(&printable(value), SAMPLE_LENGTH);
        table.add_row(["--set", &printable(name), &value]);
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

fn title(column: usize, header: &str) -> String {
    match header.trim() {
        "" => format!("(column {})", column + 1),
        name => shortened(&printable(name), 2 * SAMPLE_LENGTH),
    }
}

fn sent_as(mapping: &Mapping, column: usize) -> String {
    let used = mapping.uses(column);
    let role = match used.role {
        ColumnRole::Phone => Some("phone_number"),
        ColumnRole::Campaign => Some("campaign_id"),
        _ => None,
    };
    let names: Vec<&str> = role.into_iter().chain(used.variables).collect();
    match (names.is_empty(), used.role) {
        (false, _) => printable(&names.join(", ")).into_owned(),
        (true, ColumnRole::Region) => "not sent: the number's country".to_owned(),
        (true, ColumnRole::Ours) => "not sent: added by leadload".to_owned(),
        (true, _) => "not sent".to_owned(),
    }
}

/// Values of a column, fit for a table.
fn samples(planned: &PlannedInput, column: usize) -> Vec<String> {
    let values = planned.samples.get(column).into_iter().flatten();
    values
        .map(|value| {
            let one_line = value.split_whitespace().collect::<Vec<_>>().join(" ");
            shortened(&printable(&one_line), SAMPLE_LENGTH)
        })
        .collect()
}

fn write_bodies(text: &mut String, findings: &Findings) -> std::fmt::Result {
    let bodies = &findings.bodies;
    if bodies.is_empty() {
        return Ok(());
    }
    writeln!(text, "\nThe first requests would be:")?;
    for body in bodies {
        writeln!(text, "  {}", shortened(&printable(body), BODY_LENGTH))?;
    }
    if findings.has_unknown_campaign {
        writeln!(
            text,
            "  (campaign_id is null where no campaign is chosen, or one by its name, which only the service knows)"
        )?;
    }
    Ok(())
}

/// Where rows stand that are not sent although nothing is wrong with them.
fn write_left_out(text: &mut String, checked: &Checked<'_>) -> std::fmt::Result {
    let Ended { tally, inputs, .. } = checked.ended;
    let mut left_out = tally
        .groups
        .iter()
        .filter(|((status, _), _)| !status.is_problem())
        .peekable();
    if left_out.peek().is_some() {
        writeln!(text, "\nLeft out:")?;
    }
    for ((status, _), group) in left_out {
        writeln!(
            text,
            "  {status}: {}, {}",
            counted(group.rows, "row"),
            places(group, inputs)
        )?;
    }
    Ok(())
}

/// The numbers of one country.
#[derive(Debug, Default)]
struct CountryNumbers {
    numbers: u64,
    lines: Vec<(LineKind, u64)>,
}

/// How many numbers there are of each country, and of which type.
fn write_countries(text: &mut String, findings: &Findings) -> std::fmt::Result {
    let mut countries: BTreeMap<(Option<Region>, u16), CountryNumbers> = BTreeMap::new();
    for (kind, numbers) in findings.kinds() {
        let country = countries
            .entry((kind.country, kind.calling_code))
            .or_default();
        country.numbers += numbers;
        country.lines.push((kind.line, numbers));
    }
    let mut countries: Vec<_> = countries.into_iter().collect();
    if countries.is_empty() {
        return Ok(());
    }
    countries.sort_by_key(|(_, country)| std::cmp::Reverse(country.numbers));
    writeln!(text, "\nNumbers by country and type:")?;
    for ((region, calling_code), country) in countries.iter().take(MOST_COUNTRIES) {
        let name = match region {
            Some(region) => format!("{region} {}", region.name()),
            None => format!("+{calling_code}, no country's range"),
        };
        let lines: Vec<String> = country
            .lines
            .iter()
            .map(|(line, numbers)| format!("{numbers} {}", line_name(*line)))
            .collect();
        writeln!(
            text,
            "  {name:<28}{:>9}  {}",
            country.numbers,
            lines.join(", ")
        )?;
    }
    if countries.len() > MOST_COUNTRIES {
        let others = &countries[MOST_COUNTRIES..];
        let numbers: u64 = others.iter().map(|(_, country)| country.numbers).sum();
        writeln!(
            text,
            "  and {} of {} more countries",
            counted(numbers, "number"),
            others.len()
        )?;
    }
    Ok(())
}

fn line_name(line: LineKind) -> String {
    match line {
        LineKind::Unknown => "not known to be in use".to_owned(),
        known => known.as_str().replace('_', " "),
    }
}
