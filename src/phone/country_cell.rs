//! A cell that names a country.

use super::Region;

const NOTHING: [&str; 7] = [
    "n/a",
    "n.a.",
    "none",
    "null",
    "unknown",
    "other",
    "undefined",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountryCell {
    Empty,
    Known(Region),
    Unknown,
}

impl CountryCell {
    pub fn read(text: &str) -> CountryCell {
        let text = text.trim();
        let is_empty = !text.chars().any(char::is_alphanumeric)
            || NOTHING.iter().any(|word| text.eq_ignore_ascii_case(word));
        match (is_empty, Region::parse(text)) {
            (true, _) => CountryCell::Empty,
            (false, Some(region)) => CountryCell::Known(region),
            (false, None) => CountryCell::Unknown,
        }
    }

    /// Reads a cell of a column with calling codes, which may have no plus: `44`, `0049`.
    pub fn read_code(text: &str) -> CountryCell {
        let text = text.trim();
        let digits = text.strip_prefix("00").unwrap_or(text);
        let is_code = matches!(digits.len(), 1..=3)
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && !digits.starts_with('0');
        if is_code {
            CountryCell::read(&format!("+{digits}"))
        } else {
            CountryCell::read(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_names_a_country_or_none_or_an_unknown_one() {
        for text in ["", " - ", "N/A", "unknown", "\u{a0}"] {
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
