//! Decodes bytes to text in every encoding.

use std::io::Read;

use proptest::prelude::*;

use super::samples::{encoded, standard};
use super::{DecodingReader, Standard, decoded, encoding_named, is_windows_page};

/// One label for each encoding of the standard, except `replacement`, which decodes nothing.
#[rustfmt::skip]
const EVERY_ENCODING: &[&str] = &[
    "UTF-8", "IBM866", "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6",
    "ISO-8859-7", "ISO-8859-8", "ISO-8859-8-I", "ISO-8859-10", "ISO-8859-13", "ISO-8859-14",
    "ISO-8859-15", "ISO-8859-16", "KOI8-R", "KOI8-U", "macintosh", "windows-874",
    "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
    "windows-1255", "windows-1256", "windows-1257", "windows-1258", "x-mac-cyrillic", "GBK",
    "gb18030", "Big5", "EUC-JP", "ISO-2022-JP", "Shift_JIS", "EUC-KR", "UTF-16BE", "UTF-16LE",
    "x-user-defined",
];

/// Returns pieces of at most `size` bytes.
struct Pieces<'a> {
    bytes: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = self.size.min(buffer.len());
        self.bytes.read(&mut buffer[..most])
    }
}

fn decode(bytes: &[u8], encoding: Standard, size: usize) -> Vec<u8> {
    // `decoded` passes these bytes on unchanged too.
    if encoding == encoding_rs::UTF_8 {
        return bytes.to_vec();
    }
    let mut text = Vec::new();
    let mut reader = DecodingReader::new(Pieces { bytes, size }, encoding);
    reader.read_to_end(&mut text).unwrap();
    text
}

fn any_encoding() -> impl Strategy<Value = Standard> {
    (0..EVERY_ENCODING.len()).prop_map(|at| standard(EVERY_ENCODING[at]))
}

/// Random bytes, many of which begin or end a character in some encoding.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => any::<u8>(),
        3 => 0x80_u8..=0xFE,
        1 => 0x30_u8..=0x39,
        1 => prop_oneof![Just(0x8F_u8), Just(0x8E), Just(0x81), Just(0xD8), Just(0xDC), Just(0), Just(0x1B)],
    ];
    proptest::collection::vec(byte, 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_result_does_not_depend_on_how_the_input_is_split(
        encoding in any_encoding(), bytes in any_bytes(), size in 1_usize..9,
    ) {
        let text = decode(&bytes, encoding, usize::MAX);
        prop_assert_eq!(decode(&bytes, encoding, size), text);
    }

    #[test]
    fn no_character_is_replaced_silently(encoding in any_encoding(), bytes in any_bytes()) {
        let text = decode(&bytes, encoding, 5);
        let expected = encoding.decode_without_bom_handling_and_without_replacement(&bytes);
        match (std::str::from_utf8(&text), expected) {
            (Ok(text), expected) => prop_assert_eq!(Some(text), expected.as_deref()),
            (Err(_), Some(expected)) => {
                // The gaps of the Windows code pages, which the standard fills.
                let has_filler = expected.chars().any(|c| ('\u{80}'..='\u{9F}').contains(&c));
                prop_assert!(has_filler && is_windows_page(encoding));
            }
            (Err(_), None) => {}
        }
    }

    #[test]
    fn text_of_characters_that_the_encoding_has_is_read(
        encoding in any_encoding(),
        characters in proptest::collection::vec(prop_oneof![
            any::<char>(), proptest::char::range('\0', '\u{52F}'),
            proptest::char::range('\u{3000}', '\u{9FFF}'), proptest::char::range('가', '힣'),
        ], 0..60),
        size in 1_usize..9,
    ) {
        let comes_back = |c: &char| {
            let text = c.to_string();
            let (bytes, target, has_failed) = encoding.encode(&text);
            let is_filler = is_windows_page(encoding) && ('\u{80}'..='\u{9F}').contains(c);
            // For UTF-16 `encode` writes UTF-8, which has the same characters.
            !has_failed && !is_filler && target.decode_without_bom_handling(&bytes).0 == text
        };
        let text: String = characters.into_iter().filter(comes_back).collect();
        let bytes = encoded(&text, encoding.name());
        prop_assert_eq!(decode(&bytes, encoding, size), text.as_bytes());
    }
}

#[test]
fn an_undecodable_byte_stays_marked_and_the_rest_is_read() {
    for (label, bytes, expected) in [
        ("windows-1252", &b"a\x81\xFC"[..], &b"a\xFF\xC3\xBC"[..]),
        ("sjis", b"\x81,\x93\x8C", b"\xFF,\xE6\x9D\xB1"),
        ("gb18030", b"\x810\x81,", b"\xFF0\xFF,"),
        ("utf-16le", b"\x00\xD8,\0", b"\xFF\xFF,"),
        ("utf-16be", b"\0,\xDC\x41a", b"\x2C\xFF\xFF\xFF"),
        ("euc-jp", b"\x8F\xA1,", b"\xFF\xFF,"),
    ] {
        for size in 1..5 {
            let text = decode(bytes, standard(label), size);
            assert_eq!(text, expected, "{label}");
        }
    }
}

#[test]
fn large_inputs_decode_the_same_with_any_buffer_size() {
    for label in ["windows-1252", "utf-16le", "sjis", "big5", "gb18030"] {
        let encoding = standard(label);
        let city = if label == "windows-1252" {
            "Köln"
        } else {
            "東京"
        };
        let row = [
            &encoded(&format!("{city};1234567\r\n"), label)[..],
            &[0x81; 2],
        ]
        .concat();
        let bytes = row.repeat(9000);
        let text = decode(&bytes, encoding, usize::MAX);
        assert_eq!(decode(&bytes, encoding, 4099), text);
        assert_eq!(
            text.windows(4).filter(|at| at == b"1234").count(),
            9000,
            "{label}"
        );
    }
}

#[test]
fn the_byte_order_mark_is_never_part_of_the_text() {
    for (label, bytes) in [
        ("utf-8", &b"\xEF\xBB\xBFa"[..]),
        ("utf-16le", b"\xFF\xFEa\0"),
        ("utf-16be", b"\xFE\xFF\0a"),
        ("utf-8", b"a"),
        ("utf-16le", b"a\0"),
        ("windows-1252", b"a"),
    ] {
        let (input, mut text) = (std::io::Cursor::new(bytes), String::new());
        let mut reader = decoded(Box::new(input), encoding_named(label).unwrap()).unwrap();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a", "{label}");
    }
}

#[test]
fn utf8_is_passed_on_unchanged() {
    for bytes in [&b"M\xFCller \xED\xB2\x81"[..], b"\xEF\xBB", b""] {
        let mut text = Vec::new();
        let mut reader = decoded(
            Box::new(std::io::Cursor::new(bytes)),
            encoding_rs::UTF_8.into(),
        )
        .unwrap();
        reader.read_to_end(&mut text).unwrap();
        assert_eq!(text, bytes);
    }
}
