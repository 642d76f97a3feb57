//! A safe name for a file that a browser names.

use crate::text::is_unseen;

/// What an ordinary name has at most, so that endings such as `.results.csv` still fit.
const MAX_BYTES: usize = 120;

/// What a name is called that has nothing left.
const UNNAMED: &str = "list";

/// Names that Windows keeps for devices, whatever comes after a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The name alone, without folders and without what a file system or a terminal cannot take. It is
/// never empty, a link to a folder above, or a device, and keeps its extension.
pub fn safe_name(given: &str) -> String {
    let base = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut kept = String::new();
    for c in base.chars().map(|c| if is_safe(c) { c } else { '_' }) {
        if c == '.' {
            kept.truncate(kept.trim_end_matches(is_dot_or_space).len());
        }
        kept.push(c);
    }
    // Windows ignores dots and spaces at the end; a dot at the beginning hides a file.
    let kept = kept.trim_end_matches(is_dot_or_space);
    let (stem, extension) = kept.split_at(extension_at(kept));
    let room = MAX_BYTES.saturating_sub(extension.len());
    let stem = shortened(stem.trim_start_matches(is_dot_or_space), room);
    match stem {
        "" => format!("{UNNAMED}{extension}"),
        stem if is_device(stem) => format!("{}{extension}", shortened(&format!("_{stem}"), room)),
        stem => format!("{stem}{extension}"),
    }
}

fn is_dot_or_space(c: char) -> bool {
    c == '.' || c.is_whitespace()
}

fn is_safe(c: char) -> bool {
    !is_unseen(c)
        && !matches!(
            c,
            '\u{200C}' | '\u{200D}' | '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\u{FFFD}'
        )
}

/// Where the extension begins, with the one before it if the file is compressed.
fn extension_at(name: &str) -> usize {
    const MAX_EXTENSION: usize = 10;
    let before = |end: usize| {
        let at = name[..end].rfind('.')?;
        let extension = &name[at + 1..end];
        let is_one = (1..=MAX_EXTENSION).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric());
        is_one.then_some(at)
    };
    let Some(last) = before(name.len()) else {
        return name.len();
    };
    let is_packed = ["gz", "zst"]
        .iter()
        .any(|packed| name[last + 1..].eq_ignore_ascii_case(packed));
    match before(last) {
        Some(at) if is_packed => at,
        _ => last,
    }
}

/// As many whole characters as fit into `max` bytes.
fn shortened(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim_end_matches(is_dot_or_space)
}

fn is_device(stem: &str) -> bool {
    let name = stem.split('.').next().unwrap_or_default();
    let name = name.trim_end().to_lowercase();
    let is_numbered = |port: &str| {
        let number = name.strip_prefix(port).unwrap_or_default();
        let mut digits = number.chars();
        let first = digits.next();
        digits.next().is_none()
            && first.is_some_and(|c| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³'))
    };
    DEVICES.contains(&name.as_str()) || is_numbered("com") || is_numbered("lpt")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_ordinary_name_stays_as_it_is() {
        for name in [
            "october.xlsx",
            "Größe & mehr (2).CSV",
            "leads.csv.gz",
            "名单.xlsx",
            "no extension",
            "v1.2 final",
        ] {
            assert_eq!(safe_name(name), name);
        }
    }

    #[test]
    fn nothing_of_a_name_leads_anywhere_else() {
        for (given, safe) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\ada\\leads.csv", "leads.csv"),
            ("..\\..\\leads.csv", "leads.csv"),
            ("/", "list"),
            ("..", "list"),
            ("", "list"),
            (" . ", "list"),
            (".csv", "list.csv"),
            (".bashrc.csv", "bashrc.csv"),
            ("a\0b\u{1b}[2J\n.csv", "a_b_[2J_.csv"),
            ("exe\u{202e}vsc.csv", "exe_vsc.csv"),
            ("leads.csv:stream", "leads.csv_stream"),
            ("leads.csv. . ", "leads.csv"),
            (".\u{a0}leads . . .csv\u{2003}", "leads.csv"),
            ("CON", "_CON"),
            ("nul.csv", "_nul.csv"),
            ("com1 .tar.csv", "_com1.tar.csv"),
            ("LPT³.xlsx", "_LPT³.xlsx"),
            ("com10.csv", "com10.csv"),
            ("console.csv", "console.csv"),
        ] {
            assert_eq!(safe_name(given), safe, "{given:?}");
        }
    }

    #[test]
    fn a_long_name_is_shortened_before_its_extension() {
        let name = safe_name(&format!("{}.csv.gz", "ö".repeat(300)));
        assert_eq!(name, format!("{}.csv.gz", "ö".repeat(56)));
        let name = safe_name(&format!("a.{}", "x".repeat(300)));
        assert_eq!(name.len(), MAX_BYTES);
    }

    proptest! {
        #[test]
        fn every_name_is_one_ordinary_file_and_safe_as_it_is(
            given in prop_oneof![any::<String>(), "[con1lpt.\u{a0} _gzé]{0,20}[ .x]{0,150}[.gzx]{0,9}"],
        ) {
            let name = safe_name(&given);
            let path = std::path::Path::new(&name);
            prop_assert_eq!(path.file_name(), Some(name.as_ref()));
            prop_assert!(name.len() <= MAX_BYTES && !name.starts_with('.'));
            prop_assert_eq!(safe_name(&name), name);
        }
    }
}
