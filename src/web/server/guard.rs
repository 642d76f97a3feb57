//! Lets in the browser of the one person whom the page is for, and nobody else.
//!
//! The port is open to every program on this computer and, by way of the browser, to every
//! site. So each request is checked before a page sees it, in this order:
//!
//! 1. `Host` is exactly ours: a foreign site that rebinds its name to 127.0.0.1 passes every
//!    check that the browser makes, but not this one.
//! 2. The path begins with a random prefix. Cookies ignore ports, so it also keeps other local
//!    servers apart from the cookie.
//! 3. The cookie is that of a browser that has signed in with a one-time code.
//! 4. What changes something comes from our own page (`Origin`, or else `Sec-Fetch-Site`), and
//!    has the form token of this session.
//!
//! A form with a file is not read here. A page gets it as an [`UnreadForm`], which nothing but
//! [`super::upload::receive`] can read, and that checks the form token before anything else.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use url::form_urlencoded;

use super::answers::{self, Refusal};
use super::body::{self, BodyError};
use super::codes::Codes;
use super::form;
use super::limits::Limits;
use super::redirect::{RedirectFile, RedirectPlace};
use super::running::{self, RunningPage};
use super::secret::Secret;
use super::session::{Session, Sessions};
use super::upload::UnreadForm;

/// Where a one-time code is given in: `/PREFIX/open?code=…`.
const OPEN: &str = "open";

/// Makes a page on a thread of its own: it may read files and the ledger while other pages are
/// made. It is made to the end even if the browser has gone, so nothing is left half done.
async fn page(pages: Router, request: Request) -> Response {
    let runtime = Handle::current();
    let page = TowerToHyperService::new(pages).call(request);
    match spawn_blocking(move || runtime.block_on(page)).await {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        // It has panicked, which takes nothing else with it. The panic itself is printed.
        Err(_) => Refusal::Broken.response(),
    }
}

/// What every connection of a server shares.
pub struct Guard {
    pub(super) port: u16,
    /// `/PREFIX/`, another one in each process.
    pub(super) base: Arc<str>,
    pub(super) limits: Limits,
    /// By which another start of the program proves that it is the same user's.
    pub(super) key: Secret,
    state: Mutex<State>,
    /// Wakes when a file that leads a browser here has been written.
    pub(super) has_redirect: Notify,
}

#[derive(Default)]
struct State {
    codes: Codes,
    sessions: Sessions,
    redirect: Option<RedirectFile>,
    redirect_place: Option<RedirectPlace>,
}

