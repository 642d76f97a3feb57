//! A text: a template with its values, which a voice puts into words.

use std::fmt;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::names::name;
use super::template::{Piece, Template, pieces};
use super::{Span, Voice};
use crate::clock;
use crate::text::{
    counted, file_name, grouped, looks_secret, printable, shown_name, without_numbers,
};

/// A text as data. Displayed, it is in the words of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    template: Template,
    values: Vec<(&'static str, Value)>,
}

/// What stands at a place of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// As it stands.
    Words(String),
    Number(u64),
    /// A list of columns, sheets or campaigns, each quoted.
    Names(Vec<String>),
    /// What somebody typed. A token or a phone number in it is hidden.
    Typed(String),
    /// A file or an address, quoted. A token that was typed in its place is hidden.
    Place(String),
    Text(Text),
    /// Several, each in a line of its own, and on the page each a sentence.
    Lines(Vec<Text>),
    /// At the terminal in UTC, on the page as the clock here shows it.
    Time(Timestamp),
    /// The reason that the operating system gives, and its number, which only the terminal shows.
    System(String, Option<i32>),
}

impl Text {
    pub fn new(template: Template, values: Vec<(&'static str, Value)>) -> Text {
        Text { template, values }
    }

    /// A text that is not this program's, or has been put into words before.
    pub fn said(words: impl Into<String>) -> Text {
        let value = Value::Words(words.into());
        Text::new(Template::of_words(), vec![("words", value)])
    }

    /// Words for the terminal alone.
    pub fn terminal(words: impl Into<String>) -> Text {
        let template = Template {
            is_for_page: false,
            ..Template::of_words()
        };
        Text::new(template, vec![("words", Value::Words(words.into()))])
    }

    /// This text about something: `place` comes before it.
    #[must_use]
    pub fn behind(self, place: impl Into<Value>) -> Text {
        const BEHIND: Template = Template::new("{place} {text}", &["place", "text"]);
        let template = Template {
            is_for_page: self.is_for_page(),
            ..BEHIND
        };
        let values = vec![("place", place.into()), ("text", Value::Text(self))];
        Text::new(template, values)
    }

    /// The words that stand at this place of the template, if it has it.
    pub fn words_at(&self, place: &str) -> Option<&str> {
        let found = self.values.iter().find(|(name, _)| *name == place);
        match found {
            Some((_, Value::Words(words))) => Some(words),
            _ => None,
        }
    }

    pub fn is_for_page(&self) -> bool {
        self.template.is_for_page
    }

    /// The words in pieces. On the page they are sentences.
    pub fn spans(&self, voice: Voice) -> Vec<Span> {
        let mut spans = self.spoken(voice, voice == Voice::Page);
        if voice == Voice::Page {
            finish(&mut spans);
        }
        spans
    }

    /// The pieces of words that are no sentence: a label, or what is in a cell.
    pub fn phrase_spans(&self, voice: Voice) -> Vec<Span> {
        self.spoken(voice, false)
    }

    fn spoken(&self, voice: Voice, begins: bool) -> Vec<Span> {
        let mut speaker = Speaker {
            voice,
            spans: Vec::new(),
            is_typed: false,
            begins,
        };
        speaker.say(self);
        speaker.spans
    }

    /// The words. On the page they are sentences.
    pub fn words(&self, voice: Voice) -> String {
        Span::joined(&self.spans(voice), voice)
    }

    /// Words that are no sentence.
    pub fn phrase(&self, voice: Voice) -> String {
        Span::joined(&self.phrase_spans(voice), voice)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Voice::Terminal))
    }
}

/// Puts a text into words.
struct Speaker {
    voice: Voice,
    spans: Vec<Span>,
    /// Whether what is said now is typed.
    is_typed: bool,
    /// Whether what comes next begins a sentence of the page.
    begins: bool,
}

impl Speaker {
    fn say(&mut self, text: &Text) {
        self.template(text.template.text, &text.values);
    }

