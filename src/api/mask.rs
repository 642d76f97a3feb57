//! Finds a secret in a text, in any of its spellings.

const MASK: &str = "[token]";

/// Replaces each occurrence of `secret`, which is ASCII: plain, percent-encoded (also in part, and
/// more than once), or with slashes escaped as in JSON.
pub(super) fn masked(text: &str, secret: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match length_of(secret.as_bytes(), rest.as_bytes()) {
            Some(length @ 1..) => {
                shown.push_str(MASK);
                rest = &rest[length..];
            }
            _ => {
                shown.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    shown
}

/// How many bytes at the beginning of the text spell the secret; `None` if they do not.
fn length_of(secret: &[u8], text: &[u8]) -> Option<usize> {
    let Some((byte, others)) = secret.split_first() else {
        return Some(0);
    };
    let spellings = [
        text.starts_with(&[*byte]).then_some(1),
        (*byte == b'/' && text.starts_with(br"\/")).then_some(2),
        percent_encoded(*byte, text),
    ];
    let mut spellings = spellings.into_iter().flatten();
    spellings.find_map(|length| Some(length + length_of(others, &text[length..])?))
}

/// How many bytes at the beginning of the text are `byte` in percent encoding:
/// `%2F`, or encoded twice, `%252F`.
fn percent_encoded(byte: u8, text: &[u8]) -> Option<usize> {
    let mut digits = text.strip_prefix(b"%")?;
    while let Some(rest) = digits.strip_prefix(b"25").filter(|_| byte != b'%') {
        digits = rest;
    }
    let (hex, rest) = digits.split_at_checked(2)?;
    let hex = std::str::from_utf8(hex).ok()?;
    let is_byte = u8::from_str_radix(hex, 16) == Ok(byte);
    is_byte.then_some(text.len() - rest.len())
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
