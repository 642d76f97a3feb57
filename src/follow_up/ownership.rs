//! Whether the leads of a run are in the account that the token belongs to. Another account may have
//! leads with the same ids, in campaigns with the same ids.
//!
//! # Promise
//!
//! The leads may be removed only if the account lists one of them under its own number, or if it lists
//! none of their ids in any campaign, as after somebody has removed them all by hand.

use std::collections::{BTreeMap, BTreeSet};

use tracing::warn;

use super::lookup::{first_page, listed_for, refused};
use super::target::Target;
use crate::api::{ListedLead, NotDone};
use crate::exit::{Failure, StoppedBy};
use crate::lead::{CampaignId, RowId};
use crate::ledger::UndoRow;
use crate::message::Message;
use crate::pipeline::Stopped;
use crate::report::stopped_failure;

/// What the service's lists say of the leads of a run.
struct Evidence<'a> {
    by_id: BTreeMap<&'a str, &'a UndoRow>,
    /// Whether one is listed under its own number.
    is_ours: bool,
    /// Rows whose ids are listed with another number or in another campaign.
    others: BTreeSet<RowId>,
    /// Whether one is listed without a number.
    is_unclear: bool,
}

impl Evidence<'_> {
    fn is_empty(&self) -> bool {
        !self.is_ours && self.others.is_empty() && !self.is_unclear
    }

    fn add(&mut self, listed: &[ListedLead]) {
        for lead in listed {
            let Some(row) = self.by_id.get(lead.id.as_str()) else {
                continue;
            };
            if lead.campaign.is_some_and(|of| of != row.campaign) {
                self.others.insert(row.row);
            } else if lead.has_number(row.number) {
                self.is_ours = true;
            } else if lead.has_any_number() {
                self.others.insert(row.row);
            } else {
                self.is_unclear = true;
            }
        }
    }
}

/// Reads the list of leads, and makes sure that those that are to be removed are in the account of the
/// token. `plan` has all rows that undoing the run is about. Returns the rows whose leads were listed
/// with another number or campaign.
///
/// # Errors
///
/// [`StoppedBy::Usage`] if the leads may be somebody else's; what the service has against its lists
/// being read.
pub(super) async fn refuse_strangers(
    target: &Target,
    plan: &[UndoRow],
) -> Result<BTreeSet<RowId>, Failure> {
    let campaigns: BTreeSet<CampaignId> = plan.iter().map(|row| row.campaign).collect();
    target.refuse_other_account(&campaigns)?;
    let to_remove = plan.iter().filter(|row| row.outcome.is_none());
    let rows: Vec<&UndoRow> = to_remove.collect();
    let by_id = rows
        .iter()
        .filter_map(|row| Some((row.lead_id.as_deref()?, *row)));
    let mut evidence = Evidence {
        by_id: by_id.collect(),
        is_ours: false,
        others: BTreeSet::new(),
        is_unclear: false,
    };
    gather(target, &rows, &campaigns, &mut evidence)
        .await
        .map_err(|why| stopped_failure(&why))?;
    if rows.is_empty() || evidence.is_ours {
        return Ok(evidence.others);
    }
    if !evidence.others.is_empty() {
        return Err(target.other_account(
            "the service lists leads with the ids of this run, but with other numbers or in other campaigns",
        ));
    }
    if evidence.is_unclear {
        return Err(unclear());
    }
    match campaigns.into_iter().find(|id| target.has_another_name(*id)) {
        Some(campaign) => Err(target.other_account(&format!(
            "campaign {campaign} had another name when the run was sent, and the service lists none of its leads"
        ))),
        None => Ok(BTreeSet::new()),
    }
}

/// Reads the list of each campaign once, and looks single leads up until one is ours.
async fn gather(
    target: &Target,
    rows: &[&UndoRow],
    campaigns: &BTreeSet<CampaignId>,
    evidence: &mut Evidence<'_>,
) -> Result<(), Stopped> {
    let calls = &target.calls;
    for campaign in campaigns {
        evidence.add(&first_page(calls, *campaign).await?);
    }
    for row in samples(rows) {
        if evidence.is_ours {
            return Ok(());
        }
        let has_its_id = |lead: &ListedLead| Some(&lead.id) == row.lead_id.as_ref();
        let found = listed_for(calls, row.campaign, Some(row.number), has_its_id).await?;
        evidence.add(&or_none(found)?);
    }
    if !rows.is_empty() && evidence.is_empty() {
        search(target, evidence).await?;
    }
    Ok(())
}

/// Reads all that the account has, until one of these ids is found.
async fn search(target: &Target, evidence: &mut Evidence<'_>) -> Result<(), Stopped> {
    warn!(
        event = "warning",
        "the service does not list these leads under their numbers: looking for them in the lists of all campaigns"
    );
    let all = target.campaigns.iter();
    for campaign in all.filter_map(|campaign| campaign.lead_campaign().ok()) {
        let is_meant = |lead: &ListedLead| evidence.by_id.contains_key(lead.id.as_str());
        let found = listed_for(&target.calls, campaign, None, is_meant).await?;
        evidence.add(&or_none(found)?);
        if !evidence.is_empty() {
            return Ok(());
        }
    }
    warn!(
        event = "warning",
        "the service lists none of these leads: if nobody has removed them by hand, the token may be that of another account"
    );
    Ok(())
}

/// A list that is not there, in a service that has such lists, is an empty one.
fn or_none(listed: Result<Vec<ListedLead>, NotDone>) -> Result<Vec<ListedLead>, Stopped> {
    match listed {
        Err(NotDone::NotFound { .. } | NotDone::NotOffered { .. }) => Ok(Vec::new()),
        listed => listed.map_err(refused),
    }
}

/// The first, a middle and the last row.
fn samples<'a>(rows: &[&'a UndoRow]) -> Vec<&'a UndoRow> {
    let at = BTreeSet::from([0, rows.len() / 2, rows.len().saturating_sub(1)]);
    at.into_iter()
        .filter_map(|at| rows.get(at).copied())
        .collect()
}

fn unclear() -> Failure {
    let message = Message::new(
        "the service lists the leads without their numbers, so they may be another account's; nothing was removed",
        "remove them in the service's own screens: `leadload runs export` lists them with their ids",
    );
    let on_page = message.on_page(
        "The service lists these leads without their phone numbers, so they may be somebody else's. Nothing was removed",
        "Remove them in the service's own screens. The results list them with their ids.",
    );
    Failure::new(StoppedBy::Usage, on_page)
}
