//! Who is told what happens in an import that is being sent.

use crate::event::RunEvent;
use crate::exit::Failure;
use crate::ledger::Begun;
use crate::report::{Listeners, Outcome};

/// Rule: it shows, and changes nothing about the run.
pub trait Observer {
    /// The run has begun, and nothing has been sent yet; `None` if there is no ledger.
    fn begun(&mut self, begun: Option<&Begun>);

    /// Something has happened; `listeners` have been told already.
    fn event(&mut self, event: &RunEvent<'_>, listeners: &Listeners);

    /// The run has ended, in whatever way.
    ///
    /// # Errors
    ///
    /// If that cannot be shown. The error ends a command whose run was complete.
    fn ended(&mut self, outcome: &Outcome<'_>) -> Result<(), Failure>;
}
