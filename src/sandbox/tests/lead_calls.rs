//! Tests of the calls about leads that exist.

use super::*;

const LIST: &str = "/api/user/leads?campaign_id=101";

fn delete(sandbox: &Sandbox, id: u64) -> Answer {
    delete_with(sandbox, id, "sandbox-token")
}

fn delete_with(sandbox: &Sandbox, id: u64, token: &str) -> Answer {
    let headers = format!("Authorization: Bearer {token}\r\nAccept: application/json\r\n");
    let request = request(&format!("DELETE /api/user/leads/{id}"), &headers, "");
    parse(&exchange(sandbox, &request))
}

/// A sandbox with this many leads in campaign 101.
fn with_leads(scenario: &str, count: u64) -> Sandbox {
    let sandbox = start(scenario);
    for number in 0..count {
        let answer = post(&sandbox, &lead(&format!("+44791100{number:04}")));
        assert_eq!(answer.status, 200);
    }
    sandbox
}

#[test]
fn leads_are_listed_in_every_form_seen() {
    for (form, next) in [
        ("pages", "/next_page_url"),
        ("meta", "/links/next"),
        ("data", ""),
        ("bare", ""),
    ] {
        let sandbox = with_leads(&format!("lead_list = '{form}'"), 3);
        let list = get(&sandbox, &format!("{LIST}&per_page=2")).json();
        let leads = list.get("data").unwrap_or(&list).as_array().unwrap();
        assert_eq!(leads[0]["id"], json!("1"), "{form}");
        assert_eq!(leads[0]["phone_number"], json!("+447911000000"));
        let shown = if next.is_empty() { 3 } else { 2 };
        assert_eq!(leads.len(), shown, "{form}");
        if !next.is_empty() {
            let next = list.pointer(next).unwrap().as_str().unwrap();
            assert_eq!(next, format!("{LIST}&per_page=2&page=2"));
            let rest = get(&sandbox, next).json();
            assert_eq!(rest["data"].as_array().unwrap().len(), 1);
            assert_eq!(rest["data"][0]["id"], json!("3"));
        }
    }
}

