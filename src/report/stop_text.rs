//! Why a run ended early, in words: what happened, what the service said, and what to do.

use jiff::Timestamp;

use crate::api::verdict::FatalCause;
use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode};
use crate::message::{Message, Template, Text};
use crate::signals::Interrupt;
use crate::stop::{Stop, StopReason};

const MAX_LISTED: usize = 10;

pub fn stop_text(stop: &Stop) -> Message {
    let message = match (&stop.reason, &stop.said) {
        (StopReason::Error { message, .. }, None) => message.clone(),
        _ => match words(stop) {
            (what, Some(hint)) => Message::new(what, hint),
            (what, None) => Message::without_hint(what),
        },
    };
    match (&stop.reason, &stop.also) {
        (StopReason::TestInterrupted(_), _) | (_, None) => message,
        (StopReason::Error { .. }, Some(also)) => message.then(stop_text(also)),
        (_, Some(also)) => message.with_inner(stop_text(also)),
    }
}

/// What happened and what the service said of it, and what to do about it.
fn words(stop: &Stop) -> (Text, Option<Text>) {
    let (what, hint) = reason(stop);
    let Some(said) = &stop.said else {
        return (what, hint);
    };
    // These are leadload's own words about the answer.
    let is_verdict = matches!(
        stop.reason,
        StopReason::UnreadableAnswers(_)
            | StopReason::NoUsableAnswer { .. }
            | StopReason::Refused(FatalCause::Redirect | FatalCause::NotTheService)
    );
    let what = match is_verdict {
        true => text!("{what} ({said})", what, said),
        false => text!("{what}{ ({said})|. It says: {said}}", what, said),
    };
    (what, hint)
}

fn reason(stop: &Stop) -> (Text, Option<Text>) {
    match &stop.reason {
        StopReason::Refused(cause) => (refusal(*cause).into(), Some(cure(*cause).into())),
        StopReason::UnreadableAnswers(answers) => (
            text!(
                "{{answers} consecutive answers|{answers} answers one after the other} could not be read",
                answers = *answers
            ),
            Some(text!(
                "something other than the service may be answering{: |; }check {--base-url}, then {again}"
            )),
        ),
        StopReason::NoUsableAnswer { rows, .. } => (
            text!(
                "the service gave no usable answer to the first {rows} rows",
                rows = *rows
            ),
            Some(text!(
                "check {the address of the service and the connection|its address under {--base-url}, and your internet connection}, then {again}"
            )),
        ),
        StopReason::NoConnection { why, cure } => (
            text!("{|leadload can't connect: }{why}", why),
            Some(text!(
                "{cure}; when that is fixed, {run the same command again|go on where it stopped}",
                cure = *cure
            )),
        ),
        StopReason::RejectedAlike(rows) => (
            text!(
                "the service has {rejected {rows} consecutive rows|refused {rows} rows one after the other} for the same reason",
                rows = rows.get()
            ),
            Some(text!(
                "fix what these rows have in common, here or {at|in} {the_service}{, then run the same command again; they are in the rejects file. `--stop-after` allows more|; they are among {rejects}; then try again}"
            )),
        ),
        StopReason::NoAnswers {
            since,
            last,
            detail,
        } => (
            no_answers(*since, *last, detail.as_deref()),
            Some(text!(
                "when it {is back, run the same command again; `--max-outage` says how long to wait for it|answers again, go on where it stopped}"
            )),
        ),
        StopReason::AskedToWait { until, why } => (
            text!(
                "the service {refuses requests for now ({why})|takes no leads for now}, and the next one would go at {until}{, which is later than `--max-outage` allows|}",
                until = *until,
                why = why.to_string()
            ),
            Some(text!(
                "{again} after that{; `--max-outage` says how long to wait for the service|}"
            )),
        ),
        StopReason::Stuck(rows) => (
            text!(
                "{rows:row} could neither be sent nor given up",
                rows = *rows
            ),
            Some(text!(
                "{report_bug}; {the same command continues|try again to go on} with these rows"
            )),
        ),
        StopReason::Interrupted(interrupt) => (
            interrupted(*interrupt),
            Some(text!("{|what was sent is remembered}")),
        ),
        StopReason::ResultsEnded => (
            text!("the results cannot be written{| to this computer's disk}"),
            Some(text!("{|free some space; then try again}")),
        ),
        StopReason::Campaigns {
            refused,
            others_were_sent,
        } => campaigns(refused, *others_were_sent),
        StopReason::Error { message, .. } => (message.what.clone(), None),
        StopReason::TestUnanswered { may_be_made, .. } => (
            text!("the service gave no usable answer"),
            Some(match may_be_made {
                true => MAY_BE_MADE.into(),
                false => text!(
                    "{when the service is back, test again|test again when the service is back}"
                ),
            }),
        ),
        StopReason::NotOffered { call, text } => (
            text!(
                "the service does not offer {the call that this needs, {call}|this}: {why}",
                call = *call,
                why = text
            ),
            Some(text!(
                "use the service's own screens{: `leadload runs export RUN --results FILE` writes the rows with their numbers and lead ids|; the results have the numbers and the ids of the leads}"
            )),
        ),
        StopReason::TestThrottled { until, .. } => (
            text!("the service takes no leads at the moment"),
            Some(match until {
                Some(until) => text!("test again after {until}", until = *until),
                None => text!("test again later"),
            }),
        ),
        StopReason::TokenReplaced => (
            text!(
                "the service does not accept the token, and the token file holds another one now"
            ),
            Some(text!("{again}")),
        ),
        StopReason::TestInterrupted(interrupt) => {
            test_interrupted(*interrupt, stop.also.as_deref())
        }
    }
}

