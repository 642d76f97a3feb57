//! The token in use. It may be replaced in its file during a run of hours.
//!
//! A service whose tokens are valid for a day refuses the old token in the middle of a run. So
//! after a 401 the token file is read again, where need be several times: what hands out tokens may
//! take a minute to replace them. Every token that was ever in use stays masked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tracing::info;

use super::Token;

/// All tokens that were ever in use. The last one is in use now.
#[derive(Debug)]
pub(super) struct Tokens {
    first: Arc<Token>,
    later: RwLock<Vec<Arc<Token>>>,
    was_accepted: AtomicBool,
}

impl Tokens {
    pub(super) fn new(token: Token) -> Tokens {
        Tokens {
            first: Arc::new(token),
            later: RwLock::default(),
            was_accepted: AtomicBool::new(false),
        }
    }

    pub(super) fn current(&self) -> Arc<Token> {
        Arc::clone(self.later().last().unwrap_or(&self.first))
    }

    /// The service has accepted a request.
    pub(super) fn accept(&self) {
        self.was_accepted.store(true, Ordering::Relaxed);
    }

    /// Whether the service has ever accepted a request.
    pub(super) fn was_accepted(&self) -> bool {
        self.was_accepted.load(Ordering::Relaxed)
    }

    /// Whether another token has come in place of the one that is known by this; `None` if none may
    /// come. If it has, it is used from now on.
    pub(super) fn is_replaced(&self, refused: &str) -> Option<bool> {
        let current = self.current();
        let may_come = self.was_accepted() && current.regular_file().is_some();
        may_come.then(|| *current.fingerprint() != *refused || self.renew(&current))
    }

    /// Reads the token file again. Returns whether it has a token other than the one that was
    /// refused; that token is used from now on.
    ///
    /// The read runs on the thread of the requests. It is a short file, and nothing else starts
    /// without a new token.
    pub(super) fn renew(&self, refused: &Token) -> bool {
        let found = refused.read_again();
        let Some(found) = found.filter(|found| found.expose() != refused.expose()) else {
            return false;
        };
        let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
        let current = later.last().unwrap_or(&self.first);
        // If they are equal, another request has just found the new token.
        if current.expose() != found.expose() {
            later.push(Arc::new(found));
            info!(
                event = "token_replaced",
                "the service refused the access token; its file has another one, which is used from now on"
            );
        }
        true
    }

    /// Masks every token that was ever in use.
    pub(super) fn masked(&self, text: &str) -> String {
        let masked = self.first.masked(text);
        let later = self.later();
        later.iter().fold(masked, |text, token| token.masked(&text))
    }

    fn later(&self) -> RwLockReadGuard<'_, Vec<Arc<Token>>> {
        self.later.read().unwrap_or_else(PoisonError::into_inner)
    }
}
