//! Looks the rows of a run up in the service's list of leads of which it is not known whether they are
//! leads, or which.
//!
//! # Promise
//!
//! A lead is `created` only if its time lies between the first attempt that a start of the run has made at the
//! row and the last one on record, plus the time-out on record. Any other is a duplicate, since undoing the run
//! would remove it: one that may be older, and one that somebody has made while the run was stopped. And a row counts as
//! not taken only if the list has had time to show its lead, shows another lead of the run, and the service
//! would refuse a second one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::lookup::{SLOWEST, later_than, leads_with, refused, was_made_before};
use super::target::Target;
use crate::api::{CallError, ListedLead};
use crate::clock;
use crate::exit::{ExitCode, Failure};
use crate::lead::{CampaignId, Counts, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::ledger::{Attempted, LeadAt, Ledger, SEVERAL_TOKENS, SentRow};
use crate::message::{Template, Text};
use crate::pipeline::AT_ONCE;
use crate::report::stopped_failure;
use crate::signals::Interrupts;
use crate::stop::Stop;

/// How long the list may take to show a lead.
const LATE: SignedDuration = SignedDuration::from_mins(10);

/// How looking the rows of a run up has ended.
#[derive(Debug)]
pub struct Reconciled {
    pub run: RunId,
    /// The rows that were to be looked up, as they are now.
    pub counts: Counts,
    /// How many of them were looked up.
    pub looked_up: u64,
    /// Duplicates among them that still have no id.
    pub without_id: u64,
    /// What was found.
    pub(super) found: BTreeMap<RowId, RowOutcome>,
    /// Those that cannot be decided.
    pub undecided: Undecided,
    pub requests: u64,
    /// From when on rows that were not found may be found to be not taken; `None` if that would
    /// change nothing.
    pub again_at: Option<Timestamp>,
    pub stopped: Option<Failure>,
}

/// Rows that stay uncertain for another reason than that the list may be late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Undecided {
    /// The service has not answered.
    pub unanswered: u64,
    /// A killed process sent them so recently that their requests may still arrive.
    pub on_their_way: u64,
    /// The run allows duplicates, so the service would take a second lead.
    pub may_be_twice: u64,
    /// The run was sent with several tokens, so their leads may be in another account.
    pub elsewhere: u64,
    /// The ledger does not know when they were sent.
    pub time_unknown: u64,
    /// The list does not show the lead of the run that was looked for in the campaign.
    pub none_listed: u64,
    /// A lead is listed that may have the row's number: it ends like it.
    pub number_unclear: u64,
}

impl Undecided {
    /// The service has answered, but not listed them.
    pub fn not_listed(&self) -> u64 {
        self.may_be_twice
            + self.elsewhere
            + self.time_unknown
            + self.none_listed
            + self.number_unclear
    }
}

impl Reconciled {
    pub fn exit_code(&self) -> ExitCode {
        let open = [Status::Uncertain, Status::Failed].map(|status| self.counts.of(status));
        let open = open.iter().sum::<u64>() + self.without_id;
        match &self.stopped {
            Some(failure) => failure.stopped_by.exit_code(),
            None if open == 0 => ExitCode::Complete,
            None => ExitCode::Problems,
        }
    }
}

/// Looks up all rows whose lead is uncertain or has no id. Calls `done` after each row with the number
/// of rows looked up and their total. A dry run records nothing.
///
/// The first interrupt lets nothing more start, a second one ends at once.
pub async fn reconcile(
    target: &Target,
    interrupts: Interrupts,
    mut done: impl FnMut(u64, u64),
) -> Result<Reconciled, Failure> {
    let run = target.run.run;
    let ledger = &target.client.ledger;
    let rows = ledger
        .with(move |ledger| ledger.rows_to_look_up(run))
        .await?;
    let made = ledger.with(move |ledger| ledger.leads_made(run)).await?;
    let campaigns: BTreeSet<CampaignId> = rows.iter().map(|(row, _)| row.campaign).collect();
    target.refuse_other_account(&campaigns)?;
    let mut counts = Counts::default();
    for (row, _) in &rows {
        counts.add(row.outcome.status);
    }
    (0..target.on_their_way).for_each(|_| counts.add(Status::Uncertain));
    let without_id = counts.of(Status::Duplicate);
    let work = Work {
        allows_duplicates: allows_duplicates(target),
        made: made.into_iter().map(|lead| (lead.campaign, lead)).collect(),
        shown: RefCell::default(),
        found: RefCell::new(Found {
            counts,
            without_id,
            undecided: Undecided {
                on_their_way: target.on_their_way,
                ..Undecided::default()
            },
            ..Found::default()
        }),
        target,
    };
    // Two rows of one number must not be given the same lead.
    let at_once = if work.allows_duplicates { 1 } else { AT_ONCE };
    let total = rows.len() as u64;
    let looking = rows
        .into_iter()
        .map(|(row, attempted)| work.settle(row, attempted));
    let client = &target.client;
    let stopped = client
        .make_all(looking, at_once, interrupts, |count| done(count, total))
        .await;
    let found = work.found.into_inner();
    Ok(Reconciled {
        run,
        counts: found.counts,
        looked_up: found.looked_up,
        without_id: found.without_id,
        found: found.outcomes,
        undecided: found.undecided,
        requests: target.client.requests(),
        again_at: found.again_at,
        stopped: stopped.as_ref().map(stopped_failure),
    })
}

