//! Files that are often given as a list and are not one.

/// What a file is that begins with these bytes (after unpacking), and what to do instead;
/// none where it may be a list.
pub(super) fn not_a_list(first: &[u8]) -> Option<(&'static str, &'static str)> {
    const UNPACK: &str = "unpack it and use the file inside";
    const EXPORT: &str =
        "export the list as CSV or as a spreadsheet from the program it comes from";
    let magics: [(&[u8], &str, &str); 9] = [
        (b"%PDF-", "a PDF", EXPORT),
        (b"\x89PNG", "a picture", EXPORT),
        (b"\xFF\xD8\xFF", "a picture", EXPORT),
        (b"{\\rtf", "a document (RTF)", EXPORT),
        (b"BZh", "packed by bzip2", UNPACK),
        (b"\xFD7zXZ\0", "packed by xz", UNPACK),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive", UNPACK),
        (b"Rar!\x1A\x07", "a RAR archive", UNPACK),
        (b"\x1F\x8B", "packed twice", UNPACK),
    ];
    let magic = magics.iter().find(|(magic, ..)| first.starts_with(magic));
    if let Some((_, what, hint)) = magic {
        return Some((what, hint));
    }
    let text = first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(first);
    let text = text.trim_ascii_start();
    let begins = |word: &[u8]| {
        text.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let markup: [&[u8]; 7] = [
        b"<!doctype",
        b"<html",
        b"<head",
        b"<body",
        b"<table",
        b"<?xml",
        b"<script",
    ];
    match text {
        _ if markup.iter().any(|tag| begins(tag)) => Some(("a web page or XML", EXPORT)),
        _ if begins(b"begin:vcard") => Some(("a file of vCards", EXPORT)),
        [b'{' | b'[', rest @ ..] if matches!(rest.trim_ascii_start(), [b'"' | b'{', ..]) => {
            Some(("JSON", EXPORT))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &[u8]) -> Option<&'static str> {
        not_a_list(text).map(|(what, _)| what)
    }

    #[test]
    fn what_is_no_list_is_called_by_its_name() {
        for (first, name) in [
            (&b"%PDF-1.7"[..], "a PDF"),
            (b"{\"error\":\"phone list unavailable\"}", "JSON"),
            (b"[\n {\"phone\":1}]", "JSON"),
            (b"\xEF\xBB\xBF\n<HTML><body>phone", "a web page or XML"),
            (b"<?xml version=\"1.0\"?>", "a web page or XML"),
            (b"BEGIN:VCARD\r\n", "a file of vCards"),
            (b"BZh91AY", "packed by bzip2"),
        ] {
            assert_eq!(what(first), Some(name));
        }
    }

    #[test]
    fn a_list_with_an_odd_beginning_is_a_list() {
        for first in [
            &b"[Phone],[Name]"[..],
            b"<phone>,name",
            b"{x},y",
            b"",
            b"phone",
        ] {
            assert_eq!(what(first), None);
        }
    }
}
