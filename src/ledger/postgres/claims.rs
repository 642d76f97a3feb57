//! Claims that are not simply granted: another row has the number, or the row was claimed before.
//!
//! [`decide`] is the protocol's one decision, and pure: the model checks this very function.

use std::collections::HashMap;

use tokio_postgres::types::Type;

use super::sender::Sender;
use super::statements::column;
use crate::lead::{RowId, RowOutcome, RunId, Status};
use crate::ledger::coding::line_offset;
use crate::ledger::record::{NO_ANSWER, OUTCOME, columns, each_of, of_open, without_answer};
use crate::ledger::row::Row;
use crate::ledger::store::{Failed, Sql, Value};
use crate::ledger::{Claim, ClaimScope, Known, Refusal, SenderId, SentRow};
use crate::phone::PhoneNumber;

/// Whether a row's claim is open though its sender cannot have a request on its way any more:
/// its lease and then its time-out have passed. `e` is the row's sender.
pub(super) const IS_EXPIRED: &str =
    "(s.is_open AND coalesce(e.until + e.timeout_ms * interval '1 ms' < clock_timestamp(), true))";

/// Joins each row of `sent AS s` with the sender that claimed it.
pub(super) const SENDER: &str = "LEFT JOIN leadload.senders AS e ON e.id = s.sender";

/// A row of the ledger that may be a reason to refuse a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompetingRow {
    pub(super) record: SentRow,
    /// Whether a request for it may be on its way, …
    pub(super) is_open: bool,
    /// … or cannot be any more, since its sender's lease and time-out have passed.
    pub(super) is_expired: bool,
    /// The sender that claimed it last.
    pub(super) sender: SenderId,
    /// Whether it has the claim of its number.
    pub(super) holds: bool,
}

/// What becomes of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    Grant {
        /// Open claims that became uncertain, since their senders cannot be sending any more.
        expired: Vec<(RunId, RowId)>,
        /// Rows of other runs that lose their claim.
        displaced: Vec<(RunId, RowId)>,
    },
    Refuse(Refusal),
}

/// Decides about a claim by all rows that the ledger has of its number.
///
/// `mine` are the leases of the process that claims: what is open under one of them is not on its
/// way, or it would not be claimed again.
pub(super) fn decide(
    claim: &Claim,
    scope: ClaimScope,
    run: RunId,
    mine: &[SenderId],
    found: &[&CompetingRow],
) -> Decision {
    let is_own = |row: &CompetingRow| row.key() == (run, claim.row);
    let own = found.iter().copied().find(|row| is_own(row));
    if let Some(refusal) = own.and_then(|own| refused_by_own(claim, mine, own)) {
        return Decision::Refuse(refusal);
    }
    let is_in_scope = |row: &&CompetingRow| match scope {
        ClaimScope::Row => false,
        ClaimScope::Campaign => row.record.campaign == claim.campaign,
        ClaimScope::Service => true,
    };
    let others = found.iter().copied().filter(|row| !is_own(row));
    let others: Vec<&CompetingRow> = others.filter(is_in_scope).collect();
    let (mut known, mut elsewhere) = (Known::default(), Known::default());
    for row in &others {
        if row.is_open && !row.is_expired {
            continue;
        }
        let record = SentRow {
            outcome: row.outcome(),
            ..row.record.clone()
        };
        known.add(&record);
        if record.campaign != claim.campaign {
            elsewhere.add(&record);
        }
    }
    if known.settled.is_some() {
        return Decision::Refuse(Refusal::Known(Box::new(known)));
    }
    if others
        .iter()
        .any(|row| row.is_open && !row.is_expired && row.holds)
    {
        return Decision::Refuse(Refusal::Busy);
    }
    // The service does not refuse a second lead in another campaign, so that is never resent.
    if elsewhere.uncertain.is_some() {
        known.uncertain = elsewhere.uncertain;
        return Decision::Refuse(Refusal::Known(Box::new(known)));
    }
    if known.uncertain.is_some() && !claim.resends {
        return Decision::Refuse(Refusal::Known(Box::new(known)));
    }
    let displaced = || others.iter().copied().filter(|row| row.holds);
    // What is open under a lease of this process was never started.
    let own = own.filter(|own| !mine.contains(&own.sender));
    let expired = displaced().chain(own).filter(|row| row.is_open);
    Decision::Grant {
        expired: expired.map(CompetingRow::key).collect(),
        displaced: displaced().map(CompetingRow::key).collect(),
    }
}

