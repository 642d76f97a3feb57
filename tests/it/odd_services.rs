//! Undo and reconcile with services that list and delete leads in ways of their own.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde_json::{Value, json};

use crate::util::{Folder, Output, Run, contacts, number, wait_until};

/// What the service does when it is asked for leads, and which ids it was asked to delete.
#[derive(Clone)]
struct Odd {
    /// It is told whether a number is looked up.
    list: fn(bool) -> Value,
    delete: fn(u64) -> (u16, Value),
    deleted: Arc<Mutex<BTreeSet<u64>>>,
    /// The tokens with which it was asked to.
    tokens: Arc<Mutex<BTreeSet<String>>>,
    made: Arc<Mutex<u64>>,
}

impl Odd {
    fn new(list: fn(bool) -> Value, delete: fn(u64) -> (u16, Value)) -> Odd {
        Odd {
            list,
            delete,
            deleted: Arc::default(),
            tokens: Arc::default(),
            made: Arc::default(),
        }
    }

    /// The address of the service.
    fn start(&self) -> String {
        let router = Router::new()
            .route("/api/user/campaigns", get(campaigns))
            .route("/api/user/lead", post(made))
            .route("/api/user/leads", get(listed))
            .route("/api/user/leads/{id}", delete(deleted))
            .with_state(self.clone());
        serve(router)
    }

    fn deleted(&self) -> Vec<u64> {
        self.deleted.lock().unwrap().iter().copied().collect()
    }
}

/// A service at an address of its own, until the program ends.
pub fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    format!("http://{address}")
}

fn answer(status: u16, body: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (
        status,
        [(CONTENT_TYPE, "application/json")],
        body.to_string(),
    )
        .into_response()
}

async fn campaigns() -> Response {
    let one = json!({ "id": "101", "name": "Spring promo", "status": "in-progress" });
    answer(200, &json!([one]))
}

/// Ids are given in the order of the rows, which come one at a time.
async fn made(State(odd): State<Odd>) -> Response {
    let mut made = odd.made.lock().unwrap();
    *made += 1;
    answer(200, &json!({ "message": "Lead created", "lead_id": *made }))
}

async fn listed(State(odd): State<Odd>, RawQuery(query): RawQuery) -> Response {
    let looks_up = query.unwrap_or_default().contains("phone_number=");
    answer(200, &(odd.list)(looks_up))
}

async fn deleted(State(odd): State<Odd>, Path(id): Path<u64>, head: HeaderMap) -> Response {
    let token = head[AUTHORIZATION].to_str().unwrap().to_owned();
    odd.tokens.lock().unwrap().insert(token);
    let (status, body) = (odd.delete)(id);
    odd.deleted.lock().unwrap().insert(id);
    answer(status, &body)
}

fn lead(id: u64, number: &str) -> Value {
    json!({ "id": id, "campaign_id": 101, "phone_number": number })
}

fn at(run: Run, service: &str) -> Run {
    run.env("LEADLOAD_BASE_URL", service)
        .env("LEADLOAD_TOKEN", "any")
}

/// A run of so many leads, whose ids are those of its rows.
fn sent(service: &str, leads: usize) -> Folder {
    let folder = Folder::with_leads(&contacts(leads));
    let args = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
    let import = folder.leadload(&[&args[..], &["--concurrency", "1"]].concat());
    at(import, service).expect(0);
    let ids: Vec<String> = (1..=leads).map(|id| id.to_string()).collect();
    assert_eq!(folder.column("leads.results.csv", "lead_id"), ids);
    folder
}

fn undo(folder: &Folder, service: &str) -> Run {
    let args = ["runs", "undo", "1", "--yes", "--rate", "none"];
    at(folder.leadload(&args), service)
}

