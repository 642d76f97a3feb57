//! The one place that opens connections.
//!
//! Every attempt is ours and counted: the HTTP client's own retries and redirects
//! are switched off, since it would repeat some requests by itself, and a POST
//! that is repeated unseen is a person who is called twice.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Method, Request, Response, Url, redirect};
use thiserror::Error;

use super::verdict::{self, Lost, Reply, Verdict};
use super::{BaseUrl, Token};

/// The most bytes that are read of a lead request's answer, which may echo all of
/// the row's variables.
const MOST_LEAD_BYTES: usize = 2 * 1024 * 1024;

/// The most bytes that are read of one page of campaigns.
const MOST_LIST_BYTES: usize = 16 * 1024 * 1024;

/// The longest that making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The share of `--timeout` that connecting may take at most: when it runs out
/// first, it is certain that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// Calls the service. Cloning is cheap and shares connections.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    lead_url: Url,
    campaigns_url: Url,
    token: Token,
}

/// Why no client could be made.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The token cannot stand in a header.
    #[error("the token has characters that no HTTP header can carry")]
    Token,
    /// The HTTP library says no.
    #[error("cannot set up the HTTP client: {0}")]
    Http(reqwest::Error),
}

/// What one attempt to make a lead came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status, if an answer's head arrived.
    pub http_status: Option<u16>,
    /// What it means.
    pub verdict: Verdict,
}

/// An answer as received.
pub(super) struct Received {
    pub(super) status: u16,
    retry_after: Option<String>,
    pub(super) body: Bytes,
}

/// An answer that did not arrive, or not in full.
pub(super) struct Failed {
    /// The status, if the head arrived.
    status: Option<u16>,
    lost: Lost,
}

impl Received {
    fn reply(&self) -> Reply<'_> {
        Reply {
            status: self.status,
            retry_after: self.retry_after.as_deref(),
            body: &self.body,
        }
    }
}

impl Client {
    /// A client for the service at `base_url`; `timeout` bounds each request as a whole.
    pub fn new(base_url: &BaseUrl, token: Token, timeout: Duration) -> Result<Self, ClientError> {
        let mut headers = HeaderMap::new();
        headers.insert(
            AUTHORIZATION,
            token.authorization().ok_or(ClientError::Token)?,
        );
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("leadload/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .http1_only()
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .timeout(timeout)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout.mul_f64(CONNECT_SHARE)));
        if base_url.is_loopback() {
            builder = builder.no_proxy();
        }
        // Fails only where the program has chosen one already, which is as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Client {
            http: builder.build().map_err(ClientError::Http)?,
            lead_url: base_url.call("user/lead"),
            campaigns_url: base_url.call("user/campaigns"),
            token,
        })
    }

    /// One attempt to make a lead.
    pub async fn post_lead(&self, body: Bytes) -> Answer {
        let mut request = Request::new(Method::POST, self.lead_url.clone());
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(body.into());
        let received = self.exchange(request, MOST_LEAD_BYTES).await;
        Answer {
            http_status: match &received {
                Ok(received) => Some(received.status),
                Err(failed) => failed.status,
            },
            verdict: self.judge(&received),
        }
    }

    pub(super) async fn get(&self, url: Url) -> Result<Received, Failed> {
        let request = Request::new(Method::GET, url);
        self.exchange(request, MOST_LIST_BYTES).await
    }

    pub(super) fn token(&self) -> &Token {
        &self.token
    }

    pub(super) fn campaigns_url(&self) -> &Url {
        &self.campaigns_url
    }

    /// What an answer means, with the token masked in all that the service said.
    pub(super) fn judge(&self, received: &Result<Received, Failed>) -> Verdict {
        let reply = match received {
            Ok(received) => Ok(received.reply()),
            Err(failed) => Err(failed.lost),
        };
        verdict::judge(reply, SystemTime::now()).presentable(|text| self.token.masked(text))
    }

    async fn exchange(&self, request: Request, most_bytes: usize) -> Result<Received, Failed> {
        let response = self.http.execute(request).await.map_err(|error| Failed {
            status: None,
            lost: lost(&error),
        })?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get(RETRY_AFTER)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        match bounded_body(response, most_bytes).await {
            Ok(body) => Ok(Received {
                status,
                retry_after,
                body,
            }),
            Err(error) => Err(Failed {
                status: Some(status),
                lost: lost(&error),
            }),
        }
    }
}

/// The body up to a bound. What is longer is no answer of this service; its
/// beginning is judged, and the rest is not read.
async fn bounded_body(mut response: Response, most_bytes: usize) -> Result<Bytes, reqwest::Error> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > most_bytes {
            body.truncate(most_bytes);
            break;
        }
    }
    Ok(body.freeze())
}

/// What a failure says about whether the request can have been taken.
fn lost(error: &reqwest::Error) -> Lost {
    if error.is_connect() || was_never_written(error) {
        Lost::NotSent
    } else if error.is_timeout() {
        Lost::TimedOut
    } else {
        Lost::Broken
    }
}

/// Whether the HTTP library says that it gave the request up before it wrote any
/// of it, as when a kept connection turns out to be closed.
fn was_never_written(error: &reqwest::Error) -> bool {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            return hyper.is_canceled();
        }
        source = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_even_a_debug_print_of_the_client_shows_the_token() {
        let base_url = BaseUrl::parse("http://127.0.0.1:1", false).unwrap();
        let token = Token::from_text("1|s3cretToken", "test").unwrap();
        let client = Client::new(&base_url, token, Duration::from_secs(1)).unwrap();
        let shown = format!("{client:?} {client:#?}");
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}