/// Why a row cannot be claimed because of its own record; `None` if it can.
fn refused_by_own(claim: &Claim, mine: &[SenderId], own: &CompetingRow) -> Option<Refusal> {
    let outcome = own.outcome();
    match outcome.status {
        _ if own.record.is_removed() && !own.is_open => None,
        Status::Created | Status::Duplicate => Some(Refusal::Own(outcome)),
        _ if mine.contains(&own.sender) => None,
        _ if own.is_open && !own.is_expired => Some(Refusal::Busy),
        Status::Uncertain if !claim.resends => Some(Refusal::Own(outcome)),
        _ => None,
    }
}

impl CompetingRow {
    fn key(&self) -> (RunId, RowId) {
        (self.record.run, self.record.row)
    }

    /// Its outcome; an open claim that has expired is uncertain.
    fn outcome(&self) -> RowOutcome {
        if self.is_open {
            without_answer(self.record.outcome.attempts, NO_ANSWER)
        } else {
            self.record.outcome.clone()
        }
    }
}

/// All rows of the numbers that are claimed, and of the rows themselves.
const FOUND: &str = "s.service = $1 AND s.number = ANY($2) OR s.run = $3 AND s.row = ANY($4)";

/// Nobody changes these rows until the transaction ends. They are read afterwards, by a statement
/// of its own: where this one has waited, it sees new versions of rows beside old senders.
fn lock_found() -> String {
    format!(
        "SELECT 1 FROM leadload.sent AS s WHERE {FOUND}
        ORDER BY s.number, s.campaign, s.run, s.row FOR UPDATE"
    )
}

fn find() -> String {
    format!(
        "SELECT {}, s.is_open, {IS_EXPIRED} AS is_expired, s.sender, s.holds IS NOT NULL AS holds
        FROM leadload.sent AS s {SENDER} WHERE {FOUND}",
        columns("s.")
    )
}

/// The lease, which is kept from being taken over until the transaction ends.
const HOLD_LEASE: &str = "
SELECT 1 FROM leadload.senders WHERE id = $1 AND until > clock_timestamp() FOR SHARE";

/// When a row was claimed, which is what is on record of its attempts while the claim is open; and the
/// end of its lease, after which none was made: one whose lease is forgotten has lost it more than an
/// hour ago. In milliseconds since 1970, of a row with the name `of` and its sender `e`.
pub(super) fn attempt_times(of: &str) -> [String; 2] {
    let millis = |time: &str| format!("(extract(epoch FROM {time}) * 1000)::bigint");
    let ended = format!(
        "greatest({of}.claimed_at, coalesce(e.until, clock_timestamp() - interval '1 hour'))"
    );
    [millis(&format!("{of}.claimed_at")), millis(&ended)]
}

/// When the rows `from`, `AS x`, were claimed, as it is recorded of their attempts.
pub(super) fn attempts_of_open(from: &str) -> String {
    let [claimed, ended] = attempt_times("x");
    format!(
        "SELECT x.run, x.row, {claimed} AS first_ms, {claimed} AS last_ms, {ended} AS ended_ms
        FROM {from} AS x LEFT JOIN leadload.senders AS e ON e.id = x.sender
        WHERE x.claimed_at IS NOT NULL"
    )
}

