//! Lists of campaigns that come in pages, and names that are looked up while the service is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::odd_services::serve;
use crate::util::{Folder, Run};

const ONE: &str = "phone,list\n+447911000001,Spring\n";

/// A status, lines of headers, and a body. `HOST` in them is the service's own host and port.
type Answer = (u16, &'static str, String);

struct Service {
    url: String,
    /// How often its list was asked for.
    lists: Arc<AtomicUsize>,
    /// How many requests for leads it got.
    leads: Arc<AtomicUsize>,
}

impl Service {
    /// `list` is told how often it was asked before, and the query.
    fn new(list: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Service {
        Service::with(list, |_| {
            (200, "", json!({ "data": { "id": "1" } }).to_string())
        })
    }

    fn with(
        list: impl Fn(usize, &str) -> Answer + Send + Sync + 'static,
        lead: impl Fn(usize) -> Answer + Send + Sync + 'static,
    ) -> Service {
        let (lists, leads) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (listed, led) = (Arc::clone(&lists), Arc::clone(&leads));
        let (list, lead) = (Arc::new(list), Arc::new(lead));
        let campaigns = move |RawQuery(query): RawQuery, head: HeaderMap| {
            let asked = listed.fetch_add(1, Ordering::SeqCst);
            let answer = list(asked, &query.unwrap_or_default());
            async move { respond(answer, &head) }
        };
        let made = move |head: HeaderMap| {
            let answer = lead(led.fetch_add(1, Ordering::SeqCst));
            async move { respond(answer, &head) }
        };
        let router = Router::new()
            .route("/api/user/campaigns", get(campaigns))
            .route("/api/user/lead", post(made));
        Service {
            url: serve(router),
            lists,
            leads,
        }
    }

    fn run(&self, folder: &Folder, command: &str) -> Run {
        let args: Vec<&str> = command.split(' ').collect();
        let run = folder.leadload(&args);
        run.env("LEADLOAD_BASE_URL", &self.url)
            .env("LEADLOAD_TOKEN", "t0ken")
    }

    fn lists(&self) -> usize {
        self.lists.load(Ordering::SeqCst)
    }

    fn leads(&self) -> usize {
        self.leads.load(Ordering::SeqCst)
    }
}

fn respond((status, head, body): Answer, asked: &HeaderMap) -> Response {
    let host = asked["host"].to_str().unwrap();
    let mut response = axum::http::Response::builder().status(status);
    for line in head.lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = response.header(name, value.replace("HOST", host));
    }
    response
        .body(Body::from(body.replace("HOST", host)))
        .unwrap()
}

fn campaigns(id: u64) -> Value {
    json!([{ "id": id, "name": "Spring", "status": "draft" }])
}

fn listed() -> Answer {
    (200, "", campaigns(7).to_string())
}

#[test]
fn a_name_on_two_pages_is_ambiguous_in_whatever_form_the_next_page_is_named() {
    let one = campaigns(7);
    let next = "http://HOST/api/user/campaigns?page=2";
    for (head, first) in [
        ("", json!({ "data": one, "next_page_url": next })),
        ("", json!({ "campaigns": one, "links": { "next": next } })),
        (
            "",
            // Behind a proxy services know another scheme.
            json!({ "data": one, "links": { "next": { "href": next.replace("http:", "https:") } } }),
        ),
        (
            "",
            json!({ "data": one, "meta": { "next_page_url": next } }),
        ),
        (
            "",
            json!({ "data": one, "current_page": 1, "last_page": 2 }),
        ),
        (
            "",
            json!({ "data": one, "meta": { "current_page": 1, "last_page": 2 } }),
        ),
        (
            "",
            json!({ "data": { "data": one, "current_page": 1, "last_page": 2 } }),
        ),
        (
            "Link: <http://HOST/api/user/campaigns?page=2>; rel=\"next\"",
            one.clone(),
        ),
        (
            "Link: <?page=9>; rel=last, <?page=2>; rel=Next",
            one.clone(),
        ),
        (
            "Link: <?page=1>; rel=\"first\"\nLink: <?page=2>; rel=\"up next\"",
            one.clone(),
        ),
    ] {
        let told = format!("{head} {first}");
        let service = Service::new(move |_, query| match query {
            "" => (200, head, first.to_string()),
            _ => (200, "", campaigns(8).to_string()),
        });
        let folder = Folder::with_leads(ONE);
        let command = "import leads.csv --campaign Spring";
        let refused = service.run(&folder, command).output();
        assert_eq!(refused.code, 2, "{told}: {}", refused.stderr);
        refused.tells("2 campaigns");
        assert_eq!((service.lists(), service.leads()), (2, 0), "{told}");
        let listed = service.run(&folder, "campaigns --format csv").expect(0);
        listed.shows("\n7,Spring,draft,,\n8,Spring,draft,,\n");
        assert_eq!(listed.stderr, "", "{told}");
    }
}

#[test]
fn a_list_without_its_last_pages_is_enough_for_an_id_and_not_for_a_name() {
    let (elsewhere, circle) = ("another address", "already");
    for (next, why) in [
        ("http://other.example/api/user/campaigns?page=2", elsewhere),
        ("http://127.0.0.1:1/api/user/campaigns?page=2", elsewhere),
        ("http://HOST/api/user/campaigns", circle),
        ("?page=2", circle),
    ] {
        let page = json!({ "campaigns": campaigns(7), "links": { "next": next } }).to_string();
        let service = Service::new(move |_, _| (200, "", page.clone()));
        let folder = Folder::with_leads(ONE);
        let run = |command: &str| service.run(&folder, command);
        let refused = run("import leads.csv --campaign Spring --format json").expect(3);
        assert_eq!(refused.json()["stopped_by"], "unreadable", "{next}");
        refused.tells(why);
        run("import leads.csv --campaign-column list").expect(3);
        assert_eq!(folder.names(), ["leads.csv"]);
        assert_eq!(service.leads(), 0, "{next}");
        // A check sends nothing, so it goes on without the names.
        let checked = run("check leads.csv --campaign Spring").expect(0);
        checked.tells(" WARN ");
        let listed = run("campaigns").expect(0);
        listed.shows("Spring");
        listed.tells(why);
        run("import leads.csv --campaign 7").expect(0);
        assert_eq!(service.leads(), 1, "{next}");
    }
}

#[test]
fn a_byte_order_mark_before_the_list_does_no_harm() {
    let service = Service::new(|_, _| (200, "", format!("\u{FEFF}{}", campaigns(7))));
    let folder = Folder::with_leads(ONE);
    let command = "import leads.csv --campaign Spring";
    service.run(&folder, command).expect(0);
    assert_eq!(service.leads(), 1);
}

#[test]
fn a_name_waits_for_a_service_that_is_away_or_asks_to_wait() {
    for status in [503, 429] {
        let folder = Folder::with_leads(ONE);
        let away = move |asked, _: &str| match asked {
            0..8 => (status, "Retry-After: 0.1", "{}".to_owned()),
            _ => listed(),
        };
        let service = Service::new(away);
        let command = "import leads.csv --campaign Spring";
        let sent = service.run(&folder, command).expect(0);
        assert_eq!((service.lists(), service.leads()), (9, 1));
        sent.tells(&format!("(HTTP {status}"));
        sent.tells(" 1 s");
        // Who looks at a screen does not wait for long.
        let service = Service::new(away);
        service.run(&folder, "campaigns").expect(3);
        assert_eq!(service.lists(), 5);
    }
}

#[test]
fn a_name_is_looked_up_for_as_long_as_an_outage_may_last() {
    let stopped = |answer: (u16, &'static str), flags: &str| {
        let service = Service::new(move |_, _| (answer.0, answer.1, "{}".to_owned()));
        let folder = Folder::with_leads(ONE);
        let command = format!("import leads.csv --campaign Spring --format json {flags}");
        let output = service.run(&folder, &command).output();
        let summary = output.json();
        assert_eq!(folder.names(), ["leads.csv"]);
        let code = summary["exit_code"].as_i64().unwrap();
        assert_eq!(i64::from(output.code), code);
        let error = summary["error"].as_str().unwrap().to_owned();
        let by = summary["stopped_by"].as_str().unwrap().to_owned();
        (code, by, error, service.lists())
    };
    let (code, by, error, lists) = stopped((502, ""), "--max-outage 1s");
    assert_eq!((code, &*by), (3, "outage"));
    assert!(error.contains("`--max-outage`"), "{error}");
    assert!((2..=3).contains(&lists), "{lists}");

    let (code, by, error, lists) = stopped((429, "Retry-After: 90"), "--max-outage 80s");
    assert_eq!((code, &*by, lists), (3, "outage", 1));
    assert!(error.contains("90 s"), "{error}");

    let (code, by, _, lists) = stopped((429, "Retry-After: 90"), "--max-duration 2s");
    assert_eq!((code, &*by, lists), (4, "max_duration", 1));

    let (code, by, _, lists) = stopped((401, ""), "--yes");
    assert_eq!((code, &*by, lists), (3, "token", 1));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_look_up_of_a_name() {
    use crate::util::{Output, signal, wait_until};

    let service = Service::new(|_, _| (503, "Retry-After: 90", "{}".to_owned()));
    let folder = Folder::with_leads(ONE);
    let child = service.run(&folder, "import leads.csv --campaign Spring");
    let child = child.start();
    wait_until("asked for", || service.lists() > 0);
    signal(&child, "-TERM");
    let output = Output::of(child);
    assert_eq!(output.code, 4, "{}", output.stderr);
    assert_eq!(folder.names(), ["leads.csv"]);
}

#[test]
fn a_name_is_not_looked_up_during_a_wait_that_an_earlier_start_was_asked_for() {
    let service = Service::with(
        |_, _| listed(),
        |asked| match asked {
            0 => (429, "Retry-After: 2", "{}".to_owned()),
            _ => (200, "", json!({ "data": { "id": "1" } }).to_string()),
        },
    );
    let folder = Folder::with_leads(ONE);
    let command = "import leads.csv --campaign 7 --max-outage 1s";
    service.run(&folder, command).expect(3);
    let waited = service
        .run(&folder, "import leads.csv --campaign Spring")
        .expect(0);
    waited.tells("(HTTP 429)");
    assert_eq!((service.lists(), service.leads()), (1, 2));
}
