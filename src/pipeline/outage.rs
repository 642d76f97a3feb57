//! When the service is down, and when to ask it again.
//!
//! Rule: pure; time and chance are passed in.
//!
//! An answer about a row (created, duplicate, rejected, or a refusal that holds for all) shows
//! that the service is up. After [`SILENT_ATTEMPTS`] consecutive attempts without one it counts
//! as away: one request at a time goes out, each after a longer pause, and no row's attempts
//! count meanwhile. The first answer to a request that started after that ends the outage; an
//! older request may just have been faster than the failures of the others.
//!
//! Rows that crash the service each time, or that it never answers, must not look like an
//! outage: they would never be given up, and keep the others waiting. So failures that could be the
//! rows' own fault count only for rows that did not fail before while others were answered, and only
//! if they come from at least [`DIFFERENT_ROWS`] different rows. Then a row goes that was not tried
//! yet ([`probes`](super::probes)): only if that gets no answer either, the service is away. Where no
//! such row is left, the list of campaigns is asked for. A failed connection is no row's fault.
//!
//! A second clock measures how long requests have gone out without an answer about any row,
//! whatever came instead. `--max-outage` limits it. Time in which nothing is asked of the service, since
//! there is nothing to send or it waits for something else, is no outage.

use std::time::Duration;

use tokio::time::Instant;

use super::window::Slot;
use crate::backoff;
use crate::lead::ErrorCode;

/// Consecutive attempts without an answer about any row that make an outage: one may be a
/// coincidence, five hardly.
pub(super) const SILENT_ATTEMPTS: usize = 5;

const DIFFERENT_ROWS: usize = 3;

/// An attempt without an answer about a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silence {
    pub(super) slot: Slot,
    pub(super) started: Instant,
    /// Whether the row itself may be the cause.
    pub(super) may_be_the_rows: bool,
    /// Whether the row has failed before while others were answered.
    pub(super) is_suspect: bool,
    pub(super) why: ErrorCode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Away {
    /// When the first unanswered attempt started.
    pub(super) since: Instant,
    pub(super) why: ErrorCode,
    pub(super) next: Instant,
    /// When it was noticed: attempts that started before say nothing new.
    pub(super) began: Instant,
    /// Whether the last attempt may have failed by a fault of its row.
    pub(super) may_be_the_rows: bool,
    /// Attempts that have shown it.
    attempts: u32,
}

impl Away {
    /// Before it is certain it is not reported, and attempts still count for their rows.
    fn is_certain(&self) -> bool {
        self.attempts > 0
    }

    fn prolong(&mut self, why: ErrorCode, now: Instant, chance: f64) {
        self.attempts += 1;
        self.why = why;
        self.next = now + backoff::long_delay(self.attempts, chance);
    }
}

#[derive(Debug, Default)]
pub(super) struct Outage {
    silent: Vec<Silence>,
    pub(super) away: Option<Away>,
    /// Beginning and end of the last outage.
    last: Option<(Instant, Instant)>,
    /// Since when requests have gone out without an answer about any row.
    pub(super) asking_since: Option<Instant>,
    /// Since when nothing is asked of the service.
    idle_since: Option<Instant>,
}

impl Outage {
    pub(super) fn started(&mut self, now: Instant) {
        self.asking_since.get_or_insert(now);
    }

    /// An answer about a row came to a request that started at `started`. `waits`: more
    /// answers are expected, since requests are in flight or were refused for now. Returns
    /// since when the service was away, if it is back.
    pub(super) fn answered(
        &mut self,
        started: Instant,
        waits: bool,
        now: Instant,
    ) -> Option<Instant> {
        self.asking_since = waits.then_some(now);
        self.is_there(started, now)
    }

    /// An answer that is not about a row, such as a refusal for now, shows that the service is
    /// up. Returns since when it was away, if it is back.
    pub(super) fn is_there(&mut self, started: Instant, now: Instant) -> Option<Instant> {
        self.silent.clear();
        let back = self.away.take_if(|away| started >= away.began)?;
        if !back.is_certain() {
            return None;
        }
        self.last = Some((back.since, now));
        Some(back.since)
    }

    /// Whether the service was away when an attempt started: then a missing answer says
    /// nothing about the row.
    pub(super) fn covers(&self, started: Instant) -> bool {
        let was_in = |(since, until)| (since..=until).contains(&started);
        self.certain().is_some() || self.last.is_some_and(was_in)
    }

    /// The outage, if it is certain that there is one.
    pub(super) fn certain(&self) -> Option<Away> {
        self.away.filter(Away::is_certain)
    }

