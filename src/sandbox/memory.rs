//! The sandbox without a network, for tests that stop the clock.
//!
//! The rule: the same decisions by the same code as behind HTTP; only how an answer travels is
//! left out. Time is Tokio's.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use bytes::Bytes;

use super::config::SandboxConfig;
use super::replies::Ending;
use super::state::Shared;
use super::stats::Stats;
use super::wire;

#[derive(Clone)]
pub(crate) struct MemorySandbox(Arc<Shared>);

/// What comes back of a request.
pub(crate) enum Outcome {
    /// An answer: status, headers with names in lower case, body.
    Answer(u16, Vec<(String, String)>, Bytes),
    Dropped,
}

impl MemorySandbox {
    pub(crate) fn new(config: SandboxConfig) -> io::Result<MemorySandbox> {
        let shared = Shared::new(config)?;
        // Hints are in whole seconds: where in a second it starts makes a difference.
        shared.state().started = UNIX_EPOCH + Duration::from_millis(1_800_000_000_300);
        Ok(MemorySandbox(Arc::new(shared)))
    }

    pub(crate) fn stats(&self) -> Stats {
        self.0.state().stats.clone()
    }

    /// A request for a lead, as our client sends it.
    pub(crate) async fn post_lead(&self, body: Bytes) -> Outcome {
        let shared = &self.0;
        let arrival_us = shared.now_us();
        let admission = shared.state().arrive(&shared.config, arrival_us);
        // Until the answer, or until the caller gives up.
        let _in_flight = super::state::InFlight(shared);
        let reply = admission.refusal.unwrap_or_else(|| {
            let checked = wire::check_lead(&self.headers(), &body, &shared.config);
            shared.state().judge(&shared.config, checked, arrival_us)
        });
        let _slot = match &shared.slots {
            Some(slots) => slots.acquire().await.ok(),
            None => None,
        };
        tokio::time::sleep(reply.delay).await;
        match reply.ending {
            Ending::Answer => {}
            Ending::Drop | Ending::Truncate => return Outcome::Dropped,
            Ending::Hang => return std::future::pending().await,
        }
        let headers = reply.headers.into_iter();
        let mut headers: Vec<(String, String)> = headers
            .map(|(name, value)| (name.to_lowercase(), value))
            .collect();
        if let (Some(quota), true) = (admission.quota, shared.config.rate_limit_headers) {
            let reset = shared.epoch_s(arrival_us + quota.reset_us);
            let quota = [
                ("x-ratelimit-limit", quota.limit.to_string()),
                ("x-ratelimit-remaining", quota.remaining.to_string()),
                ("x-ratelimit-reset", reset.to_string()),
            ];
            headers.extend(quota.map(|(name, value)| (name.to_owned(), value)));
        }
        Outcome::Answer(reply.status, headers, Bytes::from(reply.body.into_owned()))
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
