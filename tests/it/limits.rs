//! The rate and the concurrency: given by the user, stated by the service, or detected.

use crate::util::{Folder, Run, contacts, number, replaced, scenario};
use leadload::sandbox::Sandbox;

/// Sends a list with an automatic rate.
fn auto(folder: &Folder, service: &Sandbox, list: &str) -> Run {
    let args = ["import", list, "--campaign", "101", "-v"];
    folder.leadload(&args).at(service)
}

/// The milliseconds between one request and the next.
fn spaces(service: &Sandbox) -> Vec<u64> {
    let arrivals = service.stats().arrivals_us;
    let pairs = arrivals.windows(2);
    pairs.map(|pair| (pair[1] - pair[0]) / 1000).collect()
}

/// Like [`contacts`], with other people.
fn others(count: usize) -> String {
    contacts(count).replace("+4479110", "+4479115")
}

const STATED: &str = "rate_limit_headers = true\n[[rate_limit]]\nrequests = 40\nper_s = 1";

/// At 100 a minute there are 600 ms between one request and the next, but a
/// request may arrive late.
const NEARLY_600_MS: u64 = 400;

#[test]
fn a_limit_that_answers_state_is_taken_up_and_kept_to() {
    let folder = Folder::with_leads(&contacts(80));
    let service = scenario(STATED);
    let output = auto(&folder, &service, "leads.csv").expect(0);
    let stats = service.stats();
    // Requests that were in flight when a busy machine delayed one of them.
    let refused = stats.refused.get(&429).copied().unwrap_or(0);
    assert!(refused <= 2, "{refused}");
    assert_eq!(stats.created, 80);
    // 79 gaps of 25 ms; at 100 a minute it would be 47 seconds.
    let took: u64 = spaces(&service).iter().sum();
    assert!((900..20_000).contains(&took), "{took}");
    let stderr = output.stderr;
    assert!(stderr.contains("100/min"), "{stderr}");
    let paces = stderr.matches("INFO sending").count();
    assert!(paces >= 2, "{stderr}");
}

#[test]
fn the_next_run_begins_with_what_was_learned_unless_there_is_no_ledger() {
    for ledger in ["kept.sqlite3", "none"] {
        let folder = Folder::with_leads(&contacts(20));
        folder.write("others.csv", others(3));
        let service = scenario(STATED);
        let import =
            |list, service: &Sandbox| auto(&folder, service, list).env("LEADLOAD_LEDGER", ledger);
        import("leads.csv", &service).expect(0);
        // A client that remembers the limit needs no header.
        let service = replaced(service, "");
        import("others.csv", &service).expect(0);
        let spaces = spaces(&service);
        match ledger {
            "none" => assert!(spaces.iter().all(|ms| *ms >= NEARLY_600_MS), "{spaces:?}"),
            _ => assert!(spaces.iter().all(|ms| *ms < NEARLY_600_MS), "{spaces:?}"),
        }
    }
}

#[test]
fn what_was_said_is_kept_to_whatever_answers_state() {
    let folder = Folder::with_leads(&contacts(25));
    let service = scenario(STATED);
    let args = ["leads.csv", "--campaign", "101", "-v"];
    let output = folder
        .leadload(&[&["import", "--rate", "20/s"], &args[..]].concat())
        .at(&service)
        .expect(0);
    let took: u64 = spaces(&service).iter().sum();
    // 24 gaps of 50 ms; at 40 a second it would take half of that.
    assert!(took >= 1000, "{took}");
    assert!(!output.stderr.contains("40/s"), "{}", output.stderr);
    output.tells("20/s");
}

#[test]
fn as_many_as_said_are_in_flight_right_after_the_first_answer() {
    let folder = Folder::with_leads(&contacts(13));
    let service = scenario("latency_ms = 600");
    folder
        .import_leads(&service, &["--concurrency", "12"])
        .expect(0);
    let stats = service.stats();
    // First one alone, then all others at once.
    assert_eq!(stats.peak_in_flight, 12);
    let at = &stats.arrivals_us;
    assert!(at[1] - at[0] >= 600_000, "{at:?}");
}

#[test]
fn of_rows_of_a_megabyte_only_a_few_are_in_flight() {
    let long = "a".repeat(900_000);
    let rows = (0..10).map(|row| format!("{},{long}\n", number(row)));
    let folder = Folder::with_leads(&format!("phone,note\n{}", rows.collect::<String>()));
    let service = scenario("latency_ms = 300");
    folder
        .import_leads(&service, &["--concurrency", "10"])
        .expect(0);
    let stats = service.stats();
    assert_eq!(stats.created, 10);
    // The fourth one fills the three megabytes for all.
    let peak = stats.peak_in_flight;
    assert!((2..=4).contains(&peak), "{peak}");
}
