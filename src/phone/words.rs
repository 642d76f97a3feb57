//! Words that people write beside numbers.

use std::sync::LazyLock;

use crate::text::WordLists;

static LISTS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::read(include_str!("words.txt"), str::to_owned));

/// Whether a list of `words.txt` has the word, in capitals or not.
pub(super) fn has(list: &str, word: &str) -> bool {
    LISTS.has(list, &word.to_lowercase())
}
