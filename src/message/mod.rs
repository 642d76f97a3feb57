//! What the program says to people, as data: it is put into words where it is shown.
//!
//! There are two voices. The terminal names flags, files and commands; the page has labels and
//! buttons instead, and speaks in sentences. A [`Text`] is a [`Template`] with its values, and a
//! [`Message`] says what happened, and what to do about it.

mod names;
mod template;
mod text;

use std::fmt;
use std::io;

pub use self::template::Template;
pub use self::text::{Text, Value};
use crate::text::lines;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    Terminal,
    Page,
}

/// A part of a text: words, or what is typed or quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub is_typed: bool,
}

/// Makes a [`Text`]: `text!("{rows:row} of `{file}`", rows, file = name)`. Its template is checked
/// when it is compiled.
macro_rules! text {
    ($template:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const TEMPLATE: $crate::message::Template =
            $crate::message::Template::new($template, &[$(stringify!($name)),*]);
        $crate::message::Text::new(
            TEMPLATE,
            vec![$((stringify!($name), value!($name $(= $value)?))),*],
        )
    }};
}

/// A [`Text`] for the terminal alone.
macro_rules! terminal_text {
    ($template:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const TEMPLATE: $crate::message::Template =
            $crate::message::Template::for_terminal($template, &[$(stringify!($name)),*]);
        $crate::message::Text::new(
            TEMPLATE,
            vec![$((stringify!($name), value!($name $(= $value)?))),*],
        )
    }};
}

macro_rules! value {
    ($name:ident) => {
        $crate::message::Value::from($name)
    };
    ($name:ident = $value:expr) => {
        $crate::message::Value::from($value)
    };
}

/// Makes a [`Message`]: the templates of what happened and of what to do, and the values of both.
macro_rules! message {
    ($what:expr, $hint:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const TEMPLATES: [$crate::message::Template; 2] =
            $crate::message::Template::pair($what, $hint, &[$(stringify!($name)),*], true);
        $crate::message::Message::of_templates(
            TEMPLATES,
            vec![$((stringify!($name), value!($name $(= $value)?))),*],
        )
    }};
}

/// Makes a [`Message`] in words for the terminal alone.
macro_rules! terminal_message {
    ($what:expr, $hint:expr $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const TEMPLATES: [$crate::message::Template; 2] =
            $crate::message::Template::pair($what, $hint, &[$(stringify!($name)),*], false);
        $crate::message::Message::of_templates(
            TEMPLATES,
            vec![$((stringify!($name), value!($name $(= $value)?))),*],
        )
    }};
}

/// Makes a [`Template`] without places for values.
macro_rules! template {
    ($template:expr) => {
        const { $crate::message::Template::new($template, &[]) }
    };
}

/// Where rows are, by the [lines] of the first few: `in lines 3, 7`, `the first in line 3 of a.csv`.
pub fn in_lines(rows: u64, first: &[(usize, u64)], inputs: &[&str]) -> Text {
    let lines = lines(first, inputs);
    match first.len() as u64 == rows {
        true => text!("in {lines}", lines),
        false => text!("the first in {lines}", lines),
    }
}

/// What happened, and what to do about it: an error as people read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub what: Text,
    rest: Vec<Part>,
}

/// What follows: what else happened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    What(Text),
    Hint(Text),
}

impl Message {
    pub fn new(what: impl Into<Text>, hint: impl Into<Text>) -> Message {
        Message {
            what: what.into(),
            rest: vec![Part::Hint(hint.into())],
        }
    }

    pub fn of_templates(
        [what, hint]: [Template; 2],
        values: Vec<(&'static str, Value)>,
    ) -> Message {
        Message::new(Text::new(what, values.clone()), Text::new(hint, values))
    }

    pub fn without_hint(what: impl Into<Text>) -> Message {
        Message {
            what: what.into(),
            rest: Vec::new(),
        }
    }

    /// The message that an error is; any other error is shown with its causes.
    pub fn of(error: &anyhow::Error) -> Message {
        if let Some(message) = error.downcast_ref::<Message>() {
            return message.clone();
        }
        Message::without_hint(match error.downcast_ref::<io::Error>() {
            Some(error) => text!("{error}", error),
            None => Text::said(format!("{error:#}")),
        })
    }

    /// This message about something: `place` comes before what happened.
    #[must_use]
    pub fn behind(self, place: impl Into<Value>) -> Message {
        let what = self.what.behind(place);
        Message { what, ..self }
    }

    /// This message, followed by another one.
    #[must_use]
    pub fn then(mut self, next: Message) -> Message {
        self.rest.push(Part::What(next.what));
        self.rest.extend(next.rest);
        self
    }

    /// This message with another one in it: its own hint comes last.
    #[must_use]
    pub fn with_inner(mut self, inner: Message) -> Message {
        let own = std::mem::take(&mut self.rest);
        let mut message = self.then(inner);
        message.rest.extend(own);
        message
    }

    /// Whether the page can say all of it.
    pub fn is_for_page(&self) -> bool {
        let rest = self.rest.iter();
        self.what.is_for_page() && rest.map(Part::text).all(Text::is_for_page)
    }

    /// What happened, and what to do: each may be several texts.
    pub fn parts(&self) -> (Vec<&Text>, Vec<&Text>) {
        let is_what = |part: &&Part| matches!(part, Part::What(_));
        let (what, hints): (Vec<&Part>, Vec<&Part>) = self.rest.iter().partition(is_what);
        let what = std::iter::once(&self.what).chain(what.into_iter().map(Part::text));
        (what.collect(), hints.into_iter().map(Part::text).collect())
    }

    /// What happened and what to do, at the terminal. What comes after the first hint is part of
    /// what to do.
    pub fn at_terminal(&self) -> (String, Option<String>) {
        let mut what = self.what.to_string();
        let mut hint: Option<String> = None;
        for part in &self.rest {
            let text = part.text().to_string();
            match (part, &mut hint) {
                // It is for the page alone.
                (Part::Hint(_), _) if text.is_empty() => {}
                (Part::What(_), None) => what = format!("{what}\n\n{text}"),
                (Part::Hint(_), None) => hint = Some(text),
                (Part::What(_), Some(hint)) => *hint = format!("{hint}\n\n{text}"),
                (Part::Hint(_), Some(hint)) => *hint = format!("{hint}\n\nhint: {text}"),
            }
        }
        (what, hint)
    }

    /// What happened and what to do, in the sentences of the page.
    pub fn on_page(&self) -> (String, Option<String>) {
        let (mut what, mut hints) = (vec![self.what.words(Voice::Page)], Vec::new());
        for part in &self.rest {
            let to = match part {
                Part::What(_) => &mut what,
                Part::Hint(_) => &mut hints,
            };
            to.push(part.text().words(Voice::Page));
        }
        hints.retain(|hint| !hint.is_empty());
        (what.join(" "), (!hints.is_empty()).then(|| hints.join(" ")))
    }
}

impl Part {
    fn text(&self) -> &Text {
        match self {
            Part::What(text) | Part::Hint(text) => text,
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, hint) = self.at_terminal();
        f.write_str(&what)?;
        match hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Message {}

#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod tests;
