//! Writes groups of claims and outcomes, each group completely or not at all.
//!
//! A group is one transaction, sent as a whole without waiting for what comes back, so that it
//! takes one round trip. It may be committed though its answer is lost, and is then repeated: a
//! claim that is there already under this lease is granted, an outcome is written once more, and
//! what is added up is counted once for each number of a group.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::pin::Pin;

use futures::future::join_all;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use super::PostgresLedger;
use super::claims::{ClaimColumns, Resolved, holds, resolve};
use super::pace::{self, RESERVE, learned, left_ms, micros, pause_of};
use super::record::{get, storable};
use super::sender::{RENEW, Sender, millis};
use super::session::{BEGIN, Session, Value, int8, typed};
use crate::lead::{RowId, RunId, Status};
use crate::ledger::coding::status_code;
use crate::ledger::lease::Moment;
use crate::ledger::shared_pace::AHEAD;
use crate::ledger::{Claim, Group, LedgerError, Refusal, Reply, SenderId, Settlement};
use crate::rate::Rate;

/// Claims rows under a lease that is under way. A row is left out if another one has the claim of
/// its number, is its lead or may be, and if it was claimed before.
const CLAIM: &str = "
WITH lease AS (
    SELECT id FROM leadload.senders WHERE id = $1 AND until > clock_timestamp() FOR SHARE
)
INSERT INTO leadload.sent (run, row, number, service, campaign, holds, holds_service, is_open,
    sender, file, line_offset)
SELECT $2, row, number, $3, campaign, $4, $5, true, lease.id, file, line_offset
FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::integer[], $10::bigint[])
    AS t (row, number, campaign, file, line_offset), lease
WHERE $4 IS NULL OR NOT EXISTS (
    SELECT 1 FROM leadload.sent AS other
    WHERE other.number = t.number AND other.service = $3
        AND ($5 OR other.campaign = t.campaign)
        AND (other.holds OR other.status IN (0, 1, $11))
)
ORDER BY number, campaign, row
ON CONFLICT DO NOTHING
RETURNING row";

/// Takes outcomes from anyone at any time. A lead that was created counts over a duplicate, and
/// both over all else; that only counts if no other sender has claimed the row since. (Sender 0:
/// this process never heard whether it was granted the claim, and has not started it.)
const SETTLE: &str = "
UPDATE leadload.sent AS s SET is_open = false,
    holds = CASE WHEN t.status IN (0, 1, $10) THEN holds END,
    holds_service = CASE WHEN t.status IN (0, 1, $10) THEN holds_service END,
    status = t.status, http_status = t.http_status, attempts = t.attempts, lead_id = t.lead_id,
    settled_at = t.settled_at, error_code = t.error_code, error = t.error
FROM unnest($2::bigint[], $3::bigint[], $4::smallint[], $5::integer[], $6::bigint[], $7::text[],
        $8::timestamptz[], $9::text[], $11::text[])
    AS t (row, sender, status, http_status, attempts, lead_id, settled_at, error_code, error)
WHERE s.run = $1 AND s.row = t.row AND CASE
    WHEN s.status = 0 THEN false
    WHEN t.status = 0 THEN true
    WHEN s.status = 1 THEN false
    WHEN t.status = 1 THEN true
    ELSE s.sender = t.sender OR t.sender = 0 AND s.sender = ANY ($12)
END";

/// A row that was sent before stays what it was; any other one is as if never claimed.
const RELEASE: &str = "
UPDATE leadload.sent SET is_open = false,
    holds = CASE WHEN status IN (0, 1, $4) THEN holds END,
    holds_service = CASE WHEN status IN (0, 1, $4) THEN holds_service END
WHERE run = $1 AND row = ANY($2) AND sender = ANY($3) AND is_open AND status IS NOT NULL";

const DROP: &str = "
DELETE FROM leadload.sent
WHERE run = $1 AND row = ANY($2) AND sender = ANY($3) AND is_open AND status IS NULL";

/// A run that continues counts from zero again; the higher
/// counts of earlier starts stay until it has passed them.
const PROGRESS: &str = "
UPDATE leadload.runs SET reached = greatest(reached, $2),
    counts = CASE WHEN $3 >= counted THEN $4::text::json ELSE counts END,
    counted = greatest(counted, $3)
WHERE id = $1
RETURNING 1";

const INVALID: &str = "
INSERT INTO leadload.invalid_rows (run, row, file, line, campaign, cell, error_code, error)
SELECT $1, * FROM unnest($2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::text[],
    $7::text[], $8::text[])
ON CONFLICT (run, row) DO UPDATE SET file = excluded.file, line = excluded.line,
    campaign = excluded.campaign, cell = excluded.cell, error_code = excluded.error_code,
    error = excluded.error";

