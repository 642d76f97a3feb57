//! *History*: the runs that the ledger knows, those of the command line too.

use std::path::Path as FilePath;
use std::slice;
use std::sync::Arc;

use axum::Extension;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;

use super::campaigns::Campaigns;
use super::earlier::options_of_run;
use super::files;
use super::job::{Job, JobRecord};
use super::layout::{FieldError, Screen, see_other};
use super::sending;
use super::server::FormFields;
use super::site::Site;
use super::steps::send::button;
use super::trouble::Trouble;
use super::undo;
use super::visit::{Answer, Visit};
use super::words;
use crate::exit::Failure;
use crate::import::service;
use crate::lead::{RunId, Status};
use crate::ledger::{Ledger, LedgerError, OutputKind, RunRecord, RunState};
use crate::message::Voice;
use crate::options::{Declaration, Given, Options};
use crate::report::{self, Html, list_name, times};
use crate::results::{is_usual_place, locate_outputs};
use crate::text::{counted, printable};

/// How many runs the list shows.
const MAX_RUNS: usize = 200;

pub async fn show(visit: Visit) -> Response {
    // Campaigns are shown by their names.
    let _ = Campaigns::until(visit.until, &visit.site).await;
    let runs = match runs(&visit).await {
        Ok(runs) => runs,
        Err(trouble) => return failed(&visit, "History", &trouble),
    };
    let is_shared = visit.site.is_shared();
    let who = match is_shared {
        true => "by everyone who shares this record",
        false => "from this computer",
    };
    let runs: Vec<&RunRecord> = runs.iter().rev().take(MAX_RUNS).collect();
    let table = report::runs(&runs, &|run| campaign(&visit.site, run), is_shared);
    let html = Html {
        cell: &|row, column, cell| match column {
            0 => html! { a href=(visit.run_path(runs[row].run)) { (cell) } },
            _ => cell,
        },
        last: Some(("Undo", &|row| {
            undo::link(&visit, runs[row], Some(&list_name(runs[row])))
        })),
        ..Html::plain(Voice::Page)
    };
    let screen = Screen {
        title: "History".into(),
        heading: "History".into(),
        help: format!("What was sent {who}, the latest first."),
        back: Some(visit.path("list")),
        body: Some(html.blocks(&[table])),
        ..Screen::default()
    };
    screen.respond(&visit)
}

/// The screen with this title that cannot be shown.
pub fn failed(visit: &Visit, title: &str, trouble: &Trouble) -> Response {
    let screen = Screen {
        title: title.into(),
        heading: title.into(),
        back: Some(visit.path("list")),
        errors: vec![FieldError::of(trouble, None)],
        status: StatusCode::INTERNAL_SERVER_ERROR,
        ..Screen::default()
    };
    screen.respond(visit)
}

async fn runs(visit: &Visit) -> Result<Vec<RunRecord>, Trouble> {
    let runs = read(visit, Ledger::runs).await?;
    Ok(runs.unwrap_or_default())
}

/// The run with this number. Without it the answer is the list of all runs.
pub async fn run(visit: &Visit, id: u64) -> Result<RunRecord, Response> {
    find(visit, id, |_| {}).await
}

/// The run with this number, and where its files are now.
pub async fn run_with_files(visit: &Visit, id: u64) -> Result<RunRecord, Response> {
    find(visit, id, |run| locate_outputs(slice::from_mut(run))).await
}

async fn find(
    visit: &Visit,
    id: u64,
    look: impl FnOnce(&mut RunRecord) + Send + 'static,
) -> Result<RunRecord, Response> {
    let found = read(visit, move |ledger| {
        let runs = ledger.runs()?;
        let mut found = runs.into_iter().find(|run| run.run == RunId(id));
        if let Some(run) = &mut found {
            look(run);
        }
        Ok(found)
    });
    let found = found.await;
    let found = found.map_err(|trouble| failed(visit, "History", &trouble))?;
    found
        .flatten()
        .ok_or_else(|| see_other(&visit.path("history")))
}

/// Reads the ledger, if there is one.
pub async fn read<T: Send + 'static>(
    visit: &Visit,
    read: impl FnOnce(&Ledger) -> Result<T, LedgerError> + Send + 'static,
) -> Result<Option<T>, Trouble> {
    let site = Arc::clone(&visit.site);
    let reading = service::on_a_thread(move || {
        let ledger = site.ledger()?;
        Ok::<_, Failure>(ledger.as_ref().map(read).transpose()?)
    });
    reading.await.map_err(|failure| Trouble::of(&failure))
}

/// When the list was sent, and by whom where several people share the ledger.
pub fn when(visit: &Visit, run: &RunRecord) -> String {
    let day = times::day(run.began_at);
    match visit.site.is_shared() {
        true => format!("{day}, by {}", printable(&run.people())),
        false => day,
    }
}

pub fn campaign(site: &Site, run: &RunRecord) -> String {
    // Another service has other campaigns with the same numbers.
    let is_of_here = run.service == site.service_name();
    report::chosen_campaign(
        run.options.as_ref().unwrap_or(&Value::Null),
        |chosen| match is_of_here {
            true => site.campaigns.name(&chosen),
            false => chosen,
        },
    )
}

