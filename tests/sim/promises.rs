//! What holds in every history, by the numbers of the contract.
//!
//! Three accounts are compared: the service's, which knows what really happened, the ledger's and
//! the results file's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use leadload::exit::ExitCode;
use leadload::lead::{ErrorCode, RunId, Status};
use leadload::ledger::ExportedRow;
use tokio::time::Instant;

use crate::history::Start;
use crate::plan::{Fate, Rate, Row, RowKind, Until};
use crate::service::{Arrival, CAMPAIGNS, Lead, Sense, Target, number, person};
use crate::world::World;

fn target(world: &World, row: &Row) -> Target {
    let campaign = match world.plan.options.campaign_column {
        true => CAMPAIGNS[usize::from(row.campaign)],
        false => CAMPAIGNS[0],
    };
    (campaign, number(row.person))
}

/// A line of a results file.
struct Line {
    status: String,
    lead_id: String,
    attempts: u32,
    error_code: String,
}

/// The lines of a results file by their rows, counted from 1. A run that stopped early has some.
fn results(world: &World, list: &str) -> Option<BTreeMap<usize, Line>> {
    let path = world.path(&list.replace(".csv", ".results.csv"));
    let mut reader = csv::Reader::from_path(path).ok()?;
    let mut lines = BTreeMap::new();
    for record in reader.records() {
        let record = record.unwrap();
        let row: usize = record[0].parse().unwrap();
        if lines.last_key_value().is_some_and(|(last, _)| *last >= row) {
            world.violated(format!("section 3: row {row} is not in its place"));
        }
        let line = Line {
            status: record[4].to_owned(),
            lead_id: record[5].to_owned(),
            attempts: record[7].parse().unwrap(),
            error_code: record[8].to_owned(),
        };
        lines.insert(row, line);
    }
    Some(lines)
}

/// How long a run may not know of a number that came on the do-not-call list.
const NEWS: Duration = Duration::from_millis(1100);

/// After each start that was not killed.
pub fn check_start(world: &World, starts: &[Start], ledger: &[ExportedRow]) {
    let has_company = starts.last().is_some_and(|start| start.has_company);
    for at in starts.len() - 1 - usize::from(has_company)..starts.len() {
        check_one(world, &starts[at], &starts[..at], ledger);
    }
}

fn check_one(world: &World, start: &Start, before: &[Start], ledger: &[ExportedRow]) {
    let (Some(code), Some(list)) = (&start.code, start.list) else {
        return;
    };
    let told = &start.told;
    let broken = |what: String| world.violated(format!("start {}: {what}", start.id));
    let Some(account) = &told.ended else {
        if matches!(code, ExitCode::Complete | ExitCode::Problems) {
            broken(format!("section 5: it ended with {code:?} without a word"));
        }
        return;
    };
    let sent = world.service.borrow();
    let sent = sent
        .arrivals
        .iter()
        .filter(|arrival| arrival.by == start.id);
    if account.requests != sent.count() as u64 {
        broken("section 5: `requests` is not what was sent".to_owned());
    }
    let is_complete = matches!(code, ExitCode::Complete | ExitCode::Problems);
    if !account.has_results {
        if is_complete {
            broken("section 3: no results".to_owned());
        }
        return;
    }
    let Some(lines) = results(world, list) else {
        return broken("section 3: there is no results file".to_owned());
    };
    if is_complete && lines.len() != start.rows.len() {
        broken(format!(
            "promise 2: {} of {} rows",
            lines.len(),
            start.rows.len()
        ));
    }
    if account.counts.total() != lines.len() as u64 {
        broken("section 5: the counts are not those of the results".to_owned());
    }
    check_lines(world, start, before, &lines, &broken);
    let has_problems = lines.values().any(|line| {
        matches!(
            line.status.as_str(),
            "invalid" | "rejected" | "failed" | "uncertain"
        )
    });
    if is_complete
        && !world.plan.options.skips_known_bad
        && has_problems != (*code == ExitCode::Problems)
    {
        broken(format!("section 5: exit code {code:?}"));
    }
    // A run that stopped early leaves the rejects of others where they are.
    if is_complete {
        check_rejects(world, start, &lines, &broken);
    }
    let known: BTreeSet<usize> = ledger
        .iter()
        .filter(|row| Some(row.run) == told.run)
        .map(|row| row.row.0 as usize)
        .collect();
    for (row, line) in &lines {
        if line.attempts > 0 && line.status != "suppressed" && !known.contains(row) {
            broken(format!(
                "row {row}, {}: promise 2: the ledger has nothing of it",
                line.status
            ));
        }
    }
    let of_run = ledger.iter().filter(|row| Some(row.run) == told.run);
    for row in of_run {
        let Some(line) = lines.get(&(row.row.0 as usize)) else {
            continue;
        };
        let status = row.outcome.status.as_str();
        // It may be a lead of another run.
        let is_others = line.status == "uncertain"
            && ledger.iter().any(|other| {
                let is_same = other.phone == row.phone && Some(other.run) != told.run;
                is_same && other.outcome.status == Status::Uncertain
            });
        let is_kept = is_others
            || line.status == "suppressed"
            || line.status == "repeated"
            || line.status == "already_imported";
        if line.status != status && !is_kept {
            broken(format!(
                "row {}: {status} in the ledger, {} in the results",
                row.row, line.status
            ));
        }
        if row.outcome.lead_id.as_deref().unwrap_or_default() != line.lead_id && !is_kept {
            broken(format!(
                "row {}: another id in the ledger than in the results",
                row.row
            ));
        }
    }
}

