//! The one place that opens connections.
//!
//! Each attempt is started and counted by this program. The HTTP client's own retries and redirects
//! are switched off: it would repeat some requests by itself, and a POST that is repeated unnoticed
//! is a person who is called twice. One thing it still does by itself: if a kept connection turns
//! out to be closed before any of a request is written, it uses another one. No server has seen
//! anything of that request.
//!
//! A proxy comes from variables (see `proxy`). If they name none, the HTTP library looks in the
//! system's settings. It also finds the system's certificates (on Unix also through `SSL_CERT_FILE`
//! and `SSL_CERT_DIR`, which are not read in `settings`).

use std::error::Error as _;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION,
};
use reqwest::{Method, Request, Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tracing::{Level, enabled, info};

use super::head;
use super::packed::unpacked;
use super::tokens::Tokens;
use super::unread;
use super::verdict::{TransportError, Verdict, presentable};
use super::wire::values_in;
use super::{Answer, BaseUrl, Certificates, Head, Proxy, Token};
use crate::clock;
use crate::message::Message;
use crate::simulation::{self, NoAnswer};

/// How many bytes of the answer to a lead request are read at most.
const MAX_LEAD_BYTES: usize = 2 * 1024 * 1024;

/// How many of them if the request is small. Many answers are read at the same time.
const USUAL_LEAD_BYTES: usize = 128 * 1024;

/// The answer may echo all variables of the row, and write each of their characters as an escape.
const LONGER_WITH_ESCAPES: usize = 4;

const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;

/// How many lines a head may have: far more than any proxy adds. Room for all of them is made and
/// cleared for each answer, which 2048 lines cost a fifth of the whole time of a lead.
const MAX_HEAD_LINES: usize = 512;

const UNAUTHORIZED: u16 = 401;

/// How long after an answer its connection may still be used for another request. The
/// shortest time for which servers usually keep an idle connection is five seconds (Apache's
/// `KeepAliveTimeout`, Node's `keepAliveTimeout`). A request that is written at the moment at
/// which the server closes is a request whose answer is lost.
pub const REUSE_IDLE_FOR: Duration = Duration::from_secs(4);

/// [`REUSE_IDLE_FOR`] once a request was lost in this way: shorter than any server keeps an idle
/// connection, and long enough for connections that are in steady use.
const REUSE_AFTER_LOSS: Duration = Duration::from_millis(100);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The share of `--timeout` that connecting may take. If connecting takes longer, the attempt
/// fails, and it is certain that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// If a time limit is noticed so much later than it is over, the whole process stood still
/// meanwhile (Ctrl-Z, a container that is paused).
const STANDSTILL: Duration = Duration::from_millis(50);

/// How long it may then take to read what has arrived meanwhile.
const CATCH_UP: Duration = Duration::from_millis(250);

/// Calls the service. Each request uses a clone: cloning is cheap, and clones share connections.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    service: Arc<Service>,
}

#[derive(Debug)]
struct Service {
    base_url: BaseUrl,
    lead_url: Url,
    campaigns_url: Url,
    certificates: Certificates,
    proxy: Option<Proxy>,
    timeout: Duration,
    tokens: Tokens,
    /// In use once a connection has ended without an answer.
    cautious: OnceLock<reqwest::Client>,
}

pub(super) struct Received {
    pub(super) head: Head,
    pub(super) body: Bytes,
}

pub(super) struct Failed {
    head: Option<Head>,
    lost: TransportError,
}

impl Received {
    /// A byte order mark before the body does no harm.
    pub(super) fn json(&self) -> serde_json::Result<Value> {
        let body = self.body.strip_prefix(b"\xEF\xBB\xBF");
        serde_json::from_slice(body.unwrap_or(&self.body))
    }
}

impl Client {
    /// A client for the service at `base_url`, which may show a certificate of the
    /// authorities that the system trusts, or of these. Without a proxy, that of the system's
    /// settings is used. The timeout is for each request as a whole, from connecting to the last
    /// byte of the answer.
    pub fn new(
        base_url: &BaseUrl,
        token: Token,
        certificates: Certificates,
        proxy: Option<Proxy>,
        timeout: Duration,
    ) -> Result<Self, Message> {
        let service = Service {
            base_url: base_url.clone(),
            lead_url: base_url.call("user/lead"),
            campaigns_url: base_url.call("user/campaigns"),
            certificates,
            proxy,
            timeout,
            tokens: Tokens::new(token),
            cautious: OnceLock::new(),
        };
        let http = service.http_client(REUSE_IDLE_FOR).map_err(|error| {
            // The library's error says less than its cause.
            let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            message!("{cannot set up the HTTP client|a connection to the service can't be set up}: {cause}", "{if certificates are missing, install the system's (often the package `ca-certificates`), or name a file of them with `--ca-file`|{ask_setup}}", cause)
        })?;
        Ok(Client {
            http,
            service: Arc::new(service),
        })
    }

