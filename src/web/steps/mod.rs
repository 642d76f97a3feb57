//! The steps of a list, each a screen with an address of its own.

pub mod campaign;
pub mod columns;
pub mod list;
pub mod problems;
pub mod run;
pub mod send;
pub mod service;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use maud::html;

use super::checking::{self, Checked};
use super::job::{Job, NotChanged};
use super::layout::{FieldError, Screen, progress, see_other, steps};
use super::reading::{self, ListFacts};
use super::trouble::Trouble;
use super::visit::Visit;
use super::words::disk;
use super::work::WorkState;
use crate::text::printable;

/// The beginning of a screen about a job: `name` is the name of the step, `here` its address.
pub fn screen(visit: &Visit, job: &Job, name: &str, here: &str) -> Screen {
    let list = job.record().name;
    Screen {
        title: format!("{name}, {}", printable(&list)),
        steps: Some(steps(visit, job.id, here)),
        ..Screen::default()
    }
}

/// What is known about the list, or a screen that says how far reading it has come, or why it
/// cannot be read.
pub async fn facts(visit: &Visit, job: &Arc<Job>) -> Result<Arc<ListFacts>, Response> {
    let record = job.record();
    if record.run.is_some() && !record.list.is_file() {
        return Err(no_longer_kept(visit, job));
    }
    reading::begin(&visit.site, job);
    job.wait_until(visit.until, |state| state.read.is_over())
        .await;
    let state = job.state();
    let (rows, trouble, facts) = match &state.read {
        WorkState::Done(facts) => (0, None, Some(Arc::clone(facts))),
        WorkState::Failed(trouble) => (0, Some(trouble.clone()), None),
        begun => (begun.rows(), None, None),
    };
    drop(state);
    if let Some(facts) = facts {
        return match list::open_question(visit, job, &facts) {
            Some(question) => Err(list::unreadable(visit, job, &question)),
            None => Ok(facts),
        };
    }
    Err(match trouble {
        Some(trouble) => list::unreadable(visit, job, &trouble),
        None => waiting(visit, job, "Reading the list …", rows),
    })
}

/// The screen of a list whose run is complete.
fn no_longer_kept(visit: &Visit, job: &Job) -> Response {
    let screen = Screen {
        heading: "This list was sent".into(),
        help: "Its file is not kept any longer. To send a newer version, choose it as a new list: the settings are known.".into(),
        back: Some(visit.job_path(job.id, "run")),
        body: Some(html! {
            p { a.button href=(visit.path("list")) { "New list" } }
        }),
        steps: None,
        ..screen(visit, job, "Sent", "")
    };
    screen.respond(visit)
}

/// What the check of the list has found, or a screen that says how far it has come. Trouble leads
/// back to the columns.
pub async fn checked(visit: &Visit, job: &Arc<Job>) -> Result<Arc<Checked>, Response> {
    facts(visit, job).await?;
    checking::begin(&visit.site, job);
    job.wait_until(visit.until, |state| state.check.is_over())
        .await;
    let state = job.state();
    let rows = match &state.check {
        WorkState::Done(checked) => return Ok(Arc::clone(checked)),
        WorkState::Failed(_) => return Err(see_other(&visit.job_path(job.id, "columns"))),
        begun => begun.rows(),
    };
    drop(state);
    Err(waiting(visit, job, "Checking the list …", rows))
}

/// A screen that is loaded again until the work is done.
pub fn waiting(visit: &Visit, job: &Job, what: &str, rows: u64) -> Response {
    let screen = Screen {
        heading: what.to_owned(),
        back: Some(visit.job_path(job.id, "list")),
        body: Some(progress(what, rows)),
        is_waiting: true,
        ..screen(visit, job, "Please wait", "")
    };
    screen.respond(visit)
}

/// The screen after a change that was not made.
pub fn not_changed(visit: &Visit, job: &Job, step: &str, why: &NotChanged) -> Response {
    let (status, text, next) = match why {
        NotChanged::Stale => (
            StatusCode::CONFLICT,
            "This list was changed in another tab after this page was opened, so nothing was changed here.".to_owned(),
            step,
        ),
        NotChanged::BeingSent => (
            StatusCode::CONFLICT,
            "This list is being sent, so its settings stay as they are.".to_owned(),
            "run",
        ),
        NotChanged::Io(error) => (
            StatusCode::INSUFFICIENT_STORAGE,
            disk(error),
            step,
        ),
        NotChanged::Failed(trouble) => (StatusCode::INTERNAL_SERVER_ERROR, trouble.text(), step),
    };
    let screen = Screen {
        heading: "Nothing was changed".into(),
        back: Some(visit.job_path(job.id, step)),
        errors: vec![FieldError { field: None, text }],
        body: Some(html! {
            p { a.button href=(visit.job_path(job.id, next)) { "Show how it is now" } }
        }),
        status,
        ..screen(visit, job, "Not changed", step)
    };
    screen.respond(visit)
}

/// The trouble of the last check, if it failed.
pub fn trouble_of_check(job: &Job) -> Option<Trouble> {
    match &job.state().check {
        WorkState::Failed(trouble) => Some(trouble.clone()),
        WorkState::Done(checked) => {
            let without = checked.without_country.map(Trouble::without_country);
            without.or_else(|| checked.doubt.clone())
        }
        _ => None,
    }
}
