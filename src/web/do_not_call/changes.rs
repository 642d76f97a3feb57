//! Numbers that are put on the list or taken off it.

use std::path::PathBuf;

use axum::Extension;
use axum::extract::Request;
use axum::response::Response;

use super::{ChangeNotice, Filled, Forms, shown};
use crate::do_not_call::{self, Added, Named};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::service;
use crate::ledger::{LeadAt, Ledger, LedgerPlace, RunRecord};
use crate::options::{Given, Options};
use crate::phone::Region;
use crate::report::{Block, added, list_name};
use crate::settings::PhoneSettings;
use crate::web::history;
use crate::web::layout::{FieldError, see_other};
use crate::web::server::{FormFields, upload};
use crate::web::site::Site;
use crate::web::trouble::Trouble;
use crate::web::visit::Visit;
use crate::web::words::{disk, upload_error};

/// The control that an error belongs to.
const NUMBER: &str = "number";
const LIST: &str = "list";

/// Adds a number, or removes it.
pub async fn add(visit: Visit, Extension(fields): Extension<FormFields>) -> Response {
    let filled = Filled::of(&fields);
    let changed = match fields.get("action") {
        Some("remove") => take_off(&visit, &filled).await,
        _ => put_on(&visit, &filled, Vec::new()).await,
    };
    answer(&visit, &filled, NUMBER, changed).await
}

pub async fn remove(visit: Visit, Extension(fields): Extension<FormFields>) -> Response {
    let filled = Filled::of(&fields);
    let changed = take_off(&visit, &filled).await;
    answer(&visit, &filled, NUMBER, changed).await
}

/// Adds all numbers of a list.
pub async fn add_list(visit: Visit, request: Request) -> Response {
    let folder = match visit.site.jobs.new_folder() {
        Ok((_, folder)) => folder,
        Err(error) => {
            return refused(&visit, &Forms::new(&visit.site).list, LIST, disk(&error)).await;
        }
    };
    let upload = match upload::receive(request, folder.path()).await {
        Ok(upload) => upload,
        Err(error) => {
            return refused(
                &visit,
                &Forms::new(&visit.site).list,
                LIST,
                upload_error(&error),
            )
            .await;
        }
    };
    let filled = Filled::of(&upload.fields);
    let Some((_, path)) = upload.file else {
        let text = "Choose a list first.".to_owned();
        return refused(&visit, &filled, LIST, text).await;
    };
    let changed = put_on(&visit, &filled, vec![path]).await;
    answer(&visit, &filled, LIST, changed).await
}

async fn answer(
    visit: &Visit,
    filled: &Filled,
    field: &str,
    changed: Result<ChangeNotice, Failure>,
) -> Response {
    match changed {
        Ok(told) => {
            // Checks are not true any more, and rows of a list that is being sent are left out.
            visit.site.jobs.forget_checks();
            visit.site.keep_told(told);
            see_other(&visit.path("do-not-call"))
        }
        Err(failure) => refused(visit, filled, field, Trouble::of(&failure).text()).await,
    }
}

async fn refused(visit: &Visit, filled: &Filled, field: &str, text: String) -> Response {
    let mut forms = Forms::new(&visit.site);
    match field {
        LIST => forms.list = filled.clone(),
        _ => forms.number = filled.clone(),
    }
    shown(visit, &forms, vec![FieldError::at(field, text)]).await
}

/// Puts the number that is filled in on the list, or those of the files.
async fn put_on(
    visit: &Visit,
    filled: &Filled,
    files: Vec<PathBuf>,
) -> Result<ChangeNotice, Failure> {
    let (place, settings) = settings(&visit.site, filled)?;
    let typed = match files.is_empty() {
        true => vec![filled.number.clone()],
        false => Vec::new(),
    };
    let reason = filled.reason.clone();
    let added = service::on_a_thread(move || {
        let named = Named {
            numbers: &typed,
            files: &files,
        };
        let numbers = do_not_call::numbers(&named, &settings)?;
        do_not_call::add(&place, &numbers, Some(&reason))
    });
    let added = added.await?;
    // Without their names, the lists are called by their numbers.
    let runs = match added.leads.is_empty() {
        true => None,
        false => history::read(visit, Ledger::runs).await.ok().flatten(),
    };
    Ok(ChangeNotice::of(
        &visit.site,
        &added,
        &runs.unwrap_or_default(),
    ))
}

async fn take_off(visit: &Visit, filled: &Filled) -> Result<ChangeNotice, Failure> {
    let (place, settings) = settings(&visit.site, filled)?;
    let typed = [filled.number.clone()];
    let removed = service::on_a_thread(move || {
        let named = Named {
            numbers: &typed,
            files: &[],
        };
        let numbers = do_not_call::numbers(&named, &settings)?;
        do_not_call::remove(&place, &numbers)
    });
    let said = match removed.await? {
        0 => text!("this number is not on the list"),
        _ => text!("removed; this number is called again from the next list on"),
    };
    Ok(ChangeNotice {
        blocks: vec![Block::Paragraph(said)],
        runs: Vec::new(),
    })
}

fn settings(site: &Site, filled: &Filled) -> Result<(LedgerPlace, PhoneSettings), Failure> {
    let mut options = Options::default();
    let region = Region::parse(&filled.country);
    let text = region.map_or_else(|| "none".to_owned(), |region| region.to_string());
    options.phones.region = Some(Given::new(region, text));
    let layers = site.layers(&options)?;
    let place = site.ledger_place()?.ok_or_else(|| {
        let message = message!(
            "leadload keeps no record on this computer, so it cannot keep this list either",
            "ask the person who set up leadload"
        );
        Failure::new(StoppedBy::Usage, message)
    })?;
    let settings = PhoneSettings::new(&layers).stopped_by(StoppedBy::Usage)?;
    Ok((place, settings))
}

impl ChangeNotice {
    fn of(site: &Site, change: &Added, runs: &[RunRecord]) -> ChangeNotice {
        let service = site.service_name();
        let names = |lead: &LeadAt| {
            let id = lead.record.campaign.to_string();
            let campaign = match change.campaign(lead) {
                Some(name) => name.to_owned(),
                None if lead.service == service => site.campaigns.name(&id),
                None => id,
            };
            let run = runs.iter().find(|run| run.run == lead.record.run);
            let list = run.map_or_else(|| format!("run {}", lead.record.run), list_name);
            (campaign, list)
        };
        ChangeNotice {
            blocks: added(change, &names),
            runs: change.leads.iter().map(|lead| lead.record.run).collect(),
        }
    }
}
