//! Flags that stand for countries: emoji of two letters, or of a part of a country.

use super::Region;

/// Begins the flag of a part of a country, whose code follows in invisible letters: `gbeng` is
/// England.
const BLACK: char = '\u{1F3F4}';
const LAST_TAG: char = '\u{E007F}';

/// How many letters of such a code are the country.
const COUNTRY: usize = 2;

/// The country of the flags in a text, if all are of one country, and the text without them;
/// `None` if the text has no flag.
pub(super) fn split(text: &str) -> Option<(Option<Region>, String)> {
    // Nearly no text has one: they are encoded in four bytes, with this first.
    if !text.as_bytes().contains(&0xF0) {
        return None;
    }
    let (mut letters, mut rest) = (String::new(), String::new());
    let mut tags = 0;
    for c in text.chars() {
        let letter = |first: char| char::from_u32(u32::from(c) - u32::from(first) + u32::from('a'));
        match c {
            '\u{1F1E6}'..='\u{1F1FF}' => letters.extend(letter('\u{1F1E6}')),
            BLACK => tags = 0,
            '\u{E0061}'..='\u{E007A}' => {
                tags += 1;
                letters.extend(letter('\u{E0061}').filter(|_| tags <= COUNTRY));
            }
            LAST_TAG => {}
            _ => rest.push(c),
        }
    }
    let first = letters.get(..COUNTRY).unwrap_or_default();
    let is_one = letters == first.repeat(letters.len() / COUNTRY);
    let country = Region::parse(first).filter(|_| is_one);
    (rest.len() < text.len()).then_some((country, rest))
}
