//! The page: the whole job in a browser, for people without a terminal.
//!
//! Rules: the page makes the same calls as the command line, and nothing about importing is decided
//! here. A run belongs to the process and not to a tab. No text names a flag or a command.
//!
//! ```text
//! browser → server → guard → pages (steps, history, files) → job → threads: reading, checking,
//!                                                                  sending → live → pages
//! ```
//!
//! | module | job |
//! |-|-|
//! | `site` | what all pages share: settings, service, jobs |
//! | `job`, `jobs` | a list on its way, and the folder of all lists |
//! | `reading`, `checking`, `sending`, `test_call` | the work for a list, on threads of their own |
//! | `live` | what a run is doing right now |
//! | `steps` | a screen for each step |
//! | `history`, `files`, `quit` | earlier runs, downloads, the end |
//! | `layout`, `visit` | what all screens have in common |
//! | `words`, `trouble` | texts without flags |

mod campaigns;
mod checking;
mod column_form;
mod corrections;
mod earlier;
mod files;
mod form_columns;
mod form_fields;
mod history;
mod job;
mod jobs;
mod layout;
mod live;
mod previews;
mod quit;
mod reading;
mod reading_form;
mod sending;
mod session;
mod site;
mod steps;
mod summary;
mod test_call;
mod times;
mod trouble;
mod upload;
mod visit;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use self::layout::see_other;
pub use self::site::Site;
use self::steps::{campaign, columns, list, problems, run, send, service};
use self::visit::Visit;

/// The pages, below the address that the guard protects.
pub fn pages(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(first))
        .route("/service", get(service::show).post(service::connect))
        .route("/list", get(list::choose).post(list::take))
        .route("/lists/{id}/begin", get(list::begin))
        .route("/lists/{id}/list", get(list::show).post(list::replace))
        .route("/lists/{id}/campaign", get(campaign::show).post(campaign::choose))
        .route("/lists/{id}/columns", get(columns::show).post(columns::choose))
        .route("/lists/{id}/reading", post(reading_form::choose))
        .route("/lists/{id}/problems", get(problems::show).post(problems::correct))
        .route("/lists/{id}/send", get(send::show).post(send::send))
        .route("/lists/{id}/scratch", post(send::scratch))
        .route("/lists/{id}/test", post(send::test))
        .route("/lists/{id}/run", get(run::show))
        .route("/lists/{id}/live", get(run::live))
        .route("/lists/{id}/stop", post(run::stop))
        .route("/lists/{id}/resume", post(run::resume))
        .route("/lists/{id}/summary", get(summary::show))
        .route("/lists/{id}/files/{name}", get(files::download))
        .route("/history", get(history::show))
        .route("/history/{run}", get(history::show_run))
        .route("/history/{run}/resume", post(history::resume))
        .route("/quit", get(quit::ask).post(quit::quit))
        .route("/style.css", get(style))
        .route("/script.js", get(script))
        .route("/icon.svg", get(icon))
        .with_state(site)
}

/// The first screen: the service, or where there is one, the list.
async fn first(visit: Visit) -> Response {
    match visit.site.has_service() {
        true => see_other(&visit.path("list")),
        false => see_other(&visit.path("service")),
    }
}

async fn style() -> Response {
    let text = crate::report::STYLE;
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], text).into_response()
}

async fn icon() -> Response {
    let text = include_str!("icon.svg");
    ([(CONTENT_TYPE, "image/svg+xml")], text).into_response()
}

async fn script() -> Response {
    let text = include_str!("script.js");
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], text).into_response()
}
