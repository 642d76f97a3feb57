//! Finding a secret in a text, however the text spells it.

use std::ops::Range;

/// What replaces the secret.
const MASK: &str = "[token]";

/// How many times over a text may be encoded: a URL within a URL.
const LEVELS: usize = 3;

/// One byte of a decoded text, and where it is in the original.
#[derive(Debug, Clone)]
struct Decoded {
    byte: u8,
    from: Range<usize>,
}

/// The text with `secret` replaced wherever it is: unchanged, percent-encoded (also in part,
/// and more than once), with slashes escaped as in JSON, or with invisible characters in
/// between.
pub(super) fn masked(text: &str, secret: &str) -> String {
    // True of most ids, of which each answer has one.
    if text.bytes().all(is_always_itself) && !text.contains(secret) {
        return text.to_owned();
    }
    let mut decoded: Vec<Decoded> = text
        .bytes()
        .enumerate()
        .map(|(at, byte)| Decoded {
            byte,
            from: at..at + 1,
        })
        .collect();
    let mut found = occurrences(&decoded, secret.as_bytes());
    for _ in 0..LEVELS {
        decoded = decode(&decoded);
        found.extend(occurrences(&decoded, secret.as_bytes()));
    }
    found.sort_by_key(|range| range.start);
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for range in found {
        if range.start >= end {
            shown.push_str(&text[end..range.start]);
            shown.push_str(MASK);
        }
        end = end.max(range.end);
    }
    shown.push_str(&text[end..]);
    shown
}

/// Whether the byte means only itself, whatever is beside it.
fn is_always_itself(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'%' | b'\\')
}

/// Where in the original `secret` is. It is ASCII, and so are the beginnings and ends of
/// everything that decodes to it.
fn occurrences(decoded: &[Decoded], secret: &[u8]) -> Vec<Range<usize>> {
    let is_secret = |window: &&[Decoded]| window.iter().map(|d| &d.byte).eq(secret);
    decoded
        .windows(secret.len().max(1))
        .filter(is_secret)
        .filter_map(|window| Some(window.first()?.from.start..window.last()?.from.end))
        .collect()
}

/// The text with one level of encoding undone.
fn decode(text: &[Decoded]) -> Vec<Decoded> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.first() {
        let (byte, taken) = match rest {
            [percent, high, low, ..] if percent.byte == b'%' => match hex(high.byte, low.byte) {
                Some(byte) => (Some(byte), 3),
                None => (Some(percent.byte), 1),
            },
            [backslash, slash, ..] if backslash.byte == b'\\' && slash.byte == b'/' => {
                (Some(b'/'), 2)
            }
            // Zero-width characters (U+200B to U+200F, U+FEFF) and controls.
            [a, b, c, ..] if is_invisible([a.byte, b.byte, c.byte]) => (None, 3),
            [other, ..] if other.byte.is_ascii_control() => (None, 1),
            [other, ..] => (Some(other.byte), 1),
            [] => break,
        };
        let from = first.from.start..rest[taken - 1].from.end;
        decoded.extend(byte.map(|byte| Decoded { byte, from }));
        rest = &rest[taken..];
    }
    decoded
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn is_invisible(bytes: [u8; 3]) -> bool {
    matches!(bytes, [0xE2, 0x80, 0x8B..=0x8F] | [0xEF, 0xBB, 0xBF])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_secret_is_found_however_it_is_spelled() {
        for spelled in [
            "12|Ab/+=xyz",
            "12%7CAb%2F%2B%3Dxyz",
            "12%7cAb/%2b=xyz",
            "12%257CAb%252F+=xyz",
            r"12|Ab\/+=xyz",
            "%31%32%7C%41%62%2F%2B%3D%78%79%7A",
            "12|Ab\u{200B}/+=x\0yz",
        ] {
            assert_eq!(
                masked(&format!("é {spelled}, {spelled}!"), "12|Ab/+=xyz"),
                "é [token], [token]!",
                "{spelled}"
            );
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["", "50% of 12|Ab", "100%é", "%", "%4", r"\", "🙂%F0%9F"] {
            assert_eq!(masked(text, "12|Ab/+=xyz"), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_keep_the_secret(before in ".*", after in ".*") {
            let shown = masked(&format!("{before}s3cret{after}"), "s3cret");
            prop_assert!(!shown.contains("s3cret"), "{shown}");
        }
    }
}
