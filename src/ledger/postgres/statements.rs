//! The statements that write a group, and what each of them promises.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tokio_postgres::types::Type;

use super::claims::{claim_columns, holds};
use super::pace::{self, RESERVE, left_ms, micros};
use super::sender::{RENEW, Sender, millis};
use super::session::Session;
use crate::lead::{RowId, RunId, Status};
use crate::ledger::coding::{REMOVED, status_code};
use crate::ledger::column::Column;
use crate::ledger::record::{OUTCOME, each_of};
use crate::ledger::shared_pace::AHEAD;
use crate::ledger::store::Value;
use crate::ledger::{Group, Settlement, group, suppressed};

/// Claims rows under a lease that is under way. A row is left out if another one has the claim of
/// its number, is its lead or may be, and if it was claimed before. (`recall` says what the
/// `OFFSET` is for.)
const CLAIM: &str = "
WITH lease AS (
    SELECT id FROM leadload.senders WHERE id = $1 AND until > clock_timestamp() FOR SHARE
)
INSERT INTO leadload.sent (run, row, number, service, campaign, holds, holds_service, is_open,
    sender, file, line_offset, claimed_at)
SELECT $2, row, number, $3, campaign, $4, $5, true, lease.id, file, line_offset,
    to_timestamp($12 / 1000.0)
FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
    AS t (row, number, campaign, file, line_offset), lease
WHERE CAST($4 AS boolean) IS NULL OR NOT EXISTS (
    SELECT 1 FROM leadload.sent AS other
    WHERE other.number = t.number AND other.service = $3
        AND ($5 OR other.campaign = t.campaign)
        AND (other.holds OR other.status IN (0, 1, $11))
    OFFSET 0
)
ORDER BY number, campaign, row
ON CONFLICT DO NOTHING
RETURNING row";

/// Takes outcomes from anyone at any time. A lead that was created counts over a duplicate, and
/// both over all else, and what was removed again stays that until this process claims the row again; any
/// other outcome counts only if no other sender has claimed the row since.
/// (Sender 0: this process never heard whether it was granted the claim, and has not started it.)
/// The run stands beside each row: without statistics about a run the server would read all of it.
fn settle_sql() -> String {
    let set = each_of(&OUTCOME, |(Column { name, .. }, _)| {
        format!("{name} = t.{name}")
    });
    let names = each_of(&OUTCOME, |(column, _)| column.name.to_owned());
    let lists = each_of(OUTCOME.iter().zip(7..), |((column, _), place)| {
        format!("${place}::{}", column.kind.list().1)
    });
    format!(
        "UPDATE leadload.sent AS s SET is_open = false, {set}, claimed_at = NULL,
            holds = CASE WHEN t.status IN (0, 1, $4) THEN holds END,
            holds_service = CASE WHEN t.status IN (0, 1, $4) THEN holds_service END
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], {lists})
            AS t (run, row, sender, {names})
        WHERE s.run = t.run AND s.row = t.row AND CASE
            WHEN s.status = 0 OR s.status >= $6 AND NOT (s.is_open AND s.sender = ANY ($5)) THEN false
            WHEN t.status = 0 THEN true
            WHEN s.status = 1 THEN false
            WHEN t.status = 1 THEN true
            ELSE s.sender = t.sender OR t.sender = 0 AND s.sender = ANY ($5)
        END"
    )
}

/// A row that was sent before stays what it was; any other one is as if never claimed.
const RELEASE: &str = "
UPDATE leadload.sent SET is_open = false,
    holds = CASE WHEN status IN (0, 1, $4) THEN holds END,
    holds_service = CASE WHEN status IN (0, 1, $4) THEN holds_service END
WHERE run = $1 AND row = ANY($2) AND sender = ANY($3) AND is_open AND status IS NOT NULL";

const DROP: &str = "
DELETE FROM leadload.sent
WHERE run = $1 AND row = ANY($2) AND sender = ANY($3) AND is_open AND status IS NULL";

/// A run that continues counts from zero again; the higher counts of earlier starts stay until
/// it has passed them. If the run is not there, or the last group that this start has counted requests in,
/// the ledger was replaced by an older one: a division by zero then ends the transaction, so that nothing
/// of the group is written (`LedgerError::of_server`).
const PROGRESS: &str = "
WITH there AS (
    UPDATE leadload.runs SET reached = greatest(reached, $2),
        counts = CASE WHEN $3 >= counted THEN $4 ELSE counts END,
        counted = greatest(counted, $3)
    WHERE id = $1 AND EXISTS (
        SELECT 1 FROM leadload.starts WHERE run = $1 AND start = $5 AND committed >= $6
    )
    RETURNING 1
)
SELECT 1 / count(*) FROM there";

const UNCERTAIN: i64 = status_code(Status::Uncertain);

/// One statement of a group.
pub(super) struct Statement<'a> {
    pub(super) sql: Cow<'static, str>,
    pub(super) values: Vec<Value<'a>>,
    pub(super) answers: Answers,
}

/// What to read from a statement's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Nothing,
    /// Whether the lease was renewed.
    Renewal,
    Claims,
    News,
    Starts,
    Suppressed,
}

