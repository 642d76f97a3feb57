//! What the page needs of a run beside its sums, kept while the run goes on.

use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;

use super::examples::Examples;
use super::timeline::Timeline;
use crate::event::RunEvent;
use crate::intake::PlannedInput;
use crate::lead::Status;
use crate::phone::NumberKind;
use crate::report::kinds::Kinds;

/// A listener of bounded size.
#[derive(Debug)]
pub struct PageNotes {
    inputs: Arc<[PlannedInput]>,
    began: Instant,
    pub(super) examples: Examples,
    /// The numbers that were sent or are ready to be, by country and type.
    pub(super) kinds: Kinds,
    pub(super) timeline: Timeline,
}

impl PageNotes {
    /// Nothing yet, of these inputs. The sending begins now.
    pub fn new(inputs: &Arc<[PlannedInput]>) -> PageNotes {
        PageNotes {
            inputs: Arc::clone(inputs),
            began: Instant::now(),
            examples: Examples::default(),
            kinds: Kinds::default(),
            timeline: Timeline::new(Timestamp::now()),
        }
    }

    /// Takes an event.
    pub(in crate::report) fn note(&mut self, event: &RunEvent<'_>) {
        self.timeline.note(event, self.began.elapsed());
        let RunEvent::Settled {
            row,
            phone,
            outcome,
            ..
        } = event
        else {
            return;
        };
        if let Some(input) = self.inputs.get(row.file()) {
            self.examples.note(&input.mapping, *row, outcome);
        }
        let counts = outcome.attempts > 0 || outcome.status == Status::Ready;
        if let Some(phone) = phone.filter(|_| counts) {
            self.kinds.note(NumberKind::of(phone));
        }
    }
}
