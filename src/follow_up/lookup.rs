//! Looking leads up in the list of a campaign.

use jiff::{SignedDuration, Timestamp};

use crate::api::verdict::FatalCause;
use crate::api::{LeadQuery, ListedLead, NotDone};
use crate::lead::{CampaignId, ErrorCode};
use crate::ledger::UndoRow;
use crate::phone::PhoneNumber;
use crate::pipeline::{Calls, Stopped};

/// So that a list without an end is noticed.
const MOST_PAGES: usize = 1000;

/// How much earlier than its answer a lead may have been made.
const SLOWEST: SignedDuration = SignedDuration::from_mins(1);

/// By how much a time of day is earlier than in UTC, where it is earliest.
const FURTHEST_WEST: SignedDuration = SignedDuration::from_hours(12);

/// Answers are recorded in whole seconds, and clocks are compared to a second.
const DOUBT: SignedDuration = SignedDuration::from_secs(2);

/// Whether a lead was made in the minute before this time, when its answer came. Without it, another
/// account may have made a lead with the same id for the same person, from the same list.
pub(super) fn was_made_before(lead: &ListedLead, answered: Option<Timestamp>) -> bool {
    since(lead, answered).is_some_and(|late| late >= -SLOWEST && late <= DOUBT)
}

/// Whether the service's time for a lead is later than its answer: then its times cannot be trusted.
pub(super) fn is_later_than(lead: &ListedLead, answered: Option<Timestamp>) -> bool {
    since(lead, answered).is_some_and(|late| late > DOUBT)
}

/// Whether a lead was made before this run has sent the request that made it: before the run began, or
/// while it sent no request for the row whose lead this is. Its time is compared by the clock of its answer,
/// so it does not matter how wrong the service's clock is; a minute is left for what it runs unevenly. One
/// without a zone counts if it is older wherever the service may be.
pub(super) fn is_older(
    lead: &ListedLead,
    began: Timestamp,
    timeout: Option<SignedDuration>,
    row: &UndoRow,
) -> bool {
    let Some(made) = lead.made else { return false };
    let doubt = match made.has_zone {
        true => SLOWEST,
        false => SLOWEST + FURTHEST_WEST,
    };
    let is_before = |time: Timestamp| time.duration_since(made.at) > doubt;
    if is_before(began) {
        return true;
    }
    if !row.answer_lost {
        // No other request was answered, or may have been taken.
        let sent = row.made_at.zip(timeout);
        let sent = sent.and_then(|(answered, timeout)| answered.checked_sub(timeout).ok());
        return sent.is_some_and(is_before);
    }
    let Some((first, last)) = row.attempted else {
        return false;
    };
    let is_between = |timeout| {
        let is_over = made.at.duration_since(last) > timeout && made.has_zone;
        is_over && row.started.is_some_and(is_before)
    };
    is_before(first) || timeout.is_some_and(is_between)
}

fn since(lead: &ListedLead, answered: Option<Timestamp>) -> Option<SignedDuration> {
    let made = lead.made.filter(|made| made.has_zone)?;
    Some(made.at.duration_since(answered?))
}

/// Reads the pages of a list, as long as `take` wants more.
pub(super) async fn each_page(
    calls: &Calls,
    query: LeadQuery,
    mut take: impl FnMut(Vec<ListedLead>) -> bool,
) -> Result<Result<(), NotDone>, Stopped> {
    let mut page = None;
    for _ in 0..MOST_PAGES {
        let called = calls
            .make(
                async |client| {
                    let page = page.clone().unwrap_or_else(|| client.lead_list(query));
                    client.lead_page(page).await
                },
                |_| Ok(()),
            )
            .await?;
        let listed = match called.result {
            Ok(listed) => listed,
            Err(not_done) => return Ok(Err(not_done)),
        };
        let wants_more = take(listed.leads);
        match listed.next {
            Some(next) if wants_more => page = Some(next),
            _ => return Ok(Ok(())),
        }
    }
    let text = format!("the list of leads has more than {MOST_PAGES} pages");
    Ok(Err(NotDone::unreadable(text)))
}

