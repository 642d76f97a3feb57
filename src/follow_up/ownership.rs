//! Whether the leads of a run are in the account that the token belongs to. Another account may have
//! leads with the same ids, in campaigns with the same ids.
//!
//! # Promise
//!
//! With the token that the run was sent with, the account is the run's, unless the service lists leads
//! with the run's ids and shows that they are others. With any other token, a lead of the run has to be
//! listed with its id, its number and its time, and so has each lead that is removed.
//!
//! A service may answer with the lead that it has when it is asked for one that exists. So each lead is
//! looked up that was not listed: a few of them at first, and if one is older than the run all of them, so
//! that it is known how many there are before anything is removed; else each before it is removed.
//!
//! When the run began is on record by the clock that this computer had then, and how far the service's was
//! ahead of that. Where it is not, since an older version has sent the run, or the service did not say the
//! time: no lead is made after its answer, so if one is listed as later than that, the clock was behind then,
//! and the run began by as much later than it says.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use super::lookup::{each_page, is_older, later_than, listed_for, refused, was_made_before};
use super::target::Target;
use crate::api::{CallError, CreatedAt, LeadQuery, ListedLead};
use crate::exit::Failure;
use crate::lead::{CampaignId, RowId};
use crate::ledger::UndoRow;
use crate::pipeline::AT_ONCE;
use crate::report::stopped_failure;
use crate::signals::Interrupts;
use crate::stop::Stop;

/// How many leads are looked up at first, of those that were not listed.
const SAMPLES: usize = 10;

/// What the service's lists say of leads of a run.
pub(super) struct Evidence<'a> {
    target: &'a Target,
    /// Several rows have one id if the leads are in several accounts.
    by_id: BTreeMap<&'a str, Vec<&'a UndoRow>>,
    seen: Vec<Seen<'a>>,
    listed: ListedRows,
}

/// A lead that is listed with the id of a row.
struct Seen<'a> {
    row: &'a UndoRow,
    made: Option<CreatedAt>,
    /// Whether it is the one that the row has made, if it is not older.
    is_own: bool,
}

/// Rows whose ids were listed.
#[derive(Debug, Default)]
pub(super) struct ListedRows {
    pub(super) all: BTreeSet<RowId>,
    /// With another number or in another campaign.
    pub(super) others: BTreeSet<RowId>,
    /// With a time before this run can have made them.
    pub(super) older: BTreeSet<RowId>,
    /// Without a time, or with one without a zone, so that it is not known whether they are older.
    pub(super) undated: BTreeSet<RowId>,
    /// By how much a lead is listed as later than its answer, at most.
    pub(super) later: SignedDuration,
}

impl<'a> Evidence<'a> {
    /// None yet, but by how much others are `later` than their answers.
    pub(super) fn none(
        target: &'a Target,
        rows: impl IntoIterator<Item = &'a UndoRow>,
        later: SignedDuration,
    ) -> Evidence<'a> {
        let mut by_id: BTreeMap<&str, Vec<&UndoRow>> = BTreeMap::new();
        for row in rows {
            if let Some(id) = &row.lead_id {
                by_id.entry(id).or_default().push(row);
            }
        }
        Evidence {
            target,
            by_id,
            seen: Vec::new(),
            listed: ListedRows {
                later,
                ..ListedRows::default()
            },
        }
    }

    /// Whether the leads may be removed, whatever else is listed.
    fn is_enough(&self) -> bool {
        self.is_ours() || self.target.is_own_token && self.listed.others.is_empty()
    }

    /// Whether a lead of the run is listed.
    pub(super) fn is_ours(&self) -> bool {
        self.seen
            .iter()
            .any(|seen| seen.is_own && !self.is_older(seen))
    }

    fn has_older(&self) -> bool {
        self.seen.iter().any(|seen| self.is_older(seen))
    }

    /// What is listed, once all is added.
    pub(super) fn listed(mut self) -> ListedRows {
        let older = self.seen.iter().filter(|seen| self.is_older(seen));
        self.listed.older = older.map(|seen| seen.row.row).collect();
        self.listed
    }

    fn is_older(&self, seen: &Seen<'_>) -> bool {
        let run = &self.target.run;
        seen.made.is_some_and(|made| {
            let ahead = run.ahead_s.map(SignedDuration::from_secs);
            let then = ahead.map(|ahead| made.with_clock(ahead));
            let later = if then.is_some() {
                SignedDuration::ZERO
            } else {
                self.listed.later
            };
            let began = run.began_at.saturating_add(later).unwrap_or(run.began_at);
            is_older(made, then, began, run.timeout(), seen.row)
        })
    }

    pub(super) fn add(&mut self, listed: &[ListedLead]) {
        for lead in listed {
            let Some(rows) = self.by_id.get(lead.id.as_str()) else {
                continue;
            };
            let ids = rows.iter().map(|row| row.row);
            self.listed.all.extend(ids.clone());
            if !lead.made.is_some_and(|made| made.has_zone) {
                self.listed.undated.extend(ids);
            }
            let own = rows.iter().find(|row| is_lead_of(self.target, row, lead));
            self.seen.extend(rows.iter().map(|row| Seen {
                row,
                made: lead.made,
                is_own: own.is_some_and(|own| own.row == row.row),
            }));
            let is_another = |row: &UndoRow| {
                let is_elsewhere = lead.campaign.is_some_and(|of| of != row.campaign);
                is_elsewhere || lead.has_any_number() && !lead.may_have_number(row.number)
            };
            let meant = match &rows[..] {
                [row] if !is_another(row) => Some(row),
                _ => own,
            };
            if let Some(row) = meant {
                let later = later_than(lead, row.made_at).unwrap_or_default();
                self.listed.later = self.listed.later.max(later);
            }
            if own.is_none() {
                let others = rows.iter().filter(|row| is_another(row));
                self.listed.others.extend(others.map(|row| row.row));
            }
        }
    }
}

