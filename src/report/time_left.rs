//! How long it will take from now on, as far as that can be told honestly.
//!
//! Rule: pure; made of events. The rows that are left, at the pace that is allowed or the
//! one that is seen, whichever is less; and what is left of a pause. Nothing is said where
//! nobody knows: during an outage, and as long as the rows have not been counted.

use std::time::Duration;

use super::pace_seen::PaceSeen;
use super::share_to_send::ShareToSend;
use crate::event::{PauseReason, Pulse, RunEvent};

/// What the estimate is made of.
#[derive(Debug, Default)]
pub(super) struct TimeLeft {
    seen: PaceSeen,
    to_send: ShareToSend,
    /// Rows that had been read by the latest pulse.
    read: u64,
    pulse: Option<Pulse>,
}

impl TimeLeft {
    /// Takes an event.
    pub(super) fn note(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settled { row, sent, .. } => self.settle(row.id().0, *sent),
            RunEvent::Pulse(pulse) => self.pulse(pulse),
            _ => {}
        }
    }

    fn settle(&mut self, row: u64, sent: bool) {
        if sent {
            self.seen.answer()
        } else {
            self.to_send.known(row)
        }
    }

    fn pulse(&mut self, pulse: &Pulse) {
        self.read = pulse.read;
        self.to_send.read(self.read);
        self.seen.pulse(pulse);
        self.pulse = Some(*pulse);
    }

    /// Rows answered in a second, over the last minute or so.
    pub(super) fn pace_seen(&self) -> Option<f64> {
        self.seen.per_second()
    }

    /// The time until all of so many rows have their outcome.
    pub(super) fn estimate(&self, total: u64) -> Option<Duration> {
        let pulse = self.pulse.as_ref()?;
        let pause = match pulse.pause {
            None => Duration::ZERO,
            Some(pause) => match pause.reason {
                PauseReason::Refused(_) => pause.left,
                PauseReason::Outage { .. } => return None,
            },
        };
        let unread = total.saturating_sub(self.read) as f64;
        let rows = pulse.waiting as f64 + unread * self.to_send.share();
        let allowed = pulse
            .allowed
            .map(|rate| rate.time_for(1).as_secs_f64().recip());
        let pace = match (allowed, self.seen.trusted()) {
            (Some(allowed), Some(seen)) => allowed.min(seen),
            (allowed, seen) => allowed.or(seen)?,
        };
        let time = Duration::try_from_secs_f64(rows / pace).ok()?;
        (rows > 0.0).then(|| time.saturating_add(pause))
    }
}

