//! What the sandbox promises, over a real socket. The client is written by hand: it must be able
//! to send what a good client would not, and to see that not a byte came back.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;

const AUTH: &str = "Authorization: Bearer sandbox-token\r\n";
const JSON_HEADS: &str = "Accept: application/json\r\nContent-Type: application/json\r\n";
const ADA: &str = "+447911123456";

/// An answer as it came over the wire.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

fn start(scenario: &str) -> Sandbox {
    Sandbox::start(toml::from_str(scenario).unwrap()).unwrap()
}

/// Sends the bytes and returns all that comes until the other side closes.
fn exchange(sandbox: &Sandbox, request: &str) -> Vec<u8> {
    let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
    tcp.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    tcp.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    tcp.read_to_end(&mut bytes).unwrap();
    bytes
}

fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    Answer {
        status: status.parse().unwrap(),
        headers: lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

fn request(method_and_path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method_and_path} HTTP/1.1\r\nHost: sandbox.test\r\nConnection: close\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    )
}

fn lead_request(body: &str) -> String {
    request("POST /api/user/lead", &format!("{AUTH}{JSON_HEADS}"), body)
}

fn lead(phone: &str) -> String {
    json!({ "phone_number": phone, "campaign_id": 101, "allow_dupplicate": false }).to_string()
}

fn post(sandbox: &Sandbox, body: &str) -> Answer {
    parse(&exchange(sandbox, &lead_request(body)))
}

fn get(sandbox: &Sandbox, path: &str) -> Answer {
    let headers = format!("{AUTH}Accept: application/json\r\n");
    let request = request(&format!("GET {path}"), &headers, "");
    parse(&exchange(sandbox, &request))
}

/// Status and body of the answer to a first and a second request for the same lead.
fn twice(scenario: &str) -> [(u16, Value); 2] {
    let sandbox = start(scenario);
    [(); 2].map(|()| {
        let answer = post(&sandbox, &lead(ADA));
        (answer.status, answer.json())
    })
}

// The contract

#[test]
fn a_lead_is_made_as_the_contract_says() {
    let sandbox = start("keep_bodies = true");
    let body = r#"{"phone_number":"+447911123456","campaign_id":101,"variables":[{"customer_name":"Ada","city":"Leeds"}],"allow_dupplicate":false}"#;
    let answer = post(&sandbox, body);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.body,
        r#"{"message":"Lead created successfully","data":{"id":"1"}}"#
    );
    let texts = [("customer_name", "Ada"), ("city", "Leeds")];
    let expected = StoredLead {
        id: "1".to_owned(),
        campaign_id: 101,
        phone_number: ADA.to_owned(),
        variables: texts.map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
        allow_dupplicate: false,
        attempt: 1,
    };
    assert_eq!(sandbox.leads(), [expected]);
    let [recorded] = &sandbox.requests()[..] else {
        panic!("one request is recorded");
    };
    assert_eq!(recorded.body, body);
    let token = ("authorization".into(), "Bearer sandbox-token".into());
    assert!(recorded.headers.contains(&token));
}

#[test]
fn campaigns_are_listed_as_the_contract_says() {
    let answer = get(&start(""), "/api/user/campaigns");
    assert_eq!(answer.status, 200);
    let list = answer.json();
    assert_eq!(
        list["campaigns"][0],
        json!({
            "id": "101",
            "name": "Spring promo",
            "created_at": "2026-03-02T09:00:00.000000Z",
            "updated_at": "2026-03-02T09:00:00.000000Z",
            "status": "in-progress",
        })
    );
    assert_eq!(list["campaigns"].as_array().unwrap().len(), 5);
}

#[test]
fn what_is_remembered_is_shown_without_a_token() {
    let sandbox = start("first_id = 900");
    post(&sandbox, &lead(ADA));
    let shown = |path: &str| {
        let request = request(&format!("GET {path}"), "", "");
        parse(&exchange(&sandbox, &request)).json()
    };
    let lead = json!({
        "id": "900",
        "campaign_id": 101,
        "phone_number": ADA,
        "variables": {},
        "allow_dupplicate": false,
        "attempt": 1,
    });
    assert_eq!(shown("/_sandbox/leads"), json!([lead]));
    let stats = shown("/_sandbox/stats");
    assert_eq!(stats["created"], 1);
    assert_eq!(stats["peak_in_flight"], 1);
    assert_eq!(stats["connections"], 3);
}

// Strictness

