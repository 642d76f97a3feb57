//! Tests of requests and answers when nothing goes wrong on purpose.

use super::*;

#[test]
fn a_lead_is_created_as_the_contract_says() {
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
    assert_eq!(recorded.headers["authorization"], "Bearer sandbox-token");
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
fn leads_and_counts_are_shown_without_a_token() {
    let sandbox = start("");
    post(&sandbox, &lead(ADA));
    let shown = |path: &str| {
        let request = request(&format!("GET {path}"), "", "");
        parse(&exchange(&sandbox, &request)).json()
    };
    let lead = json!({
        "id": "1",
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
fn a_body_that_is_not_a_json_object_is_refused() {
    let sandbox = start("");
    for body in ["", "{", "[]", "null", "{} {}"] {
        assert_eq!(post(&sandbox, body).status, 400, "{body:?}");
    }
}

#[test]
fn a_body_that_is_not_a_lead_is_refused() {
    let sandbox = start("");
    let cases = [
        ("phone_number", json!(447911123456u64)),
        ("phone_number", json!("447911123456")),
        ("phone_number", json!("+0791112345")),
        ("phone_number", json!("+123456")),
        ("phone_number", json!("+1234567890123456")),
        ("phone_number", json!("+44 7911 123456")),
        ("phone_number", Value::Null),
        ("campaign_id", json!("101")),
        ("campaign_id", json!(101.0)),
        ("campaign_id", json!(-1)),
        ("allow_dupplicate", json!(0)),
        ("allow_duplicate", json!(false)),
        ("variables", json!({"a": "b"})),
        ("variables", json!([])),
        ("variables", json!([{"a": "1"}, {"b": "2"}])),
        ("variables", json!([{}])),
        ("variables", json!([{"": "a"}])),
        ("variables", json!(["a"])),
        ("variables", json!([{"a": 1}])),
    ];
    for (field, value) in cases {
        let mut body: Value = serde_json::from_str(&lead(ADA)).unwrap();
        body[field] = value;
        assert_eq!(post(&sandbox, &body.to_string()).status, 422, "{body}");
    }
    let answer = post(&sandbox, "{}");
    let text = "The body is not a lead: missing field `phone_number`.";
    assert_eq!(
        (answer.status, answer.json()),
        (422, json!({"message": text}))
    );
    assert_eq!(sandbox.leads(), []);
}

#[test]
fn the_shape_of_variables_can_be_chosen() {
    let array = json!([{"a": "b"}]);
    let object = json!({"a": "b"});
    for (shape, array_status, object_status) in [("array", 200, 422), ("object", 422, 200)] {
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

    let sandbox = start("");
    let answer = get(&sandbox, "/api/api/user/campaigns");
    assert_eq!(answer.status, 404);
    let answer = get(&sandbox, "/api/user/lead");
    assert_eq!(answer.status, 405);
    assert_eq!(answer.header("allow"), Some("POST"));
}

// Duplicates, ids, lists

#[test]
fn the_first_request_for_a_number_makes_a_lead_and_the_second_is_refused() {
    let [first, second] = twice("");
    let made = json!({"message": "Lead created successfully", "data": {"id": "1"}});
    assert_eq!(first, (200, made));
    let taken = "The phone number has already been taken.";
    let refused = json!({"message": taken, "errors": {"phone_number": [taken]}});
    assert_eq!(second, (422, refused));
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
fn the_pages_of_the_campaign_list_can_be_scripted() {
    let sandbox = start("campaign_pages = ['[{\"id\":1}]', '[{\"id\":2}]']");
    for (query, id) in [("", 1), ("?page=1", 1), ("?page=2", 2)] {
        let page = get(&sandbox, &format!("/api/user/campaigns{query}")).json();
        assert_eq!(page, json!([{ "id": id }]), "{query}");
    }
    assert_eq!(sandbox.stats().campaign_requests, 3);
}

// Faults
