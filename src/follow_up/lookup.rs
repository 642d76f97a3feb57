//! Looking leads up in the list of a campaign.

use jiff::{SignedDuration, Timestamp};

use crate::api::verdict::FatalCause;
use crate::api::{CallError, CreatedAt, LeadQuery, ListedLead};
use crate::lead::{CampaignId, ErrorCode};
use crate::ledger::UndoRow;
use crate::phone::PhoneNumber;
use crate::pipeline::PacedClient;
use crate::stop::{Stop, StopReason};
use crate::text::without_numbers;

/// So that a list without an end is noticed.
const MOST_PAGES: usize = 1000;

/// How much earlier than its answer a lead may have been made.
pub(super) const SLOWEST: SignedDuration = SignedDuration::from_mins(1);

/// By how much a time of day is earlier than in UTC, where it is earliest.
const FURTHEST_WEST: SignedDuration = SignedDuration::from_hours(12);

/// Answers are recorded in whole seconds, and clocks are compared to a second.
const DOUBT: SignedDuration = SignedDuration::from_secs(2);

/// Whether a lead was made in the minute before this time, when its answer came. Without it, another
/// account may have made a lead with the same id for the same person, from the same list.
pub(super) fn was_made_before(lead: &ListedLead, answered: Option<Timestamp>) -> bool {
    since(lead, answered).is_some_and(|late| late >= -SLOWEST && late <= DOUBT)
}

/// By how much the service's time for a lead is later than its answer, if it is: then a clock is wrong, or
/// the service means another zone.
pub(super) fn later_than(lead: &ListedLead, answered: Option<Timestamp>) -> Option<SignedDuration> {
    since(lead, answered).filter(|late| *late > DOUBT)
}

/// Whether a lead was made before this run has sent the request that made it: before the run began, or
/// while it sent no request for the row whose lead this is. Its time is compared by the clock of its answer,
/// so it does not matter how wrong the service's clock is; a minute is left for what it runs unevenly. One
/// without a zone counts if it is older wherever the service may be.
///
/// `then` is when it was made by the clock by which the run `began`, if that is known. The clock may have been
/// set right meanwhile, so what a row was answered is compared by both.
pub(super) fn is_older(
    made: CreatedAt,
    then: Option<CreatedAt>,
    began: Timestamp,
    timeout: Option<SignedDuration>,
    row: &UndoRow,
) -> bool {
    let doubt = match made.has_zone {
        true => SLOWEST,
        false => SLOWEST + FURTHEST_WEST,
    };
    let is_before = |made: CreatedAt, time: Timestamp| time.duration_since(made.at) > doubt;
    if is_before(then.unwrap_or(made), began) {
        return true;
    }
    let (Some(answered), Some(timeout)) = (row.made_at, timeout) else {
        return false;
    };
    // Without a lost answer, no other request was answered, or may have been taken.
    let is_known = !row.answer_lost || !row.attempted.is_empty();
    let is_outside = |made: CreatedAt| {
        let is_over = |last| made.has_zone && made.at.duration_since(last) > timeout;
        let sent = answered.checked_sub(timeout);
        let mut starts = row.attempted.iter();
        sent.is_ok_and(|sent| is_before(made, sent))
            && starts.all(|start| is_before(made, start.first) || is_over(start.last))
    };
    is_known && is_outside(made) && then.is_none_or(is_outside)
}

fn since(lead: &ListedLead, answered: Option<Timestamp>) -> Option<SignedDuration> {
    let made = lead.made.filter(|made| made.has_zone)?;
    Some(made.at.duration_since(answered?))
}

