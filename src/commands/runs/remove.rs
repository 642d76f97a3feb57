//! `leadload runs prune` and `leadload runs forget`: remove data from the ledger.
//!
//! Rule: never while a run is being sent, which may be about to look up that data.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;
use tracing::warn;

use super::export::campaign;
use super::{KnownRuns, half_copy, refuse_senders};
use crate::cli::runs::{ForgetArgs, PruneArgs};
use crate::commands::ask::{self, Cancelled};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::{CampaignId, Status};
use crate::ledger::{Ledger, LedgerPlace, Pruned, RunRecord, SenderLock};
use crate::message::{Message, Text};
use crate::options::{Format, Options};
use crate::paths::with_reason;
use crate::report::{Forgotten, console, forgotten_json, forgotten_text, pruned_json, pruned_text};
use crate::results::PrunedFiles;
use crate::settings::{Service, pages_folder};
use crate::text::{counted, printable};
use crate::web;

/// Removes cells, texts and file names of old runs, and their files if that is wanted. Returns the
/// text for standard output.
pub(super) fn prune(
    ledger: &LedgerPlace,
    args: &PruneArgs,
    options: &Options,
) -> Result<String, Failure> {
    half_copy::remove_left();
    let known = KnownRuns::read(ledger)?;
    // If the age is beyond the clock's range, no run is old enough.
    let older_than = Timestamp::now()
        .checked_sub(args.older_than)
        .unwrap_or(Timestamp::MIN);
    let mut files = args.files.then(PrunedFiles::default);
    let pruned = match known.ledger {
        None => Pruned::default(),
        Some(known) => {
            if args.files && !args.yes {
                confirm_files(&files_of_old(&known, older_than)?, options)?;
            }
            let (mut open, _locks) = alone(ledger)?;
            if let Some(files) = &mut files {
                // They go first: without their names in the ledger nobody would find them.
                *files = files_of_old(&open, older_than)?;
                files.remove().map_err(|(path, error)| {
                    let what = format!("cannot remove {}", with_reason(&path, &error));
                    let hint = "no run is pruned yet: close what has the file open, or make its folder writable, then run the same command again";
                    Failure::new(StoppedBy::Disk, Message::new(Text::terminal(what), Text::terminal(hint)))
                })?;
            }
            let pruned = open.prune(older_than)?;
            remove_files_of_page(ledger);
            pruned
        }
    };
    Ok(match options.output.format() {
        Format::Text => pruned_text(pruned, files.as_ref()),
        Format::Json => pruned_json(pruned, files.as_ref()),
    })
}

fn files_of_old(ledger: &Ledger, older_than: Timestamp) -> Result<PrunedFiles, Failure> {
    let old = ledger.old_runs(older_than)?;
    let mut files = PrunedFiles::find(ledger.runs()?, &old);
    if let Some(pages) = pages_folder() {
        // The page keeps these until their run is pruned, whatever is wanted here.
        let is_elsewhere = |path: &PathBuf| !path.starts_with(&pages);
        files.removed.retain(is_elsewhere);
        files.left.retain(|path, _| is_elsewhere(path));
    }
    Ok(files)
}

/// Shows the files that would be removed, if there are some, and asks.
fn confirm_files(files: &PrunedFiles, options: &Options) -> Result<(), Failure> {
    if files.removed.is_empty() {
        return Ok(());
    }
    let paths = files.removed.iter();
    let list = paths.map(|path| format!("  {}\n", printable(&path.display().to_string())));
    let files = counted(files.removed.len() as u64, "file");
    let question = format!("Prune, and remove {files} for good?");
    ask(
        &list.collect::<String>(),
        &question,
        ["prune", "pruned"],
        options,
    )
}

/// What is to be forgotten, and the question whether it is.
fn question(
    run: Option<&RunRecord>,
    of_service: Option<&(String, CampaignId)>,
) -> (Forgotten, String) {
    match (run, of_service) {
        (Some(run), _) => {
            let leads = run.counts.of(Status::Created) + run.counts.of(Status::Duplicate);
            let stay = if leads == 1 { "stays" } else { "stay" };
            let consequence = match leads {
                0 => "It had no leads.".to_owned(),
                _ => format!(
                    "Its {} {stay} at the service, but the next import will send these people again.",
                    counted(leads, "lead")
                ),
            };
            let question = format!("Forget run {}? {consequence}", run.run);
            (Forgotten::Run(run.run), question)
        }
        (None, Some((service, id))) => {
            let question = format!(
                "Forget campaign {id} of {service}? The next import will send its people again, whether or not the service still has them."
            );
            (Forgotten::Campaign(*id), question)
        }
        (None, None) => {
            let question = "Forget this number? Its leads stay at the service, but the next import will send this person again.";
            (Forgotten::Number, question.to_owned())
        }
    }
}