const BAD: &str = "
INSERT INTO leadload.known_bad (service, digest, run, row)
SELECT $1, digest, $2, row FROM unnest($3::bytea[], $4::bigint[]) AS t (digest, row)
ORDER BY digest
ON CONFLICT (service, digest, run) DO UPDATE SET row = excluded.row
WHERE NOT known_bad.in_rejects AND known_bad.row > excluded.row";

impl PostgresLedger {
    /// Writes the group. When this returns it is on disk, and the reply says which of its claims
    /// were not granted. After an error the same group can be committed again.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<Reply, LedgerError> {
        let group = without_ended_claims(group);
        if let Some(sender) = &mut self.sender {
            sender.group += 1;
            if let Some(limits) = &group.limits {
                sender.terms.limits.clone_from(limits);
            }
        }
        let Some(sender) = &self.sender else {
            return Err(LedgerError::lost_run(self.place()));
        };
        let mut lease = sender.id();
        let asked = Moment::now();
        let written = write(&self.session, sender, run, &group)?;
        let mut reply = self.read_reply(&written)?;
        if written.is_renewed {
            self.note_renewal(asked);
        } else if !written.has_lease {
            self.acquire_again()?;
        }
        let mut not_granted = group.claims.clone();
        not_granted.retain(|claim| !written.granted.contains(&claim.row));
        reply.refused = self.resolve_all(&not_granted)?;
        while self.sender_id() != lease {
            // There is another lease by now, under which all of them have to be claimed.
            lease = self.sender_id();
            reply.refused = self.resolve_all(&group.claims)?;
        }
        if let Some(limits) = &group.limits {
            self.keep_to(limits)?;
            reply.is_paced |= !limits.is_empty();
        }
        reply.sender = lease;
        Ok(reply)
    }

    fn sender_id(&self) -> SenderId {
        self.sender.as_ref().map(Sender::id).unwrap_or_default()
    }

    fn read_reply(&mut self, written: &Written) -> Result<Reply, LedgerError> {
        let Some(news) = &written.news else {
            return Err(LedgerError::lost_run(self.place()));
        };
        let read = || -> Result<Reply, String> {
            Ok(Reply {
                is_shared: true,
                is_paced: get(news, 0)?,
                pause: pause_of(get(news, 1)?, get(news, 2)?),
                ..Reply::default()
            })
        };
        let reply = self.readable(read())?;
        let now = self.readable(get(news, 4))?;
        let Some(sender) = &mut self.sender else {
            return Ok(reply);
        };
        sender.clock.see(now);
        let starts = written.starts.as_ref();
        let starts = starts.map(|row| sender.clock.reserved(row)).transpose();
        Ok(Reply {
            starts: self.readable(starts)?.unwrap_or_default(),
            ..reply
        })
    }

    /// Lets new limits of this run hold for all.
    fn keep_to(&self, limits: &[Rate]) -> Result<(), LedgerError> {
        let Some(sender) = &self.sender else {
            return Ok(());
        };
        let (id, service) = (sender.id(), sender.service);
        let space = pace::space_of(limits);
        self.session.transact(async |client| {
            let values = [int8(&id.0), typed(&space, Type::INT8)];
            client.execute_typed(pace::SET_SPACE, &values).await?;
            pace::join(client, service, id, limits).await
        })
    }

    /// Decides about claims one by one, in a lease that is under way.
    fn resolve_all(&mut self, claims: &[Claim]) -> Result<Vec<(RowId, Refusal)>, LedgerError> {
        loop {
            let Some(sender) = self.sender.as_ref().filter(|_| !claims.is_empty()) else {
                return Ok(Vec::new());
            };
            let resolved: Resolved = self
                .session
                .transact(async |client| resolve(client, sender, claims).await)?;
            match resolved {
                Some(refused) => return self.readable(refused),
                None => self.acquire_again()?,
            }
        }
    }
}

/// Leaves out claims that the group itself ends: no request was started for them.
fn without_ended_claims(group: &Group) -> Cow<'_, Group> {
    let settled = group.settlements.iter().map(|settled| settled.claim.row);
    let ended: HashSet<RowId> = settled.chain(group.releases.iter().copied()).collect();
    let is_ended = |claim: &Claim| ended.contains(&claim.row);
    if !group.claims.iter().any(is_ended) {
        return Cow::Borrowed(group);
    }
    let mut kept = group.clone();
    kept.claims.retain(|claim| !is_ended(claim));
    Cow::Owned(kept)
}

/// What came back for a group.
#[derive(Debug, Default)]
struct Written {
    granted: HashSet<RowId>,
    is_renewed: bool,
    has_lease: bool,
    news: Option<Row>,
    starts: Option<Row>,
}

/// One statement of a group, with the values that it owns.
struct Statement {
    sql: &'static str,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
    answers: Answers,
}

