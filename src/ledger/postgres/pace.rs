//! The pace that all runs of a service share.
//!
//! Together they keep every limit that one of them has. The *space* between two starts is that of
//! the strictest one; a single statement hands start times out, one after the other, in small
//! batches. A start comes at its time or a little later, never earlier, so among any N + 1 starts
//! of all processes there is a whole span.
//!
//! What was started before a limit counts too: a run that brings a stricter limit than the others
//! had moves the next free time forward ([`first_free`]). All times are those of the server.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::PostgresLedger;
use super::sender::millis;
use crate::clock;
use crate::ledger::row::Row;
use crate::ledger::shared_pace::{NEWS_HOLD, TOLERANCE};
use crate::ledger::store::{Failed, Sql};
use crate::ledger::{AskedPause, LedgerError, RecentUse, SenderId, ServiceId, StartsInSecond};
use crate::rate::Rate;

/// The longest span of any rate limit, in seconds.
const DAY: i64 = 24 * 3600;

/// How long a run may not know yet that another one has brought a limit: a request takes some time
/// to leave.
const UNAWARE: Duration = NEWS_HOLD.saturating_add(Duration::from_millis(500));

const MICROS: i64 = 1_000_000;

/// The end of the wait that the service asked for, unless that was noted under a clock that was wrong
/// (`AskedPause::left`). No wait that is believed is longer than a day; earlier versions did not note
/// when it was asked.
macro_rules! believed_pause {
    () => {
        "CASE WHEN greatest(pause_asked_at, pause_until - interval '1 day')
            <= clock_timestamp() + interval '1 minute' THEN pause_until END"
    };
}

/// Waits for a run that is just joining, so that the next statement sees its limits.
pub(super) const LOCK: &str = "SELECT 1 FROM leadload.pace WHERE service = $1 FOR NO KEY UPDATE";

