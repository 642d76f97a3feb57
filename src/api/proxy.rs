//! The proxy on the way to the service.
//!
//! The HTTP library would read the same variables, and use no proxy where it cannot read one:
//! everything would go past the proxy that is meant, in silence. So the variables are read here, in
//! its order and by its own parser, and what it cannot read is refused. No message shows a value,
//! since there may be a password in it.

use std::ffi::OsString;
use std::fmt;

use hyper::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use super::BaseUrl;
use crate::message::{Message, Text};
use crate::text::is_quoted;

/// A proxy, or none at all.
pub struct Proxy(pub(super) reqwest::Proxy);

/// The library's own may show a password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxy")
    }
}

impl Proxy {
    /// The proxy for this address, by the variables that `value` looks up. `None` if they name
    /// none, so that the system's settings count, and for this computer.
    ///
    /// # Errors
    ///
    /// If a variable counts for this address and cannot be read.
    pub fn of_variables(
        url: &BaseUrl,
        value: impl Fn(&'static str) -> Option<OsString>,
    ) -> Result<Option<Proxy>, Message> {
        if url.is_loopback() {
            return Ok(None);
        }
        // An empty variable counts as not set.
        let first = |names: &[&'static str]| {
            names.iter().find_map(|&name| {
                let text = value(name)?.to_string_lossy().trim().to_owned();
                (!text.is_empty()).then_some((name, text))
            })
        };
        // Even if no variable names a proxy: the system's settings may.
        if let Some((name, list)) = first(&["NO_PROXY", "no_proxy"])
            && is_exempt(url, name, &list)?
        {
            let none = reqwest::Proxy::custom(|_| None::<String>);
            return Ok(Some(Proxy(none)));
        }
        let own: &[&'static str] = match url.is_https() {
            true => &["HTTPS_PROXY", "https_proxy"],
            // In a CGI script it is a header of the request that started the script.
            false if value("REQUEST_METHOD").is_some() => &[],
            false => &["HTTP_PROXY", "http_proxy"],
        };
        let found = first(own).or_else(|| first(&["ALL_PROXY", "all_proxy"]));
        found.map(|(name, text)| read(name, &text)).transpose()
    }
}

fn read(name: &str, text: &str) -> Result<Proxy, Message> {
    if is_quoted(text) {
        let why = text!("it is in quotation marks");
        return Err(refused(name, why, text!("leave them out")));
    }
    if let Some(mark) = mark_in_credentials(text) {
        let why = text!(
            "there is a `{mark}` in the user name or password, which ends an address",
            mark
        );
        let hint = text!(
            "write it as `{code}`",
            code = format!("%{:02X}", u32::from(mark))
        );
        return Err(refused(name, why, hint));
    }
    let anywhere = Uri::from_static("http://service.example");
    let found = Matcher::builder().all(text).build().intercept(&anywhere);
    let proxy = found.and_then(|_| reqwest::Proxy::all(text).ok());
    proxy.map(Proxy).ok_or_else(|| {
        let hint = text!(
            "write it like `http://proxy.example.com:3128`; other beginnings are `https://`, `socks5://` and `socks5h://`, and in a password marks are written like `%40` for `@`"
        );
        refused(name, text!("it is not the address of a proxy"), hint)
    })
}

fn refused(variable: &str, why: Text, hint: Text) -> Message {
    message!(
        "{variable} cannot be read: {why}",
        "{{hint}|{ask_setup}}",
        variable,
        why,
        hint
    )
}

/// A mark before the `@` at which the address would end for a parser, with the user name in place
/// of the proxy's.
fn mark_in_credentials(text: &str) -> Option<char> {
    let (_, rest) = text.split_once("://").unwrap_or(("", text));
    let (credentials, _) = rest.rsplit_once('@')?;
    credentials.chars().find(|c| matches!(c, '#' | '/' | '?'))
}

/// Whether this list has the address, which is then reached without a proxy. Refuses a list that has
/// it in a form that is not read.
fn is_exempt(url: &BaseUrl, name: &str, list: &str) -> Result<bool, Message> {
    let has_it = |list: &str| {
        let matcher = Matcher::builder().all("proxy").no(list).build();
        let uri = url.to_string().parse::<Uri>();
        uri.is_ok_and(|uri| matcher.intercept(&uri).is_none())
    };
    let is_text = !is_quoted(list) && !list.contains(char::REPLACEMENT_CHARACTER);
    // The library takes a star for all names, and for no numeric address.
    let has_all = list.split(',').any(|part| part.trim() == "*");
    let is_exempt = is_text && (has_all || has_it(list));
    if is_text && (is_exempt || !has_it(&meant(list, url.host()))) {
        return Ok(is_exempt);
    }
    let hint = text!(
        "write it like `localhost,.example.com,10.0.0.0/8`, without quotation marks, stars and ports"
    );
    let why = text!("it is not a list of names with commas between them");
    Err(refused(name, why, hint))
}

/// The list as other programs would read it.
fn meant(list: &str, host: &str) -> String {
    let parts = list.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\''));
    let names = parts.map(|part| {
        let (_, part) = part.split_once("://").unwrap_or(("", part));
        if part
            .strip_suffix('*')
            .is_some_and(|from| host.starts_with(from))
        {
            return host;
        }
        let part = part.strip_prefix('*').unwrap_or(part);
        match part.split_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => part,
        }
    });
    names.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: &str = "https://app.example.com";

    /// The proxy for an address, as the HTTP library shows it.
    fn of(url: &str, variables: &[(&str, &str)]) -> Result<Option<String>, String> {
        let url = BaseUrl::parse(url, true).unwrap();
        let value = |name: &'static str| -> Option<OsString> {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        };
        let proxy = Proxy::of_variables(&url, value);
        let proxy = proxy.map(|proxy| proxy.map(|Proxy(proxy)| format!("{proxy:?}")));
        proxy.map_err(|message| message.to_string())
    }

    #[test]
    fn the_first_variable_that_is_set_and_for_the_address_counts() {
        const PLAIN: &str = "http://app.example.com";
        for (url, variables, host) in [
            (
                SERVICE,
                &[("HTTPS_PROXY", "a"), ("https_proxy", "b")][..],
                "a",
            ),
            (SERVICE, &[("HTTPS_PROXY", " "), ("https_proxy", "b")], "b"),
            (SERVICE, &[("ALL_PROXY", "a"), ("https_proxy", "b")], "b"),
            (SERVICE, &[("HTTP_PROXY", "a"), ("all_proxy", "b")], "b"),
            (PLAIN, &[("HTTPS_PROXY", "a"), ("http_proxy", "b")], "b"),
            (
                PLAIN,
                &[
                    ("REQUEST_METHOD", "GET"),
                    ("HTTP_PROXY", "a"),
                    ("ALL_PROXY", "b"),
                ],
                "b",
            ),
        ] {
            let proxy = of(url, variables).unwrap().unwrap();
            assert!(
                proxy.contains(&format!("\"{host}\"")),
                "{variables:?}: {proxy}"
            );
        }
        assert_eq!(of(SERVICE, &[("HTTP_PROXY", "'a'")]), Ok(None));
        assert_eq!(of("http://localhost", &[("HTTP_PROXY", "'a'")]), Ok(None));
        let cgi = [("REQUEST_METHOD", "GET"), ("HTTP_PROXY", "'a'")];
        assert_eq!(of(PLAIN, &cgi), Ok(None));
    }

    #[test]
    fn what_the_http_library_reads_is_taken() {
        for text in [
            "proxy",
            "proxy:3128",
            "127.0.0.1:3128",
            "http://proxy.example:3128/",
            " https://proxy\n",
            "socks5h://[::1]:1080",
            "http://me:pr0xy%23Secret@proxy",
            "me:pr0xySecret@proxy:3128",
        ] {
            assert!(
                of(SERVICE, &[("HTTPS_PROXY", text)]).unwrap().is_some(),
                "{text}"
            );
        }
    }

    #[test]
    fn what_it_does_not_read_is_refused_by_name_and_never_shown() {
        let address = "address of a proxy";
        for (text, why) in [
            ("'http://pr0xySecret'", "quotation marks"),
            ("“pr0xySecret:3128”", "quotation marks"),
            ("http://\"pr0xySecret\"", address),
            ("http://pr0xy Secret", address),
            ("htp://pr0xySecret", address),
            ("http:/pr0xySecret", address),
            ("http//pr0xySecret", address),
            ("http://", address),
            ("http://:3128", address),
            ("http://pr0xySecret:port", address),
            ("http://pr0xySecret:99999", address),
            ("http://me:pr0xy^Secret@proxy", address),
            ("http://me:pr0xy#Secret@proxy", "`#`"),
            ("http://me:1#pr0xySecret@proxy", "`%23`"),
            ("me:pr0xy/Secret@proxy:3128", "`%2F`"),
        ] {
            for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
                // Another proxy is not what was meant.
                let error = of(SERVICE, &[(name, text), ("all_proxy", "proxy")]);
                let error = error.unwrap_err();
                assert!(error.starts_with(name), "{error}");
                assert!(error.contains(why), "{text}: {error}");
                assert!(
                    !error.contains("pr0xy") && !error.contains("Secret"),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn an_address_that_the_list_has_needs_no_proxy() {
        for list in [
            "app.example.com",
            ".example.com",
            "10.0.0.1, example.com",
            "*",
            "localhost, *",
        ] {
            let variables = [("NO_PROXY", list), ("HTTPS_PROXY", "'a'")];
            // A proxy that is used for nothing.
            let proxy = of(SERVICE, &variables).unwrap();
            assert!(
                proxy.is_some_and(|proxy| proxy.contains("Custom")),
                "{list}"
            );
        }
    }

    #[test]
    fn a_list_that_has_the_address_in_another_form_is_refused() {
        for list in [
            "'app.example.com'",
            "\"localhost,app.example.com\"",
            "*.example.com",
            "app.example.com:443",
            "localhost app.example.com",
            "localhost;*.example.com",
            "localhost,\"app.example.com\"",
            "https://app.example.com",
            "localhost,app.*",
        ] {
            let error = of(SERVICE, &[("no_proxy", list)]).unwrap_err();
            assert!(
                error.starts_with("no_proxy cannot be read"),
                "{list}: {error}"
            );
        }
        for list in [
            "*.example.org",
            "localhost 127.0.0.1",
            "example.org:443",
            "::1",
            "10.0.0.0/8",
            "10.0.0.*",
        ] {
            assert_eq!(of(SERVICE, &[("no_proxy", list)]), Ok(None), "{list}");
        }
        const NUMERIC: &str = "https://192.0.2.7";
        for list in ["192.0.2.*", "http://192.0.2.7", "192.0.2.7:443"] {
            assert!(of(NUMERIC, &[("NO_PROXY", list)]).is_err(), "{list}");
        }
        let all = of(NUMERIC, &[("NO_PROXY", "*")]).unwrap();
        assert!(all.is_some_and(|proxy| proxy.contains("Custom")));
    }
}
