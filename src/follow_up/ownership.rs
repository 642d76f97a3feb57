//! Whether the leads of a run are in the account that the token belongs to. Another account may have
//! leads with the same ids, in campaigns with the same ids.
//!
//! # Promise
//!
//! With the token that the run was sent with, the account is the run's, unless the service lists leads
//! with the run's ids and shows that they are others. With any other token, a lead of the run has to be
//! listed with its id, its number and its time, and so has each lead that is removed.

use std::collections::{BTreeMap, BTreeSet};

use super::lookup::{each_page, is_older, listed_for, refused, was_made_before};
use super::target::Target;
use crate::api::{LeadQuery, ListedLead, NotDone};
use crate::exit::Failure;
use crate::lead::{CampaignId, RowId};
use crate::ledger::UndoRow;
use crate::pipeline::Stopped;
use crate::report::stopped_failure;

/// What the service's lists say of the leads of a run.
struct Evidence<'a> {
    target: &'a Target,
    /// Several rows have one id if the leads are in several accounts.
    by_id: BTreeMap<&'a str, Vec<&'a UndoRow>>,
    /// Whether a lead of the run is listed.
    is_ours: bool,
    listed: ListedRows,
}

/// Rows whose ids were listed.
#[derive(Debug, Default)]
pub(super) struct ListedRows {
    pub(super) all: BTreeSet<RowId>,
    /// With another number or in another campaign.
    pub(super) others: BTreeSet<RowId>,
    /// With a time before the run.
    pub(super) older: BTreeSet<RowId>,
}

impl Evidence<'_> {
    /// Whether the leads may be removed, whatever else is listed.
    fn is_enough(&self) -> bool {
        self.is_ours || self.target.is_own_token && self.listed.others.is_empty()
    }

    fn add(&mut self, listed: &[ListedLead]) {
        for lead in listed {
            let Some(rows) = self.by_id.get(lead.id.as_str()) else {
                continue;
            };
            let ids = rows.iter().map(|row| row.row);
            self.listed.all.extend(ids.clone());
            if rows.iter().any(|row| is_lead_of(self.target, row, lead)) {
                match is_older(lead, &self.target.run) {
                    true => self.listed.older.extend(ids),
                    false => self.is_ours = true,
                }
                continue;
            }
            for row in rows {
                let is_elsewhere = lead.campaign.is_some_and(|of| of != row.campaign);
                let is_another = lead.has_any_number() && !lead.has_number(row.number);
                if is_elsewhere || is_another {
                    self.listed.others.insert(row.row);
                }
            }
        }
    }
}

/// Whether a listed lead with the id of a row is the one that the row has made.
pub(super) fn is_lead_of(target: &Target, row: &UndoRow, lead: &ListedLead) -> bool {
    let is_in_time = target.is_own_token || was_made_before(lead, row.made_at);
    is_in_time && lead.has_number(row.number) && lead.campaign.is_none_or(|of| of == row.campaign)
}

/// Reads the list of leads, and makes sure that those that are to be removed are in the account of the
/// token. `plan` has all rows that undoing the run is about. Returns those whose leads were listed.
///
/// # Errors
///
/// [`StoppedBy::Usage`](crate::exit::StoppedBy::Usage) if the leads may be somebody else's; what the
/// service has against its lists being read.
pub(super) async fn refuse_strangers(
    target: &Target,
    plan: &[UndoRow],
) -> Result<ListedRows, Failure> {
    let campaigns: BTreeSet<CampaignId> = plan.iter().map(|row| row.campaign).collect();
    target.refuse_other_account(&campaigns)?;
    let to_remove = plan.iter().filter(|row| row.outcome.is_none());
    let rows: Vec<&UndoRow> = to_remove.collect();
    let mut by_id: BTreeMap<&str, Vec<&UndoRow>> = BTreeMap::new();
    for row in &rows {
        if let Some(id) = &row.lead_id {
            by_id.entry(id).or_default().push(row);
        }
    }
    let mut evidence = Evidence {
        target,
        by_id,
        is_ours: false,
        listed: ListedRows::default(),
    };
    gather(&rows, &campaigns, &mut evidence)
        .await
        .map_err(|why| stopped_failure(&why))?;
    if rows.is_empty() || evidence.is_enough() {
        return Ok(evidence.listed);
    }
    Err(target.other_account(&match evidence.listed.others.is_empty() {
        false => "the service lists leads with the ids of this run, but with other numbers or in other campaigns".to_owned(),
        true => format!(
            "not all of run {} was surely sent with this token, and the service lists none of its leads with their numbers and times",
            target.run.run
        ),
    }))
}

/// Reads the list of each campaign, at most one page for each lead, then looks up single leads until
/// enough is known.
async fn gather(
    rows: &[&UndoRow],
    campaigns: &BTreeSet<CampaignId>,
    evidence: &mut Evidence<'_>,
) -> Result<(), Stopped> {
    let calls = &evidence.target.calls;
    for campaign in campaigns {
        let query = LeadQuery {
            campaign: *campaign,
            number: None,
        };
        let mut pages = 0;
        let take = |leads: Vec<ListedLead>| {
            evidence.add(&leads);
            pages += 1;
            pages < rows.len() && evidence.listed.all.len() < rows.len()
        };
        match each_page(calls, query, take).await? {
            Err(not_done) if pages == 0 => return Err(refused(not_done)),
            // What is not listed so far is looked up before it is removed.
            _ => {}
        }
    }
    for row in samples(rows) {
        if evidence.is_enough() {
            return Ok(());
        }
        let has_its_id = |lead: &ListedLead| Some(&lead.id) == row.lead_id.as_ref();
        match listed_for(calls, row.campaign, row.number, has_its_id).await? {
            Ok(found) => evidence.add(&found),
            // A list that is not there, in a service that has such lists, is an empty one.
            Err(NotDone::NotFound { .. } | NotDone::NotOffered { .. }) => {}
            Err(not_done) => return Err(refused(not_done)),
        }
    }
    Ok(())
}

/// The first, a middle and the last row.
fn samples<'a>(rows: &[&'a UndoRow]) -> Vec<&'a UndoRow> {
    let at = BTreeSet::from([0, rows.len() / 2, rows.len().saturating_sub(1)]);
    at.into_iter()
        .filter_map(|at| rows.get(at).copied())
        .collect()
}
