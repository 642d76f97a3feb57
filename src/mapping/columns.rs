//! Finds the column that a flag means.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use super::error::MappingError;
use super::header_words::folded;
use super::phone_column::PhoneColumn;
use super::rejects_form::RejectsForm;
use super::spec::{PHONE_COLUMN, SavedMapping};
use crate::message::Text;
use crate::source::Header;
use crate::text::shown_name;

/// How options name each column of a header.
pub fn column_texts(header: &Header, rejects_form: Option<&RejectsForm>) -> Vec<String> {
    let columns = Columns::of("", header, rejects_form);
    let all = 0..header.names.len();
    all.map(|column| columns.flag_text(column)).collect()
}

pub(super) struct Columns<'a> {
    pub(super) input: &'a str,
    pub(super) headers: &'a [String],
    pub(super) has_header: bool,
    /// The columns (from 0) of the input itself in their order, without those that `leadload`
    /// adds to a rejects file.
    pub(super) own: Vec<usize>,
    pub(super) saved: Option<&'a SavedMapping>,
    /// Made when a name is first looked up: a list may have as many columns as fit in its header.
    pub(super) index: OnceCell<Index<'a>>,
}

/// Where each header is: the first two columns (from 0) that have it.
pub(super) struct Index<'a> {
    exact: HashMap<&'a str, Places>,
    folded: HashMap<Cow<'a, str>, Places>,
    /// The headers of the list from which a mapping was saved, folded.
    saved: HashSet<String>,
    /// For errors, many of which may be made before one is told.
    names: OnceCell<Arc<[String]>>,
}

type Places = (usize, Option<usize>);

fn places<K: Hash + Eq>(headers: impl Iterator<Item = (K, usize)>) -> HashMap<K, Places> {
    let mut places: HashMap<K, Places> = HashMap::new();
    for (header, column) in headers {
        let place = places.entry(header).or_insert((column, None));
        if place.0 != column {
            place.1.get_or_insert(column);
        }
    }
    places
}

