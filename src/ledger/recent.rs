//! What earlier processes have sent to a service lately, and how long it asked to be left
//! alone: limits hold across processes.
//!
//! Requests are counted by the second in which they were started. A run's count is written
//! with the next group of entries, so the last ones before a kill may be missing; each of
//! those was for a row whose claim is still open, and
//! [`Ledger::recover`](super::Ledger::recover) counts these as started when it finds them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{Ledger, LedgerError, ServiceId};

/// Nothing is limited over a longer span, in seconds.
const DAY: i64 = 24 * 3600;

const ADD: &str = "
INSERT INTO recent_starts (service, second, requests) VALUES (?1, ?2, ?3)
ON CONFLICT DO UPDATE SET requests = requests + excluded.requests";

const DROP_OLD: &str = "DELETE FROM recent_starts WHERE service = ?1 AND second < ?2";

const RECENT: &str = "
SELECT second, requests FROM recent_starts WHERE service = ?1 AND second >= ?2 ORDER BY second";

const PAUSE: &str = "
INSERT INTO pauses (service, until_ms, http_status) VALUES (?1, ?2, ?3)
ON CONFLICT DO UPDATE SET until_ms = excluded.until_ms, http_status = excluded.http_status
WHERE excluded.until_ms > until_ms";

const PAUSED: &str = "SELECT until_ms, http_status FROM pauses WHERE service = ?1";

/// Requests that were started in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartsInSecond {
    /// The second, counted from 1970.
    pub second: i64,
    /// How many.
    pub requests: u32,
}

/// A wait that a service has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedPause {
    /// Until when.
    pub until: Timestamp,
    /// The HTTP status of the answer that asked for it.
    pub http_status: u16,
}

/// What was sent to a service lately.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentUse {
    /// The requests of the last day, in order of time.
    pub starts: Vec<StartsInSecond>,
    /// The last wait that it asked for, which may have passed.
    pub pause: Option<AskedPause>,
}

impl Ledger {
    /// What was sent to the service lately.
    ///
    /// # Errors
    ///
    /// Where the ledger cannot be read.
    pub fn recent_use(&self, service: ServiceId, now: Timestamp) -> Result<RecentUse, LedgerError> {
        self.checked(recent_use(&self.db, service, now))
    }

    /// Adds what was sent outside of any run, and how long the service then asked to be left
    /// alone.
    ///
    /// # Errors
    ///
    /// Where the ledger cannot be written.
    pub fn note_use(&mut self, service: ServiceId, more: &RecentUse) -> Result<(), LedgerError> {
        let noted = note(&mut self.db, service, more);
        self.checked(noted)
    }
}

fn note(db: &mut Connection, service: ServiceId, more: &RecentUse) -> rusqlite::Result<()> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    add(&change, service, &more.starts)?;
    if let Some(asked) = more.pause {
        pause(&change, service, asked)?;
    }
    change.commit()
}

fn recent_use(db: &Connection, service: ServiceId, now: Timestamp) -> rusqlite::Result<RecentUse> {
    let mut recent = db.prepare(RECENT)?;
    let starts = recent.query_map([service.0, now.as_second() - DAY], |row| {
        Ok(StartsInSecond {
            second: row.get(0)?,
            requests: row.get(1)?,
        })
    })?;
    let pause = db.query_row(PAUSED, [service.0], |row| Ok((row.get(0)?, row.get(1)?)));
    let pause: Option<(i64, u16)> = pause.optional()?;
    Ok(RecentUse {
        starts: starts.collect::<rusqlite::Result<_>>()?,
        pause: pause.and_then(|(until, http_status)| {
            let until = Timestamp::from_millisecond(until).ok()?;
            Some(AskedPause { until, http_status })
        }),
    })
}

/// Adds requests to those that are counted, and drops what is too old to matter.
pub(super) fn add(
    change: &Transaction<'_>,
    service: ServiceId,
    starts: &[StartsInSecond],
) -> rusqlite::Result<()> {
    let Some(latest) = starts.iter().map(|start| start.second).max() else {
        return Ok(());
    };
    let mut insert = change.prepare_cached(ADD)?;
    for start in starts {
        insert.execute(params![service.0, start.second, start.requests])?;
    }
    change
        .prepare_cached(DROP_OLD)?
        .execute([service.0, latest - DAY])?;
    Ok(())
}

/// Writes down until when the service is not to be sent anything; a longer wait that it
/// asked for before stays.
pub(super) fn pause(
    change: &Transaction<'_>,
    service: ServiceId,
    pause: AskedPause,
) -> rusqlite::Result<()> {
    let until = pause.until.as_millisecond();
    let values = params![service.0, until, pause.http_status];
    change.prepare_cached(PAUSE)?.execute(values)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Group;
    use crate::ledger::samples::{RUN, Sample, claims};

    fn starts(counts: &[(i64, u32)]) -> Vec<StartsInSecond> {
        let start = |(second, requests): &(i64, u32)| StartsInSecond {
            second: *second,
            requests: *requests,
        };
        counts.iter().map(start).collect()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn requests_of_the_last_day_are_known_after_a_kill_and_older_ones_are_dropped() {
        let mut sample = Sample::new();
        for counts in [[(1, 7), (90_000, 1)], [(90_000, 2), (90_001, 4)]] {
            let group = Group {
                starts: starts(&counts),
                ..Group::default()
            };
            sample.commit(RUN, group);
        }
        let killed = sample.killed();
        let recent = killed
            .ledger
            .recent_use(killed.service, at(90_002))
            .unwrap();
        assert_eq!(recent.starts, starts(&[(90_000, 3), (90_001, 4)]));
        assert_eq!(sample.number("SELECT count(*) FROM recent_starts"), 2);
    }

    #[test]
    fn a_claim_that_is_open_after_a_kill_counts_as_a_request() {
        let mut sample = Sample::new();
        sample.commit(RUN, claims([1, 2, 3]));
        let mut killed = sample.killed();
        let before = Timestamp::now();
        assert_eq!(killed.recover(), 3);
        let recent = killed.ledger.recent_use(killed.service, Timestamp::now());
        let [start] = recent.unwrap().starts[..] else {
            panic!("one second");
        };
        assert_eq!(start.requests, 3);
        assert!(start.second >= before.as_second());
        // Once is enough.
        assert_eq!(killed.recover(), 0);
        assert_eq!(killed.number("SELECT sum(requests) FROM recent_starts"), 3);
    }

    #[test]
    fn the_longest_wait_that_a_service_asked_for_is_known_and_another_service_has_none() {
        let mut sample = Sample::new();
        let asked = |minutes: i64| AskedPause {
            until: at(60 * minutes),
            http_status: 429,
        };
        for (in_one_group, longest) in [(&[1][..], 1), (&[10], 10), (&[5], 10), (&[20, 15], 20)] {
            let mut group = Group::default();
            for minutes in in_one_group {
                group.note_pause(asked(*minutes));
            }
            sample.commit(RUN, group);
            let recent = sample.ledger.recent_use(sample.service, at(0)).unwrap();
            assert_eq!(recent.pause, Some(asked(longest)));
        }
        let other = sample.ledger.service("https://other.example").unwrap();
        let recent = sample.ledger.recent_use(other, at(0)).unwrap();
        assert_eq!(recent, RecentUse::default());
    }
}
