//! Spans of time in which nothing went forward.

use std::time::Duration;

use crate::lead::ErrorCode;

/// How many spans are kept. Of more, those with the smallest gap become one.
const MOST: usize = 50;

/// One span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Span {
    /// Its beginning.
    pub(in super::super) from: Duration,
    /// Its end.
    pub(in super::super) to: Duration,
    /// Why, in one word.
    pub(in super::super) why: ErrorCode,
}

impl Span {
    /// How long it is.
    pub(in super::super) fn time(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }
}

/// Spans in order, as far as they are kept, and sums over all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Pauses {
    spans: Vec<Span>,
    /// How many there were.
    pub(in super::super) count: u64,
    /// How long they were together.
    pub(in super::super) total: Duration,
    /// How long the longest was.
    pub(in super::super) longest: Duration,
    /// How long the latest was.
    latest: Duration,
}

impl Pauses {
    /// One more, which begins no earlier than the one before it. One that begins before
    /// that has ended only makes it longer.
    pub(super) fn note(&mut self, span: Span) {
        match self.spans.last_mut() {
            Some(last) if span.from <= last.to => {
                let more = span.to.saturating_sub(last.to);
                last.to += more;
                self.latest += more;
                self.total += more;
            }
            _ => {
                self.latest = span.time();
                self.total += span.time();
                self.count += 1;
                self.spans.push(span);
            }
        }
        self.longest = self.longest.max(self.latest);
        if self.spans.len() > MOST {
            self.join_nearest();
        }
    }

    fn join_nearest(&mut self) {
        let gaps = self.spans.windows(2).map(|pair| match pair {
            [one, other] => other.from.saturating_sub(one.to),
            _ => Duration::MAX,
        });
        let nearest = gaps.enumerate().min_by_key(|(_, gap)| *gap);
        if let Some((at, _)) = nearest {
            let other = self.spans.remove(at + 1);
            self.spans[at].to = other.to;
        }
    }

    /// Those that are kept.
    pub(in super::super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether each of them is kept as it was.
    pub(in super::super) fn are_all_kept(&self) -> bool {
        self.spans.len() as u64 == self.count
    }

    /// The same, none of them beyond this time, which is not before the latest began.
    pub(in super::super) fn until(&self, end: Duration) -> Pauses {
        let mut pauses = self.clone();
        if let Some(last) = pauses.spans.last_mut()
            && last.to > end
        {
            let beyond = last.to - end;
            last.to = end;
            if pauses.longest == pauses.latest {
                pauses.longest = pauses.latest.saturating_sub(beyond);
            }
            pauses.latest = pauses.latest.saturating_sub(beyond);
            pauses.total = pauses.total.saturating_sub(beyond);
        }
        pauses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, to: u64) -> Span {
        Span {
            from: Duration::from_secs(from),
            to: Duration::from_secs(to),
            why: ErrorCode::Http(429),
        }
    }

    #[test]
    fn refusals_during_a_wait_are_one_wait() {
        let mut pauses = Pauses::default();
        for (from, to) in [(1, 5), (2, 4), (3, 8), (20, 21)] {
            pauses.note(span(from, to));
        }
        assert_eq!(pauses.spans(), [span(1, 8), span(20, 21)]);
        assert_eq!(pauses.count, 2);
        assert_eq!(pauses.total, Duration::from_secs(8));
        assert_eq!(pauses.longest, Duration::from_secs(7));
    }

    #[test]
    fn of_many_pauses_the_sums_are_kept_and_those_nearest_are_drawn_as_one() {
        let mut pauses = Pauses::default();
        for number in 0..1000 {
            pauses.note(span(10 * number, 10 * number + 3));
        }
        assert_eq!(pauses.spans().len(), MOST);
        assert_eq!(pauses.spans().first().unwrap().from, Duration::ZERO);
        assert_eq!(pauses.spans().last().unwrap().to, span(0, 9993).to);
        assert!(!pauses.are_all_kept());
        assert_eq!(
            (pauses.count, pauses.total),
            (1000, Duration::from_secs(3000))
        );
        assert_eq!(pauses.longest, Duration::from_secs(3));
    }
}
