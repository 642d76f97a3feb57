//! The token in use: it may be replaced in its file while a run of hours goes on.
//!
//! A service that gives out tokens for a day refuses the old one in the middle of a run. So
//! after a 401 the file is read again. Whatever token was ever in use stays masked.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use reqwest::header::HeaderValue;
use tracing::info;

use super::Token;

/// The token in use, and those that were.
#[derive(Debug)]
pub(super) struct Tokens(RwLock<InUse>);

#[derive(Debug)]
struct InUse {
    current: Arc<TokenInUse>,
    earlier: Vec<Arc<TokenInUse>>,
}

/// A token as requests carry it.
#[derive(Debug)]
pub(super) struct TokenInUse {
    token: Token,
    header: HeaderValue,
}

impl TokenInUse {
    /// Nothing for a token that cannot stand in a header.
    fn new(token: Token) -> Option<Arc<TokenInUse>> {
        let header = token.authorization()?;
        Some(Arc::new(TokenInUse { token, header }))
    }

    /// The value of the header `Authorization`.
    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}

impl Tokens {
    /// Nothing for a token that cannot stand in a header.
    pub(super) fn new(token: Token) -> Option<Tokens> {
        Some(Tokens(RwLock::new(InUse {
            current: TokenInUse::new(token)?,
            earlier: Vec::new(),
        })))
    }

    /// The token for the next request.
    pub(super) fn current(&self) -> Arc<TokenInUse> {
        Arc::clone(&self.read().current)
    }

    /// Whether the file has another token than the one that was refused; then that is in use
    /// from now on.
    ///
    /// It is read on the thread of the requests: a short file, after an answer that ends the
    /// run otherwise.
    pub(super) fn renew(&self, refused: &TokenInUse) -> bool {
        let Some(found) = refused.token.read_again() else {
            return false;
        };
        if found.expose() == refused.token.expose() {
            return false;
        }
        let mut in_use = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if in_use.current.token.expose() == found.expose() {
            // Another request of the same moment has found it.
            return true;
        }
        let Some(found) = TokenInUse::new(found) else {
            return false;
        };
        let before = std::mem::replace(&mut in_use.current, found);
        in_use.earlier.push(before);
        info!(
            event = "token_replaced",
            "the service refused the access token; its file has another one, which is used from now on"
        );
        true
    }

    /// The text with every token that was ever in use masked.
    pub(super) fn masked(&self, text: &str) -> String {
        let in_use = self.read();
        let masked = in_use.current.token.masked(text);
        let earlier = in_use.earlier.iter();
        earlier.fold(masked, |text, earlier| earlier.token.masked(&text))
    }

    fn read(&self) -> RwLockReadGuard<'_, InUse> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
