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
    assert!(
        stderr.contains("INFO sending up to about 100/min"),
        "{stderr}"
    );
    let paces = stderr.matches("INFO sending up to ").count();
    assert!(paces >= 2, "{stderr}");
}

#[test]
fn without_a_word_from_the_service_a_hundred_a_minute_are_sent() {
    let folder = Folder::with_leads(&contacts(4));
    let service = scenario("");
    auto(&folder, &service, "leads.csv").expect(0);
    let spaces = spaces(&service);
    assert!(spaces.iter().all(|ms| *ms >= NEARLY_600_MS), "{spaces:?}");
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
    output.tells("INFO sending up to 20/s");
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

#[test]
fn auto_begins_with_one_and_finds_out_how_many_the_service_carries() {
    let folder = Folder::with_leads(&contacts(80));
    let service = scenario("latency_ms = 100");
    folder.import_leads(&service, &[]).expect(0);
    let stats = service.stats();
    let at = &stats.arrivals_us;
    // One, and one again until its answer has been judged.
    assert!(at[1] - at[0] >= 100_000, "{at:?}");
    assert!(at[2] - at[1] >= 100_000, "{at:?}");
    assert!(
        (4..=64).contains(&stats.peak_in_flight),
        "{}",
        stats.peak_in_flight
    );
    assert_eq!(stats.lead_requests, 80);
}

#[test]
fn under_hold_as_many_as_said_are_in_flight_and_each_row_is_sent_once() {
    let folder = Folder::with_leads(&contacts(100));
    let service =
        scenario("seed = 3\nlatency_ms = 30\n[faults]\ndrop_before = 0.05\ndrop_after = 0.05");
    let args = ["--on-uncertain", "hold", "--concurrency", "8"];
    folder.import_leads(&service, &args).expect(1);
    let stats = service.stats();
    assert_eq!(stats.lead_requests, 100);
    assert_eq!(stats.peak_in_flight, 8);
    let lost: u64 = stats.faults.values().sum();
    assert!(lost > 0);
    let statuses = folder.column("leads.results.csv", "status");
    let uncertain = statuses.iter().filter(|status| *status == "uncertain");
    assert_eq!(uncertain.count() as u64, lost);
    assert_eq!(statuses.len(), 100);
}

#[test]
fn a_limit_that_is_not_stated_is_not_run_into_at_full_speed() {
    let during = |concurrency: &str| {
        let folder = Folder::with_leads(&contacts(350));
        let service = scenario("latency_ms = 20\n[[rate_limit]]\nrequests = 100\nper_s = 1");
        let args = ["--concurrency", concurrency, "--max-attempts", "1"];
        folder.import_leads(&service, &args).expect(0);
        let stats = service.stats();
        let refused = stats.refused.get(&429).copied().unwrap_or(0);
        assert_eq!(stats.lead_requests, 350 + refused, "{concurrency}");
        // A few refusals are how the limit is detected. A loaded machine sends in bursts.
        assert!(refused <= 70, "{concurrency}: {refused}");
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["created"; 350],
            "{concurrency}"
        );
    };
    std::thread::scope(|scope| {
        for concurrency in ["auto", "16"] {
            scope.spawn(move || during(concurrency));
        }
    });
}