#[test]
fn a_missing_or_wrong_token_is_unauthenticated() {
    let sandbox = start("");
    for auth in [
        "",
        "Authorization: Bearer other\r\n",
        "Authorization: sandbox-token\r\n",
        "Authorization: Bearer  sandbox-token\r\n",
        &AUTH.repeat(2),
    ] {
        let headers = format!("{auth}{JSON_HEADS}");
        for call in ["POST /api/user/lead", "GET /api/user/campaigns"] {
            let answer = parse(&exchange(&sandbox, &request(call, &headers, &lead(ADA))));
            assert_eq!(answer.status, 401, "{call} {auth:?}");
            assert_eq!(answer.body, r#"{"message":"Unauthenticated."}"#);
        }
    }
    assert_eq!(sandbox.leads(), []);
}

#[test]
fn any_token_means_any_but_an_empty_one() {
    let sandbox = start("any_token = true");
    let status = |auth: &str| {
        let headers = format!("{auth}{JSON_HEADS}");
        let request = request("GET /api/user/campaigns", &headers, "");
        parse(&exchange(&sandbox, &request)).status
    };
    assert_eq!(status("Authorization: Bearer 1|abc\r\n"), 200);
    assert_eq!(status("Authorization: Bearer \r\n"), 401);
    assert_eq!(status(""), 401);
}

#[test]
fn wrong_media_types_are_refused() {
    let sandbox = start("");
    let status = |headers: &str| {
        let headers = format!("{AUTH}{headers}");
        let request = request("POST /api/user/lead", &headers, &lead(ADA));
        parse(&exchange(&sandbox, &request)).status
    };
    assert_eq!(status("Content-Type: application/json\r\n"), 406);
    assert_eq!(
        status("Accept: */*\r\nContent-Type: application/json\r\n"),
        406
    );
    assert_eq!(status("Accept: application/json\r\n"), 415);
    assert_eq!(
        status("Accept: application/json\r\nContent-Type: text/plain\r\n"),
        415
    );
    assert_eq!(
        sandbox.stats().refused,
        BTreeMap::from([(406, 2), (415, 2)])
    );
}

#[test]
fn a_body_that_is_no_json_object_is_refused() {
    let sandbox = start("");
    let twice_named = r#"{"campaign_id":101,"campaign_id":102}"#;
    for body in ["", "{", "[]", "null", "{} {}", twice_named] {
        assert_eq!(post(&sandbox, body).status, 400, "{body:?}");
    }
    let text = post(&sandbox, twice_named).body;
    assert!(text.contains("`campaign_id` occurs twice"), "{text}");
}

#[test]
fn a_wrong_type_is_refused_with_the_field_named() {
    let sandbox = start("");
    let cases = [
        ("phone_number", json!(447911123456u64), "phone_number"),
        ("phone_number", json!("447911123456"), "phone_number"),
        ("phone_number", json!("+0791112345"), "phone_number"),
        ("phone_number", json!("+123456"), "phone_number"),
        ("phone_number", json!("+1234567890123456"), "phone_number"),
        ("phone_number", json!("+44 7911 123456"), "phone_number"),
        ("phone_number", Value::Null, "phone_number"),
        ("campaign_id", json!("101"), "campaign_id"),
        ("campaign_id", json!(101.0), "campaign_id"),
        ("campaign_id", json!(-1), "campaign_id"),
        ("allow_dupplicate", json!(0), "allow_dupplicate"),
        ("allow_duplicate", json!(false), "allow_duplicate"),
        ("variables", json!(null), "variables"),
        ("variables", json!({"a": "b"}), "variables"),
        ("variables", json!([]), "variables"),
        ("variables", json!([{"a": "1"}, {"b": "2"}]), "variables"),
        ("variables", json!([{}]), "variables.0"),
        ("variables", json!(["a"]), "variables.0"),
        ("variables", json!([{"a": 1}]), "variables.0.a"),
    ];
    for (field, value, named) in cases {
        let mut body: Value = serde_json::from_str(&lead(ADA)).unwrap();
        body[field] = value;
        let answer = post(&sandbox, &body.to_string());
        assert_eq!(answer.status, 422, "{body}");
        let errors = answer.json()["errors"].as_object().unwrap().clone();
        assert_eq!(errors.keys().collect::<Vec<_>>(), [named], "{body}");
    }
    assert_eq!(sandbox.leads(), []);
}

#[test]
fn all_that_is_missing_is_named_at_once() {
    let answer = post(&start(""), "{}");
    let expected = json!({
        "message": "The allow_dupplicate field is required. (and 2 more errors)",
        "errors": {
            "allow_dupplicate": ["The allow_dupplicate field is required."],
            "campaign_id": ["The campaign_id field is required."],
            "phone_number": ["The phone_number field is required."],
        },
    });
    assert_eq!((answer.status, answer.json()), (422, expected));
}

#[test]
fn the_shape_of_variables_can_be_chosen() {
    let array = json!([{"a": "b"}]);
    let object = json!({"a": "b"});
    for (shape, array_status, object_status) in [
        ("array", 200, 422),
        ("object", 422, 200),
        ("either", 200, 200),
    ] {
        let sandbox = start(&format!("variables_shape = '{shape}'"));
        let status = |phone: &str, variables: &Value| {
            let mut body: Value = serde_json::from_str(&lead(phone)).unwrap();
            body["variables"] = variables.clone();
            post(&sandbox, &body.to_string()).status
        };
        assert_eq!(status("+15550000001", &array), array_status, "{shape}");
        assert_eq!(status("+15550000002", &object), object_status, "{shape}");
    }
}

#[test]
fn unknown_campaigns_routes_and_methods_are_refused() {
    let body = lead(ADA).replace("101", "999");
    let answer = post(&start(""), &body);
    assert_eq!(answer.status, 404);
    assert_eq!(answer.body, r#"{"message":"Campaign not found"}"#);
    let answer = post(&start("unknown_campaign = 'unprocessable'"), &body);
    assert_eq!(answer.status, 422);
    assert!(answer.json()["errors"]["campaign_id"].is_array());

    let sandbox = start("");
    let answer = get(&sandbox, "/api/api/user/campaigns");
    assert_eq!(answer.status, 404);
    assert_eq!(
        answer.json()["message"],
        "The route api/api/user/campaigns could not be found."
    );
    let answer = get(&sandbox, "/api/user/lead");
    assert_eq!(answer.status, 405);
    assert_eq!(answer.header("allow"), Some("POST"));
    assert!(answer.json()["message"].is_string());
}

// Duplicates, ids, lists

#[test]
fn a_duplicate_is_refused_in_each_style() {
    let exists = "A lead with this phone number already exists in this campaign.";
    let taken = "The phone number has already been taken.";
    let german = "Die Telefonnummer ist bereits vergeben.";
    let by_field = |text: &str| json!({"message": text, "errors": {"phone_number": [text]}});
    let coded = json!({"success": false, "message": exists, "error_code": "LEAD_ALREADY_EXISTS"});
    let ok = json!({"message": "Duplicate lead: nothing was added to this campaign."});
    let cases = [
        ("unprocessable_errors", 422, by_field(taken)),
        ("unprocessable_message", 422, json!({"message": exists})),
        ("bad_request", 400, json!({"message": exists})),
        ("conflict", 409, json!({"error": exists})),
        ("ok_without_id", 200, ok),
        ("success_false", 200, coded),
        ("german", 422, by_field(german)),
        (
            "status_false",
            422,
            json!({"status": false, "error": exists}),
        ),
    ];
    for (style, status, body) in cases {
        let [first, second] = twice(&format!("duplicate_style = '{style}'"));
        assert_eq!(first.0, 200);
        assert_eq!(second, (status, body), "{style}");
    }
    assert_eq!(twice("")[1].0, 422);
}

#[test]
fn duplicates_are_per_campaign_and_can_be_allowed() {
    let sandbox = start("");
    let allowed = lead(ADA).replace("false", "true");
    assert_eq!(post(&sandbox, &lead(ADA)).status, 200);
    assert_eq!(post(&sandbox, &lead(ADA).replace("101", "102")).status, 200);
    assert_eq!(post(&sandbox, &allowed).status, 200);
    assert_eq!(post(&sandbox, &lead(ADA)).status, 422);
    let made: Vec<_> = sandbox
        .leads()
        .into_iter()
        .map(|lead| {
            (
                lead.id,
                lead.campaign_id,
                lead.allow_dupplicate,
                lead.attempt,
            )
        })
        .collect();
    let expected = [
        ("1".to_owned(), 101, false, 1),
        ("2".to_owned(), 102, false, 1),
        ("3".to_owned(), 101, true, 2),
    ];
    assert_eq!(made, expected);
    let stats = sandbox.stats();
    assert_eq!((stats.created, stats.duplicates_refused), (3, 1));
}

#[test]
fn each_id_type_has_its_shape() {
    let first = |scenario: &str| twice(scenario)[0].clone();
    let text = "Lead created successfully";
    let reply = |id: Value| json!({"message": text, "data": {"id": id}});
    assert_eq!(first("id_type = 'string'"), (200, reply(json!("1"))));
    assert_eq!(first("id_type = 'integer'"), (200, reply(json!(1))));
    let wrapped = json!([reply(json!("1"))]);
    assert_eq!(first("id_type = 'wrapped'"), (200, wrapped));
    assert_eq!(first("created_status = 201"), (201, reply(json!("1"))));
    let (status, whole) = first("id_type = 'integer_full'");
    assert_eq!((status, &whole["data"]["id"]), (200, &json!(1)));
    assert_eq!(whole["data"]["phone_number"], ADA);
    assert_eq!(whole["data"]["campaign_id"], 101);
}

#[test]
fn each_list_shape_holds_all_campaigns() {
    let list = |scenario: &str| get(&start(scenario), "/api/user/campaigns").json();
    let ids = |entries: &Value| -> Vec<Value> {
        let entries = entries.as_array().unwrap().iter();
        entries.map(|entry| entry["id"].clone()).collect()
    };
    let expected = ["101", "102", "103", "104", "105"];
    assert_eq!(ids(&list("")["campaigns"]), expected);
    assert_eq!(ids(&list("list_shape = 'bare'")), expected);
    assert_eq!(ids(&list("list_shape = 'data'")["data"]), expected);
    let numbers = list("list_id_type = 'integer'");
    assert_eq!(ids(&numbers["campaigns"]), [101, 102, 103, 104, 105]);

    let sandbox = start("list_shape = 'paginated'");
    let first = get(&sandbox, "/api/user/campaigns").json();
    assert_eq!(ids(&first["data"]), expected[..3]);
    let next = "http://sandbox.test/api/user/campaigns?page=2";
    assert_eq!(first["next_page_url"], next);
    let second = get(&sandbox, "/api/user/campaigns?page=2").json();
    assert_eq!(ids(&second["data"]), expected[3..]);
    assert_eq!(second["next_page_url"], Value::Null);
    assert_eq!(sandbox.stats().campaign_requests, 2);
}

// Faults

/// The bytes that come back when a fault always occurs, and whether the lead was stored.
fn always(fault: &str) -> (Vec<u8>, bool) {
    let sandbox = start(&format!("retry_after_s = 7\n[faults]\n{fault} = 1.0"));
    let bytes = exchange(&sandbox, &lead_request(&lead(ADA)));
    let stats = sandbox.stats();
    assert_eq!(stats.faults.into_iter().collect::<Vec<_>>(), [(fault, 1)]);
    (bytes, !sandbox.leads().is_empty())
}

#[test]
fn a_fault_with_an_answer_stores_the_lead_or_not_as_its_name_says() {
    let cases = [
        ("status_429", 429, "application/json", Some("7"), false),
        ("status_500_before", 500, "application/json", None, false),
        ("status_500_after", 500, "application/json", None, true),
        ("status_502", 502, "text/html; charset=UTF-8", None, false),
        ("status_503", 503, "application/json", Some("7"), false),
        (
            "status_503_html",
            503,
            "text/html; charset=UTF-8",
            None,
            false,
        ),
        ("unreadable", 200, "text/html; charset=UTF-8", None, true),
    ];
    for (fault, status, content_type, retry_after, stored) in cases {
        let (bytes, was_stored) = always(fault);
        let answer = parse(&bytes);
        assert_eq!(answer.status, status, "{fault}");
        assert_eq!(answer.header("content-type"), Some(content_type), "{fault}");
        assert_eq!(answer.header("retry-after"), retry_after, "{fault}");
        assert_eq!(was_stored, stored, "{fault}");
    }
}

#[test]
fn a_dropped_connection_carries_not_a_byte() {
    assert_eq!(always("drop_before"), (Vec::new(), false));
    assert_eq!(always("drop_after"), (Vec::new(), true));
}

#[test]
fn a_truncated_answer_ends_in_the_middle_of_its_body() {
    let (bytes, stored) = always("truncated");
    let answer = parse(&bytes);
    let whole = r#"{"message":"Lead created successfully","data":{"id":"1"}}"#;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-length"),
        Some(whole.len().to_string().as_str())
    );
    assert_eq!(answer.body, whole[..whole.len() / 2]);
    assert!(stored);
}

#[test]
fn a_sandbox_stops_while_requests_hang_or_wait() {
    for (scenario, stored) in [
        ("[faults]\nhang_before = 1", false),
        ("[faults]\nhang_after = 1", true),
        ("latency_ms = 60_000", true),
    ] {
        let sandbox = start(scenario);
        let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
        tcp.write_all(lead_request(&lead(ADA)).as_bytes()).unwrap();
        wait_until(|| sandbox.stats().arrivals_us.len() == 1);
        tcp.set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        tcp.read(&mut [0]).unwrap_err();
        assert_eq!(!sandbox.leads().is_empty(), stored, "{scenario}");
        let stopping = Instant::now();
        drop(sandbox);
        assert!(stopping.elapsed() < Duration::from_secs(2), "{scenario}");
    }
}

#[test]
fn a_sandbox_stops_while_connections_are_idle_or_half_sent() {
    let sandbox = start("");
    let _idle = TcpStream::connect(sandbox.addr()).unwrap();
    let mut half = TcpStream::connect(sandbox.addr()).unwrap();
    half.write_all(b"POST /api/user/lead HTTP/1.1\r\nContent-Length: 9\r\n\r\n{")
        .unwrap();
    wait_until(|| sandbox.stats().lead_requests == 1);
    let stopping = Instant::now();
    drop(sandbox);
    assert!(stopping.elapsed() < Duration::from_secs(2));
}

/// Bounded waiting for what another thread is about to do.
fn wait_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(5), "still not done");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_caller_that_gives_up_has_made_the_lead_all_the_same() {
    let sandbox = start("latency_ms = 60_000");
    let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
    tcp.write_all(lead_request(&lead(ADA)).as_bytes()).unwrap();
    wait_until(|| sandbox.leads().len() == 1);
    drop(tcp);
    wait_until(|| sandbox.shared.state().in_flight() == 0);
}

