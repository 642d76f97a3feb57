//! What a header means by its words, in many languages.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::WordLists;

/// The lists are converted with [`snake`] too, so that headers and lists treat
/// combining marks in the same way.
static LISTS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::read(include_str!("header_words.txt"), snake));

/// All words of the headers that mean a phone number or none.
static PHONE_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = ["phone", "phone words", "phone heads", "not to call"];
    let names = lists.iter().flat_map(|list| LISTS.of(list));
    names.flat_map(|name| name.split('_')).collect()
});

/// Endings of plurals, in languages where they are added to the word.
const PLURALS: [&str; 6] = ["s", "es", "n", "en", "e", "er"];

#[cfg(test)]
pub(super) fn names_of(list: &str) -> impl Iterator<Item = &'static String> {
    LISTS.of(list).iter()
}

/// Whether the header as a whole means a phone number.
pub(super) fn is_phone(header: &str) -> bool {
    let means_phone = |name: &String| {
        let own = without_owner(name);
        let plain = plain(&own);
        let names = [name, &own, &plain];
        names.iter().any(|name| LISTS.has("phone", name)) || is_compound(&plain)
    };
    readings(header).iter().any(means_phone) && !is_not_to_call(header)
}

/// Whether a word in the header means a phone number.
pub(super) fn has_phone(header: &str) -> bool {
    let has_word =
        |name: &String| name.split('_').any(is_phone_word) || has_part(name, "phone parts");
    readings(header).iter().any(has_word) && !is_not_to_call(header)
}

pub(super) fn means_phone(header: &str) -> bool {
    is_phone(header) || has_phone(header)
}

/// Whether the header may mean a phone number if no other header does.
pub(super) fn may_be_phone(header: &str) -> bool {
    let is_known = |name: &String| {
        LISTS.has("perhaps phone", name) || LISTS.has("perhaps phone", &without_digits(name))
    };
    readings(header).iter().any(is_known) || may_be_postal_code(header)
}

/// Whether the header means a postal code in one country and a phone number in another.
pub(super) fn may_be_postal_code(header: &str) -> bool {
    LISTS.has("perhaps postal code", &without_digits(&words(header)))
}

/// Whether the header means something else that looks like a phone number, such as a fax.
pub(super) fn is_not_to_call(header: &str) -> bool {
    let is_part = |word: &str, part: &String| {
        word == part || part.chars().count() > 2 && (word.starts_with(part) || word.ends_with(part))
    };
    let is_other = |word: &str| {
        let word = singular(word);
        let mut others = LISTS.of("not to call").iter();
        others.any(|other| is_part(word, other))
    };
    let mut readings = readings(header).into_iter();
    readings.any(|name| without_digits(&name).split('_').any(is_other))
}

/// The words of a header in two ways, since `WhatsApp` is one word and `HomePhone` is two.
fn readings(header: &str) -> [String; 2] {
    // Salesforce marks fields that a company has added.
    let header = header.trim();
    let own = header.strip_suffix("__c").or(header.strip_suffix("__C"));
    let header = own.unwrap_or(header);
    [words(header), snake(header)]
}

/// A word that means a phone number, by itself or as the end of a compound, also in the plural and
/// with a digit behind it.
pub(super) fn is_phone_word(word: &str) -> bool {
    let word = singular(word.trim_end_matches(char::is_numeric));
    LISTS.has("phone words", word) || is_compound(word)
}

/// Whether the word means a phone number by its parts: `Privattelefon`, `cellnumber`, `worktel`.
fn is_compound(word: &str) -> bool {
    let heads = LISTS.of("phone heads");
    let word = without_plural(word, |word| heads.iter().any(|head| word.ends_with(head)));
    let ends = |list: &str, is_start: fn(&str) -> bool| {
        let mut ends = LISTS.of(list).iter();
        ends.any(|end| word.strip_suffix(end.as_str()).is_some_and(is_start))
    };
    let is_one_word = !word.contains('_') && !LISTS.has("not phone", word);
    is_one_word
        && (ends("phone heads", |start| !start.is_empty())
            || ends("number words", |start| {
                LISTS.has("phone words", start) || is_compound(start)
            })
            || ends("phone words", |start| LISTS.has("whose phone", start)))
}

/// Whether the header means a phone that has neither area code nor extension.
pub(super) fn is_mobile(header: &str) -> bool {
    let name = without_digits(&words(header));
    let mut words = name.split('_');
    LISTS.has("mobile", &name) || words.any(|word| LISTS.has("mobile", singular(word)))
}

