use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const SECRET: &str = "12|Ab/+=xyz&-_.~QRSTUVWXYZ";

fn masked(text: &str, secret: &str) -> String {
    Secrets::new([secret]).masked(text)
}

#[test]
fn a_secret_is_found_however_it_is_spelled() {
    for spelled in [
        "12|Ab/+=xyz",
        "12%7CAb%2F%2B%3Dxyz",
        "12%7cAb/%2b=xyz",
        "12%257CAb%252F+=xyz",
        r"12|Ab\/+=xyz",
        "%31%32%7C%41%62%2F%2B%3D%78%79%7A",
        "12&vert;Ab&sol;&plus;&equals;xyz",
        "12&#124;Ab&#x2f;&#X2B;&#0061;xyz",
        "12&#124Ab&sol;+=xyz",
        "12&amp;#124;Ab/+=xyz",
        "12&amp;amp;#124;Ab/+=xyz",
        r"12\u007cAb\u002F+=xyz",
        r"12\\u007cAb\\/+=xyz",
        "12%5Cu007cAb%26%2347%3b+=xyz",
        "12&#37;7CAb/+=xyz",
        "12%%37CAb/+=xyz",
    ] {
        assert_eq!(
            masked(&format!("é {spelled}, {spelled}!"), "12|Ab/+=xyz"),
            "é [token], [token]!",
            "{spelled}"
        );
    }
}

#[test]
fn twelve_characters_of_a_long_secret_are_masked_and_eleven_are_not() {
    assert_eq!(masked("no 12|Ab/+=xyz&, no", SECRET), "no [token], no");
    assert_eq!(masked("no -_.~QRSTUVWXYZ", SECRET), "no [token]");
    assert_eq!(masked("no Ab/+=%78yz&amp;-_.~ no", SECRET), "no [token] no");
    assert_eq!(
        masked("no Ab/+=%78yz&amp;-_ no", SECRET),
        "no Ab/+=%78yz&amp;-_ no"
    );
    // Of a secret that is no longer than that, nothing but the whole.
    assert_eq!(masked("s3cre s3cret", "s3cret"), "s3cre [token]");
}

#[test]
fn a_secret_is_found_in_base64_wherever_it_stands_there() {
    for before in ["", "a", "Bearer ", "user:", "{\"token\":\""] {
        for after in ["", "!", "\n\"}"] {
            let said = format!("{before}{SECRET}{after}");
            for base64 in [
                BASE64_STANDARD_NO_PAD.encode(&said),
                BASE64_URL_SAFE_NO_PAD.encode(&said),
                BASE64_STANDARD_NO_PAD.encode(&said).replace('/', r"\/"),
                BASE64_STANDARD_NO_PAD.encode(&said).replace('+', "%2B"),
            ] {
                let shown = masked(&format!("got {base64}."), SECRET);
                assert!(shown.contains("[token]"), "{said} {shown}");
                // What is left has less than a character of the secret on each side.
                let left = shown.len() - "got [token].".len();
                let others = (before.len() + after.len()) * 4;
                assert!(left <= others.div_ceil(3) + 4, "{said} {shown}");
            }
        }
    }
}

#[test]
fn text_that_is_made_to_take_time_is_masked_in_time() {
    for part in [r"\", "%25", "&amp;", "a", "&#0000037;"] {
        let text = part.repeat(MAX_BYTES / part.len()) + "12|Ab/+=xyz";
        for secret in ["12|Ab/+=xyz", &part.repeat(40)] {
            let began = Instant::now();
            masked(&text, secret);
            assert!(began.elapsed() < Duration::from_secs(10), "{part}");
        }
    }
}

#[test]
fn nothing_of_a_text_that_is_too_long_is_shown() {
    let text = "é".repeat(MAX_BYTES);
    assert_eq!(masked(&text, "s3cret").len(), MAX_BYTES);
    let text = format!("{}s3cret", "x".repeat(MAX_BYTES - 3));
    assert!(masked(&text, "s3cret").ends_with("xs3c"));
}

