//! An encoding by its name.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::text::nearest;

/// A character encoding, one of those of the Encoding Standard of the WHATWG.
///
/// Displayed as the standard's name: `UTF-8`, `UTF-16LE`, `windows-1252`, `macintosh`,
/// `Shift_JIS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// What everything should be in.
    pub const UTF_8: Encoding = Encoding(&encoding_rs::UTF_8_INIT);
    /// Two or four bytes a character, the low one first: Excel's "Unicode Text".
    pub const UTF_16LE: Encoding = Encoding(&encoding_rs::UTF_16LE_INIT);
    /// The same with the high one first.
    pub const UTF_16BE: Encoding = Encoding(&encoding_rs::UTF_16BE_INIT);
    /// Western European: Excel's plain "CSV" on Windows.
    pub const WINDOWS_1252: Encoding = Encoding(&encoding_rs::WINDOWS_1252_INIT);
    /// Mac OS Roman: Excel's plain "CSV" on a Mac.
    pub const MACINTOSH: Encoding = Encoding(&encoding_rs::MACINTOSH_INIT);

    pub(super) const WINDOWS_1251: Encoding = Encoding(&encoding_rs::WINDOWS_1251_INIT);
    pub(super) const X_MAC_CYRILLIC: Encoding = Encoding(&encoding_rs::X_MAC_CYRILLIC_INIT);

    /// The encoding of an input that begins with these bytes, if they are a byte order
    /// mark, by which a program says how it wrote the rest.
    pub fn of_bom(first: &[u8]) -> Option<Encoding> {
        encoding_rs::Encoding::for_bom(first).map(|(encoding, _)| Encoding(encoding))
    }

    /// The encoding as `encoding_rs` has it; none for `replacement`, its placeholder for
    /// unsafe ones.
    pub(super) fn new(encoding: &'static encoding_rs::Encoding) -> Option<Self> {
        (encoding != encoding_rs::REPLACEMENT).then_some(Encoding(encoding))
    }

    pub(super) fn inner(self) -> &'static encoding_rs::Encoding {
        self.0
    }

    /// Whether it is a code page of Windows with one byte a character.
    pub(super) fn is_windows_page(self) -> bool {
        self.0.is_single_byte() && self.0.name().starts_with("windows-")
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name())
    }
}

/// A name of no encoding that can be read. Says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodingError {
    #[error("{}", match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "write its usual name, such as `UTF-8`, `windows-1252` or `Shift_JIS`".into(),
    })]
    Unknown { nearest: Option<&'static str> },
    /// There is such an encoding, but the standard has dropped it as unsafe.
    #[error("this encoding cannot be read: convert the file to UTF-8")]
    Unsupported,
}

impl FromStr for Encoding {
    type Err = EncodingError;

    /// Takes every label of the standard and some everyday names, in any case, with or
    /// without hyphens and spaces.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if let Some(encoding) = encoding_rs::Encoding::for_label(name.as_bytes()) {
            return Encoding::new(encoding).ok_or(EncodingError::Unsupported);
        }
        let wanted = squeezed(name);
        let everyday = EVERYDAY.iter().find(|(name, _)| *name == wanted);
        let label = everyday
            .map(|(_, label)| *label)
            .or_else(|| NAMES.iter().copied().find(|name| squeezed(name) == wanted));
        label
            .and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()))
            .and_then(Encoding::new)
            .ok_or_else(|| EncodingError::Unknown {
                nearest: nearest(name, NAMES),
            })
    }
}

/// The names of the standard with some of its other labels: what a misspelled name is
/// compared with.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "UTF-8", "UTF-16LE", "UTF-16BE", "UTF-16", "ASCII", "latin1",
    "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254",
    "windows-1255", "windows-1256", "windows-1257", "windows-1258", "windows-874",
    "ISO-8859-1", "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6",
    "ISO-8859-7", "ISO-8859-8", "ISO-8859-8-I", "ISO-8859-9", "ISO-8859-10", "ISO-8859-13",
    "ISO-8859-14", "ISO-8859-15", "ISO-8859-16",
    "macintosh", "MacRoman", "x-mac-cyrillic", "KOI8-R", "KOI8-U", "IBM866", "cp866",
    "Shift_JIS", "EUC-JP", "ISO-2022-JP", "GBK", "gb18030", "gb2312", "Big5", "EUC-KR",
    "ANSI", "x-user-defined",
];

/// Names that people and programs use and the standard does not have, squeezed, each
/// with a label that it has.
#[rustfmt::skip]
const EVERYDAY: &[(&str, &str)] = &[
    // What Windows calls the code page of the country, most often this one.
    ("ansi", "windows-1252"), ("macroman", "macintosh"),
    // Python's names, and what editors show.
    ("utf8sig", "utf-8"), ("utf8bom", "utf-8"), ("utf8withbom", "utf-8"),
    ("cp932", "shift_jis"), ("cp936", "gbk"), ("cp949", "euc-kr"), ("cp950", "big5"),
    ("win1250", "windows-1250"), ("win1251", "windows-1251"), ("win1252", "windows-1252"),
];

/// In lower case, letters and digits only.
fn squeezed(name: &str) -> String {
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_however_it_is_written() {
        for (name, shown) in [
            ("utf-8", "UTF-8"),
            ("UTF8", "UTF-8"),
            (" utf 8 ", "UTF-8"),
            ("utf-8-sig", "UTF-8"),
            ("utf16", "UTF-16LE"),
            ("UTF-16 BE", "UTF-16BE"),
            ("ansi", "windows-1252"),
            ("Latin1", "windows-1252"),
            ("latin-1", "windows-1252"),
            ("iso 8859-15", "ISO-8859-15"),
            ("ISO-8859-1", "windows-1252"),
            ("windows1250", "windows-1250"),
            ("Win-1251", "windows-1251"),
            ("mac", "macintosh"),
            ("MacRoman", "macintosh"),
            ("SJIS", "Shift_JIS"),
            ("cp866", "IBM866"),
            ("866", "IBM866"),
            ("gb18030", "gb18030"),
        ] {
            let encoding: Encoding = name.parse().unwrap();
            assert_eq!(encoding.to_string(), shown, "{name}");
        }
    }

    #[test]
    fn every_name_that_is_suggested_is_accepted() {
        let everyday = EVERYDAY.iter().map(|(name, _)| *name);
        for name in NAMES.iter().copied().chain(everyday) {
            assert!(name.parse::<Encoding>().is_ok(), "{name}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_answered_with_the_nearest_name() {
        let error = "widnows-1252".parse::<Encoding>().unwrap_err();
        assert_eq!(error.to_string(), "did you mean `windows-1252`?");
        for name in ["", "???", "klingon", "cp850", "12"] {
            assert!(name.parse::<Encoding>().is_err(), "{name}");
        }
    }

    #[test]
    fn encodings_that_the_standard_dropped_are_refused() {
        for name in ["replacement", "iso-2022-kr", "HZ-GB-2312"] {
            let error = name.parse::<Encoding>().unwrap_err();
            assert!(error == EncodingError::Unsupported, "{name}");
        }
    }
}
