//! Rows by when they were answered, in steps of one width.

use std::time::Duration;

/// How many steps there are at most. When a run gets longer, each two become one.
pub(super) const MOST: usize = 200;

/// The width of a step as long as a run is short.
const NARROWEST: Duration = Duration::from_micros(62_500);

/// As many steps as a chart has, at most.
const MAX_SHOWN: usize = 100;

/// With fewer rows than this in a step, on average, a chart shows the pacing of single
/// requests and not how the run went.
const FEWEST_ROWS: u64 = 4;

/// The rows of one step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct Step {
    /// Rows that became leads.
    pub(in super::super) created: u64,
    /// Rows that did not.
    pub(in super::super) others: u64,
}

/// All steps, from the beginning on without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Steps {
    /// How long each is.
    pub(in super::super) width: Duration,
    steps: Vec<Step>,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps {
            width: NARROWEST,
            steps: Vec::new(),
        }
    }
}

impl Step {
    /// All rows.
    pub(in super::super) fn rows(self) -> u64 {
        self.created + self.others
    }

    fn with(self, other: Step) -> Step {
        Step {
            created: self.created + other.created,
            others: self.others + other.others,
        }
    }
}

impl Steps {
    /// One row more.
    pub(super) fn note(&mut self, at: Duration, is_created: bool) {
        while self.place(at) >= MOST {
            self.halve();
        }
        let place = self.place(at);
        if self.steps.len() <= place {
            self.steps.resize(place + 1, Step::default());
        }
        if let Some(step) = self.steps.get_mut(place) {
            if is_created {
                step.created += 1
            } else {
                step.others += 1
            }
        }
    }

    fn place(&self, at: Duration) -> usize {
        (at.as_nanos() / self.width.as_nanos()) as usize
    }

    /// Makes one step of each two.
    fn halve(&mut self) {
        self.width *= 2;
        let pairs = self.steps.chunks(2);
        let sum = |pair: &[Step]| pair.iter().copied().fold(Step::default(), Step::with);
        self.steps = pairs.map(sum).collect();
    }

    /// Each step.
    pub(in super::super) fn all(&self) -> &[Step] {
        &self.steps
    }

    /// All rows.
    pub(in super::super) fn total(&self) -> Step {
        self.steps.iter().copied().fold(Step::default(), Step::with)
    }

    /// The same in as many steps as a chart can show, and with as many rows in each as it
    /// takes to see a pace.
    pub(in super::super) fn to_be_shown(&self) -> Steps {
        let mut shown = self.clone();
        let rows = self.total().rows();
        let has_few_rows = |steps: usize| steps > 12 && rows < FEWEST_ROWS * steps as u64;
        while shown.steps.len() > MAX_SHOWN || has_few_rows(shown.steps.len()) {
            shown.halve();
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_stand_in_the_step_of_their_time() {
        let mut steps = Steps::default();
        for (millis, is_created) in [(0, true), (62, true), (63, false), (260, true)] {
            steps.note(Duration::from_millis(millis), is_created);
        }
        let rows: Vec<u64> = steps.all().iter().map(|step| step.rows()).collect();
        assert_eq!(rows, [2, 1, 0, 0, 1]);
        assert_eq!(
            steps.total(),
            Step {
                created: 3,
                others: 1
            }
        );
    }

    #[test]
    fn a_slow_run_is_shown_in_wide_steps() {
        let mut steps = Steps::default();
        for second in 0..10 {
            steps.note(Duration::from_secs(second), true);
        }
        let shown = steps.to_be_shown();
        assert_eq!((steps.all().len(), shown.all().len()), (145, 10));
        assert_eq!(shown.width, Duration::from_secs(1));
    }

    proptest! {
        #[test]
        fn sums_stay_right_however_long_it_takes(
            rows in prop::collection::vec((0_u64..u64::MAX / 1000, any::<bool>()), 0..300),
            long in any::<bool>(),
        ) {
            let mut steps = Steps::default();
            let mut expected = Step::default();
            for (at, is_created) in rows {
                let millis = if long { at } else { at % 3_600_000 };
                steps.note(Duration::from_millis(millis), is_created);
                if is_created { expected.created += 1 } else { expected.others += 1 }
            }
            prop_assert!(steps.all().len() <= MOST);
            prop_assert_eq!(steps.total(), expected);
            let shown = steps.to_be_shown();
            prop_assert!(shown.all().len() <= MAX_SHOWN);
            prop_assert_eq!(shown.total(), expected);
        }
    }
}
