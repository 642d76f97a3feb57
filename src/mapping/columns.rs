//! Which column a flag means.

use super::MappingError;
use crate::text::nearest;

/// The columns of one input, to be found by header or by number.
pub(super) struct Columns<'a> {
    /// The input's name, for messages.
    pub(super) input: &'a str,
    /// The headers, in order.
    pub(super) headers: &'a [String],
}

impl Columns<'_> {
    /// The column (from 0) that `name`, given to `flag`, means: one whose header
    /// it is, in any case, or else the one of that number (from 1).
    pub(super) fn find(&self, flag: &'static str, name: &str) -> Result<usize, MappingError> {
        match self.named(flag, name)? {
            Some(column) => Ok(column),
            None => self.numbered(name).ok_or_else(|| self.unknown(flag, name)),
        }
    }

    /// The column whose header `name` is. An exact match beats one in another case.
    pub(super) fn named(
        &self,
        flag: &'static str,
        name: &str,
    ) -> Result<Option<usize>, MappingError> {
        let wanted = name.trim();
        let folded = wanted.to_lowercase();
        let exact: Vec<usize> = positions(self.headers, |header| header == wanted);
        let found = match exact.is_empty() {
            true => positions(self.headers, |header| header.to_lowercase() == folded),
            false => exact,
        };
        match found[..] {
            _ if wanted.is_empty() => Ok(None),
            [] => Ok(None),
            [column] => Ok(Some(column)),
            [first, second, ..] => Err(MappingError::SeveralColumns {
                flag,
                column: name.to_owned(),
                first: first + 1,
                second: second + 1,
                input: self.input.to_owned(),
            }),
        }
    }

    fn numbered(&self, name: &str) -> Option<usize> {
        let number: usize = name.trim().parse().ok()?;
        (1..=self.headers.len())
            .contains(&number)
            .then(|| number - 1)
    }

    pub(super) fn unknown(&self, flag: &'static str, name: &str) -> MappingError {
        MappingError::NoSuchColumn {
            flag,
            column: name.to_owned(),
            nearest: nearest(name, self.headers).map(str::to_owned),
            headers: self.headers.to_vec(),
            input: self.input.to_owned(),
        }
    }
}

/// The columns (from 0) whose names, trimmed, fit.
pub(super) fn positions(names: &[String], fits: impl Fn(&str) -> bool) -> Vec<usize> {
    names
        .iter()
        .enumerate()
        .filter(|(_, name)| fits(name.trim()))
        .map(|(column, _)| column)
        .collect()
}
