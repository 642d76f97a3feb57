//! The statements that write a group, and what each of them promises.

use std::collections::BTreeMap;

use tokio_postgres::types::{ToSql, Type};

use super::bad_rows::add_bad_rows;
use super::claims::{ClaimColumns, holds};
use super::pace::{self, RESERVE, learned, left_ms, micros};
use super::record::{storable, whole_seconds};
use super::sender::{RENEW, Sender, millis};
use super::session::{Session, Value};
use crate::lead::{RowId, RunId, Status};
use crate::ledger::coding::{REMOVED, status_code};
use crate::ledger::earlier::NOTE_TOKEN;
use crate::ledger::shared_pace::AHEAD;
use crate::ledger::suppressed;
use crate::ledger::{Attempted, Group, Settlement, TokenUsed};

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
    to_timestamp($12::bigint / 1000.0)
FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::integer[], $10::bigint[])
    AS t (row, number, campaign, file, line_offset), lease
WHERE $4 IS NULL OR NOT EXISTS (
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
const SETTLE: &str = "
UPDATE leadload.sent AS s SET is_open = false,
    holds = CASE WHEN t.status IN (0, 1, $10) THEN holds END,
    holds_service = CASE WHEN t.status IN (0, 1, $10) THEN holds_service END,
    claimed_at = NULL, status = t.status, http_status = t.http_status, attempts = t.attempts,
    lead_id = t.lead_id, settled_at = t.settled_at, error_code = t.error_code, error = t.error
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::integer[], $6::bigint[],
        $7::text[], $8::timestamptz[], $9::text[], $11::text[])
    AS t (run, row, sender, status, http_status, attempts, lead_id, settled_at, error_code, error)
WHERE s.run = t.run AND s.row = t.row AND CASE
    WHEN s.status = 0 OR s.status >= $13 AND NOT (s.is_open AND s.sender = ANY ($12)) THEN false
    WHEN t.status = 0 THEN true
    WHEN s.status = 1 THEN false
    WHEN t.status = 1 THEN true
    ELSE s.sender = t.sender OR t.sender = 0 AND s.sender = ANY ($12)
END";

/// Records when this start has sent rows that may be looked up.
const RECORD_ATTEMPTS: &str = "
INSERT INTO leadload.attempts (run, row, first_ms, last_ms)
SELECT $1, row, first_ms, last_ms FROM unnest($2::bigint[], $3::bigint[], $4::bigint[])
    AS t (row, first_ms, last_ms)
ON CONFLICT (run, row, first_ms) DO UPDATE SET last_ms = greatest(attempts.last_ms, excluded.last_ms)";

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
/// it has passed them. Returns nothing if the run is not there, or the last group that this start
/// has counted requests in: then the ledger was replaced by an older one.
const PROGRESS: &str = "
UPDATE leadload.runs SET reached = greatest(reached, $2),
    counts = CASE WHEN $3 >= counted THEN $4::text::json ELSE counts END,
    counted = greatest(counted, $3)
WHERE id = $1 AND EXISTS (
    SELECT 1 FROM leadload.starts WHERE run = $1 AND start = $5 AND committed >= $6
)
RETURNING 1";

/// The status in statements that compare with it.
const UNCERTAIN: i16 = status_code(Status::Uncertain) as i16;

/// One statement of a group, with the values that it owns.
pub(super) struct Statement {
    pub(super) sql: &'static str,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
    pub(super) answers: Answers,
}

/// What to read from a statement's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Nothing,
    /// Whether the lease was renewed.
    Renewal,
    Claims,
    /// Whether the run is there.
    Progress,
    News,
    Starts,
    Suppressed,
}

impl Statement {
    pub(super) fn new(sql: &'static str, answers: Answers) -> Statement {
        Statement {
            sql,
            values: Vec::new(),
            answers,
        }
    }

    pub(super) fn value(
        mut self,
        value: impl ToSql + Sync + Send + 'static,
        of: Type,
    ) -> Statement {
        self.values.push((Box::new(value), of));
        self
    }

    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let values = self.values.iter();
        let values = values.map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone()));
        values.collect()
    }

    pub(super) fn int8(self, value: i64) -> Statement {
        self.value(value, Type::INT8)
    }
}

