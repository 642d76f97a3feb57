//! Refusals that ask to come back later: 429, and any other that says when.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::util::{Folder, contacts, number, scenario, seen};

/// A service that gives this answer to the first attempt of the fourth row.
fn fourth_row_gets(status: u16, headers: &str, body: &str) -> String {
    format!(
        "keep_bodies = true\n[[rule]]\nphone_number = '{}'\nattempts = [1]\n\
         reply = {{ status = {status}, headers = {{ {headers} }}, body = '{body}' }}",
        number(3)
    )
}

fn epoch_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}

#[test]
fn a_wait_is_kept_to_whatever_its_form_and_counts_as_no_attempt() {
    let date = |after| {
        let time = SystemTime::now() + Duration::from_secs(after);
        format!("Retry-After = '{}'", httpdate::fmt_http_date(time))
    };
    let reset = format!("X-RateLimit-Reset = '{}'", epoch_s().ceil() as u64 + 2);
    let forms = [
        (429, "Retry-After = '1'".to_owned(), "{}"),
        (503, "Retry-After = '1'".to_owned(), "<html>"),
        (429, "Retry-After = '1.5'".to_owned(), "{}"),
        (429, date(3), "{}"),
        (503, date(3), "{}"),
        (429, String::new(), r#"{"retry_after":1}"#),
        (503, String::new(), r#"{"error":{"retry_after":"1"}}"#),
        (429, "X-RateLimit-Reset = '1'".to_owned(), "{}"),
        (429, reset, "{}"),
        (403, "Retry-After = '1'".to_owned(), "<html>"),
        (
            422,
            "Retry-After = '1'".to_owned(),
            r#"{"errors":{"campaign_id":["is busy"]}}"#,
        ),
        (423, String::new(), r#"{"retry_after":1}"#),
        (507, "Retry-After = '1'".to_owned(), "{}"),
        (
            200,
            String::new(),
            r#"{"ok":false,"message":"busy","retry_after":1}"#,
        ),
    ];
    // The shortest wait after the first attempt; 0 if the answer gives a time of day.
    let waits = [
        1.0, 1.0, 1.5, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0,
    ];
    let until = epoch_s() + 2.0;
    let during = |(status, headers, body): &(u16, String, &str), wait: f64| {
        let folder = Folder::with_leads(&contacts(8));
        let began = epoch_s();
        let service = scenario(&fourth_row_gets(*status, headers, body));
        let args = ["--max-attempts", "1", "--concurrency", "1"];
        folder.import_leads(&service, &args).expect(0);
        let requests = seen(&service);
        assert_eq!(requests.len(), 9, "{headers} {body}");
        let at: Vec<f64> = requests.iter().map(|r| r.at_us as f64 / 1e6).collect();
        // The two clocks may differ slightly.
        assert!(at[4] - at[3] >= wait - 0.01, "{headers} {body}: {at:?}");
        if wait == 0.0 {
            assert!(began + at[4] >= until - 0.01, "{headers} {body}: {at:?}");
        }
        let attempts = folder.column("leads.results.csv", "attempts");
        assert_eq!(attempts.iter().filter(|n| *n == "2").count(), 1);
    };
    thread::scope(|scope| {
        for (form, wait) in forms.iter().zip(waits) {
            scope.spawn(move || during(form, wait));
        }
    });
}

#[test]
fn all_that_was_in_flight_is_refused_and_waits_as_one() {
    let folder = Folder::with_leads(&contacts(25));
    let service =
        scenario("latency_ms = 20\n[[rate_limit]]\nrequests = 10\nper_s = 1\nshape = 'fixed'");
    let args = ["--concurrency", "4", "--max-attempts", "1"];
    folder.import_leads(&service, &args).expect(0);
    let stats = service.stats();
    assert_eq!(stats.created, 25);
    // At least two windows end, with up to four requests in flight.
    let refused = stats.refused.get(&429).copied().unwrap_or(0);
    assert_eq!(stats.lead_requests, 25 + refused);
    assert!(refused <= 12, "{refused}");
}

#[test]
fn a_senseless_time_is_replaced_by_a_wait_of_our_own() {
    let during = |text: &str| {
        let folder = Folder::with_leads(&contacts(8));
        let header = format!("Retry-After = '{text}'");
        let service = scenario(&fourth_row_gets(429, &header, "{}"));
        let output = folder
            .import_leads(&service, &["--concurrency", "1", "-v"])
            .expect(0);
        let at = service.stats().arrivals_us;
        assert_eq!(at.len(), 9, "{text}");
        assert!(at[4] - at[3] >= 100_000, "{text}: {at:?}");
        let stderr = output.stderr;
        assert!(stderr.contains("the service refuses for now"), "{stderr}");
        assert!(!stderr.contains("4479110"), "{stderr}");
    };
    thread::scope(|scope| {
        for text in ["-5", "soon", ""] {
            scope.spawn(move || during(text));
        }
    });
}

#[test]
fn a_wait_of_a_year_is_bounded_by_the_time_that_is_left() {
    let in_a_year = SystemTime::now() + Duration::from_secs(365 * 86_400);
    let date = httpdate::fmt_http_date(in_a_year);
    for text in ["31536000", &date] {
        let folder = Folder::with_leads(&contacts(8));
        let header = format!("Retry-After = '{text}'");
        let service = scenario(&fourth_row_gets(429, &header, "{}"));
        let args = ["--max-duration", "800ms", "--concurrency", "1", "-v"];
        let output = folder
            .import_leads(&service, &[&args[..], &["--format", "json"]].concat())
            .expect(4);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "max_duration", "{text}");
        assert_eq!(summary["counts"]["created"], 3, "{text}");
        assert_eq!(summary["rows"], 3, "{text}");
        output.tells("the service refuses for now (http_429); all wait 1 h 0 min");
        // The next process waits on.
        let output = folder.import_leads(&service, &args).expect(4);
        output.tells("the service refuses for now (http_429)");
        assert_eq!(service.stats().lead_requests, 4, "{text}");
    }
}

#[test]
fn a_lead_that_was_made_with_the_last_of_a_quota_is_not_sent_again() {
    for (rate, status) in [("none", 200), ("auto", 201)] {
        let folder = Folder::with_leads(&contacts(4));
        let service = scenario(&format!(
            "[[rule]]\nphone_number = '{}'\nreply = {{ status = {status}, store = true, \
                 body = '{{\"data\":{{\"id\":\"{{id}}\"}}}}', headers = \
                 {{ X-RateLimit-Limit = '2', X-RateLimit-Remaining = '0', \
                 X-RateLimit-Reset = '1' }} }}",
            number(1)
        ));
        folder
            .leadload(&["import", "leads.csv", "--campaign", "101", "--rate", rate])
            .args("--max-duration 10s")
            .at(&service)
            .expect(0);
        assert_eq!(service.stats().lead_requests, 4, "{rate} {status}");
        assert_eq!(folder.column("leads.results.csv", "status"), ["created"; 4]);
        assert_eq!(folder.column("leads.results.csv", "attempts"), ["1"; 4]);
    }
}
