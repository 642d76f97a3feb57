//! *Run*: a list that is being sent, or has been.

use std::sync::Arc;

use axum::Extension;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::screen;
use super::send::button;
use super::service::take_token;
use crate::exit::StoppedBy;
use crate::lead::Status;
use crate::ledger::RunState;
use crate::message::Voice;
use crate::report::{self, Html};
use crate::text::{counted, grouped, printable_lines};
use crate::web::campaigns::Campaigns;
use crate::web::history;
use crate::web::job::Job;
use crate::web::layout::{FieldError, Screen, Shown, form, labelled, see_other, status_of};
use crate::web::live::{LiveOutcome, LiveState};
use crate::web::sending::{self, SendState};
use crate::web::server::FormFields;
use crate::web::visit::{Answer, CurrentJob, Visit};

pub async fn show(visit: Visit, CurrentJob(job): CurrentJob) -> Answer {
    // The campaign is shown by its name.
    let _ = Campaigns::until(visit.until, &visit.site).await;
    if has_gone_on_elsewhere(&visit, &job).await? {
        job.state().sending = SendState::NotBegun;
    }
    let live = live_state(&job);
    let has_failed = matches!(job.state().sending, SendState::Failed(_));
    match (live, job.record().run) {
        (Some(live), _) => shown(&visit, &job, &live, Vec::new()).await,
        (None, Some(run)) if !has_failed => Ok(see_other(&visit.run_path(run))),
        _ => Ok(see_other(&visit.job_path(job.id, "send"))),
    }
}

/// Whether a command line has gone on since then with a run that stopped here, or undone it.
async fn has_gone_on_elsewhere(visit: &Visit, job: &Job) -> Result<bool, Response> {
    let ended = match &job.state().sending {
        SendState::Ended(live) => live.now(),
        _ => return Ok(false),
    };
    let Some(run) = ended.run else {
        return Ok(false);
    };
    let is_complete = ended.end.is_some_and(|end| end.is_complete);
    let run = history::run(visit, run.0).await?;
    Ok(match run.state() {
        RunState::Undone => true,
        RunState::Complete | RunState::AtWork => !is_complete,
        RunState::Stopped(_) | RunState::Killed => false,
    })
}

fn live_state(job: &Job) -> Option<LiveState> {
    job.state().sending.live().map(|live| live.now())
}

async fn shown(
    visit: &Visit,
    job: &Arc<Job>,
    live: &LiveState,
    mut errors: Vec<FieldError>,
) -> Answer {
    let status = status_of(&errors);
    let end = live.end.as_ref();
    let trouble = end.filter(|end| !end.is_interrupted);
    let trouble = trouble.and_then(|end| end.trouble.as_ref());
    if errors.is_empty() {
        errors.extend(trouble.map(|trouble| FieldError::of(trouble, None)));
    }
    let downloads = match live.run.filter(|_| end.is_some()) {
        Some(run) => {
            let run = history::run_with_files(visit, run.0).await?;
            html! {
                (history::look_up_form(visit, &run))
                (history::downloads(visit, &run, Some(job)))
            }
        }
        None => html! {},
    };
    let screen = Screen {
        status,
        heading: heading(visit, job, live),
        help: match end {
            Some(end) if end.is_complete => format!("{}.", live.created()),
            Some(_) => String::new(),
            None => "You can close this tab. Keep the leadload window open.".to_owned(),
        },
        back: Some(visit.path("history")),
        errors,
        body: Some(html! {
            // For screen readers: the numbers say it too, and the screen says how it ended.
            p #said .unseen role="status" { (live.said) }
            div #live data-live=[live.end.is_none().then(|| visit.job_path(job.id, "live"))] data-stage=(stage(live)) {
                (numbers(live))
            }
            div #rest {
                @match end {
                    None => {
                        noscript { p { a.button href=(visit.job_path(job.id, "run")) { "Show how it is now" } } }
                        (button(visit, &visit.job_path(job.id, "stop"), if live.has_begun { "Stop" } else { "Cancel" }))
                    }
                    Some(end) => (after(visit, job, live, end)),
                }
                (downloads)
                @if let Some(end) = end { (Html::plain(Voice::Page).blocks(&end.problems)) }
            }
        }),
        shows_sending: Some(Shown::Job(job.id)),
        // What was sent stays as it was sent.
        steps: None,
        ..screen(visit, job, "Run", "run")
    };
    Ok(screen.respond(visit))
}

