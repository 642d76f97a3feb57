//! What keeps a wrong list from being sent: bounds of its rows, in numbers or as shares of the last
//! run of the list at the same path.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde_json::Value;

use super::warnings::Warnings;
use super::{identity, inputs, service};
use crate::campaign::CampaignBook;
use crate::exit::Failure;
use crate::intake::Intake;
use crate::lead::Status;
use crate::ledger::{Ledger, LedgerError, RunRecord, RunState};
use crate::message::Message;
use crate::options::{Bound, Given, Options};
use crate::report::Tally;
use crate::settings::ImportSettings;
use crate::text::{counted, grouped, joined};

/// How many rows may be new, and how many may be invalid.
pub struct Guards {
    max_new: Option<RowBound>,
    max_invalid: Option<Given<Bound>>,
}

/// A bound whose rows are known.
struct RowBound {
    given: String,
    rows: u64,
    /// What it is a share of, for a sentence; empty if it is a number.
    of: String,
}

/// The complete runs of the lists at the paths of the inputs, the last one first; none if one of
/// the inputs is not a file.
pub(super) fn earlier_runs(
    ledger: &Ledger,
    intake: &Intake,
) -> Result<Vec<RunRecord>, LedgerError> {
    let Some(places) = inputs::places(intake).collect::<Option<BTreeSet<_>>>() else {
        return Ok(Vec::new());
    };
    let is_of_these = |run: &RunRecord| {
        let paths = run.inputs.iter().map(|input| input.path.clone());
        let paths = paths.collect::<Option<BTreeSet<_>>>();
        run.state() == RunState::Complete && paths.as_ref() == Some(&places)
    };
    let mut runs = ledger.runs()?;
    runs.retain(is_of_these);
    runs.sort_by_key(|run| Reverse(run.last_start()));
    Ok(runs)
}

impl Guards {
    /// Works out the bounds. Refuses a list that is shorter than a share of its last run; a number
    /// of rows was compared when the inputs were planned.
    pub async fn new(
        settings: &ImportSettings,
        intake: &Intake,
        book: &CampaignBook,
        warnings: &mut Warnings,
    ) -> Result<Guards, Failure> {
        let Options {
            reading, delivery, ..
        } = &settings.options;
        let (min_rows, max_new) = (reading.min_rows.as_ref(), delivery.max_new.as_ref());
        let shares = [("--min-rows", min_rows), ("--max-new", max_new)];
        let shares = shares.into_iter().filter_map(|(flag, given)| {
            let text = given.filter(is_share)?.text();
            Some(format!("`{flag} {}`", text.display()))
        });
        let shares: Vec<String> = shares.collect();
        let is_whole_list = intake.limit.is_none() && !intake.has_only_rejects();
        let last = if is_whole_list && !shares.is_empty() {
            let last = last_run(settings, intake, book);
            if last.is_none() {
                let is_kept = settings.ledger.is_some();
                let is_found_again = is_kept && inputs::places(intake).all(|place| place.is_some());
                warnings.add_always(unbounded(&shares, is_found_again));
            }
            last
        } else {
            None
        };
        let least = min_rows.filter(is_share);
        let least = least.and_then(|given| RowBound::new(given, last, Bound::at_least));
        if let Some(least) = least {
            let intake = intake.clone();
            service::on_a_thread(move || refuse_fewer_rows(&intake, &least)).await?;
        }
        Ok(Guards {
            max_new: max_new.and_then(|given| RowBound::new(given, last, Bound::at_most)),
            max_invalid: reading.max_invalid.clone(),
        })
    }

    /// Refuses an import with more invalid or more new rows than are allowed.
    pub fn refuse(&self, tally: &Tally) -> Result<(), Failure> {
        self.refuse_invalid(tally)?;
        let ready = tally.counts.of(Status::Ready);
        let Some(most) = self.max_new.as_ref().filter(|most| ready > most.rows) else {
            return Ok(());
        };
        Err(Failure::usage(message!(
            "{ready:lead} would be sent, but {`--max-new` allows {most:}{of}|the settings of leadload allow {most:} at a time}, so none was",
            "{`leadload check` with the same files shows what is new; to send them all, use `--max-new {ready}`|look whether this is the right list; the person who set up leadload can raise the limit}",
            ready,
            most = most.rows,
            of = &most.of
        )))
    }