fn check_lines(
    world: &World,
    start: &Start,
    before: &[Start],
    lines: &BTreeMap<usize, Line>,
    broken: &dyn Fn(String),
) {
    // How many are uncertain without a request.
    let mut unsent = 0;
    let options = &world.plan.options;
    let service = world.service.borrow();
    let mut earlier: BTreeSet<Target> = BTreeSet::new();
    for (at, row) in start.rows.iter().enumerate() {
        let target = target(world, row);
        let Some(line) = lines.get(&(at + 1)) else {
            if row.kind == RowKind::Good {
                earlier.insert(target);
            }
            continue;
        };
        let is_same = |other: &Target| match options.once_for_all {
            true => other.1 == target.1,
            false => *other == target,
        };
        let leads: Vec<_> = service.all_leads_of(&target).collect();
        let now = service.leads_of(&target);
        let ours = now
            .filter(|lead| lead.by.is_some_and(|by| by <= start.id))
            .count();
        let broken = |what: &str| broken(format!("row {}, {}: {what}", at + 1, line.status));
        let is_bad = row.kind != RowKind::Good;
        if is_bad != (line.status == "invalid") {
            broken("section 3: it is invalid exactly where its cells are");
        }
        if is_bad {
            continue;
        }
        match line.status.as_str() {
            "created" => {
                if !leads.iter().any(|lead| lead.id == line.lead_id) {
                    broken("section 3: there is no such lead");
                }
            }
            "duplicate" => {
                if leads.is_empty() {
                    broken("section 3: there is no lead");
                }
                let was_there = leads.len() > ours;
                if !was_there && line.error_code != "answer_lost" {
                    broken("section 3: it made the lead itself, and does not say so");
                }
            }
            "already_imported" => {
                if !service.all_leads().any(|lead| is_same(&lead.target)) {
                    broken("section 3: there is no lead");
                }
            }
            "repeated" => {
                if !earlier.iter().any(is_same) {
                    broken("section 3: it is the first");
                }
            }
            "suppressed" => {
                if !start.may_suppress(&target.1) {
                    broken("section 3: it is on no list");
                }
            }
            "rejected" | "failed" => {
                // Another run may have made a lead of it since; or it made two, was undone, and undo knew one.
                let run = |id: usize| before.get(id).map_or(start.told.run, |of| of.told.run);
                let is_of_run = |id: usize| run(id) == start.told.run;
                let mut asked = service.arrivals.iter().filter(|a| a.target == target);
                let first = asked.find(|a| is_of_run(a.by)).map(|a| a.by);
                let made = service.leads_of(&target).filter_map(|lead| lead.by);
                let is_undone = |by: usize| {
                    let mut removed = service.removed.iter();
                    removed.any(|(lead, undo)| lead.target == target && run(*undo) == run(by))
                };
                let is_known = |by: usize| Some(by) < first && !is_undone(by);
                let mut made = made.filter(|by| is_of_run(*by) || is_known(*by));
                if made.any(|by| by <= start.id) && !options.allow_duplicates {
                    broken("section 3: there is a lead");
                }
            }
            "uncertain" => {
                // After a kill it is not known what was answered last.
                let sent = service.arrivals.iter().any(|a| is_same(&a.target));
                // What repeats such a row is uncertain too if its person must not be called any more.
                let repeats = earlier.contains(&target) && start.may_suppress(&target.1);
                unsent += usize::from(!sent && !repeats);
            }
            _ => broken("section 3: there is no such status"),
        }
        if start.suppressed.contains(&target.1)
            && matches!(line.status.as_str(), "rejected" | "failed")
        {
            broken("section 3: it is on a do-not-call list");
        }
        if !options.allow_duplicates
            && earlier.iter().any(is_same)
            && matches!(line.status.as_str(), "rejected" | "failed")
        {
            broken("section 3: it is repeated");
        }
        earlier.insert(target);
    }
    // A row that was claimed and not sent, and whose process was killed, may have been sent; one more
    // where rows from elsewhere are tried to see whether all are refused.
    let kills = before.iter().filter(|start| start.is_cut_short()).count();
    let most = match options.concurrency {
        Some(most) if options.holds => kills * (2 * usize::from(most) + 1),
        _ if kills > 0 => usize::MAX,
        _ => 0,
    };
    if unsent > most {
        broken(format!(
            "section 3: {unsent} rows are uncertain that were not sent"
        ));
    }
}

