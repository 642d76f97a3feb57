//! The columns of a list, as the forms name them: by their place.

use std::collections::{HashMap, HashSet};

use crate::intake::InspectedInput;
use crate::mapping::{PhoneColumn, RejectsForm, column_texts};
use crate::text::printable;

/// How many columns can be chosen in a form. Workbooks may have 16,384: every select would have
/// that many options, and no browser would show them in good time.
const MAX_COLUMNS: usize = 1_000;

#[derive(Debug)]
pub struct FormColumns {
    names: Vec<String>,
    /// How an option names each column; `None` for columns that leadload has added, and for those
    /// that cannot be chosen.
    texts: Vec<Option<String>>,
    /// The places of the columns by these names, and by their names in lower case.
    places: HashMap<String, usize>,
    lower_places: HashMap<String, usize>,
    /// How many columns there are beyond those that can be chosen.
    pub beyond: usize,
}

impl FormColumns {
    pub fn of(list: &InspectedInput) -> FormColumns {
        let names = &list.header.names;
        let rejects = RejectsForm::of(names);
        let own: HashSet<usize> = match &rejects {
            Some(rejects) => rejects.input_columns.iter().copied().collect(),
            None => (0..names.len()).collect(),
        };
        let mut left = MAX_COLUMNS;
        let texts = column_texts(&list.header, rejects.as_ref());
        let texts = texts.into_iter().enumerate().map(|(at, text)| {
            let is_shown = own.contains(&at) && left > 0;
            left -= usize::from(is_shown);
            is_shown.then_some(text)
        });
        let texts: Vec<Option<String>> = texts.collect();
        let (mut places, mut lower_places) = (HashMap::new(), HashMap::new());
        for (at, text) in texts.iter().enumerate() {
            if let Some(text) = text {
                places.entry(text.clone()).or_insert(at);
                lower_places.entry(text.to_lowercase()).or_insert(at);
            }
        }
        FormColumns {
            names: names
                .iter()
                .map(|name| printable(name).trim().to_owned())
                .collect(),
            texts,
            places,
            lower_places,
            beyond: own.len().saturating_sub(MAX_COLUMNS),
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

    /// How an option names a phone column.
    pub fn phone_text(&self, phone: PhoneColumn) -> Option<String> {
        let number = self.text(phone.number)?;
        match phone.area_code {
            Some(area) => Some(format!("{}+{number}", self.text(area)?)),
            None => Some(number.to_owned()),
        }
    }

    /// How the page calls a phone column.
    pub fn phone_name(&self, phone: PhoneColumn) -> String {
        let names: Vec<String> = phone.columns().map(|at| self.name(at)).collect();
        names.join(" + ")
    }

    /// The phone column that an option names: a column, or one with its area codes before a plus.
    pub fn find_phone(&self, text: &str) -> Option<PhoneColumn> {
        let whole = self.find(text).map(PhoneColumn::from);
        whole.or_else(|| {
            let mut parts = text.match_indices('+').map(|(at, _)| text.split_at(at));
            parts.find_map(|(area, number)| {
                let number = PhoneColumn::from(self.find(&number[1..])?);
                let area_code = Some(self.find(area)?);
                Some(PhoneColumn {
                    area_code,
                    ..number
                })
            })
        })
    }

    /// The place of the column that an option names.
    pub fn find(&self, text: &str) -> Option<usize> {
        let place = self.places.get(text);
        let place = place.or_else(|| self.lower_places.get(&text.trim().to_lowercase()));
        place.copied()
    }
}
