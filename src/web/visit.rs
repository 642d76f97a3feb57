//! A request to a page, and what every handler needs for its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::job::{Job, JobId};
use super::layout::Screen;
use super::server::Session;
use super::site::Site;
use crate::lead::RunId;

/// How long a page waits for work that may be done in a moment, instead of showing how far it is.
const MOMENT: Duration = Duration::from_millis(100);

/// How long a form that was filled in waits for a list that is read or checked again. Otherwise
/// what was typed would be lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a handler answers: its screen, or another one that takes its place.
pub type Answer = Result<Response, Response>;

#[derive(Clone)]
pub struct Visit {
    pub site: Arc<Site>,
    pub form_token: String,
    /// What comes before the path of every page: `/PREFIX/`.
    pub base: Arc<str>,
    /// The page waits for work until then, for all its work together.
    pub until: Instant,
}

impl Visit {
    /// The address of a page, such as `history`.
    pub fn path(&self, page: &str) -> String {
        format!("{}{page}", self.base)
    }

    /// The address of a page about a job, such as `columns`.
    pub fn job_path(&self, job: JobId, page: &str) -> String {
        format!("{}lists/{job}/{page}", self.base)
    }

    /// The address of the page about a run.
    pub fn run_path(&self, run: RunId) -> String {
        self.path(&format!("history/{run}"))
    }

    /// This visit with more time, for work that a filled-in form waits for.
    pub fn patiently(&self) -> Visit {
        Visit {
            until: Instant::now() + PATIENCE,
            ..self.clone()
        }
    }
}

impl FromRequestParts<Arc<Site>> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Visit, Infallible> {
        // The guard lets nobody in without a session.
        let session = parts.extensions.get::<Session>();
        let base = session.map(|session| Arc::clone(&session.base));
        Ok(Visit {
            site: Arc::clone(site),
            until: Instant::now() + MOMENT,
            base: base.unwrap_or_else(|| "/".into()),
            form_token: session
                .map(|session| session.form_token.as_str().to_owned())
                .unwrap_or_default(),
        })
    }
}

/// The job that an address names, `/lists/{id}/…`. If there is none, a screen says so.
pub struct CurrentJob(pub Arc<Job>);

#[derive(Deserialize)]
struct Address {
    id: u64,
}

impl FromRequestParts<Arc<Site>> for CurrentJob {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let address = Path::<Address>::from_request_parts(parts, site).await;
        let Path(Address { id }) = address.map_err(IntoResponse::into_response)?;
        if let Some(job) = site.jobs.get(JobId(id)) {
            return Ok(CurrentJob(job));
        }
        let Ok(visit) = Visit::from_request_parts(parts, site).await;
        let screen = Screen {
            title: "No such list".into(),
            heading: "This list is not here".into(),
            help: "Lists that were not sent are kept for 30 days.".into(),
            back: Some(visit.path("list")),
            status: StatusCode::NOT_FOUND,
            ..Screen::default()
        };
        Err(screen.respond(&visit))
    }
}
