//! What a check has found, for people.

use std::cmp::Reverse;
use std::fmt::{self, Write};

use super::findings::{Checked, Lookup};
use super::opening::opening_lines;
use super::summary::{places, write_paragraph, write_problems, write_rows, write_written};
use super::table::{lines, table};
use super::width::{paragraph, written};
use super::{Findings, Outcome, Width};
use crate::campaign::UnclearNames;
use crate::command_line::CommandLine;
use crate::intake::{Intake, PlannedInput};
use crate::lead::Status;
use crate::mapping::{ColumnRole, ColumnUse};
use crate::settings::MappingToSave;
use crate::text::{counted, grouped, listed, one_line, printable, shortened, shown_name};

const SAMPLE_LENGTH: usize = 20;

const BODY_LENGTH: usize = 1000;

pub(super) const MAX_RANKED: usize = 15;

pub(super) const MAX_PROBLEMS: usize = 20;

/// Nobody reads more, and a table takes its memory.
const MAX_COLUMNS: usize = 1000;

pub fn check_text(checked: &Checked<'_>) -> String {
    opening_lines(checked.intake, Width::default(), true)
        + &written(|text| write_check(text, checked))
}

fn write_check(text: &mut String, checked: &Checked<'_>) -> fmt::Result {
    let tally = checked.outcome.tally;
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
    write_rows(text, tally)?;
    write_campaigns(text, checked)?;
    write_left_out(text, checked)?;
    write_problems(text, checked.outcome, MAX_PROBLEMS)?;
    write_unknown_countries(text, checked.intake)?;
    write_countries(text, checked.findings)?;
    if let Some(estimate) = &checked.estimate
        && tally.counts.of(Status::Ready) > 0
    {
        write_paragraph(text, &estimate.text())?;
    }
    write_written(text, checked.outcome)?;
    match checked.saved {
        Some(saved) => write_saved(text, saved, checked.next.as_ref()),
        None => Ok(()),
    }
}

fn write_saved(
    text: &mut String,
    saved: &MappingToSave,
    next: Option<&CommandLine>,
) -> fmt::Result {
    let said = format!(
        "Saved the mapping in profile `{}` ({}). Imports with this profile send only these columns.",
        printable(&saved.profile),
        printable(&saved.file.display().to_string())
    );
    write_paragraph(text, &said)?;
    for (columns, what) in [
        (&saved.newly_sent, "Newly sent (left out before)"),
        (&saved.no_longer_sent, "No longer sent"),
        (
            &saved.lost,
            "No longer in the mapping, because the list does not have them",
        ),
        (&saved.left_out, "New, so not sent"),
    ] {
        if !columns.is_empty() {
            let said = format!("{what}: {}", listed(columns));
            writeln!(text, "{}", paragraph(&said, Width::default()))?;
        }
    }
    if !saved.left_out.is_empty() {
        let said = "To send new columns, name every column to send with `--var`, and save the mapping again.";
        writeln!(text, "{}", paragraph(said, Width::default()))?;
    }
    match next.and_then(CommandLine::shown) {
        Some(line) => writeln!(text, "\nNext:\n  {line}"),
        None => Ok(()),
    }
}

fn mapping_table(planned: &PlannedInput) -> String {
    let mut table = table(["column", "sent as", "for example"]);
    let columns = columns(planned);
    let left = columns.len().saturating_sub(MAX_COLUMNS);
    table.add_rows(columns.into_iter().take(MAX_COLUMNS));
    let text = lines(&table);
    let mut lines: Vec<String> = text.lines().map(|line| format!(" {line}")).collect();
    if left > 0 {
        lines.push(format!(" and {}", counted(left as u64, "more column")));
    }
    lines.join("\n")
}

/// For each column, and for each constant: its title,
/// the name under which it is sent, and examples.
pub(super) fn columns(planned: &PlannedInput) -> Vec<[String; 3]> {
    let names = &planned.header.names;
    let uses = planned.mapping.uses(names.len());
    let headers = names.iter().zip(uses).enumerate();
    let columns = headers.map(|(column, (header, used))| {
        [
            title(column, header),
            sent_as(used),
            samples(planned, column).join(" · "),
        ]
    });
    let constants = planned.mapping.constants.iter().map(|(name, value)| {
        [
            "(every row)".to_owned(),
            printable(name).into_owned(),
            shortened(&one_line(value), SAMPLE_LENGTH),
        ]
    });
    columns.chain(constants).collect()
}