    pub async fn post_lead(&self, body: Bytes) -> Answer {
        let mut request = Request::new(Method::POST, self.service.lead_url.clone());
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let most_bytes = USUAL_LEAD_BYTES + LONGER_WITH_ESCAPES * body.len();
        let most_bytes = most_bytes.min(MAX_LEAD_BYTES);
        // Needed only for logging an answer that cannot be read.
        let sent = enabled!(Level::DEBUG).then(|| body.clone());
        *request.body_mut() = Some(body.into());
        let token = self.service.tokens.current();
        let exchanged = self.exchange(request, &token, most_bytes).await;
        let answer = Answer {
            token: Some(token.fingerprint()),
            ..answer_of(&exchanged)
        };
        if let Some(sent) = sent.filter(|_| answer.is_unreadable()) {
            self.log_unread(exchanged.as_ref(), &values_in(&sent));
        }
        if answer.http_status == Some(UNAUTHORIZED) && self.service.tokens.renew(&token) {
            return Answer {
                verdict: Verdict::TokenReplaced,
                token: Some(self.token_fingerprint()),
                ..answer
            };
        }
        self.presentable(answer)
    }

    /// What the token in use is known by.
    pub fn token_fingerprint(&self) -> Arc<str> {
        self.service.tokens.current().fingerprint()
    }

    /// Looks whether another token has come in place of the one that is known by this. `None` where
    /// none may come: unless the service has accepted a request of this client, and the token is in a
    /// regular file.
    pub fn token_is_replaced(&self, refused: &str) -> Option<bool> {
        self.service.tokens.is_replaced(refused)
    }

    /// The answer with the tokens masked in the service's texts, and with those
    /// texts fit to be shown.
    fn presentable(&self, mut answer: Answer) -> Answer {
        answer.verdict = answer.verdict.presentable(|text| self.mask(text));
        answer.request_id = answer.request_id.map(|id| self.mask(&id));
        answer
    }

    /// Logs what there is of an answer to a request with these values.
    pub(super) fn log_unread(&self, exchanged: Result<&Received, &Failed>, values: &[String]) {
        let (head, body) = match exchanged {
            Ok(Received { head, body }) => (Some(head), Ok(&body[..])),
            Err(Failed { head, lost }) => (head.as_ref(), Err(*lost)),
        };
        unread::log(head, body, |text| self.mask(text), values);
    }

    pub(super) async fn get(&self, url: Url) -> Result<Received, Failed> {
        self.exchange_once(Request::new(Method::GET, url)).await
    }

    /// One attempt, with the token in use. A token that was replaced in its file meanwhile is not
    /// used: it may be that of another account.
    pub(super) async fn exchange_once(&self, request: Request) -> Result<Received, Failed> {
        let token = self.service.tokens.current();
        self.exchange(request, &token, MAX_LIST_BYTES).await
    }

    /// The address of a call, such as `user/leads`.
    pub(super) fn call(&self, path: &str) -> Url {
        self.service.base_url.call(path)
    }

    pub(super) fn answer(&self, exchanged: &Result<Received, Failed>) -> Answer {
        self.presentable(answer_of(exchanged))
    }

    /// A text of the service with the tokens masked, and fit to be shown.
    pub(super) fn presentable_text(&self, text: &str) -> String {
        presentable(&self.mask(text))
    }

    /// Masks every token that was ever in use.
    pub(super) fn mask(&self, text: &str) -> String {
        self.service.tokens.masked(text)
    }

    pub(super) fn campaigns_url(&self) -> &Url {
        &self.service.campaigns_url
    }