/// The statements of a group, in the order in which every process locks what it changes.
pub(super) fn statements(
    session: &Session,
    sender: &Sender,
    run: RunId,
    group: &Group,
) -> Vec<Statement> {
    let lease = session.place.lease;
    let run_id = run.0.cast_signed();
    let service = sender.service.0;
    let id = sender.id().0;
    let mut all = Vec::new();
    if sender.asked.is_older_than(lease / 4) {
        all.push(
            Statement::new(RENEW, Answers::Renewal)
                .int8(id)
                .int8(millis(lease)),
        );
    }
    all.push(progress(sender, run_id, group));
    for TokenUsed { token, ahead_s } in &group.tokens {
        let note = Statement::new(NOTE_TOKEN, Answers::Nothing).int8(run_id);
        let note = note.value(token.to_string(), Type::TEXT);
        all.push(note.value(*ahead_s, Type::INT8));
    }
    if !group.claims.is_empty() {
        all.push(claim(sender, run_id, group));
    }
    if !group.settlements.is_empty() {
        all.push(settle(sender, run_id, &group.settlements));
        all.extend(attempts(run_id, &group.settlements));
    }
    if !group.releases.is_empty() {
        all.extend(release(sender, run_id, &group.releases));
    }
    add_bad_rows(&mut all, service, run_id, group);
    if !group.starts.is_empty() {
        all.push(count(sender, run_id, group));
        all.push(Statement::new(pace::FORGET_OLD, Answers::Nothing).int8(service));
    }
    add_pace(&mut all, service, group);
    all.push(
        Statement::new(pace::NEWS, Answers::News)
            .int8(service)
            .int8(id),
    );
    if let Some(known) = group.suppressed_to {
        all.push(Statement::new(suppressed::AFTER, Answers::Suppressed).int8(known.0));
    }
    all
}

/// When those among these rows were sent that may be looked up; `None` if there are none.
fn attempts(run: i64, settlements: &[Settlement]) -> Option<Statement> {
    let kept = |s: &Settlement| Some((s.claim.row, s.attempts_to_keep()?));
    let attempted = settlements.iter().filter_map(kept);
    // One statement changes no row twice.
    let last: BTreeMap<RowId, Attempted> = attempted.collect();
    let times = |of: fn(&Attempted) -> jiff::Timestamp| -> Vec<i64> {
        last.values()
            .map(|times| of(times).as_millisecond())
            .collect()
    };
    let rows: Vec<i64> = last.keys().map(|row| row.0.cast_signed()).collect();
    (!rows.is_empty()).then(|| {
        Statement::new(RECORD_ATTEMPTS, Answers::Nothing)
            .int8(run)
            .value(rows, Type::INT8_ARRAY)
            .value(times(|times| times.first), Type::INT8_ARRAY)
            .value(times(|times| times.last), Type::INT8_ARRAY)
    })
}

/// Adds what was learned about the service, its waits, and the start times that are asked for.
fn add_pace(all: &mut Vec<Statement>, service: i64, group: &Group) {
    if let Some(known) = group.learned {
        let (requests, per_ms, is_stated) = learned(known);
        let learn = Statement::new(pace::LEARN, Answers::Nothing).int8(service);
        let learn = learn.int8(requests).int8(per_ms);
        all.push(learn.value(is_stated, Type::BOOL));
    }
    if let Some(pause) = group.pause {
        let wait = Statement::new(pace::PAUSE, Answers::Nothing).int8(service);
        let wait = wait.int8(left_ms(pause));
        all.push(wait.value(i32::from(pause.http_status), Type::INT4));
    }
    if let Some(own) = group.wants_starts {
        all.push(Statement::new(pace::LOCK, Answers::Nothing).int8(service));
        let reserve = Statement::new(RESERVE, Answers::Starts).int8(service);
        all.push(reserve.int8(micros(own)).int8(micros(AHEAD)));
    }
}

fn release(sender: &Sender, run: i64, rows: &[RowId]) -> [Statement; 2] {
    let rows: Vec<i64> = rows.iter().map(|row| row.0.cast_signed()).collect();
    let release = Statement::new(RELEASE, Answers::Nothing)
        .int8(run)
        .value(rows.clone(), Type::INT8_ARRAY)
        .value(sender.all_ids(), Type::INT8_ARRAY)
        .value(UNCERTAIN, Type::INT2);
    let drop = Statement::new(DROP, Answers::Nothing)
        .int8(run)
        .value(rows, Type::INT8_ARRAY)
        .value(sender.all_ids(), Type::INT8_ARRAY);
    [release, drop]
}