/// The open claims of these rows of `sent AS s` become uncertain: a request may have
/// been taken, and that stays known even if another claim is released.
pub(super) fn expire(rows: &str) -> String {
    let uncertain = each_of(&OUTCOME, |(column, _)| {
        format!("{} = {}", column.name, of_open(column.name, NO_ANSWER))
    });
    let attempts = attempts_of_open("expired");
    format!(
        "WITH expired AS (
            UPDATE leadload.sent AS s SET is_open = false, {uncertain}
            {rows}
            RETURNING s.run, s.row, s.claimed_at, s.sender
        )
        INSERT INTO leadload.attempts (run, row, first_ms, last_ms, ended_ms)
        {attempts}
        ON CONFLICT (run, row, first_ms) DO UPDATE
        SET ended_ms = greatest(attempts.ended_ms, excluded.ended_ms)"
    )
}

/// Rows by the first two parameters: their runs and their rows in them.
const GIVEN: &str = "FROM unnest($1::bigint[], $2::bigint[]) AS t (run, row)
WHERE s.run = t.run AND s.row = t.row";

const DISPLACE: &str = "UPDATE leadload.sent AS s SET holds = NULL, holds_service = NULL";

/// Claims a row whose number no other row has.
const TAKE: &str = "
INSERT INTO leadload.sent (run, row, number, service, campaign, holds, holds_service, is_open,
    sender, file, line_offset, claimed_at)
SELECT $1, row, number, $2, campaign, $3, $4, true, $5, file, line_offset,
    to_timestamp($11 / 1000.0)
FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
    AS t (row, number, campaign, file, line_offset)
ON CONFLICT (run, row) DO UPDATE
SET holds = excluded.holds, holds_service = excluded.holds_service, is_open = true,
    sender = excluded.sender, number = excluded.number, campaign = excluded.campaign,
    claimed_at = excluded.claimed_at";

/// What a claim writes into `holds` and `holds_service`.
pub(super) fn holds(scope: ClaimScope) -> (Option<bool>, Option<bool>) {
    match scope {
        ClaimScope::Campaign => (Some(true), None),
        ClaimScope::Service => (Some(true), Some(true)),
        ClaimScope::Row => (None, None),
    }
}

/// The rows, numbers, campaigns, files and line offsets of claims, each as a list. Sorted by what is
/// claimed, so that two processes never wait for each other.
pub(super) fn claim_columns<'a>(claims: &[Claim]) -> [Value<'a>; 5] {
    let mut sorted: Vec<&Claim> = claims.iter().collect();
    sorted.sort_unstable_by_key(|claim| (claim.number, claim.campaign.0, claim.row));
    let column = |read: fn(&Claim) -> Value<'static>| {
        Value::List(
            Type::INT8_ARRAY,
            sorted.iter().map(|claim| read(claim)).collect(),
        )
    };
    [
        column(|claim| claim.row.into()),
        column(|claim| claim.number.into()),
        column(|claim| claim.campaign.into()),
        column(|claim| claim.file.into()),
        column(|claim| line_offset(claim.row, claim.line).into()),
    ]
}

/// What came of claims that were looked at one by one; `None` if the lease has run out.
pub(super) type Resolved = Option<Vec<(RowId, Refusal)>>;

/// Decides about claims that were not simply granted, within a transaction.
pub(super) fn resolve(
    sql: &mut dyn Sql,
    sender: &Sender,
    claims: &[Claim],
    claimed_at_ms: i64,
) -> Result<Resolved, Failed> {
    let lease = sender.id();
    if sql.change(HOLD_LEASE, &[lease.into()])? == 0 {
        return Ok(None);
    }
    let [rows, numbers, ..] = claim_columns(claims);
    let values = [sender.service.into(), numbers, sender.run.into(), rows];
    sql.change(&lock_found(), &values)?;
    let found = sql.rows(&find(), &values, competing_row)?;
    let decided = decide_all(sender, claims, &found);
    update_given(sql, &expire(GIVEN), &decided.expired)?;
    update_given(sql, &format!("{DISPLACE} {GIVEN}"), &decided.displaced)?;
    take(sql, sender, &decided.granted, claimed_at_ms)?;
    Ok(Some(decided.refused))
}

/// What becomes of several claims.
#[derive(Debug, Default)]
struct Decisions {
    granted: Vec<Claim>,
    refused: Vec<(RowId, Refusal)>,
    expired: Vec<(RunId, RowId)>,
    displaced: Vec<(RunId, RowId)>,
}

