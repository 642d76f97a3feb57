//! *Send*: what will happen, and the button that makes it happen.

use axum::Extension;
use axum::response::Response;
use maud::{Markup, html};

use super::campaign::ASKING;
use super::{checked, not_changed, screen, waiting};
use crate::campaign::Campaign;
use crate::lead::Status;
use crate::message::Voice;
use crate::report::{Html, ListOnPage};
use crate::text::{counted, grouped};
use crate::web::campaigns::Campaigns;
use crate::web::checking::Checked;
use crate::web::column_form::file_names;
use crate::web::job::{Job, JobState, NotChanged, untouched};
use crate::web::layout::{FieldError, Screen, form, job_form, labelled, see_other, status_of};
use crate::web::live::clock_after;
use crate::web::notes;
use crate::web::sending::{self, Confirmation, SendState};
use crate::web::server::FormFields;
use crate::web::test_call::{self, TestState};
use crate::web::trouble::{Question, Trouble};
use crate::web::visit::{Answer, CurrentJob, Visit};

pub async fn show(visit: Visit, CurrentJob(job): CurrentJob) -> Answer {
    let to_step = |step| see_other(&visit.job_path(job.id, step));
    let record = job.record();
    job.wait_until(visit.until, |state| !state.sending.is_ending())
        .await;
    if job.state().sending.is_at_work() {
        return Ok(to_step("run"));
    }
    // Another service has other campaigns with the same ids.
    if !record.has_campaign() || record.service != visit.site.service_name() {
        return Ok(to_step("campaign"));
    }
    if !record.has_columns {
        return Ok(to_step("columns"));
    }
    // They are asked for while the list is checked.
    let (checked, campaigns) = tokio::join!(
        checked(&visit, &job),
        Campaigns::until(visit.until, &visit.site)
    );
    let checked = checked?;
    if checked.doubt.is_some() {
        return Ok(to_step("columns"));
    }
    if checked.lookup.unclear().is_some() {
        return Ok(to_step("problems"));
    }
    job.wait_until(visit.until, |state| !state.test.is_at_work())
        .await;
    if job.state().test.is_at_work() {
        return Ok(waiting(&visit, &job, "Sending the test call …", 0));
    }
    // Whether calls may start at once is said before anything is sent.
    let Some(campaigns) = campaigns else {
        return Ok(waiting(&visit, &job, ASKING, 0));
    };
    let campaigns = campaigns.unwrap_or_default();
    Ok(shown(&visit, &job, &checked, &campaigns))
}

fn shown(visit: &Visit, job: &Job, checked: &Checked, campaigns: &[Campaign]) -> Response {
    let (ready, record) = (checked.ready(), job.record());
    let were_sent = checked.found.tally.counts.of(Status::AlreadyImported) > 0;
    let sent = match record.runs().next() {
        Some(_) if were_sent => "A part of this list was sent before.",
        _ => "The list hasn't been sent yet.",
    };
    let help = match finish(checked) {
        Some(when) if ready > 0 => {
            format!("{sent} It should finish about {when}. Keep this computer on and awake.")
        }
        _ => format!("{sent} Keep this computer on and awake."),
    };
    let (errors, told, asks_again) = what_happened(job);
    let screen = Screen {
        heading: "Check, then send".into(),
        help,
        back: Some(visit.job_path(job.id, "problems")),
        status: status_of(&errors),
        errors,
        body: Some(html! {
            @if let Some(from) = &record.taken_from { (taken_from(visit, job, from)) }
            (summary(visit, job, checked, campaigns))
            (notes::section(checked))
            (queue(visit, job))
            @if ready > 0 { (test_form(visit, job, told)) }
            (send_form(visit, job, ready, asks_again))
        }),
        ..screen(visit, job, "Send", "send")
    };
    screen.respond(visit)
}

/// Why the list or the test call was not sent, what to say of a test call that was, and whether the
/// list is to be sent again is asked.
fn what_happened(job: &Job) -> (Vec<FieldError>, Option<String>, bool) {
    let (mut errors, mut told, mut asks_again) = (Vec::new(), None, false);
    let state = job.state();
    if let SendState::Failed(trouble) = &state.sending {
        asks_again = trouble.question == Some(Question::Again);
        errors.push(FieldError::of(trouble, asks_again.then_some("again")));
    }
    match &state.test {
        TestState::Told(Ok(text)) => told = Some(text.clone()),
        TestState::Told(Err(trouble)) => errors.push(FieldError::of(trouble, Some("test-number"))),
        TestState::NotBegun | TestState::Calling => {}
    }
    (errors, told, asks_again)
}

/// When it should be over, by the clock.
fn finish(checked: &Checked) -> Option<String> {
    clock_after(checked.estimate.as_ref()?.most)
}

fn taken_from(visit: &Visit, job: &Job, from: &str) -> Markup {
    html! {
        div.note {
            p { "The settings are those of " strong { bdi { (from) } } ", which had the same columns." }
            (job_form(visit, job, "scratch", html! {
                button type="submit" { "Start from scratch" }
            }))
        }
    }
}