/// Whether the service may have done what a request asks for, as far as its sender can know.
fn is_unclear(arrival: &Arrival) -> bool {
    arrival.answered.is_none() || arrival.sense == Sense::Unclear
}

fn check_rejects(
    world: &World,
    start: &Start,
    lines: &BTreeMap<usize, Line>,
    broken: &dyn Fn(String),
) {
    let options = &world.plan.options;
    if options.skips_known_bad {
        return;
    }
    let path = world.path(
        &start
            .list
            .unwrap_or_default()
            .replace(".csv", ".rejects.csv"),
    );
    let mut rejected = BTreeMap::new();
    if path.exists() {
        let mut reader = csv::Reader::from_path(path).unwrap();
        let headers = reader.headers().unwrap().clone();
        let at = headers
            .iter()
            .position(|name| name == "leadload_row")
            .unwrap();
        for record in reader.records() {
            let record = record.unwrap();
            rejected.insert(
                record[at].parse::<usize>().unwrap(),
                record[at + 1].to_owned(),
            );
        }
    }
    for (row, line) in lines {
        let is_rejected = match line.status.as_str() {
            "invalid" | "rejected" | "failed" => true,
            "uncertain" => !options.holds,
            _ => false,
        };
        if is_rejected != rejected.contains_key(row) {
            broken(format!(
                "row {row}, {}: section 3: in the rejects, or not",
                line.status
            ));
        }
    }
}

/// Nobody else writes here, so no file is kept under another name.
fn check_names(world: &World) {
    for entry in fs::read_dir(world.path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_output = name.starts_with("list.re") && !name.starts_with("list.rejects.re");
        let is_usual = name.ends_with(".results.csv") || name.ends_with(".rejects.csv");
        let has_stamp = name.matches('.').count() > 2;
        if is_output && (!is_usual || has_stamp) {
            world.violated(format!("section 3: `{name}` is left behind"));
        }
    }
}

