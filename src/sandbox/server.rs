//! The HTTP side: routes, waiting, and the ways an exchange ends.
//!
//! Rule: nothing is decided here. Handlers read the request, ask `state`,
//! wait, and send what it decides.

use std::future::{IntoFuture, pending, ready};
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_ENCODING;
use axum::response::Response;
use axum::routing::{delete, get, post};
use axum::serve::ListenerExt;
use futures::stream;
use futures_timer::Delay;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::replies::{self, Reply};
use super::rule::Then;
use super::state::{InFlight, Shared};
use super::{RecordedRequest, wire};

const CAMPAIGNS: &str = "/api/user/campaigns";
/// Larger bodies are refused.
const MAX_BODY: usize = 1 << 20;

type SharedState = State<Arc<Shared>>;

/// Serves until `stop` is dropped. Open connections end with the runtime.
pub(super) async fn run(
    listener: TcpListener,
    shared: Arc<Shared>,
    stop: oneshot::Receiver<()>,
) -> io::Result<()> {
    let routes = routes(Arc::clone(&shared));
    let listener = listener.tap_io(move |tcp| {
        shared.state().stats.connections += 1;
        // If this fails, answers are only slower.
        let _ = tcp.set_nodelay(true);
    });
    tokio::select! {
        result = axum::serve(listener, routes).into_future() => result,
        _ = stop => Ok(()),
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route(CAMPAIGNS, get(list_campaigns))
        .route("/api/user/lead", post(create_lead))
        .route("/api/user/leads", get(list_leads))
        .route("/api/user/leads/{id}", delete(delete_lead))
        .route("/_sandbox/leads", get(show_leads))
        .route("/_sandbox/stats", get(show_stats))
        .with_state(shared)
}

async fn create_lead(State(shared): SharedState, request: Request) -> Response {
    // This comes first: the arrival is when the head is complete, not the body.
    let arrival = shared.state().arrive(shared.now_us());
    let _in_flight = InFlight(&shared);
    let (head, body) = request.into_parts();
    // The body is always read: a connection with unread bytes could not be reused.
    let body = axum::body::to_bytes(body, MAX_BODY).await.ok();
    if let Some(body) = &body
        && shared.config.keep_bodies
    {
        shared.state().requests.push(RecordedRequest {
            headers: head.headers.clone(),
            body: body.clone(),
            arrival_us: arrival.at_us,
        });
    }
    let reply = shared
        .state()
        .decide(arrival, &head.headers, body.as_deref());
    finish(&shared, reply).await
}

async fn list_leads(State(shared): SharedState, request: Request) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let now = shared.now_us();
    let reply = shared.state().list(query, request.headers(), now);
    finish(&shared, reply).await
}

async fn delete_lead(
    State(shared): SharedState,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let now = shared.now_us();
    let reply = shared.state().delete(&id, request.headers(), now);
    finish(&shared, reply).await
}

/// Waits for a slot and for the delay, then ends the exchange as decided.
async fn finish(shared: &Shared, reply: Reply) -> Response {
    let _slot = shared.slots.acquire().await.ok();
    if !reply.delay.is_zero() {
        // Not Tokio's timer, which is a millisecond and a half late on average.
        Delay::new(reply.delay).await;
    }
    let mut response = reply.response;
    match reply.ending {
        Then::Answer | Then::Usual => {
            if let Some(packing) = shared.config.pack {
                // Writing to memory does not fail.
                *response.body_mut() = packing.pack(response.body()).unwrap_or_default().into();
                let encoding = HeaderValue::from_static(packing.encoding());
                response.headers_mut().append(CONTENT_ENCODING, encoding);
            }
            response.map(Body::from)
        }
        Then::Drop => hang_up(),
        Then::Hang => pending().await,
    }
}

/// Closes the connection without sending a byte: the body fails before the head is written.
fn hang_up() -> Response {
    let aborted: io::Result<Bytes> = Err(io::ErrorKind::ConnectionAborted.into());
    Response::new(Body::from_stream(stream::once(ready(aborted))))
}

async fn list_campaigns(State(shared): SharedState, request: Request) -> Response {
    let now = shared.now_us();
    let refusal = shared.state().arrive_for_list(now);
    if let Some(refusal) = refusal {
        return finish(&shared, refusal).await;
    }
    let reply = match wire::check_caller(request.headers(), &shared.config) {
        Ok(()) => campaign_page(&shared, &request),
        Err((status, text)) => replies::message(status, &text),
    };
    let delay = shared.config.latency(now);
    finish(&shared, Reply { delay, ..reply }).await
}

fn campaign_page(shared: &Shared, request: &Request) -> Reply {
    let query = request.uri().query().unwrap_or_default();
    let page = query.split('&').find_map(|p| p.strip_prefix("page="));
    let page = page.and_then(|number| number.parse().ok()).unwrap_or(1);
    replies::campaign_list(&shared.config, page)
}

async fn show_leads(State(shared): SharedState) -> Response {
    show(&shared.state().leads())
}

async fn show_stats(State(shared): SharedState) -> Response {
    show(&shared.state().stats)
}

fn show(value: &impl Serialize) -> Response {
    replies::json(200, value).response.map(Body::from)
}