#[test]
fn a_list_is_of_one_campaign_and_of_numbers_that_contain_what_is_asked_for() {
    let sandbox = with_leads("lead_ids = 'number'", 12);
    let ids = |query: &str| {
        let list = get(&sandbox, &format!("/api/user/leads?{query}")).json();
        let leads = list["data"].as_array().unwrap().clone();
        leads
            .iter()
            .map(|lead| lead["id"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert!(ids("campaign_id=102").is_empty());
    assert_eq!(ids("phone_number=%2B447911000003"), [4]);
    assert_eq!(ids("campaign_id=101&phone_number=00001"), [2, 11, 12]);
    // A bare plus is a space.
    assert!(ids("phone_number=+447911000003").is_empty());
}

#[test]
fn times_are_in_the_form_that_is_set_and_by_the_service_s_clock() {
    for (form, length) in [("microseconds", 27), ("seconds", 20), ("zoneless", 19)] {
        let scenario = format!("lead_times = '{form}'\nclock_ahead_s = 3600");
        let sandbox = with_leads(&scenario, 1);
        let answer = get(&sandbox, LIST);
        let made = &answer.json()["data"][0]["created_at"];
        let made = made.as_str().unwrap().replace(' ', "T");
        assert_eq!(made.len(), length, "{form}");
        let made: jiff::Timestamp = format!("{}Z", made.trim_end_matches('Z')).parse().unwrap();
        let ahead = jiff::Timestamp::now().duration_until(made).as_secs();
        assert!((3500..=3600).contains(&ahead), "{ahead}");
        let date = httpdate::parse_http_date(answer.header("date").unwrap()).unwrap();
        let ahead = date.duration_since(std::time::SystemTime::now()).unwrap();
        assert!((3500..=3600).contains(&ahead.as_secs()), "{ahead:?}");
    }
    let sandbox = with_leads("lead_times = 'none'", 1);
    assert_eq!(
        get(&sandbox, LIST).json()["data"][0]["created_at"],
        Value::Null
    );
}

#[test]
fn a_new_lead_is_listed_after_the_delay() {
    let sandbox = with_leads("list_delay_ms = 600000", 1);
    assert_eq!(get(&sandbox, LIST).json()["data"], json!([]));
    assert_eq!(delete(&sandbox, 1).status, 200);
}

#[test]
fn a_lead_that_was_deleted_is_gone_and_can_be_made_once_more() {
    let sandbox = with_leads("", 2);
    assert_eq!(delete(&sandbox, 1).status, 200);
    assert_eq!(delete(&sandbox, 1).status, 404);
    assert_eq!(delete(&sandbox, 7).status, 404);
    assert_eq!(delete(&sandbox, 0).status, 404);
    let ids = || -> Vec<String> { sandbox.leads().into_iter().map(|lead| lead.id).collect() };
    assert_eq!(ids(), ["2"]);
    assert_eq!(get(&sandbox, LIST).json()["total"], json!(1));
    assert_eq!(post(&sandbox, &lead("+447911000000")).status, 200);
    assert_eq!(post(&sandbox, &lead("+447911000001")).status, 422);
    assert_eq!(ids(), ["2", "3"]);
    let stats = sandbox.stats();
    assert_eq!((stats.deleted, stats.delete_requests), (1, 4));
    assert_eq!((stats.list_requests, stats.arrivals_us.len()), (1, 9));
}

#[test]
fn a_lead_in_a_call_is_not_deleted() {
    let sandbox = with_leads("in_call = 1", 1);
    for _ in 0..2 {
        assert_eq!(delete(&sandbox, 1).status, 409);
    }
    assert_eq!(sandbox.leads().len(), 1);
}

#[test]
fn calls_that_are_not_offered_are_refused_as_laravel_does() {
    let sandbox = with_leads("lead_calls = 'list'\nnot_offered_status = 405", 1);
    assert_eq!(get(&sandbox, LIST).status, 200);
    assert_eq!(delete(&sandbox, 1).status, 405);
    let sandbox = with_leads("lead_calls = 'none'", 1);
    assert_eq!(get(&sandbox, LIST).status, 404);
    assert_eq!(delete(&sandbox, 1).status, 404);
    assert_eq!(sandbox.leads().len(), 1);
}

#[test]
fn a_deletion_whose_answer_is_lost_has_happened_or_not_as_the_fault_says() {
    for (fault, left) in [("drop_before", 1), ("drop_after", 0)] {
        let sandbox = with_leads(&format!("[call_faults]\n{fault} = 1.0"), 1);
        let headers = format!("{AUTH}Accept: application/json\r\n");
        let request = request("DELETE /api/user/leads/1", &headers, "");
        assert!(exchange(&sandbox, &request).is_empty(), "{fault}");
        assert_eq!(sandbox.leads().len(), left, "{fault}");
    }
}

#[test]
fn each_token_has_its_own_leads_where_accounts_are_apart() {
    let sandbox = with_leads("any_token = true\naccounts_by_token = true", 1);
    assert_eq!(delete_with(&sandbox, 1, "another").status, 404);
    assert_eq!(sandbox.leads().len(), 1);
    assert_eq!(delete(&sandbox, 1).status, 200);
}

#[test]
fn every_call_counts_towards_one_limit_and_needs_the_token() {
    let sandbox = with_leads("rate_limit = [{ requests = 3, per_s = 600 }]", 1);
    assert_eq!(get(&sandbox, LIST).status, 200);
    assert_eq!(delete(&sandbox, 1).status, 200);
    assert_eq!(get(&sandbox, LIST).status, 429);
    assert_eq!(delete(&sandbox, 1).status, 429);
    assert_eq!(delete_with(&start(""), 1, "another").status, 401);
}