const MANY_FAULTS: &str =
    "[faults]\nstatus_429 = 0.2\nstatus_500_after = 0.1\ndrop_after = 0.2\ndrop_before = 0.1";

/// What each of 200 numbers meets at its first and second attempt, asked for in this order.
fn fates(seed: u64, order: impl Iterator<Item = u64>) -> BTreeMap<u64, [Option<u16>; 2]> {
    let sandbox = start(&format!("seed = {seed}\n{MANY_FAULTS}"));
    let fate = |number: u64| {
        let body = lead(&format!("+1555{number:07}"));
        let bytes = exchange(&sandbox, &lead_request(&body));
        (!bytes.is_empty()).then(|| parse(&bytes).status)
    };
    order.map(|n| (n, [(); 2].map(|()| fate(n)))).collect()
}

#[test]
fn faults_do_not_depend_on_the_order_of_arrival() {
    let forwards = fates(1, 0..200);
    assert_eq!(fates(1, (0..200).rev()), forwards);
    assert_ne!(fates(2, 0..200), forwards);
    let count = |status| {
        let firsts = forwards.values().map(|[first, _]| *first);
        firsts.filter(|fate| *fate == status).count()
    };
    // Of 200: 40 % made, 20 % 429, 10 % 500, 30 % dropped, give or take.
    assert!((60..100).contains(&count(Some(200))), "{forwards:?}");
    assert!((25..60).contains(&count(Some(429))), "{forwards:?}");
    assert!((8..35).contains(&count(Some(500))), "{forwards:?}");
    assert!((40..80).contains(&count(None)), "{forwards:?}");
}