/// Whether the service takes a second lead for a number; also if that is not known any more.
fn allows_duplicates(target: &Target) -> bool {
    let options = target.run.options.as_ref();
    options.is_none_or(|options| options.get("allow_duplicates") == Some(&true.into()))
}

#[derive(Debug, Default)]
struct Found {
    /// All rows, as they are now.
    counts: Counts,
    looked_up: u64,
    without_id: u64,
    outcomes: BTreeMap<RowId, RowOutcome>,
    undecided: Undecided,
    again_at: Option<Timestamp>,
}

struct Work<'a> {
    target: &'a Target,
    allows_duplicates: bool,
    /// A lead of each campaign that the run has made.
    made: BTreeMap<CampaignId, SentRow>,
    /// What the list says of that lead.
    shown: RefCell<BTreeMap<CampaignId, OwnLead>>,
    found: RefCell<Found>,
}

/// What the list says of a lead that the run has made.
#[derive(Debug, Clone, Copy, Default)]
struct OwnLead {
    is_listed: bool,
    /// Its time is later than its answer, so leads that are older than a row may seem younger.
    is_ahead: bool,
}

impl Work<'_> {
    /// Looks a row up, and records what is found.
    async fn settle(&self, row: SentRow, attempted: Vec<Attempted>) -> Result<(), Stop> {
        let client = &self.target.client;
        let number = row.number;
        let listed = leads_with(client, row.campaign, number).await?;
        let mut listed = match listed {
            Ok(listed) => listed,
            // The service has answered others.
            Err(CallError::NoAnswer { .. }) => {
                let mut found = self.found.borrow_mut();
                found.undecided.unanswered += 1;
                found.looked_up += 1;
                return Ok(());
            }
            Err(not_done) => return Err(refused(not_done)),
        };
        if self.target.is_dry_run {
            // The ledger does not know what was found for other rows.
            listed.retain(|lead| !self.is_found(&lead.id));
        }
        let known = client
            .ledger
            .with(move |ledger| ledger.leads_of(&[number]))
            .await?;
        let service = &self.target.run.service;
        let known: Vec<LeadAt> = known
            .into_iter()
            .filter(|lead| lead.service == *service)
            .collect();
        let timeout = self.target.run.timeout();
        let is_unclear = listed.iter().any(|lead| !lead.has_number(number));
        listed.retain(|lead| lead.has_number(number));
        let outcome = match judge(&row, &attempted, timeout, &listed, &known) {
            Some(outcome) => self.accepted(&row, outcome).await?,
            // The service has said itself that it has a lead.
            None if row.outcome.status == Status::Duplicate => None,
            None if is_unclear => {
                self.found.borrow_mut().undecided.number_unclear += 1;
                None
            }
            None => self.not_there(&row, &attempted).await?,
        };
        self.record(&row, outcome.as_ref());
        if let Some(outcome) = outcome.filter(|_| !self.target.is_dry_run) {
            let token = self.has_no_leads().then(|| self.target.token.clone());
            let settling = move |ledger: &mut Ledger| {
                if let Some(token) = token {
                    ledger.note_token(row.run, &token)?;
                }
                ledger.reconcile(&row, &outcome)
            };
            client.ledger.with(settling).await?;
        }
        Ok(())
    }

    fn is_found(&self, lead_id: &str) -> bool {
        let found = self.found.borrow();
        let mut ids = found.outcomes.values().map(|row| row.lead_id.as_deref());
        ids.any(|id| id == Some(lead_id))
    }

    fn record(&self, row: &SentRow, outcome: Option<&RowOutcome>) {
        let mut found = self.found.borrow_mut();
        found.looked_up += 1;
        let Some(outcome) = outcome else { return };
        let before = row.outcome.status;
        found.counts.change(before, outcome.status);
        found.without_id -= u64::from(before == Status::Duplicate);
        found.outcomes.insert(row.row, outcome.clone());
    }

    /// What is found counts only in the run's account, and only with times that can be trusted.
    async fn accepted(
        &self,
        row: &SentRow,
        outcome: RowOutcome,
    ) -> Result<Option<RowOutcome>, Stop> {
        let is_own = self.target.is_own_token || self.has_no_leads();
        if is_own && outcome.status != Status::Created {
            return Ok(Some(outcome));
        }
        let Some(shown) = self.own_lead(row.campaign).await? else {
            self.found.borrow_mut().undecided.unanswered += 1;
            return Ok(None);
        };
        if !is_own && !shown.is_listed {
            self.found.borrow_mut().undecided.none_listed += 1;
            return Ok(None);
        }
        Ok(Some(match shown.is_ahead {
            true => looked_up(
                row,
                Status::Duplicate,
                outcome.lead_id,
                PERHAPS_BEFORE.into(),
            ),
            false => outcome,
        }))
    }

    /// Whether no lead of the run is known, so that its account is not known either.
    fn has_no_leads(&self) -> bool {
        self.target.run.token.as_deref() == Some("")
    }

    /// What it means that the list does not show a lead; `None` if that may change.
    async fn not_there(
        &self,
        row: &SentRow,
        attempted: &[Attempted],
    ) -> Result<Option<RowOutcome>, Stop> {
        let undecided = |found: fn(&mut Undecided) -> &mut u64| {
            *found(&mut self.found.borrow_mut().undecided) += 1;
            Ok(None)
        };
        if self.allows_duplicates {
            return undecided(|rows| &mut rows.may_be_twice);
        }
        if self.target.run.token.as_deref() == Some(SEVERAL_TOKENS) {
            return undecided(|rows| &mut rows.elsewhere);
        }
        let over = attempted.iter().map(Attempted::surely_over).max();
        let Some(over) = over else {
            return undecided(|rows| &mut rows.time_unknown);
        };
        let due = over.saturating_add(LATE);
        let due = due.unwrap_or(Timestamp::MAX);
        if clock::now() < due {
            let mut found = self.found.borrow_mut();
            found.again_at = found.again_at.max(Some(due));
            return Ok(None);
        }
        match self.own_lead(row.campaign).await? {
            None => return undecided(|rows| &mut rows.unanswered),
            Some(shown) if !shown.is_listed => return undecided(|rows| &mut rows.none_listed),
            Some(_) => {}
        }
        let text = text!("the service does not list it, long after its last attempt");
        Ok(Some(RowOutcome {
            attempts: row.outcome.attempts,
            ..RowOutcome::not_sent(Status::Failed, Some(ErrorCode::AnswerLost), Some(text))
        }))
    }

    /// What the list says of a lead that the run has made in this campaign; `None` if the service does
    /// not answer.
    async fn own_lead(&self, campaign: CampaignId) -> Result<Option<OwnLead>, Stop> {
        if let Some(known) = self.shown.borrow().get(&campaign) {
            return Ok(Some(*known));
        }
        let mut own = OwnLead::default();
        if let Some(made) = self.made.get(&campaign) {
            let listed = leads_with(&self.target.client, campaign, made.number).await?;
            let Ok(listed) = listed else { return Ok(None) };
            let RowOutcome {
                lead_id,
                settled_at,
                ..
            } = &made.outcome;
            let mut listed = listed.iter();
            if let Some(lead) = listed.find(|lead| Some(&lead.id) == lead_id.as_ref()) {
                own.is_listed = self.target.is_own_token || was_made_before(lead, *settled_at);
                own.is_ahead = later_than(lead, *settled_at).is_some();
            }
        }
        self.shown.borrow_mut().insert(campaign, own);
        Ok(Some(own))
    }
}

