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

/// Whether `bytes` begin with an escape.
fn is_at_start(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xB0..=0xB3, 0x80..=0xBF, ..])
}

/// Text that may hold escapes and other bytes that are no text, to be shown: each byte
/// that could not be decoded is a `\u{FFFD}`.
pub fn shown(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        if is_at_start(rest) {
            shown.push('\u{FFFD}');
            rest = &rest[LEN..];
            continue;
        }
        let end = (1..rest.len())
            .find(|at| is_at_start(&rest[*at..]))
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
    fn every_byte_has_an_escape_of_its_own_that_is_no_utf8() {
        let mut escapes: Vec<_> = (0..=u8::MAX).map(of).collect();
        for escape in &escapes {
            assert!(std::str::from_utf8(escape).is_err());
            assert!(is_at_start(escape));
        }
        escapes.dedup();
        assert_eq!(escapes.len(), 256);
    }

    #[test]
    fn the_last_hangul_syllables_share_the_first_byte_and_are_no_escapes() {
        assert!(!is_at_start("힣".as_bytes()));
        assert!(!is_at_start(b"\xED\xB4\x80"));
    }

    #[test]
    fn a_byte_that_could_not_be_decoded_is_shown_as_one_sign() {
        let text = [b"M", &of(0x81)[..], &of(0x8D), "üÿ".as_bytes(), b"\xFF"].concat();
        assert_eq!(shown(&text), "M\u{FFFD}\u{FFFD}üÿ\u{FFFD}");
    }
}
