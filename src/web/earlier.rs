//! Settings of earlier lists: a list with the same columns takes them, and so do rows to fix that
//! are given back.

use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use super::job::{Job, JobId, JobRecord};
use super::reading::ListFacts;
use super::site::Site;
use super::trouble::Trouble;
use crate::import::{columns_digest, passed_on, run_of_rejects, service};
use crate::lead::{RunId, Status};
use crate::ledger::{Ledger, RunRecord};
use crate::options::{Given, Options};
use crate::private_file;
use crate::report::list_name;

/// Gives a new list the settings of an earlier one, if there is one with the same columns. Returns
/// whether the campaign and all settings are known, so that the list can be sent at once.
pub async fn take_settings(
    site: &Arc<Site>,
    job: &Arc<Job>,
    facts: &Arc<ListFacts>,
) -> Result<bool, Trouble> {
    let record = job.record();
    if record.has_columns || record.taken_from.is_some() {
        return Ok(record.has_columns && record.has_campaign());
    }
    let Some(earlier) = find(site, job.id, facts).await? else {
        return Ok(false);
    };
    let lists = keep_lists(site, job, &earlier.options);
    let changed = job.change(record.version, |record| {
        // What was said about the sheet is about this very list.
        let said = record.options.reading.clone();
        record.options = earlier.options;
        record.options.reading.sheet = said.sheet;
        record.options.reading.hidden_rows = said.hidden_rows;
        record.forget_answers();
        record.options.phones.suppress = lists;
        record.has_columns = true;
        record.taken_from = Some(earlier.name);
        record.has_earlier_settings = true;
        record.known_problems = earlier.problems;
    });
    Ok(changed.is_ok() && job.record().has_campaign())
}

struct Earlier {
    name: String,
    options: Options,
    problems: Vec<String>,
}

async fn find(
    site: &Arc<Site>,
    this: JobId,
    facts: &Arc<ListFacts>,
) -> Result<Option<Earlier>, Trouble> {
    let list = &facts.inspected;
    if let Some(job) = named_job(site, facts) {
        return Ok(Some(of_job(&job.record())));
    }
    let named = match list.rejects {
        Some(_) => Some(named_run(site, facts).await),
        None => None,
    };
    let ledger = site.ledger().map_err(|failure| Trouble::of(&failure))?;
    let Some(ledger) = ledger else {
        return Ok(None);
    };
    let of_ledger = |error: crate::ledger::LedgerError| Trouble::of(&error.into());
    let runs = ledger.runs().map_err(of_ledger)?;
    let service = site.service_name();
    let digest = columns_digest(&list.own_columns());
    let is_meant = |run: &&RunRecord| match named {
        Some(named) => named == Some(run.run),
        None => {
            let has_sent = run.counts.of(Status::Created) + run.counts.of(Status::Duplicate) > 0;
            let has_columns = run.inputs.len() == 1 && run.inputs[0].columns == digest;
            run.service == service && has_sent && has_columns
        }
    };
    let Some(run) = runs.iter().rev().find(is_meant) else {
        return Ok(None);
    };
    // What a run was sent with: the settings of its list may have been changed since.
    let Some(options) = options_of_run(&ledger, run.run)? else {
        return Ok(None);
    };
    let of_page = site.jobs.of_run(run.run).filter(|job| job.id != this);
    let of_page = of_page.map(|job| job.record());
    Ok(Some(Earlier {
        name: list_name(run),
        options: without_answers(with_variables(options, run)),
        problems: of_page.map_or_else(Vec::new, |record| record.known_problems),
    }))
}

/// The settings that a run was sent with, as long as the ledger knows them.
pub fn options_of_run(ledger: &Ledger, run: RunId) -> Result<Option<Options>, Trouble> {
    let stored = ledger.defaults_of(run);
    let stored = stored.map_err(|error| Trouble::of(&error.into()))?;
    let text = stored.and_then(|stored| stored.defaults);
    Ok(text.and_then(|text| passed_on(&text).ok()))
}

