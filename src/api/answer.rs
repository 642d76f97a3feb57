//! What one attempt came to: an answer's head and body, or why there is none.
//!
//! Rule: pure. Where a head comes from is the client's business.

use std::time::{Duration, SystemTime};

use super::Quota;
use super::verdict::{self, Lost, Reply, Verdict};
use crate::lead::ErrorCode;

/// What one attempt to make a lead came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status, if an answer's head arrived.
    pub http_status: Option<u16>,
    /// What it means.
    pub verdict: Verdict,
    /// What it says of the limit, if anything.
    pub quota: Option<Quota>,
}

/// Whether a header of this name is looked at.
fn is_known(name: &str) -> bool {
    ["date", "retry-after"].contains(&name) || Quota::HEADERS.contains(&name)
}

/// What matters of an answer's head.
#[derive(Debug)]
pub(crate) struct Head {
    pub(super) status: u16,
    retry_after: Option<String>,
    quota: Option<Quota>,
    redirects_to: Option<String>,
    /// What the time is, by the clock that the head's times are to be compared with.
    now: SystemTime,
}

impl Head {
    /// Reads the headers, whose names are in small letters. `now` is the time by our clock.
    pub(crate) fn read<'a>(
        status: u16,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
        now: SystemTime,
    ) -> Head {
        // Looked for once: there are few, and most that are asked for are not there.
        let known: Vec<(&str, &[u8])> = headers.filter(|(name, _)| is_known(name)).collect();
        let header = |name: &str| {
            let mut named = known.iter().filter(|(known, _)| *known == name);
            named.next().map(|(_, value)| *value)
        };
        let text = |name: &str| std::str::from_utf8(header(name)?).ok();
        let now = service_time(text("date"), now);
        Head {
            status,
            // Lossy, since it matters that it is there.
            retry_after: header("retry-after")
                .map(|value| String::from_utf8_lossy(value).into_owned()),
            quota: Quota::read(text, now),
            redirects_to: None,
            now,
        }
    }

    /// The same of a redirect to this address.
    pub(super) fn redirecting_to(self, redirects_to: Option<String>) -> Head {
        Head {
            redirects_to,
            ..self
        }
    }

    /// What the answer means, with as much of its body as arrived.
    pub(super) fn judge(&self, body: &[u8]) -> Verdict {
        let reply = Reply {
            status: self.status,
            retry_after: self.retry_after.as_deref(),
            quota: self.quota,
            redirects_to: self.redirects_to.as_deref(),
            body,
        };
        verdict::judge(reply, self.now)
    }

    /// What it means that the rest did not arrive, or cannot be read. A head that refuses for
    /// now says all that matters, and so does any refusal that arrived in full.
    pub(super) fn judge_broken(&self, lost: Lost) -> Verdict {
        let is_refusal = lost.has_arrived() && !(200..300).contains(&self.status);
        if is_refusal {
            return self.judge(lost.to_string().as_bytes());
        }
        match self.judge(&[]) {
            refusal @ Verdict::RetryLater { .. } => refusal,
            _ => verdict::judge_lost(lost),
        }
    }
}

impl Answer {
    /// An answer of which head and body arrived.
    pub(crate) fn of(head: &Head, body: &[u8]) -> Answer {
        Answer {
            http_status: Some(head.status),
            quota: head.quota,
            verdict: head.judge(body),
        }
    }

    /// One that did not arrive, or not in full.
    pub(crate) fn lost(head: Option<&Head>, lost: Lost) -> Answer {
        Answer {
            http_status: head.map(|head| head.status),
            quota: head.and_then(|head| head.quota),
            verdict: match head {
                Some(head) => head.judge_broken(lost),
                None => verdict::judge_lost(lost),
            },
        }
    }

    /// Whether it arrived, and nobody here knows what it says.
    pub(super) fn is_unreadable(&self) -> bool {
        let code = ErrorCode::UnreadableAnswer;
        matches!(&self.verdict, Verdict::PerhapsTaken { code: why, .. } if *why == code)
    }

    /// The same where the token that was refused has been replaced meanwhile.
    pub(super) fn of_replaced_token(self) -> Answer {
        Answer {
            verdict: Verdict::TokenReplaced,
            ..self
        }
    }

    /// The answer with its texts put through `mask` and made fit to be shown.
    pub(super) fn presentable(self, mask: impl Fn(&str) -> String) -> Answer {
        Answer {
            verdict: self.verdict.presentable(mask),
            ..self
        }
    }
}

/// A `Date` has whole seconds, and has travelled: a difference of less is none.
const SAME_TIME: Duration = Duration::from_secs(2);

/// The time by the service's clock, where its answer has a `Date` (RFC 9110, 6.6.1) that is
/// another than ours: the times that it states are by its own.
fn service_time(date: Option<&str>, ours: SystemTime) -> SystemTime {
    let date = date.and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    let difference = |theirs: SystemTime| match theirs.duration_since(ours) {
        Ok(ahead) => ahead,
        Err(behind) => behind.duration(),
    };
    date.filter(|date| difference(*date) > SAME_TIME)
        .unwrap_or(ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::verdict::{FatalCause, Wait};

    fn head(status: u16, headers: &[(&str, &str)]) -> Head {
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()));
        Head::read(status, headers, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_refusal_for_now_is_one_also_without_the_rest_of_it() {
        let answer = Answer::lost(Some(&head(429, &[("retry-after", "7")])), Lost::Broken);
        let Verdict::RetryLater { wait, .. } = answer.verdict else {
            panic!("{answer:?}");
        };
        assert_eq!(wait, Wait::Said(Duration::from_secs(7)));
        for status in [200, 422, 500] {
            let answer = Answer::lost(Some(&head(status, &[])), Lost::Broken);
            assert!(
                matches!(answer.verdict, Verdict::PerhapsTaken { .. }),
                "{status}"
            );
            assert_eq!(answer.http_status, Some(status));
        }
    }

    #[test]
    fn a_refusal_whose_body_cannot_be_read_is_one_all_the_same() {
        let text = |status| format!("HTTP {status}: the answer is packed, and damaged");
        for (status, verdict) in [
            (
                401,
                Verdict::Fatal {
                    cause: FatalCause::Token,
                    code: ErrorCode::Http(401),
                    text: text(401),
                },
            ),
            (
                422,
                Verdict::Rejected {
                    code: ErrorCode::Http(422),
                    text: text(422),
                },
            ),
            (
                200,
                Verdict::PerhapsTaken {
                    code: ErrorCode::UnreadableAnswer,
                    text: "the answer is packed, and damaged".into(),
                },
            ),
        ] {
            let answer = Answer::lost(Some(&head(status, &[])), Lost::Damaged);
            assert_eq!(answer.verdict, verdict);
        }
        let answer = Answer::lost(Some(&head(429, &[])), Lost::UnknownPacking);
        assert!(matches!(answer.verdict, Verdict::RetryLater { .. }));
    }

    #[test]
    fn without_a_date_that_can_be_read_our_clock_counts() {
        let ours = SystemTime::now();
        for date in [None, Some(""), Some("today")] {
            assert_eq!(service_time(date, ours), ours);
        }
    }
}
