//! A question that a signal can end.

use std::io;

use super::service;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::report::console;
use crate::signals::Interrupts;

/// What comes of asking, which may block: it has a thread of its own, that ends with the
/// process if nobody ever answers.
pub(super) async fn answered<T: Send + 'static>(
    interrupts: &mut Interrupts,
    ask: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let asking = async {
        let broke_off = || Err(io::Error::other("the question broke off"));
        let answer = service::on_a_thread(ask).await;
        answer
            .unwrap_or_else(broke_off)
            .or_stopped(StoppedBy::Usage)
    };
    let answered = service::or_interrupted(interrupts, asking).await;
    let is_unanswered = |failure: &Failure| failure.stopped_by != StoppedBy::Signal;
    if answered.as_ref().err().is_some_and(is_unanswered) {
        // What is said next does not belong to the question's line. After a signal it
        // begins on a line of its own anyway.
        console::note("\n");
    }
    answered
}
