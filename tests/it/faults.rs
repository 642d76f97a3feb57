//! A service with bad minutes: lost answers, refusals, broken connections.

use std::collections::{BTreeMap, BTreeSet};

use crate::util::{Folder, contacts, scenario};

#[test]
fn a_thousand_rows_through_every_fault_are_each_made_once_and_accounted_for() {
    let count = 1000;
    let folder = Folder::with_leads(&contacts(count));
    let service = scenario(
        "seed = 7\nretry_after_s = 1\n[faults]\nstatus_429 = 0.02\nstatus_503 = 0.02\n\
         drop_before = 0.02\ndrop_after = 0.02\nunreadable = 0.02",
    );
    let output = folder
        .import_leads(&service, &["--concurrency", "32", "--format", "json"])
        .expect(0);

    let results = folder.records("leads.results.csv");
    let rows: Vec<usize> = results.iter().map(|r| r["row"].parse().unwrap()).collect();
    assert_eq!(
        rows,
        (1..=count).collect::<Vec<_>>(),
        "one line a row, in order"
    );

    let leads = service.leads();
    let numbers: BTreeSet<&str> = leads.iter().map(|l| l.phone_number.as_str()).collect();
    assert_eq!(
        (leads.len(), numbers.len()),
        (count, count),
        "nothing exists twice"
    );

    let made: BTreeMap<&str, &str> = leads
        .iter()
        .map(|lead| (lead.phone_number.as_str(), lead.id.as_str()))
        .collect();
    let mut lost = 0_u64;
    for row in &results {
        let id = made[row["phone_number"].as_str()];
        match row["status"].as_str() {
            "created" => assert_eq!(row["lead_id"], id),
            // The first answer was lost, and the service refused the second attempt.
            "duplicate" => {
                assert_eq!(row["error_code"], "answer_lost");
                lost += 1;
            }
            status => panic!("{status} in {row:?}"),
        }
    }
    let stats = service.stats();
    // There are more refusals if the answer to a refused duplicate was lost as well.
    assert!(lost <= stats.duplicates_refused);
    assert!(lost > 20, "{lost} answers were lost");
    let attempts: u64 = results
        .iter()
        .map(|r| r["attempts"].parse::<u64>().unwrap())
        .sum();
    assert_eq!(attempts, stats.lead_requests, "every attempt is counted");
    assert_eq!(output.json()["requests"], attempts);
    for fault in [
        "status_429",
        "status_503",
        "drop_before",
        "drop_after",
        "unreadable",
    ] {
        assert!(
            stats.faults.get(fault).is_some_and(|n| *n > 5),
            "{fault}: {:?}",
            stats.faults
        );
    }
}

#[test]
fn under_hold_a_lost_answer_leaves_the_row_uncertain_and_is_not_repeated() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000002\n+447911000003\n");
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000002"
        reply = { store = true, then = "drop" }"#,
    );
    let output = folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created", "uncertain", "created"]
    );
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "connection", ""]
    );
    assert_eq!(service.stats().lead_requests, 3);
    output.shows("these may be leads already");
    // A person has to decide whether to send it again, not whoever imports the rejects.
    assert!(!folder.names().contains(&"leads.rejects.csv".to_owned()));
}

#[test]
fn duplicates_allowed_means_hold_unless_said_otherwise() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000002\n");
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000002"
        attempts = [1]
        reply = { status = 500, store = true }"#,
    );
    folder
        .import_leads(&service, &["--allow-duplicates"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "http_500"]
    );
    assert_eq!(service.leads().len(), 2);
}

#[test]
fn a_request_that_is_never_answered_is_given_up_after_the_timeout() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000002\n");
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000002"
        reply = { then = "hang" }"#,
    );
    folder
        .import_leads(&service, &["--timeout", "300ms", "--max-attempts", "2"])
        .expect(1);
    let row = &folder.records("leads.results.csv")[1];
    assert_eq!(
        (
            row["status"].as_str(),
            row["error_code"].as_str(),
            row["attempts"].as_str()
        ),
        ("uncertain", "timeout", "2")
    );
    // With `resend` it may be sent again, so it is in the rejects.
    assert_eq!(
        folder.column("leads.rejects.csv", "leadload_status"),
        ["uncertain"]
    );
}

