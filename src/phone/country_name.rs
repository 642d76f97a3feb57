//! Finds countries by their names.
//!
//! There are two lists in this folder. `countries.txt` is our own: codes, everyday
//! English names and other spellings. `country_names.txt` is generated from CLDR: the
//! names in some sixty languages. No crate fits. Crates for ISO 3166 only have the
//! official English names. `icu_experimental` has all names, but separately for each
//! language, so finding the country of a name would mean loading hundreds of languages.

use std::collections::HashMap;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::Region;

const LONGEST_CODE: usize = 3;

/// "Russia" in Vietnamese; in capitals it is the code of Nigeria.
const TWO_COUNTRIES: &str = "Nga";

/// The country with this name or code; `None` unless it is exactly one.
pub(super) fn find(text: &str) -> Option<Region> {
    let text = text.trim();
    let name = simplified(text);
    // `N/A` is not a country (and not Namibia); `Áo` is Austria (and not Angola).
    let is_code = |c: char| c.is_ascii_alphabetic() || matches!(c, '.' | ' ');
    let may_be_code = name.len() > LONGEST_CODE || text.chars().all(is_code);
    if text == TWO_COUNTRIES {
        return None;
    }
    let known = COUNTRIES.by_name.get(&name).filter(|_| may_be_code);
    known.or_else(|| NAMES_ELSEWHERE.get(&name)).copied()
}

#[derive(Default)]
pub(super) struct Countries {
    /// The countries with their everyday English names, in the order of their codes.
    pub(super) list: Vec<(Region, &'static str)>,
    by_name: HashMap<String, Region>,
    pub(super) names: Vec<&'static str>,
}

pub(super) static COUNTRIES: LazyLock<Countries> = LazyLock::new(|| {
    let mut countries = Countries::default();
    for line in include_str!("countries.txt").lines() {
        countries.add(line);
    }
    countries
});

/// Countries by their simplified names in other languages.
static NAMES_ELSEWHERE: LazyLock<HashMap<String, Region>> = LazyLock::new(|| {
    let lines = include_str!("country_names.txt").lines();
    let countries = lines.filter_map(|line| {
        let (code, names) = line.split_once(' ')?;
        let region = Region(rlibphonenumber::Region::from_code(code).ok()?);
        Some(
            names
                .split("; ")
                .map(move |name| (simplified(name), region)),
        )
    });
    countries.flatten().collect()
});

impl Countries {
    /// Adds one line of the list. Skips comments and codes that are not a country.
    fn add(&mut self, line: &'static str) -> Option<()> {
        let (code, rest) = line.split_once(' ')?;
        let (long_code, names) = rest.split_once(' ')?;
        let region = Region(rlibphonenumber::Region::from_code(code).ok()?);
        for name in [code, long_code].into_iter().chain(names.split("; ")) {
            self.by_name.insert(simplified(name), region);
        }
        self.names.extend(names.split("; "));
        self.list.push((region, names.split("; ").next()?));
        Some(())
    }
}

/// The name without the parts that people write in different ways.
fn simplified(name: &str) -> String {
    let mut simple = String::with_capacity(name.len());
    let plain: String = name.trim().nfkd().filter_map(plain_letter).collect();
    let plain = plain.to_lowercase();
    // A word by itself is a code or a name: AND is Andorra, and ST is São Tomé.
    let is_only_word = plain.split_whitespace().nth(1).is_none();
    for word in plain.split_whitespace() {
        match word {
            _ if is_only_word => simple.push_str(word),
            "the" | "and" => {}
            "st" => simple.push_str("saint"),
            _ => simple.push_str(word),
        }
    }
    simple
}

/// The letter without its accent; a space for a character that joins words;
/// `None` for a dot or an apostrophe.
fn plain_letter(c: char) -> Option<char> {
    Some(match c {
        'ø' | 'Ø' => 'o',
        'ı' => 'i',
        'ł' | 'Ł' => 'l',
        '.' | '\'' | '’' | '‘' | '`' | '´' => return None,
        // Accents that follow their letter.
        '\u{0300}'..='\u{036F}' => return None,
        // Other marks distinguish names.
        c if c.is_alphanumeric() || is_combining_mark(c) => c,
        _ => ' ',
    })
}
