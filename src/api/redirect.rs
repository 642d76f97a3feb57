//! Where a redirect leads to, as far as it may be shown.
//!
//! Rule: pure. User names, queries and fragments may hold secrets, and so may a part of a
//! path that is a long word: they are left out.

use reqwest::Url;

use crate::text::looks_secret;

/// Longer ones are not read: an address that anybody could use is shorter.
const LONGEST: usize = 4096;

/// The address that `location` names for whoever has asked for `asked`.
pub(super) fn target(asked: &Url, location: &[u8]) -> Option<String> {
    let location = std::str::from_utf8(location).ok()?;
    if location.len() > LONGEST {
        return None;
    }
    let url = asked.join(location.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let shown = |part| if looks_secret(part) { "…" } else { part };
    let path: Vec<&str> = url.path().split('/').map(shown).collect();
    Some(url.origin().ascii_serialization() + &path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_shown_without_what_may_be_secret() {
        let asked = Url::parse("https://app.example.com:8443/api/user/lead").unwrap();
        for (location, shown) in [
            (
                "https://new.example.com/login",
                "https://new.example.com/login",
            ),
            (" /login ", "https://app.example.com:8443/login"),
            ("login", "https://app.example.com:8443/api/user/login"),
            ("//other.example", "https://other.example/"),
            (
                "http://app.example.com/api/user/lead",
                "http://app.example.com/api/user/lead",
            ),
            (
                "https://me:secret@new.example.com/a?token=secret#secret",
                "https://new.example.com/a",
            ),
            (
                "/reset/eyJhbGciOiJIUzI1NiJ9abcdef/now",
                "https://app.example.com:8443/reset/…/now",
            ),
            ("/17|secret", "https://app.example.com:8443/…"),
            ("/a\u{1b}[2Jb", "https://app.example.com:8443/a%1B[2Jb"),
        ] {
            assert_eq!(target(&asked, location.as_bytes()).as_deref(), Some(shown));
        }
        let long = format!("/{}", "a/".repeat(LONGEST));
        for none in [
            "mailto:me@example.com",
            "javascript:alert(1)",
            "https://",
            &long,
        ] {
            assert_eq!(target(&asked, none.as_bytes()), None, "{none}");
        }
        assert_eq!(target(&asked, b"\xFF"), None);
    }
}