/// The other words of a header that means what the list has: `work` and `phone` of `Work Phone Ext`
/// for an extension; `None` if it does not mean that. Digits are words of their own.
pub(super) fn words_beside(header: &str, list: &str) -> Option<Vec<String>> {
    let names = LISTS.of(list);
    let longest = names.iter().map(String::len).max().unwrap_or_default();
    readings(header).iter().find_map(|reading| {
        let words = format!("_{}_", words_and_digits(reading).join("_"));
        let is_name = |at: usize, end: usize| {
            let is_in_list = words.get(at..end).is_some_and(|name| names.contains(name));
            // What is before it in the same word means a phone: `Telefonvorwahl`, `phoneext`.
            let is_start =
                |start: &str| start.is_empty() || is_phone_word(start) || LISTS.has("phone", start);
            is_in_list && words[..at].rsplit('_').next().is_some_and(is_start)
        };
        // Not each name in the header, but what the header has at the end of its words: the list is
        // long, and a list of people may have thousands of columns.
        let ends = words.match_indices('_').map(|(end, _)| end);
        let places = ends.flat_map(|end| {
            let starts = end.saturating_sub(longest)..end;
            starts.map(move |at| (at, end))
        });
        let places = places.filter(|(at, end)| is_name(*at, *end));
        let (at, end) = places.max_by_key(|(at, end)| (end - at, Reverse(*at)))?;
        let all = format!("{}_{}", &words[..at], &words[end..]);
        let others = all.split('_').filter(|word| !word.is_empty());
        let others = others.filter(|word| !LISTS.has("number words", word));
        Some(others.map(str::to_owned).collect())
    })
}

/// The words of a name, with the digits behind a word as a word of their own.
pub(super) fn words_and_digits(name: &str) -> Vec<&str> {
    let parts = name.split('_').flat_map(|word| {
        let (word, digits) = word.split_at(word.trim_end_matches(char::is_numeric).len());
        [word, digits]
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// A name without the words that say whose number it is.
fn without_owner(name: &str) -> String {
    let words: Vec<&str> = name.split('_').collect();
    let others = words.iter().filter(|word| !LISTS.has("whose phone", word));
    others.copied().collect::<Vec<_>>().join("_")
}

/// A name without digits and in the singular.
fn plain(name: &str) -> String {
    let name = without_digits(name);
    name.split('_').map(singular).collect::<Vec<_>>().join("_")
}

/// A name without digits behind its words: `phone_1_value` and `phone1_value` as `phone_value`.
fn without_digits(name: &str) -> String {
    let mut words = words_and_digits(name);
    words.retain(|word| !word.starts_with(char::is_numeric));
    words.join("_")
}

fn singular(word: &str) -> &str {
    without_plural(word, |word| PHONE_WORDS.contains(word))
}

/// The word, or what is left of it without the ending of a plural if only that is known.
fn without_plural(word: &str, is_known: impl Fn(&str) -> bool) -> &str {
    if is_known(word) {
        return word;
    }
    let mut stems = PLURALS.iter().filter_map(|end| word.strip_suffix(end));
    stems.find(|stem| is_known(stem)).unwrap_or(word)
}

/// Whether the header means the country of the person who is called.
pub(super) fn is_country(header: &str) -> bool {
    let name = words(header);
    let is_named = LISTS.has("country", &name)
        || has_any(&name, "country")
        || has_part(&name, "country parts");
    is_named && !has_any(&name, "another country")
}

/// Whether the column may hold what people would not want passed on.
pub fn is_private(header: &str) -> bool {
    let name = words(header);
    has_any(&name, "private") || has_part(&name, "private parts")
}

/// Whether the header of a country column may mean calling codes.
pub(super) fn has_calling_code(header: &str) -> bool {
    has_any(&words(header), "calling code") || is_calling_code(header)
}

/// Whether the header as a whole may mean calling codes.
pub(super) fn is_calling_code(header: &str) -> bool {
    readings(header)
        .iter()
        .any(|name| LISTS.has("calling code columns", name))
}

/// Whether the list has this word, or this name in snake form.
pub(super) fn is_in_list(list: &str, word: &str) -> bool {
    LISTS.has(list, word)
}

/// Whether a word of a name in snake form is in the list.
fn has_any(name: &str, list: &str) -> bool {
    name.split('_').any(|word| LISTS.has(list, word))
}

/// Whether a name contains an entry of the list, for scripts without spaces between words.
fn has_part(name: &str, list: &str) -> bool {
    LISTS.of(list).iter().any(|part| name.contains(part))
}

pub(super) fn folded(header: &str) -> String {
    header.trim().to_lowercase()
}

/// Lower case, with one `_` for each run of characters that are neither letters nor digits, and
/// none at the ends. A combining mark after a letter, as some scripts and files from a Mac have it,
/// counts as part of that letter.
pub(super) fn snake(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.nfc() {
        let is_mark = is_combining_mark(c) && !name.is_empty() && !name.ends_with('_');
        if c.is_alphanumeric() || is_mark {
            name.extend(c.to_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}

/// The words of a header, joined with `_`. `MobilePhone` is two words too, `Phone1Type` also.
pub(super) fn words(header: &str) -> String {
    let mut spaced = String::with_capacity(header.len());
    let mut follows_small = false;
    for c in header.chars() {
        if follows_small && c.is_uppercase() {
            spaced.push(' ');
        }
        follows_small = c.is_lowercase() || c.is_numeric();
        spaced.push(c);
    }
    snake(&spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_names_keep_letters_and_digits_of_every_script() {
        for (header, name) in [
            ("Customer Name", "customer_name"),
            ("  E-Mail (work) ", "e_mail_work"),
            ("Größe", "größe"),
            ("ГОРОД", "город"),
            ("x__y", "x_y"),
            ("2nd line", "2nd_line"),
            ("pre\u{301}nom", "pr\u{e9}nom"),
            ("ชื่อ ลูกค้า", "ชื่อ_ลูกค้า"),
            ("###", ""),
        ] {
            assert_eq!(snake(header), name, "{header}");
        }
    }
}
