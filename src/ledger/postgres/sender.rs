//! Leases of the processes that send runs.
//!
//! The steps and their names are those of the model (`protocol`): *acquire* a lease, *renew*
//! it, *claim* rows under it, and *take over* the run of a sender whose lease has run out.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::PostgresLedger;
use super::pace::{self, ServerClock};
use super::statements::column;
use crate::lead::RunId;
use crate::ledger::lease::Moment;
use crate::ledger::row::Row;
use crate::ledger::store::{Failed, LOCK_SERVICE, Sql, Value};
use crate::ledger::{AtWork, LedgerError, LiveLease, SenderId, Sending, ServiceId};
use crate::phone::PhoneNumber;

/// A new lease for a start, while no other start has one for this run. A run that is undone meanwhile
/// is not sent any further.
pub(super) const ACQUIRE: &str = "
INSERT INTO leadload.senders (service, run, start, until, timeout_ms, space_us)
SELECT $1, $2, $3, clock_timestamp() + $4 * interval '1 ms', $5, $6
WHERE NOT EXISTS (
    SELECT 1 FROM leadload.senders
    WHERE run = $2 AND start <> $3 AND until > clock_timestamp()
) AND NOT EXISTS (SELECT 1 FROM leadload.runs WHERE id = $2 AND undone_at IS NOT NULL)
RETURNING id";

/// A lease that has run out is never renewed: others may count on it.
pub(super) const RENEW: &str = "
UPDATE leadload.senders SET until = clock_timestamp() + $2 * interval '1 ms'
WHERE id = $1 AND until > clock_timestamp() RETURNING 1";

/// A run while this process sends it.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) run: RunId,
    pub(super) start: u32,
    pub(super) service: ServiceId,
    pub(super) terms: Sending,
    /// All leases that this process has had for the run; the last one counts.
    pub(super) leases: Vec<SenderId>,
    /// When the last renewal was asked for.
    pub(super) asked: Moment,
    /// The number of the last group, and of the last one that has counted requests.
    pub(super) group: i64,
    pub(super) last_counted_group: i64,
    pub(super) clock: ServerClock,
}

impl Sender {
    pub(super) fn id(&self) -> SenderId {
        self.leases.last().copied().unwrap_or_default()
    }

    /// All leases as a parameter.
    pub(super) fn all_ids<'a>(&self) -> Value<'a> {
        let ids = self.leases.iter().map(|sender| (*sender).into());
        Value::List(Type::INT8_ARRAY, ids.collect())
    }
}

pub(super) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Inserts a lease, whose limits hold for all from now on; `None` if another process has a lease of
/// the run. Within a transaction that holds [`LOCK_SERVICE`].
pub(super) fn acquire(
    sql: &mut dyn Sql,
    (service, run, start): (ServiceId, RunId, u32),
    lease: Duration,
    terms: &Sending,
) -> Result<Option<SenderId>, Failed> {
    let values = [
        service.into(),
        run.into(),
        start.into(),
        millis(lease).into(),
        millis(terms.timeout).into(),
        pace::space_of(&terms.limits).into(),
    ];
    let acquired = sql.row(ACQUIRE, &values, |row| row.get(0).map(SenderId))?;
    if let Some(sender) = acquired {
        pace::join(sql, service, sender, &terms.limits)?;
    }
    Ok(acquired)
}

impl PostgresLedger {
    /// How often the lease has to be renewed.
    pub fn renew_every(&self) -> Duration {
        self.place().lease / 3
    }

    /// Renews the lease, or acquires another one if it has run out.
    pub fn renew(&mut self) -> Result<(), LedgerError> {
        let Some(sender) = &self.sender else {
            return Ok(());
        };
        let values = vec![sender.id().into(), millis(self.place().lease).into()];
        let asked = Moment::now();
        let renewed = self.session.at_once(&[(RENEW, &values)])?;
        if renewed.iter().all(Vec::is_empty) {
            return self.acquire_again();
        }
        self.note_renewal(asked);
        Ok(())
    }

    /// Records that the lease was renewed.
    pub(super) fn note_renewal(&mut self, asked: Moment) {
        if let Some(sender) = &mut self.sender {
            sender.asked = asked;
            self.session.lease().renewed(sender.id(), asked);
        }
    }

