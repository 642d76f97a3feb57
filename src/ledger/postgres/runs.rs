//! How runs begin and continue on a server.
//!
//! A start may begin only if no other start of the run has a lease. One transaction does
//! all of that, and a key that the process makes up tells whether it has happened already.

use std::time::Duration;

use jiff::Timestamp;

use super::PostgresLedger;
use super::pace::{self, ServerClock};
use super::sender::{Sender, acquire};
use super::session::BEGINNING;
use crate::lead::RunId;
use crate::ledger::lease::Moment;
use crate::ledger::store::{Failed, LOCK_SERVICE, Sql};
use crate::ledger::{Begun, Lease, LedgerError, NewRun, NotBegun, SenderId, ServiceId, beginning};

/// What is known of a start with this key.
const BEGUN_BEFORE: &str = "
SELECT starts.run, starts.start, (SELECT max(id) FROM leadload.senders
    WHERE senders.run = starts.run AND senders.start = starts.start)
FROM leadload.starts WHERE key = $1";

/// No other start has a lease, so one without an end was killed, or is cut off.
const NOTE_KILLED: &str = "
UPDATE leadload.starts SET stopped_by = 'killed'
WHERE run = $1 AND ended_at IS NULL AND stopped_by IS NULL AND start < $2";

/// Leases from long ago: an open claim whose sender is not there counts as expired.
const FORGET_EXPIRED: &str = "
DELETE FROM leadload.senders WHERE service = $1
    AND until + timeout_ms * interval '1 ms' < clock_timestamp() - interval '1 hour'";

/// Rows of killed starts: for each of them a request may have left that is not counted yet.
const COUNT_OPEN: &str = "SELECT count(*) FROM leadload.sent WHERE run = $1 AND is_open";

/// What beginning a run came to.
enum Started {
    Begun(Box<Begun>, SenderId),
    NotBegun(NotBegun),
}

impl PostgresLedger {
    pub fn begin(
        &mut self,
        run: &NewRun,
        now: Timestamp,
    ) -> Result<Result<Begun, NotBegun>, LedgerError> {
        let key = fastrand::u128(..).to_be_bytes();
        let lease = self.place().lease;
        let asked = Moment::now();
        let started = self
            .session
            .write_within(BEGINNING, |sql| begin(sql, run, &key, lease, now))?;
        let (begun, sender) = match started {
            Started::NotBegun(why) => return Ok(Err(why)),
            Started::Begun(begun, sender) => (*begun, sender),
        };
        let lease = Lease::granted(sender, lease, asked);
        self.session.begin(lease, run.sending.patience);
        self.sender = Some(Sender {
            run: begun.run,
            start: begun.start,
            service: run.service,
            terms: run.sending.clone(),
            leases: vec![sender],
            asked,
            group: 0,
            last_counted_group: 0,
            clock: ServerClock::new(),
        });
        Ok(Ok(begun))
    }
}

fn begin(
    sql: &mut dyn Sql,
    new: &NewRun,
    key: &[u8; 16],
    lease: Duration,
    now: Timestamp,
) -> Result<Started, Failed> {
    sql.change(LOCK_SERVICE, &[new.service.into()])?;
    let before = sql.row(BEGUN_BEFORE, &[key.into()], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2).map(SenderId)?))
    })?;
    if let Some((run, start, sender)) = before {
        let begun = beginning::begun(sql, run, start)?;
        return Ok(Started::Begun(begun.into(), sender));
    }
    let latest = beginning::latest(sql, new)?;
    if latest != new.expected {
        return Ok(Started::NotBegun(NotBegun::Changed));
    }
    if let Some(run) = latest.going_on
        && let Some(lease) = sql.lease_of(run)?
    {
        return Ok(Started::NotBegun(NotBegun::Busy(lease.at_work)));
    }
    let (run, start) = beginning::start(sql, new, latest.going_on, key, now)?;
    sql.change(FORGET_EXPIRED, &[new.service.into()])?;
    count_lost_starts(sql, new.service, run, start)?;
    let sender = acquire(sql, (new.service, run, start), lease, &new.sending)?;
    let begun = beginning::begun(sql, run, start)?;
    Ok(Started::Begun(begun.into(), sender.unwrap_or_default()))
}

/// Counts what killed starts of the run may have sent last.
fn count_lost_starts(
    sql: &mut dyn Sql,
    service: ServiceId,
    run: RunId,
    start: u32,
) -> Result<(), Failed> {
    if sql.change(NOTE_KILLED, &[run.into(), start.into()])? == 0 {
        return Ok(());
    }
    let open = sql.value(COUNT_OPEN, &[run.into()])?;
    pace::count_now(sql, service, open)
}
