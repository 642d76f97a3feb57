//! *Do not call*: the numbers that no list calls, whatever its settings are.

use std::path::PathBuf;
use std::sync::PoisonError;

use axum::Extension;
use axum::extract::Request;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::history;
use super::layout::{
    FieldError, Screen, form, labelled, see_other, status_of, table_head, upload_form,
};
use super::server::{FormFields, upload};
use super::site::Site;
use super::times;
use super::trouble::{Trouble, sentence};
use super::visit::{Answer, Visit};
use super::words::{disk, upload_error};
use crate::do_not_call::{self, Added, Named};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::service;
use crate::lead::RunId;
use crate::ledger::{Ledger, LedgerPlace, RunRecord, Suppressed};
use crate::message::Message;
use crate::options::{Given, Options};
use crate::phone::Region;
use crate::report::suppressed_csv;
use crate::settings::PhoneSettings;
use crate::text::{counted, grouped, was};

const TITLE: &str = "Do not call";

/// How many numbers are shown, and how many leads; the newest first.
const SHOWN: usize = 100;

/// What a change has come to.
#[derive(Debug)]
pub struct Told {
    text: String,
    /// The leads that people on the list are already.
    leads: Vec<Lead>,
    people: u64,
}

#[derive(Debug)]
struct Lead {
    number: String,
    campaign: String,
    run: RunId,
    /// The list it was sent with.
    list: String,
}

/// What was filled in, if it could not be taken.
#[derive(Debug, Default)]
struct Filled {
    number: String,
    country: String,
    reason: String,
}

impl Filled {
    fn of(fields: &FormFields) -> Filled {
        let text = |name| fields.get(name).unwrap_or_default().trim().to_owned();
        Filled {
            number: text("number"),
            country: text("country"),
            reason: text("reason"),
        }
    }
}

pub async fn show(visit: Visit) -> Answer {
    let country = own_country(&visit.site);
    let filled = Filled {
        country: country.unwrap_or_default(),
        ..Filled::default()
    };
    Ok(shown(&visit, &filled, Vec::new()).await)
}

/// The country that the settings name for numbers without one.
fn own_country(site: &Site) -> Option<String> {
    let layers = site.layers(&Options::default()).ok()?;
    let region = layers.given().phones.region.as_deref().copied().flatten();
    region.map(|region| region.to_string())
}

async fn shown(visit: &Visit, filled: &Filled, errors: Vec<FieldError>) -> Response {
    let list = history::read(visit, Ledger::suppressed).await;
    let list = match list {
        Ok(list) => list.unwrap_or_default(),
        Err(trouble) => return history::failed(visit, TITLE, &trouble),
    };
    let told = match errors.is_empty() {
        true => visit.site.take_told(),
        false => None,
    };
    let screen = Screen {
        title: TITLE.into(),
        heading: TITLE.into(),
        help: "Nobody on this list is sent to the calling service, whatever a contact list says."
            .into(),
        back: Some(visit.path("list")),
        status: status_of(&errors),
        errors,
        body: Some(html! {
            @if let Some(told) = &told { (what_was_done(visit, told)) }
            h2 { "Add or remove a number" }
            (form(visit, &visit.path("do-not-call"), html! {
                (labelled("number", "Phone number", html! {
                    input #number type="tel" name="number" value=(filled.number) autocomplete="off" required;
                }))
                (country_and_reason(filled, ["country", "Country"], ["reason", "Reason (optional)"]))
                p.buttons {
                    button type="submit" name="action" value="add" { "Add to the list" } " "
                    button type="submit" name="action" value="remove" { "Remove from the list" }
                }
            }))
            h2 { "Add a list of numbers" }
            (upload_form(visit, &visit.path("do-not-call/list"), html! {
                (country_and_reason(
                    filled,
                    ["list-country", "Country of the list"],
                    ["list-reason", "Reason for all (optional)"],
                ))
                (labelled("list", "List of numbers", html! {
                    input #list type="file" name="list" accept=".csv,.tsv,.txt,.xlsx,.xlsm,.xls,.ods,.gz,.zst" aria-describedby="list-help" required;
                }))
                p #list-help .hint { "Excel or CSV, with one number in each row. Either all of it is added or nothing." }
                progress #upload-progress max="100" value="0" aria-label="Upload" hidden {}
                p { button type="submit" { "Add all to the list" } }
            }))
            (numbers(visit, &list))
        }),
        ..Screen::default()
    };
    screen.respond(visit)
}