    /// Refuses a list with more invalid rows than are allowed. Known bad ones do not count, neither
    /// as invalid rows nor as rows.
    pub fn refuse_invalid(&self, tally: &Tally) -> Result<(), Failure> {
        let all = tally.counts.total();
        let rows = all.saturating_sub(tally.known_bad);
        let invalid = tally.rows_of(Status::Invalid);
        let most = self.max_invalid.as_ref().map(|most| most.at_most(rows));
        let Some(most) = most.filter(|most| invalid > *most) else {
            return Ok(());
        };
        let problems = tally.problems().into_iter();
        let mut problems = problems.filter(|(status, ..)| *status == Status::Invalid);
        let usual = problems.next();
        let usual = usual.map(|(_, code, group)| format!(" ({} {code})", grouped(group.rows)));
        let usual = usual.unwrap_or_default();
        let refused = Failure::usage(message!(
            "{invalid:} of {rows:row} {invalid?is:are} {invalid{usual}, but `--max-invalid` allows {most:}, so nothing was sent|not usable, but the settings of leadload allow {most:}, so nothing is sent}",
            "{find out whether this is the right list and read as it should be: `leadload check` with `--max-invalid 100%` shows the rows|look at “Problems”, and whether this is the right list; the person who set up leadload can raise the limit}",
            invalid,
            rows,
            usual,
            most
        ));
        Err(refused.of_rows(all))
    }

    /// What a check says where an import would send nothing because too many rows are new.
    pub fn too_many_new(&self, ready: u64) -> Option<String> {
        let RowBound { given, of, .. } = self.max_new.as_ref().filter(|most| ready > most.rows)?;
        let leads = counted(ready, "lead");
        Some(format!(
            "an import would send nothing: {leads} are new, and `--max-new {given}` allows fewer{of}"
        ))
    }
}

impl RowBound {
    /// `None` for a share if there is no run that it is a share of.
    fn new(
        given: &Given<Bound>,
        last: Option<&RunRecord>,
        rounded: fn(Bound, u64) -> u64,
    ) -> Option<RowBound> {
        let text = given.text().to_string_lossy().into_owned();
        let (all, of) = match **given {
            Bound::Rows(_) => (0, String::new()),
            Bound::Share(_) => {
                let last = last?;
                let (all, run) = (rows(last)?, last.in_sentence());
                let rows = counted(all, "row");
                (all, format!(" ({text} of the {rows} of {run})"))
            }
        };
        Some(RowBound {
            given: text,
            rows: rounded(**given, all),
            of,
        })
    }
}

fn is_share(given: &&Given<Bound>) -> bool {
    matches!(***given, Bound::Share(_))
}

/// The last complete run of the list at this path, with this service and campaign, that had rows and
/// was neither limited nor of rejects.
fn last_run<'i>(
    settings: &ImportSettings,
    intake: &'i Intake,
    book: &CampaignBook,
) -> Option<&'i RunRecord> {
    let here = identity::options(&settings.service, settings, intake, book);
    let is_alike = |there: &Value| {
        let is_limited = there.get("limit").is_some_and(|limit| !limit.is_null());
        let of_rejects = there.get(identity::REJECTS).is_some();
        !is_limited && !of_rejects && identity::campaigns(there) == identity::campaigns(&here)
    };
    intake.earlier.iter().find(|run| {
        let options = run.options.as_ref().filter(|options| options.is_object());
        // A share of nothing would stop the job for good.
        let has_rows = rows(run).is_some_and(|rows| rows > 0);
        run.service == settings.service && has_rows && options.is_some_and(is_alike)
    })
}

/// The data rows of a run's inputs; `None` if they were not counted.
fn rows(run: &RunRecord) -> Option<u64> {
    run.inputs.iter().map(|input| input.rows).sum()
}

/// Refuses an export that is empty or almost empty. This does not apply to rejects.
pub(super) fn refuse_too_few_rows(intake: &Intake, least: &Given<Bound>) -> Result<(), Failure> {
    let least = RowBound::new(least, None, Bound::at_least);
    least.map_or(Ok(()), |least| refuse_fewer_rows(intake, &least))
}

fn refuse_fewer_rows(intake: &Intake, least: &RowBound) -> Result<(), Failure> {
    if least.rows == 0 || intake.has_only_rejects() {
        return Ok(());
    }
    let rows = intake.count_new_rows(least.rows)?;
    if rows >= least.rows {
        return Ok(());
    }
    let refused = Failure::usage(message!(
        "the {input|list} has {rows:data row}{, but `--min-rows` requires at least {least:}{of}, so nothing was sent|; on this computer a list must have at least {least:}, so nothing is sent}",
        "find out why the list is so short; if it is complete, {use `--min-rows {rows}`|{ask_setup}}",
        rows,
        least = least.rows,
        of = &least.of
    ));
    Err(refused.of_rows(rows))
}

/// `is_found_again`: whether the next run of the list can be compared with this one.
fn unbounded(shares: &[String], is_found_again: bool) -> Message {
    let compared = match is_found_again {
        true => "once a run of it is complete, the next one is compared with that",
        false => "shares need a list that is a file, and a ledger; a number of rows always counts",
    };
    message!(
        "{{shares} {count?bounds:bound} nothing: the ledger has no complete run of the list at this path with this service and campaign|leadload does not know how many people this list usually has, so it cannot tell whether there are too few or too many}",
        "{{compared}|look whether the number of people is what you expect}",
        shares = joined(shares, "and"),
        count = shares.len(),
        compared
    )
}