/// Reads the pages of a list, as long as `take` wants more.
pub(super) async fn each_page(
    client: &PacedClient,
    query: LeadQuery,
    mut take: impl FnMut(Vec<ListedLead>) -> bool,
) -> Result<Result<(), CallError>, Stop> {
    let mut page = None;
    for _ in 0..MOST_PAGES {
        let called = client
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
    Ok(Err(CallError::unreadable(text)))
}

/// The leads that a campaign lists for a number, from all pages, as far as they are `meant`.
///
/// Services compare a part of the number, or ignore what they are asked for, so other leads are
/// listed too.
pub(super) async fn listed_for(
    client: &PacedClient,
    campaign: CampaignId,
    number: PhoneNumber,
    is_meant: impl Fn(&ListedLead) -> bool,
) -> Result<Result<Vec<ListedLead>, CallError>, Stop> {
    let query = LeadQuery {
        campaign,
        number: Some(number),
    };
    let mut found = Vec::new();
    let take = |leads: Vec<ListedLead>| {
        found.extend(leads.into_iter().filter(&is_meant));
        true
    };
    let read = each_page(client, query, take).await?;
    Ok(read.map(|()| found))
}

/// The leads that may have this number in a campaign. Of one without a campaign it is not known that it is
/// in another.
pub(super) async fn leads_with(
    client: &PacedClient,
    campaign: CampaignId,
    number: PhoneNumber,
) -> Result<Result<Vec<ListedLead>, CallError>, Stop> {
    let is_meant = |lead: &ListedLead| {
        lead.may_have_number(number) && lead.campaign.is_none_or(|of| of == campaign)
    };
    listed_for(client, campaign, number, is_meant).await
}

/// Why a list that is needed cannot be read.
pub(super) fn refused(not_done: CallError) -> Stop {
    let last = match &not_done {
        // The list of a campaign that exists is always there, if the service has such lists.
        CallError::NotOffered { text } | CallError::NotFound { text } => {
            return not_offered("GET /api/user/leads", text);
        }
        CallError::Refused {
            code: ErrorCode::Http(403),
            text,
        } => return forbidden(text),
        CallError::NoAnswer { code, .. } => *code,
        _ => ErrorCode::UnreadableAnswer,
    };
    let stop = Stop::new(StopReason::NoUsableAnswer { rows: 1, last });
    stop.saying(without_numbers(not_done.text()))
}

pub(super) fn not_offered(call: &'static str, text: &str) -> Stop {
    let text = text.to_owned();
    Stop::new(StopReason::NotOffered { call, text })
}

/// The token is not allowed to do this.
pub(super) fn forbidden(text: &str) -> Stop {
    Stop::new(StopReason::Refused(FatalCause::Forbidden)).saying(without_numbers(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lead::{CampaignId, RowId};
    use crate::ledger::Attempted;
    use crate::phone::PhoneNumber;

    const TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    /// A row that was settled at this second; and when starts have sent it, if an answer was lost.
    fn row(settled: i64, starts: &[(i64, i64)]) -> UndoRow {
        UndoRow {
            row: RowId(1),
            number: PhoneNumber::from_key(447_911_000_001).unwrap(),
            campaign: CampaignId(101),
            lead_id: Some("a".to_owned()),
            made_at: Some(at(settled)),
            answer_lost: !starts.is_empty(),
            attempted: starts.iter().map(|times| start(*times)).collect(),
            was_asked: false,
            may_be_looked_up: false,
            outcome: None,
        }
    }

    fn start((first, last): (i64, i64)) -> Attempted {
        Attempted {
            first: at(first),
            last: at(last),
            ended: None,
        }
    }

    /// Starts of a run, one after the other, with hours or days between some of them.
    fn any_starts() -> impl Strategy<Value = Vec<(i64, i64)>> {
        let gap = prop_oneof![100..400_i64, 200..100_000_i64];
        prop::collection::vec((gap, 0..1_000_i64), 1..5).prop_map(|starts| {
            let mut now = 0;
            let start = |(gap, longer)| {
                let first = now + gap;
                now = first + longer;
                (first, now)
            };
            starts.into_iter().map(start).collect()
        })
    }

    fn is_older_at(made: i64, row: &UndoRow) -> bool {
        is_older(
            CreatedAt::said(at(made), true),
            None,
            at(0),
            Some(TIMEOUT),
            row,
        )
    }

    proptest! {
        /// The run began at 0. Its clock was `behind` the service's, and is `now_behind` it today; it was set
        /// right before some rows.
        #[test]
        fn what_was_made_before_a_run_and_by_it_is_told_apart_whatever_clocks_say(
            behind in -900_000..900_000_i64,
            now_behind in prop_oneof![Just(0), -900_000..900_000_i64],
            answered in 0..90_000_i64,
            took in 0..60_i64,
            before in 62..9_000_000_i64,
            is_set_right in any::<bool>(),
        ) {
            let made_at = |second: i64| {
                let said = CreatedAt::said(at(second), true);
                let clock = |behind| said.with_clock(SignedDuration::from_secs(behind));
                (clock(now_behind), clock(behind))
            };
            let row_behind = if is_set_right { now_behind } else { behind };
            let row = row(answered - row_behind, &[]);
            let is_older = |(made, then)| {
                is_older(made, Some(then), at(-behind), Some(TIMEOUT), &row)
            };
            prop_assert!(!is_older(made_at(answered - took)));
            prop_assert!(is_older(made_at(-before)));
        }

        /// The run began at 0; each request may make the lead until its time-out.
        #[test]
        fn no_lead_that_a_request_of_the_run_has_made_is_older(
            starts in any_starts(),
            which in any::<prop::sample::Index>(),
            at in 0.0..=1.0,
            late in 0..=60_i64,
        ) {
            let (first, last) = *which.get(&starts);
            let made = first + ((last - first) as f64 * at) as i64 + late;
            let answered = starts.last().unwrap().1 + 60;
            prop_assert!(!is_older_at(made, &row(answered.max(made), &starts)));
            // With one request alone.
            prop_assert!(!is_older_at(made, &row(made - late + 60, &[])));
        }

        #[test]
        fn a_lead_from_before_or_between_the_starts_of_a_row_is_older(
            starts in any_starts(),
            which in any::<prop::sample::Index>(),
            at in 0.0..1.0,
        ) {
            let at_start = which.index(starts.len());
            let earlier = at_start.checked_sub(1).map_or(-60, |earlier| starts[earlier].1);
            let (from, to) = (earlier + 61, starts[at_start].0 - 61);
            prop_assume!(from <= to);
            let made = from + ((to - from) as f64 * at) as i64;
            let answered = starts.last().unwrap().1;
            prop_assert!(is_older_at(made, &row(answered + 60, &starts)));
            let before = answered - 61 - (at * 70.0) as i64;
            prop_assert!(is_older_at(before, &row(answered + 60, &[])));
        }
    }
}