#[test]
fn other_text_stays_as_it_is() {
    for text in [
        "",
        "50% of 12|Ab",
        "100%é",
        "%",
        "%4",
        r"\",
        "🙂%F0%9F",
        "&",
        "&#",
        "&#x",
        "&#99999999;",
        r"\u12",
    ] {
        assert_eq!(masked(text, "12|Ab/+=xyz"), text);
    }
}

/// The character in one of its spellings, and that in one again where `depth` says so.
fn spelled(c: char, way: u8, depth: u8) -> String {
    let code = u32::from(c);
    let once = match way {
        0 => c.to_string(),
        1 => format!("%{code:02X}"),
        2 => format!("%{code:02x}"),
        3 => format!("&#{code};"),
        4 => format!("&#x{code:x};"),
        5 => format!("\\u{code:04x}"),
        _ if c.is_ascii_punctuation() => format!("\\{c}"),
        _ => format!("&#0{code};"),
    };
    match depth {
        0 => once,
        _ => once
            .chars()
            .enumerate()
            .map(|(at, c)| spelled(c, (way + at as u8) % 7, depth - 1))
            .collect(),
    }
}

fn decoded(text: &str) -> Vec<String> {
    let read = Text::new(text);
    // All that can be read from any place, without what is longer than a run.
    let mut found = Vec::new();
    for at in 0..text.len() {
        let mut paths = vec![(at, Vec::new())];
        for _ in 0..RUN {
            paths = paths
                .into_iter()
                .flat_map(|(at, before): (usize, Vec<u8>)| {
                    let readings: Vec<Reading> = read.readings(at).collect();
                    readings
                        .into_iter()
                        .map(move |(byte, on)| (on, [&before[..], &[byte]].concat()))
                })
                .take(200)
                .collect();
        }
        found.extend(
            paths
                .into_iter()
                .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()),
        );
    }
    found
}

proptest! {
    #[test]
    fn no_run_of_any_secret_is_left_whatever_it_is_mixed_with(
        secret in "[!-~]{12,60}",
        part in any::<(proptest::sample::Index, proptest::sample::Index)>(),
        ways in prop::collection::vec((0..7_u8, 0..2_u8), 60),
        before in prop_oneof![".{0,20}", "[%&#\\\\u0-9a-f;]{0,12}"],
        after in prop_oneof![".{0,20}", "[%&#\\\\u0-9a-f;]{0,12}"],
    ) {
        let first = part.0.index(secret.len() - RUN + 1);
        let last = first + RUN + part.1.index(secret.len() - RUN - first + 1);
        let run = secret[first..last].chars().zip(&ways);
        let said: String = run.map(|(c, (way, depth))| spelled(c, *way, *depth)).collect();
        let shown = masked(&format!("{before}{said}{after}"), &secret);
        prop_assert!(shown.contains(MASK), "{said}: {shown}");
        for read in decoded(&shown) {
            // The mask itself may be a part of such a secret.
            prop_assert!(!secret.contains(&read) || read.contains('['), "{said}: {shown}: {read}");
        }
    }

    #[test]
    fn a_run_in_base64_is_never_left(
        secret in "[!-~]{12,60}",
        before in "[ -~]{0,7}",
        after in "[ -~]{0,7}",
        url in select(vec![true, false]),
    ) {
        let said = format!("{before}{secret}{after}");
        let base64 = match url {
            true => BASE64_URL_SAFE_NO_PAD.encode(&said),
            false => BASE64_STANDARD_NO_PAD.encode(&said),
        };
        let shown = masked(&base64, &secret);
        prop_assert!(shown.contains(MASK), "{said}: {shown}");
        let left: usize = shown.split(MASK).map(str::len).sum();
        prop_assert!(left <= ((before.len() + after.len()) * 4).div_ceil(3) + 4, "{said}: {shown}");
    }

    #[test]
    fn text_without_a_secret_is_unchanged(text in "[ a-z%&#;\\\\0-9é]{0,200}") {
        prop_assert_eq!(masked(&text, "17|S3CRET-TOKEN/OF+ALL"), text);
    }

    #[test]
    fn no_text_makes_it_panic_or_keep_the_secret(before in ".*", after in ".*") {
        let shown = masked(&format!("{before}s3cret{after}"), "s3cret");
        prop_assert!(!shown.contains("s3cret"), "{shown}");
    }
}