// Limits

#[test]
fn what_exceeds_the_rate_limit_is_refused_with_a_hint() {
    let limit = "[[rate_limit]]\nrequests = 2\nper_s = 60";
    let sandbox = start(&format!("rate_limit_headers = true\n{limit}"));
    let answers: Vec<_> = (0..3)
        .map(|n| post(&sandbox, &lead(&format!("+1555000000{n}"))))
        .collect();
    let shown: Vec<_> = answers
        .iter()
        .map(|answer| {
            let remaining = answer.header("x-ratelimit-remaining").unwrap();
            (answer.status, remaining, answer.header("retry-after"))
        })
        .collect();
    assert_eq!(
        shown,
        [(200, "1", None), (200, "0", None), (429, "0", Some("60"))]
    );
    assert_eq!(answers[0].header("x-ratelimit-limit"), Some("2"));
    assert_eq!(answers[2].body, r#"{"message":"Too Many Attempts."}"#);
    assert_eq!(sandbox.leads().len(), 2);
    assert_eq!(sandbox.stats().refused, BTreeMap::from([(429, 1)]));
}

#[test]
fn the_hint_has_the_chosen_form() {
    let second = |hint: &str| {
        let limit = "[[rate_limit]]\nrequests = 1\nper_s = 60";
        let sandbox = start(&format!("rate_limit_hint = '{hint}'\n{limit}"));
        let [_, second] = [(); 2].map(|()| post(&sandbox, &lead(ADA)));
        second
    };
    let date = second("http_date");
    let then = httpdate::parse_http_date(date.header("retry-after").unwrap()).unwrap();
    let wait = then.duration_since(std::time::SystemTime::now()).unwrap();
    assert!((58..=61).contains(&wait.as_secs()), "{wait:?}");
    let body = second("body");
    assert_eq!(body.header("retry-after"), None);
    let expected = json!({"message": "Too Many Attempts.", "retry_after": 60});
    assert_eq!(body.json(), expected);
    let none = second("none");
    assert_eq!((none.status, none.header("retry-after")), (429, None));
    assert_eq!(none.json(), json!({"message": "Too Many Attempts."}));
}

#[test]
fn throttling_comes_before_any_look_at_the_request() {
    let sandbox = start("[[rate_limit]]\nrequests = 1\nper_s = 60");
    assert_eq!(post(&sandbox, "nonsense").status, 400);
    assert_eq!(post(&sandbox, "nonsense").status, 429);
}

#[test]
fn an_outage_begins_and_ends() {
    let sandbox = start("[outage]\nafter_requests = 1\nfor_s = 0.2");
    assert_eq!(post(&sandbox, &lead("+15550000001")).status, 200);
    let during = lead_request(&lead("+15550000002"));
    assert_eq!(exchange(&sandbox, &during), b"");
    let list = request("GET /api/user/campaigns", AUTH, "");
    assert_eq!(exchange(&sandbox, &list), b"");
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(parse(&exchange(&sandbox, &during)).status, 200);
    assert_eq!(sandbox.leads().len(), 2);

    for (style, status) in [("503", 503), ("502", 502)] {
        let outage = format!("[outage]\nafter_requests = 0\nfor_s = 60\nstyle = '{style}'");
        let answer = post(&start(&outage), &lead(ADA));
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("retry-after"), None);
        assert!(answer.body.starts_with("<!DOCTYPE html>"));
    }
}

