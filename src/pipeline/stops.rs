//! When going on is pointless.
//!
//! Rule: pure. One answer is judged in `api::verdict`; here the series decides.
//! A dead token or a missing campaign must cost a handful of requests rather
//! than one for each row, and one odd refusal among successes must not end a run
//! of hours:
//!
//! - 401 and 402 stop at once;
//! - any other refusal that is likely to hold for every row stops when nothing
//!   has been understood before, or when [`ROWS_IN_A_ROW`] different rows in a
//!   row meet it. Until that is known the row is put aside; an answer that is
//!   understood makes it an ordinary rejected row;
//! - [`UNREADABLE_IN_A_ROW`] successes in a row that cannot be read stop.

use crate::api::Answer;
use crate::api::verdict::{FatalCause, Verdict};
use crate::exit::{Stop, StoppedBy};
use crate::lead::ErrorCode;
use crate::text::without_numbers;

/// How many different rows must meet such a refusal.
pub(super) const ROWS_IN_A_ROW: u32 = 3;

/// How many 2xx without usable JSON.
const UNREADABLE_IN_A_ROW: u32 = 10;

/// What an answer means beyond its own row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Consequence {
    /// Nothing.
    GoOn,
    /// The service takes or refuses single rows: refusals before it were those
    /// rows' own.
    Understood,
    /// The row waits until it is known whether the refusal was its own.
    PutAside,
    /// The run ends; the row has no outcome.
    Stop(Stop),
}

/// Watches the answers of a run go by.
#[derive(Debug, Default)]
pub(super) struct Stops {
    understood: bool,
    fatal_rows: u32,
    unreadable: u32,
}

impl Stops {
    /// Whether any answer has been understood yet: created, duplicate or rejected.
    pub(super) fn has_understood(&self) -> bool {
        self.understood
    }

    /// Takes the next answer. Each row gets at most one fatal one.
    pub(super) fn observe(&mut self, answer: &Answer) -> Consequence {
        match &answer.verdict {
            Verdict::Created { .. } | Verdict::Duplicate { .. } | Verdict::Rejected { .. } => {
                *self = Stops {
                    understood: true,
                    ..Stops::default()
                };
                Consequence::Understood
            }
            Verdict::Fatal { cause, text, .. } => {
                self.fatal_rows += 1;
                let is_first = !self.understood && self.fatal_rows == 1;
                if cause.is_certain() || is_first || self.fatal_rows >= ROWS_IN_A_ROW {
                    Consequence::Stop(stop(*cause, text))
                } else {
                    Consequence::PutAside
                }
            }
            Verdict::PerhapsTaken {
                code: ErrorCode::UnreadableAnswer,
                text,
            } => {
                self.unreadable += 1;
                if self.unreadable < UNREADABLE_IN_A_ROW {
                    return Consequence::GoOn;
                }
                Consequence::Stop(Stop {
                    by: StoppedBy::Unreadable,
                    text: format!(
                        "{UNREADABLE_IN_A_ROW} answers in a row could not be read ({text})\n\n\
                         hint: check the base URL; this may not be the service's address"
                    ),
                })
            }
            // Neither understood nor a 2xx.
            Verdict::PerhapsTaken { .. } | Verdict::RetryLater { .. } => {
                self.unreadable = 0;
                Consequence::GoOn
            }
            Verdict::NeverTaken { .. } => Consequence::GoOn,
        }
    }
}

/// What is said to everybody names nobody: see [`without_numbers`].
fn stop(cause: FatalCause, text: &str) -> Stop {
    let text = without_numbers(text);
    let (what, hint) = match cause {
        FatalCause::Token => (
            "the service does not accept the token",
            "check the token; a new one may be needed",
        ),
        FatalCause::Forbidden => (
            "the service does not allow this token to make leads",
            "check what the token is allowed to do, and that no firewall stands in between",
        ),
        FatalCause::Payment | FatalCause::Balance => (
            "the service stops taking leads because of the account's balance or plan",
            "check the account's balance and limits",
        ),
        FatalCause::Campaign => (
            "the service refuses the campaign",
            "check the campaign's id with `leadload campaigns`, and the base URL",
        ),
        FatalCause::Redirect => (
            "the service redirects to another address",
            "check the base URL",
        ),
        FatalCause::NotTheService => (
            "what answers at this address is not the lead service",
            "check the base URL",
        ),
    };
    Stop {
        by: cause.into(),
        text: format!("{what} ({text})\n\nhint: {hint}, then run the same command again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(verdict: Verdict) -> Answer {
        Answer {
            http_status: None,
            verdict,
        }
    }

    fn created() -> Answer {
        answer(Verdict::Created {
            lead_id: "1".into(),
            remark: None,
        })
    }

    fn fatal(cause: FatalCause) -> Answer {
        answer(Verdict::Fatal {
            cause,
            code: ErrorCode::Http(404),
            text: "x".into(),
        })
    }

    fn lost(code: ErrorCode) -> Answer {
        answer(Verdict::PerhapsTaken {
            code,
            text: "x".into(),
        })
    }

    fn stops_after(answers: &[Answer]) -> Option<(usize, StoppedBy)> {
        let mut stops = Stops::default();
        answers
            .iter()
            .enumerate()
            .find_map(|(i, answer)| match stops.observe(answer) {
                Consequence::Stop(stop) => Some((i, stop.by)),
                _ => None,
            })
    }

    #[test]
    fn a_dead_token_stops_at_once_even_after_successes() {
        assert_eq!(
            stops_after(&[created(), fatal(FatalCause::Token)]),
            Some((1, StoppedBy::Token))
        );
        assert_eq!(
            stops_after(&[created(), fatal(FatalCause::Payment)]),
            Some((1, StoppedBy::Balance))
        );
    }

    #[test]
    fn a_missing_campaign_stops_when_it_is_the_first_answer() {
        assert_eq!(
            stops_after(&[fatal(FatalCause::Campaign)]),
            Some((0, StoppedBy::Campaign))
        );
        let timeout = lost(ErrorCode::Timeout);
        assert_eq!(
            stops_after(&[timeout, fatal(FatalCause::Redirect)]),
            Some((1, StoppedBy::Redirect))
        );
    }

    #[test]
    fn among_successes_it_takes_three_rows_in_a_row() {
        let campaign = || fatal(FatalCause::Campaign);
        let answers = [
            created(),
            campaign(),
            campaign(),
            created(),
            campaign(),
            lost(ErrorCode::Timeout),
            campaign(),
            campaign(),
        ];
        assert_eq!(stops_after(&answers), Some((7, StoppedBy::Campaign)));
    }

    #[test]
    fn ten_unreadable_answers_in_a_row_stop() {
        let unreadable = || lost(ErrorCode::UnreadableAnswer);
        let mut answers: Vec<Answer> = (0..9).map(|_| unreadable()).collect();
        answers.push(lost(ErrorCode::Http(500)));
        answers.extend((0..9).map(|_| unreadable()));
        answers.push(created());
        answers.extend((0..10).map(|_| unreadable()));
        assert_eq!(stops_after(&answers), Some((29, StoppedBy::Unreadable)));
    }
}
