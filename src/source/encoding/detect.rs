//! Detects the encoding of an input without a byte order mark, if the user names none.

use std::io::{self, BufRead, BufReader, Read};

use super::Standard;
use super::legacy::LegacySample;
use super::unicode::{Utf8Count, Utf16Count};

const CHUNK_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// Named by the user or by a byte order mark; or ASCII or valid
    /// Unicode, which text in another encoding never is by chance.
    Certain,
    /// UTF-8 with this many invalid bytes.
    DamagedUtf8(u64),
    /// The most likely encoding, judged from this many letters beyond ASCII.
    /// With a handful it may be wrong; with a few dozen it hardly ever is.
    Guess(u64),
    /// A guess that is probably wrong: the letters look like those of a DOS code page, which is not
    /// detected since they may still be others.
    LikeDos,
}

/// Detects the encoding of an input. Reads it to its end.
pub fn detect_encoding(input: impl Read) -> io::Result<(Standard, Certainty)> {
    let mut utf16 = Utf16Count::default();
    let mut utf8 = Utf8Count::default();
    let mut legacy = LegacySample::default();
    let mut input = BufReader::with_capacity(CHUNK_BYTES, input);
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            break;
        }
        utf16.feed(bytes);
        utf8.feed(bytes);
        legacy.feed(bytes);
        let len = bytes.len();
        input.consume(len);
    }
    // UTF-16 is checked first: ASCII text in UTF-16 is also valid UTF-8, with zeros in it.
    if let Some(encoding) = utf16.encoding() {
        return Ok((encoding, Certainty::Certain));
    }
    let undecodable = utf8.undecodable();
    Ok(if undecodable == 0 {
        (encoding_rs::UTF_8, Certainty::Certain)
    } else if utf8.characters >= undecodable {
        // Text in another encoding hardly ever has a valid UTF-8 character by chance.
        (encoding_rs::UTF_8, Certainty::DamagedUtf8(undecodable))
    } else {
        let guess = legacy.guess();
        let certainty = match legacy.is_like_dos(guess) {
            true => Certainty::LikeDos,
            false => Certainty::Guess(legacy.letters()),
        };
        (guess, certainty)
    })
}

#[cfg(test)]
mod tests {
    use super::super::dos::DosPage;
    use super::super::samples::{self, encoded, in_language};
    use super::*;

    /// The text in a DOS code page, unless the page lacks one of its letters.
    fn in_dos(text: &str, page: DosPage) -> Option<Vec<u8>> {
        let all: Vec<u8> = (0..=255).collect();
        let characters: Vec<char> = page.decode(&all).chars().collect();
        let byte = |c: char| Some(characters.iter().position(|of| *of == c)? as u8);
        text.chars().map(byte).collect()
    }

    fn detected(bytes: &[u8]) -> (String, Certainty) {
        let (encoding, certainty) = detect_encoding(bytes).unwrap();
        (encoding.name().to_owned(), certainty)
    }

    #[test]
    fn an_accent_at_the_very_end_of_a_large_file_is_seen() {
        let mut bytes = b"Anna;Berlin;030 1234567\n".repeat(40_000);
        assert_eq!(detected(&bytes), ("UTF-8".into(), Certainty::Certain));
        bytes.extend_from_slice(b"J\xFCrgen;M\xFCnchen;030 1234567");
        assert_eq!(
            detected(&bytes),
            ("windows-1252".into(), Certainty::Guess(2))
        );
        bytes.truncate(bytes.len() - 27);
        bytes.extend_from_slice("Jürgen;München".as_bytes());
        assert_eq!(detected(&bytes), ("UTF-8".into(), Certainty::Certain));
    }

    #[test]
    fn utf8_with_some_damage_is_utf8_and_the_damage_is_counted() {
        let rows = "Müller,Köln\n".repeat(3);
        let damaged = [rows.as_bytes(), b"M\xFCller,K\xF6ln\n"].concat();
        assert_eq!(
            detected(&damaged),
            ("UTF-8".into(), Certainty::DamagedUtf8(2))
        );
    }

    #[test]
    fn a_legacy_file_with_a_few_rows_of_utf8_is_legacy() {
        let rows = b"M\xFCller,K\xF6ln\n".repeat(3);
        let mixed = [&rows, "Müller,Köln\n".as_bytes()].concat();
        assert_eq!(
            detected(&mixed),
            ("windows-1252".into(), Certainty::Guess(10))
        );
    }

    #[test]
    fn no_list_in_a_legacy_encoding_is_taken_for_unicode() {
        for list in samples::ALL {
            for label in list.labels {
                let (name, certainty) = detected(&encoded(&list.csv(), label));
                let is_guess = matches!(certainty, Certainty::Guess(letters) if letters > 20);
                assert!(is_guess, "{} in {label}: {name}", list.language);
            }
            for page in [DosPage::Cp850, DosPage::Cp437] {
                let Some(bytes) = in_dos(&list.csv(), page) else {
                    continue;
                };
                let (name, certainty) = detected(&bytes);
                assert_eq!(
                    certainty,
                    Certainty::LikeDos,
                    "{} in {page:?}: {name}",
                    list.language
                );
            }
            let csv = list.csv();
            let utf8 = detected(csv.as_bytes());
            assert_eq!(utf8, ("UTF-8".into(), Certainty::Certain));
            for label in ["UTF-16LE", "UTF-16BE"] {
                let utf16 = detected(&encoded(&csv, label));
                assert_eq!(utf16, (label.into(), Certainty::Certain));
            }
        }
    }

    #[test]
    fn an_empty_file_is_utf8() {
        assert_eq!(detected(b""), ("UTF-8".into(), Certainty::Certain));
    }

    #[test]
    fn a_character_may_be_cut_between_two_pieces() {
        let german = in_language("German").csv();
        let japanese = in_language("Japanese").csv();
        for bytes in [
            german.into_bytes(),
            encoded(&japanese, "shift_jis"),
            encoded(&japanese, "utf-16be"),
        ] {
            for size in [1, 3, 7] {
                let pieces = Pieces {
                    bytes: &bytes,
                    size,
                };
                let (encoding, certainty) = detect_encoding(pieces).unwrap();
                assert_eq!((encoding.name().to_owned(), certainty), detected(&bytes));
            }
        }
    }

    /// Returns pieces of at most `size` bytes.
    struct Pieces<'a> {
        bytes: &'a [u8],
        size: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.size.min(buffer.len());
            self.bytes.read(&mut buffer[..most])
        }
    }

    proptest::proptest! {
        #[test]
        fn no_input_makes_it_panic(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        ) {
            detected(&bytes);
        }
    }
}
