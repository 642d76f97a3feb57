//! What happened, and what to do about it: an error as people read it.
//!
//! The words of a message are for a terminal. Where they name a flag, a command or a file of the
//! program, the message has other words for the page ([`Message::on_page`]), which has labels and
//! buttons instead.

use std::fmt;

/// What helps people without a terminal where settings or files of the program are wrong.
pub const ASK_SETUP: &str = "Ask the person who set up leadload on this computer.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub what: String,
    pub hint: Option<String>,
    /// The same for the page, if it needs words of its own.
    page: Option<Box<OnPage>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct OnPage {
    what: String,
    hint: String,
    /// The sheets of a workbook, if the choice of another one helps.
    sheets: Vec<String>,
}

impl Message {
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Message {
        Message {
            what: what.into(),
            hint: Some(hint.into()),
            page: None,
        }
    }

    pub fn without_hint(what: impl Into<String>) -> Message {
        Message {
            what: what.into(),
            hint: None,
            page: None,
        }
    }

    /// Adds the words of the page: what happened, and what to do there.
    #[must_use]
    pub fn on_page(self, what: impl Into<String>, hint: impl Into<String>) -> Message {
        let page = OnPage {
            what: what.into(),
            hint: hint.into(),
            sheets: Vec::new(),
        };
        Message {
            page: Some(Box::new(page)),
            ..self
        }
    }

    /// Adds that the page asks for one of these sheets, in place of another hint.
    #[must_use]
    pub fn asks_for_sheet(self, sheets: &[String]) -> Message {
        let mut message = self.hint_on_page("Choose the sheet with the contacts.");
        if let Some(page) = &mut message.page {
            page.sheets = sheets.to_vec();
        }
        message
    }

    /// The sheets that the page asks for, if the choice of another one helps.
    pub fn sheets(&self) -> &[String] {
        self.page.as_ref().map_or(&[], |page| &page.sheets)
    }

    /// Adds what to do on the page. What happened is said in the same words.
    #[must_use]
    pub fn hint_on_page(self, hint: impl Into<String>) -> Message {
        let what = self.what.clone();
        self.on_page(what, hint)
    }

    /// What happened and what to do, in the words of the page if there are such words.
    pub fn for_page(&self) -> (&str, Option<&str>) {
        match &self.page {
            Some(page) => (&page.what, Some(&page.hint)),
            None => (&self.what, self.hint.as_deref()),
        }
    }

    pub fn has_words_for_page(&self) -> bool {
        self.page.is_some()
    }

    /// The message that an error is; any other error is shown with its causes.
    pub fn of(error: &anyhow::Error) -> Message {
        let message = error.downcast_ref::<Message>().cloned();
        message.unwrap_or_else(|| Message::without_hint(format!("{error:#}")))
    }

    /// The same about something: `place` comes before what happened.
    #[must_use]
    pub fn behind(self, place: &str) -> Message {
        let behind = |what: &str| format!("{place} {what}");
        Message {
            what: behind(&self.what),
            hint: self.hint,
            page: self.page.map(|mut page| {
                page.what = behind(&page.what);
                page
            }),
        }
    }

    /// The same followed by another one.
    #[must_use]
    pub fn then(self, next: &Message) -> Message {
        let page = self.page_then(next);
        let then = match self.hint {
            Some(hint) => Message::new(self.what, format!("{hint}\n\n{next}")),
            None => Message {
                what: format!("{}\n\n{}", self.what, next.what),
                hint: next.hint.clone(),
                page: None,
            },
        };
        Message { page, ..then }
    }

    /// The words of the page for this and another message, if one of them has such words.
    fn page_then(&self, next: &Message) -> Option<Box<OnPage>> {
        let sheets = self.page.as_ref().or(next.page.as_ref())?.sheets.clone();
        let ((first, hint), (second, next_hint)) = (self.for_page(), next.for_page());
        let hints: Vec<&str> = [hint, next_hint].into_iter().flatten().collect();
        let what = format!("{}. {second}", first.trim_end_matches('.'));
        let hint = hints.join("; ");
        Some(Box::new(OnPage { what, hint, sheets }))
    }

    /// The same with another one in between: its own hint comes last.
    #[must_use]
    pub fn around(self, inner: &Message) -> Message {
        let page = self.page_then(inner);
        let Message { what, hint, .. } = Message::without_hint(self.what).then(inner);
        let hints: Vec<String> = hint.into_iter().chain(self.hint).collect();
        let hint = (!hints.is_empty()).then(|| hints.join("\n\nhint: "));
        Message { what, hint, page }
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