#[test]
fn a_service_that_is_not_there_makes_failed_rows_that_are_safe_to_send_again() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder
        .leadload(&[
            "import",
            "leads.csv",
            "--campaign",
            "101",
            "--max-attempts",
            "2",
            "--rate",
            "none",
        ])
        // Nothing listens there: no service uses port 1.
        .env("LEADLOAD_BASE_URL", "http://127.0.0.1:1")
        .env("LEADLOAD_TOKEN", "t")
        .expect(1);
    let row = &folder.records("leads.results.csv")[0];
    assert_eq!(
        (
            row["status"].as_str(),
            row["error_code"].as_str(),
            row["attempts"].as_str()
        ),
        ("failed", "connection", "2")
    );
    assert_eq!(
        folder.column("leads.rejects.csv", "leadload_error_code"),
        ["connection"]
    );
}

#[test]
fn a_refusal_that_asks_to_wait_holds_everybody_and_counts_as_no_attempt() {
    let folder = Folder::with_leads(&contacts(12));
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000003"
        attempts = [1, 2]
        reply = { status = 429, headers = { Retry-After = "1" }, body = '{"message":"Too Many Attempts."}' }"#,
    );
    folder
        .import_leads(&service, &["--max-attempts", "1", "--concurrency", "2"])
        .expect(0);
    assert_eq!(folder.column("leads.results.csv", "attempts")[3], "3");
    let stats = service.stats();
    assert_eq!((stats.created, stats.lead_requests), (12, 14));
    // Twice there was a second without any request.
    let gaps = stats
        .arrivals_us
        .windows(2)
        .filter(|pair| pair[1] - pair[0] >= 990_000);
    assert!(gaps.count() >= 2, "{:?}", stats.arrivals_us);
}

#[test]
fn every_refusal_of_a_duplicate_seen_in_the_wild_is_understood() {
    for (status, body) in [
        (
            422,
            r#"{"message":"…","errors":{"phone_number":["The phone number has already been taken."]}}"#,
        ),
        (
            422,
            r#"{"message":"…","errors":{"phone_number":["Die Telefonnummer ist bereits vergeben."]}}"#,
        ),
        (
            422,
            r#"{"message":"A lead with this phone number already exists in this campaign."}"#,
        ),
        (
            400,
            r#"{"message":"A lead with this phone number already exists in this campaign."}"#,
        ),
        (
            409,
            r#"{"error":"A lead with this phone number already exists in this campaign."}"#,
        ),
        (
            200,
            r#"{"message":"Duplicate lead: nothing was added to this campaign."}"#,
        ),
        (
            200,
            r#"{"success":false,"message":"A lead with this phone number already exists in this campaign.","error_code":"LEAD_ALREADY_EXISTS"}"#,
        ),
        (
            422,
            r#"{"status":false,"error":"A lead with this phone number already exists in this campaign."}"#,
        ),
    ] {
        let folder = Folder::with_leads("phone\n+447911000001\n");
        let service = scenario(&format!(
            "[[rule]]\nattempts = [2]\nreply = {{ status = {status}, body = '{body}' }}"
        ));
        let import = || folder.import_leads(&service, &["--ledger", "none"]);
        import().expect(0);
        import().expect(0);
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["duplicate"],
            "{status} {body}"
        );
    }
}

#[test]
fn the_id_is_found_in_every_answer_seen_in_the_wild() {
    for body in [
        r#"{"message":"Lead created","data":{"id":"{id}"}}"#,
        r#"{"message":"Lead created","data":{"id":{id}}}"#,
        r#"[{"message":"Lead created","data":{"id":"{id}"}}]"#,
        r#"{"data":{"id":{id},"campaign_id":101,"phone_number":"+447911000001","status":"created"}}"#,
    ] {
        let folder = Folder::with_leads("phone\n+447911000001\n");
        let service = scenario(&format!(
            "[[rule]]\nreply = {{ status = 201, store = true, body = '{body}' }}"
        ));
        folder.import_leads(&service, &[]).expect(0);
        assert_eq!(
            folder.column("leads.results.csv", "lead_id"),
            ["1"],
            "{body}"
        );
    }
}
