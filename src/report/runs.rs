//! What the ledger knows about runs, for people.

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::block::{Block, Column, Fact, File, Form, Table};
use super::follow_up::undone_before;
use super::next::{Rejects, written};
use super::rows::counts;
use super::times::{day, moment};
use crate::lead::{CampaignId, Counts, RunId, Status};
use crate::ledger::{
    LedgerPlace, OutputKind, OutputRecord, OutputState, Pruned, RunRecord, RunState, StartRecord,
    Transferred, this_user_here,
};
use crate::message::Text;
use crate::results::{PrunedFiles, Written};
use crate::text::{counted, grouped, printable};

/// All runs, the latest last, with campaigns as `campaign` calls them. The service is shown if there is
/// more than one, and who has started a run if others than this user have, or if `shows_people`.
pub fn runs(
    runs: &[&RunRecord],
    campaign: &dyn Fn(&RunRecord) -> String,
    shows_people: bool,
) -> Block {
    let Some(first) = runs.first() else {
        return Block::Paragraph(text!("{no runs yet|Nothing has been sent yet}"));
    };
    let here = this_user_here();
    let is_of_others = |start: &StartRecord| start.user.is_some() && !start.is_by(&here);
    let mut starts = runs.iter().flat_map(|run| &run.starts);
    let shows_people = shows_people || starts.any(is_of_others);
    let shows_service = runs.iter().any(|run| run.service != first.service);
    let columns = [
        Column::new(text!("{|list}"), Form::Name),
        Column::new(terminal_text!("run"), Form::Number),
        Column::new(text!("{began (UTC)|when}"), Form::Line),
        Column::new(text!("state"), Form::Words),
        Column::new(text!("campaign"), Form::Words),
        Column::new(terminal_text!("inputs"), Form::Name),
        Column::new(terminal_text!("rows"), Form::Number),
        Column::new(text!("{created|leads}"), Form::Number),
        Column::new(terminal_text!("problems"), Form::Number),
        Column::new(text!("by"), Form::Words).only_if(shows_people),
        Column::new(terminal_text!("service"), Form::Line).only_if(shows_service),
    ];
    let row = |run: &&RunRecord| {
        let began = run.began_at.strftime("%Y-%m-%d %H:%M").to_string();
        vec![
            Text::said(list_name(run)),
            Text::said(run.run.to_string()),
            text!("{{began}|{here}}", began, here = day(run.began_at)),
            state(run),
            Text::said(campaign(run)),
            Text::said(match run.inputs.iter().all(|input| input.name.is_none()) {
                true => "(pruned)".to_owned(),
                false => list_name(run),
            }),
            Text::said(run.counts.total().to_string()),
            text!("{created}", created = run.counts.of(Status::Created)),
            Text::said(run.counts.problems().to_string()),
            Text::said(run.people()),
            Text::said(&run.service),
        ]
    };
    Block::Table(Table {
        columns: columns.into(),
        rows: runs.iter().map(row).collect(),
        ..Table::default()
    })
}

fn state(run: &RunRecord) -> Text {
    match run.state() {
        RunState::Complete => text!("complete"),
        RunState::Undone => match &run.undo {
            Some(undo) if !undo.counts.all_are_removed() => text!("{undone|removed} in part"),
            _ => text!("{undone|removed again}"),
        },
        RunState::AtWork => text!("{running|being sent}"),
        RunState::Stopped(why) => text!("stopped{: {why}|}", why),
        RunState::Killed => text!("{killed|broken off}"),
    }
}

/// The campaign as it was chosen, or the column from which rows get it.
pub fn campaign(run: &RunRecord) -> String {
    let options = run.options.as_ref().unwrap_or(&Value::Null);
    chosen_campaign(options, |campaign| campaign)
}

/// The campaign that a run's options name, as `called` calls it, or the column from which rows get it.
pub fn chosen_campaign(options: &Value, called: impl Fn(String) -> String) -> String {
    let option = |name| options.get(name).filter(|option| !option.is_null());
    let campaign = option("campaign").map(|campaign| called(plain(campaign)));
    let column = option("campaign_column").map(|column| format!("column {}", plain(column)));
    match (campaign, column) {
        (None, None) => "–".to_owned(),
        (Some(one), None) | (None, Some(one)) => one,
        (Some(campaign), Some(column)) => format!("{column}, or else {campaign}"),
    }
}

/// The names of a run's lists, without their folders; its number where they were pruned.
pub fn list_name(run: &RunRecord) -> String {
    let names = run.inputs.iter().filter_map(|input| input.name.as_deref());
    let names = names.map(|name| Path::new(name).file_name().unwrap_or(name.as_ref()));
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    match &names[..] {
        [] => format!("run {}", run.run),
        [one] => printable(one).into_owned(),
        [one, others @ ..] => format!("{} and {} more", printable(one), others.len()),
    }
}

/// What is known of a run, with the name of its campaign.
pub fn run(run: &RunRecord, campaign: &str) -> Vec<Block> {
    let mut blocks = vec![Block::Title(terminal_text!(
        "Run {run}: {ending}",
        run = run.run.to_string(),
        ending = ending(run)
    ))];
    blocks.push(Block::Facts(run_facts(run, campaign)));
    let files: Vec<File> = run.outputs.iter().map(|output| file(run, output)).collect();
    if !files.is_empty() {
        blocks.push(Block::Files(files));
    }
    let mut outputs = run.outputs.iter();
    if outputs.any(|output| output.kind == OutputKind::Results && is_lost(output)) {
        let run = run.run.to_string();
        blocks.push(Block::Paragraph(terminal_text!(
            "`leadload runs export {run} --results FILE` writes results anew",
            run
        )));
    }
    if run.counts.total() > 0 {
        let rows = run.counts.total();
        blocks.push(Block::Heading(text!("{rows:row}", rows)));
        blocks.push(counts(&run.counts));
    }
    if let Some(undo) = &run.undo {
        let since = moment(undo.began_at);
        blocks.push(Block::Heading(text!(
            "{undone|removed} since {since}",
            since
        )));
        blocks.extend(undone_before(&undo.counts));
    }
    blocks.push(Block::Heading(terminal_text!("Starts")));
    let starts = (1..).zip(&run.starts).map(|(number, start)| {
        let is_at_work = run.is_at_work && number == run.starts.len();
        let lines = start_lines(start, is_at_work)
            .into_iter()
            .map(Text::terminal);
        Fact::of_lines(Text::said(number.to_string()), lines.collect())
    });
    blocks.push(Block::Facts(starts.collect()));
    blocks.extend(options(run.options.as_ref()));
    blocks
}

