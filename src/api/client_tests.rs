//! Connections: what they may cost, when they are reused, and what is certain when they fail. The
//! tests play the server byte by byte.

use std::future::Future;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::super::verdict::FatalCause;
use super::super::{LeadQuery, ListError, Quota};
use super::*;
use crate::lead::{CampaignId, ErrorCode};

/// Longer than any of these tests takes.
const LONG: Duration = Duration::from_secs(20);

/// What a server has seen.
#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    requests: AtomicUsize,
    bytes_written: AtomicUsize,
}

impl Seen {
    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// One connection, from the server's side.
struct Peer {
    tcp: TcpStream,
    seen: Arc<Seen>,
    /// The number of the connection, from 1.
    number: usize,
}

impl Peer {
    /// Reads a request with its body; `false` if the connection ends instead.
    async fn request(&mut self) -> bool {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match self.tcp.read(&mut buffer).await {
                Ok(0) | Err(_) => return false,
                Ok(n) => request.extend_from_slice(&buffer[..n]),
            }
            // All bodies of these tests are `{}`, and only a POST has one.
            let is_whole = request.ends_with(b"\r\n\r\n{}")
                || (!request.starts_with(b"POST") && request.ends_with(b"\r\n\r\n"));
            if is_whole {
                self.seen.requests.fetch_add(1, Ordering::SeqCst);
                return true;
            }
        }
    }

    /// Writes; `false` if the other side has closed the connection.
    async fn write(&mut self, text: impl AsRef<[u8]>) -> bool {
        let written = self.tcp.write_all(text.as_ref()).await.is_ok();
        if written {
            let n = text.as_ref().len();
            self.seen.bytes_written.fetch_add(n, Ordering::SeqCst);
        }
        written
    }
}

fn answer(head: &str, body: &str) -> String {
    format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn created() -> String {
    answer("HTTP/1.1 200 OK", r#"{"data":{"id":"1"}}"#)
}

/// A server on this computer that handles each connection with `each`.
async fn server<F>(each: impl Fn(Peer) -> F + Send + 'static) -> (String, Arc<Seen>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Seen::default());
    let counting = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let number = counting.connections.fetch_add(1, Ordering::SeqCst) + 1;
            let seen = Arc::clone(&counting);
            tokio::spawn(each(Peer { tcp, seen, number }));
        }
    });
    (format!("http://{address}"), seen)
}

fn client_with(url: &str, timeout: Duration) -> Client {
    let base_url = BaseUrl::parse(url, false).unwrap();
    let token = Token::from_text("1|s3cretToken", "test").unwrap();
    Client::new(&base_url, token, Certificates::default(), None, timeout).unwrap()
}

fn client(url: &str) -> Client {
    client_with(url, LONG)
}

async fn post(client: &Client) -> Answer {
    client.post_lead(Bytes::from_static(b"{}")).await
}

/// Time for a connection to return to the pool.
async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

fn is_created(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Created { .. })
}

fn lost_by(answer: &Answer) -> Option<ErrorCode> {
    match answer.verdict {
        Verdict::PerhapsTaken { code, .. } => Some(code),
        _ => None,
    }
}