/// What a statement returns, and is read of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    Nothing,
    /// Whether the lease was renewed.
    Renewal,
    Claims,
    /// Whether the run is there.
    Progress,
    News,
    Starts,
}

fn write(
    session: &Session,
    sender: &Sender,
    run: RunId,
    group: &Group,
) -> Result<Written, LedgerError> {
    let statements = statements(session, sender, run, group);
    let written = session.run(async |client| send(client, &statements).await)?;
    written.ok_or_else(|| LedgerError::lost_run(&session.place))
}

/// Sends all statements as one transaction. Returns `None` if the ledger does not have the run.
async fn send(client: &Client, statements: &[Statement]) -> Result<Option<Written>, Error> {
    type Sent<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + 'a>>;
    let simple = |sql: &'static str| -> Sent<'_> {
        Box::pin(async move { client.batch_execute(sql).await.map(|()| Vec::new()) })
    };
    let mut sent: Vec<Sent<'_>> = vec![simple(BEGIN)];
    for statement in statements {
        sent.push(Box::pin(async move {
            let values = statement.values.iter();
            let values: Vec<Value<'_>> = values
                .map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone()))
                .collect();
            client.query_typed(statement.sql, &values).await
        }));
    }
    sent.push(simple("COMMIT"));
    let answers: Result<Vec<Vec<Row>>, Error> = join_all(sent).await.into_iter().collect();
    // The first error is the reason; after it the server has undone everything.
    let answers = answers?;
    let mut written = Written::default();
    for (statement, rows) in statements.iter().zip(answers.into_iter().skip(1)) {
        let first = rows.first();
        match statement.answers {
            Answers::Nothing => {}
            Answers::Renewal => written.is_renewed = first.is_some(),
            Answers::Claims => {
                for row in &rows {
                    let row: i64 = row.try_get(0)?;
                    written.granted.insert(RowId(row.cast_unsigned()));
                }
            }
            Answers::Progress if first.is_none() => return Ok(None),
            Answers::Progress => {}
            Answers::News => {
                written.has_lease = first.is_some_and(|row| row.try_get(3).unwrap_or(false));
                written.news = rows.into_iter().next();
            }
            Answers::Starts => {
                written.starts = rows.into_iter().next();
            }
        }
    }
    Ok(Some(written))
}

/// The statements of a group, in the order in which every process locks what it changes.
fn statements(session: &Session, sender: &Sender, run: RunId, group: &Group) -> Vec<Statement> {
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
    all.push(progress(run_id, group));
    if !group.claims.is_empty() {
        all.push(claim(sender, run_id, group));
    }
    if !group.settlements.is_empty() {
        all.push(settle(sender, run_id, &group.settlements));
    }
    if !group.releases.is_empty() {
        let rows: Vec<i64> = group
            .releases
            .iter()
            .map(|row| row.0.cast_signed())
            .collect();
        let uncertain = Status::Uncertain as i16;
        let release = Statement::new(RELEASE, Answers::Nothing).int8(run_id);
        let release = release.list(rows.clone(), Type::INT8_ARRAY);
        let release = release.list(sender.all_ids(), Type::INT8_ARRAY);
        all.push(release.value(uncertain, Type::INT2));
        let drop = Statement::new(DROP, Answers::Nothing).int8(run_id);
        let drop = drop.list(rows, Type::INT8_ARRAY);
        all.push(drop.list(sender.all_ids(), Type::INT8_ARRAY));
    }
    add_bad_rows(&mut all, service, run_id, group);
    if !group.starts.is_empty() {
        all.push(count(sender, run_id, group));
        all.push(Statement::new(pace::FORGET_OLD, Answers::Nothing).int8(service));
    }
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
        let reserve = Statement::new(RESERVE, Answers::Starts).int8(service);
        all.push(reserve.int8(micros(own)).int8(micros(AHEAD)));
    }
    all.push(
        Statement::new(pace::NEWS, Answers::News)
            .int8(service)
            .int8(id),
    );
    all
}

