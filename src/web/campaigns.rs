//! The campaigns of the service, asked for on a thread of its own: a page never waits for the
//! service.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::site::Site;
use super::trouble::Trouble;
use super::work;
use crate::campaign::Campaign;

/// How soon the service is asked again that did not list its campaigns.
const AGAIN: Duration = Duration::from_secs(2);

/// How long a list of campaigns is shown before the service is asked again.
const FRESH: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub struct Campaigns {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    is_asking: bool,
    /// Goes up when the service or the token changes: an answer to an earlier question is none.
    service: u64,
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

    /// Forgets the answer, since the service or the token has changed.
    pub fn forget(&self) {
        let mut state = self.lock();
        *state = State {
            service: state.service + 1,
            ..State::default()
        };
    }

    /// The campaigns, if they come before this time. Asks the service if the latest answer is old,
    /// or if there was an error.
    pub async fn until(time: Instant, site: &Arc<Site>) -> Option<Answer> {
        let campaigns = &site.campaigns;
        campaigns.ask(site);
        let answered = work::wait(&campaigns.changed, || !campaigns.lock().is_asking);
        let _ = tokio::time::timeout_at(time.into(), answered).await;
        campaigns.known()
    }

    fn ask(&self, site: &Arc<Site>) {
        let mut state = self.lock();
        let fresh = match state.answer {
            Some(Err(_)) => AGAIN,
            _ => FRESH,
        };
        // An error stays the answer until there is another: it is shown however long that takes.
        if state.is_asking || state.asked_at.is_some_and(|at| at.elapsed() < fresh) {
            return;
        }
        state.is_asking = true;
        let asked = state.service;
        drop(state);
        let of = Arc::clone(site);
        let site = Arc::clone(site);
        work::begin(
            async move || of.list_campaigns().await,
            move |listed| {
                let mut state = site.campaigns.lock();
                if state.service != asked {
                    return;
                }
                state.is_asking = false;
                state.asked_at = Some(Instant::now());
                state.answer = Some(match listed {
                    Ok(campaigns) => Ok(campaigns.into()),
                    Err(failure) => Err(Trouble::of(&failure)),
                });
                drop(state);
                site.campaigns.changed.notify_waiters();
            },
        );
    }
}