fn not_sent_by(answer: &Answer) -> &str {
    match &answer.verdict {
        Verdict::NeverTaken {
            code: ErrorCode::Connection,
            text,
            ..
        } => text,
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn not_even_a_debug_print_of_the_client_shows_the_token() {
    let client = client("http://127.0.0.1:1");
    let shown = format!("{client:?} {client:#?}");
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn an_answer_that_trickles_is_cut_off_at_the_time_limit() {
    for head in [
        "",
        "HTTP/1.1 200 OK\r\nX-RateLimit-Limit: 7\r\nContent-Length: 9999\r\n\r\n",
    ] {
        let (url, _) = server(move |mut peer| async move {
            peer.request().await;
            peer.write(head).await;
            while peer.write("H").await {
                pause(20).await;
            }
        })
        .await;
        let began = Instant::now();
        let timeout = Duration::from_millis(400);
        let answer = post(&client_with(&url, timeout)).await;
        assert_eq!(lost_by(&answer), Some(ErrorCode::Timeout));
        assert!(began.elapsed() >= timeout);
        assert!(began.elapsed() < LONG / 2, "{:?}", began.elapsed());
        // What the head said counts even though the body did not arrive.
        let has_head = !head.is_empty();
        assert_eq!(answer.http_status, has_head.then_some(200));
        assert_eq!(
            answer.quota.and_then(|quota| quota.limit),
            NonZeroU32::new(7).filter(|_| has_head)
        );
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_off_and_its_connection_closed() {
    for head in [
        "Content-Length: 1000000000000\r\n\r\n",
        "Connection: close\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n",
    ] {
        let (url, seen) = server(move |mut peer| async move {
            while peer.request().await {
                if peer.number > 1 {
                    peer.write(created()).await;
                    continue;
                }
                peer.write("HTTP/1.1 200 OK\r\n").await;
                peer.write(head).await;
                let block = "x".repeat(0x10000);
                let block = if head.contains("chunked") {
                    format!("10000\r\n{block}\r\n")
                } else {
                    block
                };
                while peer.write(&block).await {}
                // A sign that this point was reached.
                peer.seen.requests.fetch_add(100, Ordering::SeqCst);
                return;
            }
        })
        .await;
        let client = client(&url);
        let answer = post(&client).await;
        assert_eq!(
            lost_by(&answer),
            Some(ErrorCode::UnreadableAnswer),
            "{head}"
        );
        let closed = async {
            while seen.requests() < 101 {
                pause(5).await;
            }
        };
        timeout(LONG, closed).await.unwrap();
        // The bound, and what was in the buffers.
        let written = seen.bytes_written.load(Ordering::SeqCst);
        assert!(written < 8 * MAX_LEAD_BYTES, "{head}: {written}");
        assert!(is_created(&post(&client).await));
        assert_eq!(seen.connections(), 2, "{head}");
    }
}

#[tokio::test]
async fn an_endless_head_or_one_that_is_not_http_is_no_answer() {
    for (first, again) in [
        ("HTTP/1.1 200 OK\r\n", "X-Header: more\r\n"),
        ("HTTP/1.1 200 OK\r\nX-Header: ", "moreandmoreandmore"),
        ("SSH-2.0-OpenSSH_9.9\r\n", ""),
    ] {
        let (url, seen) = server(move |mut peer| async move {
            peer.request().await;
            peer.write(first).await;
            let block = again.repeat(1000);
            while !block.is_empty() && peer.write(&block).await {}
        })
        .await;
        let answer = post(&client(&url)).await;
        // The lead may still have been created.
        assert_eq!(
            lost_by(&answer),
            Some(ErrorCode::UnreadableAnswer),
            "{first}"
        );
        assert_eq!(answer.http_status, None);
        assert_eq!(seen.requests(), 1);
    }
}

#[tokio::test]
async fn a_head_is_read_as_other_clients_read_it() {
    let many = "X-More: more\r\n".repeat(500);
    for lines in [
        many.as_str(),
        "X-Folded: one\r\n two\r\n\tthree\r\n",
        "X-Folded:\r\n one\r\n",
        "X-Spaced : one\r\n",
        "X-Control: a\u{1}b\r\n",
        "X-Control: a\u{1}b\r\n folded: one\r\n",
        "X Spaced: one\r\n",
        "no colon\r\n",
        ": no name\r\n",
    ] {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}X-RateLimit-Limit :\r\n 7");
        let (url, seen) = server(move |mut peer| {
            let head = head.clone();
            async move {
                while peer.request().await {
                    peer.write(answer(&head, r#"{"data":{"id":"1"}}"#)).await;
                }
            }
        })
        .await;
        let client = client(&url);
        for _ in 0..2 {
            let answer = post(&client).await;
            assert!(is_created(&answer), "{lines} {answer:?}");
            let limit = answer.quota.and_then(|quota| quota.limit);
            assert_eq!(limit, NonZeroU32::new(7), "{lines}");
            pause(20).await;
        }
        assert_eq!(seen.connections(), 1, "{lines}");
    }
}

#[tokio::test]
async fn a_head_that_cannot_be_read_says_why() {
    let many = format!("HTTP/1.1 200 OK\r\n{}", "X: x\r\n".repeat(3000));
    for (head, why) in [
        (many.as_str(), "too long"),
        ("HTTP/1.1 200 OK\r\nX: a\0b\r\n", "character"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
            "length",
        ),
        ("SSH-2.0\r\n", "begin"),
    ] {
        let head = format!("{head}\r\n");
        let (url, _) = server(move |mut peer| {
            let head = head.clone();
            async move {
                peer.request().await;
                peer.write(head).await;
            }
        })
        .await;
        let answer = post(&client(&url)).await;
        let text = answer.verdict.refusal().unwrap_or_default();
        assert!(text.contains(why), "{text}");
    }
}

#[tokio::test]
async fn a_connection_is_used_again_only_while_it_is_young() {
    for (millis, connections) in [(20, 1), (4_100, 2)] {
        let (url, seen) = server(move |mut peer| async move {
            while peer.request().await {
                peer.write(created()).await;
            }
        })
        .await;
        let client = client(&url);
        assert!(is_created(&post(&client).await));
        pause(millis).await;
        assert!(is_created(&post(&client).await));
        assert_eq!(seen.connections(), connections, "{millis} ms");
    }
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_costs_nothing() {
    let (url, seen) = server(move |mut peer| async move {
        peer.request().await;
        peer.write(created()).await;
    })
    .await;
    let client = client(&url);
    for _ in 0..3 {
        assert!(is_created(&post(&client).await));
        pause(20).await;
    }
    assert_eq!((seen.requests(), seen.connections()), (3, 3));
}

#[tokio::test]
async fn a_connection_that_breaks_is_one_request_for_each_attempt() {
    // A new connection and a reused one, each closed before the answer and within it.
    for (answered, cut) in [
        (0, ""),
        (0, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
        (1, ""),
        (1, "HTTP/1.1 2"),
    ] {
        let (url, seen) = server(move |mut peer| async move {
            for _ in 0..answered {
                peer.request().await;
                peer.write(created()).await;
            }
            peer.request().await;
            peer.write(cut).await;
        })
        .await;
        let client = client(&url);
        for _ in 0..answered {
            assert!(is_created(&post(&client).await));
            pause(20).await;
        }
        let answer = post(&client).await;
        assert_eq!(lost_by(&answer), Some(ErrorCode::Connection), "{cut}");
        pause(50).await;
        assert_eq!((seen.requests(), seen.connections()), (answered + 1, 1));
    }
}

#[tokio::test]
async fn after_a_lost_answer_connections_are_used_again_for_less_time() {
    let (url, seen) = server(move |mut peer| async move {
        peer.request().await;
        peer.write(created()).await;
        // The first connection is closed when it is used again.
        while peer.request().await && peer.number > 1 {
            peer.write(created()).await;
        }
    })
    .await;
    let client = client(&url);
    assert!(is_created(&post(&client).await));
    pause(300).await;
    assert_eq!(lost_by(&post(&client).await), Some(ErrorCode::Connection));
    for (millis, connections) in [(0, 2), (20, 2), (300, 3)] {
        pause(millis).await;
        assert!(is_created(&post(&client).await));
        assert_eq!(seen.connections(), connections, "{millis} ms");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (target, at_target) = server(move |mut peer| async move {
        peer.request().await;
        peer.write(created()).await;
    })
    .await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("HTTP/1.1 {status} Moved\r\nLocation: {target}/api/user/lead");
        let (url, seen) = server(move |mut peer| {
            let location = location.clone();
            async move {
                while peer.request().await {
                    peer.write(answer(&location, "")).await;
                }
            }
        })
        .await;
        let answer = post(&client(&url)).await;
        assert_eq!(answer.http_status, Some(status));
        assert!(matches!(
            answer.verdict,
            Verdict::Fatal {
                cause: FatalCause::Redirect,
                ..
            }
        ));
        assert_eq!(seen.requests(), 1);
    }
    assert_eq!(at_target.connections(), 0);
}

#[tokio::test]
async fn a_failed_connection_means_that_nothing_was_sent_and_says_why() {
    // Nothing listens there any more.
    let (refusing, _) = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (listener.local_addr().unwrap().to_string(), drop(listener))
    };
    let (silent, _) = server(move |peer| async move {
        pause(10_000).await;
        drop(peer);
    })
    .await;
    let (plain, _) = server(move |mut peer| async move {
        peer.write("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        peer.request().await;
    })
    .await;
    let (closing, _) = server(move |peer| async move { drop(peer) }).await;
    let tls = |url: &str| url.replace("http://", "https://");
    let soon = Duration::from_millis(300);
    for (url, timeout, reason) in [
        (format!("http://{refusing}"), LONG, "refused"),
        (tls(&silent), soon, "time limit"),
        (tls(&plain), LONG, "TLS"),
        (tls(&closing), LONG, "closed"),
    ] {
        let answer = post(&client_with(&url, timeout)).await;
        let why = not_sent_by(&answer);
        assert!(why.contains(reason), "{url}: {why}");
        assert_eq!(answer.http_status, None);
    }
}

#[tokio::test]
async fn the_rate_limit_is_read_from_every_answer() {
    for (status, body) in [
        (200, r#"{"data":{"id":"1"}}"#),
        (422, r#"{"message":"no"}"#),
        (429, ""),
        (500, ""),
    ] {
        // The service's clock is in another year, and the times that it states are by its clock.
        let head = format!(
            "HTTP/1.1 {status} X\r\nX-RateLimit-Limit: 100, 100;w=60\r\n\
             X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1000000030\r\n\
             Date: Sun, 09 Sep 2001 01:46:40 GMT"
        );
        let (url, _) = server(move |mut peer| {
            let head = head.clone();
            async move {
                peer.request().await;
                peer.write(answer(&head, body)).await;
            }
        })
        .await;
        let answer = post(&client(&url)).await;
        let until_reset = Duration::from_secs(30);
        assert_eq!(
            answer.quota,
            Some(Quota {
                limit: NonZeroU32::new(100),
                remaining: Some(0),
                reset: Some(until_reset),
            }),
            "{status}"
        );
        if let Verdict::RetryLater { wait, .. } = answer.verdict {
            assert_eq!((status, wait), (429, Some(until_reset)));
        }
    }
}

#[tokio::test]
async fn a_date_to_wait_for_is_by_the_clock_that_stated_it() {
    let (url, _) = server(move |mut peer| async move {
        peer.request().await;
        let head = "HTTP/1.1 503 X\r\nRetry-After: Sun, 09 Sep 2001 01:47:40 GMT\r\n\
                    Date: Sun, 09 Sep 2001 01:46:40 GMT";
        peer.write(answer(head, "")).await;
    })
    .await;
    let answer = post(&client(&url)).await;
    let minute = Some(Duration::from_secs(60));
    assert!(
        matches!(answer.verdict, Verdict::RetryLater { wait, .. } if wait == minute),
        "{answer:?}"
    );
}

#[tokio::test]
async fn the_head_may_name_the_next_page_of_leads() {
    let (url, _) = server(move |mut peer| async move {
        peer.request().await;
        let head =
            "HTTP/1.1 200 OK\r\nLink: <?page=1>; rel=first\r\nLink: </leads?page=2>; rel=next";
        peer.write(answer(head, "\u{FEFF}[]")).await;
    })
    .await;
    let client = client(&url);
    let query = LeadQuery {
        campaign: CampaignId(7),
        number: None,
    };
    let called = client.lead_page(client.lead_list(query)).await;
    let next = called.result.unwrap().next.unwrap();
    assert_eq!(next.path(), "/api/user/leads");
    assert_eq!(next.query(), Some("campaign_id=7&per_page=100&page=2"));
}

#[tokio::test]
async fn what_the_calls_about_leads_echo_of_the_token_is_masked_too() {
    let (url, _) = server(move |mut peer| async move {
        peer.request().await;
        let leads = r#"[{"id":"1|s3cretToken"},{"id":"x\u009by"},{"id":"7"}]"#;
        peer.write(answer("HTTP/1.1 200 OK", leads)).await;
        peer.request().await;
        let refusal = r#"{"success":false,"message":"not with 1%7Cs3cretToken"}"#;
        peer.write(answer("HTTP/1.1 200 OK", refusal)).await;
    })
    .await;
    let client = client(&url);
    let query = LeadQuery {
        campaign: CampaignId(7),
        number: None,
    };
    let listed = client.lead_page(client.lead_list(query)).await;
    let leads = listed.result.unwrap().leads;
    let ids: Vec<&str> = leads.iter().map(|lead| lead.id.as_str()).collect();
    assert_eq!(ids, ["[token]", "x\u{FFFD}y", "7"]);
    let refused = client.delete_lead("7").await.result.unwrap_err();
    assert_eq!(refused.text(), "HTTP 200: not with [token]");
}

#[tokio::test]
async fn an_endless_campaign_list_is_abandoned() {
    let (url, seen) = server(move |mut peer| async move {
        while peer.request().await {
            pause(10).await;
            let next = format!("?page={}", peer.seen.requests() + 1);
            let page = format!(r#"{{"data":[{{"id":"1"}}],"next_page_url":"{next}"}}"#);
            peer.write(answer("HTTP/1.1 200 OK", &page)).await;
        }
    })
    .await;
    let client = client(&url);
    let longest = Duration::from_millis(400);
    let listed = client.campaigns_within(longest, None).await;
    assert!(matches!(listed, Err(ListError::NoAnswer { .. })));
    assert!(seen.requests() > 1);
}
