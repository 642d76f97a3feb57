//! Why a run ended early, in words: what happened, what the service said, what to do.

use crate::api::verdict::FatalCause;
use crate::lead::{CampaignId, ErrorCode};
use crate::signals::Interrupt;
use crate::stop::{Stop, StopReason};
use crate::text::counted;

const MAX_LISTED: usize = 10;

const RUN_AGAIN: &str = "run the same command again";

const MAY_BE_MADE: &str = "the lead may have been made, and the phone may ring: look for it at the service, or wait for the call, before you test again";

/// What happened, what else needs attention, and what to do.
pub fn stop_text(stop: &Stop) -> String {
    let mut paragraphs = vec![what(stop)];
    if !matches!(stop.reason, StopReason::TestInterrupted(_)) {
        paragraphs.extend(stop.also.as_deref().map(stop_text));
    }
    paragraphs.extend(hint(stop).map(|hint| format!("hint: {hint}")));
    paragraphs.join("\n\n")
}

/// What happened, and what the service said of it.
fn what(stop: &Stop) -> String {
    let what = match &stop.reason {
        StopReason::Refused(cause) => refusal(*cause).0.to_owned(),
        StopReason::UnreadableAnswers(answers) => {
            format!("{answers} answers in a row could not be read")
        }
        StopReason::NoUsableAnswer { rows, .. } => {
            format!("the first {rows} rows brought no usable answer")
        }
        StopReason::NoConnection(why) => why.clone(),
        StopReason::RejectedAlike(rows) => {
            format!("the service has rejected {rows} rows in a row for the same reason")
        }
        StopReason::NoAnswers {
            since,
            last,
            detail,
        } => {
            let last = detail.clone().or(last.map(code_text));
            let last = last.map(|last| format!(" ({last})")).unwrap_or_default();
            format!("the service has answered nothing about any row since {since:.0}{last}")
        }
        StopReason::AskedToWait { until, why } => format!(
            "the service refuses requests for now ({why}) and asks to wait until {until:.0}, which is later than `--max-outage` allows"
        ),
        StopReason::Stuck(rows) => {
            format!(
                "{} could neither be sent nor given up",
                counted(*rows, "row")
            )
        }
        StopReason::Interrupted(interrupt) => format!(
            "{}; rows without a line in the results were not reached",
            interrupted(*interrupt)
        ),
        StopReason::ResultsEnded => "the results cannot be written".to_owned(),
        StopReason::Campaigns {
            refused,
            others_were_sent,
        } => campaigns(refused, *others_were_sent),
        StopReason::Error { text, .. } => text.clone(),
        StopReason::TestUnanswered { .. } => "the service gave no usable answer".to_owned(),
        StopReason::TestThrottled { .. } => "the service takes no leads just now".to_owned(),
        StopReason::TokenReplaced => {
            "the service does not accept the token, and the token file holds another one now"
                .to_owned()
        }
        StopReason::TestInterrupted(interrupt) => match &stop.also {
            Some(answer) => format!("{}; {}", interrupted(*interrupt), what(answer)),
            None => format!("{} before the answer came", interrupted(*interrupt)),
        },
    };
    match &stop.said {
        Some(said) => format!("{what} ({said})"),
        None => what,
    }
}

fn hint(stop: &Stop) -> Option<String> {
    Some(match &stop.reason {
        StopReason::Refused(cause) => format!("{}, then {RUN_AGAIN}", refusal(*cause).1),
        StopReason::UnreadableAnswers(_) => format!(
            "check the base URL, which may not be the service's address, then {RUN_AGAIN}"
        ),
        StopReason::NoUsableAnswer { .. } => {
            format!("check the base URL and the connection, then {RUN_AGAIN}")
        }
        StopReason::NoConnection(_) => format!("when that is fixed, {RUN_AGAIN}"),
        StopReason::RejectedAlike(_) => format!(
            "fix what these rows have in common, here or at the service, then {RUN_AGAIN}; they are in the rejects file. `--stop-after` allows more"
        ),
        StopReason::NoAnswers { .. } => format!(
            "when it is back, {RUN_AGAIN}; `--max-outage` says how long to wait for it"
        ),
        StopReason::AskedToWait { .. } => format!(
            "{RUN_AGAIN} after that; `--max-outage` says how long to wait for the service"
        ),
        StopReason::Stuck(_) => {
            "this is a bug in leadload, please report it; the same command continues with these rows"
                .to_owned()
        }
        StopReason::Campaigns { refused, .. } => return refused.first().and_then(|(_, stop)| hint(stop)),
        StopReason::TestUnanswered { may_be_made, .. } => if *may_be_made {
            MAY_BE_MADE
        } else {
            "when the service is back, test again"
        }
        .to_owned(),
        StopReason::TestThrottled { until, .. } => match until {
            Some(until) => format!("test again after {until:.0}"),
            None => "test again later".to_owned(),
        },
        StopReason::TokenReplaced => RUN_AGAIN.to_owned(),
        StopReason::TestInterrupted(_) => match &stop.also {
            Some(answer) => return hint(answer),
            None => MAY_BE_MADE.to_owned(),
        },
        StopReason::Interrupted(_)
        | StopReason::ResultsEnded
        // Says what to do by itself.
        | StopReason::Error { .. } => return None,
    })
}

fn refusal(cause: FatalCause) -> (&'static str, &'static str) {
    match cause {
        FatalCause::Token => (
            "the service does not accept the token",
            "check the token; a new one may be needed",
        ),
        FatalCause::Forbidden => (
            "the service does not allow this token to make leads",
            "check what the token is allowed to do, and that no firewall is in between",
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

/// The campaigns that were refused, a line each.
fn campaigns(refused: &[(CampaignId, Stop)], others_were_sent: bool) -> String {
    let mut lines: Vec<String> = refused
        .iter()
        .take(MAX_LISTED)
        .map(|(campaign, stop)| format!("campaign {campaign}: {}", what(stop)))
        .collect();
    if refused.len() > MAX_LISTED {
        lines.push(format!("… and {} more", refused.len() - MAX_LISTED));
    }
    if others_were_sent {
        lines.push("the leads of the other campaigns were sent".to_owned());
    }
    lines.join("\n")
}