/// When everything is over.
pub fn check_end(world: &World, starts: &[Start], ledger: &[ExportedRow]) {
    let options = &world.plan.options;
    let weather = &world.plan.service;
    let service = world.service.borrow();
    let known: BTreeSet<Target> = ledger
        .iter()
        .filter(|row| {
            matches!(
                row.outcome.status,
                Status::Created | Status::Duplicate | Status::Uncertain
            )
        })
        .filter_map(|row| Some((row.campaign?.0, row.phone.clone())))
        .collect();
    for lead in service.leads.iter().filter(|lead| lead.by.is_some()) {
        if !known.contains(&lead.target) {
            world.violated(format!(
                "promise 2: the ledger knows nothing of {:?}",
                lead.target
            ));
        }
    }
    let mut of_target: BTreeMap<&Target, usize> = BTreeMap::new();
    for lead in &service.leads {
        *of_target.entry(&lead.target).or_default() += 1;
    }
    for (target, leads) in of_target {
        let is_safe = weather.refuses_duplicates || options.holds;
        if leads > 1 && is_safe && !options.allow_duplicates {
            let was_there = weather.fate(person(&target.1)) == Some(Fate::Known);
            if !was_there || weather.refuses_duplicates {
                world.violated(format!("promise 2: {leads} leads for {target:?}"));
            }
        }
    }
    // A run that stopped early takes the place only of what it wrote itself.
    let has_stopped = |start: &Start| {
        let account = start.told.ended.as_ref();
        let is_told = account.is_some_and(|account| account.stopped_by.is_some());
        is_told || start.code.is_some() && !start.is_complete()
    };
    if !starts.iter().any(has_stopped) && !options.skips_known_bad {
        check_names(world);
    }
    let Some(last) = starts.last() else { return };
    if !last.has_had_all_rows(&world.plan) {
        return;
    }
    for target in missing(world, last, ledger) {
        if !(options.skips_known_bad && is_known_bad(world, last, &target)) {
            world.violated(format!("promise 2: {target:?} is lost"));
        }
    }
}

/// Whether a start has refused the row while it took others of its campaign, or refused them for other
/// reasons. Where a number is sent once whatever the campaign, its other rows are repetitions of that one.
fn is_known_bad(world: &World, last: &Start, target: &Target) -> bool {
    let arrivals = &world.service.borrow().arrivals;
    let is_number = |of: &Target| world.plan.options.once_for_all && of.1 == target.1;
    let good = last.rows.iter().filter(|row| row.kind == RowKind::Good);
    let mut targets = good.map(|row| self::target(world, row));
    let first = targets.find(|of| of == target || is_number(of));
    first.is_some_and(|of| is_refused_alone(arrivals, &of))
}

fn is_refused_alone(arrivals: &[Arrival], target: &Target) -> bool {
    let is_refused = |of: &&Arrival| matches!(of.sense, Sense::Refused(_));
    let mut refusals = arrivals
        .iter()
        .filter(|of| of.target == *target)
        .filter(is_refused);
    refusals.any(|refusal| {
        let is_beside = |other: &&Arrival| {
            let is_other = other.target.0 == target.0 && other.target != *target;
            is_other && other.by == refusal.by
        };
        arrivals
            .iter()
            .filter(is_beside)
            .any(|other| match other.sense {
                Sense::Created | Sense::Duplicate => true,
                Sense::Refused(_) => other.sense != refusal.sense,
                _ => false,
            })
    })
}

/// Whom the service would take, and who is neither there nor held.
pub fn missing(world: &World, last: &Start, ledger: &[ExportedRow]) -> Vec<Target> {
    let options = &world.plan.options;
    let service = world.service.borrow();
    let lines = last
        .list
        .and_then(|list| results(world, list))
        .unwrap_or_default();
    let mut missing = Vec::new();
    let rejected = lines.iter().filter(|(_, line)| line.status == "rejected");
    let rejected: BTreeSet<Target> = rejected
        .filter_map(|(at, _)| Some(target(world, last.rows.get(at - 1)?)))
        .collect();
    for row in last.rows.iter().filter(|row| row.kind == RowKind::Good) {
        let target = target(world, row);
        let fate = world.plan.service.fate(row.person);
        let is_never_taken = fate.is_some_and(Fate::is_never_taken);
        // Of a run that comes to no end, since the only ones left are always put off, or refused as all
        // would be.
        let is_same = |of: &Target| *of == target || options.once_for_all && of.1 == target.1;
        let is_refused = last.stopped_by().is_some() && rejected.iter().any(is_same);
        if is_never_taken || is_refused || last.may_suppress(&target.1) {
            continue;
        }
        let has_lead = match options.once_for_all {
            true => service.leads.iter().any(|lead| lead.target.1 == target.1),
            false => service.leads_of(&target).next().is_some(),
        };
        // It may have been taken, in another campaign too; see `check_lines` for those that were not sent.
        let is_held = ledger.iter().any(|row| {
            let is_campaign = row.campaign.is_some_and(|campaign| campaign.0 == target.0);
            row.phone == target.1
                && row.outcome.status == Status::Uncertain
                && (options.once_for_all || options.holds && is_campaign)
        });
        if !has_lead && !is_held {
            missing.push(target);
        }
    }
    missing
}

