//! A byte that could not be decoded, on its way through text.
//!
//! The byte `b` is carried as U+DC00 + `b`, a lone surrogate, written with the bit
//! pattern of UTF-8. UTF-8 has no surrogates, so a cell that holds an escape is no
//! `str`; and no decoder makes one, so an escape is never anything else. Python
//! calls the same thing `surrogateescape` (PEP 383), with the high bytes only.

/// The length of an escape, in bytes.
pub(super) const LEN: usize = 3;

/// The escape of `byte`.
pub(super) const fn of(byte: u8) -> [u8; LEN] {
    [0xED, 0xB0 | (byte >> 6), 0x80 | (byte & 0x3F)]
}

/// What the first bytes of a text say about an escape there.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// The escape of this byte.
    Escape(u8),
    /// The beginning of one, if more bytes come.
    Cut,
    /// Something else.
    Other,
}

/// Looks for an escape at the very beginning of `bytes`.
pub(super) fn at_start(bytes: &[u8]) -> Start {
    match bytes {
        [0xED, high @ 0xB0..=0xB3, low @ 0x80..=0xBF, ..] => {
            Start::Escape((high & 0x03) << 6 | (low & 0x3F))
        }
        [] | [0xED] | [0xED, 0xB0..=0xB3] => Start::Cut,
        _ => Start::Other,
    }
}

/// Text that may hold escapes and other bytes that are no text, to be shown: each byte
/// that could not be decoded is a `\u{FFFD}`.
pub fn shown(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        if matches!(at_start(rest), Start::Escape(_)) {
            shown.push('\u{FFFD}');
            rest = &rest[LEN..];
            continue;
        }
        let end = (1..rest.len())
            .find(|at| matches!(at_start(&rest[*at..]), Start::Escape(_)))
            .unwrap_or(rest.len());
        shown.push_str(&String::from_utf8_lossy(&rest[..end]));
        rest = &rest[end..];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_an_escape_that_is_no_utf8_and_leads_back_to_it() {
        for byte in 0..=u8::MAX {
            let escape = of(byte);
            assert!(std::str::from_utf8(&escape).is_err());
            assert_eq!(at_start(&escape), Start::Escape(byte));
            assert_eq!(at_start(&escape[..2]), Start::Cut);
            assert_eq!(at_start(&escape[..1]), Start::Cut);
        }
    }

    #[test]
    fn the_last_hangul_syllables_share_the_first_byte_and_are_no_escapes() {
        assert_eq!(at_start("힣".as_bytes()), Start::Other);
        assert_eq!(at_start(b"\xED\xB4\x80"), Start::Other);
    }

    #[test]
    fn a_byte_that_could_not_be_decoded_is_shown_as_one_sign() {
        let text = [b"M", &of(0x81)[..], &of(0x8D), "üÿ".as_bytes(), b"\xFF"].concat();
        assert_eq!(shown(&text), "M\u{FFFD}\u{FFFD}üÿ\u{FFFD}");
    }
}