/// Reserves start times, under [`LOCK`]. A run that is slower by itself than all together gets
/// one at a time.
/// Returns the end of what is reserved, how many times that are, and the space, in microseconds.
pub(super) const RESERVE: &str = concat!(
    "
WITH shared AS (
    SELECT greatest(max(space_us), 1) AS space FROM leadload.senders
    WHERE service = $1 AND until > clock_timestamp()
), wish AS (
    SELECT space, CASE WHEN $2 > space THEN 1 ELSE greatest(1, $3 / space) END AS count
    FROM shared
), reserved AS (
    UPDATE leadload.pace SET next_start = greatest(next_start, clock_timestamp(), ",
    believed_pause!(),
    ") + count * space * interval '1 microsecond'
    FROM wish WHERE service = $1 RETURNING next_start, count, space
)
SELECT (extract(epoch FROM next_start) * 1000000)::bigint, count, space FROM reserved"
);

/// What has changed for a sender: whether starts have to be reserved, the wait that the service
/// asked for, and whether the lease is under way.
pub(super) const NEWS: &str = concat!(
    "
SELECT EXISTS (
        SELECT 1 FROM leadload.senders
        WHERE service = $1 AND space_us IS NOT NULL AND until > clock_timestamp()
    ),
    (extract(epoch FROM ",
    believed_pause!(),
    " - clock_timestamp()) * 1000)::bigint, pause_http_status,
    EXISTS (SELECT 1 FROM leadload.senders WHERE id = $2 AND until > clock_timestamp()),
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM leadload.pace WHERE service = $1"
);

/// Keeps a wait that ends later, if it is believed.
pub(super) const PAUSE: &str = concat!(
    "
UPDATE leadload.pace
SET pause_asked_at = clock_timestamp(), pause_until = clock_timestamp() + $2 * interval '1 ms',
    pause_http_status = $3
WHERE service = $1
    AND coalesce(",
    believed_pause!(),
    " < clock_timestamp() + $2 * interval '1 ms', true)"
);

/// Counts started requests, once for each group of a start.
pub(super) const COUNT: &str = "
WITH is_new AS (
    UPDATE leadload.starts SET committed = $5
    WHERE run = $3 AND start = $4 AND committed < $5 RETURNING 1
)
INSERT INTO leadload.recent_starts (service, second, requests)
SELECT $1, floor(extract(epoch FROM clock_timestamp()) - ago_ms / 1000.0)::bigint AS second,
    sum(requests)
FROM unnest($2::bigint[], $6::bigint[]) AS t (ago_ms, requests), is_new
GROUP BY second ORDER BY second
ON CONFLICT (service, second) DO UPDATE
SET requests = recent_starts.requests + excluded.requests";

pub(super) const FORGET_OLD: &str = "
DELETE FROM leadload.recent_starts
WHERE service = $1 AND second < floor(extract(epoch FROM clock_timestamp()))::bigint - 86400";

const COUNT_NOW: &str = "
INSERT INTO leadload.recent_starts (service, second, requests)
VALUES ($1, floor(extract(epoch FROM clock_timestamp()))::bigint, $2)
ON CONFLICT (service, second) DO UPDATE
SET requests = recent_starts.requests + excluded.requests";

/// The requests of the last seconds, the newest first, each counted from now. What was noted under a
/// clock that was ahead is left out.
const RECENT: &str = "
SELECT second - floor(extract(epoch FROM clock_timestamp()))::bigint AS ago, requests
FROM leadload.recent_starts
WHERE service = $1 AND second - floor(extract(epoch FROM clock_timestamp()))::bigint
    BETWEEN -$2 AND 60
ORDER BY second DESC";

/// Whether another run has no limit, or one that is not as strict.
const OTHERS_ARE_FASTER: &str = "
SELECT EXISTS (
    SELECT 1 FROM leadload.senders WHERE service = $1 AND id <> $2
        AND until > clock_timestamp() AND coalesce(space_us, 0) < $3
)";

const MOVE: &str = "
UPDATE leadload.pace
SET next_start = greatest(next_start, clock_timestamp() + $2 * interval '1 microsecond')
WHERE service = $1";

pub(super) const SET_SPACE: &str = "UPDATE leadload.senders SET space_us = $2 WHERE id = $1";

/// The distance between two starts that keeps all limits, in microseconds.
pub(super) fn space_of(limits: &[Rate]) -> Option<i64> {
    limits.iter().map(space).max()
}

fn space(rate: &Rate) -> i64 {
    let span = span(rate);
    let requests = i64::from(rate.requests.get());
    (span + requests - 1) / requests
}

/// The span of a limit with all that is added to it, in microseconds.
fn span(rate: &Rate) -> i64 {
    let span = rate.kept_span() + TOLERANCE;
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// The earliest time at which starts that are spaced evenly from then on keep a limit, together
/// with `earlier` starts. Those are given as how long ago they were, in microseconds, the newest
/// first; so is the result, negative for a time to come.
fn first_free(rate: &Rate, earlier: impl Iterator<Item = i64>) -> i64 {
    let (span, space) = (span(rate), space(rate));
    let requests = i64::from(rate.requests.get());
    // The i-th newest start must have left the span when the (N - i)-th start after the first is
    // made: then there are i - 1 of the old ones in it and N - i + 1 of the new ones.
    let free = (1..=requests).zip(earlier).map(|(newest, ago)| {
        let free_in = span - (requests - newest) * space - ago;
        -free_in
    });
    free.min().unwrap_or(i64::MAX)
}

/// Lets the limits of a sender hold from now on, for all. Called when they are new.
pub(super) fn join(
    sql: &mut dyn Sql,
    service: ServiceId,
    sender: SenderId,
    limits: &[Rate],
) -> Result<(), Failed> {
    let Some(strictest) = space_of(limits) else {
        return Ok(());
    };
    let longest = limits.iter().map(span).max().unwrap_or_default();
    let seconds = longest / MICROS + 1;
    let recent_starts: Vec<(i64, usize)> =
        sql.rows(RECENT, &[service.into(), seconds.into()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let others = [service.into(), sender.into(), strictest.into()];
    let others_are_faster = sql.value(OTHERS_ARE_FASTER, &others)?;
    let mut wait = 0;
    for rate in limits {
        // Each counts as made at the end of its second, a time to come as now.
        let earlier = recent_starts.iter().flat_map(|(second, requests)| {
            let ago = (-(second + 1) * MICROS).max(0);
            std::iter::repeat_n(ago, *requests)
        });
        wait = wait.max(-first_free(rate, earlier));
        if others_are_faster {
            // What they start before they know of this limit.
            let unaware = i64::try_from(UNAWARE.as_micros()).unwrap_or(i64::MAX);
            wait = wait.max(unaware + span(rate));
        }
    }
    sql.change(MOVE, &[service.into(), wait.into()]).map(drop)
}

/// Counts requests as started now.
pub(super) fn count_now(
    sql: &mut dyn Sql,
    service: ServiceId,
    requests: i64,
) -> Result<(), Failed> {
    match requests {
        0 => Ok(()),
        _ => sql
            .change(COUNT_NOW, &[service.into(), requests.into()])
            .map(drop),
    }
}

/// The server's clock, as this computer sees it. What an answer takes to get here makes the server's
/// time look earlier than it is, so the answer that took least counts, of those of the last minute.
#[derive(Debug)]
pub(super) struct ServerClock {
    origin: Instant,
    /// How far this computer's time since `origin` was ahead of the server's, in microseconds,
    /// when the answer came.
    seen: VecDeque<(Instant, i64)>,
}

const REMEMBERED: Duration = Duration::from_secs(60);

impl ServerClock {
    pub(super) fn new() -> ServerClock {
        ServerClock {
            origin: Instant::now(),
            seen: VecDeque::new(),
        }
    }

    /// Takes the server's time, in microseconds since 1970, from an answer that came now.
    pub(super) fn see(&mut self, server: i64) {
        let now = Instant::now();
        let ahead = micros(now - self.origin) - server;
        self.seen
            .retain(|(at, more)| *at + REMEMBERED > now && *more < ahead);
        self.seen.push_back((now, ahead));
    }

    /// When it is this time on the server; never earlier.
    fn local(&self, server: i64) -> Instant {
        let ahead = self.seen.front().map_or(0, |(_, ahead)| *ahead);
        let since = (server + ahead).max(0).cast_unsigned();
        self.origin + Duration::from_micros(since)
    }

    /// When the starts are by this computer's clock.
    pub(super) fn times(&self, reserved: &Reserved) -> Vec<Instant> {
        let Reserved { end, count, space } = reserved;
        let times = (0..*count).map(|index| self.local(end - (count - index) * space));
        times.collect()
    }
}

/// Starts that were reserved: where they end, how many they are and how far apart, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reserved {
    end: i64,
    count: i64,
    space: i64,
}

impl Reserved {
    /// Reads the answer to [`RESERVE`].
    pub(super) fn read(row: &Row<'_>) -> Result<Reserved, Failed> {
        Ok(Reserved {
            end: row.get(0)?,
            count: row.get(1)?,
            space: row.get(2)?,
        })
    }
}

pub(super) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// A wait that ends after so many milliseconds, as stored.
pub(super) fn pause_of(left_ms: Option<i64>, http_status: Option<u16>) -> Option<AskedPause> {
    let left = Duration::from_millis(left_ms?.max(0).cast_unsigned());
    Some(AskedPause::asked_now(left, http_status?))
}

impl PostgresLedger {
    pub fn recent_use(&self, service: ServiceId, now: Timestamp) -> Result<RecentUse, LedgerError> {
        self.session.read(|sql| {
            let sql = sql.as_sql();
            let mut starts = sql.rows(RECENT, &[service.into(), DAY.into()], |row| {
                let ago: i64 = row.get(0)?;
                Ok(StartsInSecond {
                    second: now.as_second() + ago,
                    requests: row.get(1)?,
                })
            })?;
            starts.reverse();
            let pause = sql.row(NEWS, &[service.into(), 0_i64.into()], |row| {
                Ok(pause_of(row.get(1)?, row.get(2)?))
            })?;
            Ok(RecentUse {
                starts,
                pause: pause.flatten(),
            })
        })
    }

    /// Adds requests that were sent outside of any run, and a wait that the service asked for.
    pub fn record_use(&mut self, service: ServiceId, more: RecentUse) -> Result<(), LedgerError> {
        let requests = more.starts.iter().map(|starts| i64::from(starts.requests));
        let requests = requests.sum();
        self.session.write(|sql| {
            count_now(sql, service, requests)?;
            if let Some(pause) = more.pause {
                let left = left_ms(pause).into();
                sql.change(PAUSE, &[service.into(), left, pause.http_status.into()])?;
            }
            Ok(())
        })
    }

    /// Reserves one start time for a request outside of any run. `limits` are its own.
    pub fn reserve_start(
        &mut self,
        service: ServiceId,
        limits: &[Rate],
    ) -> Result<Instant, LedgerError> {
        let none = SenderId::default();
        let (own, ahead) = (i64::MAX, 1_i64);
        let reserved = self.session.write(|sql| {
            join(sql, service, none, limits)?;
            sql.change(LOCK, &[service.into()])?;
            let values = [service.into(), own.into(), ahead.into()];
            sql.as_sql().row(RESERVE, &values, Reserved::read)
        })?;
        let mut clock = ServerClock::new();
        let news = [service.into(), 0_i64.into()];
        let now = self
            .session
            .read(|sql| sql.as_sql().row(NEWS, &news, |row| row.get(4)))?;
        if let Some(now) = now {
            clock.see(now);
        }
        let times = reserved.map(|reserved| clock.times(&reserved));
        Ok(times
            .into_iter()
            .flatten()
            .next()
            .unwrap_or_else(Instant::now))
    }
}

/// How long a wait lasts from now on, in milliseconds.
pub(super) fn left_ms(pause: AskedPause) -> i64 {
    millis(pause.left(clock::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    const SECOND: i64 = MICROS;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn starts_are_so_far_apart_that_a_span_never_holds_one_more() {
        let limits = [rate("20/s"), rate("100/min")];
        let space = space_of(&limits).unwrap();
        for limit in limits {
            let n = i64::from(limit.requests.get());
            let least = i64::try_from(limit.per.as_micros()).unwrap();
            let late = i64::try_from(TOLERANCE.as_micros()).unwrap();
            assert!(n * space - late > least);
        }
        assert_eq!(space_of(&[]), None);
    }

    #[test]
    fn after_nothing_a_limit_holds_at_once() {
        assert_eq!(first_free(&rate("20/s"), [].into_iter()), i64::MAX);
    }

    #[test]
    fn after_a_burst_of_all_a_whole_span_is_waited_for() {
        let burst = std::iter::repeat_n(2 * SECOND, 20);
        let wait = -first_free(&rate("20/10s"), burst);
        assert_eq!(wait, span(&rate("20/10s")) - 2 * SECOND);
    }

    #[test]
    fn after_starts_at_the_same_pace_the_next_one_is_due_as_ever() {
        let rate = rate("100/min");
        let earlier = (0..100).map(|index| index * space(&rate));
        let wait = -first_free(&rate, earlier);
        assert!((0..=space(&rate)).contains(&wait), "{wait}");
    }

    proptest::proptest! {
        /// Whatever was started before, no span holds more than the limit.
        #[test]
        fn no_span_holds_more_than_the_limit(
            requests in 1_u32..12,
            mut earlier in proptest::collection::vec(0_i64..20, 0..40),
        ) {
            let rate = Rate {
                requests: NonZeroU32::new(requests).unwrap(),
                per: Duration::from_secs(10),
            };
            earlier.sort_unstable();
            let earlier: Vec<i64> = earlier.iter().map(|ago| ago * SECOND).collect();
            // A limit that was broken before cannot be kept for what was.
            let from = (-first_free(&rate, earlier.iter().copied())).max(0);
            let new = (0..3 * i64::from(requests)).map(|index| from + index * space(&rate));
            let mut all: Vec<i64> = earlier.iter().map(|ago| -ago).chain(new.clone()).collect();
            all.sort_unstable();
            for end in new {
                let begin = end - 10 * SECOND;
                let within = all.iter().filter(|at| **at > begin && **at <= end).count();
                proptest::prop_assert!(within <= requests as usize, "{} in {:?}", within, all);
            }
        }
    }
}
