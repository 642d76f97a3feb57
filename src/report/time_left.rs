//! The rate at which rows are answered, and the time left.
//!
//! Rule: pure; made from events, and the time comes from the pulses. The time left is that for the
//! remaining rows at the allowed rate or the measured one, whichever is lower, plus the rest of a
//! pause. Nothing is shown if it cannot be known: during an outage or a wait for another run, and until
//! the rows are counted.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::{Pause, Pulse, RunEvent, Waiting};

/// The rate is measured over this much time of sending.
const LOOK_BACK: Duration = Duration::from_secs(60);

/// With less time of sending or fewer rows there is no rate yet.
const MIN_SENDING: Duration = Duration::from_secs(10);
const MIN_ROWS: u64 = 20;

/// About how many of the rows read last determine the share of the remaining rows that has to be
/// sent. Lists have stretches of rows that are settled already or invalid; they take no time.
const ROWS_BACK: f64 = 5000.0;

#[derive(Debug, Default)]
pub(super) struct TimeLeft {
    /// What happened between pulses, the latest last.
    spans: VecDeque<Span>,
    /// Rows answered since the latest pulse.
    answered: u64,
    /// The last row that is included in `read` and `to_send`.
    counted: u64,
    /// Rows read, and how many of them are to be sent. The older rows are, the less they count.
    read: f64,
    to_send: f64,
    latest: Option<Pulse>,
}

#[derive(Debug, Default)]
struct Span {
    sending: Duration,
    /// Time spent waiting because the service refused. Time of other waits is not counted.
    refused: Duration,
    refusals: u32,
    answered: u64,
}

impl TimeLeft {
    pub(super) fn count(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Settled { row, sent, .. } => self.settle(row.id().0, *sent),
            RunEvent::Pulse(pulse) => self.pulse(pulse),
            _ => {}
        }
    }

    /// Rows that are not sent are settled when they are read, in
    /// order. So the rows between two of them are still to be sent.
    fn settle(&mut self, row: u64, sent: bool) {
        if sent {
            self.answered += 1;
        } else if row > self.counted {
            self.count_up_to(row, 1);
        }
    }

    fn count_up_to(&mut self, up_to: u64, not_sent: u64) {
        let rows = up_to.saturating_sub(self.counted);
        let kept = (1.0 - 1.0 / ROWS_BACK).powf(rows as f64);
        self.read = self.read * kept + rows as f64;
        self.to_send = self.to_send * kept + rows.saturating_sub(not_sent) as f64;
        self.counted = self.counted.max(up_to);
    }

    fn pulse(&mut self, pulse: &Pulse) {
        self.count_up_to(pulse.read, 0);
        let answered = std::mem::take(&mut self.answered);
        // The answers before the first pulse include rows that were not sent.
        if let Some(latest) = self.latest.replace(pulse.clone()) {
            let time = pulse.elapsed.saturating_sub(latest.elapsed);
            let (refused, away) = match &latest.pause {
                None => (Duration::ZERO, Duration::ZERO),
                Some(pause) if is_refused(pause) => (pause.left.min(time), Duration::ZERO),
                Some(_) => (Duration::ZERO, time),
            };
            self.push(Span {
                sending: time.saturating_sub(refused).saturating_sub(away),
                refused,
                refusals: u32::from(was_refused(pulse) && !was_refused(&latest)),
                answered,
            });
        }
    }

    fn push(&mut self, span: Span) {
        match self.spans.back_mut() {
            // A long pause is one span, otherwise there would be thousands.
            Some(last) if span.sending.is_zero() && last.sending.is_zero() => {
                last.refused += span.refused;
                last.refusals += span.refusals;
                last.answered += span.answered;
            }
            _ => self.spans.push_back(span),
        }
        while let Some(first) = self.spans.front()
            && self.sending() >= LOOK_BACK + first.sending
        {
            self.spans.pop_front();
        }
    }

    fn sending(&self) -> Duration {
        self.spans.iter().map(|span| span.sending).sum()
    }

    /// Rows answered in a second over the last minute of sending; `None` if
    /// there is not enough data. If the service has refused more than once
    /// in that time, its pauses are how it limits us, so they count as time.
    pub(super) fn pace_seen(&self) -> Option<f64> {
        let (mut rows, mut refusals, mut refused) = (0, 0, Duration::ZERO);
        for span in &self.spans {
            rows += span.answered;
            refusals += span.refusals;
            refused += span.refused;
        }
        let sending = self.sending();
        // Few answers in a whole minute mean a slow rate, not a lack of data.
        let is_enough =
            sending >= LOOK_BACK && rows > 0 || sending >= MIN_SENDING && rows >= MIN_ROWS;
        let time = if refusals > 1 {
            sending + refused
        } else {
            sending
        };
        is_enough.then(|| rows as f64 / time.as_secs_f64())
    }

    pub(super) fn estimate(&self, total: u64) -> Option<Duration> {
        let pulse = self.latest.as_ref()?;
        let pause = match &pulse.pause {
            None => Duration::ZERO,
            Some(pause) if has_end(pause) => pause.left,
            Some(_) => return None,
        };
        let share = if self.read > 0.0 {
            self.to_send / self.read
        } else {
            1.0
        };
        let unread = total.saturating_sub(pulse.read) as f64;
        let rows = pulse.waiting as f64 + unread * share;
        let allowed = pulse
            .allowed
            .map(|pace| pace.rate.time_for(1).as_secs_f64().recip());
        let pace = match (allowed, self.pace_seen()) {
            (Some(allowed), Some(seen)) => allowed.min(seen),
            (allowed, seen) => allowed.or(seen)?,
        };
        let time = Duration::try_from_secs_f64(rows / pace).ok()?;
        (rows > 0.0).then(|| time.saturating_add(pause))
    }
}

