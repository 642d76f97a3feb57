//! An encoding by its name.

use std::fmt;
use std::str::FromStr;

/// A character encoding, one of those of the Encoding Standard of the WHATWG; displayed as the
/// standard's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    pub const UTF_8: Encoding = Encoding(&encoding_rs::UTF_8_INIT);
    /// Two or four bytes a character, the low one first: Excel's "Unicode Text".
    pub const UTF_16LE: Encoding = Encoding(&encoding_rs::UTF_16LE_INIT);
    pub const UTF_16BE: Encoding = Encoding(&encoding_rs::UTF_16BE_INIT);
    /// Western European: Excel's plain "CSV" on Windows.
    pub const WINDOWS_1252: Encoding = Encoding(&encoding_rs::WINDOWS_1252_INIT);
    /// Mac OS Roman: Excel's plain "CSV" on a Mac.
    pub const MACINTOSH: Encoding = Encoding(&encoding_rs::MACINTOSH_INIT);

    pub(super) const WINDOWS_1251: Encoding = Encoding(&encoding_rs::WINDOWS_1251_INIT);
    pub(super) const X_MAC_CYRILLIC: Encoding = Encoding(&encoding_rs::X_MAC_CYRILLIC_INIT);

    /// The encoding of an input that begins with these bytes, if they are a byte order mark.
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

    pub(super) fn is_windows_page(self) -> bool {
        self.0.is_single_byte() && self.0.name().starts_with("windows-")
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name())
    }
}

impl FromStr for Encoding {
    /// What to write instead.
    type Err = String;

    /// Takes every label of the standard.
    fn from_str(name: &str) -> Result<Self, String> {
        if let Some(encoding) = encoding_rs::Encoding::for_label(name.as_bytes()) {
            return Encoding::new(encoding).ok_or_else(|| {
                "browsers and leadload no longer read it: convert the file to UTF-8".to_owned()
            });
        }
        Err("write its usual name, such as `UTF-8`, `windows-1252` or `Shift_JIS`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_however_it_is_written() {
        for (name, shown) in [
            ("utf-8", "UTF-8"),
            ("UTF8", "UTF-8"),
            ("utf-16", "UTF-16LE"),
            ("Latin1", "windows-1252"),
            ("ISO-8859-1", "windows-1252"),
            ("cp1250", "windows-1250"),
            ("mac", "macintosh"),
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
    fn other_names_are_refused() {
        for name in ["", "???", "klingon", "cp850", "12", "widnows-1252"] {
            assert!(name.parse::<Encoding>().is_err(), "{name}");
        }
    }

    #[test]
    fn encodings_that_the_standard_dropped_are_refused() {
        for name in ["replacement", "iso-2022-kr", "HZ-GB-2312"] {
            let error = name.parse::<Encoding>().unwrap_err();
            assert!(error.contains("no longer"), "{name}");
        }
    }
}