/// Removes everything that is known about a run, a number or a campaign. Returns the text for
/// standard output.
pub(super) fn forget(
    ledger: &LedgerPlace,
    args: &ForgetArgs,
    options: &Options,
) -> Result<String, Failure> {
    let known = KnownRuns::read(ledger)?;
    let run = args.what.run.map(|name| known.named(name)).transpose()?;
    let of_service = match &args.what.campaign {
        Some(name) => Some(campaign_of(&known, name, options)?),
        None => None,
    };
    let (what, question) = question(run, of_service.as_ref());
    if !args.yes {
        ask("", &question, ["forget", "forgotten"], options)?;
    }
    half_copy::remove_left();
    let leads = if known.ledger.is_none() {
        0
    } else {
        let (mut open, _locks) = alone(ledger)?;
        let leads = match (what, args.what.number, of_service) {
            (Forgotten::Run(run), ..) => open.forget_run(run)?,
            (Forgotten::Campaign(id), _, Some((service, _))) => {
                match open.known_service(&service)? {
                    Some(service) => open.forget_campaign(service, id)?,
                    None => 0,
                }
            }
            (_, Some(number), _) => open.forget_number(number)?,
            // clap ensures that one of the three is given.
            _ => 0,
        };
        remove_files_of_page(ledger);
        leads
    };
    Ok(match options.output.format() {
        Format::Text => forgotten_text(what, leads),
        Format::Json => forgotten_json(what, leads),
    })
}

/// The campaign that is meant, and its service: the one in use or, if none is, the only one that
/// the ledger knows.
fn campaign_of(
    known: &KnownRuns,
    name: &str,
    options: &Options,
) -> Result<(String, CampaignId), Failure> {
    let services: BTreeSet<&str> = known.runs.iter().map(|run| &*run.service).collect();
    let services: Vec<&str> = services.into_iter().collect();
    let in_use = Service::name(options).stopped_by(StoppedBy::Usage)?;
    let service: &str = match (&in_use, &services[..]) {
        (Some(service), known) if known.contains(&&**service) => service,
        (None, [only]) => only,
        (_, []) => {
            return Err(Failure::usage(Message::new(
                Text::terminal(format!(
                    "there are no runs yet in the ledger `{}`",
                    known.place
                )),
                terminal_text!("if your ledger is elsewhere, name it with `--ledger`"),
            )));
        }
        (_, several) => {
            return Err(Failure::usage(Message::new(
                Text::terminal(format!(
                    "it is not clear whose campaign is meant: the ledger knows `{}`",
                    printable(&several.join("`, `"))
                )),
                terminal_text!(
                    "name one of them with LEADLOAD_BASE_URL, or choose its profile with `--profile`"
                ),
            )));
        }
    };
    let runs = known.runs.iter().filter(|run| run.service == service);
    let id = campaign(&runs.collect::<Vec<&RunRecord>>(), Some(name))?;
    let empty = || {
        Failure::usage(terminal_message!(
            "`--campaign` is empty",
            "give the id of the campaign"
        ))
    };
    Ok((service.to_owned(), id.ok_or_else(empty)?))
}

/// Removes what the page has kept of runs that are pruned or forgotten now.
fn remove_files_of_page(ledger: &LedgerPlace) {
    let Some(pages) = pages_folder() else {
        return;
    };
    if let Err(error) = web::remove_pruned(&pages, ledger) {
        warn!(
            event = "warning",
            "some files that the page has kept cannot be removed from {}",
            with_reason(&pages, &error)
        );
    }
}

/// Opens the ledger and takes the locks that keep all runs from sending.
fn alone(place: &LedgerPlace) -> Result<(Ledger, Vec<SenderLock>), Failure> {
    let ledger = Ledger::open(place)?;
    let locks = refuse_senders(&ledger)?;
    Ok((ledger, locks))
}

/// Asks for confirmation, since what is removed cannot be restored: in the terminal, below a list.
/// What is done is named as a verb and as a participle.
fn ask(
    list: &str,
    question: &str,
    done: [&'static str; 2],
    options: &Options,
) -> Result<(), Failure> {
    let [verb, done] = done;
    if !ask::can_ask(options.log.format()) {
        return Err(Failure::usage(Message::new(
            terminal_text!("this needs your confirmation, and there is no terminal to ask for it"),
            Text::terminal(format!("add `--yes` to {verb} without a question")),
        )));
    }
    console::note(list);
    if ask::interruptible(done, async |terminal| terminal.yes(question).await)? {
        Ok(())
    } else {
        Err(Cancelled(done).into())
    }
}
