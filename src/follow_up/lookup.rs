//! Looking leads up in the list of a campaign.

use jiff::{SignedDuration, Timestamp};

use crate::api::verdict::FatalCause;
use crate::api::{LeadQuery, ListedLead, NotDone};
use crate::lead::{CampaignId, ErrorCode};
use crate::ledger::{RunRecord, UndoRow};
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

/// Whether a lead was made before this run can have made it: before the run began, or before the request was
/// sent whose answer was the only one about its row. Its time is compared by the clock of its answer, so it
/// does not matter how wrong the service's clock is; a minute is left for what it runs unevenly. One
/// without a zone counts if it is older wherever the service may be.
pub(super) fn is_older(lead: &ListedLead, run: &RunRecord, row: &UndoRow) -> bool {
    let Some(made) = lead.made else { return false };
    let doubt = match made.has_zone {
        true => SLOWEST,
        false => SLOWEST + FURTHEST_WEST,
    };
    let answered = row.made_at.filter(|_| !row.answer_lost);
    let sent = answered.zip(run.timeout());
    let sent = sent.and_then(|(answered, timeout)| answered.checked_sub(timeout).ok());
    let earliest = sent.map_or(run.began_at, |sent| sent.max(run.began_at));
    earliest.duration_since(made.at) > doubt
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