fn progress(sender: &Sender, run: i64, group: &Group) -> Statement {
    let reached = group.claims.iter().map(|claim| claim.row.0).max();
    let counts = serde_json::json!(group.counts).to_string();
    Statement::new(PROGRESS, Answers::Progress)
        .int8(run)
        .int8(reached.unwrap_or_default().cast_signed())
        .int8(group.counts.total().cast_signed())
        .value(counts, Type::TEXT)
        .value(sender.start.cast_signed(), Type::INT4)
        .int8(sender.last_counted_group)
}

fn claim(sender: &Sender, run: i64, group: &Group) -> Statement {
    let (holds, holds_service) = holds(sender.terms.claims);
    let columns = ClaimColumns::of(&group.claims);
    Statement::new(CLAIM, Answers::Claims)
        .int8(sender.id().0)
        .int8(run)
        .int8(sender.service.0)
        .value(holds, Type::BOOL)
        .value(holds_service, Type::BOOL)
        .value(columns.rows, Type::INT8_ARRAY)
        .value(columns.numbers, Type::INT8_ARRAY)
        .value(columns.campaigns, Type::INT8_ARRAY)
        .value(columns.files, Type::INT4_ARRAY)
        .value(columns.line_offsets, Type::INT8_ARRAY)
        .value(UNCERTAIN, Type::INT2)
        .int8(group.claimed_at_ms)
}

fn settle(sender: &Sender, run: i64, settlements: &[Settlement]) -> Statement {
    // Of several outcomes of one row the last one counts.
    let last: BTreeMap<RowId, &Settlement> = settlements
        .iter()
        .map(|settled| (settled.claim.row, settled))
        .collect();
    let of = |read: fn(&Settlement) -> i64| last.values().map(|s| read(s)).collect::<Vec<i64>>();
    let outcomes = || last.values().map(|settled| &settled.outcome);
    let rows = of(|s| s.claim.row.0.cast_signed());
    let senders = of(|s| s.claim.sender.0);
    let attempts = of(|s| s.outcome.attempts.into());
    let statuses = outcomes().map(|o| status_code(o.status) as i16);
    let statuses: Vec<i16> = statuses.collect();
    let http: Vec<Option<i32>> = outcomes().map(|o| o.http_status.map(i32::from)).collect();
    let ids = outcomes().map(|o| o.lead_id.as_deref().map(storable));
    let ids: Vec<Option<String>> = ids.collect();
    let times = outcomes().map(|o| o.settled_at.map(whole_seconds));
    let times: Vec<Option<jiff::Timestamp>> = times.collect();
    let codes = outcomes().map(|o| o.error_code.map(|code| code.to_string()));
    let codes: Vec<Option<String>> = codes.collect();
    let errors = outcomes().map(|o| o.error.as_deref().map(storable));
    let errors: Vec<Option<String>> = errors.collect();
    Statement::new(SETTLE, Answers::Nothing)
        .value(vec![run; rows.len()], Type::INT8_ARRAY)
        .value(rows, Type::INT8_ARRAY)
        .value(senders, Type::INT8_ARRAY)
        .value(statuses, Type::INT2_ARRAY)
        .value(http, Type::INT4_ARRAY)
        .value(attempts, Type::INT8_ARRAY)
        .value(ids, Type::TEXT_ARRAY)
        .value(times, Type::TIMESTAMPTZ_ARRAY)
        .value(codes, Type::TEXT_ARRAY)
        .value(UNCERTAIN, Type::INT2)
        .value(errors, Type::TEXT_ARRAY)
        .value(sender.all_ids(), Type::INT8_ARRAY)
        .value(REMOVED as i16, Type::INT2)
}

/// Counts the group's requests, each by how many milliseconds ago it started.
fn count(sender: &Sender, run: i64, group: &Group) -> Statement {
    let now = jiff::Timestamp::now().as_millisecond();
    let mut by_second: BTreeMap<i64, i64> = BTreeMap::new();
    for starts in &group.starts {
        // The least that it can be.
        let ago = (now - (starts.second + 1) * 1000).max(0);
        *by_second.entry(ago).or_default() += i64::from(starts.requests);
    }
    Statement::new(pace::COUNT, Answers::Nothing)
        .int8(sender.service.0)
        .value(
            by_second.keys().copied().collect::<Vec<i64>>(),
            Type::INT8_ARRAY,
        )
        .int8(run)
        .value(sender.start.cast_signed(), Type::INT4)
        .int8(sender.group)
        .value(
            by_second.values().copied().collect::<Vec<i64>>(),
            Type::INT8_ARRAY,
        )
}