/// What the ledger says of each row, at any time.
pub fn check_ledger(world: &World, starts: &[Start], ledger: &[ExportedRow]) {
    let options = &world.plan.options;
    let service = world.service.borrow();
    for row in ledger {
        let Some(campaign) = row.campaign else {
            continue;
        };
        let target = (campaign.0, row.phone.clone());
        let removed = service.removed.iter().map(|(lead, _)| lead);
        let mut all = service
            .leads
            .iter()
            .chain(removed)
            .filter(|lead| lead.target == target);
        let status = row.outcome.status;
        let is_true = match status {
            Status::Created => {
                let id = row.outcome.lead_id.as_deref();
                all.any(|lead| Some(lead.id.as_str()) == id && lead.by.is_some())
            }
            Status::Duplicate => all.next().is_some(),
            Status::Rejected | Status::Failed => {
                options.allow_duplicates
                    || !all.any(|lead| {
                        lead.by.is_some_and(|by| {
                            starts
                                .get(by)
                                .is_none_or(|start| start.told.run == Some(row.run))
                        })
                    })
            }
            _ => true,
        };
        if is_undone(row) && !may_be_removed(world, starts, ledger, &target) {
            world.violated(format!(
                "section 7: run {} row {}, {target:?}: nobody has undone it",
                row.run, row.row
            ));
        }
        if !is_true {
            world.violated(format!(
                "section 3: run {} row {}, {target:?}: {status:?} in the ledger",
                row.run, row.row
            ));
        }
    }
    for (lead, by) in &service.removed {
        let undone = starts.get(*by).and_then(|start| start.told.run);
        let made_by = lead
            .by
            .and_then(|by| starts.get(by))
            .and_then(|start| start.told.run);
        let is_other = undone.is_some() && undone != made_by;
        if is_other && !may_be_of_both(world, starts, lead, undone) {
            world.violated(format!(
                "section 7: undo has removed {:?}, which is not of its run",
                lead.target
            ));
        }
    }
}

/// Whether the ledger says of a row that its lead was removed, or may have been.
pub fn is_undone(row: &ExportedRow) -> bool {
    row.outcome.error_code == Some(ErrorCode::Undone)
}

/// Whether a lead was removed, or is in doubt where a run that has sent it was undone or looked up.
fn may_be_removed(world: &World, starts: &[Start], ledger: &[ExportedRow], of: &Target) -> bool {
    let service = world.service.borrow();
    let mut removed = service.removed.iter();
    let after_run = starts.iter().filter(|start| start.list.is_none());
    let mut runs = after_run.filter_map(|start| start.told.run);
    let may_be_it = |row: &ExportedRow| {
        let has_it = row
            .campaign
            .is_some_and(|id| (id.0, &row.phone) == (of.0, &of.1));
        has_it && (row.outcome.status == Status::Uncertain || is_undone(row))
    };
    removed.any(|(lead, _)| lead.target == *of)
        || runs.any(|run| ledger.iter().any(|row| row.run == run && may_be_it(row)))
}

/// Whether a run that did not make a lead has asked for it so shortly before that nobody can know; see
/// what is not promised in `docs/guarantees.md`.
fn may_be_of_both(world: &World, starts: &[Start], lead: &Lead, run: Option<RunId>) -> bool {
    let timeout = Duration::from_secs(world.plan.options.timeout_s.into());
    // The ledger has whole seconds.
    let within = timeout + Duration::from_secs(1);
    let service = world.service.borrow();
    let arrivals = service.arrivals.iter();
    let asked: Vec<&Arrival> = arrivals.filter(|a| a.target == lead.target).collect();
    let mut of_maker = asked.iter().filter(|a| Some(a.by) == lead.by);
    let of_run = |a: &&&Arrival| is_unclear(a) && starts[a.by].told.run == run;
    let asked_at = asked.iter().filter(of_run).map(|a| a.at);
    // A start that was killed may have been about to ask.
    let may_ask = |start: &&Start| {
        let mut rows = start.rows.iter();
        let is_killed = start.told.run == run && start.code.is_none();
        is_killed && rows.any(|row| target(world, row) == lead.target)
    };
    let killed = starts.iter().filter(may_ask);
    let times: Vec<Instant> = asked_at.chain(killed.map(|start| start.ended)).collect();
    of_maker.any(|made| {
        let is_soon_after = |at: &Instant| *at <= made.at && made.at < *at + within;
        times.iter().any(is_soon_after)
    })
}