/// What follows "stopped": `after` what, and why.
pub(super) fn stopped(stop: &Stop, after: &str) -> String {
    match &stop.reason {
        StopReason::Refused(cause) => format!("{after}: {}", Text::from(refusal(*cause))),
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

const MAY_BE_MADE: Template = template!(
    "the {|test }lead may have been made, and {the|your} phone may ring{: |; }look for it {at|in} {the_service}, or wait for the call, before you test again"
);

fn refusal(cause: FatalCause) -> Template {
    match cause {
        FatalCause::Token => {
            template!("the service {does not accept the|no longer accepts your access} token")
        }
        FatalCause::Forbidden => template!("the service forbids creating leads"),
        FatalCause::Payment | FatalCause::Balance => {
            template!("the account's balance or plan allows no further leads")
        }
        FatalCause::Campaign => template!("the service refuses the campaign"),
        FatalCause::Redirect => {
            template!("the service {redirects|sends leadload on} to another address")
        }
        FatalCause::NotTheService => template!("the answer is not one of the calling service"),
    }
}

fn cure(cause: FatalCause) -> Template {
    match cause {
        FatalCause::Token => template!(
            "{check the token; a new one may be needed, then {again}|paste a new one under {--token-file}}"
        ),
        FatalCause::Forbidden => template!(
            "{check what the token is allowed to do, and that no firewall is in between|ask the person who manages {the_service}}, then {again}"
        ),
        FatalCause::Payment | FatalCause::Balance => template!(
            "{check the account's balance and limits|ask the person who manages {the_service}}, then {again}"
        ),
        FatalCause::Campaign => template!(
            "{check the campaign's id with `leadload campaigns`, and the base URL, then {again}|it may have been deleted or closed; look at it in {the_service}, or choose another one under {--campaign}}"
        ),
        FatalCause::Redirect | FatalCause::NotTheService => template!(
            "check {the address of the service|its address under {--base-url}}, then {again}"
        ),
    }
}

fn interrupted(interrupt: Interrupt) -> Text {
    match interrupt {
        Interrupt::Signal => text!("stopped{ by {by}|}", by = in_words(StoppedBy::Signal)),
        Interrupt::TimeUp => text!(
            "{stopped by {by}|the time that was set for sending is over}",
            by = in_words(StoppedBy::MaxDuration)
        ),
    }
}

/// A test lead that was interrupted while it waited for its answer.
fn test_interrupted(interrupt: Interrupt, answer: Option<&Stop>) -> (Text, Option<Text>) {
    let by = interrupted(interrupt);
    match answer.map(words) {
        Some((what, hint)) => (text!("{by}; {what}", by, what), hint),
        None => (
            text!("{{by}|stopped} before the answer came", by),
            Some(MAY_BE_MADE.into()),
        ),
    }
}

pub(super) fn code_text(code: ErrorCode) -> String {
    match code {
        ErrorCode::Http(status) => format!("HTTP {status}"),
        code => code.to_string(),
    }
}

fn no_answers(since: Timestamp, last: Option<ErrorCode>, detail: Option<&str>) -> Text {
    let why = match (detail, last) {
        (Some(detail), _) => text!(" ({detail})", detail),
        (None, Some(ErrorCode::Http(status))) => {
            text!(" (HTTP {status})", status = u32::from(status))
        }
        (None, Some(code)) => text!("{ ({code})|}", code = code.to_string()),
        (None, None) => Text::default(),
    };
    text!(
        "the service has given no answer{ about any row|} since {since}{why}",
        since,
        why
    )
}

fn campaigns(refused: &[(CampaignId, Stop)], others_were_sent: bool) -> (Text, Option<Text>) {
    let mut lines: Vec<Text> = refused
        .iter()
        .take(MAX_LISTED)
        .map(|(id, stop)| {
            let (id, (what, _)) = (id.to_string(), words(stop));
            text!("campaign {id}: {what}", id, what)
        })
        .collect();
    if refused.len() > MAX_LISTED {
        lines.push(text!(
            "… and {more} more",
            more = refused.len() - MAX_LISTED
        ));
    }
    if others_were_sent {
        lines.push(text!("the leads of the other campaigns were sent"));
    }
    let hint = refused.first().and_then(|(_, stop)| words(stop).1);
    (text!("{lines}", lines), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_says_what_else_would_have_ended_the_run() {
        let results = Stop::new(StopReason::ResultsEnded);
        let token = Stop::new(StopReason::TokenReplaced);
        let disk = Stop::error(StoppedBy::Disk, message!("it is full", "free space"));
        let refused =
            "the service does not accept the token, and the token file holds another one now";
        for (stop, text) in [
            (
                results.with(token.clone()),
                format!(
                    "the results cannot be written\n\n{refused}\n\nhint: run the same command again"
                ),
            ),
            (
                token.clone().with(disk.clone()),
                format!(
                    "{refused}\n\nit is full\n\nhint: free space\n\nhint: run the same command again"
                ),
            ),
            (
                disk.with(token),
                format!(
                    "it is full\n\nhint: free space\n\n{refused}\n\nhint: run the same command again"
                ),
            ),
        ] {
            let (what, hint) = stop_text(&stop).at_terminal();
            let hint = hint.unwrap();
            assert!(!what.contains("hint: "), "{what}");
            assert_eq!(format!("{what}\n\nhint: {hint}"), text);
        }
    }
}