/// The options of a run of the command line with the columns that it sent: on the page they are
/// always named, since a column that is not ticked is not sent.
fn with_variables(mut options: Options, run: &RunRecord) -> Options {
    if options.mapping.var.is_none() {
        let known = run.options.as_ref();
        let variables = known.and_then(|known| known["variables"].as_object());
        let texts = variables
            .into_iter()
            .flatten()
            .filter_map(|(name, column)| {
                let column = column.as_str()?;
                Some(format!("{name}={column}"))
            });
        options.mapping.var = Some(Given::list_of(&texts.collect::<Vec<_>>()));
    }
    options
}

/// The run whose rows to fix these are. If they are of none, or of several, the check says so.
async fn named_run(site: &Arc<Site>, facts: &Arc<ListFacts>) -> Option<RunId> {
    let place = site.ledger_place().ok()?;
    let (service, facts) = (site.service_name(), Arc::clone(facts));
    let found = service::on_a_thread(move || {
        let lists = slice::from_ref(&facts.inspected);
        run_of_rejects(lists, place.as_ref(), Some(service.as_str()))
            .map(|found| found.ok().map(|(run, _)| run))
    });
    found.await.ok()?
}

/// The job whose check wrote these rows to fix.
fn named_job(site: &Site, facts: &ListFacts) -> Option<Arc<Job>> {
    let named = facts.inspected.rejects.as_ref()?;
    let is_one = named.labels.len() == 1 && named.runs.is_empty();
    let label = named.labels.first().filter(|_| is_one)?.as_str();
    let service = site.service_name();
    let mut jobs = site.jobs.newest_first().into_iter();
    jobs.find(|job| {
        let record = job.record();
        record.label == label && record.service == service
    })
}

fn of_job(record: &JobRecord) -> Earlier {
    Earlier {
        name: record.name.clone(),
        options: without_answers(record.options.clone()),
        problems: record.known_problems.clone(),
    }
}

/// Whether numbers are right as they are is asked for each list.
fn without_answers(mut options: Options) -> Options {
    options.phones.phone_rule = None;
    options
}

/// Copies the do-not-call lists that the page keeps, since those of the earlier list go with it.
/// Others are read at their place each time.
fn keep_lists(site: &Site, job: &Job, options: &Options) -> Option<Vec<Given<PathBuf>>> {
    let lists = options.phones.suppress.as_ref()?.iter();
    let kept = lists.map(|list| {
        let copy = || {
            let folder = job.new_folder().ok()?;
            let place = folder.path().join(list.file_name()?);
            private_file::copy(list, &place).ok()?;
            let _ = folder.keep();
            Some(Given::new(place.clone(), place))
        };
        // A list that is gone stays named, so that the check says so.
        let is_own = site.jobs.has(list);
        let copied = is_own.then(copy).flatten();
        copied.unwrap_or_else(|| list.clone())
    });
    Some(kept.collect())
}

/// The names of the variables that were last sent to this campaign; `None` if there were none.
pub fn variables_last_sent(site: &Site, campaign: &str) -> Option<Vec<String>> {
    let runs = site.ledger().ok()??.runs().ok()?;
    let service = site.service_name();
    let is_of_campaign = |run: &&RunRecord| {
        let options = run.options.as_ref();
        let chosen = options.and_then(|options| options["campaign"].as_str());
        let is_id = chosen == Some(campaign);
        let by_name = || run.campaign_called(chosen?).map(|id| id.to_string());
        run.service == service && (is_id || by_name().as_deref() == Some(campaign))
    };
    let has_sent = |run: &&RunRecord| run.counts.of(Status::Created) > 0;
    let mut latest_first = runs.iter().rev().filter(is_of_campaign).filter(has_sent);
    let variables = &latest_first.next()?.options.as_ref()?["variables"];
    Some(variables.as_object()?.keys().cloned().collect())
}