const PERHAPS_BEFORE: Template = template!("perhaps made before the run");

/// What the listed leads of a row's number in its campaign say of the row; `None` if nothing.
/// A lead may be made until the `timeout` of the last attempt; if that is not on record, none is surely the
/// row's. `known` is what the ledger has of them.
fn judge(
    row: &SentRow,
    attempted: &[Attempted],
    timeout: Option<SignedDuration>,
    listed: &[ListedLead],
    known: &[LeadAt],
) -> Option<RowOutcome> {
    let holder = |lead: &ListedLead, is_meant: &dyn Fn(&SentRow) -> bool| {
        let mut known = known.iter().map(|known| &known.record);
        let holds = |by: &&SentRow| by.outcome.lead_id.as_ref() == Some(&lead.id) && is_meant(by);
        known.find(holds).map(|by| by.run)
    };
    // Another run may also have been told of a lead that it did not make. One that undo may have removed
    // is uncertain.
    let maker = |lead: &ListedLead| {
        holder(lead, &|by| {
            by.outcome.status != Status::Duplicate && may_have_made(by, lead, timeout)
        })
    };
    // The lead of another row of this run is that row's.
    let is_another_rows = |by: &SentRow| by.run == row.run && by.row != row.row;
    let listed = listed.iter();
    let listed = listed.filter(|lead| holder(lead, &is_another_rows).is_none());
    let listed: Vec<&ListedLead> = listed.collect();
    let when = |lead: &ListedLead| Made::of(lead, attempted, timeout);
    let is_own = |lead: &&ListedLead| when(lead) == Made::InTime && maker(lead).is_none();
    if let Some(lead) = listed.iter().copied().find(is_own) {
        let id = Some(lead.id.clone());
        return Some(looked_up(row, Status::Created, id, text!("made")));
    }
    let lead = listed.first()?;
    let why = match (maker(lead), when(lead)) {
        (Some(run), _) => text!("made by run {run}", run = run.0),
        (None, Made::Later) => text!("by its time, made after this row's last attempt"),
        (None, Made::Between) => text!("by its time, made while the run was stopped"),
        (None, _) => PERHAPS_BEFORE.into(),
    };
    let id = Some(lead.id.clone());
    Some(looked_up(row, Status::Duplicate, id, why))
}

