//! The campaigns of the service, asked for on a thread of its own: a page never waits for the
//! service.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::site::Site;
use super::trouble::Trouble;
use crate::campaign::Campaign;
use crate::import::service;

/// How long a list of campaigns is shown before the service is asked again.
const FRESH: Duration = Duration::from_secs(30);

/// How long a page waits for an answer that is about to come.
const MOMENT: Duration = Duration::from_millis(150);

#[derive(Debug, Default)]
pub struct Campaigns {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    is_asking: bool,
    asked_at: Option<Instant>,
    answer: Option<Answer>,
}

/// The campaigns, or why they cannot be listed.
pub type Answer = Result<Arc<[Campaign]>, Trouble>;

impl Campaigns {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest answer; `None` while there is none.
    pub fn known(&self) -> Option<Answer> {
        self.lock().answer.clone()
    }

    /// What the service calls the campaign that was chosen, if that is known.
    pub fn name(&self, chosen: &str) -> String {
        let known = self.known().and_then(Result::ok);
        let mut campaigns = known.iter().flat_map(|all| all.iter());
        let found = campaigns.find(|campaign| campaign.id == chosen);
        found.map_or_else(|| chosen.to_owned(), |campaign| campaign.name.clone())
    }

    /// Asks for the names if they are not known, such as after a start.
    pub async fn learn_names(site: &Arc<Site>) {
        if site.campaigns.known().is_none() {
            Campaigns::within_a_moment(site).await;
        }
    }

    /// Forgets the answer, since the service or the token has changed.
    pub fn forget(&self) {
        let mut state = self.lock();
        (state.asked_at, state.answer) = (None, None);
    }

    /// The campaigns, if they come within a moment. Asks the service if the latest answer is old,
    /// or if there was an error.
    pub async fn within_a_moment(site: &Arc<Site>) -> Option<Answer> {
        let campaigns = &site.campaigns;
        campaigns.ask(site);
        let answered = async {
            loop {
                let changed = campaigns.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if !campaigns.lock().is_asking {
                    return;
                }
                changed.await;
            }
        };
        let _ = tokio::time::timeout(MOMENT, answered).await;
        campaigns.known()
    }

    fn ask(&self, site: &Arc<Site>) {
        let mut state = self.lock();
        let is_fresh = state.asked_at.is_some_and(|at| at.elapsed() < FRESH);
        if state.is_asking || is_fresh && matches!(state.answer, Some(Ok(_))) {
            return;
        }
        state.is_asking = true;
        if matches!(state.answer, Some(Err(_))) {
            state.answer = None;
        }
        drop(state);
        let site = Arc::clone(site);
        thread::spawn(move || {
            let listed = service::block_on(site.list_campaigns());
            let mut state = site.campaigns.lock();
            state.is_asking = false;
            state.asked_at = Some(Instant::now());
            state.answer = Some(match listed {
                Ok(campaigns) => Ok(campaigns.into()),
                Err(failure) => Err(Trouble::of(&failure)),
            });
            drop(state);
            site.campaigns.changed.notify_waiters();
        });
    }
}
