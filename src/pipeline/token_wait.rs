//! A refused token in whose place another one may come.
//!
//! What hands out tokens replaces them in their files, and may take a minute longer than the service:
//! a secret of Kubernetes does. So where the service has accepted requests before, a 401 does not stop
//! the run at once. Nothing starts, and the file is looked at, until it has another token.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{LeadSender, Pipeline};
use crate::api::Answer;
use crate::api::verdict::FatalCause;
use crate::event::RunEvent;
use crate::stop::{Stop, StopReason};

const LOOK_EVERY: Duration = Duration::from_secs(1);

const LONGEST: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct TokenWait {
    /// What the refused token is known by.
    refused: Arc<str>,
    next_look: Instant,
    pub(super) until: Instant,
    /// Why the run ends then.
    stop: Stop,
}

impl<S: LeadSender> Pipeline<'_, S> {
    /// Whether the answer refuses the token, and another one is waited for from now on. If none
    /// comes, the run ends with this stop.
    pub(super) fn awaits_token(&mut self, answer: &Answer, stop: &Stop) -> bool {
        let is_refused = stop.reason == StopReason::Refused(FatalCause::Token);
        let may_wait = self.policy.awaits_token && !self.stop_state.is_stopping();
        let refused = answer.token.clone().unwrap_or_default();
        let sender = &self.in_flight.sender;
        if !is_refused || !may_wait || sender.token_is_replaced(&refused).is_none() {
            return false;
        }
        if self.token_wait.is_none() {
            let (now, longest) = (Instant::now(), LONGEST.min(self.policy.max_outage));
            self.token_wait = Some(TokenWait {
                refused,
                next_look: now + LOOK_EVERY.min(longest),
                until: now + longest,
                stop: stop.clone(),
            });
            (self.events)(RunEvent::AwaitsToken { longest });
        }
        true
    }

    /// Looks for another token if one is waited for. Returns when to look again; until then nothing
    /// starts.
    pub(super) fn look_for_token(&mut self) -> Option<Instant> {
        let wait = self.token_wait.as_mut()?;
        let now = Instant::now();
        if self.stop_state.is_stopping() {
            return None;
        }
        if now < wait.next_look {
            return Some(wait.next_look);
        }
        let is_replaced = self.in_flight.sender.token_is_replaced(&wait.refused) == Some(true);
        if !is_replaced && now < wait.until {
            wait.next_look = (now + LOOK_EVERY).min(wait.until);
            return Some(wait.next_look);
        }
        let wait = self.token_wait.take()?;
        if !is_replaced {
            self.stop(wait.stop);
        }
        None
    }
}