/// With the ids and labels of the controls.
fn country_and_reason(filled: &Filled, country: [&str; 2], reason: [&str; 2]) -> Markup {
    let ([country, of_country], [reason, of_reason]) = (country, reason);
    html! {
        (labelled(country, of_country, html! {
            select id=(country) name="country" {
                option value="" selected[filled.country.is_empty()] { "As each number says (+44 …)" }
                @for (code, name) in Region::all_by_name() {
                    option value=(code) selected[filled.country == code] { (name) }
                }
            }
        }))
        (labelled(reason, of_reason, html! {
            input id=(reason) type="text" name="reason" value=(filled.reason) autocomplete="off" maxlength="200";
        }))
    }
}

fn what_was_done(visit: &Visit, told: &Told) -> Markup {
    let leads = told.leads.iter().take(SHOWN);
    html! {
        p.told role="status" { (told.text) }
        @if told.people > 0 {
            div.note {
                p {
                    @if told.people == 1 { "1 of these people is a lead already, and may be" }
                    @else { (grouped(told.people)) " of these people are leads already, and may be" }
                    " called all the same, unless the lead is removed in the calling service:"
                }
                div.scroll {
                    table {
                        (table_head(&["Number", "Campaign", "Sent with"]))
                        tbody {
                            @for lead in leads {
                                tr {
                                    th scope="row" { (lead.number) }
                                    td { bdi { (lead.campaign) } }
                                    td { a href=(visit.run_path(lead.run)) { bdi { (lead.list) } } }
                                }
                            }
                        }
                    }
                }
                @if told.leads.len() > SHOWN { p { "… and " (grouped((told.leads.len() - SHOWN) as u64)) " more." } }
            }
        }
    }
}

