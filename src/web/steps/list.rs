//! *List*: the file that is sent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use maud::{Markup, html};

use super::{checked, facts, not_changed, screen};
use crate::private_file;
use crate::report::times;
use crate::text::grouped;
use crate::web::earlier;
use crate::web::job::{Job, JobId, JobRecord, new_folder_in};
use crate::web::layout::{FieldError, Screen, labelled, see_other, status_of, upload_form};
use crate::web::reading::{self, ListFacts};
use crate::web::reading_form;
use crate::web::server::upload;
use crate::web::trouble::{Question, Trouble};
use crate::web::visit::{Answer, CurrentJob, Visit};
use crate::web::words::{disk, upload_error};
use crate::web::work::WorkState;

const HEADING: &str = "Choose your contact list";
const HELP: &str = "Excel or CSV. Save it first; it can stay open. Nothing is sent yet and your file isn't changed.";

/// The endings that the file chooser offers.
const ENDINGS: &str = ".csv,.tsv,.txt,.xlsx,.xlsm,.xls,.ods,.gz,.zst";

/// The screen to choose a new list on.
pub async fn choose(visit: Visit) -> Response {
    if !visit.site.has_service() {
        return see_other(&visit.path("service"));
    }
    chooser(&visit, Vec::new())
}

fn chooser(visit: &Visit, errors: Vec<FieldError>) -> Response {
    let status = status_of(&errors);
    let screen = Screen {
        title: "List".into(),
        heading: HEADING.into(),
        help: HELP.into(),
        back: Some(visit.path("history")),
        errors,
        body: Some(html! {
            (upload_form(visit, &visit.path("list"), file_field("Continue")))
            @if visit.site.is_practice() {
                h2 { "No list at hand?" }
                (upload_form(visit, &visit.path("list"), html! {
                    input type="hidden" name="sample" value="1";
                    button type="submit" { "Use the sample list" }
                }))
            }
            (drafts(visit))
        }),
        status,
        ..Screen::default()
    };
    screen.respond(visit)
}

fn file_field(button: &str) -> Markup {
    html! {
        (labelled("list", "Contact list", html! {
            input #list type="file" name="list" accept=(ENDINGS) required;
        }))
        progress #upload-progress max="100" value="0" aria-label="Upload" hidden {}
        p { button.primary type="submit" { (button) } }
    }
}

/// The lists that were prepared and not sent.
fn drafts(visit: &Visit) -> Markup {
    let jobs = visit.site.jobs.newest_first();
    let drafts: Vec<(JobId, JobRecord)> = jobs
        .iter()
        .map(|job| (job.id, job.record()))
        .filter(|(_, record)| record.run.is_none() && record.list.is_file())
        .collect();
    html! {
        @if !drafts.is_empty() {
            h2 { "Lists that you have not sent" }
            ul.drafts {
                @for (id, record) in &drafts {
                    li {
                        a href=(visit.job_path(*id, "campaign")) { bdi { (record.name) } }
                        " from " (times::day(record.made_at))
                    }
                }
            }
        }
    }
}

/// Takes a new list.
pub async fn take(visit: Visit, request: Request) -> Response {
    match taken(&visit, request).await {
        Ok(job) => {
            // Most lists are read in a moment.
            reading::begin(&visit.site, &job);
            job.wait_until(visit.until, |state| state.read.is_over())
                .await;
            see_other(&visit.job_path(job.id, "begin"))
        }
        Err(text) => chooser(&visit, vec![FieldError::at("list", text)]),
    }
}

async fn taken(visit: &Visit, request: Request) -> Result<Arc<Job>, String> {
    let (id, folder) = visit.site.jobs.new_folder().map_err(|why| disk(&why))?;
    // The page's own files stand beside it, so the list has a folder of its own.
    let inner = new_folder_in(folder.path()).map_err(|why| disk(&why))?;
    let received = upload::receive(request, inner.path()).await;
    let upload = received.map_err(|error| upload_error(&error))?;
    let (name, list) = match upload.fields.get("sample") {
        Some(_) => sample(inner.path()).map_err(|why| disk(&why))?,
        None => upload.file.ok_or("Choose a list first.")?,
    };
    let record = JobRecord::new(&visit.site, name, list);
    let job = visit.site.jobs.add(id, folder, record);
    let _ = inner.keep();
    job.map_err(|why| disk(&why))
}

/// The list of the practice.
fn sample(folder: &Path) -> io::Result<(String, PathBuf)> {
    const SAMPLE: &[u8] = include_bytes!("../../../sample-data/contacts.csv");
    let list = folder.join("contacts.csv");
    private_file::replace(&list, SAMPLE, None)?;
    Ok(("contacts.csv".to_owned(), list))
}