/// What holds of requests, whatever came of them.
pub fn check_requests(world: &World, starts: &[Start]) {
    let service = world.service.borrow();
    let arrivals = &service.arrivals;
    for arrival in arrivals {
        let start = &starts[arrival.by];
        let is_settled = match world.plan.options.once_for_all {
            true => start
                .settled
                .iter()
                .any(|(_, number)| *number == arrival.target.1),
            false => start.settled.contains(&arrival.target),
        };
        if is_settled && !world.plan.options.allow_duplicates {
            world.violated(format!(
                "promise 1: {:?} was settled, and start {} sent it",
                arrival.target, start.id
            ));
        }
        let later = start.suppressed_later.as_ref();
        let is_late = later
            .is_some_and(|(number, at)| *number == arrival.target.1 && *at + NEWS < arrival.at);
        if is_late || start.suppressed.contains(&arrival.target.1) {
            world.violated(format!(
                "section 7: {:?} is not to be called, and start {} sent it",
                arrival.target, start.id
            ));
        }
    }
    check_pace(world, arrivals);
    check_company(world, starts, arrivals);
    check_waits(world, starts, arrivals);
    check_flights(world, starts, arrivals);
    check_first(world, arrivals);
    check_signals(world, starts, arrivals);
    check_repeats(world, starts, arrivals);
}

fn check_pace(world: &World, arrivals: &[Arrival]) {
    let Rate::Limit(most, seconds) = world.plan.options.rate else {
        return;
    };
    let span = Duration::from_secs(seconds.into());
    let more = arrivals.windows(usize::from(most) + 1);
    for several in more {
        let (first, last) = (&several[0], &several[usize::from(most)]);
        if last.at - first.at < span {
            let took = last.at - first.at;
            world.violated(format!(
                "--rate: {} requests in {took:?} (starts {} and {})",
                most + 1,
                first.by,
                last.by
            ));
            return;
        }
    }
}

/// One run sends to a service at a time.
fn check_company(world: &World, starts: &[Start], arrivals: &[Arrival]) {
    let together = starts
        .windows(2)
        .filter(|two| two[0].has_company && two[1].has_company);
    for two in together {
        let of = |start: &Start| {
            let by = start.id;
            let mut sent = arrivals
                .iter()
                .filter(move |arrival| arrival.by == by)
                .map(|arrival| arrival.at);
            let first = sent.next();
            (first, sent.next_back().or(first))
        };
        if let ((Some(first), Some(last)), (Some(others_first), Some(others_last))) =
            (of(&two[0]), of(&two[1]))
            && first < others_last
            && others_first < last
        {
            world.violated(format!(
                "promise 8: starts {} and {} send at once",
                two[0].id, two[1].id
            ));
        }
    }
}

fn check_waits(world: &World, starts: &[Start], arrivals: &[Arrival]) {
    for asked in arrivals {
        let (Sense::Later(429, Some(wait)), Some(at)) = (asked.sense, asked.answered) else {
            continue;
        };
        let until = wait.until(at);
        let start = &starts[asked.by];
        let is_recorded = start.has_recorded(at);
        for early in arrivals
            .iter()
            .filter(|other| at < other.at && other.at < until)
        {
            if early.by == asked.by || is_recorded {
                world.violated(format!(
                    "promise 7: start {} was asked to wait until {:.3} s, and start {} sent {:?} before",
                    asked.by, world.since_begin(until), early.by, early.target
                ));
                return;
            }
        }
    }
}

