//! Importing rejects again: adds the options of the run that wrote them.

use std::collections::BTreeMap;

use super::inputs::Request;
use super::service::on_a_thread;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::intake::{InspectedInput, NamedRow, NamedRuns};
use crate::lead::{ErrorCode, RowId, RowOutcome, RunId, RunName, Status};
use crate::ledger::{Ledger, LedgerError, LedgerPlace, Selection};
use crate::message::{Message, Text};
use crate::options::{Declaration, Options};
use crate::settings::{Layers, Service};
use crate::text::{joined, printable};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Finds the run that rejects among the inputs name, and adds its options with lower precedence
/// than what was typed. Returns the inputs.
///
/// # Errors
///
/// If that run is not known, unless all that matters was typed, or nothing leaves this computer:
/// people would be called for another campaign, or although they must not be called.
pub async fn add_options(
    request: &mut Request,
    inputs: Vec<InspectedInput>,
) -> Result<Vec<InspectedInput>, Failure> {
    let options = request.layers.options();
    let place = request.ledger()?;
    let service = Service::name(&options).stopped_by(StoppedBy::Usage)?;
    // All rows of the run are read.
    let finding = on_a_thread(move || -> Result<_, Failure> {
        let found = run_of_rejects(&inputs, place.as_ref(), service.as_deref())?;
        Ok((inputs, found))
    });
    let (inputs, found) = finding.await?;
    let unknown = match found {
        Ok((run, options)) => {
            if request.layers.typed().phones.suppress.is_none() {
                refuse_missing_lists(run, &options)?;
            }
            request.layers.add_run(run, options);
            return Ok(inputs);
        }
        Err(unknown) => unknown,
    };
    let missing = missing_flags(&request.layers);
    let is_trial = options.connection.sandbox == Some(true);
    let goes_on = request.asks_for_settings || is_trial || missing.is_empty();
    let hint = match missing.is_empty() {
        true => "the settings on the command line count in their place",
        false => "give the flags of that import again, above all `--suppress`",
    };
    for rejects in unknown {
        if !goes_on && rejects.names_run {
            let refused = rejects.message(&format!(
                "use the ledger of that import, and leave the cells below `leadload_run` and `leadload_row` as they are; or give its settings on the command line: {} {} missing",
                joined(&missing, "and"),
                if missing.len() == 1 { "is" } else { "are" }
            ));
            return Err(Failure::new(StoppedBy::Usage, refused));
        }
        request.warnings.add_always(rejects.message(hint));
    }
    Ok(inputs)
}

/// Rejects that are not known to be those of a run.
pub struct UnknownRejects {
    file: String,
    why: String,
    /// Whether they name a run. Those of a check, of the sandbox and of an import without a ledger
    /// do not.
    names_run: bool,
}

impl UnknownRejects {
    fn new(input: &InspectedInput, why: String) -> UnknownRejects {
        UnknownRejects {
            file: printable(input.input.name()).into_owned(),
            why,
            names_run: true,
        }
    }

    /// `hint` is for the terminal.
    fn message(&self, hint: &str) -> Message {
        let UnknownRejects { file, why, .. } = self;
        message!(
            "leadload does not know which {import wrote `{file}` ({why}), so its do-not-call lists, campaign, columns, countries and `--only`|list `{file}` belongs to, so the settings of that list} are not known",
            "{{hint}|choose them all again, above all the do-not-call list}",
            file,
            why,
            hint
        )
    }
}

/// What the command line has to say about rejects of an unknown run, and does not.
fn missing_flags(layers: &Layers) -> Vec<String> {
    let Options {
        mapping, phones, ..
    } = layers.typed();
    // A saved mapping may be that of a profile.
    let given = layers.given().mapping;
    let has_campaign = mapping.campaign.is_some() || mapping.campaign_column.is_some();
    let has_mapping = given.var.is_some() || given.skip_column.is_some();
    let said = [
        (has_campaign, "`--campaign`"),
        (phones.region.is_some(), "`--region` (or `--region none`)"),
        (
            phones.suppress.is_some(),
            "`--suppress` (or `--suppress none`)",
        ),
        (has_mapping, "`--var` or `--skip-column`"),
    ];
    let missing = said.into_iter().filter(|(is_said, _)| !is_said);
    missing.map(|(_, flag)| flag.to_owned()).collect()
}

