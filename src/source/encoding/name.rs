//! Finds an encoding by its name.

/// A character encoding of the WHATWG Encoding Standard.
pub type Encoding = &'static encoding_rs::Encoding;

/// The encoding with this label. The error says what to write instead.
pub fn encoding_named(label: &str) -> Result<Encoding, String> {
    match encoding_rs::Encoding::for_label(label.as_bytes()) {
        // The placeholder of the standard for unsafe encodings.
        Some(encoding) if encoding == encoding_rs::REPLACEMENT => {
            Err("browsers and leadload no longer read it: convert the file to UTF-8".to_owned())
        }
        Some(encoding) => Ok(encoding),
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
            ("gb18030", "gb18030"),
        ] {
            let encoding = encoding_named(name).unwrap();
            assert_eq!(encoding.name(), shown, "{name}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "???", "klingon", "cp850", "12", "widnows-1252"] {
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
