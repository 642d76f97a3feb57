//! What all screens have in common: the frame, forms, and errors that lead to their field.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::{DOCTYPE, Markup, html};

use super::follow_ups::FollowUp;
use super::job::{Job, JobId};
use super::trouble::Trouble;
use super::visit::Visit;
use crate::lead::RunId;
use crate::text::{counted, printable_lines};

/// One screen.
#[derive(Debug, Default)]
pub struct Screen {
    /// The title of the window.
    pub title: String,
    pub heading: String,
    /// The line below the heading.
    pub help: String,
    /// Where `Back` leads.
    pub back: Option<String>,
    /// The links to all steps of a list.
    pub steps: Option<Markup>,
    pub errors: Vec<FieldError>,
    pub body: Option<Markup>,
    /// Whether the screen shows work that is not done yet, and is to be loaded again.
    pub is_waiting: bool,
    /// The work that this screen shows, with a button of its own that stops it.
    pub shows_sending: Option<Shown>,
    /// Whether the program ends with this screen, so that nothing of it answers any more.
    pub is_last: bool,
    pub status: StatusCode,
}

/// Work that a screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// A list that is being sent.
    Job(JobId),
    /// What is done about a run that has ended.
    FollowUp(RunId),
}

/// What is wrong, and where the field is that cures it: `#phone`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    pub field: Option<String>,
    pub text: String,
}

impl FieldError {
    pub fn at(field: &str, text: impl Into<String>) -> FieldError {
        FieldError::at_address(format!("#{field}"), text)
    }

    /// A field that may be on another screen.
    pub fn at_address(address: String, text: impl Into<String>) -> FieldError {
        FieldError {
            field: Some(address),
            text: text.into(),
        }
    }

    pub fn of(trouble: &Trouble, field: Option<&str>) -> FieldError {
        FieldError {
            field: field.map(|field| format!("#{field}")),
            text: trouble.text(),
        }
    }
}

/// The status of a screen whose form could not be taken, if there is an error.
pub fn status_of(errors: &[FieldError]) -> StatusCode {
    match errors {
        [] => StatusCode::OK,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

impl Screen {
    pub fn respond(self, visit: &Visit) -> Response {
        let status = self.status;
        let page = self.page(visit).into_string();
        // Nothing from a list or a service may steer the screen or turn the direction of writing.
        (status, Html(printable_lines(&page).into_owned())).into_response()
    }

    fn page(&self, visit: &Visit) -> Markup {
        let base = &visit.base;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    @if self.is_waiting {
                        noscript { meta http-equiv="refresh" content="1"; }
                    }
                    title { (self.title) }
                    link rel="stylesheet" href={ (base) "style.css" };
                    link rel="icon" href={ (base) "icon.svg" };
                    script src={ (base) "script.js" } defer {}
                }
                body.app data-waiting[self.is_waiting] {
                    a.skip href="#heading" { "Skip to content" }
                    @if !self.is_last {
                        (top(visit))
                        aside #sending .sending aria-label="Being sent" data-live={ (base) "sending" } {
                            (sending(visit, self.shows_sending))
                        }
                    }
                    main {
                        @if let Some(back) = &self.back { p.back { a href=(back) { "Back" } } }
                        @if let Some(steps) = &self.steps { (steps) }
                        (error_summary(&self.errors))
                        h1 #heading tabindex="-1" { bdi { (self.heading) } }
                        @if !self.help.is_empty() || self.shows_sending.is_some() { p #help .help { (self.help) } }
                        @if let Some(body) = &self.body { (body) }
                    }
                    p #gone .gone role="alert" hidden {}
                }
            }
        }
    }
}

/// The frame above every screen: where else one can go, and what is being sent.
fn top(visit: &Visit) -> Markup {
    let base = &visit.base;
    html! {
        header.top {
            nav aria-label="leadload" {
                strong { "leadload" }
                a href={ (base) "list" } { "New list" }
                a href={ (base) "history" } { "History" }
                a href={ (base) "do-not-call" } { "Do not call" }
                a href={ (base) "service" } { "Service" }
                a href={ (base) "quit" } { "Stop and quit" }
            }
            @if visit.site.is_practice() {
                p.practice { strong { "practice" } " Nothing leaves this computer, and nobody is called." }
            }
        }
    }
}

