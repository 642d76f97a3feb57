//! Finds an encoding by its name.

use super::dos::DosPage;

/// A character encoding of the WHATWG Encoding Standard.
pub(super) type Standard = &'static encoding_rs::Encoding;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Standard(&'static encoding_rs::Encoding),
    Dos(DosPage),
}

impl Encoding {
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Standard(encoding) => encoding.name(),
            Encoding::Dos(page) => page.name(),
        }
    }
}

impl From<Standard> for Encoding {
    fn from(encoding: Standard) -> Encoding {
        Encoding::Standard(encoding)
    }
}

/// The encoding with this label. The error says what to write instead.
pub fn encoding_named(label: &str) -> Result<Encoding, String> {
    if let Some(page) = DosPage::named(label) {
        return Ok(Encoding::Dos(page));
    }
    match encoding_rs::Encoding::for_label(label.as_bytes()) {
        // The placeholder of the standard for unsafe encodings.
        Some(encoding) if encoding == encoding_rs::REPLACEMENT => {
            Err("browsers and leadload no longer read it: convert the file to UTF-8".to_owned())
        }
        Some(encoding) => Ok(encoding.into()),
        None => {
            Err("write its usual name, such as `UTF-8`, `windows-1252` or `Shift_JIS`".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_recognized_in_any_spelling() {
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
            ("CP850", "cp850"),
            ("ibm437", "cp437"),
            ("gb18030", "gb18030"),
        ] {
            let encoding = encoding_named(name).unwrap();
            assert_eq!(encoding.name(), shown, "{name}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "???", "klingon", "cp852", "12", "widnows-1252"] {
            assert!(encoding_named(name).is_err(), "{name}");
        }
    }

    #[test]
    fn encodings_that_the_standard_dropped_are_refused() {
        for name in ["replacement", "iso-2022-kr", "HZ-GB-2312"] {
            let error = encoding_named(name).unwrap_err();
            assert!(error.contains("no longer"), "{name}");
        }
    }
}