/// The run that all rejects among the inputs are of, with the options that it leaves to them; or
/// those that are not known to be of a run. If there is a `service`, the run must have used it:
/// another one has other campaigns with the same ids.
pub fn run_of_rejects(
    inputs: &[InspectedInput],
    place: Option<&LedgerPlace>,
    service: Option<&str>,
) -> Result<Result<(RunId, Options), Vec<UnknownRejects>>, Failure> {
    let rejects = inputs
        .iter()
        .filter_map(|input| Some((input, input.rejects.as_deref()?)));
    let rejects: Vec<(&InspectedInput, &NamedRuns)> = rejects.collect();
    if let Some(unknown) = without_run(&rejects) {
        return Ok(Err(unknown));
    }
    let ledger = place.map(Ledger::read).transpose()?.flatten();
    let mut found: Option<(RunId, String)> = None;
    for (input, named) in rejects {
        for (name, rows) in &named.runs {
            let defaults = match (&ledger, place) {
                (Some(ledger), _) => defaults(ledger, input, *name, rows, service)?,
                (None, Some(_)) => Err(no_such_run(*name)),
                (None, None) => Err("there is no ledger".to_owned()),
            };
            match (defaults, &found) {
                (Err(why), _) => return Ok(Err(vec![UnknownRejects::new(input, why)])),
                (Ok(defaults), None) => found = Some((name.run, defaults)),
                (Ok(defaults), Some((other, options))) if !are_alike(options, &defaults) => {
                    return Err(different_settings(*other, name.run));
                }
                (Ok(_), Some(_)) => {}
            }
        }
    }
    let (Some((run, options)), Some(ledger)) = (found, ledger) else {
        return Ok(Err(Vec::new()));
    };
    let options = passed_on(&options).map_err(|error| {
        // Continuing would ignore the run's do-not-call lists.
        ledger.damaged(format!("the settings of run {run}: {}", error.what))
    })?;
    Ok(Ok((run, options)))
}

/// The options that a run leaves to its rejects, from what the ledger holds.
pub fn passed_on(defaults: &str) -> Result<Options, Message> {
    let stored: Map<String, Value> = serde_json::from_str(defaults).map_err(|error| {
        Message::new(
            Text::terminal(error.to_string()),
            terminal_text!("restore the ledger from a backup"),
        )
    })?;
    Options::of_ledger(&stored, Declaration::is_passed_to_rejects)
}

/// The rejects that do not say of which run they are; `None` if all do.
fn without_run(rejects: &[(&InspectedInput, &NamedRuns)]) -> Option<Vec<UnknownRejects>> {
    let first = |line: fn(&NamedRuns) -> Option<u64>| {
        let mut rejects = rejects.iter();
        rejects.find_map(|(input, named)| Some((*input, line(named)?)))
    };
    if let Some((input, line)) = first(|named| named.unreadable) {
        let why =
            format!("in line {line} `leadload_run` or `leadload_row` is not as it was written");
        return Some(vec![UnknownRejects::new(input, why)]);
    }
    if rejects.iter().all(|(_, named)| named.runs.is_empty()) {
        let unnamed = rejects.iter().map(|(input, _)| UnknownRejects {
            names_run: false,
            ..UnknownRejects::new(input, "no row names its run".to_owned())
        });
        return Some(unnamed.collect());
    }
    let (input, line) = first(|named| named.without_run)?;
    let why = format!(
        "line {line} names no run, and others do: such rows need a file and a command of their own"
    );
    Some(vec![UnknownRejects::new(input, why)])
}

/// The options that the run leaves to these rejects, or why they are not known to be its.
fn defaults(
    ledger: &Ledger,
    input: &InspectedInput,
    name: RunName,
    rows: &BTreeMap<RowId, NamedRow>,
    service: Option<&str>,
) -> Result<Result<String, String>, LedgerError> {
    let run = name.run;
    let Some(known) = ledger.defaults_of(run)? else {
        return Ok(Err(no_such_run(name)));
    };
    let why = if known.tag != name.tag {
        // Every ledger may have a run with this number, and so may this one from a backup.
        format!("run {run} of this ledger is another one")
    } else if service.is_some_and(|service| service != known.service) {
        format!("run {run} of this ledger had another service")
    } else if known.tag.is_none() && !has_columns(&known.columns, &input.own_columns()) {
        format!("run {run} of this ledger had other columns")
    } else if let Some(defaults) = known.defaults {
        match stray_row(ledger, run, rows)? {
            Some((row, line)) => {
                format!("line {line}: row {row} was not in the rejects of run {run}")
            }
            None => return Ok(Ok(defaults)),
        }
    } else {
        format!("run {run} was pruned")
    };
    Ok(Err(why))
}