    async fn exchange(
        &self,
        mut request: Request,
        token: &Token,
        most_bytes: usize,
    ) -> Result<Received, Failed> {
        request
            .headers_mut()
            .insert(AUTHORIZATION, token.header.clone());
        let began = Instant::now();
        let http = self.service.cautious.get().unwrap_or(&self.http);
        let sent = self.within_limit(began, self.send(http, request)).await;
        let mut response = sent.map_err(|lost| {
            if lost == TransportError::Broken {
                self.be_cautious();
            }
            Failed { head: None, lost }
        })?;
        let lines = std::mem::take(response.headers_mut());
        let mut head = Head::read(response.status().as_u16(), &lines, clock::now().into());
        let location = lines.get(LOCATION);
        let location = location.filter(|_| response.status().is_redirection());
        head.redirects_to = location.and_then(|location| head::target(response.url(), location));
        head.lines = lines;
        if head.is_success() {
            self.service.tokens.accept();
        }
        let body = async {
            let body = bounded_body(response, most_bytes).await;
            body.map_err(|error| self.lost(&error))
        };
        let body = self.within_limit(began, body).await.and_then(|body| {
            let encodings = head.lines.get_all(CONTENT_ENCODING).iter();
            // A header value that is not text names no known encoding.
            let encodings = encodings.map(|value| value.to_str().unwrap_or("?"));
            unpacked(encodings, body, most_bytes)
        });
        match body {
            Ok(body) => Ok(Received { head, body }),
            Err(lost) => Err(Failed {
                head: Some(head),
                lost,
            }),
        }
    }

    /// Does a part of an exchange within the time limit for the whole. The HTTP library's own limit
    /// counts before what has arrived: after a standstill an answer would be lost that is there.
    async fn within_limit<T>(
        &self,
        began: Instant,
        work: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        let limit = self.service.timeout;
        let mut work = pin!(work);
        let left = limit.saturating_sub(began.elapsed());
        let mut done = timeout(left, &mut work).await;
        if done.is_err() && began.elapsed() > limit + STANDSTILL {
            done = timeout(CATCH_UP, work).await;
        }
        done.unwrap_or(Err(TransportError::TimedOut))
    }

    async fn send(
        &self,
        http: &reqwest::Client,
        request: Request,
    ) -> Result<Response, TransportError> {
        if let Some(answer) = simulation::answer_to(&request) {
            let answer = answer.await.unwrap_or(Err(NoAnswer::Broken));
            return answer.map_err(|none| match none {
                NoAnswer::NotSent => TransportError::NotSent {
                    why: "it was refused",
                    cure: None,
                },
                NoAnswer::Broken => TransportError::Broken,
            });
        }
        let sent = http.execute(request).await;
        sent.map_err(|error| self.lost(&error))
    }

    fn lost(&self, error: &reqwest::Error) -> TransportError {
        TransportError::of(error, self.service.tokens.was_accepted())
    }

    /// Uses connections again only soon after an answer from now on: one has ended without an
    /// answer, perhaps because it was idle before. The library does not tell whether it was.
    fn be_cautious(&self) {
        let cautious = &self.service.cautious;
        if cautious.get().is_none()
            && let Ok(http) = self.service.http_client(REUSE_AFTER_LOSS)
            && cautious.set(http).is_ok()
        {
            info!(
                event = "cautious",
                "a connection has ended without an answer; from now on only those that were in use a moment ago are used again"
            );
        }
    }
}

impl Service {
    /// Time limits for whole requests are not its business (see [`Client::within_limit`]).
    fn http_client(&self, reuse_idle_for: Duration) -> reqwest::Result<reqwest::Client> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("leadload/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .http1_only()
            // Heads that browsers and other clients read, however they look.
            .http1_max_headers(MAX_HEAD_LINES)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(CONNECT_TIMEOUT.min(self.timeout.mul_f64(CONNECT_SHARE)))
            .pool_idle_timeout(reuse_idle_for);
        builder = match &self.proxy {
            _ if self.base_url.is_loopback() => builder.no_proxy(),
            Some(Proxy(proxy)) => builder.proxy(proxy.clone()),
            None => builder,
        };
        builder = if self.base_url.is_loopback() && !self.base_url.is_https() {
            // No certificate is needed here, so the sandbox also works on a system without any.
            builder.tls_certs_only([])
        } else {
            builder.tls_certs_merge(self.certificates.0.iter().cloned())
        };
        // Fails only if the program has already installed a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        builder.build()
    }
}

fn answer_of(exchanged: &Result<Received, Failed>) -> Answer {
    match exchanged {
        Ok(Received { head, body }) => Answer::of(head, body),
        Err(Failed { head, lost }) => Answer::lost(head.as_ref(), *lost),
    }
}

/// Reads the body up to a bound. This service never sends a longer one: its beginning is judged,
/// and the connection is closed without reading the rest.
async fn bounded_body(mut response: Response, most_bytes: usize) -> reqwest::Result<Bytes> {
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

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
