//! The encoding of an input that nobody has named.

use std::io::{self, ErrorKind, Read};

use super::{Bom, Encoding, LegacyGuess, SurveyedText, TextSurvey};

/// How much is read at a time, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// What an input is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetectedEncoding {
    /// The encoding.
    pub encoding: Encoding,
    /// The byte order mark at its beginning, if it has one.
    pub bom: Option<Bom>,
    /// How far that can be relied on.
    pub basis: Basis,
}

/// What the answer rests on, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The file says so itself, with a byte order mark.
    Bom,
    /// It is ASCII, which means the same in nearly every encoding.
    Ascii,
    /// It is valid UTF-8, which nothing else is by chance.
    ValidUtf8,
    /// It is UTF-8 but for so many bytes.
    DamagedUtf8(
        /// How many bytes are no UTF-8.
        u64,
    ),
    /// It has the zeros of UTF-16.
    Zeros,
    /// It is no Unicode, and its letters are most likely in this encoding.
    Guess(
        /// How many bytes beyond ASCII that rests on. With a handful it may well be
        /// wrong; with a few dozen it hardly ever is.
        u64,
    ),
}

/// Finds the encoding of an input, which is read to its end: once where it is
/// Unicode, twice where it is not and has to be guessed. `open` reads it from the
/// top each time.
///
/// # Errors
///
/// Those of opening and reading.
pub fn detect_encoding<R: Read>(
    mut open: impl FnMut() -> io::Result<R>,
) -> io::Result<DetectedEncoding> {
    let mut survey = TextSurvey::new();
    for_each_chunk(open()?, |chunk| {
        survey.feed(chunk);
        !survey.is_decided()
    })?;
    let surveyed = survey.finish();
    let (encoding, basis) = match surveyed.encoding {
        Some(encoding) => (encoding, basis(encoding, surveyed)),
        None => guess(open()?, surveyed.is_ascii)?,
    };
    Ok(DetectedEncoding {
        encoding,
        bom: surveyed.bom,
        basis,
    })
}

fn basis(encoding: Encoding, surveyed: SurveyedText) -> Basis {
    if surveyed.bom.is_some() {
        Basis::Bom
    } else if surveyed.is_ascii {
        Basis::Ascii
    } else if encoding != Encoding::UTF_8 {
        Basis::Zeros
    } else {
        match surveyed.broken_bytes {
            0 => Basis::ValidUtf8,
            broken => Basis::DamagedUtf8(broken),
        }
    }
}

fn guess(input: impl Read, is_ascii: bool) -> io::Result<(Encoding, Basis)> {
    let mut guess = LegacyGuess::new();
    for_each_chunk(input, |chunk| {
        guess.feed(chunk);
        true
    })?;
    let basis = Basis::Guess(guess.letters());
    Ok(match guess.finish() {
        // Escape sequences that were none of ISO-2022-JP.
        guessed if is_ascii && guessed != Encoding::ISO_2022_JP => (Encoding::UTF_8, Basis::Ascii),
        guessed => (guessed, basis),
    })
}

/// Hands out the input piece by piece until it ends or `goes_on` says no.
fn for_each_chunk(mut input: impl Read, mut goes_on: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(len) if goes_on(&chunk[..len]) => {}
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_lists::{self, encoded, in_language};
    use super::*;

    fn detected(bytes: &[u8]) -> (String, Basis) {
        let found = detect_encoding(|| Ok(bytes)).unwrap();
        (found.encoding.to_string(), found.basis)
    }

    #[test]
    fn an_accent_at_the_very_end_of_a_large_file_is_seen() {
        let mut bytes = b"Anna;Berlin;030 1234567\n".repeat(40_000);
        assert_eq!(detected(&bytes), ("UTF-8".into(), Basis::Ascii));
        bytes.extend_from_slice(b"J\xFCrgen;M\xFCnchen;030 1234567");
        assert_eq!(detected(&bytes), ("windows-1252".into(), Basis::Guess(2)));
        bytes.truncate(bytes.len() - 27);
        bytes.extend_from_slice("Jürgen;München".as_bytes());
        assert_eq!(detected(&bytes), ("UTF-8".into(), Basis::ValidUtf8));
    }

    #[test]
    fn the_basis_says_how_far_to_rely_on_it() {
        let csv = in_language("German").csv();
        let low_first = encoded(&csv, "utf-16le");
        assert_eq!(detected(&low_first), ("UTF-16LE".into(), Basis::Zeros));
        let marked = [b"\xFF\xFE", &low_first[..]].concat();
        assert_eq!(detected(&marked), ("UTF-16LE".into(), Basis::Bom));
        let damaged = [csv.as_bytes(), b"M\xFCller"].concat();
        assert_eq!(detected(&damaged), ("UTF-8".into(), Basis::DamagedUtf8(1)));
        let (name, basis) = detected(&encoded(&csv, "macintosh"));
        assert_eq!(name, "macintosh");
        assert!(matches!(basis, Basis::Guess(_)));
    }

    #[test]
    fn no_list_in_a_legacy_encoding_is_taken_for_unicode() {
        for list in sample_lists::ALL {
            for label in list.labels {
                let (name, basis) = detected(&encoded(&list.csv(), label));
                let is_guess = matches!(basis, Basis::Guess(letters) if letters > 20);
                assert!(is_guess, "{} in {label}: {name}", list.language);
            }
            let csv = list.csv();
            assert_eq!(detected(csv.as_bytes()), ("UTF-8".into(), Basis::ValidUtf8));
        }
    }

    #[test]
    fn escape_sequences_are_japanese_or_nothing() {
        let csv = in_language("Japanese").csv();
        let (name, _) = detected(&encoded(&csv, "iso-2022-jp"));
        assert_eq!(name, "ISO-2022-JP");
        assert_eq!(detected(b"a\x1B[2Jb\n"), ("UTF-8".into(), Basis::Ascii));
    }

    #[test]
    fn no_bytes_are_ascii() {
        assert_eq!(detected(b""), ("UTF-8".into(), Basis::Ascii));
    }

    #[test]
    fn a_mark_is_enough_reading() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("read on"))
            }
        }
        let found = detect_encoding(|| Ok(b"\xEF\xBB\xBFa".chain(Failing))).unwrap();
        assert_eq!(found.bom, Some(Bom::Utf8));
        assert!(detect_encoding(|| Ok(b"abc".chain(Failing))).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_at_all_make_it_panic(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        ) {
            detected(&bytes);
        }
    }
}