    /// Whether an attempt without an answer says anything of the service.
    pub(super) fn counts(&self, silence: &Silence) -> bool {
        // What cannot be read shows that something answers, whatever it is.
        let says_nothing = silence.is_suspect || silence.why == ErrorCode::UnreadableAnswer;
        self.away.is_some() || !says_nothing && !self.covers(silence.started)
    }

    /// Takes an attempt without an answer that counts. Returns the outage if this begins or prolongs one that is
    /// certain.
    pub(super) fn silent(&mut self, silence: Silence, now: Instant, chance: f64) -> Option<Away> {
        match &mut self.away {
            Some(away) if silence.started >= away.began => {
                away.may_be_the_rows = silence.may_be_the_rows;
                away.prolong(silence.why, now, chance);
            }
            Some(_) => return None,
            None => {
                self.silent.push(silence);
                if !self.is_outage() {
                    return None;
                }
                let silent = std::mem::take(&mut self.silent);
                let started = silent.iter().map(|silence| silence.started);
                let may_be_the_rows = silent.iter().any(|silence| silence.may_be_the_rows);
                let mut away = Away {
                    since: started.min().unwrap_or(now),
                    why: silence.why,
                    next: now,
                    began: now,
                    may_be_the_rows,
                    attempts: 0,
                };
                if !may_be_the_rows {
                    away.prolong(silence.why, now, chance);
                }
                self.away = Some(away);
            }
        }
        self.certain()
    }

    /// The list of campaigns, asked for at `started`, did not come either. Returns the outage if this
    /// prolongs it.
    pub(super) fn no_list(&mut self, started: Instant, now: Instant, chance: f64) -> Option<Away> {
        let away = self.away.as_mut().filter(|away| started >= away.began)?;
        away.prolong(away.why, now, chance);
        Some(*away)
    }

    fn is_outage(&self) -> bool {
        let is_general = |silence: &&Silence| !silence.may_be_the_rows;
        if self.silent.iter().filter(is_general).count() >= SILENT_ATTEMPTS {
            return true;
        }
        let mut rows: Vec<Slot> = self.silent.iter().map(|silence| silence.slot).collect();
        rows.sort_unstable();
        rows.dedup();
        self.silent.len() >= SILENT_ATTEMPTS && rows.len() >= DIFFERENT_ROWS
    }

    /// Whether only a row that was not tried yet, or the list of campaigns, shows if the service is
    /// away.
    pub(super) fn may_be_the_rows(&self) -> bool {
        self.away.is_some_and(|away| away.may_be_the_rows)
    }

    /// Whether the next attempt should be one for a row that was not tried yet.
    pub(super) fn wants_fresh_row(&self) -> bool {
        let certain = self.certain();
        certain.is_none_or(|away| away.attempts.is_power_of_two())
    }

    /// From now on time counts, or does not.
    pub(super) fn count(&mut self, is_idle: bool, now: Instant) {
        if is_idle {
            self.idle_since.get_or_insert(now);
        } else if let Some(since) = self.idle_since.take() {
            let since = self.asking_since.max(Some(since));
            let left_out = since.map(|since| now - since).unwrap_or_default();
            self.asking_since = self.asking_since.map(|asking| asking + left_out);
        }
    }