fn heading(visit: &Visit, job: &Job, live: &LiveState) -> String {
    let record = job.record();
    match (&live.end, live.has_begun) {
        (Some(end), _) if end.is_complete => "Sent".to_owned(),
        (Some(_), _) => "Stopped".to_owned(),
        (None, true) => format!("Sending to {}", record.campaign_name(visit)),
        (None, false) if live.has_turn || live.waits_for.is_none() && !waits(visit, job) => {
            "Getting ready to send".to_owned()
        }
        (None, false) => format!("{} waits for its turn", record.name),
    }
}

/// What the screen is about. When it changes, more of the screen is renewed than the numbers.
fn stage(live: &LiveState) -> &'static str {
    match (&live.end, live.has_begun, live.has_turn) {
        (Some(_), ..) => "over",
        (None, true, _) => "begun",
        (None, false, true) => "turn",
        (None, false, false) => "waiting",
    }
}

/// Whether another list is sent before this one.
fn waits(visit: &Visit, job: &Job) -> bool {
    let at_work = visit.site.jobs.at_work();
    at_work.iter().any(|other| other.id != job.id)
}

/// The part that is renewed each second.
fn numbers(live: &LiveState) -> Markup {
    html! {
        p.big {
            (grouped(live.rows_done()))
            @if let Some(total) = live.rows_total { " of " (counted(total, "row")) } @else { " rows" }
        }
        @if let Some(total) = live.rows_total {
            progress max=(total.max(1)) value=(live.rows_done().min(total)) aria-label="Rows done" {}
        }
        @if live.end.is_none() {
            p {
                @if live.is_stopping { "Stopping: waiting for the last answers." }
                @else if let Some(waits) = &live.waits_for { (waits) }
                @else if let Some(pace) = &live.pace { "Pace: " (pace) "." }
                @if let Some(finish) = live.finish() { " It should finish about " (finish) "." }
            }
        }
        (Html::plain(Voice::Page).blocks(&[report::counts(&live.counts)]))
    }
}

fn after(visit: &Visit, job: &Job, live: &LiveState, end: &LiveOutcome) -> Markup {
    let created = live.counts.of(Status::Created);
    let people = match created {
        1 => "1 person is".to_owned(),
        _ => format!("{} people are", grouped(created)),
    };
    html! {
        @if !end.is_complete {
            @if created > 0 {
                p.note {
                    "Stopped. " (people) " in " bdi { (job.record().campaign_name(visit)) } " and may be called. "
                    "Wrong list? Pause the campaign in the calling service first."
                }
            }
            @if end.trouble.as_ref().is_some_and(|trouble| trouble.by == StoppedBy::Token) {
                (new_token(visit, job, live))
            } @else {
                (button(visit, &visit.job_path(job.id, "resume"), "Resume"))
            }
            p { a href=(visit.job_path(job.id, "send")) { "Change the settings first" } }
        }
    }
}

/// Asks for another token, with which the run goes on.
fn new_token(visit: &Visit, job: &Job, live: &LiveState) -> Markup {
    let leads = live.counts.of(Status::Created);
    let are_in = if leads == 1 {
        "lead is in"
    } else {
        "leads are in"
    };
    let left = live
        .rows_total
        .unwrap_or_default()
        .saturating_sub(live.rows_done());
    html! {
        p {
            (grouped(leads)) " " (are_in) ", " (grouped(left)) @if left == 1 { " isn't" } @else { " aren't" }
            ". Paste a new token to go on where it stopped."
        }
        (form(visit, &visit.job_path(job.id, "resume"), html! {
            (labelled("token", "Access token", html! {
                input #token type="password" name="token" autocomplete="off";
            }))
            p { button type="submit" { "Resume" } }
        }))
    }
}

/// The numbers alone, for the page that is open.
pub async fn live(CurrentJob(job): CurrentJob) -> Response {
    let live = live_state(&job);
    let stage = live.as_ref().map_or("gone", stage);
    let live = live.unwrap_or_default();
    let text = html! {
        div data-said=(live.said) data-stage=(stage) {
            (numbers(&live))
        }
    };
    let text = printable_lines(&text.into_string()).into_owned();
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

pub async fn stop(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(_): Extension<FormFields>,
) -> Response {
    job.state().sending.stop();
    see_other(&visit.job_path(job.id, "run"))
}

pub async fn resume(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Answer {
    let token = fields.get("token").map(str::trim).unwrap_or_default();
    if !token.is_empty()
        && let Err(text) = take_token(&visit, token).await
    {
        let live = live_state(&job);
        let errors = vec![FieldError::at("token", text)];
        return shown(&visit, &job, &live.unwrap_or_default(), errors).await;
    }
    sending::resume(&visit.site, &job, visit.until).await;
    Ok(see_other(&visit.job_path(job.id, "run")))
}