fn summary(visit: &Visit, job: &Job, checked: &Checked, campaigns: &[Campaign]) -> Markup {
    let record = job.record();
    let kept = checked.intake.suppression.kept.len() as u64;
    let own =
        (kept > 0).then(|| format!("your own list “Do not call” ({})", counted(kept, "number")));
    let blocked = file_names(&checked.settings.given).into_iter().chain(own);
    let list = ListOnPage {
        name: record.name.clone(),
        is_corrected: record.is_corrected,
        blocked: blocked.collect(),
        campaign: record.campaign_name(visit),
    };
    let html = Html {
        change: &|step, what| {
            html! { a href=(visit.job_path(job.id, step)) { "Change" span.unseen { " " (what) } } }
        },
        ..Html::plain(Voice::Page)
    };
    html! {
        (html.blocks(&checked.overview(campaigns).on_page(&list)))
        @if record.is_corrected {
            p { a href=(visit.job_path(job.id, "files/list")) download { "Download the corrected list" } }
        }
    }
}

/// What is sent before this list.
fn queue(visit: &Visit, job: &Job) -> Markup {
    let at_work = visit.site.jobs.at_work();
    let other = at_work.iter().find(|other| other.id != job.id);
    html! {
        @if let Some(other) = other {
            @let state = other.state();
            @let live = state.sending.live().map(|live| live.now()).unwrap_or_default();
            p.note {
                bdi { (state.record.name) } " is being sent"
                @if let Some(finish) = live.finish() { " until about " (finish) }
                ". This list starts after it. You can close the tab."
            }
        }
    }
}

fn test_form(visit: &Visit, job: &Job, told: Option<String>) -> Markup {
    html! {
        h2 { "Call yourself first" }
        @if let Some(told) = told { p.told role="status" { (told) } }
        (job_form(visit, job, "test", html! {
            input type="hidden" name="tests" value=(job.state().tests.len());
            (labelled("test-number", "Your own phone number", html! {
                input #test-number type="tel" name="number" autocomplete="tel" aria-describedby="test-help" required;
            }))
            p #test-help .hint {
                "Sends one lead with what the first row says, to this number alone. Write it with + and the country code."
            }
            p { button type="submit" { "Send a test call" } }
        }))
    }
}

fn send_form(visit: &Visit, job: &Job, ready: u64, asks_again: bool) -> Markup {
    let button = match ready {
        1 => "Send 1 lead".to_owned(),
        _ => format!("Send {} leads", grouped(ready)),
    };
    html! {
        h2 { "Send" }
        @if ready == 0 {
            p { "There is nobody new to send." }
        } @else {
            (job_form(visit, job, "send", html! {
                @if asks_again {
                    p.field {
                        label { input #again type="checkbox" name="again" value="yes"; " Send this list once more" }
                    }
                }
                p.field {
                    label { input #only-first type="checkbox" name="only-first" value="yes"; " Stop after the first 10" }
                }
                p { button.primary type="submit" { (button) } }
            }))
        }
    }
}

/// Begins to send.
pub async fn send(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Answer {
    if job.state().record.version != fields.version() {
        return Ok(not_changed(&visit, &job, "send", &NotChanged::Stale));
    }
    let checked = checked(&visit.patiently(), &job).await?;
    if let Err(failure) = checked.guards.refuse(&checked.found.tally) {
        job.state().sending = SendState::Failed(Trouble::of(&failure));
        return Ok(see_other(&visit.job_path(job.id, "send")));
    }
    let seen = Confirmation {
        version: Some(fields.version()),
        problems: Some(checked.kinds_of_problems().into_iter().collect()),
        only_first: fields.get("only-first").is_some(),
        again: fields.get("again").is_some(),
    };
    if let Err(why) = sending::begin(&visit.site, &job, seen) {
        return Ok(not_changed(&visit, &job, "send", &why));
    }
    let has_begun = |state: &JobState| !state.sending.is_at_work() || state.sending.is_sending();
    job.wait_until(visit.until, has_begun).await;
    Ok(see_other(&visit.job_path(job.id, "run")))
}

/// Forgets the settings that were taken from an earlier list.
pub async fn scratch(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Response {
    let changed = job.change(fields.version(), |record| {
        // A do-not-call list goes only if somebody removes it.
        let lists = record.options.phones.suppress.take();
        record.options = untouched();
        record.options.phones.suppress = lists;
        record.has_columns = false;
        record.taken_from = None;
        record.known_problems = Vec::new();
    });
    match changed {
        Ok(()) => see_other(&visit.job_path(job.id, "campaign")),
        Err(why) => not_changed(&visit, &job, "send", &why),
    }
}

/// Sends one lead to the user's own number.
pub async fn test(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Response {
    if job.state().record.version != fields.version() {
        return not_changed(&visit, &job, "send", &NotChanged::Stale);
    }
    let number = fields.get("number").unwrap_or_default().trim();
    let tests = fields.get("tests").and_then(|tests| tests.parse().ok());
    test_call::begin(&visit.site, &job, number, tests.unwrap_or_default());
    see_other(&visit.job_path(job.id, "send"))
}

/// A button that stands alone.
pub fn button(visit: &Visit, action: &str, text: &str) -> Markup {
    form(visit, action, html! { button type="submit" { (text) } })
}
