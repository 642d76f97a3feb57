//! What is known about a service's pace: the rate that it accepts, what earlier
//! processes have sent to it lately, and until when it has asked to be left alone.
//!
//! This is about the service and not about a run, so neither pruning nor forgetting
//! removes it. Requests are counted by the second in which they started. A run's count is
//! written with the next group of entries, so the last requests before a kill may be
//! missing. Each of those was for a row whose claim is still open, and
//! [`SqliteLedger::recover`](super::SqliteLedger::recover) counts these as started when it finds them.

use std::time::Duration;

use jiff::Timestamp;

use super::{AskedPause, Group, LedgerError, RecentUse, ServiceId, SqliteLedger, StartsInSecond};
use crate::ledger::store::{Failed, Sql};

/// The longest span of any rate limit, in seconds.
const DAY: i64 = 24 * 3600;

const ADD: &str = "
INSERT INTO recent_starts (service, second, requests) VALUES ($1, $2, $3)
ON CONFLICT DO UPDATE SET requests = requests + excluded.requests";

const DROP_OLD: &str = "DELETE FROM recent_starts WHERE service = $1 AND second < $2";

const RECENT: &str = "
SELECT second, requests FROM recent_starts WHERE service = $1 AND second >= $2 ORDER BY second";

const PAUSE: &str = "
UPDATE services SET pause_asked_at_ms = $2, pause_until_ms = $3, pause_http_status = $4
WHERE id = $1";

/// No wait that is believed is longer than a day. Earlier versions did not note when it was asked.
const PAUSED: &str = "
SELECT max(coalesce(pause_asked_at_ms, 0), pause_until_ms - 86400000), pause_until_ms,
    pause_http_status
FROM services WHERE id = $1 AND pause_until_ms IS NOT NULL";

impl SqliteLedger {
    pub fn recent_use(&self, service: ServiceId, now: Timestamp) -> Result<RecentUse, LedgerError> {
        let since = now.as_second() - DAY;
        self.read_sql(|sql| {
            let starts = sql.rows(RECENT, &[service.into(), since.into()], |row| {
                Ok(StartsInSecond {
                    second: row.get("second")?,
                    requests: row.get("requests")?,
                })
            })?;
            let pause = paused(sql, service)?;
            Ok(RecentUse { starts, pause })
        })
    }

    /// Adds requests that were sent outside of any run, and a wait that the service asked for.
    pub fn record_use(&mut self, service: ServiceId, more: RecentUse) -> Result<(), LedgerError> {
        let group = Group {
            starts: more.starts,
            pause: more.pause,
            ..Group::default()
        };
        self.write_sql(|sql| record(sql, service, &group))
    }
}

pub(super) fn record(sql: &mut dyn Sql, service: ServiceId, group: &Group) -> Result<(), Failed> {
    add_starts(sql, service, &group.starts)?;
    if let Some(pause) = group.pause
        && pause.outlasts(paused(sql, service)?)
    {
        let times = [pause.asked_at, pause.until()].map(|time| time.as_millisecond().into());
        let [asked_at, until] = times;
        let values = [service.into(), asked_at, until, pause.http_status.into()];
        sql.change(PAUSE, &values)?;
    }
    Ok(())
}

