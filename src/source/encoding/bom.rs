//! The byte order mark.

use super::Encoding;

/// The character U+FEFF as the first of a file, by which a program says how it
/// wrote the rest. Excel's "CSV UTF-8" and "Unicode Text" begin with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bom {
    /// `EF BB BF`
    Utf8,
    /// `FF FE`
    Utf16Le,
    /// `FE FF`
    Utf16Be,
}

impl Bom {
    /// The length of the longest mark, in bytes.
    pub const LONGEST: usize = 3;

    const ALL: [Bom; 3] = [Bom::Utf8, Bom::Utf16Le, Bom::Utf16Be];

    /// The mark that a file begins with, of which `first_bytes` are the first
    /// [`Bom::LONGEST`], or all if it has fewer.
    pub fn of(first_bytes: &[u8]) -> Option<Bom> {
        Self::ALL
            .into_iter()
            .find(|bom| first_bytes.starts_with(bom.bytes()))
    }

    /// The mark as it stands in the file.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Bom::Utf8 => b"\xEF\xBB\xBF",
            Bom::Utf16Le => b"\xFF\xFE",
            Bom::Utf16Be => b"\xFE\xFF",
        }
    }

    /// The encoding that it announces.
    pub fn encoding(self) -> Encoding {
        match self {
            Bom::Utf8 => Encoding::UTF_8,
            Bom::Utf16Le => Encoding::UTF_16LE,
            Bom::Utf16Be => Encoding::UTF_16BE,
        }
    }

    /// The mark that announces `encoding`, if it has one.
    pub fn for_encoding(encoding: Encoding) -> Option<Bom> {
        Self::ALL.into_iter().find(|bom| bom.encoding() == encoding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_known_by_its_bytes_and_by_its_encoding() {
        for bom in Bom::ALL {
            assert_eq!(Bom::of(&[bom.bytes(), b"a"].concat()), Some(bom));
            assert_eq!(Bom::for_encoding(bom.encoding()), Some(bom));
        }
    }

    #[test]
    fn half_a_mark_is_none() {
        assert_eq!(Bom::of(b"\xEF\xBB"), None);
        assert_eq!(Bom::of(b"\xFF"), None);
        assert_eq!(Bom::of(b""), None);
    }

    #[test]
    fn encodings_of_one_byte_a_character_have_no_mark() {
        assert_eq!(Bom::for_encoding(Encoding::WINDOWS_1252), None);
    }
}