/// Whether a listed lead with the id of a row is the one that the row has made.
fn is_lead_of(target: &Target, row: &UndoRow, lead: &ListedLead) -> bool {
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
    let evidence = gather(target, &rows, &campaigns)
        .await
        .map_err(|why| stopped_failure(&why))?;
    let is_enough = rows.is_empty() || evidence.is_enough();
    let listed = evidence.listed();
    if is_enough {
        return Ok(listed);
    }
    Err(target.other_account(&match listed.others.is_empty() {
        false => "the service lists leads with the ids of this run, but with other numbers or in other campaigns".to_owned(),
        true => format!(
            "not all of run {} was surely sent with this token, and the service lists none of its leads with their numbers and times",
            target.run.run
        ),
    }))
}

/// Reads the list of each campaign, at most one page for each lead, then looks up some of the leads that
/// were not listed; all of them if one is older than the run.
async fn gather<'a>(
    target: &'a Target,
    rows: &[&'a UndoRow],
    campaigns: &BTreeSet<CampaignId>,
) -> Result<Evidence<'a>, Stop> {
    let mut evidence = Evidence::none(target, rows.iter().copied(), SignedDuration::ZERO);
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
        match each_page(&target.client, query, take).await? {
            Err(not_done) if pages == 0 => return Err(refused(not_done)),
            // What is not listed so far is looked up before it is removed.
            _ => {}
        }
    }
    let is_unlisted = |row: &&UndoRow| !evidence.listed.all.contains(&row.row);
    let unlisted: Vec<&UndoRow> = rows.iter().copied().filter(is_unlisted).collect();
    let evidence = RefCell::new(evidence);
    look_up_all(samples(&unlisted), &evidence).await?;
    if evidence.borrow().has_older() {
        let looked_up: BTreeSet<RowId> = samples(&unlisted).map(|row| row.row).collect();
        let others = unlisted.iter().copied();
        let others = others.filter(|row| !looked_up.contains(&row.row));
        look_up_all(others, &evidence).await?;
    }
    Ok(evidence.into_inner())
}

async fn look_up_all<'a>(
    rows: impl Iterator<Item = &'a UndoRow>,
    evidence: &RefCell<Evidence<'a>>,
) -> Result<(), Stop> {
    let target = evidence.borrow().target;
    let looking = rows.map(|row| async move {
        match look_up(target, row).await? {
            Ok(found) => evidence.borrow_mut().add(&found),
            // It is looked up once more before it is removed.
            Err(_) if target.is_own_token => {}
            Err(not_done) => return Err(refused(not_done)),
        }
        Ok(())
    });
    let nobody = Interrupts::none();
    let stopped = target.client.make_all(looking, AT_ONCE, nobody, |_| ());
    stopped.await.map_or(Ok(()), Err)
}

/// The leads with the id of a row, as its campaign lists them for its number. A list that is not there, in
/// a service that has such lists, is an empty one.
pub(super) async fn look_up(
    target: &Target,
    row: &UndoRow,
) -> Result<Result<Vec<ListedLead>, CallError>, Stop> {
    let has_its_id = |lead: &ListedLead| Some(&lead.id) == row.lead_id.as_ref();
    let found = listed_for(&target.client, row.campaign, row.number, has_its_id).await?;
    Ok(match found {
        Err(CallError::NotFound { .. } | CallError::NotOffered { .. }) => Ok(Vec::new()),
        found => found,
    })
}

/// Some rows, from the first to the last.
fn samples<'a>(rows: &[&'a UndoRow]) -> impl Iterator<Item = &'a UndoRow> {
    let last = rows.len().saturating_sub(1);
    let at: BTreeSet<usize> = (0..SAMPLES).map(|nth| nth * last / (SAMPLES - 1)).collect();
    at.into_iter().filter_map(move |at| rows.get(at).copied())
}