impl<'a> Columns<'a> {
    pub(super) fn of(
        input: &'a str,
        header: &'a Header,
        rejects_form: Option<&RejectsForm>,
    ) -> Columns<'a> {
        Columns {
            input,
            headers: &header.names,
            has_header: header.line.is_some(),
            own: match rejects_form {
                Some(form) => form.input_columns.clone(),
                None => (0..header.names.len()).collect(),
            },
            saved: None,
            index: OnceCell::new(),
        }
    }

    pub(super) fn without(&self, left_out: &[usize]) -> Columns<'a> {
        let left_out: HashSet<&usize> = left_out.iter().collect();
        let own = self.own.iter().copied();
        Columns {
            own: own.filter(|column| !left_out.contains(column)).collect(),
            index: OnceCell::new(),
            ..*self
        }
    }

    fn index(&self) -> &Index<'a> {
        self.index.get_or_init(|| {
            let headers = self.headers;
            let own = self.own.iter().copied();
            let trimmed = own.map(|column| (headers[column].trim(), column));
            let columns = self.saved.and_then(|saved| saved.columns.as_deref());
            Index {
                exact: places(trimmed.clone()),
                folded: places(trimmed.map(|(header, column)| {
                    let folded = Some(folded(header)).filter(|folded| folded != header);
                    (folded.map_or(header.into(), Cow::Owned), column)
                })),
                saved: columns
                    .into_iter()
                    .flatten()
                    .map(|name| folded(name))
                    .collect(),
                names: OnceCell::new(),
            }
        })
    }

    /// The column (from 0) that `name` means in `flag`: the one with this header, in upper or lower
    /// case, or else the one with this number (from 1).
    pub(super) fn find(&self, flag: &'static str, name: &str) -> Result<usize, MappingError> {
        let found = self.position(flag, name)?;
        found.ok_or_else(|| MappingError::NoSuchColumn {
            flag,
            column: name.to_owned(),
            headers: Arc::clone(self.index().names.get_or_init(|| self.names().into())),
            input: self.input.to_owned(),
        })
    }

    fn position(&self, flag: &'static str, name: &str) -> Result<Option<usize>, MappingError> {
        let named = self.named(flag, name)?;
        Ok(named.or_else(|| self.numbered(flag, name)))
    }

    /// The phone column that `COL` or `A+B` means: with `A+B`, the cells of two columns are one
    /// number. A header may have a `+` in it, so a header that is the whole text comes first.
    pub(super) fn find_phone(&self, text: &str) -> Result<PhoneColumn, MappingError> {
        let whole = self.find(PHONE_COLUMN, text).map(PhoneColumn::from);
        let is_unknown = matches!(whole, Err(MappingError::NoSuchColumn { .. }));
        let pair = |at: usize| {
            let number = PhoneColumn::from(self.find(PHONE_COLUMN, &text[at + 1..])?);
            let area_code = Some(self.find(PHONE_COLUMN, &text[..at])?);
            Ok(PhoneColumn {
                area_code,
                ..number
            })
        };
        // A plus at the beginning is that of a number, not of two columns.
        let signs = text
            .match_indices('+')
            .filter(|(at, _)| is_unknown && *at > 0);
        let pairs: Vec<Result<PhoneColumn, MappingError>> = signs.map(|(at, _)| pair(at)).collect();
        let found = pairs.iter().find(|pair| pair.is_ok()).or(pairs.first());
        found.cloned().unwrap_or(whole)
    }

    /// The column whose header is `name`. An exact match wins over one in another case.
    pub(super) fn named(
        &self,
        flag: &'static str,
        name: &str,
    ) -> Result<Option<usize>, MappingError> {
        let wanted = name.trim();
        if wanted.is_empty() {
            return Ok(None);
        }
        let index = self.index();
        let exact = index.exact.get(wanted);
        match exact
            .or_else(|| index.folded.get(&*folded(wanted)))
            .copied()
        {
            None => Ok(None),
            Some((column, None)) => Ok(Some(column)),
            Some((first, Some(second))) => Err(MappingError::Other {
                flag: Some(flag),
                message: message!(
                    "{`{flag} {name}` fits |}columns {first} and {second} of `{input}`{, which have the same name| have the same name, `{name}`}",
                    "{name the column by its number, such as `{flag} {first}`|choose the columns again}",
                    flag,
                    name = shown_name(name),
                    first = (first + 1).to_string(),
                    second = (second + 1).to_string(),
                    input = self.input
                ),
            }),
        }
    }

    /// The columns (from 0) whose trimmed headers fit.
    pub(super) fn that(&self, fits: impl Fn(&str) -> bool) -> Vec<usize> {
        self.own
            .iter()
            .copied()
            .filter(|column| fits(self.headers[*column].trim()))
            .collect()
    }

    /// How messages name a column (from 0): `column 2 (`City`)`.
    pub(super) fn label(&self, column: usize) -> Text {
        text!(
            "column {number} ({name})",
            number = (column + 1).to_string(),
            name = vec![self.headers[column].clone()]
        )
    }

    /// How a flag can name a column (from 0), the best way first: its header, unless it is empty or
    /// occurs twice, and its number, unless that is another column's header.
    pub(super) fn flag_texts(&self, column: usize) -> impl Iterator<Item = String> + '_ {
        let header = self.headers[column].trim().to_owned();
        let number = (column + 1).to_string();
        let means_it = move |text: &String| self.position(PHONE_COLUMN, text) == Ok(Some(column));
        [header, number].into_iter().filter(means_it)
    }

    /// The best of [`Columns::flag_texts`].
    pub(super) fn flag_text(&self, column: usize) -> String {
        let mut texts = self.flag_texts(column);
        texts.next().unwrap_or_else(|| (column + 1).to_string())
    }

    /// How `--phone-column` names a phone column; `None` if no text means it.
    pub(super) fn phone_text(&self, phone: PhoneColumn) -> Option<String> {
        let number = self.flag_texts(phone.number).next()?;
        let text = match phone.area_code {
            Some(area) => format!("{}+{number}", self.flag_texts(area).next()?),
            None => number,
        };
        let found = self.find_phone(&text);
        let means_it = found.is_ok_and(|found| found.columns().eq(phone.columns()));
        means_it.then_some(text)
    }

    pub(super) fn names(&self) -> Vec<String> {
        let headers = self.own.iter().map(|column| &self.headers[*column]);
        headers.cloned().collect()
    }

    fn numbered(&self, flag: &str, name: &str) -> Option<usize> {
        let column = name.trim().parse::<usize>().ok()?.checked_sub(1)?;
        // A number in a profile means the column that had it then, not the one that has it now.
        let then = self.saved.and_then(|saved| saved.columns_for(flag));
        // The number may have been a header, which is missing now.
        if then.is_some() && self.index().saved.contains(&folded(name)) {
            return None;
        }
        let is_same = |then: &[String]| {
            let header = then.get(column).map(|header| folded(header));
            header == self.headers.get(column).map(|header| folded(header))
        };
        let is_own = self.own.binary_search(&column).is_ok();
        (is_own && then.is_none_or(is_same)).then_some(column)
    }
}
