//! How long a request may take, and how long its connection is kept.

use std::time::Duration;

/// How long a kept connection is used again: the HTTP library's own default, said here
/// because [`Limits::without_old_connections`] departs from it.
const REUSE_IDLE_FOR: Duration = Duration::from_secs(90);

/// The same where a lost answer is a lost row. The shortest time for which servers usually
/// keep a connection that is not used is five seconds (Apache's `KeepAliveTimeout`,
/// Node's `keepAliveTimeout`). A request that is written at the moment at which the server
/// closes is a request whose answer is lost.
const REUSE_YOUNG_FOR: Duration = Duration::from_secs(4);

/// The time limits of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For each request as a whole, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// How long after an answer its connection may still be used for another request.
    pub reuse_idle_for: Duration,
}

impl Limits {
    /// The usual ones.
    pub fn within(timeout: Duration) -> Limits {
        Limits {
            timeout,
            reuse_idle_for: REUSE_IDLE_FOR,
        }
    }

    /// For requests that are not to be repeated when their answer is lost.
    #[must_use]
    pub fn without_old_connections(self) -> Limits {
        Limits {
            reuse_idle_for: REUSE_YOUNG_FOR,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_old_connections_none_is_used_after_four_seconds() {
        let limits = Limits::within(Duration::from_secs(60));
        assert_eq!(
            limits.without_old_connections().reuse_idle_for,
            Duration::from_secs(4)
        );
        assert_eq!(limits.without_old_connections().timeout, limits.timeout);
        assert!(limits.reuse_idle_for > Duration::from_secs(60));
    }
}