/// Decides about each claim by what was found of its number and its row.
fn decide_all(sender: &Sender, claims: &[Claim], found: &[CompetingRow]) -> Decisions {
    let mut by_number: HashMap<PhoneNumber, Vec<&CompetingRow>> = HashMap::new();
    let mut own_rows: HashMap<RowId, &CompetingRow> = HashMap::new();
    for row in found {
        by_number.entry(row.record.number).or_default().push(row);
        if row.record.run == sender.run {
            own_rows.insert(row.record.row, row);
        }
    }
    let scope = sender.terms.claims;
    let mut decided = Decisions::default();
    for claim in claims {
        let of_number = by_number.get(&claim.number).into_iter().flatten();
        // A row whose cell was corrected may have been claimed with another number.
        let own = own_rows.get(&claim.row);
        let own = own.filter(|row| row.record.number != claim.number);
        let of_claim: Vec<&CompetingRow> = of_number.chain(own).copied().collect();
        match decide(claim, scope, sender.run, &sender.leases, &of_claim) {
            Decision::Grant { expired, displaced } => {
                decided.granted.push(*claim);
                decided.expired.extend(expired);
                decided.displaced.extend(displaced);
            }
            Decision::Refuse(refusal) => decided.refused.push((claim.row, refusal)),
        }
    }
    decided
}

fn competing_row(row: &Row<'_>) -> Result<CompetingRow, Failed> {
    let sender: Option<i64> = row.get("sender")?;
    Ok(CompetingRow {
        record: SentRow::read(row)?,
        is_open: row.get("is_open")?,
        is_expired: row.get("is_expired")?,
        sender: SenderId(sender.unwrap_or_default()),
        holds: row.get("holds")?,
    })
}

fn update_given(sql: &mut dyn Sql, update: &str, keys: &[(RunId, RowId)]) -> Result<(), Failed> {
    if keys.is_empty() {
        return Ok(());
    }
    let (runs, rows): (Vec<RunId>, Vec<RowId>) = keys.iter().copied().unzip();
    let values = [
        column(Type::INT8_ARRAY, &runs),
        column(Type::INT8_ARRAY, &rows),
    ];
    sql.change(update, &values).map(drop)
}

fn take(
    sql: &mut dyn Sql,
    sender: &Sender,
    claims: &[Claim],
    claimed_at_ms: i64,
) -> Result<(), Failed> {
    if claims.is_empty() {
        return Ok(());
    }
    let (holds, holds_service) = holds(sender.terms.claims);
    let mut values = vec![
        sender.run.into(),
        sender.service.into(),
        holds.into(),
        holds_service.into(),
        sender.id().into(),
    ];
    values.extend(claim_columns(claims));
    values.push(claimed_at_ms.into());
    sql.change(TAKE, &values).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::CampaignId;
    use crate::ledger::sqlite::samples::{claim, uncertain};

    #[test]
    fn a_row_in_another_campaign_that_may_be_a_lead_is_in_the_way_whatever_came_later() {
        let claim = Claim {
            resends: true,
            ..claim(1)
        };
        let of = |run: u64, campaign: CampaignId| CompetingRow {
            record: SentRow {
                run: RunId(run),
                row: RowId(1),
                campaign,
                number: claim.number,
                file: 0,
                line: 2,
                outcome: uncertain(),
            },
            is_open: false,
            is_expired: false,
            sender: SenderId::default(),
            holds: true,
        };
        let decided = |found: &[&CompetingRow]| {
            let run = RunId(3);
            decide(&claim, ClaimScope::Service, run, &[], found)
        };
        let elsewhere = of(1, CampaignId(claim.campaign.0 + 1));
        let later = of(2, claim.campaign);
        let Decision::Refuse(Refusal::Known(known)) = decided(&[&elsewhere, &later]) else {
            panic!("it is granted");
        };
        assert_eq!(known.uncertain.unwrap().run, RunId(1));
        assert!(matches!(decided(&[&later]), Decision::Grant { .. }));
    }
}
