//! The HTTP side: routes, waiting, and the ways an exchange ends.
//!
//! The rule: nothing is decided here. Handlers read the request, ask `state`, wait and send
//! what it decides.

use std::future::{Future, IntoFuture};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use futures::{FutureExt, StreamExt, stream};
use futures_timer::Delay;
use serde::Serialize;
use tokio::net::TcpListener;

use super::connection::{Cut, CuttableListener};
use super::packing::Packing;
use super::rate_limit::Quota;
use super::replies::{self, Ending, Reply};
use super::state::{InFlight, Shared};
use super::{RecordedRequest, wire};

const CAMPAIGNS: &str = "/api/user/campaigns";
/// Bodies beyond this many bytes are refused.
const MAX_BODY: usize = 1 << 20;
/// How long connections may take to notice that the sandbox stops.
const GRACE: Duration = Duration::from_millis(200);

type SharedState = State<Arc<Shared>>;

/// Serves until the sandbox stops. Requests that wait or hang end then; a connection that is
/// stuck elsewhere ends with the runtime.
pub(super) async fn run(tcp: TcpListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = CuttableListener {
        tcp,
        shared: Arc::clone(&shared),
    };
    let routes = routes(Arc::clone(&shared)).into_make_service_with_connect_info::<Cut>();
    let serving = axum::serve(listener, routes).with_graceful_shutdown(stopped(&shared));
    let stop = async {
        stopped(&shared).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = serving.into_future() => result,
        () = stop => Ok(()),
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route(CAMPAIGNS, get(list_campaigns))
        .route("/api/user/lead", post(create_lead))
        .route("/_sandbox/leads", get(show_leads))
        .route("/_sandbox/stats", get(show_stats))
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .with_state(shared)
}

fn stopped(shared: &Shared) -> impl Future<Output = ()> + Send + 'static {
    let mut stopping = shared.stopping.subscribe();
    async move {
        // An error means that the sandbox is gone altogether.
        let _ = stopping.wait_for(|stop| *stop).await;
    }
}

async fn create_lead(
    State(shared): SharedState,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: Request,
) -> Response {
    // First of all: the arrival is the moment at which the head was seen, not the body.
    let arrival_us = shared.now_us();
    let admission = shared.state().arrive(&shared.config, arrival_us);
    let in_flight = InFlight(&shared);
    let (head, body) = request.into_parts();
    // Read in any case: a connection with unread bytes could not be used again.
    let body = axum::body::to_bytes(body, MAX_BODY).await;
    if let Ok(body) = &body
        && shared.config.keep_bodies
    {
        record(&shared, &head, body.clone(), arrival_us);
    }
    let reply = match admission.refusal {
        Some(refusal) => refusal,
        None => {
            let too_large = |_| replies::message(413, "The body is too large.");
            let checked = body.map_err(too_large);
            let checked =
                checked.and_then(|body| wire::check_lead(&head.headers, &body, &shared.config));
            shared.state().judge(&shared.config, checked, arrival_us)
        }
    };
    let response = finish(&shared, &cut, reply).await;
    drop(in_flight);
    match admission.quota {
        Some(quota) if shared.config.rate_limit_headers => {
            let reset = shared.epoch_s(arrival_us + quota.reset_us);
            with_quota(response, quota, reset)
        }
        _ => response,
    }
}

fn record(shared: &Shared, head: &Parts, body: Bytes, arrival_us: u64) {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), text(value)));
    shared.state().requests.push(RecordedRequest {
        headers: headers.collect(),
        body,
        arrival_us,
    });
}

/// Waits for a place and for the delay, then answers or does not.
async fn finish(shared: &Shared, cut: &Cut, reply: Reply) -> Response {
    let _slot = match &shared.slots {
        Some(slots) => slots.acquire().await.ok(),
        None => None,
    };
    if !reply.delay.is_zero() {
        // Not by the clock of tokio, which is a millisecond and a half late on average. Slow
        // answers do not keep the sandbox from stopping.
        tokio::select! {
            () = Delay::new(reply.delay) => {}
            () = stopped(shared) => {}
        }
    }
    match reply.ending {
        Ending::Answer => match shared.config.pack {
            Some(packing) => respond_packed(reply, packing),
            None => respond(reply),
        },
        Ending::Truncate => respond_in_part(reply),
        Ending::Drop => hang_up(cut),
        Ending::Hang => {
            stopped(shared).await;
            hang_up(cut)
        }
    }
}