fn progress(run: i64, group: &Group) -> Statement {
    let reached = group.claims.iter().map(|claim| claim.row.0).max();
    let counts = serde_json::json!(group.counts).to_string();
    Statement::new(PROGRESS, Answers::Progress)
        .int8(run)
        .int8(reached.unwrap_or_default().cast_signed())
        .int8(group.counts.total().cast_signed())
        .value(counts, Type::TEXT)
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
        .list(columns.rows, Type::INT8_ARRAY)
        .list(columns.numbers, Type::INT8_ARRAY)
        .list(columns.campaigns, Type::INT8_ARRAY)
        .list(columns.files, Type::INT4_ARRAY)
        .list(columns.line_offsets, Type::INT8_ARRAY)
        .value(Status::Uncertain as i16, Type::INT2)
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
    // Times are whole seconds, as in every kind of ledger.
    let times = outcomes().map(|o| o.settled_at.map(whole_seconds));
    let times: Vec<Option<jiff::Timestamp>> = times.collect();
    let codes = outcomes().map(|o| o.error_code.map(|code| code.to_string()));
    let codes: Vec<Option<String>> = codes.collect();
    let errors = outcomes().map(|o| o.error.as_deref().map(storable));
    let errors: Vec<Option<String>> = errors.collect();
    Statement::new(SETTLE, Answers::Nothing)
        .int8(run)
        .list(rows, Type::INT8_ARRAY)
        .list(senders, Type::INT8_ARRAY)
        .list(statuses, Type::INT2_ARRAY)
        .list(http, Type::INT4_ARRAY)
        .list(attempts, Type::INT8_ARRAY)
        .list(ids, Type::TEXT_ARRAY)
        .list(times, Type::TIMESTAMPTZ_ARRAY)
        .list(codes, Type::TEXT_ARRAY)
        .value(Status::Uncertain as i16, Type::INT2)
        .list(errors, Type::TEXT_ARRAY)
        .list(sender.all_ids(), Type::INT8_ARRAY)
}

fn whole_seconds(time: jiff::Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// Adds the rows that cannot be sent, and the digests of all that were found bad.
fn add_bad_rows(all: &mut Vec<Statement>, service: i64, run: i64, group: &Group) {
    let invalid = &group.invalid;
    if !invalid.is_empty() {
        let rows = invalid.iter().map(|row| row.row.0.cast_signed());
        let files = invalid
            .iter()
            .map(|row| i32::try_from(row.file).unwrap_or(i32::MAX));
        let lines = invalid.iter().map(|row| row.line.cast_signed());
        let campaigns = invalid.iter().map(|row| row.campaign.map(|id| id.0));
        let cells = invalid.iter().map(|row| storable(&row.cell));
        let codes = invalid
            .iter()
            .map(|row| row.outcome.error_code.map(|code| code.to_string()));
        let errors = invalid
            .iter()
            .map(|row| row.outcome.error.as_deref().map(storable));
        all.push(
            Statement::new(INVALID, Answers::Nothing)
                .int8(run)
                .list(rows.collect::<Vec<i64>>(), Type::INT8_ARRAY)
                .list(files.collect::<Vec<i32>>(), Type::INT4_ARRAY)
                .list(lines.collect::<Vec<i64>>(), Type::INT8_ARRAY)
                .list(campaigns.collect::<Vec<Option<i64>>>(), Type::INT8_ARRAY)
                .list(cells.collect::<Vec<String>>(), Type::TEXT_ARRAY)
                .list(codes.collect::<Vec<Option<String>>>(), Type::TEXT_ARRAY)
                .list(errors.collect::<Vec<Option<String>>>(), Type::TEXT_ARRAY),
        );
    }
    let rejected = group.settlements.iter().filter_map(|settled| {
        let is_rejected = settled.outcome.status == Status::Rejected;
        let cells = settled.cells.filter(|_| is_rejected)?;
        Some((cells, settled.claim.row))
    });
    let mut first: BTreeMap<[u8; 16], i64> = BTreeMap::new();
    for (cells, row) in rejected.chain(invalid.iter().map(|row| (row.cells, row.row))) {
        let row = row.0.cast_signed();
        let known = first.entry(cells.0).or_insert(row);
        *known = row.min(*known);
    }
    if !first.is_empty() {
        let digests: Vec<Vec<u8>> = first.keys().map(|digest| digest.to_vec()).collect();
        let rows: Vec<i64> = first.values().copied().collect();
        let bad = Statement::new(BAD, Answers::Nothing)
            .int8(service)
            .int8(run);
        let bad = bad.list(digests, Type::BYTEA_ARRAY);
        all.push(bad.list(rows, Type::INT8_ARRAY));
    }
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
        .list(
            by_second.keys().copied().collect::<Vec<i64>>(),
            Type::INT8_ARRAY,
        )
        .int8(run)
        .value(sender.start.cast_signed(), Type::INT4)
        .int8(sender.group)
        .list(
            by_second.values().copied().collect::<Vec<i64>>(),
            Type::INT8_ARRAY,
        )
}

impl Statement {
    fn new(sql: &'static str, answers: Answers) -> Statement {
        Statement {
            sql,
            values: Vec::new(),
            answers,
        }
    }

    fn value(mut self, value: impl ToSql + Sync + Send + 'static, of: Type) -> Statement {
        self.values.push((Box::new(value), of));
        self
    }

    fn int8(self, value: i64) -> Statement {
        self.value(value, Type::INT8)
    }

    fn list<T: ToSql + Sync + Send + 'static>(self, values: Vec<T>, of: Type) -> Statement {
        self.value(values, of)
    }
}