    pub(super) fn too_long_at(&self, most: Duration) -> Option<Instant> {
        // A time beyond the clock's range never comes.
        let since = self.asking_since.filter(|_| self.idle_since.is_none());
        since?.checked_add(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(index: usize) -> Slot {
        Slot::new(0, index)
    }

    fn silence(row: usize, started: Instant, may_be_the_rows: bool) -> Silence {
        Silence {
            slot: slot(row),
            started,
            may_be_the_rows,
            is_suspect: false,
            why: ErrorCode::Timeout,
        }
    }

    fn after(seconds: u64, start: Instant) -> Instant {
        start + Duration::from_secs(seconds)
    }

    /// Five attempts from `start` on, which are lost by `now`, and one more.
    fn go_away(outage: &mut Outage, start: Instant, now: Instant) {
        for row in 0..5 {
            outage.silent(silence(row, start, true), now, 1.0);
        }
        assert!(outage.silent(silence(5, now, true), now, 1.0).is_some());
    }

    #[test]
    fn rows_that_fail_are_no_outage_if_another_one_is_answered() {
        let start = Instant::now();
        let mut outage = Outage::default();
        for row in 0..5 {
            outage.silent(silence(row, start, true), start, 1.0);
        }
        assert!(outage.away.is_some() && !outage.covers(start));
        assert_eq!(outage.answered(start, false, start), None);
        assert!(outage.away.is_none() && !outage.covers(start));
    }

    #[test]
    fn five_attempts_of_different_rows_in_a_row_are_an_outage_with_growing_pauses() {
        let start = Instant::now();
        let mut outage = Outage::default();
        for row in 0..5 {
            assert_eq!(outage.silent(silence(row, start, true), start, 1.0), None);
        }
        // One more that was not tried yet shows it.
        let probe = outage.away.unwrap();
        assert_eq!((probe.next, probe.is_certain()), (start, false));
        let away = outage.silent(silence(5, start, true), start, 1.0).unwrap();
        assert_eq!((away.since, away.next), (start, after(1, start)));
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..7 {
            now = outage.away.unwrap().next;
            let away = outage.silent(silence(5, now, true), now, 1.0).unwrap();
            pauses.push((away.next - now).as_secs());
        }
        assert_eq!(pauses, [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(outage.answered(now, false, now), Some(start));
        assert_eq!(outage.away, None);
        // Attempts that are found to be lost only now were made while it was away.
        let after_it = now + Duration::from_millis(1);
        assert_eq!(
            [start, now, after_it].map(|at| outage.covers(at)),
            [true, true, false]
        );
    }

    #[test]
    fn requests_in_flight_when_the_outage_began_do_not_lengthen_pauses() {
        let start = Instant::now();
        let mut outage = Outage::default();
        go_away(&mut outage, start, after(1, start));
        let before = outage.away.unwrap();
        let late = outage.silent(silence(9, start, true), after(2, start), 1.0);
        assert_eq!((late, outage.away.unwrap()), (None, before));
    }

    #[test]
    fn an_answer_to_an_earlier_request_does_not_end_the_outage() {
        let start = Instant::now();
        let mut outage = Outage::default();
        go_away(&mut outage, start, after(1, start));
        assert_eq!(outage.answered(start, false, after(2, start)), None);
        assert_eq!(outage.is_there(start, start), None);
        assert!(outage.away.is_some());
        let asked_again = after(2, start);
        assert_eq!(outage.is_there(asked_again, asked_again), Some(start));
    }

    #[test]
    fn an_answer_in_between_restarts_the_count() {
        let start = Instant::now();
        let mut outage = Outage::default();
        for round in 0..3 {
            for row in 0..4 {
                let silence = silence(row, start, true);
                assert_eq!(outage.silent(silence, start, 1.0), None, "{round}");
            }
            match round {
                1 => assert_eq!(outage.is_there(start, start), None),
                _ => assert_eq!(outage.answered(start, true, start), None),
            }
        }
    }

    #[test]
    fn one_or_two_rows_that_are_never_answered_are_no_outage() {
        let start = Instant::now();
        let mut outage = Outage::default();
        for attempt in 0..50 {
            let silence = silence(attempt % 2, start, true);
            assert_eq!(outage.silent(silence, start, 1.0), None);
        }
    }

    #[test]
    fn a_failed_connection_is_not_blamed_on_a_row() {
        let start = Instant::now();
        let mut outage = Outage::default();
        for _ in 0..4 {
            assert_eq!(outage.silent(silence(1, start, false), start, 1.0), None);
        }
        assert!(
            outage
                .silent(silence(1, start, false), start, 1.0)
                .is_some()
        );
    }

    #[test]
    fn time_in_which_nothing_is_sent_does_not_count_towards_the_longest_outage() {
        let start = Instant::now();
        let hour = Duration::from_secs(3600);
        let mut outage = Outage::default();
        assert_eq!(outage.too_long_at(hour), None);
        outage.started(start);
        outage.started(after(5, start));
        assert_eq!(outage.too_long_at(hour), Some(after(3600, start)));
        outage.answered(start, true, after(10, start));
        assert_eq!(outage.too_long_at(hour), Some(after(3610, start)));
        // A refusal is not about a row.
        outage.is_there(start, start);
        assert_eq!(outage.too_long_at(hour), Some(after(3610, start)));
        outage.answered(start, false, after(20, start));
        assert_eq!(outage.too_long_at(hour), None);
        outage.started(after(9000, start));
        assert_eq!(outage.too_long_at(hour), Some(after(12_600, start)));
    }

    #[test]
    fn time_in_which_something_else_is_waited_for_does_not_count_towards_the_longest_outage() {
        let start = Instant::now();
        let hour = Duration::from_secs(3600);
        let mut outage = Outage::default();
        outage.started(start);
        outage.count(false, after(600, start));
        outage.count(true, after(1200, start));
        outage.count(true, after(9000, start));
        assert_eq!(outage.too_long_at(hour), None);
        outage.count(false, after(10_200, start));
        assert_eq!(outage.too_long_at(hour), Some(after(12_600, start)));
        // What was asked only after that counts from then on.
        outage.answered(start, false, after(10_300, start));
        outage.count(true, after(10_400, start));
        outage.started(after(20_000, start));
        outage.count(false, after(20_000, start));
        assert_eq!(outage.too_long_at(hour), Some(after(23_600, start)));
    }
}
