//! Finds the phone column that a column beside it completes, by its header: `Work Phone Ext` is about
//! `Work Phone`.

use super::columns::Columns;
use super::header_words::{
    is_mobile, is_phone_word, means_phone, snake, words, words_and_digits, words_beside,
};

/// On which side of the phone column such a column usually is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

/// The columns whose headers mean what the list has, each with the other words of its header.
pub(super) fn completing(columns: &Columns<'_>, list: &str) -> Vec<(usize, Vec<String>)> {
    let own = columns.own.iter().copied();
    let found = own.filter_map(|at| Some((at, words_beside(&columns.headers[at], list)?)));
    found.filter(|_| columns.has_header).collect()
}

/// A phone column (from 0), and what its header says.
pub(super) struct PhoneHeader {
    column: usize,
    words: Vec<String>,
    is_mobile: bool,
}

/// How many phone columns on each side of a column may be the one that it completes: no list of
/// people has more, and a list of nothing but such columns would be compared for hours.
const MOST_BESIDE: usize = 64;

/// No name of a column has more words, in both ways of splitting it.
const MOST_WORDS: usize = 64;

impl PhoneHeader {
    /// Those of these columns, which are in their order.
    pub(super) fn all(
        columns: &Columns<'_>,
        phones: impl IntoIterator<Item = usize>,
    ) -> Vec<PhoneHeader> {
        let of = |column: usize| {
            let header = &columns.headers[column];
            let names = [words(header), snake(header)];
            let own = names.iter().flat_map(|name| words_and_digits(name));
            PhoneHeader {
                column,
                words: own.take(MOST_WORDS).map(str::to_owned).collect(),
                is_mobile: is_mobile(header),
            }
        };
        phones.into_iter().map(of).collect()
    }
}

/// Of the phone columns, the one that `column` completes. `rest` are the other words of its header:
/// each is a word of the phone column too. A mobile phone has neither area code nor extension, if
/// there is another one.
pub(super) fn owner(
    phones: &[PhoneHeader],
    (column, rest): (usize, &[String]),
    side: Side,
) -> Option<usize> {
    let at = phones.partition_point(|phone| phone.column < column);
    let beside = at.saturating_sub(MOST_BESIDE)..phones.len().min(at + MOST_BESIDE);
    let fitting = phones[beside].iter().filter_map(|phone| {
        let own = &phone.words;
        let has = |word: &&String| own.iter().any(|own| own.starts_with(word.as_str()));
        let is_general = |word: &&String| is_phone_word(word) && !is_mobile(word) || *word == FIRST;
        let named = rest.iter().filter(has).count();
        let fits = rest.iter().all(|word| has(&word) || is_general(&word));
        let is_behind = phone.column > column;
        let is_other_side = is_behind != (side == Side::Before);
        let about_mobile = phone.is_mobile && !rest.iter().any(|word| is_mobile(word));
        let extra = if rest.is_empty() { 0 } else { own.len() };
        let rank = (
            rest.len() - named,
            about_mobile,
            extra,
            is_other_side,
            phone.column.abs_diff(column),
        );
        fits.then_some((rank, phone.column))
    });
    fitting.min().map(|(_, phone)| phone)
}

/// `Ext 1` may be about `Phone`.
const FIRST: &str = "1";

/// The columns whose headers mean a phone.
pub(super) fn phone_headers(columns: &Columns<'_>) -> Vec<usize> {
    columns.that(means_phone)
}