/// The leads that a campaign lists for a number, from all pages, as far as they are `meant`.
///
/// Services compare a part of the number, or ignore what they are asked for, so other leads are
/// listed too.
pub(super) async fn listed_for(
    calls: &Calls,
    campaign: CampaignId,
    number: PhoneNumber,
    is_meant: impl Fn(&ListedLead) -> bool,
) -> Result<Result<Vec<ListedLead>, NotDone>, Stopped> {
    let query = LeadQuery {
        campaign,
        number: Some(number),
    };
    let mut found = Vec::new();
    let take = |leads: Vec<ListedLead>| {
        found.extend(leads.into_iter().filter(&is_meant));
        true
    };
    let read = each_page(calls, query, take).await?;
    Ok(read.map(|()| found))
}

/// The leads with this number in a campaign. Of one without a campaign it is not known that it is in
/// another.
pub(super) async fn leads_with(
    calls: &Calls,
    campaign: CampaignId,
    number: PhoneNumber,
) -> Result<Result<Vec<ListedLead>, NotDone>, Stopped> {
    let is_meant = |lead: &ListedLead| {
        lead.has_number(number) && lead.campaign.is_none_or(|of| of == campaign)
    };
    listed_for(calls, campaign, number, is_meant).await
}

/// Why a list that is needed cannot be read.
pub(super) fn refused(not_done: NotDone) -> Stopped {
    match not_done {
        // The list of a campaign that exists is always there, if the service has such lists.
        NotDone::NotOffered { text } | NotDone::NotFound { text } => Stopped::NotOffered {
            call: "GET /api/user/leads",
            text,
        },
        NotDone::NoAnswer { code, text, .. } if code != ErrorCode::UnreadableAnswer => {
            Stopped::Outage(text)
        }
        NotDone::Refused {
            code: ErrorCode::Http(403),
            text,
        } => Stopped::Fatal {
            cause: FatalCause::Forbidden,
            text,
        },
        other => Stopped::Unreadable(other.text().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lead::{CampaignId, RowId};
    use crate::phone::PhoneNumber;

    const TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    /// A row that was settled at this second, in a start that began at another one.
    fn row(settled: i64, started: i64, attempted: Option<(i64, i64)>) -> UndoRow {
        UndoRow {
            row: RowId(1),
            number: PhoneNumber::from_key(447_911_000_001).unwrap(),
            campaign: CampaignId(101),
            lead_id: Some("a".to_owned()),
            made_at: Some(at(settled)),
            answer_lost: attempted.is_some(),
            attempted: attempted.map(|(first, last)| (at(first), at(last))),
            started: Some(at(started)),
            was_asked: false,
            outcome: None,
        }
    }

    fn is_older_at(made: i64, row: &UndoRow) -> bool {
        is_older(
            &ListedLead::made_at("a", at(made)),
            at(0),
            Some(TIMEOUT),
            row,
        )
    }

    proptest! {
        /// The run began at 0, was killed, and went on; each request may make the lead until its time-out.
        #[test]
        fn no_lead_that_a_request_of_the_run_has_made_is_older(
            first in 0..1_000_i64,
            longer in 0..1_000_i64,
            stopped in 0..100_000_i64,
            waits in 0..1_000_i64,
            again in 0..1_000_i64,
            after in 0..=60_i64,
            which in 0..3,
        ) {
            let last = first + longer;
            let started = last + stopped;
            let sent = started + waits;
            let answered = sent + again + after;
            let made = [first, last, sent + again][which as usize] + after;
            let lost = row(answered.max(made), started, Some((first, last)));
            prop_assert!(!is_older_at(made, &lost));
            // In one start alone.
            let lost = row(last + after, 0, Some((first, last)));
            prop_assert!(!is_older_at(first + after.min(longer), &lost));
            // With one request alone.
            prop_assert!(!is_older_at(sent + after, &row(sent + after, started, None)));
        }

        #[test]
        fn a_lead_from_before_or_between_the_requests_of_a_row_is_older(
            first in 100..1_000_i64,
            longer in 0..1_000_i64,
            stopped in 200..100_000_i64,
            at in 0.0..1.0,
        ) {
            let last = first + longer;
            let started = last + stopped;
            let lost = row(started + 10, started, Some((first, last)));
            prop_assert!(is_older_at(first - 61 - (at * 30.0) as i64, &lost));
            let span = (stopped - 60 - 61) as f64;
            prop_assert!(is_older_at(last + 61 + (at * (span - 1.0)) as i64, &lost));
            let alone = row(started + 10, 0, None);
            prop_assert!(is_older_at(started + 10 - 60 - 61 - (at * 70.0) as i64, &alone));
        }
    }
}
