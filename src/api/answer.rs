//! The result of one attempt: an answer, or why there is none.

use std::sync::Arc;

use jiff::SignedDuration;

use super::Head;
use super::Quota;
use super::verdict::{self, TransportError, Verdict};
use crate::lead::ErrorCode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status, if the head of an answer arrived.
    pub http_status: Option<u16>,
    pub verdict: Verdict,
    pub quota: Option<Quota>,
    /// What the service calls the request.
    pub request_id: Option<String>,
    /// How far the service's clock is ahead of this computer's, if it says the time.
    pub ahead: Option<SignedDuration>,
    /// What the token is known by that was sent, or that is used from now on.
    pub token: Option<Arc<str>>,
}

impl Answer {
    /// An answer whose head and body arrived (the body up to a bound).
    pub(crate) fn of(head: &Head, body: &[u8]) -> Answer {
        Answer {
            token: None,
            ahead: head.ahead,
            http_status: Some(head.status),
            quota: head.quota,
            request_id: head.request_id.clone(),
            verdict: verdict::judge(head, body),
        }
    }

    /// An answer that did not arrive, or only in part.
    pub(crate) fn lost(head: Option<&Head>, lost: TransportError) -> Answer {
        let verdict = match head {
            // A refusal that arrived in full is valid even if its body cannot be read, …
            Some(head) if matches!(lost, TransportError::Packed(_)) && !head.is_success() => {
                verdict::judge(head, lost.to_string().as_bytes())
            }
            // … and so is a head that says "try again later".
            Some(head) => match verdict::judge(head, &[]) {
                refusal @ Verdict::RetryLater { .. } => refusal,
                _ => verdict::judge_lost(lost),
            },
            None => verdict::judge_lost(lost),
        };
        Answer {
            token: None,
            ahead: head.and_then(|head| head.ahead),
            http_status: head.map(|head| head.status),
            quota: head.and_then(|head| head.quota),
            request_id: head.and_then(|head| head.request_id.clone()),
            verdict,
        }
    }

    /// Whether there is an answer, and it cannot be read.
    pub fn is_unreadable(&self) -> bool {
        let code = ErrorCode::UnreadableAnswer;
        matches!(&self.verdict, Verdict::PerhapsTaken { code: why, .. } if *why == code)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;
    use crate::api::verdict::FatalCause;

    const DAMAGED: &str = "damaged";

    fn head(status: u16, headers: &[(&str, &str)]) -> Head {
        let headers = headers.iter().map(|(name, value)| {
            let name = HeaderName::try_from(*name).unwrap();
            (name, HeaderValue::try_from(*value).unwrap())
        });
        Head::read(status, &headers.collect(), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn a_429_is_recognized_even_if_its_body_breaks_off() {
        let answer = Answer::lost(
            Some(&head(429, &[("retry-after", "7")])),
            TransportError::Broken,
        );
        let Verdict::RetryLater { wait, .. } = answer.verdict else {
            panic!("{answer:?}");
        };
        assert_eq!(wait, Some(Duration::from_secs(7)));
        let answer = Answer::lost(
            Some(&head(500, &[("retry-after", "7")])),
            TransportError::Broken,
        );
        let Verdict::RetryLater { may_be_taken, .. } = answer.verdict else {
            panic!("{answer:?}");
        };
        assert!(may_be_taken);
        for status in [200, 422, 500] {
            let answer = Answer::lost(Some(&head(status, &[])), TransportError::Broken);
            assert!(
                matches!(answer.verdict, Verdict::PerhapsTaken { .. }),
                "{status}"
            );
            assert_eq!(answer.http_status, Some(status));
        }
    }

    #[test]
    fn a_refusal_with_an_unreadable_body_is_still_a_refusal() {
        let text = |status| format!("HTTP {status}: {DAMAGED}");
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
                    text: DAMAGED.into(),
                },
            ),
        ] {
            let answer = Answer::lost(Some(&head(status, &[])), TransportError::Packed(DAMAGED));
            assert_eq!(answer.verdict, verdict);
        }
        let answer = Answer::lost(Some(&head(429, &[])), TransportError::Packed("unknown"));
        assert!(matches!(answer.verdict, Verdict::RetryLater { .. }));
    }
}
