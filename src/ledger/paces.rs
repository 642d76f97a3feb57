//! What was learned of the pace that a service takes: where the next run starts.
//!
//! One line for each service, the latest. It is about the service and not about any run,
//! so that neither pruning nor forgetting takes it away.

use std::num::NonZeroU32;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::columns::Seconds;
use super::{Ledger, LedgerError, ServiceId};
use crate::rate::{KnownRate, Rate};

const LEARN: &str = "
INSERT OR REPLACE INTO paces (service, requests, per_ms, is_stated, learned_at)
VALUES (?1, ?2, ?3, ?4, ?5)";

const KNOWN: &str = "SELECT requests, per_ms, is_stated FROM paces WHERE service = ?1";

impl Ledger {
    /// What was learned last of the rate that the service takes; nothing where nobody has
    /// found out.
    ///
    /// # Errors
    ///
    /// Where the ledger cannot be read.
    pub fn known_rate(&self, service: ServiceId) -> Result<Option<KnownRate>, LedgerError> {
        self.checked(known_rate(&self.db, service))
    }
}

fn known_rate(db: &Connection, service: ServiceId) -> rusqlite::Result<Option<KnownRate>> {
    db.query_row(KNOWN, [service.0], read).optional()
}

fn read(row: &Row<'_>) -> rusqlite::Result<KnownRate> {
    let Count(requests) = row.get(0)?;
    let Count(per_ms) = row.get(1)?;
    Ok(KnownRate {
        rate: Rate {
            requests,
            per: Duration::from_millis(per_ms.get().into()),
        },
        is_stated: row.get(2)?,
    })
}

/// Writes down what was learned of a service in place of what was known before.
pub(super) fn learn(
    change: &Transaction<'_>,
    service: ServiceId,
    learned: KnownRate,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let KnownRate { rate, is_stated } = learned;
    // No span is longer than a day, nor any as short as a millisecond's half.
    let per_ms = u32::try_from(rate.per.as_millis())
        .unwrap_or(u32::MAX)
        .max(1);
    let values = params![
        service.0,
        rate.requests.get(),
        per_ms,
        is_stated,
        Seconds(now)
    ];
    change.prepare_cached(LEARN)?.execute(values)?;
    Ok(())
}

/// A number from 1, read back.
struct Count(NonZeroU32);

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Count> {
        let number = value.as_i64()?;
        let count = u32::try_from(number).ok().and_then(NonZeroU32::new);
        count.map(Count).ok_or(FromSqlError::OutOfRange(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::RunId;
    use crate::ledger::Group;
    use crate::ledger::samples::{RUN, Sample, claims};

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
    fn what_was_learned_last_is_known_after_a_kill_and_to_whoever_reads() {
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
        let reader = Ledger::read(killed.ledger.path()).unwrap().unwrap();
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
    fn nothing_is_learned_in_a_run_that_is_not_there() {
        let mut sample = Sample::new();
        let run = RunId(99);
        assert!(sample.ledger.commit(run, &learned("100/min")).is_err());
        assert_eq!(sample.ledger.known_rate(sample.service).unwrap(), None);
    }
}
