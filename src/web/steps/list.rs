//! *List*: the file that is sent.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::extract::{Path as UrlPath, Request};
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::{job, not_changed, screen};
use crate::text::grouped;
use crate::web::earlier;
use crate::web::job::{Job, JobId, JobRecord, NotChanged, new_folder_in};
use crate::web::layout::{FieldError, Screen, labelled, see_other, upload_form};
use crate::web::server::FormFields;
use crate::web::server::upload::{self, Upload};
use crate::web::times;
use crate::web::trouble::Trouble;
use crate::web::visit::Visit;
use crate::web::words::{disk, upload_error};

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
    let status = match errors.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
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
        .filter(|(_, record)| record.run.is_none())
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
    let (id, folder) = match visit.site.jobs.new_folder() {
        Ok(new) => new,
        Err(error) => return chooser(&visit, vec![FieldError::at("list", disk(&error))]),
    };
    let inner = match new_folder_in(&folder) {
        Ok(inner) => inner,
        Err(error) => return chooser(&visit, vec![FieldError::at("list", disk(&error))]),
    };
    let received = upload::receive(request, &inner).await;
    let upload = match received {
        Ok(upload) if upload.fields.get("sample").is_some() => sample(&inner),
        Ok(upload) => Ok(upload),
        Err(error) => Err(upload_error(&error)),
    };
    let made = upload.and_then(|upload| {
        let (name, list) = upload
            .file
            .ok_or_else(|| "Choose a list first.".to_owned())?;
        let record = JobRecord::new(&visit.site, name, list);
        let job = visit.site.jobs.add(id, folder.clone(), record);
        job.map_err(|error| disk(&error))
    });
    match made {
        Ok(job) => after_upload(&visit, &job).await,
        Err(text) => {
            let _ = fs::remove_dir_all(&folder);
            chooser(&visit, vec![FieldError::at("list", text)])
        }
    }
}

/// The list of the practice.
fn sample(folder: &Path) -> Result<Upload, String> {
    const SAMPLE: &[u8] = include_bytes!("../../../sample-data/contacts.csv");
    let list = folder.join("contacts.csv");
    let written = crate::private_file::replace(&list, SAMPLE, None);
    written.map_err(|error| disk(&error))?;
    Ok(Upload {
        file: Some(("contacts.csv".to_owned(), list)),
        fields: FormFields::default(),
    })
}

/// Where a list goes that has just arrived: on to the campaign, or where its settings are known,
/// straight to sending.
async fn after_upload(visit: &Visit, job: &Arc<Job>) -> Response {
    crate::web::reading::begin(&visit.site, job);
    job.wait_until(visit.until, |state| state.read.is_done())
        .await;
    see_other(&visit.job_path(job.id, "begin"))
}

/// The first screen of a list that was read.
pub async fn begin(visit: Visit, UrlPath(id): UrlPath<u64>) -> Response {
    let job = match job(&visit, id) {
        Ok(job) => job,
        Err(response) => return response,
    };
    let facts = match super::facts(&visit, &job).await {
        Ok(facts) => facts,
        Err(response) => return response,
    };
    match earlier::take_settings(&visit.site, &job, &facts).await {
        Ok(true) => {}
        Ok(false) => return see_other(&visit.job_path(job.id, "campaign")),
        Err(trouble) => return unreadable(&visit, &job, &trouble),
    }
    let checked = match super::checked(&visit, &job).await {
        Ok(checked) => checked,
        Err(response) => return response,
    };
    let known = job.record().known_problems;
    let mut kinds = checked.kinds_of_problems().into_iter();
    let next = match kinds.any(|kind| !known.contains(&kind)) {
        true => "problems",
        false => "send",
    };
    see_other(&visit.job_path(job.id, next))
}

/// The list of a job, and how it is replaced.
pub async fn show(visit: Visit, UrlPath(id): UrlPath<u64>) -> Response {
    match job(&visit, id) {
        Ok(job) => shown(&visit, &job, Vec::new(), StatusCode::OK),
        Err(response) => response,
    }
}

fn shown(visit: &Visit, job: &Arc<Job>, errors: Vec<FieldError>, status: StatusCode) -> Response {
    let facts = job.state().read.facts();
    let record = job.record();
    let screen = Screen {
        heading: HEADING.into(),
        help: HELP.into(),
        back: Some(visit.path("list")),
        errors,
        body: Some(html! {
            p {
                strong { bdi { (record.name) } }
                @if let Some(facts) = &facts { ", " (grouped(facts.rows())) " rows" }
            }
            h2 { "Use a newer version" }
            p { "Your settings stay as they are." }
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

/// The screen of a list that cannot be read.
pub fn unreadable(visit: &Visit, job: &Arc<Job>, trouble: &Trouble) -> Response {
    let errors = vec![FieldError::of(trouble, Some("list"))];
    shown(visit, job, errors, StatusCode::OK)
}

/// Replaces the list by a newer version, which keeps all settings.
pub async fn replace(visit: Visit, UrlPath(id): UrlPath<u64>, request: Request) -> Response {
    let job = match job(&visit, id) {
        Ok(job) => job,
        Err(response) => return response,
    };
    let folder = match job.new_folder() {
        Ok(folder) => folder,
        Err(error) => return not_changed(&visit, &job, "list", &NotChanged::Io(error)),
    };
    let received = upload::receive(request, &folder).await;
    let refused = |text: String| {
        let _ = fs::remove_dir_all(&folder);
        let errors = vec![FieldError::at("list", text)];
        shown(&visit, &job, errors, StatusCode::UNPROCESSABLE_ENTITY)
    };
    let upload = match received {
        Ok(upload) => upload,
        Err(error) => return refused(upload_error(&error)),
    };
    let version = upload.fields.version();
    let Some((name, list)) = upload.file else {
        return refused("Choose a list first.".to_owned());
    };
    let old = job.record();
    let changed = job.change(version, |record| {
        (record.name, record.list, record.run) = (name, list, None);
        record.is_corrected = false;
    });
    if let Err(why) = changed {
        let _ = fs::remove_dir_all(&folder);
        return not_changed(&visit, &job, "list", &why);
    }
    if job.has_own(&old.list) && old.run.is_none() {
        let _ = fs::remove_file(&old.list);
    }
    let next = match old.has_columns {
        true => "send",
        false => "campaign",
    };
    see_other(&visit.job_path(job.id, next))
}
