//! *Campaign*: which campaign calls these people.

use std::sync::Arc;

use axum::Extension;
use axum::response::Response;
use maud::{Markup, html};

use super::{facts, not_changed, screen, waiting};
use crate::campaign::Campaign;
use crate::options::{Given, Options};
use crate::web::campaigns::Campaigns;
use crate::web::form_columns::FormColumns;
use crate::web::job::Job;
use crate::web::layout::{FieldError, Screen, job_form, labelled, see_other, status_of};
use crate::web::server::FormFields;
use crate::web::visit::{Answer, CurrentJob, Visit};

/// The value of an option that is a column.
const COLUMN: &str = "column-";

/// While the service is asked.
pub const ASKING: &str = "Asking the service for its campaigns …";

pub async fn show(visit: Visit, CurrentJob(job): CurrentJob) -> Answer {
    shown(&visit, &job, Vec::new()).await
}

async fn shown(visit: &Visit, job: &Arc<Job>, errors: Vec<FieldError>) -> Answer {
    let facts = facts(visit, job).await?;
    let campaigns = match Campaigns::until(visit.until, &visit.site).await {
        Some(Ok(campaigns)) => campaigns,
        Some(Err(trouble)) => return Ok(no_campaigns(visit, job, trouble.text())),
        None => {
            return Ok(waiting(visit, job, ASKING, 0));
        }
    };
    if campaigns.is_empty() {
        let text = "The service lists no campaign for this access token. Make one there first.";
        return Ok(no_campaigns(visit, job, text.to_owned()));
    }
    let columns = &facts.columns;
    let record = job.record();
    let mut options = visit.site.options_of(&record);
    if record.service != visit.site.service_name() {
        // Another service has other campaigns with the same ids.
        options.mapping.campaign = None;
    }
    let status = status_of(&errors);
    let screen = Screen {
        heading: "Which campaign should call these people?".into(),
        help: "A campaign in progress may start calling as soon as you send.".into(),
        back: Some(visit.job_path(job.id, "list")),
        errors,
        body: Some(job_form(
            visit,
            job,
            "campaign",
            html! {
                (labelled("campaign", "Campaign", select(&campaigns, columns, &options)))
                (at_once(&campaigns))
                p { button.primary type="submit" { "Continue" } }
            },
        )),
        status,
        ..screen(visit, job, "Campaign", "campaign")
    };
    Ok(screen.respond(visit))
}

fn no_campaigns(visit: &Visit, job: &Job, text: String) -> Response {
    let screen = Screen {
        heading: "Which campaign should call these people?".into(),
        back: Some(visit.job_path(job.id, "list")),
        errors: vec![FieldError { field: None, text }],
        body: Some(html! {
            p {
                a.button href=(visit.job_path(job.id, "campaign")) { "Try again" } " "
                a.button href=(visit.path("service")) { "Change the service" }
            }
        }),
        ..screen(visit, job, "Campaign", "campaign")
    };
    screen.respond(visit)
}

fn select(campaigns: &[Campaign], columns: &FormColumns, options: &Options) -> Markup {
    let chosen = options
        .mapping
        .campaign
        .as_deref()
        .map_or("", String::as_str);
    let by_column = options.mapping.campaign_column.as_deref();
    let by_column = by_column.and_then(|text| columns.find(text));
    let is_chosen = |campaign: &Campaign| {
        by_column.is_none()
            && !chosen.is_empty()
            && (campaign.id == chosen || campaign.name == chosen)
    };
    html! {
        select #campaign name="campaign" required {
            option value="" { "Choose a campaign" }
            @for campaign in campaigns {
                option value=(campaign.id) selected[is_chosen(campaign)] { (described(campaign, campaigns)) }
            }
            optgroup label="From a column of the list" {
                @for (column, name) in columns.named() {
                    option value={ (COLUMN) (column) } selected[by_column == Some(column)] { (name) }
                }
            }
        }
    }
}

/// A campaign's name with its state, and its number if another one has the same name.
fn described(campaign: &Campaign, all: &[Campaign]) -> String {
    let same = all.iter().filter(|other| other.name == campaign.name);
    let number = (same.count() > 1).then(|| format!("no. {}", campaign.id));
    let state = Some(state(campaign)).filter(|state| !state.is_empty());
    let about: Vec<String> = number.into_iter().chain(state).collect();
    match about.is_empty() {
        true => campaign.name.clone(),
        false => format!("{} ({})", campaign.name, about.join(", ")),
    }
}

/// A campaign's state as people say it: `in progress`.
pub fn state(campaign: &Campaign) -> String {
    campaign.status.replace(['_', '-'], " ")
}

/// Which campaigns may begin to call at once.
fn at_once(campaigns: &[Campaign]) -> Markup {
    let mut active: Vec<&str> = campaigns
        .iter()
        .filter(|campaign| campaign.is_active())
        .map(|campaign| campaign.name.as_str())
        .collect();
    active.dedup();
    html! {
        @if !active.is_empty() {
            p.note { "In progress, so calls may start at once: " bdi { (active.join(", ")) } "." }
        }
    }
}

pub async fn choose(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Answer {
    let facts = facts(&visit.patiently(), &job).await?;
    let chosen = fields.get("campaign").unwrap_or_default().to_owned();
    if chosen.is_empty() {
        let errors = vec![FieldError::at("campaign", "Choose a campaign.")];
        return shown(&visit, &job, errors).await;
    }
    let columns = &facts.columns;
    let column = chosen.strip_prefix(COLUMN).and_then(|at| at.parse().ok());
    let column = column.and_then(|at| columns.text(at));
    let service = visit.site.service_name();
    let changed = job.change(fields.version(), |record| {
        record.service = service;
        let mapping = &mut record.options.mapping;
        mapping.campaign_column = column.map(Given::text_of);
        mapping.campaign = column.is_none().then(|| Given::text_of(&chosen));
    });
    if let Err(why) = changed {
        return Ok(not_changed(&visit, &job, "campaign", &why));
    }
    Ok(see_other(&visit.job_path(job.id, "columns")))
}
