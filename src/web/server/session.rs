//! Browsers that have signed in.

use std::io;
use std::sync::Arc;

use super::secret::Secret;

/// If more browsers sign in, the one that was not seen for longest has to sign in again.
const MAX: usize = 16;

/// What a page needs to know about the browser that asks for it: an extension of every request
/// that reaches a page.
#[derive(Clone)]
pub struct Session {
    /// Each form holds it in a hidden field `form_token`, before a file.
    pub form_token: Secret,
    /// What comes before the path of every page: `/PREFIX/`.
    pub base: Arc<str>,
}

struct SignedIn {
    cookie: Secret,
    form_token: Secret,
}

/// In the order in which they were seen last.
#[derive(Default)]
pub struct Sessions(Vec<SignedIn>);

impl Sessions {
    /// A new session, with its cookie's value.
    pub fn begin(&mut self) -> io::Result<Secret> {
        let cookie = Secret::new()?;
        let form_token = Secret::new()?;
        if self.0.len() == MAX {
            self.0.remove(0);
        }
        let signed_in = SignedIn {
            cookie: cookie.clone(),
            form_token,
        };
        self.0.push(signed_in);
        Ok(cookie)
    }

    /// The form token of the session with this cookie.
    pub fn form_token(&mut self, cookie: &str) -> Option<Secret> {
        let at = self.0.iter().position(|one| one.cookie.is(cookie))?;
        let seen = self.0.remove(at);
        let form_token = seen.form_token.clone();
        self.0.push(seen);
        Some(form_token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_has_a_form_token_of_its_own() {
        let mut sessions = Sessions::default();
        let (one, other) = (sessions.begin().unwrap(), sessions.begin().unwrap());
        let token = sessions.form_token(one.as_str()).unwrap();
        assert!(!token.is(one.as_str()));
        assert!(!token.is(sessions.form_token(other.as_str()).unwrap().as_str()));
        assert!(sessions.form_token("").is_none());
    }

    #[test]
    fn the_browser_that_was_not_seen_for_longest_is_forgotten() {
        let mut sessions = Sessions::default();
        let (one, other) = (sessions.begin().unwrap(), sessions.begin().unwrap());
        assert!(sessions.form_token(one.as_str()).is_some());
        for _ in 1..MAX {
            sessions.begin().unwrap();
        }
        assert!(sessions.form_token(one.as_str()).is_some());
        assert!(sessions.form_token(other.as_str()).is_none());
    }
}
