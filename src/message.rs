//! What happened, and what to do about it: an error as people read it.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub what: String,
    pub hint: Option<String>,
}

impl Message {
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Message {
        Message {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    pub fn without_hint(what: impl Into<String>) -> Message {
        Message {
            what: what.into(),
            hint: None,
        }
    }

    /// The message that an error is; any other error is shown with its causes.
    pub fn of(error: &anyhow::Error) -> Message {
        let message = error.downcast_ref::<Message>().cloned();
        message.unwrap_or_else(|| Message::without_hint(format!("{error:#}")))
    }

    /// The same about something: `place` comes before what happened.
    #[must_use]
    pub fn behind(self, place: &str) -> Message {
        let what = format!("{place} {}", self.what);
        Message { what, ..self }
    }

    /// The same followed by another one.
    #[must_use]
    pub fn then(self, next: &Message) -> Message {
        match self.hint {
            Some(hint) => Message::new(self.what, format!("{hint}\n\n{next}")),
            None => Message {
                what: format!("{}\n\n{}", self.what, next.what),
                hint: next.hint.clone(),
            },
        }
    }

    /// The same with another one in between: its own hint comes last.
    #[must_use]
    pub fn around(self, inner: &Message) -> Message {
        let Message { what, hint } = Message::without_hint(self.what).then(inner);
        let hints: Vec<String> = hint.into_iter().chain(self.hint).collect();
        let hint = (!hints.is_empty()).then(|| hints.join("\n\nhint: "));
        Message { what, hint }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Message {}
