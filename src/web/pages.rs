//! The addresses of all pages, and how the program ends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::layout::{self, Screen, see_other};
use super::site::Site;
use super::steps::{campaign, columns, list, problems, run, send, service};
use super::visit::Visit;
use super::{do_not_call, files, history, kept_files, quit, reading_form, summary, undo};
use crate::exit::Failure;
use crate::import::service::block_on;
use crate::options::Options;
use crate::report::Log;
use crate::text::printable_lines;

/// How often to look whether a run has begun that is to be told to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The pages, and what is to be done before the program ends.
pub struct Pages {
    pub router: Router,
    /// Wakes when somebody has chosen to end the program in the page.
    pub quit: Arc<Notify>,
    /// Ends what is being sent, as a signal to an import does, and waits until it has ended.
    pub wind_down: Box<dyn FnOnce() + Send>,
}

impl Pages {
    /// The pages, with the options that the program was started with. Lists are kept in `folder`.
    pub fn new(typed: Options, folder: &Path, log: Log) -> Result<Pages, Failure> {
        let site = Site::open(typed, folder.join(super::LISTS), log)?;
        let site = Arc::new(site);
        // What cannot be removed now may be at the next start.
        let _ = block_on(kept_files::remove_all_sent(&site));
        Ok(Pages {
            router: router(Arc::clone(&site)),
            quit: Arc::clone(&site.quit),
            wind_down: Box::new(move || {
                // Without a thread to wait on, it ends as if it were killed.
                let _ = block_on(wind_down(&site));
            }),
        })
    }
}

/// Tells what is sent to stop, and takes the right to send when that has ended. It is not given
/// back, so that nothing can begin any more.
async fn wind_down(site: &Site) -> Result<(), Failure> {
    loop {
        let at_work = site.jobs.at_work();
        at_work.iter().for_each(|job| job.state().sending.stop());
        let follow_ups = site.follow_ups.at_work();
        follow_ups.iter().for_each(|work| work.stop());
        if let Ok(Ok(turn)) = timeout(LOOK, site.turn.acquire()).await {
            turn.forget();
            return Ok(());
        }
    }
}

fn router(site: Arc<Site>) -> Router {
    Router::new()
        .route("/", get(first))
        .route("/service", get(service::show).post(service::connect))
        .route("/list", get(list::choose).post(list::take))
        .route("/lists/{id}/begin", get(list::begin))
        .route("/lists/{id}/list", get(list::show).post(list::replace))
        .route(
            "/lists/{id}/campaign",
            get(campaign::show).post(campaign::choose),
        )
        .route(
            "/lists/{id}/columns",
            get(columns::show).post(columns::choose),
        )
        .route("/lists/{id}/reading", post(reading_form::choose))
        .route(
            "/lists/{id}/problems",
            get(problems::show).post(problems::correct),
        )
        .route("/lists/{id}/send", get(send::show).post(send::send))
        .route("/lists/{id}/scratch", post(send::scratch))
        .route("/lists/{id}/test", post(send::test))
        .route("/lists/{id}/run", get(run::show))
        .route("/lists/{id}/live", get(run::live))
        .route("/lists/{id}/stop", post(run::stop))
        .route("/lists/{id}/resume", post(run::resume))
        .route("/lists/{id}/files/{name}", get(files::download))
        .route("/sending", get(sending))
        .route("/history", get(history::show))
        .route("/history/{run}", get(history::show_run))
        .route("/history/{run}/resume", post(history::resume))
        .route("/history/{run}/undo", get(undo::ask).post(undo::undo))
        .route("/history/{run}/look-up", post(undo::look_up))
        .route("/history/{run}/progress", get(undo::progress))
        .route("/history/{run}/stop", post(undo::stop))
        .route("/history/{run}/summary", get(summary::show))
        .route("/history/{run}/files/{name}", get(files::download_of_run))
        .route(
            "/do-not-call",
            get(do_not_call::show).post(do_not_call::add),
        )
        .route("/do-not-call/list", post(do_not_call::add_list))
        .route("/do-not-call/remove", post(do_not_call::remove))
        .route("/do-not-call/do-not-call.csv", get(do_not_call::download))
        .route("/quit", get(quit::ask).post(quit::quit))
        .route("/style.css", get(style))
        .route("/script.js", get(script))
        .route("/icon.svg", get(icon))
        .fallback(nowhere)
        .method_not_allowed_fallback(nowhere)
        .layer(middleware::from_fn_with_state(Arc::clone(&site), as_page))
        .with_state(site)
}

/// The first screen: the service, or where there is one, the list.
async fn first(visit: Visit) -> Response {
    match visit.site.has_service() {
        true => see_other(&visit.path("list")),
        false => see_other(&visit.path("service")),
    }
}

/// Shows a screen in place of an error that is no page: what the framework answers by itself, for
/// example to an address with a number that is none.
async fn as_page(visit: Visit, request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    let is_page = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| {
        let kind = kind.to_str().unwrap_or_default();
        kind.starts_with("text/html")
    });
    let status = answer.status();
    if is_page || !status.is_client_error() && !status.is_server_error() {
        return answer;
    }
    nowhere(visit).await
}

/// The screen at an address where there is nothing.
async fn nowhere(visit: Visit) -> Response {
    let screen = Screen {
        title: "Nothing here".into(),
        heading: "There is nothing at this address".into(),
        back: Some(visit.path("list")),
        status: StatusCode::NOT_FOUND,
        ..Screen::default()
    };
    screen.respond(&visit)
}

/// What is being sent, for the pages that are open.
async fn sending(visit: Visit) -> Response {
    let text = printable_lines(&layout::sending(&visit, None).into_string()).into_owned();
    Html(text).into_response()
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
