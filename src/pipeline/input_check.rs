//! Whether inputs are still what they were when the run began.
//!
//! A nightly export may overwrite its list while that is being sent. What was read from the
//! changed file never gets here (`intake` checks each batch), but rows that were read before
//! it changed are of a list that no longer exists. So an input is looked at before each
//! request with a row of it, at most every [`EVERY`]: to look takes about a microsecond on a
//! local disk.

use std::time::Duration;

use tokio::time::Instant;

use crate::intake::PlannedInput;
use crate::source::SourceError;

/// How long an input counts as unchanged after a look: file systems do not record times of
/// modification much more finely than that.
const EVERY: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub(super) struct InputCheck {
    /// The input that was looked at last, and when.
    last: Option<(usize, Instant)>,
}

impl InputCheck {
    pub(super) fn check(
        &mut self,
        inputs: &[PlannedInput],
        file: usize,
    ) -> Result<(), SourceError> {
        let now = Instant::now();
        let is_known = |(of, at): (usize, Instant)| of == file && now < at + EVERY;
        if self.last.is_some_and(is_known) {
            return Ok(());
        }
        inputs[file].input.check_unchanged()?;
        self.last = Some((file, now));
        Ok(())
    }
}