/// The lists that are being sent or wait, and what is done about others, except what the screen
/// itself shows.
pub fn sending(visit: &Visit, but: Option<Shown>) -> Markup {
    let at_work = visit.site.jobs.at_work();
    let is_shown = |job: &Job| but == Some(Shown::Job(job.id));
    html! {
        @for job in at_work.iter().filter(|job| !is_shown(job)) { (at_work_row(visit, job)) }
        @for work in visit.site.follow_ups.at_work() {
            @if but != Some(Shown::FollowUp(work.run)) { (follow_up_row(visit, &work)) }
        }
    }
}

/// What is done about a list that was sent, with the button that stops it.
fn follow_up_row(visit: &Visit, work: &FollowUp) -> Markup {
    let run = visit.run_path(work.run);
    html! {
        div {
            a href={ (run) "/progress" } { bdi { (work.what()) } }
            (form(visit, &format!("{run}/stop"), html! { button type="submit" { "Stop" } }))
        }
    }
}

/// A list that is being sent or waits, with the button that stops it.
fn at_work_row(visit: &Visit, job: &Job) -> Markup {
    let state = job.state();
    let is_sending = state.sending.is_sending();
    let name = state.record.name.clone();
    drop(state);
    html! {
        div {
            a href=(visit.job_path(job.id, "run")) {
                bdi { (name) } @if is_sending { " is being sent" } @else { " waits for its turn" }
            }
            (form(visit, &visit.job_path(job.id, "stop"), html! {
                button type="submit" { @if is_sending { "Stop" } @else { "Cancel" } }
            }))
        }
    }
}

/// The errors of a screen, each with a link to its field.
fn error_summary(errors: &[FieldError]) -> Markup {
    html! {
        @if !errors.is_empty() {
            div #errors .errors role="group" aria-labelledby="errors-heading" tabindex="-1" {
                h2 #errors-heading { "There is a problem" }
                ul {
                    @for error in errors {
                        li {
                            @match &error.field {
                                Some(field) => a href=(field) { (error.text) },
                                None => (error.text),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A form of our own: with the token that shows that it comes from this page.
pub fn form(visit: &Visit, action: &str, fields: Markup) -> Markup {
    html! {
        form method="post" action=(action) {
            input type="hidden" name="form_token" value=(visit.form_token);
            (fields)
        }
    }
}

/// A form that changes a job: it carries the version that it was made from.
pub fn job_form(visit: &Visit, job: &Job, step: &str, fields: Markup) -> Markup {
    let version = job.state().record.version;
    let fields = html! { input type="hidden" name="version" value=(version); (fields) };
    form(visit, &visit.job_path(job.id, step), fields)
}

/// A form that also uploads files.
pub fn upload_form(visit: &Visit, action: &str, fields: Markup) -> Markup {
    html! {
        form method="post" action=(action) enctype="multipart/form-data" data-upload {
            input type="hidden" name="form_token" value=(visit.form_token);
            (fields)
        }
    }
}

/// The steps of a list as links.
pub fn steps(visit: &Visit, job: JobId, here: &str) -> Markup {
    let steps = [
        ("list", "List"),
        ("campaign", "Campaign"),
        ("columns", "Columns"),
        ("problems", "Problems"),
        ("send", "Send"),
    ];
    html! {
        nav.steps aria-label="Steps" {
            ol {
                @for (step, name) in steps {
                    li {
                        a href=(visit.job_path(job, step)) aria-current=[(step == here).then_some("step")] { (name) }
                    }
                }
            }
        }
    }
}

pub fn see_other(path: &str) -> Response {
    Redirect::to(path).into_response()
}

/// A control with its label above it.
pub fn labelled(id: &str, label: &str, control: Markup) -> Markup {
    html! { p.field { label for=(id) { (label) } (control) } }
}

/// The head of a table.
pub fn table_head(columns: &[&str]) -> Markup {
    html! { thead { tr { @for column in columns { th scope="col" { (column) } } } } }
}

/// How far work has come that the screen waits for.
pub fn progress(what: &str, rows: u64) -> Markup {
    html! {
        p #progress .progress { @if rows > 0 { (counted(rows, "row")) " so far." } }
        progress aria-label=(what) {}
    }
}