/// A time as it is told of what is to come: `about 1 h 40 min left`. Coarser the longer it
/// is, so that it does not flicker, and rather more than less.
pub(super) fn about(time: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let up = |step: u64| (time.as_secs_f64() / step as f64).ceil() as u64 * step;
    let text = match time.as_secs() {
        ..55 => format!("{} s", up(5).max(5)),
        55..3540 => format!("{} min", up(MINUTE) / MINUTE),
        3540..36_000 => {
            let rounded = up(5 * MINUTE);
            match (rounded / HOUR, rounded % HOUR / MINUTE) {
                (hours, 0) => format!("{hours} h"),
                (hours, minutes) => format!("{hours} h {minutes} min"),
            }
        }
        36_000..172_800 => format!("{} h", up(HOUR) / HOUR),
        _ => format!("{} days", up(DAY) / DAY),
    };
    format!("about {text} left")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::event::Pause;
    use crate::lead::ErrorCode;
    use crate::rate::Rate;

    /// How far ahead rows are read: as the pipeline does it, farther than is looked back on
    /// to tell how many are to be sent.
    const AHEAD: usize = 20_000;

    impl TimeLeft {
        /// So many rows that were sent are answered.
        pub(in crate::report) fn answered(&mut self, rows: u32) {
            (0..rows).for_each(|_| self.seen.answer());
        }
    }

    /// A row, by what is known of it when it is read.
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        ToSend,
        /// Invalid, or on a list, or sent by another run or an earlier process of this one.
        NotSent,
    }

    /// A run, second by second.
    struct Run {
        rows: Vec<Kind>,
        read: usize,
        waiting: Vec<u64>,
        second: u64,
        /// Answers owed: the pace may be a fraction.
        owed: f64,
        time_left: TimeLeft,
    }

    impl Run {
        fn of(rows: Vec<Kind>) -> Run {
            Run {
                rows,
                read: 0,
                waiting: Vec::new(),
                second: 0,
                owed: 0.0,
                time_left: TimeLeft::default(),
            }
        }

        fn is_over(&self) -> bool {
            self.read == self.rows.len() && self.waiting.is_empty()
        }

        /// A second in which so many rows are answered.
        fn second(&mut self, answers: f64, allowed: Option<Rate>, pause: Option<Pause>) {
            while self.read < self.rows.len() && self.waiting.len() < AHEAD {
                self.read += 1;
                let row = self.read as u64;
                match self.rows[self.read - 1] {
                    Kind::ToSend => self.waiting.push(row),
                    Kind::NotSent => self.time_left.settle(row, false),
                }
            }
            self.owed += answers;
            while self.owed >= 1.0 && !self.waiting.is_empty() {
                self.owed -= 1.0;
                let row = self.waiting.remove(0);
                self.time_left.settle(row, true);
            }
            self.second += 1;
            self.time_left.pulse(&Pulse {
                elapsed: Duration::from_secs(self.second),
                allowed,
                in_flight: 1,
                requests: 0,
                read: self.read as u64,
                waiting: self.waiting.len() as u64,
                pause,
            });
        }

        fn estimate(&self) -> Option<f64> {
            let time = self.time_left.estimate(self.rows.len() as u64)?;
            Some(time.as_secs_f64())
        }
    }

    /// Sends at the pace of each second, and returns the estimates with what was true.
    fn estimates(mut run: Run, per_minute: impl Fn(u64) -> u32) -> Vec<(f64, f64)> {
        let mut estimates = Vec::new();
        while !run.is_over() {
            let pace = per_minute(run.second);
            run.second(f64::from(pace) / 60.0, Some(Rate::per_minute(pace)), None);
            estimates.extend(run.estimate().map(|estimate| (estimate, run.second)));
        }
        let end = run.second;
        let with_truth = estimates.into_iter();
        with_truth
            .map(|(estimate, at)| (estimate, (end - at) as f64))
            .collect()
    }

    #[track_caller]
    fn assert_near(estimates: &[(f64, f64)], share: f64) {
        for (estimate, truth) in estimates {
            let off = (estimate - truth).abs();
            assert!(off <= truth * share + 3.0, "{estimate} s, not {truth} s");
        }
    }

    #[test]
    fn a_steady_pace_is_told_rightly_from_the_first_second_on() {
        let estimates = estimates(Run::of(vec![Kind::ToSend; 1000]), |_| 100);
        assert!(estimates.len() >= 595, "{}", estimates.len());
        assert_near(&estimates, 0.05);
    }

    #[test]
    fn a_growing_pace_shortens_the_time_and_none_is_promised_that_was_not_seen() {
        let run = Run::of(vec![Kind::ToSend; 20_000]);
        let estimates = estimates(run, |second| 600.min(100 + second as u32));
        for (estimate, truth) in &estimates {
            assert!(estimate >= &(truth * 0.95 - 3.0), "{estimate} of {truth}");
        }
        // A minute after it has stopped growing the truth is told.
        assert_near(&estimates[570..], 0.05);
        // But for the one time when what is seen takes the place of what is allowed.
        let grows = estimates[15..]
            .windows(2)
            .filter(|two| two[1].0 > two[0].0 * 1.02 + 1.0);
        assert_eq!(grows.count(), 0);
    }

    #[test]
    fn the_first_half_of_a_run_that_goes_on_flies_by_and_is_no_pace() {
        let mut rows = vec![Kind::NotSent; 50_000];
        rows.extend(vec![Kind::ToSend; 50_000]);
        let estimates = estimates(Run::of(rows), |_| 600);
        assert_near(&estimates, 0.1);
    }

    #[test]
    fn rows_that_are_read_and_answered_between_two_pulses_are_of_the_pace() {
        let mut time_left = TimeLeft::default();
        let mut read = 0;
        for second in 0..=20 {
            for row in read + 1..=read + 30_000 {
                time_left.settle(row, true);
            }
            read += 30_000;
            time_left.pulse(&Pulse {
                elapsed: Duration::from_secs(second),
                allowed: None,
                in_flight: 1,
                requests: read,
                read,
                waiting: 0,
                pause: None,
            });
        }
        let pace = time_left.pace_seen().unwrap();
        assert!((29_999.0..30_001.0).contains(&pace), "{pace}");
    }

    #[test]
    fn rows_that_are_not_sent_take_no_time() {
        let kinds = [Kind::ToSend, Kind::NotSent];
        let rows = kinds.into_iter().cycle().take(40_000).collect();
        assert_near(&estimates(Run::of(rows), |_| 600), 0.05);
    }

    #[test]
    fn a_service_slower_than_allowed_decides() {
        let mut run = Run::of(vec![Kind::ToSend; 1000]);
        for _ in 0..100 {
            run.second(0.1, Some(Rate::per_second(5)), None);
        }
        let estimate = run.estimate().unwrap();
        assert!((9_500.0..10_500.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn without_a_limit_the_pace_has_to_be_seen_first() {
        let mut run = Run::of(vec![Kind::ToSend; 10_000]);
        for _ in 0..10 {
            run.second(50.0, None, None);
            assert_eq!(run.estimate(), None);
        }
        run.second(50.0, None, None);
        let estimate = run.estimate().unwrap();
        assert!((180.0..200.0).contains(&estimate), "{estimate}");
    }

    fn refused(left: u64) -> Option<Pause> {
        Some(Pause {
            left: Duration::from_secs(left),
            reason: PauseReason::Refused(ErrorCode::Http(429)),
        })
    }

    fn outage(left: u64) -> Option<Pause> {
        Some(Pause {
            left: Duration::from_secs(left),
            reason: PauseReason::Outage {
                since: Timestamp::UNIX_EPOCH,
                why: ErrorCode::Timeout,
            },
        })
    }

    #[test]
    fn what_is_left_of_a_pause_is_added_and_one_that_is_over_is_forgotten() {
        let allowed = Some(Rate::per_second(10));
        let mut run = Run::of(vec![Kind::ToSend; 10_000]);
        (0..100).for_each(|_| run.second(10.0, allowed, None));
        for left in (1..=30).rev() {
            run.second(0.0, allowed, refused(left));
            let estimate = run.estimate().unwrap();
            // The second before the pause was told of is one of work without answers.
            let truth = 900.0 + left as f64;
            assert!(
                (truth..truth * 1.02 + 1.0).contains(&estimate),
                "{estimate}"
            );
        }
        run.second(0.0, allowed, None);
        run.second(10.0, allowed, None);
        let estimate = run.estimate().unwrap();
        assert!((890.0..920.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn a_service_that_refuses_every_minute_is_as_fast_as_it_is_with_its_pauses() {
        // 100 requests at once, then nothing for the rest of the minute.
        let mut run = Run::of(vec![Kind::ToSend; 2000]);
        for second in 0..600u64 {
            match second % 60 {
                at @ 0..2 => run.second(50.0, None, refused(58).filter(|_| at == 1)),
                at => run.second(0.0, None, refused(59 - at).filter(|_| at < 59)),
            }
        }
        let estimate = run.estimate().unwrap();
        assert!((500.0..700.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn nobody_knows_how_long_an_outage_takes_and_afterwards_it_is_forgotten() {
        let allowed = Some(Rate::per_second(10));
        let mut run = Run::of(vec![Kind::ToSend; 10_000]);
        (0..60).for_each(|_| run.second(10.0, allowed, None));
        for second in 0..3600 {
            run.second(0.0, allowed, outage(second % 60));
            assert_eq!(run.estimate(), None);
        }
        run.second(0.0, allowed, None);
        let estimate = run.estimate().unwrap();
        assert!((935.0..980.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn nothing_is_said_at_first_and_when_nothing_is_left() {
        assert_eq!(TimeLeft::default().estimate(1000), None);
        let mut run = Run::of(vec![Kind::ToSend; 10]);
        while !run.is_over() {
            run.second(5.0, Some(Rate::per_second(5)), None);
        }
        assert_eq!(run.estimate(), None);
    }

    #[test]
    fn more_rows_than_were_counted_do_no_harm() {
        let mut run = Run::of(vec![Kind::ToSend; 100]);
        run.second(1.0, Some(Rate::per_second(1)), None);
        let left = run.time_left.estimate(50);
        assert_eq!(left, Some(Duration::from_secs(99)));
    }

    #[test]
    fn a_time_is_told_the_coarser_the_longer_it_is() {
        for (seconds, said) in [
            (0.4, "5 s"),
            (37.0, "40 s"),
            (40.0, "40 s"),
            (54.9, "55 s"),
            (55.0, "1 min"),
            (60.0, "1 min"),
            (61.0, "2 min"),
            (3539.0, "59 min"),
            (3541.0, "1 h"),
            (5280.0, "1 h 30 min"),
            (6000.0, "1 h 40 min"),
            (35_999.0, "10 h"),
            (36_001.0, "11 h"),
            (172_800.0, "2 days"),
            (200_000.0, "3 days"),
        ] {
            let text = about(Duration::from_secs_f64(seconds));
            assert_eq!(text, format!("about {said} left"), "{seconds}");
        }
    }
}