impl Guard {
    pub(super) fn new(port: u16, limits: Limits) -> io::Result<Guard> {
        Ok(Guard {
            port,
            base: format!("/{}/", Secret::new()?.as_str()).into(),
            limits,
            key: Secret::new()?,
            state: Mutex::default(),
            has_redirect: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A link that signs one browser in, once.
    pub(super) fn link(&self) -> io::Result<String> {
        let code = self.state().codes.give()?;
        Ok(self.link_with(&code))
    }

    fn link_with(&self, code: &Secret) -> String {
        let (origin, base) = (self.origin(), &self.base);
        format!("{origin}{base}{OPEN}?code={}", code.as_str())
    }

    pub(super) fn write_redirects_in(&self, place: RedirectPlace) {
        self.state().redirect_place = Some(place);
    }

    /// A file that leads a browser here. It is removed when that has happened, after a while,
    /// and at the end; so is the one before it.
    pub(super) fn write_redirect(&self) -> io::Result<PathBuf> {
        let mut state = self.state();
        // The one before it goes first: both are noted in the same file.
        state.redirect = None;
        let place = state.redirect_place.as_ref().ok_or(ErrorKind::NotFound)?;
        let place = place.clone();
        let code = state.codes.give()?;
        let redirect = RedirectFile::write(&self.link_with(&code), code, &place)?;
        let path = redirect.path();
        state.redirect = Some(redirect);
        self.has_redirect.notify_one();
        Ok(path)
    }

    /// Removes the file that leads a browser here, if it is as old as this. Its code is then
    /// worth nothing.
    pub(super) fn drop_redirect(&self, age: Duration) {
        let mut state = self.state();
        let is_old = |redirect: &mut RedirectFile| redirect.age() >= age;
        if let Some(redirect) = state.redirect.take_if(is_old) {
            state.codes.take(redirect.code().as_str());
        }
    }

    /// Answers a request, by a page if it may be seen. Notes whether it shows that the browser has
    /// signed in.
    pub(super) async fn answer<B>(
        &self,
        request: Request<B>,
        pages: Router,
        is_signed_in: &AtomicBool,
    ) -> Response
    where
        B: axum::body::HttpBody<Data = axum::body::Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let request = request.map(Body::new);
        let answer = async {
            match self.admit(request, is_signed_in).await {
                Ok(request) => page(pages, request).await,
                Err(answer) => answer,
            }
        };
        let mut answer = answer.await;
        answers::add_security_headers(answer.headers_mut());
        answer
    }

    /// The request as pages see it, or the answer to one that they don't see.
    async fn admit(
        &self,
        request: Request,
        is_signed_in: &AtomicBool,
    ) -> Result<Request, Response> {
        let refuse = |refusal: Refusal| refusal.response();
        let (mut head, body) = request.into_parts();
        if !self.is_for_us(&head) {
            return Err(refuse(Refusal::Host));
        }
        let inner = self.inner_path(&head.uri);
        let inner = inner.ok_or_else(|| refuse(Refusal::Elsewhere))?;
        match (inner.path(), &head.method) {
            (path, &Method::GET) if path[1..] == *OPEN => return Err(self.sign_in(&head)),
            (path, &Method::POST) if path[1..] == *running::ASK => {
                return Err(self.introduce(body).await);
            }
            _ => {}
        }
        let session = self.session(&head.headers);
        let session = session.ok_or_else(|| refuse(Refusal::Stranger))?;
        is_signed_in.store(true, Ordering::Relaxed);
        let body = match head.method {
            Method::GET | Method::HEAD => Body::empty(),
            Method::POST if !self.is_from_our_page(&head.headers) => {
                return Err(refuse(Refusal::Origin));
            }
            Method::POST => {
                let taken = self.take_form(&mut head, body, &session).await;
                taken.map_err(refuse)?
            }
            _ => return Err(refuse(Refusal::Method)),
        };
        head.uri = Uri::from(inner);
        head.extensions.insert(session);
        Ok(Request::from_parts(head, body))
    }

    fn is_for_us(&self, head: &Parts) -> bool {
        let ours = format!("127.0.0.1:{}", self.port);
        let mut hosts = head.headers.get_all(HOST).iter();
        let host = hosts.next().filter(|_| hosts.next().is_none());
        // In the form that proxies use, the address itself has the host.
        let named = head.uri.authority();
        host.is_some_and(|host| host == ours.as_str()) && named.is_none_or(|named| *named == *ours)
    }

    /// The path behind the prefix, and the query.
    fn inner_path(&self, uri: &Uri) -> Option<PathAndQuery> {
        let outer = uri.path_and_query()?.as_str();
        // With the slash at the end.
        let inner = outer.strip_prefix(&*self.base)?;
        format!("/{inner}").parse().ok()
    }

    fn cookie_name(&self) -> String {
        format!("leadload_{}", self.port)
    }

    /// The session of the cookie. There may be several of this name, since other local servers
    /// can set cookies for this one too.
    fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let name = self.cookie_name();
        let lines = headers.get_all(COOKIE).iter();
        let pairs = lines.filter_map(|line| line.to_str().ok());
        let mut pairs = pairs.flat_map(|line| line.split(';'));
        let form_token = pairs.find_map(|pair| {
            let (key, value) = pair.trim().split_once('=')?;
            (key == name).then(|| self.state().sessions.form_token(value))?
        })?;
        let base = Arc::clone(&self.base);
        Some(Session { form_token, base })
    }

    /// Whether the browser says that one of our pages has sent this.
    fn is_from_our_page(&self, headers: &HeaderMap) -> bool {
        let is_only = |name: HeaderName, wanted: &str| {
            let mut values = headers.get_all(name).iter();
            values.next().is_some_and(|value| value == wanted) && values.next().is_none()
        };
        match headers.contains_key(ORIGIN) {
            true => is_only(ORIGIN, &self.origin()),
            false => is_only(HeaderName::from_static("sec-fetch-site"), "same-origin"),
        }
    }

    /// Reads a form and checks its token, except for a form with a file.
    async fn take_form(
        &self,
        head: &mut Parts,
        body: Body,
        session: &Session,
    ) -> Result<Body, Refusal> {
        let kind = head.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let (essence, _) = kind.split_once(';').unwrap_or((kind, ""));
        match essence.trim().to_ascii_lowercase().as_str() {
            "application/x-www-form-urlencoded" => {
                let body = body::whole(body, &self.limits).await;
                let body = body.map_err(|error| match error {
                    BodyError::TooLarge => Refusal::TooLarge,
                    BodyError::TooSlow | BodyError::BrokenOff => Refusal::TooSlow,
                })?;
                let read = form::read(&body, &self.limits).ok_or(Refusal::TooLarge)?;
                let (tokens, fields) = read;
                if !matches!(&tokens[..], [token] if session.form_token.is(token)) {
                    return Err(Refusal::FormToken);
                }
                head.extensions.insert(fields);
            }
            "multipart/form-data" => {
                let boundary = multer::parse_boundary(kind).map_err(|_| Refusal::Kind)?;
                let form = UnreadForm::new(body, boundary, self.limits);
                head.extensions.insert(form);
            }
            _ => return Err(Refusal::Kind),
        }
        Ok(Body::empty())
    }

    /// Trades a one-time code for a cookie.
    fn sign_in(&self, head: &Parts) -> Response {
        let query = head.uri.query().unwrap_or_default().as_bytes();
        let code = form_urlencoded::parse(query).find(|(name, _)| name == "code");
        let is_good = code.is_some_and(|(_, code)| self.use_code(&code));
        if !is_good {
            return match self.session(&head.headers) {
                // The link was opened once more, or the browser was started again with its tabs.
                Some(_) => answers::going_on(&self.base),
                None => Refusal::Code.response(),
            };
        }
        let Some(cookie) = self.new_cookie() else {
            return Refusal::Broken.response();
        };
        let mut response = answers::going_on(&self.base);
        response.headers_mut().insert(SET_COOKIE, cookie);
        response
    }

    fn use_code(&self, code: &str) -> bool {
        let mut state = self.state();
        // The file has been of use.
        let is_followed = |redirect: &mut RedirectFile| redirect.code().is(code);
        drop(state.redirect.take_if(is_followed));
        state.codes.take(code)
    }

    /// Gives a later start of the program links of its own, if it is the same user's.
    async fn introduce(&self, body: Body) -> Response {
        let limits = Limits {
            form_bytes: running::MAX_MESSAGE,
            ..self.limits
        };
        let found = |opens: bool| {
            let redirect = opens.then(|| self.write_redirect().ok()).flatten();
            let link = self.link()?;
            Ok(RunningPage { link, redirect })
        };
        let asked = body::whole(body, &limits).await.ok();
        let answer = asked.and_then(|asked| running::answer(&self.key, &asked, found));
        match answer {
            Some(answer) => Response::new(Body::from(answer)),
            None => Refusal::Elsewhere.response(),
        }
    }

    fn new_cookie(&self) -> Option<HeaderValue> {
        let value = self.state().sessions.begin().ok()?;
        let (name, value, path) = (self.cookie_name(), value.as_str(), &self.base);
        let cookie = format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict");
        HeaderValue::from_str(&cookie).ok()
    }
}