#[test]
fn token_and_balance_run_out() {
    let sandbox = start("token_revoked_after = 1");
    assert_eq!(post(&sandbox, &lead(ADA)).status, 200);
    assert_eq!(post(&sandbox, &lead(ADA)).status, 401);
    assert_eq!(get(&sandbox, "/api/user/campaigns").status, 401);

    let sandbox = start("balance_after = 1");
    assert_eq!(post(&sandbox, &lead(ADA)).status, 200);
    let answer = post(&sandbox, &lead("+15550000001"));
    assert_eq!(answer.status, 402);
    assert_eq!(answer.json()["error"], "INSUFFICIENT_BALANCE");
}

#[test]
fn the_hidden_cap_makes_requests_queue() {
    let sandbox = start("latency_ms = 60\nmax_concurrent = 2");
    let start = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let body = lead(&format!("+1555000000{number}"));
            let sandbox = &sandbox;
            scope.spawn(move || assert_eq!(post(sandbox, &body).status, 200));
        }
    });
    assert!(start.elapsed() >= Duration::from_millis(180));
    assert_eq!(sandbox.stats().peak_in_flight, 6);
    assert_eq!(sandbox.stats().max_in_window(Duration::from_secs(60)), 6);
}

// Rules

#[test]
fn rules_play_any_exchange() {
    let sandbox = start(
        r#"
        [[rule]]
        phone_number = "+447911123456"
        attempts = [1]
        reply = { status = 302, headers = { location = "/login", content-type = "text/html" }, body = "moved" }
        [[rule]]
        phone_number = "+447911123456"
        attempts = [2, 4]
        reply = { store = true, then = "drop" }
        [[rule]]
        campaign_id = 102
        reply = { status = 201, store = true, body = '{"data":{"id":{id},"status":"blacklisted"}}' }
        [[rule]]
        phone_number = "+15550000001"
        reply = { then = "truncate", body = "0123456789", headers = { x-ratelimit-limit = "9" } }
        [[rule]]
        phone_number = "+15550000002"
        reply = { then = "usual", delay_ms = 40 }
        "#,
    );
    let moved = post(&sandbox, &lead(ADA));
    assert_eq!((moved.status, moved.body.as_str()), (302, "moved"));
    assert_eq!(moved.header("location"), Some("/login"));
    assert_eq!(moved.header("content-type"), Some("text/html"));
    assert_eq!(sandbox.leads().len(), 0);
    assert_eq!(exchange(&sandbox, &lead_request(&lead(ADA))), b"");
    assert_eq!(sandbox.leads().len(), 1);
    assert_eq!(post(&sandbox, &lead(ADA)).status, 422);
    assert_eq!(exchange(&sandbox, &lead_request(&lead(ADA))), b"");
    assert_eq!(sandbox.leads().len(), 1);
    let other = post(&sandbox, &lead("+15550000009").replace("101", "102"));
    let expected = json!({"data": {"id": 2, "status": "blacklisted"}});
    assert_eq!((other.status, other.json()), (201, expected));
    let half = post(&sandbox, &lead("+15550000001"));
    assert_eq!(half.body, "01234");
    assert_eq!(half.header("x-ratelimit-limit"), Some("9"));
    let start = Instant::now();
    assert_eq!(post(&sandbox, &lead("+15550000002")).status, 200);
    assert!(start.elapsed() >= Duration::from_millis(40));
}

