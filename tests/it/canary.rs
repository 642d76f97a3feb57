//! The first row is sent alone: no other row is risked before an answer is understood.

use crate::util::{Folder, contacts, contacts_of, number, scenario, seen};

#[test]
fn nothing_is_sent_before_the_first_answer_however_many_may_be_in_flight() {
    let folder = Folder::with_leads(&contacts(40));
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ delay_ms = 400, then = 'usual' }}",
        number(0)
    ));
    folder
        .import_leads(&service, &["--concurrency", "16"])
        .expect(0);
    let at = service.stats().arrivals_us;
    assert!(at[1] - at[0] >= 400_000, "{at:?}");
}

#[test]
fn each_campaign_has_a_first_row_of_its_own_while_the_others_flow() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 80));
    let service = scenario(&format!(
        "keep_bodies = true\nlatency_ms = 5\n\
         [[rule]]\nphone_number = '{}'\nreply = {{ delay_ms = 1000, then = 'usual' }}",
        number(1)
    ));
    let args = [
        "leads.csv",
        "--campaign-column",
        "list",
        "--concurrency",
        "4",
    ];
    folder.import(&service, &args).expect(0);
    let requests = seen(&service);
    let of = |campaign| requests.iter().filter(move |r| r.campaign == campaign);
    let second: Vec<u64> = of(102).map(|r| r.at_us).collect();
    assert!(second[1] - second[0] >= 1_000_000, "{second:?}");
    let meanwhile = of(101).filter(|r| (second[0]..second[1]).contains(&r.at_us));
    assert!(meanwhile.count() >= 10);
    assert_eq!(requests.len(), 80);
}

#[test]
fn ten_answers_that_cannot_be_read_stop_and_every_row_may_have_been_taken() {
    for uncertain in ["hold", "resend"] {
        let folder = Folder::with_leads(&contacts(40));
        let service = scenario("[faults]\nunreadable = 1.0");
        let args = ["--on-uncertain", uncertain, "--concurrency", "16"];
        let output = folder
            .import_leads(&service, &[&args[..], &["--format", "json"]].concat())
            .expect(3);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "unreadable", "{uncertain}");
        assert_eq!(service.stats().lead_requests, 10, "{uncertain}");
        assert_eq!(service.stats().peak_in_flight, 1, "{uncertain}");
        output.tells("something other than the service may be answering: check `--base-url`");
        // The last row too.
        assert_eq!(summary["counts"]["uncertain"], 10, "{uncertain}");
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["uncertain"; 10]
        );
        assert_eq!(
            folder.column("leads.results.csv", "error_code"),
            ["unreadable_answer"; 10]
        );
    }
}

#[test]
fn what_may_have_been_taken_stays_uncertain_under_hold_until_resend_is_said() {
    let folder = Folder::with_leads(&contacts(12));
    let service = scenario(
        "[[rule]]\nattempts = [1]\nreply = { store = true, status = 200, body = '<html>' }",
    );
    let hold = ["--on-uncertain", "hold"];
    folder.import_leads(&service, &hold).expect(3);
    assert_eq!(service.stats().lead_requests, 10);
    folder.import_leads(&service, &hold).expect(1);
    assert_eq!(service.stats().lead_requests, 12, "none of the ten again");
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["uncertain"; 12]
    );
    folder
        .import_leads(&service, &["--on-uncertain", "resend"])
        .expect(0);
    assert_eq!(service.leads().len(), 12);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["answer_lost"; 12]
    );
}

#[test]
fn a_first_row_that_is_asked_to_come_back_later_goes_first_again() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario(&format!(
        "keep_bodies = true\n[[rule]]\nphone_number = '{}'\nattempts = [1]\n\
         reply = {{ status = 429, headers = {{ Retry-After = '1' }}, body = '{{}}' }}",
        number(0)
    ));
    folder
        .import_leads(&service, &["--concurrency", "16"])
        .expect(0);
    let requests = seen(&service);
    let numbers: Vec<&str> = requests.iter().map(|r| r.phone.as_str()).collect();
    assert_eq!(numbers[..2], [number(0), number(0)]);
    assert!(requests[1].at_us - requests[0].at_us >= 1_000_000);
    assert_eq!(requests.len(), 21);
    assert_eq!(folder.column("leads.results.csv", "attempts")[0], "2");
}