/// The response it returns is never sent.
fn hang_up(cut: &Cut) -> Response {
    cut.cut();
    Response::default()
}

fn respond(reply: Reply) -> Response {
    let mut response = Response::new(Body::from(match reply.body {
        std::borrow::Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
        std::borrow::Cow::Owned(text) => Bytes::from(text),
    }));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(reply.content_type));
    for (name, value) in reply.headers {
        // Configured headers were checked at the start.
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            headers.insert(name, value);
        }
    }
    response
}

fn respond_packed(reply: Reply, packing: Packing) -> Response {
    // Writing to memory does not fail.
    let packed = packing.pack(reply.body.as_bytes()).unwrap_or_default();
    let mut response = respond(reply).map(|_| Body::from(packed));
    response.headers_mut().append(
        CONTENT_ENCODING,
        HeaderValue::from_static(packing.encoding()),
    );
    response
}

/// Announces the whole body, sends half of it, and breaks off.
fn respond_in_part(reply: Reply) -> Response {
    let whole = Bytes::from(reply.body.clone().into_owned());
    let half = whole.slice(..whole.len() / 2);
    let break_off = async {
        // Gives the half its chance to be written before the error ends the connection.
        tokio::task::yield_now().await;
        Err(io::Error::from(io::ErrorKind::ConnectionAborted))
    };
    let body = stream::iter([Ok(half)]).chain(break_off.into_stream());
    let mut response = respond(reply).map(|_| Body::from_stream(body));
    response
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(whole.len()));
    response
}

fn with_quota(mut response: Response, quota: Quota, reset_epoch_s: u64) -> Response {
    let values = [
        ("x-ratelimit-limit", HeaderValue::from(quota.limit)),
        ("x-ratelimit-remaining", HeaderValue::from(quota.remaining)),
        ("x-ratelimit-reset", HeaderValue::from(reset_epoch_s)),
    ];
    for (name, value) in values {
        let name = HeaderName::from_static(name);
        // A scripted answer may state a limit of its own.
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

async fn list_campaigns(
    State(shared): SharedState,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: Request,
) -> Response {
    let now = shared.now_us();
    let refusal = shared.state().arrive_for_list(&shared.config, now);
    if let Some(refusal) = refusal {
        return finish(&shared, &cut, refusal).await;
    }
    let reply = match wire::check_caller(request.headers(), &shared.config) {
        Ok(()) => campaign_page(&shared, &request),
        Err(refusal) => refusal,
    };
    let delay = shared.config.latency(now);
    finish(&shared, &cut, Reply { delay, ..reply }).await
}

fn campaign_page(shared: &Shared, request: &Request) -> Reply {
    let query = request.uri().query().unwrap_or_default();
    let page = query.split('&').find_map(|p| p.strip_prefix("page="));
    let page = page.and_then(|number| number.parse().ok()).unwrap_or(1);
    let host = request.headers().get(HOST);
    let host = host.and_then(|h| h.to_str().ok()).unwrap_or("127.0.0.1");
    let url = format!("http://{host}{CAMPAIGNS}");
    let list = replies::campaign_list(&shared.config, page, &url);
    replies::json_text(200, list.to_string())
}

async fn show_leads(State(shared): SharedState) -> Response {
    let leads: Vec<_> = shared.state().store.leads().collect();
    show(&leads)
}

async fn show_stats(State(shared): SharedState) -> Response {
    show(&shared.state().stats)
}

fn show(value: &impl Serialize) -> Response {
    // Texts and numbers: writing them to memory does not fail.
    let text = serde_json::to_string(value).unwrap_or_default();
    respond(replies::json_text(200, text))
}

async fn unknown_route(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    let text = format!("The route {path} could not be found.");
    respond(replies::message(404, &text))
}

async fn wrong_method(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    let path = path.trim_start_matches('/');
    let text = format!("The {method} method is not supported for route {path}.");
    respond(replies::message(405, &text))
}
