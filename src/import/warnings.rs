//! What the user should know about an import although it goes on.

use tracing::warn;

use crate::message::Message;

/// Warnings in the order in which they came up. Each is logged too.
#[derive(Debug, Clone, Default)]
pub struct Warnings(Vec<Message>);

impl Warnings {
    pub(super) fn add(&mut self, warning: Message) {
        match &warning.hint {
            Some(hint) => warn!(event = "warning", "{}: {hint}", warning.what),
            None => warn!(event = "warning", "{}", warning.what),
        }
        self.0.push(warning);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.0.iter()
    }
}
