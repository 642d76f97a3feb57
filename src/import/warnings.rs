//! What the user should know about an import although it goes on.

use tracing::warn;

use crate::message::Message;
use crate::report::ALWAYS;

/// Warnings in the order in which they came up. Each is logged too.
#[derive(Debug, Clone, Default)]
pub struct Warnings(Vec<Message>);

impl Warnings {
    pub(super) fn add(&mut self, warning: Message) {
        warn!(event = "warning", "{}", sentence(&warning));
        self.0.push(warning);
    }

    /// Adds a warning that is logged under `--quiet` too.
    pub(super) fn add_always(&mut self, warning: Message) {
        warn!(target: ALWAYS, event = "warning", "{}", sentence(&warning));
        self.0.push(warning);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.0.iter()
    }
}

/// A warning as a line of the log.
pub(super) fn sentence(warning: &Message) -> String {
    match warning.at_terminal() {
        (what, Some(hint)) => format!("{what}: {hint}"),
        (what, None) => what,
    }
}