/// Whether the row of another run may have made a lead that it was answered with. With a single request,
/// that was within the `timeout` before its answer, and a minute more: both runs are taken to have the same.
fn may_have_made(by: &SentRow, lead: &ListedLead, timeout: Option<SignedDuration>) -> bool {
    let made = lead.made.filter(|made| made.has_zone);
    let (Some(made), Some(answered), Some(timeout)) = (made, by.outcome.settled_at, timeout) else {
        return true;
    };
    by.outcome.attempts > 1 || answered.duration_since(made.at) - timeout <= SLOWEST
}

/// When a listed lead was made, beside the attempts on record of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    InTime,
    /// That is another lead, another clock, or another zone.
    Later,
    /// After one start had sent the row, and before another one did.
    Between,
    Unknown,
}

impl Made {
    fn of(lead: &ListedLead, attempted: &[Attempted], timeout: Option<SignedDuration>) -> Made {
        let (Some(made), Some(timeout)) = (lead.made.filter(|made| made.has_zone), timeout) else {
            return Made::Unknown;
        };
        let begun = attempted.iter().filter(|start| made.at > start.first);
        let begun: Vec<&Attempted> = begun.collect();
        let is_over = |start: &&Attempted| made.at.duration_since(start.last) >= timeout;
        match begun.len() {
            0 => Made::Unknown,
            _ if !begun.iter().all(is_over) => Made::InTime,
            all if all == attempted.len() => Made::Later,
            _ => Made::Between,
        }
    }
}

