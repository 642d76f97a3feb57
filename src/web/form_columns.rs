//! The columns of a list, as the forms name them: by their place.

use crate::intake::InspectedInput;
use crate::mapping::{RejectsForm, column_texts};
use crate::text::printable;

#[derive(Debug)]
pub struct FormColumns {
    names: Vec<String>,
    /// How an option names each column; `None` for columns that leadload has added.
    texts: Vec<Option<String>>,
}

impl FormColumns {
    pub fn of(list: &InspectedInput) -> FormColumns {
        let names = &list.header.names;
        let rejects = RejectsForm::of(names);
        let is_own = |at: &usize| {
            rejects
                .as_ref()
                .is_none_or(|r| r.input_columns.contains(at))
        };
        let texts = column_texts(&list.header, rejects.as_ref())
            .into_iter()
            .enumerate();
        FormColumns {
            names: names
                .iter()
                .map(|name| printable(name).trim().to_owned())
                .collect(),
            texts: texts
                .map(|(at, text)| is_own(&at).then_some(text))
                .collect(),
        }
    }

    /// The columns of the list itself, each with its place and how the page calls it.
    pub fn named(&self) -> impl Iterator<Item = (usize, String)> {
        let own = self
            .texts
            .iter()
            .enumerate()
            .filter(|(_, text)| text.is_some());
        own.map(|(at, _)| (at, self.name(at)))
    }

    /// The places of all columns, also of those that leadload has added.
    pub fn all(&self) -> std::ops::Range<usize> {
        0..self.names.len()
    }

    /// How the page calls a column.
    pub fn name(&self, at: usize) -> String {
        match self.names.get(at).map(String::as_str) {
            None | Some("") => format!("Column {} (no header)", at + 1),
            Some(name) => name.to_owned(),
        }
    }

    pub fn has_header(&self, at: usize) -> bool {
        self.names.get(at).is_some_and(|name| !name.is_empty())
    }

    /// How an option names the column at this place.
    pub fn text(&self, at: usize) -> Option<&str> {
        self.texts.get(at)?.as_deref()
    }

    /// The place of the column that an option names.
    pub fn find(&self, text: &str) -> Option<usize> {
        let texts = || {
            self.texts
                .iter()
                .map(|own| own.as_deref().unwrap_or_default())
        };
        let exact = texts().position(|own| own == text);
        let wanted = text.trim().to_lowercase();
        exact.or_else(|| texts().position(|own| own.to_lowercase() == wanted))
    }
}