/// Whether nothing is left of a run that is undone.
fn is_removed(run: &RunRecord) -> bool {
    let undo = run.undo.as_ref();
    undo.is_some_and(|undo| undo.counts.all_are_removed())
}

pub async fn show_run(visit: Visit, Path(id): Path<u64>) -> Answer {
    let run = run_with_files(&visit, id).await?;
    let job = visit.site.jobs.of_run(run.run);
    if let Some(job) = &job
        && sends(job, &run)
        && job.state().sending.live().is_some()
    {
        return Ok(see_other(&visit.job_path(job.id, "run")));
    }
    let name = list_name(&run);
    let created = run.counts.of(Status::Created);
    let latest = undo::latest(&visit, &run).and_then(|work| work.now().end);
    let (told, trouble) = match latest {
        Some(Ok(told)) => (Some(told), None),
        // Whatever it was, it is over.
        Some(Err(_)) if is_removed(&run) => (None, None),
        Some(Err(trouble)) => (None, Some(trouble)),
        None => (None, None),
    };
    let screen = Screen {
        title: format!("Run, {name}"),
        heading: match run.state() {
            RunState::Complete => "Sent".to_owned(),
            RunState::Undone if is_removed(&run) => "Removed again".to_owned(),
            RunState::Undone => "Removed in part".to_owned(),
            RunState::AtWork => "Being sent".to_owned(),
            RunState::Stopped(_) | RunState::Killed => "Stopped".to_owned(),
        },
        help: format!("{name}, sent on {}.", when(&visit, &run)),
        back: Some(visit.path("history")),
        errors: trouble
            .iter()
            .map(|trouble| FieldError::of(trouble, None))
            .collect(),
        body: Some(html! {
            @if let Some(told) = told.filter(|told| !told.is_empty()) {
                div.told role="status" { (Html::plain(Voice::Page).blocks(&told)) }
            }
            p.big { (counted(created, "lead")) }
            (Html::plain(Voice::Page).blocks(&report::run(&run, &campaign(&visit.site, &run))))
            (resume_form(&visit, &run, job.as_deref()))
            (look_up_form(&visit, &run))
            (downloads(&visit, &run, job.as_deref()))
        }),
        ..Screen::default()
    };
    Ok(screen.respond(&visit))
}

/// Where the list of a run is, if it is still there.
fn list_path(run: &RunRecord) -> Option<&FilePath> {
    let [input] = &run.inputs[..] else {
        return None;
    };
    let path = input.path.as_deref().filter(|_| run.is_of_here());
    path.filter(|path| path.is_file())
}

pub fn is_unfinished(run: &RunRecord) -> bool {
    matches!(run.state(), RunState::Stopped(_) | RunState::Killed)
}

fn resume_form(visit: &Visit, run: &RunRecord, job: Option<&Job>) -> Markup {
    let can_resume = job.is_some() || list_path(run).is_some();
    html! {
        @if is_unfinished(run) {
            @if run.service != visit.site.service_name() {
                p { "It went to another service, " bdi { (printable(&run.service)) } ", so it cannot be resumed here." }
            } @else if let Some(job) = job.filter(|job| !sends(job, run)) {
                p {
                    "The list or its settings were changed since, so it cannot be resumed. "
                    @if job.record().list.is_file() {
                        a href=(visit.job_path(job.id, "send")) { "Go on with the list" }
                    }
                }
            } @else if can_resume {
                (button(visit, &format!("{}/resume", visit.run_path(run.run)), "Resume"))
            } @else if run.is_of_here() {
                p { "Its list is not at its place, so it cannot be resumed here." }
            } @else {
                p { "Its list is on the computer that sent it, so it cannot be resumed here." }
            }
        }
    }
}

/// Uncertain rows can be looked up.
pub fn look_up_form(visit: &Visit, run: &RunRecord) -> Markup {
    let uncertain = run.counts.of(Status::Uncertain);
    html! {
        @if uncertain > 0 && undo::is_offered(visit, run) {
            p {
                "Of " (counted(uncertain, "row")) " it isn't sure that "
                @if uncertain == 1 { "it" } @else { "they" } " arrived. The service may know."
            }
            (button(visit, &format!("{}/look-up", visit.run_path(run.run)), "Look them up"))
        }
    }
}

/// Whether this is the run that sends the list as it is now.
fn sends(job: &Job, run: &RunRecord) -> bool {
    job.record().run == Some(run.run)
}