fn check_flights(world: &World, starts: &[Start], arrivals: &[Arrival]) {
    let options = &world.plan.options;
    let timeout = Duration::from_secs(options.timeout_s.into());
    let end = |arrival: &Arrival| {
        let end = arrival.answered.unwrap_or(arrival.at + timeout);
        end.min(arrival.at + timeout).min(starts[arrival.by].ended)
    };
    for (at, arrival) in arrivals.iter().enumerate() {
        let before = arrivals[..at].iter();
        let under_way: Vec<_> = before
            .filter(|other| other.by == arrival.by && arrival.at < end(other))
            .collect();
        if let Some(most) = options.concurrency
            && under_way.len() >= usize::from(most)
        {
            world.violated(format!("--concurrency: {} in flight", under_way.len() + 1));
            return;
        }
        if under_way.iter().any(|other| other.target == arrival.target) {
            world.violated(format!("design: {:?} is in flight twice", arrival.target));
            return;
        }
    }
}

/// Each start sends the rows of a campaign one by one until it has understood an answer.
fn check_first(world: &World, arrivals: &[Arrival]) {
    for (at, arrival) in arrivals.iter().enumerate() {
        let is_of = |other: &&Arrival| other.by == arrival.by && other.target.0 == arrival.target.0;
        let before = || arrivals[..at].iter().filter(is_of);
        let is_answered = |other: &Arrival| other.answered.is_some_and(|at| at <= arrival.at);
        let is_understood = |other: &Arrival| {
            !matches!(
                other.sense,
                Sense::NotSent | Sense::Unclear | Sense::Later(..)
            )
        };
        let timeout = Duration::from_secs(world.plan.options.timeout_s.into());
        let is_under_way = |other: &Arrival| !is_answered(other) && arrival.at < other.at + timeout;
        if !before().any(|other| is_answered(other) && is_understood(other))
            && before().any(is_under_way)
        {
            world.violated(format!(
                "design: start {} sends {:?} before it has understood an answer",
                arrival.by, arrival.target
            ));
            return;
        }
    }
}

fn check_signals(world: &World, starts: &[Start], arrivals: &[Arrival]) {
    let story = world.story.borrow();
    for start in starts {
        let Until::Signal { .. } = start.until else {
            continue;
        };
        let said = format!("a signal to start {}", start.id);
        let Some(line) = story.iter().find(|line| line.ends_with(&said)) else {
            continue;
        };
        let seconds: f64 = line.split_whitespace().next().unwrap().parse().unwrap();
        let late = arrivals.iter().filter(|a| a.by == start.id);
        let late = late
            .filter(|a| world.since_begin(a.at) > seconds + 0.0015)
            .count();
        if late > 0 {
            drop(story);
            world.violated(format!(
                "promise 3: {late} requests after a signal to start {}",
                start.id
            ));
            return;
        }
    }
}

/// What may have been taken is sent again only where the user wants that, and what was answered is not.
fn check_repeats(world: &World, starts: &[Start], arrivals: &[Arrival]) {
    let options = &world.plan.options;
    if options.allow_duplicates {
        return;
    }
    for (at, arrival) in arrivals.iter().enumerate() {
        for earlier in arrivals[..at]
            .iter()
            .filter(|other| other.target == arrival.target)
        {
            let is_settled = matches!(earlier.sense, Sense::Created | Sense::Duplicate);
            let heard = earlier.answered.is_some_and(|at| at < arrival.at);
            let start = &starts[earlier.by];
            let is_recorded = earlier.answered.is_some_and(|at| start.has_recorded(at));
            let service = world.service.borrow();
            let mut removed = service.removed.iter();
            let is_removed = removed.any(|(lead, _)| lead.target == arrival.target);
            // The service may have been asked to remove it.
            let mut between = starts[earlier.by..arrival.by].iter();
            let was_undone = between.any(|start| start.list.is_none());
            let is_settled = is_settled && !is_removed && !was_undone;
            if is_settled && heard && (earlier.by == arrival.by || is_recorded) {
                world.violated(format!(
                    "promise 1: {:?} was answered, and sent again",
                    arrival.target
                ));
                return;
            }
            // Looked up, it may turn out that it was not taken.
            let mut between = starts[earlier.by..arrival.by].iter();
            let was_looked_up = between.any(|start| start.list.is_none());
            let mut leads = service.leads_of(&earlier.target);
            let has_made = leads.any(|lead| lead.by == Some(earlier.by));
            let is_held = !was_looked_up || has_made;
            if options.holds && is_unclear(earlier) && is_held {
                world.violated(format!(
                    "--on-uncertain hold: {:?} may have been taken, and was sent again",
                    arrival.target
                ));
                return;
            }
        }
    }
}
