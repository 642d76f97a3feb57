//! The answers that are not pages: refusals and the step that signs a browser in, in plain
//! words; and the headers that every answer has.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

const HEADERS: [(HeaderName, &str); 7] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store"),
    // Not `no-referrer`, with which browsers leave `Origin` out.
    (REFERRER_POLICY, "same-origin"),
    (X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// Sets the headers of every answer, whatever a page has set.
pub fn add_security_headers(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Why a request is refused before it reaches a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Another host's name leads here, as when a foreign site rebinds its name.
    Host,
    /// Nothing is said about what there is.
    Elsewhere,
    /// No cookie, or one of a program that has ended.
    Stranger,
    /// A one-time code that was used, or is none.
    Code,
    Method,
    /// A form that another site sent.
    Origin,
    /// A form without this session's token.
    FormToken,
    Kind,
    TooLarge,
    TooSlow,
    /// The page's own code failed.
    Broken,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Refusal::Host => StatusCode::MISDIRECTED_REQUEST,
            Refusal::Elsewhere => StatusCode::NOT_FOUND,
            Refusal::Stranger | Refusal::Code | Refusal::Origin | Refusal::FormToken => {
                StatusCode::FORBIDDEN
            }
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Kind => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A heading, and what to do.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Refusal::Host | Refusal::Elsewhere => ("There is nothing here", ""),
            Refusal::Stranger => (
                "This page belongs to a leadload that isn't running any more, or to another browser",
                "Start leadload again. That opens the page here.",
            ),
            Refusal::Code => (
                "This link has been used, or has run out",
                "Each link works once. Start leadload again. That opens the page here.",
            ),
            Refusal::Method | Refusal::Kind => (
                "leadload can't do anything with this request",
                "Nothing was changed. Go back and try again.",
            ),
            Refusal::Origin => (
                "This request came from another site",
                "Nothing was changed. Use the page that leadload has opened.",
            ),
            Refusal::FormToken => (
                "This form is out of date",
                "Nothing was changed. Go back, reload the page and try again.",
            ),
            Refusal::TooLarge => (
                "That is more than leadload can take at once",
                "Nothing was changed. Go back and try with less.",
            ),
            Refusal::TooSlow => (
                "The browser stopped sending",
                "Nothing was changed. Go back and try again.",
            ),
            Refusal::Broken => (
                "Something went wrong in leadload",
                "What was sent is remembered. Go back and try again. If it happens again, start leadload again.",
            ),
        }
    }

    pub fn response(self) -> Response {
        let (heading, advice) = self.words();
        let body = html! {
            h1 { (heading) }
            p { (advice) }
        };
        page(self.status(), heading, None, &body)
    }
}

/// A page that goes on by itself, without a script. Unlike a redirect it is a page of ours, so
/// the browser sends a strict cookie along with the next request even if a file led here.
pub fn going_on(to: &str) -> Response {
    let body = html! {
        p { a href=(to) { "Open leadload" } }
    };
    page(StatusCode::OK, "leadload", Some(to), &body)
}

fn page(status: StatusCode, title: &str, goes_on_to: Option<&str>, body: &Markup) -> Response {
    let mut response = Response::new(Body::from(document(title, goes_on_to, body)));
    *response.status_mut() = status;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, html);
    response
}

/// A whole HTML document. It needs nothing else, so it works before a browser has signed in.
pub fn document(title: &str, goes_on_to: Option<&str>, body: &Markup) -> String {
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                @if let Some(to) = goes_on_to {
                    meta http-equiv="refresh" content={ "0;url=" (to) };
                    // Otherwise the browser asks for one where there is nothing.
                    @if to.starts_with('/') { link rel="icon" href={ (to) "icon.svg" }; }
                }
                title { (title) }
            }
            body { (body) }
        }
    };
    document.into_string()
}