#[test]
fn a_connection_serves_many_requests_even_refused_ones() {
    let sandbox = start("[[rate_limit]]\nrequests = 1\nper_s = 60");
    let mut tcp = TcpStream::connect(sandbox.addr()).unwrap();
    let kept = lead_request(&lead(ADA)).replace("Connection: close\r\n", "");
    for _ in 0..3 {
        tcp.write_all(kept.as_bytes()).unwrap();
        assert_ne!(tcp.read(&mut [0; 4096]).unwrap(), 0);
    }
    assert_eq!(sandbox.stats().lead_requests, 3);
    assert_eq!(sandbox.stats().connections, 1);
}

// Configuration

#[test]
fn only_loopback_is_listened_on() {
    let config = SandboxConfig {
        listen: Some(([0, 0, 0, 0], 0).into()),
        ..SandboxConfig::default()
    };
    let error = Sandbox::start(config).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        "the sandbox listens on loopback addresses only, such as 127.0.0.1:8088 \
         (not `0.0.0.0:0`)"
    );
    let config = SandboxConfig {
        listen: Some((std::net::Ipv6Addr::LOCALHOST, 0).into()),
        ..SandboxConfig::default()
    };
    // Not every machine has IPv6; where it does, the URL has brackets.
    if let Ok(sandbox) = Sandbox::start(config) {
        assert!(sandbox.base_url().starts_with("http://[::1]:"));
    }
}