/// What can be downloaded of a run, and its summary.
pub fn downloads(visit: &Visit, run: &RunRecord, job: Option<&Job>) -> Markup {
    let file = |name: &str| format!("{}/files/{name}", visit.run_path(run.run));
    html! {
        p.buttons {
            @if job.is_some_and(|job| files::has_workbook(run, job)) {
                a.button href=(file("results.xlsx")) download { "Download results" } " "
            }
            @if files::output(run, job, OutputKind::Results).is_some() {
                a.button href=(file("results.csv")) download { "Download results (CSV)" } " "
            }
            @if files::output(run, job, OutputKind::Rejects).is_some() {
                a.button href=(file("rows-to-fix")) download { "Download rows to fix" } " "
            }
            @if files::output(run, job, OutputKind::Undo).is_some() {
                a.button href=(file("removed.csv")) download { "Download what was removed" } " "
            }
            a.button href={ (visit.run_path(run.run)) "/summary" } { "Print summary" } " "
            (undo::link(visit, run, None))
        }
        @for (kind, name) in [(OutputKind::Results, "results"), (OutputKind::Rejects, "rows to fix")] {
            @if let Some(why) = files::why_not_there(run, job, kind) { p { "The " (name) " " (why) } }
        }
    }
}

/// Goes on with a run that has stopped: by its job, or by a job that is made for it.
pub async fn resume(
    visit: Visit,
    Path(id): Path<u64>,
    Extension(_): Extension<FormFields>,
) -> Answer {
    let run = run_with_files(&visit, id).await?;
    // Two presses at the same moment make one job.
    let _adopting = visit.site.adopting.lock().await;
    let job = visit.site.jobs.of_run(run.run);
    let is_changed = job.as_ref().is_some_and(|job| !sends(job, &run));
    if is_changed || !is_unfinished(&run) || run.service != visit.site.service_name() {
        return Ok(see_other(&visit.run_path(run.run)));
    }
    let job = match job {
        Some(job) => job,
        None => {
            let adopted = adopt(&visit, &run).await;
            adopted.map_err(|trouble| failed(&visit, "History", &trouble))?
        }
    };
    sending::resume(&visit.site, &job, visit.until).await;
    Ok(see_other(&visit.job_path(job.id, "run")))
}

/// Makes a job for a run that a command line began. Its list stays at its place, and so do outputs
/// that are beside it; others are in the job's folder, since a ledger may name any path.
async fn adopt(visit: &Visit, run: &RunRecord) -> Result<Arc<Job>, Trouble> {
    let gone = || {
        Trouble::new(
            "The list of this run is not at its place.",
            "Put it back there, or send it as a new list.",
        )
    };
    let path = list_path(run).ok_or_else(gone)?.to_owned();
    let ledger = visit
        .site
        .ledger()
        .map_err(|failure| Trouble::of(&failure))?;
    let options = ledger.map(|ledger| options_of_run(&ledger, run.run));
    let options = options.transpose()?.flatten();
    let mut options = options.ok_or_else(|| {
        Trouble::new(
            "The settings of this run are not known any more.",
            "Send its list as a new list: who has been sent is left out.",
        )
    })?;
    complete(&mut options, run);
    refuse_duplicates(visit, &options, run)?;
    for (kind, place) in [
        (OutputKind::Results, &mut options.output.results),
        (OutputKind::Rejects, &mut options.output.rejects),
    ] {
        let mut outputs = run.outputs.iter().rev();
        let output = outputs.find(|output| output.kind == kind);
        *place = output
            .and_then(|output| output.path.clone())
            .filter(|output| is_usual_place(output, kind, &path))
            .map(|path| Given::new(path.clone(), path));
    }
    let failed =
        |error: std::io::Error| Trouble::new("The run can't be resumed.", words::disk(&error));
    let (id, folder) = visit.site.jobs.new_folder().map_err(failed)?;
    let mut record = JobRecord::new(&visit.site, list_name(run), path);
    (record.options, record.has_columns, record.run) = (options, true, Some(run.run));
    visit.site.jobs.add(id, folder, record).map_err(failed)
}

/// Adds the options that make it the same run and that rows to fix do not need.
fn complete(options: &mut Options, run: &RunRecord) {
    let Some(known) = run.options.as_ref().and_then(|options| options.as_object()) else {
        return;
    };
    let mut stored = known.clone();
    // The service and other things that are no options make it the same run too.
    stored.retain(|key, json| !json.is_null() && options.field(key).is_some());
    // A value that cannot be read makes it another run, which is refused.
    if let Ok(of_run) = Options::of_ledger(&stored, Declaration::is_passed_to_resumed) {
        options.complete(&of_run);
    }
    if known.get("has_header").and_then(|has| has.as_bool()) == Some(false) {
        options.reading.no_header = Some(true);
    }
}

/// Refuses a run that was begun with duplicates allowed, unless the page was started so: nobody is
/// called twice because a ledger says so.
fn refuse_duplicates(visit: &Visit, options: &Options, run: &RunRecord) -> Result<(), Trouble> {
    let known = run.options.as_ref();
    let was_allowed = known.is_some_and(|options| options["allow_duplicates"] == true);
    let layers = visit.site.layers(options);
    let layers = layers.map_err(|failure| Trouble::of(&failure))?;
    if !was_allowed || layers.options().delivery.allow_duplicates == Some(true) {
        return Ok(());
    }
    Err(Trouble::new(
        "This run sends people again who are in the campaign already, so it can't be resumed here.",
        "Go on with it where it was begun.",
    ))
}
