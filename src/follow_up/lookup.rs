//! Looking a number up in the list of leads of a campaign.

use crate::api::{LeadQuery, ListedLead, NotDone};
use crate::lead::{CampaignId, ErrorCode};
use crate::phone::PhoneNumber;
use crate::pipeline::{Calls, Stopped};

/// More pages than the leads of one number have, even if the service ignores what was asked for.
const MOST_PAGES: usize = 1000;

/// The leads of a number in a campaign, from all pages.
///
/// Services compare a part of the number, and may ignore what they are asked for: so what is listed
/// counts only if it has this number, and is not said to be in another campaign.
pub(super) async fn leads_with(
    calls: &Calls,
    campaign: CampaignId,
    number: PhoneNumber,
) -> Result<Result<Vec<ListedLead>, NotDone>, Stopped> {
    let query = LeadQuery {
        campaign,
        number: Some(number),
    };
    let mut found = Vec::new();
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
        let is_meant = |lead: &ListedLead| {
            lead.has_number(number) && lead.campaign.is_none_or(|of| of == campaign)
        };
        found.extend(listed.leads.into_iter().filter(is_meant));
        match listed.next {
            Some(next) => page = Some(next),
            None => return Ok(Ok(found)),
        }
    }
    Ok(Err(NotDone::NoAnswer {
        code: ErrorCode::UnreadableAnswer,
        text: "the list of leads has no last page".to_owned(),
    }))
}

/// The first page of the leads of a campaign.
pub(super) async fn first_page(
    calls: &Calls,
    campaign: CampaignId,
) -> Result<Vec<ListedLead>, Stopped> {
    let query = LeadQuery {
        campaign,
        number: None,
    };
    let called = calls
        .make(
            async |client| client.lead_page(client.lead_list(query)).await,
            |_| Ok(()),
        )
        .await?;
    match called.result {
        Ok(page) => Ok(page.leads),
        Err(not_done) => Err(refused(not_done)),
    }
}

/// Why a list that is needed cannot be read.
pub(super) fn refused(not_done: NotDone) -> Stopped {
    match not_done {
        // The list of a campaign that exists is always there, if the service has such lists.
        NotDone::NotOffered { text } | NotDone::NotFound { text } => Stopped::NotOffered(text),
        other => Stopped::Unreadable(other.text().to_owned()),
    }
}
