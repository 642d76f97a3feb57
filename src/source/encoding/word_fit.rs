//! How well the words of a list fit an encoding of Latin or Cyrillic letters.
//!
//! In the wrong encoding an accent becomes a sign or a capital in the middle of a
//! word: `Stra§e`, `JosŽ`, `MŸller`. Such misfits are counted. What stands between
//! words is left alone, since signs are common there.

use super::Encoding;
use super::byte_table::ByteTable;

/// What a byte is within a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Upper,
    Lower,
    /// Not used within words, such as `†` or `§`.
    Sign,
    /// An accent by itself, which nobody types behind a letter either.
    Accent,
    /// Means nothing in this encoding.
    Hole,
    /// Ends a word, or may stand in one: blanks, digits, hyphens, apostrophes.
    Other,
}

/// Counts the misfits of one encoding.
#[derive(Debug)]
pub(super) struct WordFit {
    encoding: Encoding,
    roles: [Role; 256],
    misfits: u64,
}

impl WordFit {
    /// For `encoding`, which must be one of single bytes.
    pub(super) fn of(encoding: Encoding) -> Self {
        let table = ByteTable::of(encoding);
        WordFit {
            encoding,
            roles: std::array::from_fn(|byte| role(encoding, table.character(byte as u8))),
            misfits: 0,
        }
    }

    /// Whose misfits these are.
    pub(super) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many there were.
    pub(super) fn misfits(&self) -> u64 {
        self.misfits
    }

    /// Looks at a byte beyond ASCII between its neighbours.
    pub(super) fn feed(&mut self, before: u8, byte: u8, after: u8) {
        let [before, role, after] = [before, byte, after].map(|b| self.roles[usize::from(b)]);
        let is_misfit = match role {
            Role::Hole => before.is_letter() || after.is_letter(),
            // Not between `Acme•Corp`, which are two words.
            Role::Sign => {
                (before.is_letter() && after == Role::Lower)
                    || (before == Role::Upper && after == Role::Upper)
            }
            Role::Accent => before.is_letter(),
            // `JosŽ`, `MŸller`
            Role::Upper => before == Role::Lower || (before.is_letter() && after == Role::Lower),
            // Databases that know ASCII only make `MüLLER` of him.
            Role::Lower | Role::Other => false,
        };
        self.misfits += u64::from(is_misfit);
    }
}

impl Role {
    fn is_letter(self) -> bool {
        matches!(self, Role::Upper | Role::Lower)
    }
}

fn role(encoding: Encoding, character: Option<char>) -> Role {
    match character {
        None => Role::Hole,
        Some(c) if c.is_ascii_uppercase() => Role::Upper,
        Some(c) if c.is_ascii_lowercase() => Role::Lower,
        Some(c) if c.is_ascii() => Role::Other,
        // The first is Turkish, for which a Mac has another encoding. The others stand
        // where windows-1252 has `á` and `Ñ`, which are far more common in words.
        Some('ı' | '·' | '—') if encoding == Encoding::MACINTOSH => Role::Sign,
        // As in O’Brien, O´Brien, col·legi, Mª, nº; and blanks and dashes.
        Some('\u{A0}' | '\u{AD}' | '‘' | '’' | '´' | '·' | 'ª' | 'º' | '–' | '—') => {
            Role::Other
        }
        Some('ƒ' | '¯' | '¸' | '\u{2C6}'..='\u{2DD}') => Role::Accent,
        Some(c) if is_in_alphabet(c) && c.is_uppercase() => Role::Upper,
        Some(c) if is_in_alphabet(c) && c.is_alphabetic() => Role::Lower,
        Some(_) => Role::Sign,
    }
}

/// Whether a character lies among the letters of Latin or Cyrillic, where a few
/// signs lie too. `π` and `µ` do not.
fn is_in_alphabet(character: char) -> bool {
    matches!(character, '\u{C0}'..='\u{24F}' | '\u{400}'..='\u{45F}' | '\u{490}' | '\u{491}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misfits(encoding: Encoding, words: &[u8]) -> u64 {
        let mut fit = WordFit::of(encoding);
        let framed = [b" ", words, b" "].concat();
        for three in framed.windows(3).filter(|three| !three[1].is_ascii()) {
            fit.feed(three[0], three[1], three[2]);
        }
        fit.misfits()
    }

    #[test]
    fn names_fit_the_encoding_that_they_are_written_in_and_not_the_other() {
        let windows = b"M\xFCller Jos\xE9 Fran\xE7ois N\xFA\xF1ez Stra\xDFe";
        assert_eq!(misfits(Encoding::WINDOWS_1252, windows), 0);
        assert!(misfits(Encoding::MACINTOSH, windows) >= 4);
        let mac = b"M\x9Fller Jos\x8E Fran\x8Dois N\x9C\x96ez Stra\xA7e";
        assert_eq!(misfits(Encoding::MACINTOSH, mac), 0);
        assert!(misfits(Encoding::WINDOWS_1252, mac) >= 4);
    }

    #[test]
    fn names_that_a_database_has_half_changed_are_not_taken_for_those_of_a_mac() {
        let upper = b"M\xFCLLER FRAN\xE7OIS N\xFA\xF1EZ HI\xC8LENE";
        assert_eq!(misfits(Encoding::WINDOWS_1252, upper), 0);
        let lower = b"m\xDCller nu\xD1ez garc\xCDa jos\xC9maria";
        let [windows, mac] =
            [Encoding::WINDOWS_1252, Encoding::MACINTOSH].map(|e| misfits(e, lower));
        assert_eq!((windows, mac), (4, 4));
    }

    #[test]
    fn apostrophes_and_the_letters_of_both_are_no_misfits() {
        let words = b"O\x92Brien \x8Akoda Sa\x9Aa Mat\x9E B\x9Cuf 5\x80 \x84Haus\x93";
        assert_eq!(misfits(Encoding::WINDOWS_1252, words), 0);
    }
}
