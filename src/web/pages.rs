//! What the browser is shown, and how it ends the program.

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use maud::{Markup, html};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::form::{FORM_TOKEN, FormFields};
use super::session::Session;
use super::upload::{self, UploadError};

/// The pages, and what is to be done before the program ends.
pub struct Pages {
    pub router: Router,
    /// Wakes when somebody has chosen to end the program in the page.
    pub quit: Arc<Notify>,
    /// Ends what is being sent, as a signal to an import does, and waits until it has ended.
    pub wind_down: Box<dyn FnOnce() + Send>,
}

impl Pages {
    pub fn new() -> std::io::Result<Pages> {
        let quit = Arc::new(Notify::new());
        let shared = Arc::new(Shared {
            folder: tempfile::tempdir()?,
            quit: Arc::clone(&quit),
        });
        let router = Router::new()
            .route("/", get(start))
            .route("/greet", post(greet))
            .route("/list", post(list))
            .route("/quit", post(end))
            .with_state(shared);
        Ok(Pages {
            router,
            quit,
            wind_down: Box::new(|| {}),
        })
    }
}

struct Shared {
    folder: TempDir,
    quit: Arc<Notify>,
}

async fn start(Extension(session): Extension<Session>) -> Html<String> {
    let token = html! {
        input type="hidden" name=(FORM_TOKEN) value=(session.form_token.as_str());
    };
    page(html! {
        p { "leadload is running." }
        form method="post" action="greet" {
            (token)
            label { "Name " input name="name"; }
            button { "Greet" }
        }
        form method="post" action="list" enctype="multipart/form-data" {
            (token)
            label { "Contact list " input type="file" name="list"; }
            button { "Continue" }
        }
        form method="post" action="quit" {
            (token)
            button { "Stop and quit" }
        }
    })
}

async fn greet(Extension(fields): Extension<FormFields>) -> Html<String> {
    page(html! { p { "Hello, " (fields.get("name").unwrap_or("you")) "." } })
}

async fn list(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    match upload::receive(request, folder(&shared)).await {
        Ok(list) => {
            page(html! { p { (list.name) " has " (list.bytes) " bytes." } }).into_response()
        }
        Err(error) => {
            let status = match error {
                UploadError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                UploadError::FormToken => StatusCode::FORBIDDEN,
                UploadError::TooSlow | UploadError::BrokenOff => StatusCode::REQUEST_TIMEOUT,
                UploadError::DiskFull | UploadError::Disk(_) => StatusCode::INSUFFICIENT_STORAGE,
                _ => StatusCode::BAD_REQUEST,
            };
            (status, page(html! { p { (error) } })).into_response()
        }
    }
}

fn folder(shared: &Shared) -> &Path {
    shared.folder.path()
}

async fn end(State(shared): State<Arc<Shared>>) -> Html<String> {
    shared.quit.notify_one();
    page(html! { p { "leadload has ended. You can close this tab." } })
}

fn page(body: Markup) -> Html<String> {
    Html(super::answers::document("leadload", None, &body))
}