/// What becomes of a row whose lead was found.
fn looked_up(row: &SentRow, status: Status, lead_id: Option<String>, what: Text) -> RowOutcome {
    RowOutcome {
        lead_id,
        attempts: row.outcome.attempts,
        settled_at: row.outcome.settled_at.or(Some(clock::now())),
        ..RowOutcome::not_sent(
            status,
            Some(ErrorCode::AnswerLost),
            Some(text!(
                "the answer was lost; looked up at the service: {what}",
                what
            )),
        )
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::phone::PhoneNumber;

    fn record(run: u64, row: u64, status: Status, lead_id: Option<&str>) -> SentRow {
        SentRow {
            run: RunId(run),
            row: RowId(row),
            campaign: CampaignId(101),
            number: PhoneNumber::from_key(447_911_000_001).unwrap(),
            file: 0,
            line: row + 1,
            outcome: RowOutcome {
                lead_id: lead_id.map(str::to_owned),
                ..RowOutcome::not_sent(status, None, None)
            },
        }
    }

    #[test]
    fn a_lead_of_another_row_stays_that_rows_though_an_earlier_run_knows_its_id() {
        let at = Timestamp::UNIX_EPOCH;
        let attempted = [Attempted {
            first: at,
            last: at,
            ended: None,
        }];
        let listed = [ListedLead::made_at("a", Timestamp::from_second(1).unwrap())];
        let known = [
            record(3, 1, Status::Duplicate, Some("a")),
            record(7, 1, Status::Created, Some("a")),
        ];
        let known = known.map(|record| LeadAt {
            record,
            service: String::new(),
        });
        let row = record(7, 2, Status::Uncertain, None);
        assert_eq!(judge(&row, &attempted, Some(LATE), &listed, &known), None);
        // What an earlier run was told of is no other row's, …
        let found = judge(&row, &attempted, Some(LATE), &listed, &known[..1]).unwrap();
        assert_eq!(
            (found.status, found.lead_id.as_deref()),
            (Status::Created, Some("a"))
        );
        // … unless it may have made it, though undo may have removed it since.
        let known = [LeadAt {
            record: record(3, 1, Status::Uncertain, Some("a")),
            service: String::new(),
        }];
        let found = judge(&row, &attempted, Some(LATE), &listed, &known).unwrap();
        assert_eq!(
            (found.status, found.lead_id.as_deref()),
            (Status::Duplicate, Some("a"))
        );
    }

    proptest! {
        /// The rejects of a run went as another one, which was answered with the lead that there was.
        #[test]
        fn a_lead_from_before_another_run_that_was_told_of_it_is_the_rows_own(
            answered in 0..100_000_i64,
            attempts in 1..3_u32,
        ) {
            let at = |second| Timestamp::from_second(1_700_000_000 + second).unwrap();
            let attempted = [Attempted { first: at(0), last: at(0), ended: Some(at(60)) }];
            let mut other = record(8, 1, Status::Created, Some("a"));
            other.outcome.settled_at = Some(at(answered));
            other.outcome.attempts = attempts;
            let known = [LeadAt { record: other, service: String::new() }];
            let listed = [ListedLead::made_at("a", at(1))];
            let row = record(7, 1, Status::Uncertain, None);
            let found = judge(&row, &attempted, Some(SignedDuration::from_secs(60)), &listed, &known);
            let is_others = attempts > 1 || answered <= 121;
            let status = if is_others { Status::Duplicate } else { Status::Created };
            prop_assert_eq!(found.unwrap().status, status);
        }

        #[test]
        fn a_lead_is_created_only_before_an_attempt_on_record_has_timed_out(
            starts in prop::collection::vec((0..1_500_i64, 0..600_i64), 1..5),
            noticed in 0..400_000_i64,
            made in prop_oneof![-600..1_500_i64, -600..500_000_i64],
            timeout in prop::option::of(1..700_i64),
        ) {
            let at = |second| Timestamp::from_second(1_700_000_000 + second).unwrap();
            let attempted = starts.iter().map(|(first, longer)| Attempted {
                first: at(*first),
                last: at(first + longer),
                ended: Some(at(first + longer + noticed)),
            });
            let attempted: Vec<Attempted> = attempted.collect();
            let row = record(7, 1, Status::Uncertain, None);
            let listed = [ListedLead::made_at("a", at(made))];
            let within = timeout.map(SignedDuration::from_secs);
            let found = judge(&row, &attempted, within, &listed, &[]).unwrap();
            let is_own = timeout.is_some_and(|timeout| {
                starts.iter().any(|(first, longer)| made > *first && made < first + longer + timeout)
            });
            let status = if is_own { Status::Created } else { Status::Duplicate };
            prop_assert_eq!(found.status, status);
            prop_assert_eq!(found.lead_id.as_deref(), Some("a"));
        }
    }
}