/// The statements of a group, in the order in which every process locks what it changes.
pub(super) fn statements<'a>(
    session: &Session,
    sender: &Sender,
    run: RunId,
    group: &'a Group,
) -> Vec<Statement<'a>> {
    let lease = session.place.lease;
    let (service, id) = (sender.service, sender.id());
    let mut all = Vec::new();
    let mut add = |answers, sql: Cow<'static, str>, values| {
        all.push(Statement {
            sql,
            values,
            answers,
        })
    };
    if sender.asked.is_older_than(lease / 4) {
        add(
            Answers::Renewal,
            RENEW.into(),
            vec![id.into(), millis(lease).into()],
        );
    }
    add(
        Answers::Nothing,
        PROGRESS.into(),
        progress(sender, run, group),
    );
    if !group.claims.is_empty() {
        add(Answers::Claims, CLAIM.into(), claim(sender, run, group));
    }
    if !group.settlements.is_empty() {
        add(
            Answers::Nothing,
            settle_sql().into(),
            settle(sender, run, &group.settlements),
        );
    }
    if !group.releases.is_empty() {
        let rows = || column(Type::INT8_ARRAY, &group.releases);
        let values = vec![run.into(), rows(), sender.all_ids(), UNCERTAIN.into()];
        add(Answers::Nothing, RELEASE.into(), values);
        add(
            Answers::Nothing,
            DROP.into(),
            vec![run.into(), rows(), sender.all_ids()],
        );
    }
    if !group.starts.is_empty() {
        add(
            Answers::Nothing,
            pace::COUNT.into(),
            count(sender, run, group),
        );
        add(
            Answers::Nothing,
            pace::FORGET_OLD.into(),
            vec![service.into()],
        );
    }
    for (sql, values) in group::changes(service, run, group) {
        add(Answers::Nothing, sql, values);
    }
    if let Some(pause) = group.pause {
        let values = [
            service.into(),
            left_ms(pause).into(),
            pause.http_status.into(),
        ];
        add(Answers::Nothing, pace::PAUSE.into(), values.into());
    }
    if let Some(own) = group.wants_starts {
        add(Answers::Nothing, pace::LOCK.into(), vec![service.into()]);
        let values = [service.into(), micros(own).into(), micros(AHEAD).into()];
        add(Answers::Starts, RESERVE.into(), values.into());
    }
    add(
        Answers::News,
        pace::NEWS.into(),
        vec![service.into(), id.into()],
    );
    if let Some(known) = group.suppressed_to {
        add(
            Answers::Suppressed,
            suppressed::AFTER.into(),
            vec![known.0.into()],
        );
    }
    all
}

/// A list of values.
pub(super) fn column<'a, T: Copy + Into<Value<'a>> + 'a>(
    of: Type,
    values: impl IntoIterator<Item = &'a T>,
) -> Value<'a> {
    Value::List(
        of,
        values.into_iter().map(|value| (*value).into()).collect(),
    )
}

fn progress<'a>(sender: &Sender, run: RunId, group: &Group) -> Vec<Value<'a>> {
    let reached = group.claims.iter().map(|claim| claim.row.0).max();
    vec![
        run.into(),
        reached.unwrap_or_default().into(),
        group.counts.total().into(),
        Value::json(&group.counts),
        sender.start.into(),
        sender.last_counted_group.into(),
    ]
}

fn claim<'a>(sender: &Sender, run: RunId, group: &Group) -> Vec<Value<'a>> {
    let (holds, holds_service) = holds(sender.terms.claims);
    let mut values = vec![
        sender.id().into(),
        run.into(),
        sender.service.into(),
        holds.into(),
        holds_service.into(),
    ];
    values.extend(claim_columns(&group.claims));
    values.extend([UNCERTAIN.into(), group.claimed_at_ms.into()]);
    values
}

fn settle<'a>(sender: &Sender, run: RunId, settlements: &'a [Settlement]) -> Vec<Value<'a>> {
    // Of several outcomes of one row the last one counts.
    let last = settlements
        .iter()
        .map(|settled| (settled.claim.row, settled));
    let last: BTreeMap<RowId, &Settlement> = last.collect();
    let of = |list: Type, read: &dyn Fn(&'a Settlement) -> Value<'a>| {
        Value::List(list, last.values().map(|settled| read(settled)).collect())
    };
    let mut values = vec![
        of(Type::INT8_ARRAY, &|_| run.into()),
        of(Type::INT8_ARRAY, &|settled| settled.claim.row.into()),
        of(Type::INT8_ARRAY, &|settled| settled.claim.sender.into()),
        UNCERTAIN.into(),
        sender.all_ids(),
        REMOVED.into(),
    ];
    values.extend(OUTCOME.iter().map(|(column, stored)| {
        let (list, _) = column.kind.list();
        of(list, &|settled| stored(&settled.outcome))
    }));
    values
}

/// Counts the group's requests, each by how many milliseconds ago it started.
fn count<'a>(sender: &Sender, run: RunId, group: &Group) -> Vec<Value<'a>> {
    let now = jiff::Timestamp::now().as_millisecond();
    let mut by_second: BTreeMap<i64, i64> = BTreeMap::new();
    for starts in &group.starts {
        // The least that it can be.
        let ago = (now - (starts.second + 1) * 1000).max(0);
        *by_second.entry(ago).or_default() += i64::from(starts.requests);
    }
    let (ago, requests) = by_second.into_iter().unzip();
    let list = |numbers: Vec<i64>| {
        let numbers = numbers.into_iter().map(Value::Int);
        Value::List(Type::INT8_ARRAY, numbers.collect())
    };
    vec![
        sender.service.into(),
        list(ago),
        run.into(),
        sender.start.into(),
        sender.group.into(),
        list(requests),
    ]
}
