//! Flags that stand for countries: emoji of two letters, or of a part of a country.

use super::Region;

/// Two of these letters are a flag.
const LETTERS: std::ops::RangeInclusive<char> = '\u{1F1E6}'..='\u{1F1FF}';

/// A black flag with the code of a part of a country in invisible letters is the flag of that part:
/// `gbeng` is England.
const BLACK: char = '\u{1F3F4}';
const TAGS: std::ops::RangeInclusive<char> = '\u{E0030}'..='\u{E007A}';
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
    let ascii = |c: char, first: &char, to: char| {
        char::from_u32(u32::from(c) - u32::from(*first) + u32::from(to))
    };
    let mut rest = String::new();
    // The code of each, in lower case; empty where a flag is of no country.
    let mut codes: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if LETTERS.contains(&c) {
            let second = chars.next_if(|next| LETTERS.contains(next));
            let letters = [Some(c), second].into_iter().flatten();
            codes.push(
                letters
                    .filter_map(|c| ascii(c, LETTERS.start(), 'a'))
                    .collect(),
            );
        } else if c == BLACK {
            let mut code = String::new();
            while let Some(tag) = chars.next_if(|next| TAGS.contains(next) || *next == LAST_TAG) {
                code.extend(ascii(tag, TAGS.start(), '0'));
            }
            code.truncate(COUNTRY);
            codes.push(code);
        } else {
            rest.push(c);
        }
    }
    let (first, others) = codes.split_first()?;
    let is_one = first.len() == COUNTRY && others.iter().all(|code| code == first);
    Some((Region::parse(first).filter(|_| is_one), rest))
}