#[test]
fn a_lead_that_has_another_number_by_now_is_kept_and_never_counts_as_gone() {
    // The second lead stands on the first page, the third on a later one.
    let odd = Odd::new(
        |looks_up| match looks_up {
            false => json!([lead(1, &number(0)), lead(2, "+447911999999")]),
            true => json!([lead(3, "+447911999998")]),
        },
        |id| match id {
            1 => (200, json!({ "message": "Lead deleted" })),
            _ => (404, json!({ "message": "No such lead" })),
        },
    );
    let service = odd.start();
    let folder = sent(&service, 3);
    undo(&folder, &service).expect(1);
    let statuses = folder.column("leads.undo.csv", "status");
    assert_eq!(statuses, ["undone", "kept", "kept"]);
    assert_eq!(odd.deleted(), [1]);
}

#[test]
fn leads_that_are_listed_without_numbers_are_removed_only_with_the_token_of_the_run() {
    let odd = Odd::new(
        |_| {
            json!({ "data": [
                { "id": 1, "campaign_id": 101, "phone_number": "+44*******01" },
                { "id": 2, "campaign_id": 101 },
            ] })
        },
        |_| (200, json!({ "message": "Lead deleted" })),
    );
    let service = odd.start();
    let folder = sent(&service, 2);
    let other = undo(&folder, &service).env("LEADLOAD_TOKEN", "another");
    other.expect(2).tells("run 1");
    assert_eq!(odd.deleted(), [0; 0]);
    undo(&folder, &service).expect(0);
    assert_eq!(odd.deleted(), [1, 2]);
}

#[test]
fn a_next_page_that_cannot_be_followed_is_no_end_of_the_list() {
    let odd = Odd::new(
        |_| json!({ "data": [], "next_page_url": "/api/user/leads?cursor=eyJpZCI6MTV9" }),
        |_| (404, json!({ "message": "No such lead" })),
    );
    let service = odd.start();
    let folder = sent(&service, 2);
    undo(&folder, &service).expect(3);
    assert_eq!(odd.deleted(), [0; 0]);
}

#[test]
fn a_refusal_of_the_rest_does_not_undo_that_some_leads_were_removed() {
    let odd = Odd::new(
        |_| {
            json!([
                lead(1, &number(0)),
                lead(2, &number(1)),
                lead(3, &number(2))
            ])
        },
        |id| match id {
            1 => (200, json!({ "message": "Lead deleted" })),
            _ => (403, json!({ "message": "Leads in a call stay" })),
        },
    );
    let service = odd.start();
    let folder = sent(&service, 3);
    for _ in 0..2 {
        undo(&folder, &service).expect(1);
        let statuses = folder.column("leads.undo.csv", "status");
        assert_eq!(statuses, ["undone", "kept", "kept"]);
    }
    let show = ["runs", "show", "1", "--format", "json"];
    let run = folder.leadload(&show).expect(0).json();
    assert_eq!(run["undo"]["counts"]["undone"], 1);
}

#[test]
fn a_token_that_is_replaced_while_leads_are_removed_is_not_used() {
    let odd = Odd::new(
        |_| json!({ "data": [] }),
        |id| match id {
            6.. => (401, json!({ "message": "Unauthenticated." })),
            _ => (200, json!({ "message": "Lead deleted" })),
        },
    );
    let service = odd.start();
    let folder = sent(&service, 20);
    folder.write("token", "any");
    let args = ["runs", "undo", "1", "--yes", "--rate", "5/s"];
    let undo = folder.leadload(&[&args[..], &["--token-file", "token"]].concat());
    let process = undo.env("LEADLOAD_BASE_URL", &service).start();
    wait_until("removing", || !odd.deleted().is_empty());
    folder.write("token", "of-somebody-else");
    let output = Output::of(process);
    assert_eq!(output.code, 3, "{}", output.stderr);
    assert_eq!(
        *odd.tokens.lock().unwrap(),
        ["Bearer any".to_owned()].into()
    );
    let statuses = folder.column("leads.undo.csv", "status");
    assert!((1..=5).contains(&statuses.len()), "{statuses:?}");
    assert!(statuses.iter().all(|status| status == "undone"));
}
