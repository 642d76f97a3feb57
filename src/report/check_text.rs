//! What a check has found, for people.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use super::findings::{Checked, Lookup, SavedIn};
use super::opening::opening_lines;
use super::summary::{
    places, write_counts, write_paragraph, write_problems, write_ranked, write_written,
};
use super::table::{lines, table};
use super::width::{paragraph, written};
use super::{Ended, Findings, Width};
use crate::campaign::UnclearNames;
use crate::command_line::CommandLine;
use crate::intake::{Intake, PlannedInput};
use crate::lead::{Counts, Status};
use crate::mapping::{ColumnRole, Mapping};
use crate::text::{counted, grouped, listed, one_line, printable, shortened, shown_name};

const SAMPLE_LENGTH: usize = 20;

const BODY_LENGTH: usize = 1000;

pub(super) const MAX_COUNTRIES: usize = 15;

const MAX_CAMPAIGNS: usize = 15;

pub(super) const MAX_PROBLEMS: usize = 20;

pub fn check_text(checked: &Checked<'_>) -> String {
    opening_lines(checked.intake, Width::default()) + &written(|text| write_check(text, checked))
}

fn write_check(text: &mut String, checked: &Checked<'_>) -> fmt::Result {
    let tally = checked.ended.tally;
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
    write_campaigns(text, checked)?;
    write_left_out(text, checked)?;
    write_problems(text, checked.ended, MAX_PROBLEMS)?;
    write_unknown_countries(text, checked.intake)?;
    write_countries(text, checked.findings)?;
    if let Some(estimate) = &checked.estimate
        && tally.counts.of(Status::Ready) > 0
    {
        write_paragraph(text, &estimate.text())?;
    }
    write_written(text, checked.ended)?;
    match checked.saved {
        Some(saved) => write_saved(text, saved),
        None => Ok(()),
    }
}

fn write_saved(text: &mut String, saved: &SavedIn) -> fmt::Result {
    let said = format!(
        "The mapping is kept in the profile `{}` of {}: from now on it sends these columns and no others.",
        printable(&saved.profile),
        printable(&saved.file.display().to_string())
    );
    write_paragraph(text, &said)?;
    let some = |columns: &[String]| (!columns.is_empty()).then(|| listed(columns));
    for (columns, what) in [
        (some(&saved.newly_sent), "Newly sent (left out before)"),
        (some(&saved.sent_no_more), "No longer sent"),
        (
            some(&saved.lost),
            "No longer in the mapping, because the list does not have them",
        ),
        (saved.left_out_listed.clone(), "New, so not sent"),
    ] {
        if let Some(columns) = columns {
            let said = format!("{what}: {columns}");
            writeln!(text, "{}", paragraph(&said, Width::default()))?;
        }
    }
    if saved.left_out_listed.is_some() {
        let said = "To send new columns, name every column to send with `--var`, and save the mapping again.";
        writeln!(text, "{}", paragraph(said, Width::default()))?;
    }
    match saved.next.as_ref().and_then(CommandLine::shown) {
        Some(line) => writeln!(text, "\nNext:\n  {line}"),
        None => Ok(()),
    }
}

fn mapping_table(planned: &PlannedInput) -> String {
    let mut table = table(["column", "sent as", "for example"]);
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
    let text = lines(&table);
    let lines: Vec<String> = text.lines().map(|line| format!(" {line}")).collect();
    lines.join("\n")
}

pub(super) fn title(column: usize, header: &str) -> String {
    match header.trim() {
        "" => format!("(column {})", column + 1),
        name => shortened(&printable(name), 2 * SAMPLE_LENGTH),
    }
}

pub(super) fn sent_as(mapping: &Mapping, column: usize) -> String {
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

pub(super) fn samples(planned: &PlannedInput, column: usize) -> Vec<String> {
    let values = planned.samples.get(column).into_iter().flatten();
    values
        .map(|value| shortened(&one_line(value), SAMPLE_LENGTH))
        .collect()
}

fn write_bodies(text: &mut String, findings: &Findings) -> fmt::Result {
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
            "  (campaign_id is null: no campaign is chosen, or only the service knows the id of its name)"
        )?;
    }
    Ok(())
}

