//! The address of the service.

use std::fmt;

use url::{Host, Url};

use crate::message::{Message, Value};
use crate::text::{is_quoted, looks_secret};

/// The service's address. With or without a trailing `/` or `/api`, all mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Reads a base URL; plain `http` only to this computer unless `insecure_http`.
    pub fn parse(text: &str, insecure_http: bool) -> Result<BaseUrl, Message> {
        let text = text.trim();
        if is_quoted(text) {
            let what = text!("the address of the service is in quotation marks");
            return Err(Message::new(what, text!("leave them out")));
        }
        let url = Url::parse(text).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let mut url = url.ok_or_else(|| {
            let address = Value::Place(text.to_owned());
            let what = text!("{address} is not a web address", address);
            match BaseUrl::with_https(text) {
                Some(meant) => {
                    let meant = meant.to_string();
                    Message::new(what, text!("did you mean `{meant}`?", meant))
                }
                None => {
                    let hint =
                        text!("it begins with `https://`, such as `https://app.example.com`");
                    Message::new(what, hint)
                }
            }
        })?;
        let surplus = if !url.username().is_empty() || url.password().is_some() {
            Some((
                template!("a user name or password"),
                template!("leave it out, up to the `@`"),
            ))
        } else if url.query().is_some() {
            Some((
                template!("a `?`"),
                template!("leave out everything from the `?` on"),
            ))
        } else if url.fragment().is_some() {
            Some((
                template!("a `#`"),
                template!("leave out everything from the `#` on"),
            ))
        } else {
            None
        };
        if let Some((surplus, hint)) = surplus {
            let what = text!("the address of the service has {surplus} in it", surplus);
            return Err(Message::new(what, hint));
        }
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix("/api").unwrap_or(path);
        let path = path.trim_end_matches('/').to_owned();
        url.set_path(&path);
        let base = BaseUrl(url);
        if base.is_https() || base.is_loopback() || insecure_http {
            return Ok(base);
        }
        Err(message!(
            "`{address}` is {plain http|not secure}: the token and every number could be read on the way",
            "use {https, or allow it with `--insecure-http`|the address that begins with https://}",
            address = base.to_string()
        ))
    }

    /// The https address that a user who gives only a host name probably means.
    pub fn with_https(text: &str) -> Option<BaseUrl> {
        let text = text.trim();
        let is_name =
            text.contains('.') && !text.contains("://") && !looks_secret(text) && !is_quoted(text);
        is_name.then(|| BaseUrl::parse(&format!("https://{text}"), false).ok())?
    }

    /// Whether the address is this computer, which is never reached through a proxy.
    pub fn is_loopback(&self) -> bool {
        match self.0.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
            None => false,
        }
    }

    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    pub(super) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The address of one of the service's calls, such as `user/lead`.
    pub(super) fn call(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!(
            "{}/api/{path}",
            self.0.path().trim_end_matches('/')
        ));
        url
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, insecure_http: bool, reason: &str) {
        let error = BaseUrl::parse(text, insecure_http).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn a_host_name_alone_means_https() {
        let meant = |text| BaseUrl::with_https(text).map(|url| url.to_string());
        let url = Some("https://app.example.com".to_owned());
        assert_eq!(meant(" app.example.com/api "), url);
        for text in [
            "app",
            "ftp://app.example.com",
            "a b.example",
            "'a.example'",
            "",
        ] {
            assert_eq!(meant(text), None, "{text}");
        }
    }

    #[test]
    fn a_trailing_slash_or_api_makes_no_difference() {
        for text in [
            "https://app.example.com",
            "https://app.example.com/",
            "https://app.example.com/api",
            " https://app.example.com/api/ ",
        ] {
            let base = BaseUrl::parse(text, false).unwrap();
            assert_eq!(base.to_string(), "https://app.example.com");
            assert_eq!(
                base.call("user/lead").as_str(),
                "https://app.example.com/api/user/lead"
            );
        }
        assert_eq!(
            BaseUrl::parse("https://example.com/x/api/", false)
                .unwrap()
                .call("user/lead")
                .as_str(),
            "https://example.com/x/api/user/lead"
        );
    }

    #[test]
    fn plain_http_goes_to_this_computer_only() {
        for text in [
            "http://127.0.0.1:8088",
            "http://localhost:1",
            "http://[::1]:1",
            "http://127.9.9.9",
        ] {
            assert!(BaseUrl::parse(text, false).unwrap().is_loopback(), "{text}");
        }
        for text in [
            "http://example.com",
            "http://localhost.example.com",
            "http://10.0.0.1",
        ] {
            refused(text, false, "plain http");
            assert!(BaseUrl::parse(text, true).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_a_service_is_refused() {
        for text in [
            "",
            "app.example.com",
            "ftp://example.com",
            "https://",
            "/api",
        ] {
            refused(text, true, "web address");
        }
        for text in ["'https://app.example.com'", "“app.example.com”"] {
            refused(text, true, "quotation marks");
        }
        for (text, hint) in [
            ("https://me:secret@example.com", "`@`"),
            ("https://example.com/?a=b", "`?`"),
            ("https://example.com/#a", "`#`"),
        ] {
            refused(text, true, hint);
        }
    }
}
