//! The sandbox without a network, for tests that stop the clock.
//!
//! Rule: the same code makes the same decisions as behind HTTP; only the
//! transport of the answers is left out. Time is Tokio's.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Response};
use bytes::Bytes;

use super::config::SandboxConfig;
use super::rule::Then;
use super::state::Shared;
use super::stats::Stats;

#[derive(Clone)]
pub(crate) struct MemorySandbox(Arc<Shared>);

/// The result of a request.
pub(crate) enum Outcome {
    Answer(Response<Bytes>),
    Dropped,
}

impl MemorySandbox {
    pub(crate) fn new(config: SandboxConfig) -> io::Result<MemorySandbox> {
        config.validate().unwrap();
        let shared = Shared::new(config);
        // `Retry-After` is in whole seconds, so the fraction of a second at the start matters.
        shared.state().started = UNIX_EPOCH + Duration::from_millis(1_800_000_000_300);
        Ok(MemorySandbox(Arc::new(shared)))
    }

    pub(crate) fn stats(&self) -> Stats {
        self.0.state().stats.clone()
    }

    /// Sends a request for a lead, with the headers of our client.
    pub(crate) async fn post_lead(&self, body: Bytes) -> Outcome {
        let shared = &self.0;
        let arrival = shared.state().arrive(shared.now_us());
        // Lives until the answer, or until the caller gives up.
        let _in_flight = super::state::InFlight(shared);
        let reply = shared.state().decide(arrival, &self.headers(), Some(&body));
        let _slot = shared.slots.acquire().await.ok();
        tokio::time::sleep(reply.delay).await;
        match reply.ending {
            Then::Answer | Then::Usual => Outcome::Answer(reply.response),
            Then::Drop => Outcome::Dropped,
            Then::Hang => std::future::pending().await,
        }
    }

    fn headers(&self) -> HeaderMap {
        let token = format!("Bearer {}", self.0.config.token());
        let headers = [
            (AUTHORIZATION, token.as_str()),
            (ACCEPT, "application/json"),
            (CONTENT_TYPE, "application/json"),
        ];
        let headers = headers.into_iter();
        headers
            .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
            .collect()
    }

    /// The time of day on Tokio's clock.
    pub(crate) fn now(&self) -> SystemTime {
        self.0.now()
    }
}
