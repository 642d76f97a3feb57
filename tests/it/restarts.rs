//! What must hold from one process to the next, because the service counts all of them.

use std::thread;
use std::time::Duration;

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Run, contacts, kill, scenario, service, wait_for_requests};

const TEST: [&str; 2] = ["--test-to", "+447911999999"];

fn import(folder: &Folder, service: &Sandbox, rate: &str, more: &[&str]) -> Run {
    let line = ["import", "leads.csv", "--campaign", "101", "--rate", rate];
    folder.leadload(&[&line, more].concat()).at(service)
}

#[test]
fn a_rate_holds_over_the_requests_of_processes_that_were_killed() {
    let folder = Folder::with_leads(&contacts(40));
    let service = service();
    for requests in [3, 6, 9, 12] {
        let child = import(&folder, &service, "6/2s", &[]).start();
        wait_for_requests(&service, requests);
        kill(child);
    }
    let most = service.stats().max_in_window(Duration::from_millis(1_950));
    assert!(most <= 6, "{most} in two seconds");
}

#[test]
fn test_leads_keep_to_the_pace_of_the_runs_before_them_and_count_for_those_after() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    // `--test-to` does not create a ledger, so a normal run comes first.
    import(&folder, &service, "1/2s", &["--limit", "1"]).expect(0);
    import(&folder, &service, "1/2s", &TEST).expect(0);
    import(&folder, &service, "1/2s", &TEST).expect(0);
    import(&folder, &service, "1/2s", &[]).expect(0);
    let at = service.stats().arrivals_us;
    assert_eq!(at.len(), 4);
    for (one, next) in at.iter().zip(&at[1..]) {
        assert!(next - one >= 1_950_000, "{at:?}");
    }
}

#[test]
fn a_wait_that_was_asked_for_holds_back_a_test_lead_too_and_one_asked_of_it_holds_back_a_run() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(
        "[[rule]]\nphone_number = '+447911999999'\nattempts = [1, 2]\n\
         reply = { status = 429, headers = { retry-after = '3' } }",
    );
    import(&folder, &service, "none", &["--limit", "1"]).expect(0);
    import(&folder, &service, "none", &TEST).expect(3);
    let hasty = [&TEST[..], &["--max-outage", "1s"]].concat();
    let refused = import(&folder, &service, "none", &hasty).expect(3);
    refused.tells("which is later than `--max-outage` allows");
    let output = import(&folder, &service, "none", &TEST).expect(3);
    output.tells(" s: the service asked for it (HTTP 429)");
    import(&folder, &service, "none", &[]).expect(0);
    let at = service.stats().arrivals_us;
    assert_eq!(at.len(), 4);
    for (one, next) in at[1..].iter().zip(&at[2..]) {
        assert!(next - one >= 2_900_000, "{at:?}");
    }
}

#[test]
fn a_wait_that_the_service_has_asked_for_outlives_the_process() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario(
        "[[rule]]\nattempts = [1]\nphone_number = '+447911000000'\n\
         reply = { status = 429, headers = { retry-after = '3' } }",
    );
    let child = import(&folder, &service, "none", &[]).start();
    wait_for_requests(&service, 1);
    // The wait is written to the ledger within some hundredths of a second.
    thread::sleep(Duration::from_millis(500));
    kill(child);
    let output = import(&folder, &service, "none", &["-v"]).expect(0);
    output.tells("the service refuses for now");
    let at = service.stats().arrivals_us;
    assert_eq!(at.len(), 4);
    assert!(at[1] - at[0] >= 2_900_000, "{at:?}");
}

#[test]
fn a_start_that_waits_for_the_pace_of_the_one_before_says_so_and_for_how_long() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    import(&folder, &service, "1/h", &["--limit", "1"]).expect(0);
    let hasty = ["--max-outage", "1s", "--max-duration", "2s"];
    let output = import(&folder, &service, "1/h", &hasty).expect(4);
    output.tells("WARN the rate is used up by what was sent before, going on in 61 min");
    assert_eq!(service.stats().lead_requests, 1);
}

#[test]
fn what_was_noted_while_the_clock_was_years_ahead_holds_no_later_start_back() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(
        "[[rule]]\nphone_number = '+447911000001'\nattempts = [1]\n\
         reply = { status = 429, headers = { retry-after = '20' } }",
    );
    let hasty = ["--max-outage", "1s", "--max-duration", "20s"];
    import(&folder, &service, "none", &hasty).expect(3);
    let ahead = 3 * 365 * 24 * 3600;
    let noted = format!(
        "UPDATE services SET pause_asked_at_ms = pause_asked_at_ms + {ahead}000,
            pause_until_ms = pause_until_ms + {ahead}000;
         UPDATE recent_starts SET second = second + {ahead};"
    );
    let ledger = rusqlite::Connection::open(folder.ledger()).unwrap();
    ledger.execute_batch(&noted).unwrap();
    drop(ledger);
    import(&folder, &service, "1/day", &hasty).expect(0);
    assert_eq!(service.stats().lead_requests, 3);
}