    fn template(&mut self, template: &str, values: &[(&'static str, Value)]) {
        for piece in pieces(template, self.voice) {
            match piece {
                Piece::Words(words) => self.marked(words),
                Piece::Template(template) => self.template(template, values),
                Piece::Place(place) => self.place(place, values),
            }
        }
    }

    fn place(&mut self, place: &str, values: &[(&'static str, Value)]) {
        let end = place.find([':', '?']).unwrap_or(place.len());
        let value = values.iter().find(|(name, _)| *name == &place[..end]);
        match (value, &place[end..]) {
            (Some((_, value)), "") => self.value(value),
            (Some((_, Value::Number(number))), form) => self.number(*number, form),
            (_, _) => self.marked(name(place, self.voice).unwrap_or_default()),
        }
    }

    /// A number in groups, alone or with its noun, or a word that agrees with it.
    fn number(&mut self, number: u64, form: &str) {
        let agreeing = form.strip_prefix('?').and_then(|form| form.split_once(':'));
        match (form.strip_prefix(':'), agreeing) {
            (Some(""), _) => self.words(&grouped(number)),
            (Some(noun), _) => self.words(&counted(number, noun)),
            (None, Some((one, many))) => self.words(if number == 1 { one } else { many }),
            (None, None) => {}
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Words(words) => self.words(words),
            Value::Number(number) => self.words(&number.to_string()),
            Value::Names(names) => self.names(names),
            Value::Typed(typed) | Value::Place(typed) if looks_secret(typed) => {
                self.typed("…");
                self.words(" (hidden, since it looks like a token)");
            }
            Value::Typed(typed) => self.typed(&without_numbers(&printable(typed))),
            Value::Place(place) => self.typed(&printable(place)),
            Value::Text(text) => self.say(text),
            Value::Lines(lines) => self.lines(lines),
            Value::Time(time) => self.words(&at(*time, self.voice)),
            Value::System(words, Some(number)) if self.voice == Voice::Terminal => {
                self.words(&format!("{words} (os error {number})"));
            }
            Value::System(words, _) => self.words(words),
        }
    }

    fn lines(&mut self, lines: &[Text]) {
        for (at, line) in lines.iter().enumerate() {
            match self.voice {
                _ if at == 0 => {}
                Voice::Terminal => self.words("\n"),
                Voice::Page => self.marked("; "),
            }
            self.say(line);
        }
    }

    /// Names with commas between them. A very long list is cut.
    fn names(&mut self, names: &[String]) {
        const MAX: usize = 40;
        for (at, name) in names.iter().take(MAX).enumerate() {
            if at > 0 {
                self.words(", ");
            }
            self.typed(&shown_name(name));
        }
        if names.len() > MAX {
            self.words(" and more");
        }
    }

    fn typed(&mut self, words: &str) {
        let before = std::mem::replace(&mut self.is_typed, true);
        self.words(words);
        self.is_typed = before;
    }

    /// Words in which backquotes mark what is typed. On the page each sentence begins with a capital
    /// letter, unless it begins with a name.
    fn marked(&mut self, words: &str) {
        for (at, part) in words.split('`').enumerate() {
            self.is_typed ^= at > 0;
            if self.is_typed || self.voice == Voice::Terminal {
                if !part.is_empty() {
                    self.words(part);
                }
                continue;
            }
            for (at, sentence) in part.split("; ").enumerate() {
                if at > 0 {
                    self.words(". ");
                    self.begins = true;
                }
                match sentence.chars().next() {
                    Some(first) if self.begins && !sentence.starts_with("leadload") => {
                        let rest = &sentence[first.len_utf8()..];
                        self.words(&format!("{}{rest}", first.to_uppercase()));
                    }
                    _ => self.words(sentence),
                }
            }
        }
    }

    /// Words as they stand. A typed name that is empty is shown as such.
    fn words(&mut self, words: &str) {
        if words.is_empty() && !self.is_typed {
            return;
        }
        self.begins = false;
        match self.spans.last_mut() {
            Some(last) if last.is_typed == self.is_typed => last.text.push_str(words),
            _ => self.spans.push(Span {
                text: words.to_owned(),
                is_typed: self.is_typed,
            }),
        }
    }
}

impl Span {
    fn joined(spans: &[Span], voice: Voice) -> String {
        let spans = spans
            .iter()
            .map(|Span { text, is_typed }| match (is_typed, voice) {
                (false, _) => text.clone(),
                (true, Voice::Terminal) => format!("`{text}`"),
                // The page names no path of the computer.
                (true, Voice::Page) => format!("“{}”", file_name(text)),
            });
        spans.collect()
    }
}

/// What the page says ends as a sentence does.
fn finish(spans: &mut Vec<Span>) {
    let Some(last) = spans.last_mut() else {
        return;
    };
    if last.is_typed {
        return spans.push(Span {
            text: ".".to_owned(),
            is_typed: false,
        });
    }
    last.text.truncate(last.text.trim_end().len());
    if !last.text.ends_with(['.', '?', '!', ':']) {
        last.text.push('.');
    }
}

fn at(time: Timestamp, voice: Voice) -> String {
    match voice {
        Voice::Terminal => format!("{time:.0}"),
        Voice::Page => {
            let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
            let (then, now) = (time.to_zoned(zone.clone()), clock::now().to_zoned(zone));
            let form = match then.date() == now.date() {
                true => "%H:%M",
                false => "%H:%M on %-d %B",
            };
            then.strftime(form).to_string()
        }
    }
}

/// No words.
impl Default for Text {
    fn default() -> Text {
        Template::new("", &[]).into()
    }
}

impl From<Template> for Text {
    fn from(template: Template) -> Text {
        Text::new(template, Vec::new())
    }
}

/// A text is kept in the words of the terminal.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.words(Voice::Terminal))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        String::deserialize(deserializer).map(Text::said)
    }
}

macro_rules! values {
    ($($from:ty => $value:expr;)*) => {
        $(impl From<$from> for Value {
            fn from(from: $from) -> Value {
                ($value)(from)
            }
        })*
    };
}

values! {
    String => Value::Words;
    &String => |words: &String| Value::Words(words.clone());
    &str => |words: &str| Value::Words(words.to_owned());
    char => |c: char| Value::Words(c.to_string());
    u64 => Value::Number;
    usize => |number| Value::Number(number as u64);
    u32 => |number| Value::Number(u64::from(number));
    Vec<String> => Value::Names;
    Text => Value::Text;
    Vec<Text> => Value::Lines;
    Template => |template| Value::Text(Text::from(template));
    Timestamp => Value::Time;
    &Path => |path: &Path| Value::Place(path.display().to_string());
}

impl From<std::borrow::Cow<'_, str>> for Value {
    fn from(words: std::borrow::Cow<'_, str>) -> Value {
        Value::Words(words.into_owned())
    }
}

impl From<&io::Error> for Value {
    fn from(error: &io::Error) -> Value {
        let (words, number) = (error.to_string(), error.raw_os_error());
        let suffix = number.map(|number| format!(" (os error {number})"));
        let plain = suffix.and_then(|suffix| words.strip_suffix(&suffix).map(str::to_owned));
        match plain {
            Some(plain) => Value::System(plain, number),
            None => Value::System(words, None),
        }
    }
}