/// The first screen of a list that was read: its campaign, or where its settings are known, what
/// is to be looked at before it is sent.
pub async fn begin(visit: Visit, CurrentJob(job): CurrentJob) -> Answer {
    let facts = facts(&visit, &job).await?;
    match earlier::take_settings(&visit.site, &job, &facts).await {
        Ok(true) => {}
        Ok(false) => return Ok(see_other(&visit.job_path(job.id, "campaign"))),
        Err(trouble) => return Err(unreadable(&visit, &job, &trouble)),
    }
    let checked = checked(&visit, &job).await?;
    let known = job.record().known_problems;
    let mut kinds = checked.kinds_of_problems().into_iter();
    let next = match kinds.any(|kind| !known.contains(&kind)) {
        true => "problems",
        false => "send",
    };
    Ok(see_other(&visit.job_path(job.id, next)))
}

/// The list of a job, and how it is replaced.
pub async fn show(visit: Visit, CurrentJob(job): CurrentJob) -> Response {
    let open = match &job.state().read {
        WorkState::Failed(trouble) => Some(trouble.clone()),
        _ => None,
    };
    let facts = job.state().read.done();
    let open = open.or_else(|| facts.and_then(|facts| open_question(&visit, &job, &facts)));
    match open.filter(|trouble| trouble.question.is_some()) {
        Some(trouble) => unreadable(&visit, &job, &trouble),
        None => shown(&visit, &job, Vec::new(), None, StatusCode::OK),
    }
}

/// What is open about the sheet, before anything else is asked.
pub fn open_question(visit: &Visit, job: &Job, facts: &ListFacts) -> Option<Trouble> {
    let options = visit.site.options_of(&job.record());
    let hidden_rows = options.reading.hidden_rows.as_deref().copied();
    let question = facts.inspected.question(hidden_rows);
    question.as_ref().map(Trouble::of_mapping)
}

fn shown(
    visit: &Visit,
    job: &Arc<Job>,
    errors: Vec<FieldError>,
    question: Option<&Question>,
    status: StatusCode,
) -> Response {
    let state = job.state();
    let (facts, record) = (state.read.done(), state.record.clone());
    drop(state);
    let screen = Screen {
        heading: HEADING.into(),
        help: HELP.into(),
        back: Some(visit.path("list")),
        errors,
        body: Some(html! {
            p {
                strong { bdi { (record.name) } }
                @if let (Some(facts), None) = (&facts, question) { ", " (grouped(facts.rows())) " rows" }
            }
            @if let Some(question) = question { (reading_form::question(visit, job, question, Some("begin"))) }
            h2 { "Use a newer version" }
            p {
                "Your settings stay as they are."
                @if record.is_corrected { " The corrections that you made here are not in the newer version." }
            }
            (upload_form(visit, &visit.job_path(job.id, "list"), html! {
                input type="hidden" name="version" value=(record.version);
                (file_field("Use a newer version"))
            }))
            p { a.button href=(visit.job_path(job.id, "campaign")) { "Continue" } }
        }),
        status,
        ..screen(visit, job, "List", "list")
    };
    screen.respond(visit)
}

/// The screen of a list that cannot be read, or not before a question about its sheet is answered.
pub fn unreadable(visit: &Visit, job: &Arc<Job>, trouble: &Trouble) -> Response {
    let question = trouble.question.as_ref();
    let field = match question {
        Some(Question::Sheet(_)) => "sheet",
        Some(Question::HiddenRows(_)) => "hidden-rows",
        _ => "list",
    };
    let errors = vec![FieldError::of(trouble, Some(field))];
    shown(visit, job, errors, question, StatusCode::OK)
}

/// Replaces the list by a newer version, which keeps all settings.
pub async fn replace(visit: Visit, CurrentJob(job): CurrentJob, request: Request) -> Response {
    let refused = |text: String| {
        let errors = vec![FieldError::at("list", text)];
        shown(&visit, &job, errors, None, StatusCode::UNPROCESSABLE_ENTITY)
    };
    let folder = match job.new_folder() {
        Ok(folder) => folder,
        Err(error) => return refused(disk(&error)),
    };
    let upload = match upload::receive(request, folder.path()).await {
        Ok(upload) => upload,
        Err(error) => return refused(upload_error(&error)),
    };
    let version = upload.fields.version();
    let Some((name, list)) = upload.file else {
        return refused("Choose a list first.".to_owned());
    };
    let old = job.record();
    let changed = job.change(version, |record| {
        (record.name, record.list) = (name, list);
        record.made_at = Timestamp::now();
        record.is_corrected = false;
        // It may be the rows to fix of another run, whose do-not-call lists apply too.
        record.has_earlier_settings = false;
        record.forget_answers();
        record.end_run();
    });
    if let Err(why) = changed {
        return not_changed(&visit, &job, "list", &why);
    }
    let _ = folder.keep();
    // Nothing else has the corrections with which it was sent.
    let is_kept = old.is_corrected && old.run.is_some();
    if job.has_own(&old.list) && !is_kept {
        let _ = fs::remove_file(&old.list);
    }
    let next = match old.has_columns {
        true => "send",
        false => "campaign",
    };
    see_other(&visit.job_path(job.id, next))
}
