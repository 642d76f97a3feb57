//! *Do not call*: the numbers that no list calls, whatever its settings are.

mod changes;

use std::sync::PoisonError;

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

pub use self::changes::{add, add_list, remove};
use super::history;
use super::layout::{FieldError, Screen, form, labelled, status_of, table_head, upload_form};
use super::server::FormFields;
use super::site::Site;
use super::trouble::Trouble;
use super::visit::{Answer, Visit};
use crate::lead::RunId;
use crate::ledger::{Ledger, Suppressed};
use crate::message::Voice;
use crate::options::Options;
use crate::phone::Region;
use crate::report::{Block, Html, SENT_WITH, suppressed_csv, times};
use crate::text::counted;

const TITLE: &str = "Do not call";

/// How many numbers are shown, and how many leads; the newest first.
const SHOWN: usize = 100;

/// What a change has come to.
#[derive(Debug)]
pub struct ChangeNotice {
    blocks: Vec<Block>,
    /// The runs that have sent the leads that people on the list are already.
    runs: Vec<RunId>,
}

/// What was filled in, if it could not be taken.
#[derive(Debug, Default, Clone)]
struct Filled {
    number: String,
    country: String,
    reason: String,
}

/// The form for a number, and the one for a list.
#[derive(Debug)]
struct Forms {
    number: Filled,
    list: Filled,
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

impl Forms {
    /// Nothing is filled in yet.
    fn new(site: &Site) -> Forms {
        let filled = Filled {
            country: own_country(site).unwrap_or_default(),
            ..Filled::default()
        };
        Forms {
            number: filled.clone(),
            list: filled,
        }
    }
}

pub async fn show(visit: Visit) -> Answer {
    Ok(shown(&visit, &Forms::new(&visit.site), Vec::new()).await)
}

/// The country that the settings name for numbers without one.
fn own_country(site: &Site) -> Option<String> {
    let layers = site.layers(&Options::default()).ok()?;
    let region = layers.given().phones.region.as_deref().copied().flatten();
    region.map(|region| region.to_string())
}

async fn shown(visit: &Visit, forms: &Forms, errors: Vec<FieldError>) -> Response {
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
                    input #number type="tel" name="number" value=(forms.number.number) autocomplete="off" required;
                }))
                (country_and_reason(&forms.number, ["country", "Country"], ["reason", "Reason (optional)"]))
                p.buttons {
                    button type="submit" name="action" value="add" { "Add to the list" } " "
                    button type="submit" name="action" value="remove" { "Remove from the list" }
                }
            }))
            h2 { "Add a list of numbers" }
            (upload_form(visit, &visit.path("do-not-call/list"), html! {
                (country_and_reason(
                    &forms.list,
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

fn what_was_done(visit: &Visit, notice: &ChangeNotice) -> Markup {
    let html = Html {
        cell: &|row, column, cell| match column == SENT_WITH {
            true => html! { a href=(visit.run_path(notice.runs[row])) { (cell) } },
            false => cell,
        },
        ..Html::plain(Voice::Page)
    };
    html! { div.told role="status" { (html.blocks(&notice.blocks)) } }
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

impl Site {
    fn keep_told(&self, told: ChangeNotice) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }

    fn take_told(&self) -> Option<ChangeNotice> {
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
            let trouble = Trouble::new("The list can't be made.", error.to_string());
            Err(history::failed(&visit, TITLE, &trouble))
        }
        Err(trouble) => Err(history::failed(&visit, TITLE, &trouble)),
    }
}