fn title(column: usize, header: &str) -> String {
    match header.trim() {
        "" => format!("(column {})", column + 1),
        name => shortened(&printable(name), 2 * SAMPLE_LENGTH),
    }
}

fn sent_as(used: ColumnUse<'_>) -> String {
    let role = match used.role {
        ColumnRole::Phone => Some("phone_number"),
        ColumnRole::Campaign => Some("campaign_id"),
        _ => None,
    };
    let names: Vec<&str> = role.into_iter().chain(used.variables).collect();
    match (names.is_empty(), used.role) {
        (false, _) => printable(&names.join(", ")).into_owned(),
        (true, ColumnRole::Region) => "not sent: the number's country".to_owned(),
        (true, ColumnRole::Mark) => "not sent: who is called".to_owned(),
        (true, ColumnRole::Ours) => "not sent: added by leadload".to_owned(),
        (true, _) => "not sent".to_owned(),
    }
}

fn samples(planned: &PlannedInput, column: usize) -> Vec<String> {
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
            "  (campaign_id is null: no campaign is chosen yet, or its name was not looked up)"
        )?;
    }
    Ok(())
}

/// The rows of each campaign, if there are several or if campaign names
/// were or should have been looked up; and what the lookup found.
pub(super) fn write_campaigns(text: &mut String, checked: &Checked<'_>) -> fmt::Result {
    let tally = checked.outcome.tally;
    let by_name = &tally.by_campaign_name;
    let campaigns = tally.by_campaign.len() + by_name.len();
    if campaigns > 1 || *checked.lookup != Lookup::NotNeeded {
        let by_id = tally.by_campaign.iter();
        let by_id = by_id.map(|(id, counts)| (checked.outcome.campaign_names.shown(*id), counts));
        let by_name = by_name.iter();
        let by_name = by_name.map(|(name, counts)| (format!("`{}`", shown_name(name)), counts));
        let lines = by_id.chain(by_name).map(|(campaign, counts)| {
            let ready = format!("{} ready", grouped(counts.of(Status::Ready)));
            (campaign, counts.total(), ready)
        });
        let mut lines: Vec<_> = lines.collect();
        lines.sort_by_key(|(_, rows, _)| Reverse(*rows));
        write_ranked(text, "Rows by campaign", &lines)?;
    }
    let said = match checked.lookup {
        Lookup::NotDone(why) => format!(
            "The names of campaigns were not looked up at the service: {}.",
            printable(why.to_string().trim_end_matches('.'))
        ),
        Lookup::Done(Some(unclear)) => return write_unclear(text, unclear),
        _ => return Ok(()),
    };
    write_paragraph(text, &said)
}

/// Writes lines with a name, a number and the rest.
/// For the lines after the first few, only their sum.
fn write_ranked(text: &mut String, heading: &str, lines: &[(String, u64, String)]) -> fmt::Result {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n{heading}:")?;
    for (name, number, rest) in lines.iter().take(MAX_RANKED) {
        writeln!(text, "  {name:<28}{:>9}  {rest}", grouped(*number))?;
    }
    if let Some(others @ [_, ..]) = lines.get(MAX_RANKED..) {
        let number = others.iter().map(|(_, number, _)| number).sum();
        let others = counted(others.len() as u64, "other");
        writeln!(text, "  and {} in {others}", grouped(number))?;
    }
    Ok(())
}

fn write_unclear(text: &mut String, unclear: &UnclearNames) -> fmt::Result {
    writeln!(
        text,
        "\nAn import would send nothing until these campaign names are clear:"
    )?;
    for line in unclear.lines() {
        writeln!(text, "  {line}")?;
    }
    for line in paragraph(&unclear.hint(), Width::default().less(2)).lines() {
        writeln!(text, "  {line}")?;
    }
    Ok(())
}

/// Where to find the rows that are not sent although nothing is wrong with them.
fn write_left_out(text: &mut String, checked: &Checked<'_>) -> fmt::Result {
    let Outcome { tally, inputs, .. } = checked.outcome;
    for (at, (status, _, group)) in tally.left_out().enumerate() {
        if at == 0 {
            writeln!(text, "\nLeft out:")?;
        }
        let rows = counted(group.rows, "row");
        writeln!(text, "  {status}: {rows}, {}", places(group, inputs))?;
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

pub(super) fn write_countries(text: &mut String, findings: &Findings) -> fmt::Result {
    let countries = findings.kinds.countries();
    let lines = countries.iter();
    let lines = lines.map(|country| (country.name(), country.numbers, country.lines()));
    write_ranked(
        text,
        "Numbers by country and type",
        &lines.collect::<Vec<_>>(),
    )
}
