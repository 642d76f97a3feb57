//! Why a run ended early, in the words of the page: labels and buttons instead of flags.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::api::on_page;
use crate::api::verdict::FatalCause;
use crate::clock;
use crate::lead::ErrorCode;
use crate::message::ASK_SETUP;
use crate::signals::Interrupt;
use crate::stop::{Stop, StopReason};
use crate::text::counted;

const TRY_AGAIN: &str = "Then try again.";

const CHECK_ADDRESS: &str = "Check its address under “Service”.";

const MAY_BE_MADE: &str = "The test lead may have been made, and your phone may ring. Look for it in the calling service, or wait for the call, before you test again.";

/// What happened and what to do; `None` if the stop has a message of its own.
pub(super) fn stop_on_page(stop: &Stop) -> Option<(String, String)> {
    let (what, hint) = match &stop.reason {
        StopReason::Error { .. } => return None,
        StopReason::Refused(cause) => refused(*cause),
        StopReason::UnreadableAnswers(answers) => (
            format!("{answers} answers one after the other could not be read"),
            format!(
                "Something other than the service may be answering. {CHECK_ADDRESS} {TRY_AGAIN}"
            ),
        ),
        StopReason::NoUsableAnswer { rows, .. } => (
            format!("The service gave no usable answer to the first {rows} rows"),
            format!("{CHECK_ADDRESS} Check your internet connection too. {TRY_AGAIN}"),
        ),
        StopReason::NoConnection(why) => (
            on_page(why),
            format!("{ASK_SETUP} When that is fixed, go on where it stopped."),
        ),
        StopReason::RejectedAlike(rows) => (
            format!("The service has refused {rows} rows one after the other for the same reason"),
            format!(
                "Fix what these rows have in common, here or in the calling service. They are among the rows to fix. {TRY_AGAIN}"
            ),
        ),
        StopReason::NoAnswers {
            since,
            last,
            detail,
        } => (
            no_answers(*since, *last, detail.as_deref()),
            "When it answers again, go on where it stopped.".to_owned(),
        ),
        StopReason::AskedToWait { until, .. } => (
            format!(
                "The service takes no leads for now, and the next one would go at {}",
                clock(*until)
            ),
            "Try again after that.".to_owned(),
        ),
        StopReason::Stuck(rows) => (
            format!(
                "{} could neither be sent nor given up",
                counted(*rows, "row")
            ),
            "This is a mistake in leadload, please report it. Try again to go on with these rows."
                .to_owned(),
        ),
        StopReason::Interrupted(Interrupt::Signal) => (
            "Stopped".to_owned(),
            "What was sent is remembered.".to_owned(),
        ),
        StopReason::Interrupted(Interrupt::TimeUp) => (
            "The time that was set for sending is over".to_owned(),
            "What was sent is remembered. Resume to go on where it stopped.".to_owned(),
        ),
        StopReason::ResultsEnded => (
            "The results cannot be written to this computer's disk".to_owned(),
            format!("Free some space. {TRY_AGAIN}"),
        ),
        StopReason::Campaigns {
            refused,
            others_were_sent,
        } => campaigns(refused, *others_were_sent)?,
        StopReason::TestUnanswered { may_be_made, .. } => (
            "The service gave no usable answer".to_owned(),
            match may_be_made {
                true => MAY_BE_MADE.to_owned(),
                false => "Test again when the service is back.".to_owned(),
            },
        ),
        StopReason::TestThrottled { until, .. } => (
            "The service takes no leads at the moment".to_owned(),
            match until {
                Some(until) => format!("Test again after {}.", clock(*until)),
                None => "Test again later.".to_owned(),
            },
        ),
        StopReason::TokenReplaced => refused(FatalCause::Token),
        StopReason::TestInterrupted(_) => (
            "Stopped before the answer came".to_owned(),
            MAY_BE_MADE.to_owned(),
        ),
    };
    Some((saying(what, stop.said.as_deref()), hint))
}

fn refused(cause: FatalCause) -> (String, String) {
    let ask = "Ask the person who manages the calling service.";
    let (what, hint) = match cause {
        FatalCause::Token => (
            "The service no longer accepts your access token",
            "Paste a new one under “Service”.".to_owned(),
        ),
        FatalCause::Forbidden => (
            "The service forbids creating leads",
            format!("{ask} {TRY_AGAIN}"),
        ),
        FatalCause::Payment | FatalCause::Balance => (
            "The account's balance or plan allows no further leads",
            format!("{ask} {TRY_AGAIN}"),
        ),
        FatalCause::Campaign => (
            "The service refuses the campaign",
            "It may have been deleted or closed. Look at it in the calling service, or choose another one under “Campaign”.".to_owned(),
        ),
        FatalCause::Redirect => (
            "The service sends leadload on to another address",
            format!("{CHECK_ADDRESS} {TRY_AGAIN}"),
        ),
        FatalCause::NotTheService => (
            "The answer is not one of the calling service",
            format!("{CHECK_ADDRESS} {TRY_AGAIN}"),
        ),
    };
    (what.to_owned(), hint)
}

fn saying(what: String, said: Option<&str>) -> String {
    match said {
        Some(said) => format!("{what}. It says: {said}"),
        None => what,
    }
}

fn no_answers(since: Timestamp, last: Option<ErrorCode>, detail: Option<&str>) -> String {
    let since = clock(since);
    let why = match (detail, last) {
        (Some(detail), _) => format!(" ({})", on_page(detail)),
        (None, Some(ErrorCode::Http(status))) => format!(" (HTTP {status})"),
        (None, _) => String::new(),
    };
    format!("The service has given no answer since {since}{why}")
}

fn campaigns(
    refused: &[(crate::lead::CampaignId, Stop)],
    others_were_sent: bool,
) -> Option<(String, String)> {
    let ids: Vec<String> = refused.iter().map(|(id, _)| id.to_string()).collect();
    let (_, first) = refused.first()?;
    let (why, hint) = stop_on_page(first)?;
    let others = if others_were_sent {
        " The leads of the other campaigns were sent."
    } else {
        ""
    };
    let which = match &ids[..] {
        [one] => format!("Campaign {one}"),
        several => format!("Campaigns {}", several.join(", ")),
    };
    Some((format!("{which}: {why}.{others}"), hint))
}

/// The time of day here, with the date unless it is today.
fn clock(time: Timestamp) -> String {
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    let (then, now) = (time.to_zoned(zone.clone()), clock::now().to_zoned(zone));
    let form = if then.date() == now.date() {
        "%H:%M"
    } else {
        "%H:%M on %-d %B"
    };
    then.strftime(form).to_string()
}
