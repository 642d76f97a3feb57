//! A cell that names a country.

use super::digits::is_digits;
use super::tidy::plain_characters;
use super::{Region, flag, words};

/// What people write in a cell that they leave open, once its characters are plain. Other symbols
/// may mean something.
const BLANKS: [char; 7] = [' ', '\n', '-', '.', '/', '?', '\u{2026}'];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountryCell {
    Empty,
    Known(Region),
    Unknown,
}

impl CountryCell {
    pub fn read(text: &str) -> CountryCell {
        let text = text.trim();
        if let Some((country, rest)) = flag::split(text) {
            return match (country, CountryCell::read(&rest)) {
                (Some(country), CountryCell::Empty) => CountryCell::Known(country),
                (Some(country), named) if named == CountryCell::Known(country) => named,
                _ => CountryCell::Unknown,
            };
        }
        if is_blank(text) {
            return CountryCell::Empty;
        }
        Region::parse(text).map_or(CountryCell::Unknown, CountryCell::Known)
    }

    /// Reads a cell of a column with calling codes, which may have no plus: `44`, `0049`.
    pub fn read_code(text: &str) -> CountryCell {
        let text = text.trim();
        let digits = text.strip_prefix("00").unwrap_or(text);
        let is_code = digits.len() <= 3 && is_digits(digits) && !digits.starts_with('0');
        if is_code {
            CountryCell::read(&format!("+{digits}"))
        } else {
            CountryCell::read(text)
        }
    }
}

fn is_blank(text: &str) -> bool {
    // Dashes and dots of all kinds become plain ones; so does a bullet, which is neither.
    let is_plain = |c: char| BLANKS.contains(&c);
    let is_left_open = !text.contains('\u{2022}') && plain_characters(text).chars().all(is_plain);
    is_left_open || words::has("no country", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_its_country_and_any_other_symbol_is_unknown() {
        let known = |code: &str| CountryCell::Known(Region::parse(code).unwrap());
        for (code, _) in Region::all_by_name() {
            let letters = code
                .bytes()
                .map(|b| char::from_u32(0x1F1E6 + u32::from(b - b'A')).unwrap());
            let flag: String = letters.collect();
            assert_eq!(CountryCell::read(&flag), known(&code), "{code}");
            assert_eq!(
                CountryCell::read(&format!("{flag} {code}")),
                known(&code),
                "{code}"
            );
        }
        for part in ["gbeng", "gbsct", "gbwls", "gbnir"] {
            let tags = part
                .bytes()
                .map(|b| char::from_u32(0xE0000 + u32::from(b)).unwrap());
            let flag: String = ['\u{1F3F4}']
                .into_iter()
                .chain(tags)
                .chain(['\u{E007F}'])
                .collect();
            assert_eq!(CountryCell::read(&flag), known("GB"), "{part}");
        }
        assert_eq!(CountryCell::read("Germany (🇩🇪)"), known("DE"));
        assert_eq!(CountryCell::read("🇩🇪 +49"), known("DE"));
        for text in [
            "🇪🇺",
            "🇺🇳",
            "🏴",
            "🇩🇪🇦🇹",
            "🇩🇪 Austria",
            "🇩",
            "🌍",
            "★",
            "✓",
            "#",
            "*",
            "@",
            "•",
            "_",
            "()",
            "€",
            "!",
        ] {
            assert_eq!(CountryCell::read(text), CountryCell::Unknown, "{text}");
        }
    }

    #[test]
    fn a_cell_names_a_country_or_none_or_an_unknown_one() {
        for text in [
            "", " - ", "N/A", "unknown", "\u{a0}", "—", "?", "???", "...", "/", "- / -",
            "\u{200b}", "．",
        ] {
            assert_eq!(CountryCell::read(text), CountryCell::Empty, "{text}");
        }
        let spain = Region::parse("ES").unwrap();
        assert_eq!(CountryCell::read(" España "), CountryCell::Known(spain));
        for text in ["Neverland", "44", "X"] {
            assert_eq!(CountryCell::read(text), CountryCell::Unknown, "{text}");
        }
        for text in ["34", " 0034", "+34", "ES"] {
            assert_eq!(
                CountryCell::read_code(text),
                CountryCell::Known(spain),
                "{text}"
            );
        }
        for text in ["999", "034", "3400"] {
            assert_eq!(CountryCell::read_code(text), CountryCell::Unknown, "{text}");
        }
    }
}
