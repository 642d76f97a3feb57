//! Why a run ended early, in words: what happened, what the service said, and what to do.

use crate::api::verdict::FatalCause;
use crate::lead::{CampaignId, ErrorCode};
use crate::signals::Interrupt;
use crate::stop::{Stop, StopReason};
use crate::text::counted;

const MAX_LISTED: usize = 10;

const RUN_AGAIN: &str = "run the same command again";

const MAY_BE_MADE: &str = "the lead may have been made, and the phone may ring: look for it at the service, or wait for the call, before you test again";

pub fn stop_text(stop: &Stop) -> String {
    let (what, hint) = words(stop);
    let mut paragraphs = vec![what];
    if !matches!(stop.reason, StopReason::TestInterrupted(_)) {
        paragraphs.extend(stop.also.as_deref().map(stop_text));
    }
    paragraphs.extend(hint.map(|hint| format!("hint: {hint}")));
    paragraphs.join("\n\n")
}

/// What happened and what the service said about it, and what to do.
fn words(stop: &Stop) -> (String, Option<String>) {
    let then = |what: &str| Some(format!("{what}, then {RUN_AGAIN}"));
    let (what, hint) = match &stop.reason {
        StopReason::Refused(cause) => {
            let (what, check) = refusal(*cause);
            (what.to_owned(), then(check))
        }
        StopReason::UnreadableAnswers(answers) => (
            format!("{answers} consecutive answers could not be read"),
            then("check the address of the service, which may not be the service's address"),
        ),
        StopReason::NoUsableAnswer { rows, .. } => (
            format!("the service gave no usable answer to the first {rows} rows"),
            then("check the address of the service and the connection"),
        ),
        StopReason::NoConnection(why) => (
            why.clone(),
            Some(format!("when that is fixed, {RUN_AGAIN}")),
        ),
        StopReason::RejectedAlike(rows) => (
            format!("the service has rejected {rows} consecutive rows for the same reason"),
            Some(format!(
                "fix what these rows have in common, here or at the service, then {RUN_AGAIN}; they are in the rejects file. `--stop-after` allows more"
            )),
        ),
        StopReason::NoAnswers {
            since,
            last,
            detail,
        } => {
            let last = detail.clone().or(last.map(code_text));
            let last = last.map(|last| format!(" ({last})")).unwrap_or_default();
            (
                format!("the service has given no answer about any row since {since:.0}{last}"),
                Some(format!(
                    "when it is back, {RUN_AGAIN}; `--max-outage` says how long to wait for it"
                )),
            )
        }
        StopReason::AskedToWait { until, why } => (
            format!(
                "the service refuses requests for now ({why}) and asks to wait until {until:.0}, which is later than `--max-outage` allows"
            ),
            Some(format!(
                "{RUN_AGAIN} after that; `--max-outage` says how long to wait for the service"
            )),
        ),
        StopReason::Stuck(rows) => (
            format!(
                "{} could neither be sent nor given up",
                counted(*rows, "row")
            ),
            Some(
                "this is a bug in leadload, please report it; the same command continues with these rows"
                    .to_owned(),
            ),
        ),
        StopReason::Interrupted(interrupt) => (
            format!(
                "{}; rows without a line in the results were not reached",
                interrupted(*interrupt)
            ),
            None,
        ),
        StopReason::ResultsEnded => ("the results cannot be written".to_owned(), None),
        StopReason::Campaigns {
            refused,
            others_were_sent,
        } => (
            campaigns(refused, *others_were_sent),
            refused.first().and_then(|(_, stop)| words(stop).1),
        ),
        // The text of the error says what to do.
        StopReason::Error { text, .. } => (text.clone(), None),
        StopReason::TestUnanswered { may_be_made, .. } => {
            let hint = if *may_be_made {
                MAY_BE_MADE
            } else {
                "when the service is back, test again"
            };
            (
                "the service gave no usable answer".to_owned(),
                Some(hint.to_owned()),
            )
        }
        StopReason::TestThrottled { until, .. } => (
            "the service takes no leads at the moment".to_owned(),
            Some(match until {
                Some(until) => format!("test again after {until:.0}"),
                None => "test again later".to_owned(),
            }),
        ),
        StopReason::TokenReplaced => (
            "the service does not accept the token, and the token file holds another one now"
                .to_owned(),
            Some(RUN_AGAIN.to_owned()),
        ),
        StopReason::TestInterrupted(interrupt) => match &stop.also {
            Some(answer) => {
                let (what, hint) = words(answer);
                (format!("{}; {what}", interrupted(*interrupt)), hint)
            }
            None => (
                format!("{} before the answer came", interrupted(*interrupt)),
                Some(MAY_BE_MADE.to_owned()),
            ),
        },
    };
    match &stop.said {
        Some(said) => (format!("{what} ({said})"), hint),
        None => (what, hint),
    }
}

fn refusal(cause: FatalCause) -> (&'static str, &'static str) {
    match cause {
        FatalCause::Token => (
            "the service does not accept the token",
            "check the token; a new one may be needed",
        ),
        FatalCause::Forbidden => (
            "the service does not allow this token to create leads",
            "check what the token is allowed to do, and that no firewall is in between",
        ),
        FatalCause::Payment | FatalCause::Balance => (
            "the account's balance or plan allows no further leads",
            "check the account's balance and limits",
        ),
        FatalCause::Campaign => (
            "the service refuses the campaign",
            "check the campaign's id with `leadload campaigns`, and the base URL",
        ),
        FatalCause::Redirect => (
            "the service redirects to another address",
            "check the address of the service",
        ),
        FatalCause::NotTheService => (
            "this address does not seem to be the calling service",
            "check the address of the service",
        ),
    }
}

fn interrupted(interrupt: Interrupt) -> &'static str {
    match interrupt {
        Interrupt::Signal => "stopped by a signal",
        Interrupt::TimeUp => "stopped after the time that `--max-duration` allows",
    }
}

fn code_text(code: ErrorCode) -> String {
    match code {
        ErrorCode::Http(status) => format!("HTTP {status}"),
        code => code.to_string(),
    }
}

fn campaigns(refused: &[(CampaignId, Stop)], others_were_sent: bool) -> String {
    let mut lines: Vec<String> = refused
        .iter()
        .take(MAX_LISTED)
        .map(|(campaign, stop)| format!("campaign {campaign}: {}", words(stop).0))
        .collect();
    if refused.len() > MAX_LISTED {
        lines.push(format!("… and {} more", refused.len() - MAX_LISTED));
    }
    if others_were_sent {
        lines.push("the leads of the other campaigns were sent".to_owned());
    }
    lines.join("\n")
}
