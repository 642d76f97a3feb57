//! What a header means by its words, in many languages.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::text::WordLists;

/// The lists are converted with [`snake`] too, so that headers and lists treat
/// combining marks in the same way.
static LISTS: LazyLock<WordLists> =
    LazyLock::new(|| WordLists::read(include_str!("header_words.txt"), snake));

/// The ways in which a header can mean a phone number, the most certain first.
pub(super) const TIERS: [fn(&str) -> bool; 3] = [is_phone, has_phone, may_be_phone];

/// Whether the header as a whole means a phone number.
pub(super) fn is_phone(header: &str) -> bool {
    LISTS.has("phone", &words(header))
}

/// Whether a word in the header means a phone number.
pub(super) fn has_phone(header: &str) -> bool {
    let name = words(header);
    !has_any(&name, "not to call")
        && (has_any(&name, "phone words") || has_part(&name, "phone parts"))
}

/// Whether the header may mean a phone number if no other header does.
fn may_be_phone(header: &str) -> bool {
    LISTS.has("perhaps phone", &words(header))
}

/// Whether the header means something else that looks like a phone number, such as a fax.
pub(super) fn is_not_to_call(header: &str) -> bool {
    has_any(&words(header), "not to call")
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

pub(super) fn has_calling_code(header: &str) -> bool {
    has_any(&words(header), "calling code")
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

/// The words of a header, joined with `_`. `MobilePhone` is two words too.
pub(super) fn words(header: &str) -> String {
    let mut spaced = String::with_capacity(header.len());
    let mut follows_small = false;
    for c in header.chars() {
        if follows_small && c.is_uppercase() {
            spaced.push(' ');
        }
        follows_small = c.is_lowercase();
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