fn is_refused(pause: &Pause) -> bool {
    matches!(pause.why, Waiting::Asked | Waiting::Refused)
}

fn was_refused(pulse: &Pulse) -> bool {
    pulse.pause.as_ref().is_some_and(is_refused)
}

/// Whether it is known when sending goes on.
fn has_end(pause: &Pause) -> bool {
    is_refused(pause) || matches!(pause.why, Waiting::Pace | Waiting::Retry)
}

/// A time left: `1 h 40 min`. It is rounded up, more
/// coarsely the longer it is, so that it does not flicker.
pub(super) fn rounded(time: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let up = |step: u64| (time.as_secs_f64() / step as f64).ceil() as u64 * step;
    match time.as_secs() {
        ..5 => format!("{} s", up(1).max(1)),
        5..55 => format!("{} s", up(5)),
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
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::rate::{Pace, Rate};

    /// How many rows are read ahead: as in the pipeline, more
    /// than the number that determines the share to send.
    const AHEAD: usize = 20_000;

    impl TimeLeft {
        /// Counts this many answers to rows that were sent.
        pub(in crate::report) fn answered(&mut self, rows: u32) {
            self.answered += u64::from(rows);
        }
    }

    /// What is known about a row when it is read.
    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        ToSend,
        /// Invalid, or on a list, or sent by another run or an earlier process of this one.
        NotSent,
    }

    /// A run, simulated second by second.
    struct Run {
        rows: Vec<Kind>,
        read: usize,
        waiting: Vec<u64>,
        second: u64,
        /// The fraction of an answer carried over to the next second: the rate may be fractional.
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

        /// One second, in which `answers` rows are answered.
        fn second(&mut self, answers: f64, allowed: Option<Pace>, pause: Option<Pause>) {
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

    /// Sends at the rate of each second, and returns each estimate with the true time left.
    fn estimates(mut run: Run, per_minute: impl Fn(u64) -> u32) -> Vec<(f64, f64)> {
        let mut estimates = Vec::new();
        while !run.is_over() {
            let pace = per_minute(run.second);
            run.second(
                f64::from(pace) / 60.0,
                Some(Pace::stated(Rate::per_minute(pace))),
                None,
            );
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
    fn a_steady_pace_gives_the_right_time_from_the_first_second() {
        let estimates = estimates(Run::of(vec![Kind::ToSend; 1000]), |_| 100);
        assert!(estimates.len() >= 595, "{}", estimates.len());
        assert_near(&estimates, 0.05);
    }

    #[test]
    fn a_growing_pace_shortens_the_time_and_only_a_measured_pace_counts() {
        let run = Run::of(vec![Kind::ToSend; 20_000]);
        let estimates = estimates(run, |second| 600.min(100 + second as u32));
        for (estimate, truth) in &estimates {
            assert!(estimate >= &(truth * 0.95 - 3.0), "{estimate} of {truth}");
        }
        // A minute after the rate has stopped growing, the estimate is right.
        assert_near(&estimates[570..], 0.05);
        // The estimate never grows, except once, when the measured rate replaces the allowed one.
        let grows = estimates[15..]
            .windows(2)
            .filter(|two| two[1].0 > two[0].0 * 1.02 + 1.0);
        assert_eq!(grows.count(), 0);
    }

    #[test]
    fn rows_done_before_a_restart_do_not_count_as_pace() {
        let mut rows = vec![Kind::NotSent; 50_000];
        rows.extend(vec![Kind::ToSend; 50_000]);
        let estimates = estimates(Run::of(rows), |_| 600);
        assert_near(&estimates, 0.1);
    }

    #[test]
    fn rows_read_and_answered_between_two_ticks_count_as_pace() {
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
            run.second(0.1, Some(Pace::stated(Rate::per_second(5))), None);
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
        Some(Waiting::Asked.lasting(Duration::from_secs(left)))
    }

    fn outage(left: u64) -> Option<Pause> {
        let since = Timestamp::UNIX_EPOCH;
        Some(Waiting::Outage { since }.lasting(Duration::from_secs(left)))
    }

    #[test]
    fn the_rest_of_a_pause_is_added_and_a_past_pause_is_not() {
        let allowed = Some(Pace::stated(Rate::per_second(10)));
        let mut run = Run::of(vec![Kind::ToSend; 10_000]);
        (0..100).for_each(|_| run.second(10.0, allowed, None));
        for left in (1..=30).rev() {
            run.second(0.0, allowed, refused(left));
            let estimate = run.estimate().unwrap();
            // The second before the pause was reported counts as work without answers.
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
    fn pauses_of_a_service_that_refuses_every_minute_count_in_its_pace() {
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
    fn no_time_is_given_during_an_outage_and_afterwards_it_does_not_count() {
        let allowed = Some(Pace::stated(Rate::per_second(10)));
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
    fn a_wait_for_what_an_earlier_start_has_sent_is_added_and_is_no_slow_pace() {
        let allowed = Some(Pace::stated(Rate::per_minute(100)));
        let mut run = Run::of(vec![Kind::ToSend; 100]);
        for left in (1..=63).rev() {
            let left = Duration::from_secs(left);
            run.second(0.0, allowed, Some(Waiting::Pace.lasting(left)));
            let estimate = run.estimate().unwrap();
            let truth = 60.0 + left.as_secs_f64();
            assert!((truth - 1.0..truth + 1.0).contains(&estimate), "{estimate}");
        }
        (0..20).for_each(|_| run.second(100.0 / 60.0, allowed, None));
        let estimate = run.estimate().unwrap();
        assert!((38.0..46.0).contains(&estimate), "{estimate}");
    }

    #[test]
    fn a_pause_of_hours_takes_no_extra_memory() {
        let mut run = Run::of(vec![Kind::ToSend; 10_000]);
        (0..10).for_each(|_| run.second(10.0, None, None));
        (0..7200)
            .rev()
            .for_each(|left| run.second(0.0, None, refused(left)));
        assert!(run.time_left.spans.len() < 15);
    }

    #[test]
    fn nothing_is_said_at_first_and_when_nothing_is_left() {
        assert_eq!(TimeLeft::default().estimate(1000), None);
        let mut run = Run::of(vec![Kind::ToSend; 10]);
        while !run.is_over() {
            run.second(5.0, Some(Pace::stated(Rate::per_second(5))), None);
        }
        assert_eq!(run.estimate(), None);
    }

    #[test]
    fn more_rows_than_counted_are_no_problem() {
        let mut run = Run::of(vec![Kind::ToSend; 100]);
        run.second(1.0, Some(Pace::stated(Rate::per_second(1))), None);
        let left = run.time_left.estimate(50);
        assert_eq!(left, Some(Duration::from_secs(99)));
    }

    #[test]
    fn longer_times_are_rounded_more_coarsely() {
        for (seconds, said) in [
            (0.0, "1 s"),
            (0.4, "1 s"),
            (1.2, "2 s"),
            (4.9, "5 s"),
            (5.1, "10 s"),
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
            assert_eq!(rounded(Duration::from_secs_f64(seconds)), said, "{seconds}");
        }
    }
}
