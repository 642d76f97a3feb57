//! What the ledger knows about runs, for people.

use std::fmt::Write;
use std::path::Path;

use comfy_table::{CellAlignment, ColumnConstraint};
use jiff::Timestamp;
use serde_json::Value;

use super::follow_up::write_undone;
use super::opening::plain;
use super::summary::{shown, write_counts, write_files};
use super::table::{lines, table};
use super::width::written;
use crate::lead::{CampaignId, Counts, RunId, Status};
use crate::ledger::{
    InputRecord, LedgerPlace, OutputKind, OutputRecord, OutputState, Pruned, RunRecord, RunState,
    StartRecord, Transferred, this_user_here,
};
use crate::results::{PrunedFiles, Written};
use crate::text::{counted, grouped, printable};

const COLUMNS: [&str; 8] = [
    "run",
    "began (UTC)",
    "state",
    "campaign",
    "inputs",
    "rows",
    "created",
    "problems",
];

/// The columns with numbers. They are not wrapped if
/// the terminal is too narrow, and neither is the time.
const NUMBERS: [usize; 4] = [0, 5, 6, 7];
const TIME: usize = 1;

/// All runs in a table, the latest last. On a terminal the table fits its width;
/// otherwise each run has one line. The service is shown if there is more than one, and who has
/// started a run if others than this user have.
pub fn runs_text(runs: &[RunRecord]) -> String {
    let Some(first) = runs.first() else {
        return "no runs yet\n".into();
    };
    let tells_service = runs.iter().any(|run| run.service != first.service);
    let service = |text: &str| tells_service.then(|| text.to_owned());
    let here = this_user_here();
    let is_of_others = |start: &StartRecord| start.user.is_some() && !start.is_by(&here);
    let mut starts = runs.iter().flat_map(|run| &run.starts);
    let tells_people = starts.any(is_of_others);
    let people = |text: String| tells_people.then_some(text);
    let header = COLUMNS.map(str::to_owned).into_iter();
    let header = header.chain(people("by".to_owned()));
    let header: Vec<String> = header.chain(service("service")).collect();
    let mut table = table(header);
    for run in runs {
        let cells = cells(run).into_iter().chain(people(run.people()));
        let cells = cells.chain(service(&run.service));
        table.add_row(cells.map(|cell| printable(&cell).into_owned()));
    }
    for at in NUMBERS.into_iter().chain([TIME]) {
        if let Some(column) = table.column_mut(at) {
            column.set_constraint(ColumnConstraint::ContentWidth);
            if at != TIME {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    lines(&table)
}

fn cells(run: &RunRecord) -> [String; 8] {
    [
        run.run.to_string(),
        run.began_at.strftime("%Y-%m-%d %H:%M").to_string(),
        state(run),
        campaign(run),
        inputs(run),
        run.counts.total().to_string(),
        run.counts.of(Status::Created).to_string(),
        run.counts.problems().to_string(),
    ]
}

fn state(run: &RunRecord) -> String {
    match run.state() {
        RunState::Complete => "complete".into(),
        RunState::Undone => match &run.undo {
            Some(undo) if !undo.counts.all_are_removed() => "undone in part".into(),
            _ => "undone".into(),
        },
        RunState::AtWork => "running".into(),
        RunState::Stopped(why) => format!("stopped: {why}"),
        RunState::Killed => "killed".into(),
    }
}

/// The campaign as it was chosen, or the column from which rows get it.
fn campaign(run: &RunRecord) -> String {
    let option = |name| run.options.as_ref().and_then(|options| options.get(name));
    match (option("campaign"), option("campaign_column")) {
        (Some(campaign), _) if !campaign.is_null() => plain(campaign),
        (_, Some(column)) if !column.is_null() => format!("column {}", plain(column)),
        _ => "-".into(),
    }
}

fn inputs(run: &RunRecord) -> String {
    let Some(first) = run.inputs.first() else {
        return "-".into();
    };
    match run.inputs.len() {
        1 => name(first).to_owned(),
        several => format!("{} and {} more", name(first), several - 1),
    }
}

fn name(input: &InputRecord) -> &str {
    input.name.as_deref().unwrap_or("(pruned)")
}

pub fn run_text(run: &RunRecord) -> String {
    written(|text| write_run(text, run))
}

fn write_run(text: &mut String, run: &RunRecord) -> std::fmt::Result {
    writeln!(text, "Run {}: {}", run.run, printable(&ending(run)))?;
    write_line(text, "service", &run.service)?;
    write_line(text, "campaign", &campaign(run))?;
    write_line(text, "began", &time(run.began_at))?;
    for input in &run.inputs {
        write_line(text, "input", &with_rows(name(input), input.rows))?;
    }
    for output in &run.outputs {
        write_line(text, output.kind.as_str(), &file(run, output))?;
    }
    let mut outputs = run.outputs.iter();
    if outputs.any(|output| output.kind == OutputKind::Results && is_lost(output)) {
        let make = format!("`leadload runs export {} --results FILE`", run.run);
        write_line(text, "", &format!("{make} writes results anew"))?;
    }
    if run.counts.total() > 0 {
        writeln!(text, "\n{}:", counted(run.counts.total(), "row"))?;
        write_counts(text, &run.counts)?;
    }
    if let Some(undo) = &run.undo {
        writeln!(text, "\nUndone since {}:", time(undo.began_at))?;
        write_undone(text, &undo.counts)?;
    }
    writeln!(text, "\nStarts:")?;
    for (number, start) in (1..).zip(&run.starts) {
        let is_at_work = run.is_at_work && number == run.starts.len();
        write_start(text, number, start, is_at_work)?;
    }
    write_options(text, run.options.as_ref())
}

/// A file of the run, and what became of it.
fn file(run: &RunRecord, output: &OutputRecord) -> String {
    let path = output.path.as_deref().map_or("(pruned)".into(), shown);
    if output.sha256.is_none() {
        return format!("{path}, not complete");
    }
    let file = with_rows(&path, output.rows);
    match output.state {
        Some(OutputState::AsWritten) => file,
        Some(OutputState::Changed) => format!("{file}, no longer as leadload wrote it"),
        Some(OutputState::Gone) => format!("{file}, no longer there"),
        Some(OutputState::Elsewhere) => {
            let host = run.starts.last().map_or("", |start| &start.host);
            format!("{file}, on another computer ({host})")
        }
        None if output.path.is_some() => format!("{file}, which cannot be read"),
        None => file,
    }
}

fn is_lost(output: &OutputRecord) -> bool {
    matches!(output.state, Some(OutputState::Changed | OutputState::Gone))
}

fn ending(run: &RunRecord) -> String {
    match run.state() {
        RunState::Stopped(why) => format!("stopped ({why}); the same command continues it"),
        RunState::Killed => "killed; the same command continues it".into(),
        _ => state(run),
    }
}

fn write_line(text: &mut String, what: &str, found: &str) -> std::fmt::Result {
    writeln!(text, "  {what:<10}{}", printable(found))
}

fn with_rows(name: &str, rows: Option<u64>) -> String {
    match rows {
        Some(rows) => format!("{name}, {}", counted(rows, "row")),
        None => name.to_owned(),
    }
}

fn write_start(
    text: &mut String,
    number: usize,
    start: &StartRecord,
    is_at_work: bool,
) -> std::fmt::Result {
    let mut line = format!("{}, ", time(start.began_at));
    match (start.ended_at, start.stopped_by.as_deref()) {
        (None, _) if is_at_work => line.push_str("running"),
        (None, _) => line.push_str("killed"),
        (Some(end), None) => write!(line, "ended {}", time(end))?,
        (Some(end), Some(why)) => write!(line, "stopped ({why}) {}", time(end))?,
    }
    if let Some(requests) = start.requests {
        write!(line, ", {}", counted(requests, "request"))?;
    }
    if let Some(code) = start.exit_code {
        write!(line, ", exit code {code}")?;
    }
    write!(
        line,
        ", {}, version {}",
        start.whose_process(),
        start.version
    )?;
    writeln!(text, "  {number}  {}", printable(&line))?;
    for list in &start.lists {
        let name = list.name.as_deref().unwrap_or("(pruned)");
        let numbers = counted(list.numbers, "number");
        writeln!(text, "     do-not-call list {}, {numbers}", printable(name))?;
    }
    Ok(())
}

fn write_options(text: &mut String, options: Option<&Value>) -> std::fmt::Result {
    let Some(Value::Object(options)) = options else {
        return Ok(());
    };
    writeln!(text, "\nOptions:")?;
    let width = options.keys().map(|name| name.chars().count()).max();
    let width = width.unwrap_or_default();
    for (name, value) in options.iter().filter(|(_, value)| !value.is_null()) {
        let value = plain(value);
        writeln!(text, "  {:<width$}  {}", printable(name), printable(&value))?;
    }
    Ok(())
}

pub fn export_text(counts: &Counts, files: &Written) -> String {
    written(|text| {
        writeln!(text, "{}", counted(counts.total(), "row"))?;
        write_counts(text, counts)?;
        write_files(text, files, |_| String::new())
    })
}

/// What to say of a copy in a file; `backup_of` is the file that it is a backup of.
pub fn copied_text(
    backup_of: Option<&LedgerPlace>,
    copy: &Path,
    runs: usize,
    bytes: u64,
) -> String {
    let mut text = format!(
        "Copied {} ({}) to {}\n",
        counted(runs as u64, "run"),
        size(bytes),
        shown(copy)
    );
    if let Some(ledger) = backup_of {
        text += &format!(
            "To go back to it, remove {} and the files beside it that end in -wal and -shm,\n\
             and put the copy in its place\n",
            printable(&ledger.to_string())
        );
    }
    text
}

pub fn transferred_text(to: &LedgerPlace, copied: Transferred) -> String {
    format!(
        "Copied {} and {} to {}; counts and digests of all tables agree\n",
        counted(copied.runs, "run"),
        counted(copied.sent, "row"),
        printable(&to.to_string())
    )
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", grouped(bytes.div_ceil(1 << 10))),
        mib => format!("{} MiB", grouped(mib)),
    }
}

pub fn pruned_text(pruned: Pruned, files: Option<&PrunedFiles>) -> String {
    let mut text = match pruned.runs {
        0 => "nothing to prune\n".into(),
        runs => format!(
            "Pruned {}: removed cell values and error texts of {}, run options and file names.\n\
             Numbers, campaigns and lead ids stay, so no lead is sent twice.\n",
            counted(runs, "run"),
            counted(pruned.rows, "row")
        ),
    };
    for path in files.iter().flat_map(|files| &files.removed) {
        text += &format!("Removed {}\n", shown(path));
    }
    for (path, why) in files.iter().flat_map(|files| &files.left) {
        text += &format!("Left {}: {why}\n", shown(path));
    }
    text
}

/// What was forgotten, with its leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    Run(RunId),
    Number,
    /// A campaign that is gone at the service.
    Campaign(CampaignId),
}

pub fn forgotten_text(what: Forgotten, leads: u64) -> String {
    let (what, who) = match what {
        Forgotten::Run(run) => (format!("Run {run}"), "these people"),
        Forgotten::Number => ("The number".to_owned(), "this person"),
        Forgotten::Campaign(id) if leads == 0 => {
            return format!("The ledger has no leads of campaign {id}: nothing is forgotten.\n");
        }
        Forgotten::Campaign(id) => {
            let leads = counted(leads, "lead");
            return format!(
                "Campaign {id} is forgotten, with {leads}: these people count as new.\n"
            );
        }
    };
    let (are, them) = if leads == 1 {
        ("is", "it")
    } else {
        ("are", "them")
    };
    let rest = match leads {
        0 => "It had no leads.".to_owned(),
        _ => format!(
            "Its {} {are} still at the service:\ndelete {them} there if {who} should not be called.",
            counted(leads, "lead")
        ),
    };
    format!("{what} is forgotten. {rest}\n")
}

fn time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}