#[test]
fn contradictions_are_found_at_the_start() {
    for scenario in [
        "created_status = 422",
        "max_concurrent = 0",
        "token = ''",
        "retry_after_s = 9000000000000000000",
        "first_id = 9000000000000000000",
        "[[rate_limit]]\nrequests = 1\nper_s = 1e300",
        "[faults]\ndrop_after = 1.5",
        "[faults]\ndrop_after = 0.6\nunreadable = 0.6",
        "[[rate_limit]]\nrequests = 0\nper_s = 1",
        "[[rule]]\nphone_number = '0791'",
        "[[rule]]\nreply = { status = 100 }",
        "[[rule]]\nreply = { headers = { 'no name' = 'x' } }",
        "[outage]\nafter_requests = 1\nfor_s = -1",
    ] {
        let config = toml::from_str(scenario).unwrap();
        let error = Sandbox::start(config).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{scenario}");
    }
    assert!(toml::from_str::<SandboxConfig>("latency = 5").is_err());
}

#[test]
fn each_campaign_of_a_scenario_replaces_the_examples() {
    let sandbox = start("[[campaign]]\nid = 7\nname = 'Only one'");
    let list = get(&sandbox, "/api/user/campaigns").json();
    let names: BTreeSet<_> = list["campaigns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|campaign| campaign["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, BTreeSet::from(["Only one"]));
    assert_eq!(post(&sandbox, &lead(ADA)).status, 404);
}
