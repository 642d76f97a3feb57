//! Why a run ended early, in words: what happened, what the service said, and what to do.

use super::stop_on_page::stop_on_page;
use crate::api::verdict::FatalCause;
use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode};
use crate::message::Message;
use crate::signals::Interrupt;
use crate::stop::{Stop, StopReason};
use crate::text::counted;

const MAX_LISTED: usize = 10;

const RUN_AGAIN: &str = "run the same command again";

const MAY_BE_MADE: &str = "the lead may have been made, and the phone may ring: look for it at the service, or wait for the call, before you test again";

pub fn stop_text(stop: &Stop) -> Message {
    let message = words(stop);
    let message = match stop_on_page(stop) {
        Some((what, hint)) => message.on_page(what, hint),
        None => message,
    };
    match (&stop.reason, &stop.also) {
        (StopReason::TestInterrupted(_), _) | (_, None) => message,
        (StopReason::Error { .. }, Some(also)) => message.then(&stop_text(also)),
        (_, Some(also)) => message.around(&stop_text(also)),
    }
}

/// What happened and what the service said of it, and what to do about it.
fn words(stop: &Stop) -> Message {
    if let (StopReason::Error { message, .. }, None) = (&stop.reason, &stop.said) {
        return message.clone();
    }
    let then = |what: &str| Some(format!("{what}, then {RUN_AGAIN}"));
    let (what, hint) = match &stop.reason {
        StopReason::Refused(cause) => {
            let (what, check) = refusal(*cause);
            (what.to_owned(), then(check))
        }
        StopReason::UnreadableAnswers(answers) => (
            format!("{answers} consecutive answers could not be read"),
            then("something other than the service may be answering: check `--base-url`"),
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
                "the service refuses requests for now ({why}), and the next one would go at {until:.0}, which is later than `--max-outage` allows"
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
        StopReason::Interrupted(interrupt) => (interrupted(*interrupt), None),
        StopReason::ResultsEnded => ("the results cannot be written".to_owned(), None),
        StopReason::Campaigns {
            refused,
            others_were_sent,
        } => (
            campaigns(refused, *others_were_sent),
            refused.first().and_then(|(_, stop)| words(stop).hint),
        ),
        StopReason::Error { message, .. } => (message.what.clone(), message.hint.clone()),
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
                let Message { what, hint, .. } = words(answer);
                (format!("{}; {what}", interrupted(*interrupt)), hint)
            }
            None => (
                format!("{} before the answer came", interrupted(*interrupt)),
                Some(MAY_BE_MADE.to_owned()),
            ),
        },
    };
    let what = match &stop.said {
        Some(said) => format!("{what} ({said})"),
        None => what,
    };
    match hint {
        Some(hint) => Message::new(what, hint),
        None => Message::without_hint(what),
    }
}

fn refusal(cause: FatalCause) -> (&'static str, &'static str) {
    match cause {
        FatalCause::Token => (
            "the service does not accept the token",
            "check the token; a new one may be needed",
        ),
        FatalCause::Forbidden => (
            "the service forbids creating leads",
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
            "the answer is not one of the calling service",
            "check the address of the service",
        ),
    }
}

fn interrupted(interrupt: Interrupt) -> String {
    let by = match interrupt {
        Interrupt::Signal => StoppedBy::Signal,
        Interrupt::TimeUp => StoppedBy::MaxDuration,
    };
    format!("stopped by {}", in_words(by))
}

/// What follows "stopped": `after` what, and why.
pub(super) fn stopped(stop: &Stop, after: &str) -> String {
    match &stop.reason {
        StopReason::Refused(cause) => format!("{after}: {}", refusal(*cause).0),
        _ if stop.is_interrupted() => format!("by {} {after}", in_words(stop.by())),
        _ => format!("{after}: {}", in_words(stop.by())),
    }
}

/// Why a run was stopped, for a sentence.
pub(super) fn in_words(by: StoppedBy) -> &'static str {
    match by {
        StoppedBy::Token => "the service refuses the token",
        StoppedBy::Campaign => "the service refuses the campaign",
        StoppedBy::Balance => "the account's balance or plan allows no further leads",
        StoppedBy::Redirect => "the service redirects to another address",
        StoppedBy::Outage => "the service gives no usable answers",
        StoppedBy::Unreadable => "the answers are not those of the service",
        StoppedBy::Rejections => "the service rejects many rows for one reason",
        StoppedBy::Signal => "Ctrl-C or another signal",
        StoppedBy::MaxDuration => "`--max-duration`",
        StoppedBy::Disk => "a file cannot be written",
        StoppedBy::Ledger => "the ledger could not be used",
        StoppedBy::Input => "the list was changed or cannot be read",
        StoppedBy::Busy => "another run is sending",
        StoppedBy::Usage => "something has to be changed first",
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
        .map(|(campaign, stop)| format!("campaign {campaign}: {}", words(stop).what))
        .collect();
    if refused.len() > MAX_LISTED {
        lines.push(format!("… and {} more", refused.len() - MAX_LISTED));
    }
    if others_were_sent {
        lines.push("the leads of the other campaigns were sent".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_says_what_else_would_have_ended_the_run() {
        let results = Stop::new(StopReason::ResultsEnded);
        let token = Stop::new(StopReason::TokenReplaced);
        let disk = Stop::error(StoppedBy::Disk, Message::new("it is full", "free space"));
        let refused =
            "the service does not accept the token, and the token file holds another one now";
        for (stop, text) in [
            (
                results.with(token.clone()),
                format!("the results cannot be written\n\n{refused}\n\nhint: {RUN_AGAIN}"),
            ),
            (
                token.clone().with(disk.clone()),
                format!("{refused}\n\nit is full\n\nhint: free space\n\nhint: {RUN_AGAIN}"),
            ),
            (
                disk.with(token),
                format!("it is full\n\nhint: free space\n\n{refused}\n\nhint: {RUN_AGAIN}"),
            ),
        ] {
            let Message { what, hint, .. } = stop_text(&stop);
            let hint = hint.unwrap();
            assert!(!what.contains("hint: "), "{what}");
            assert_eq!(format!("{what}\n\nhint: {hint}"), text);
        }
    }
}