/// The first of these rows that was not in the rejects of the run, and its line in this file.
fn stray_row(
    ledger: &Ledger,
    run: RunId,
    rows: &BTreeMap<RowId, NamedRow>,
) -> Result<Option<(RowId, u64)>, LedgerError> {
    let all = Selection {
        runs: vec![run],
        campaign: None,
        statuses: Vec::new(),
    };
    let mut rows = rows.clone();
    ledger.export(&all, |sent| {
        let Some(row) = rows.get_mut(&sent.row) else {
            return Ok(());
        };
        // An undo looks rows up that were uncertain.
        let is_undone = sent.outcome.error_code == Some(ErrorCode::Undone);
        if may_be_rejected(&sent.outcome) || row.is_uncertain && is_undone {
            rows.remove(&sent.row);
        } else {
            row.is_uncertain = false;
        }
        Ok::<_, LedgerError>(())
    })?;
    // A row that another run may have sent is uncertain in this one too, which has not sent it.
    let mut strays = rows.into_iter().filter(|(_, row)| !row.is_uncertain);
    Ok(strays.next().map(|(id, row)| (id, row.line)))
}

/// Whether a row may be in the rejects: one that was uncertain may have been looked up since.
fn may_be_rejected(outcome: &RowOutcome) -> bool {
    match outcome.status {
        Status::Created | Status::Duplicate => outcome.error_code == Some(ErrorCode::AnswerLost),
        _ => true,
    }
}

fn no_such_run(name: RunName) -> String {
    format!("this ledger has no run {name}")
}

fn different_settings(one: RunId, other: RunId) -> Failure {
    Failure::usage(message!(
        "{the inputs are rejects of runs {one} and {other}, which have|these rows to fix are of two lists, which had} different settings",
        "{import the rejects of each run with a command of their own|send the rows of each list as a list of its own}; the column `leadload_run` says which {run a row is from|rows belong together}",
        one = one.0,
        other = other.0
    ))
}

/// Refuses if a do-not-call list of the run is missing: it applies to the run's rejects too.
fn refuse_missing_lists(run: RunId, options: &Options) -> Result<(), Failure> {
    let mut lists = options.phones.suppress.iter().flatten();
    let Some(missing) = lists.find(|list| !list.exists()) else {
        return Ok(());
    };
    let missing = missing.display().to_string();
    Err(Failure::usage(message!(
        "the do-not-call list `{missing}` {no longer exists, but run {run} used it and its rejects need it too|of these rows is gone}",
        "{restore it, or name the lists that apply with `--suppress`|add it again under {--suppress}: these people must not be called}",
        missing = printable(&missing),
        run = run.0
    )))
}

/// Whether one of the inputs with these digests had these columns, or all but one of
/// them: the user may have added a column, such as the country that a number lacked.
fn has_columns(inputs: &[[u8; 32]], columns: &[&str]) -> bool {
    let is_known = |columns: &[&str]| inputs.contains(&columns_digest(columns));
    let is_known_without = |added: usize| {
        let (before, after) = (&columns[..added], &columns[added + 1..]);
        is_known(&[before, after].concat())
    };
    is_known(columns) || (0..columns.len()).any(is_known_without)
}

/// A digest of the column names in any order, since a spreadsheet program may have reordered them.
pub fn columns_digest(names: &[&str]) -> [u8; 32] {
    let mut names = names.to_vec();
    names.sort_unstable();
    let mut digest = Sha256::new();
    for name in names {
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name);
    }
    digest.finalize().into()
}

/// Whether these are the same settings, though another version of the program may have written one
/// of them, with its options in another order.
fn are_alike(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::to_value(passed_on(text).ok()?).ok();
    one == other || read(one).is_some_and(|one| read(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_same_in_whatever_order_a_version_has_written_them() {
        let one = r#"{"campaign":"101","region":"GB"}"#;
        assert!(are_alike(one, r#"{ "region": "GB", "campaign": "101" }"#));
        assert!(!are_alike(one, r#"{"campaign":"101","region":"DE"}"#));
        assert!(!are_alike(one, r#"{"campaign":"101"}"#));
        // What cannot be read is known to be the same only if it is.
        assert!(!are_alike("{", "{ "));
    }
}
