//! Refusals that ask to come back later: 429, and any other that says when.

use std::time::{Duration, SystemTime};

use crate::util::{Folder, contacts, number, scenario};

/// A service that gives this answer to the first attempt of the fourth row.
fn fourth_row_gets(status: u16, headers: &str, body: &str) -> String {
    format!(
        "keep_bodies = true\n[[rule]]\nphone_number = '{}'\nattempts = [1]\n\
         reply = {{ status = {status}, headers = {{ {headers} }}, body = '{body}' }}",
        number(3)
    )
}

#[test]
fn a_wait_of_a_year_is_bounded_by_the_time_that_is_left() {
    let in_a_year = SystemTime::now() + Duration::from_secs(365 * 86_400);
    let date = httpdate::fmt_http_date(in_a_year);
    for text in ["31536000", &date] {
        let folder = Folder::with_leads(&contacts(8));
        let header = format!("Retry-After = '{text}'");
        let service = scenario(&fourth_row_gets(429, &header, "{}"));
        let args = ["--max-duration", "2s", "--concurrency", "1", "-v"];
        let output = folder
            .import_leads(&service, &[&args[..], &["--format", "json"]].concat())
            .expect(4);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "max_duration", "{text}");
        assert_eq!(summary["counts"]["created"], 3, "{text}");
        assert_eq!(summary["rows"], 3, "{text}");
        output.tells("(http_429); all wait 1 h 0 min");
        // The next process waits on.
        let output = folder.import_leads(&service, &args).expect(4);
        output.tells("(http_429)");
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
