//! The first look at an input, fast enough to be taken at every one.

use super::utf8_evidence::Utf8Evidence;
use super::utf16_evidence::Utf16Evidence;
use super::{Bom, Encoding};

/// Begins every sequence by which ISO-2022-JP switches between sets of characters.
const ESCAPE: u8 = 0x1B;

/// Looks at all bytes of an input, in pieces of any size, and tells whether it is
/// Unicode. Keeps some counts and nothing else.
#[derive(Debug, Clone, Default)]
pub struct TextSurvey {
    first: Vec<u8>,
    utf8: Utf8Evidence,
    utf16: Utf16Evidence,
    has_escape: bool,
}

/// What [`TextSurvey`] has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurveyedText {
    /// The byte order mark, which decides by itself.
    pub bom: Option<Bom>,
    /// The encoding; `None` where the input is no Unicode, so that what it is must
    /// be guessed from its letters ([`LegacyGuess`](super::LegacyGuess)).
    pub encoding: Option<Encoding>,
    /// Whether every byte is ASCII.
    pub is_ascii: bool,
    /// How many bytes of an input in UTF-8 are no UTF-8. They are not counted where
    /// there is a mark.
    pub broken_bytes: u64,
}

impl TextSurvey {
    /// A survey that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece.
    pub fn feed(&mut self, bytes: &[u8]) {
        let missing = Bom::LONGEST - self.first.len();
        self.first.extend(bytes.iter().take(missing));
        if self.is_decided() {
            return;
        }
        self.has_escape |= memchr::memchr(ESCAPE, bytes).is_some();
        self.utf16.feed(bytes);
        self.utf8.feed(bytes);
    }

    /// Whether more pieces would change nothing.
    pub fn is_decided(&self) -> bool {
        Bom::of(&self.first).is_some()
    }

    /// What all pieces together are. No bytes at all are UTF-8.
    pub fn finish(self) -> SurveyedText {
        let bom = Bom::of(&self.first);
        if let Some(bom) = bom {
            return SurveyedText {
                bom: Some(bom),
                encoding: Some(bom.encoding()),
                is_ascii: false,
                broken_bytes: 0,
            };
        }
        // UTF-16 first: that of ASCII is valid UTF-8 with zeros in it.
        let utf16 = self.utf16.encoding();
        let is_ascii = utf16.is_none() && self.utf8.is_ascii();
        let may_be_japanese = is_ascii && self.has_escape;
        let is_utf8 = self.utf8.is_likely() && !may_be_japanese;
        let encoding = utf16.or(is_utf8.then_some(Encoding::UTF_8));
        let is_broken_utf8 = encoding == Some(Encoding::UTF_8);
        SurveyedText {
            bom: None,
            encoding,
            is_ascii,
            broken_bytes: if is_broken_utf8 {
                self.utf8.broken()
            } else {
                0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surveyed(bytes: &[u8]) -> SurveyedText {
        let mut survey = TextSurvey::new();
        survey.feed(bytes);
        let text = survey.finish();
        let mut in_pieces = TextSurvey::new();
        bytes.chunks(1).for_each(|piece| in_pieces.feed(piece));
        assert_eq!(text, in_pieces.finish());
        text
    }

    #[test]
    fn a_mark_decides_whatever_follows() {
        let text = surveyed(b"\xEF\xBB\xBFM\xFCller");
        assert_eq!(
            (text.bom, text.encoding),
            (Some(Bom::Utf8), Some(Encoding::UTF_8))
        );
        assert_eq!(surveyed(b"\xFF\xFEa\0").encoding, Some(Encoding::UTF_16LE));
        assert_eq!(surveyed(b"\xFE\xFF\0a").bom, Some(Bom::Utf16Be));
    }

    #[test]
    fn ascii_and_nothing_are_utf8() {
        for bytes in [&b""[..], b"name,phone\nAnna,1\n", b"a\0b\n"] {
            let text = surveyed(bytes);
            assert_eq!(
                (text.encoding, text.is_ascii),
                (Some(Encoding::UTF_8), true)
            );
        }
    }

    #[test]
    fn utf8_with_some_damage_is_utf8_and_the_damage_is_counted() {
        let rows = "Müller,Köln\n".repeat(3);
        let text = surveyed(&[rows.as_bytes(), b"M\xFCller,K\xF6ln\n"].concat());
        assert_eq!(
            (text.encoding, text.broken_bytes),
            (Some(Encoding::UTF_8), 2)
        );
    }

    #[test]
    fn a_legacy_file_with_a_few_rows_of_utf8_is_legacy() {
        let rows = b"M\xFCller,K\xF6ln\n".repeat(3);
        let text = surveyed(&[&rows, "Müller,Köln\n".as_bytes()].concat());
        assert_eq!((text.encoding, text.broken_bytes), (None, 0));
    }

    #[test]
    fn escape_sequences_in_ascii_need_a_second_look() {
        let text = surveyed(b"\x1B$BEl5~\x1B(B,1\n");
        assert_eq!((text.encoding, text.is_ascii), (None, true));
    }
}
