//! A request to a page, and what every handler needs for its answer.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::job::JobId;
use super::server::Session;
use super::site::Site;

/// How long a page waits for work that may be done in a moment, instead of showing how far it is.
const MOMENT: Duration = Duration::from_millis(100);

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