fn run_facts(run: &RunRecord, campaign: &str) -> Vec<Fact> {
    let ended = run.starts.last().and_then(|start| start.ended_at);
    let inputs = run.inputs.iter().map(|input| {
        let name = input.name.as_deref().unwrap_or("(pruned)");
        match input.rows {
            Some(rows) => terminal_text!("{name}, {rows:row}", name, rows),
            None => terminal_text!("{name}", name),
        }
    });
    let facts = [
        Fact::new(text!("service"), Text::terminal(&run.service)),
        Fact::new(text!("campaign"), Text::said(campaign)),
        Fact::new(text!("began"), moment(run.began_at)),
        Fact::of_lines(text!("ended"), ended.map(moment).into_iter().collect()),
        Fact::of_lines(text!("input"), inputs.collect()),
        Fact::new(text!("state"), text!("{|{state}}", state = state(run))),
    ];
    facts.into()
}

/// A file of the run, and what became of it.
fn file(run: &RunRecord, output: &OutputRecord) -> File {
    let rows = output.rows.map(|rows| counted(rows, "row"));
    let state = match output.state {
        _ if output.sha256.is_none() => Some("not complete".to_owned()),
        Some(OutputState::AsWritten) => None,
        Some(OutputState::Changed) => Some("no longer as leadload wrote it".to_owned()),
        Some(OutputState::Gone) => Some("no longer there".to_owned()),
        Some(OutputState::Elsewhere) => {
            let host = run.starts.last().map_or("", |start| &start.host);
            Some(format!("on another computer, {host}"))
        }
        None if output.path.is_some() => Some("which cannot be read".to_owned()),
        None => None,
    };
    let rows = rows.filter(|_| output.sha256.is_some());
    let remark: Vec<String> = rows.into_iter().chain(state).collect();
    File {
        name: Text::terminal(output.kind.as_str()),
        path: output.path.as_deref().map_or("(pruned)".into(), shown),
        remark: Text::terminal(remark.join(", ")),
    }
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

fn is_lost(output: &OutputRecord) -> bool {
    matches!(output.state, Some(OutputState::Changed | OutputState::Gone))
}

fn ending(run: &RunRecord) -> Text {
    match run.state() {
        RunState::Stopped(why) => {
            terminal_text!("stopped ({why}); the same command continues it", why)
        }
        RunState::Killed => terminal_text!("killed; the same command continues it"),
        _ => state(run),
    }
}

fn start_lines(start: &StartRecord, is_at_work: bool) -> Vec<String> {
    let time = |time: Timestamp| moment(time).to_string();
    let how = match (start.ended_at, start.stopped_by.as_deref()) {
        (None, _) if is_at_work => "running".to_owned(),
        (None, _) => "killed".to_owned(),
        (Some(end), None) => format!("ended {}", time(end)),
        (Some(end), Some(why)) => format!("stopped ({why}) {}", time(end)),
    };
    let requests = start.requests.map(|requests| counted(requests, "request"));
    let code = start.exit_code.map(|code| format!("exit code {code}"));
    let by = Some(start.whose_process());
    let version = Some(format!("version {}", start.version));
    let parts = [
        Some(time(start.began_at)),
        Some(how),
        requests,
        code,
        by,
        version,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let lists = start.lists.iter().map(|list| {
        let name = list.name.as_deref().unwrap_or("(pruned)");
        format!(
            "do-not-call list {name}, {}",
            counted(list.numbers, "number")
        )
    });
    std::iter::once(parts.join(", ")).chain(lists).collect()
}

fn options(options: Option<&Value>) -> Vec<Block> {
    let Some(Value::Object(options)) = options else {
        return Vec::new();
    };
    let options = options.iter().filter(|(_, value)| !value.is_null());
    let names = options.clone().map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or_default();
    let lines = options.map(|(name, value)| format!("{name:<width$}  {}", plain(value)));
    vec![
        Block::Heading(terminal_text!("Options")),
        Block::Literal(lines.collect()),
    ]
}

/// An option as it was typed.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub fn export(of: &Counts, files: &Written) -> Vec<Block> {
    let mut blocks = vec![
        Block::Title(text!("{rows:row}", rows = of.total())),
        counts(of),
    ];
    blocks.extend(written(files, Rejects::Named));
    blocks
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::chosen_campaign;

    #[test]
    fn a_campaign_is_shown_with_the_column_that_comes_before_it() {
        let called = |campaign| format!("<{campaign}>");
        for (options, shown) in [
            (json!({ "campaign": 101 }), "<101>"),
            (
                json!({ "campaign": null, "campaign_column": "Camp" }),
                "column Camp",
            ),
            (
                json!({ "campaign": "Spring", "campaign_column": "Camp" }),
                "column Camp, or else <Spring>",
            ),
            (json!(null), "–"),
        ] {
            assert_eq!(chosen_campaign(&options, called), shown);
        }
    }
}