/// The rows of each campaign, where there are several or any is known by its name alone; and
/// what was found out of the names.
pub(super) fn write_campaigns(text: &mut String, checked: &Checked<'_>) -> fmt::Result {
    let tally = checked.ended.tally;
    let by_name = &tally.by_campaign_name;
    let campaigns = tally.by_campaign.len() + by_name.len();
    if campaigns > 1 || *checked.lookup != Lookup::NotNeeded {
        let by_id = tally.by_campaign.iter();
        let by_id = by_id.map(|(id, counts)| (checked.ended.campaign_names.shown(*id), *counts));
        let by_name = by_name.iter();
        let by_name = by_name.map(|(name, counts)| (format!("`{}`", shown_name(name)), *counts));
        write_rows(text, by_id.chain(by_name).collect())?;
    }
    let said = match checked.lookup {
        Lookup::NotDone(why) => format!(
            "The names of campaigns were not looked up at the service: {}.",
            printable(why)
        ),
        Lookup::Done(Some(unclear)) => return write_unclear(text, unclear),
        _ => return Ok(()),
    };
    write_paragraph(text, &said)
}

fn write_rows(text: &mut String, mut campaigns: Vec<(String, Counts)>) -> fmt::Result {
    if campaigns.is_empty() {
        return Ok(());
    }
    campaigns.sort_by_key(|(_, counts)| Reverse(counts.total()));
    let lines = campaigns.into_iter().map(|(campaign, counts)| {
        let ready = format!("{} ready", grouped(counts.of(Status::Ready)));
        (campaign, counts.total(), ready)
    });
    writeln!(text, "\nRows by campaign:")?;
    write_ranked(
        text,
        &lines.collect::<Vec<_>>(),
        MAX_CAMPAIGNS,
        |rows, others| {
            let others = counted(others, "more campaign");
            format!("{} of {others}", counted(rows, "row"))
        },
    )
}

fn write_unclear(text: &mut String, unclear: &UnclearNames) -> fmt::Result {
    writeln!(
        text,
        "\nAn import would send nothing, since these names are not clear:"
    )?;
    for line in unclear.lines() {
        writeln!(text, "  {line}")?;
    }
    for line in paragraph(&unclear.hint(), Width::default().less(2)).lines() {
        writeln!(text, "  {line}")?;
    }
    Ok(())
}

/// Where the rows are that are not sent although nothing is wrong with them.
fn write_left_out(text: &mut String, checked: &Checked<'_>) -> fmt::Result {
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

fn write_unknown_countries(text: &mut String, intake: &Intake) -> fmt::Result {
    let evidence = intake.inputs.iter().filter_map(PlannedInput::evidence);
    let names = evidence.flat_map(|evidence| &evidence.unknown_countries);
    let names: Vec<String> = names
        .map(|(name, rows)| format!("{} ({})", listed(&[name]), counted(*rows, "row")))
        .collect();
    if names.is_empty() {
        Ok(())
    } else {
        let said = format!("Countries that are not known: {}", names.join(", "));
        write_paragraph(text, &said)
    }
}

fn write_countries(text: &mut String, findings: &Findings) -> fmt::Result {
    let countries = findings.kinds.countries();
    if countries.is_empty() {
        return Ok(());
    }
    let lines = countries.iter();
    let lines = lines.map(|country| (country.name(), country.numbers, country.lines()));
    writeln!(text, "\nNumbers by country and type:")?;
    write_ranked(
        text,
        &lines.collect::<Vec<_>>(),
        MAX_COUNTRIES,
        |numbers, others| format!("{} of {others} more countries", counted(numbers, "number")),
    )
}