fn numbers(visit: &Visit, list: &[Suppressed]) -> Markup {
    let action = visit.path("do-not-call/remove");
    html! {
        h2 { "On the list" }
        @if list.is_empty() { p { "Nobody yet." } }
        @else {
            p { (counted(list.len() as u64, "number")) "." @if list.len() > SHOWN { " The newest " (SHOWN) " are:" } }
            p.buttons {
                a.button href=(visit.path("do-not-call/do-not-call.csv")) download { "Download the list (CSV)" }
            }
            div.scroll {
                table {
                    (table_head(&["Number", "Since", "Reason", "Remove"]))
                    tbody {
                        @for entry in list.iter().rev().take(SHOWN) {
                            tr {
                                th scope="row" { (entry.number) }
                                td { (times::day(entry.added_at)) }
                                td { bdi { (entry.reason.as_deref().unwrap_or_default()) } }
                                td {
                                    (form(visit, &action, html! {
                                        input type="hidden" name="number" value=(entry.number);
                                        button type="submit" { "Remove" span.unseen { " " (entry.number) } }
                                    }))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Adds a number, or removes it.
pub async fn add(visit: Visit, Extension(fields): Extension<FormFields>) -> Response {
    let filled = Filled::of(&fields);
    let changed = match fields.get("action") {
        Some("remove") => take_off(&visit, &filled).await,
        _ => put_on(&visit, &filled, Vec::new()).await,
    };
    answer(&visit, &filled, "number", changed).await
}

pub async fn remove(visit: Visit, Extension(fields): Extension<FormFields>) -> Response {
    let filled = Filled::of(&fields);
    let changed = take_off(&visit, &filled).await;
    answer(&visit, &filled, "number", changed).await
}

/// Adds all numbers of a list.
pub async fn add_list(visit: Visit, request: Request) -> Response {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return refused(&visit, &Filled::default(), "list", disk(&error)).await,
    };
    let upload = match upload::receive(request, folder.path()).await {
        Ok(upload) => upload,
        Err(error) => {
            return refused(&visit, &Filled::default(), "list", upload_error(&error)).await;
        }
    };
    let filled = Filled {
        number: String::new(),
        ..Filled::of(&upload.fields)
    };
    let Some((_, path)) = upload.file else {
        let text = "Choose a list first.".to_owned();
        return refused(&visit, &filled, "list", text).await;
    };
    let changed = put_on(&visit, &filled, vec![path]).await;
    answer(&visit, &filled, "list", changed).await
}

async fn answer(
    visit: &Visit,
    filled: &Filled,
    field: &str,
    changed: Result<Told, Failure>,
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
    shown(visit, filled, vec![FieldError::at(field, text)]).await
}

/// Puts the number that is filled in on the list, or those of the files.
async fn put_on(visit: &Visit, filled: &Filled, files: Vec<PathBuf>) -> Result<Told, Failure> {
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
    Ok(Told::of(&visit.site, &added, &runs.unwrap_or_default()))
}

async fn take_off(visit: &Visit, filled: &Filled) -> Result<Told, Failure> {
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
    let text = match removed.await? {
        0 => "This number is not on the list.",
        _ => "Removed. This number is called again from the next list on.",
    };
    Ok(Told {
        text: text.to_owned(),
        leads: Vec::new(),
        people: 0,
    })
}

fn settings(site: &Site, filled: &Filled) -> Result<(LedgerPlace, PhoneSettings), Failure> {
    let mut options = Options::default();
    let region = Region::parse(&filled.country);
    let text = region.map_or_else(|| "none".to_owned(), |region| region.to_string());
    options.phones.region = Some(Given::new(region, text));
    let layers = site.layers(&options)?;
    let place = site.ledger_place()?.ok_or_else(|| {
        let message = Message::new(
            "leadload keeps no record on this computer, so it cannot keep this list either",
            "ask the person who set up leadload",
        );
        Failure::new(StoppedBy::Usage, message)
    })?;
    let settings = PhoneSettings::new(&layers).or_stopped(StoppedBy::Usage)?;
    Ok((place, settings))
}

impl Told {
    fn of(site: &Site, added: &Added, runs: &[RunRecord]) -> Told {
        let mut text = format!("{} added.", counted(added.added, "number"));
        if added.known > 0 {
            let were = was(added.known);
            text = format!(
                "{text} {} {were} on the list already.",
                grouped(added.known)
            );
        }
        let service = site.service_name();
        let leads = added.leads.iter().map(|lead| {
            let id = lead.record.campaign.to_string();
            let mut runs = runs.iter();
            let run = runs.find(|run| run.run == lead.record.run);
            Lead {
                number: lead.record.number.to_string(),
                campaign: match added.campaign(lead) {
                    Some(name) => name.to_owned(),
                    None if lead.service == service => site.campaigns.name(&id),
                    None => id,
                },
                run: lead.record.run,
                list: run.map_or_else(|| format!("run {}", lead.record.run), history::list_name),
            }
        });
        Told {
            text,
            leads: leads.collect(),
            people: added.people(),
        }
    }
}

impl Site {
    fn keep_told(&self, told: Told) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }

    fn take_told(&self) -> Option<Told> {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// The list as a file that can be added again.
pub async fn download(visit: Visit) -> Answer {
    let list = history::read(&visit, Ledger::suppressed).await;
    let csv = list.map(|list| suppressed_csv(&list.unwrap_or_default()));
    match csv {
        Ok(Ok(csv)) => {
            let head = [
                (CONTENT_TYPE, "text/csv; charset=utf-8"),
                (
                    CONTENT_DISPOSITION,
                    "attachment; filename=\"do-not-call.csv\"",
                ),
            ];
            Ok((head, csv).into_response())
        }
        Ok(Err(error)) => {
            let trouble = Trouble::new("The list can't be made.", sentence(&error.to_string()));
            Err(history::failed(&visit, TITLE, &trouble))
        }
        Err(trouble) => Err(history::failed(&visit, TITLE, &trouble)),
    }
}