    /// Acquires another lease after this one has run out. What was claimed
    /// under the old one has to be claimed again before it is sent.
    pub(super) fn acquire_again(&mut self) -> Result<(), LedgerError> {
        let Some(sender) = &self.sender else {
            return Ok(());
        };
        let who = (sender.service, sender.run, sender.start);
        let (service, lease, terms) = (sender.service, self.place().lease, &sender.terms);
        let asked = Moment::now();
        let acquired = self.session.write(|sql| {
            sql.change(LOCK_SERVICE, &[service.into()])?;
            acquire(sql, who, lease, terms)
        })?;
        let Some(new) = acquired else {
            return Err(self.taken_over(sender.run)?);
        };
        if let Some(sender) = &mut self.sender {
            sender.leases.push(new);
        }
        self.note_renewal(asked);
        Ok(())
    }

    /// The lease of a run, if one is under way.
    pub fn lease_of(&self, run: RunId) -> Result<Option<LiveLease>, LedgerError> {
        self.session.read(|sql| sql.lease_of(run))
    }

    /// The error for a run that another process sends now.
    fn taken_over(&self, run: RunId) -> Result<LedgerError, LedgerError> {
        let undone = "SELECT 1 FROM leadload.runs WHERE id = $1 AND undone_at IS NOT NULL";
        if self.session.read(|sql| sql.change(undone, &[run.into()]))? > 0 {
            return Ok(LedgerError(message!(
                "{run {run} was undone while this process could not reach the ledger|this list was removed from the service again while leadload could not reach its record of what was sent}",
                "{nothing more is sent; `leadload runs show` says what became of its leads|look at “History”}",
                run = run.to_string()
            )));
        }
        let by = self.lease_of(run)?;
        let by = by.map_or_else(String::new, |lease| format!(" by {}", lease.at_work.by));
        Ok(LedgerError(message!(
            "{run {run} was taken over{by}, since this process could not reach the ledger for too long|another leadload has gone on with this list, since this one could not reach its record of what was sent}",
            "{nothing is lost: the other process goes on with this run|look at “History”}",
            run = run.to_string(),
            by
        )))
    }
}

/// The lease of a run, if one is under way.
pub(super) fn live_lease(sql: &mut dyn Sql, run: RunId) -> Result<Option<LiveLease>, Failed> {
    let live = "SELECT run, process, host, started_by, began_at, until,
            (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint AS left_ms
        FROM leadload.senders JOIN leadload.starts USING (run, start)
        WHERE run = $1 AND until > clock_timestamp() ORDER BY seq DESC LIMIT 1";
    sql.row(live, &[run.into()], read_lease)
}

/// The lease under which another process has claimed one of these numbers, the one that holds longest;
/// here it ends when the time-out of its last request is over too.
pub(super) fn claimed_by(
    sql: &mut dyn Sql,
    sender: &Sender,
    numbers: &[PhoneNumber],
) -> Result<Option<LiveLease>, Failed> {
    let claimed_by = "SELECT s.run, process, host, started_by, began_at, ends AS until,
            (extract(epoch FROM ends - clock_timestamp()) * 1000)::bigint AS left_ms
        FROM leadload.sent AS x JOIN leadload.senders AS s ON s.id = x.sender
            JOIN leadload.starts AS t ON t.run = s.run AND t.start = s.start,
            LATERAL (SELECT s.until + s.timeout_ms * interval '1 ms' AS ends) AS e
        WHERE x.service = $1 AND x.number = ANY($2) AND x.is_open AND s.id <> ALL($3)
        ORDER BY ends DESC LIMIT 1";
    let numbers = column(Type::INT8_ARRAY, numbers);
    let values = [sender.service.into(), numbers, sender.all_ids()];
    sql.row(claimed_by, &values, read_lease)
}

fn read_lease(row: &Row<'_>) -> Result<LiveLease, Failed> {
    let left: i64 = row.get("left_ms")?;
    Ok(LiveLease {
        at_work: AtWork::read(row)?,
        until: row.get("until")?,
        left: Duration::from_millis(left.max(0).cast_unsigned()),
    })
}