/// The last wait that the service asked for; it may be over.
fn paused(sql: &mut dyn Sql, service: ServiceId) -> Result<Option<AskedPause>, Failed> {
    let pause = sql.row(PAUSED, &[service.into()], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(
        pause.and_then(|(asked_at, until, http_status): (i64, i64, u16)| {
            let wait = until.checked_sub(asked_at)?.max(0).unsigned_abs();
            Some(AskedPause {
                asked_at: Timestamp::from_millisecond(asked_at).ok()?,
                wait: Duration::from_millis(wait),
                http_status,
            })
        }),
    )
}

/// Adds to the counted requests, and drops those that are too old to matter.
pub(super) fn add_starts(
    sql: &mut dyn Sql,
    service: ServiceId,
    starts: &[StartsInSecond],
) -> Result<(), Failed> {
    let Some(latest) = starts.iter().map(|start| start.second).max() else {
        return Ok(());
    };
    for start in starts {
        let values = [service.into(), start.second.into(), start.requests.into()];
        sql.change(ADD, &values)?;
    }
    sql.change(DROP_OLD, &[service.into(), (latest - DAY).into()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::RunId;
    use crate::ledger::sqlite::samples::{RUN, Sample, claims};
    use crate::ledger::{Ledger, LedgerPlace};
    use crate::rate::KnownRate;

    fn rate(text: &str, is_stated: bool) -> KnownRate {
        KnownRate {
            rate: text.parse().unwrap(),
            is_stated,
        }
    }

    fn learned(text: &str) -> Group {
        Group {
            learned: Some(rate(text, true)),
            ..Group::default()
        }
    }

    #[test]
    fn nothing_is_known_of_a_service_until_something_was_learned() {
        let sample = Sample::new();
        assert_eq!(sample.ledger.known_rate(sample.service).unwrap(), None);
    }

    #[test]
    fn what_was_learned_last_is_known_after_a_kill_and_to_readers() {
        let mut sample = Sample::new();
        sample.commit(RUN, learned("100/min"));
        let later = Group {
            learned: Some(rate("20/10s", false)),
            ..claims([1])
        };
        sample.commit(RUN, later);
        sample.commit(RUN, claims([2]));
        let killed = sample.killed();
        let known = Some(rate("20/10s", false));
        assert_eq!(killed.ledger.known_rate(killed.service).unwrap(), known);
        let place = LedgerPlace::File(killed.ledger.file().place().clone());
        let reader = Ledger::read(&place).unwrap().unwrap();
        assert_eq!(reader.known_rate(killed.service).unwrap(), known);
    }

    #[test]
    fn every_service_has_a_pace_of_its_own() {
        let mut sample = Sample::new();
        let other = sample.ledger.service("https://other.example").unwrap();
        sample.commit(RUN, learned("100/min"));
        assert_eq!(sample.ledger.known_rate(other).unwrap(), None);
    }

    #[test]
    fn a_rate_is_read_back_as_it_was_learned() {
        let mut sample = Sample::new();
        for text in ["1/250ms", "5000/day", "1000000/s", "1/10min"] {
            sample.commit(RUN, learned(text));
            let known = sample.ledger.known_rate(sample.service).unwrap();
            assert_eq!(known, Some(rate(text, true)));
        }
    }

    #[test]
    fn the_pace_of_a_service_outlives_its_runs() {
        let mut sample = Sample::new();
        sample.commit(RUN, learned("100/min"));
        sample.ledger.prune(Timestamp::now()).unwrap();
        sample.ledger.forget_run(RUN).unwrap();
        let known = sample.ledger.known_rate(sample.service).unwrap();
        assert_eq!(known, Some(rate("100/min", true)));
    }

    #[test]
    fn nothing_is_learned_for_a_missing_run() {
        let mut sample = Sample::new();
        let run = RunId(99);
        assert!(sample.ledger.commit(run, &learned("100/min")).is_err());
        assert_eq!(sample.ledger.known_rate(sample.service).unwrap(), None);
    }

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
        let asked = |minutes: u64| AskedPause {
            asked_at: at(0),
            wait: Duration::from_secs(60 * minutes),
            http_status: 429,
        };
        for (in_one_group, longest) in [(&[1][..], 1), (&[10], 10), (&[5], 10), (&[20, 15], 20)] {
            let mut group = Group::default();
            for minutes in in_one_group {
                group.set_pause(asked(*minutes));
            }
            sample.commit(RUN, group);
            let recent = sample.ledger.recent_use(sample.service, at(0)).unwrap();
            assert_eq!(recent.pause, Some(asked(longest)));
        }
        let other = sample.ledger.service("https://other.example").unwrap();
        let recent = sample.ledger.recent_use(other, at(0)).unwrap();
        assert_eq!(recent, RecentUse::default());
    }

    #[test]
    fn a_wait_that_was_noted_under_a_clock_years_ahead_gives_way_to_the_next_one() {
        let mut sample = Sample::new();
        let now = 1_800_000_000;
        for (asked_at, wait) in [(now + 90_000_000, 3600), (now, 20), (now + 5, 10)] {
            let pause = AskedPause {
                asked_at: at(asked_at),
                wait: Duration::from_secs(wait),
                http_status: 429,
            };
            let mut group = Group::default();
            group.set_pause(pause);
            sample.commit(RUN, group);
        }
        let recent = sample.ledger.recent_use(sample.service, at(now)).unwrap();
        let pause = recent.pause.unwrap();
        assert_eq!((pause.asked_at, pause.until()), (at(now), at(now + 20)));
    }

    #[test]
    fn a_wait_of_which_only_its_end_is_known_is_believed_up_to_a_day_ahead() {
        let sample = Sample::new();
        let now = 1_800_000_000;
        let hour = 3600;
        for (until, asked_at, left) in [
            (now + hour, "NULL", Some(hour)),
            (now + 25 * hour, "NULL", None),
            (now + 90_000_000, "NULL", None),
            // No wait is as long as that.
            (now + 90_000_000, "0", None),
        ] {
            let noted = format!(
                "UPDATE services SET pause_until_ms = {until}000, pause_asked_at_ms = {asked_at},
                    pause_http_status = 429"
            );
            sample.ledger.file().db.execute_batch(&noted).unwrap();
            let recent = sample.ledger.recent_use(sample.service, at(now)).unwrap();
            let found = recent.pause.unwrap().left(at(now));
            let left = left.map(|left: i64| Duration::from_secs(left.unsigned_abs()));
            assert_eq!(found, left, "{until}");
        }
    }
}
