//! The token in use: it may be replaced in its file while a run of hours goes on.
//!
//! A service that issues tokens for a day refuses the old one in the middle of a run. So
//! after a 401 the file is read again. Every token that was ever in use stays masked.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tracing::info;

use super::Token;

/// The tokens that were ever in use, of which the last one is.
#[derive(Debug)]
pub(super) struct Tokens {
    first: Arc<Token>,
    later: RwLock<Vec<Arc<Token>>>,
}

impl Tokens {
    pub(super) fn new(token: Token) -> Tokens {
        Tokens {
            first: Arc::new(token),
            later: RwLock::default(),
        }
    }

    pub(super) fn current(&self) -> Arc<Token> {
        Arc::clone(self.later().last().unwrap_or(&self.first))
    }

    /// Whether the file has another token than the one that was refused; then that is in use
    /// from now on.
    ///
    /// It is read on the thread of the requests: a short file, after an answer that ends the
    /// run otherwise.
    pub(super) fn renew(&self, refused: &Token) -> bool {
        let found = refused.read_again();
        let Some(found) = found.filter(|found| found.expose() != refused.expose()) else {
            return false;
        };
        let mut later = self.later.write().unwrap_or_else(PoisonError::into_inner);
        let current = later.last().unwrap_or(&self.first);
        // Otherwise another request of the same moment has found it.
        if current.expose() != found.expose() {
            later.push(Arc::new(found));
            info!(
                event = "token_replaced",
                "the service refused the access token; its file has another one, which is used from now on"
            );
        }
        true
    }

    /// The text with every token that was ever in use masked.
    pub(super) fn masked(&self, text: &str) -> String {
        let masked = self.first.masked(text);
        let later = self.later();
        later.iter().fold(masked, |text, token| token.masked(&text))
    }

    fn later(&self) -> RwLockReadGuard<'_, Vec<Arc<Token>>> {
        self.later.read().unwrap_or_else(PoisonError::into_inner)
    }
}
