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

/// The country with this name or code; `None` unless it is exactly one.
pub(super) fn find(text: &str) -> Option<Region> {
    let text = text.trim();
    let name = simplified(text);
    // `N/A` is not a country (and not Namibia); `Áo` is Austria (and not Angola).
    let is_code = |c: char| c.is_ascii_alphabetic() || matches!(c, '.' | ' ');
    let may_be_code = name.len() > LONGEST_CODE || text.chars().all(is_code);
    // "Russia" in Vietnamese; in capitals it is the code of Nigeria.
    if text == "Nga" {
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
    for (region, line) in lines(include_str!("countries.txt")) {
        let (long_code, names) = line.split_once(' ').unwrap_or_default();
        let names: Vec<&str> = names.split("; ").collect();
        for name in names.iter().chain([&&*region.to_string(), &long_code]) {
            countries.by_name.insert(simplified(name), region);
        }
        countries.list.push((region, names[0]));
        let names = names
            .into_iter()
            .map(|name| name.trim_start_matches("the "));
        countries.names.extend(names);
    }
    countries
});

/// Countries by their simplified names in other languages.
static NAMES_ELSEWHERE: LazyLock<HashMap<String, Region>> = LazyLock::new(|| {
    let countries = lines(include_str!("country_names.txt"));
    let named = countries.flat_map(|(region, names)| {
        let names = names.split("; ");
        names.map(move |name| (simplified(name), region))
    });
    named.collect()
});

/// The countries of a list, each with the rest of its line. A comment begins with no country's code.
fn lines(list: &'static str) -> impl Iterator<Item = (Region, &'static str)> {
    list.lines().filter_map(|line| {
        let (code, rest) = line.split_once(' ')?;
        let region = rlibphonenumber::Region::from_code(code).ok()?;
        Some((Region(region), rest))
    })
}

/// The name without the parts that people write in different ways.
fn simplified(name: &str) -> String {
    let plain: String = name.nfkd().filter_map(plain_letter).collect();
    let plain = plain.to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let is_only_word = words.len() == 1;
    let alike = words.into_iter().map(|word| match word {
        // A word by itself is a code or a name: AND is Andorra, and ST is São Tomé.
        _ if is_only_word => word,
        "the" | "and" => "",
        "st" => "saint",
        _ => word,
    });
    alike.collect()
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
