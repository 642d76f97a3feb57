//! A service that is down for a while, or for longer than the run waits.

use std::collections::BTreeSet;
use std::thread;

use crate::util::{Folder, contacts, replaced, scenario, scenario_at, seen};

#[test]
fn an_outage_costs_no_row_whatever_callers_see_of_it() {
    let during = |style: &str| {
        let folder = Folder::with_leads(&contacts(60));
        let service = scenario(&format!(
            "latency_ms = 2\noutage = {{ after_requests = 20, for_s = 0.9, style = '{style}' }}"
        ));
        let args = ["--max-attempts", "2", "--concurrency", "4", "-vv"];
        let output = folder.import_leads(&service, &args).expect(0);
        // A row that is sent again may exist already. Here none does.
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["created"; 60],
            "{style}"
        );
        assert_eq!(service.leads().len(), 60, "{style}");
        let stats = service.stats();
        let in_vain = stats.faults["outage"];
        assert_eq!(stats.lead_requests, 60 + in_vain, "{style}");
        // The requests that detected the outage, those in flight, and a few later tries.
        assert!((5..=20).contains(&in_vain), "{style}: {in_vain}");
        let stderr = output.stderr;
        let what = match style {
            "close" => "WARN the service cannot be reached (",
            _ => "WARN the service gives no usable answer (",
        };
        assert!(stderr.contains(what), "{stderr}");
        assert!(
            stderr.contains("); trying again until it answers"),
            "{stderr}"
        );
        assert!(
            stderr.contains("WARN the service answers again, after "),
            "{stderr}"
        );
        assert!(!stderr.contains("4479110"), "{stderr}");
        // While the service was down there was one request at a time.
        let at = &stats.arrivals_us;
        let pauses = at.windows(2).filter(|pair| pair[1] - pair[0] >= 490_000);
        assert!(pauses.count() >= 1, "{at:?}");
    };
    thread::scope(|scope| {
        for style in ["close", "502", "503"] {
            scope.spawn(move || during(style));
        }
    });
}

#[test]
fn an_outage_that_lasts_too_long_stops_and_hides_nothing() {
    let during = |style: &str| {
        let folder = Folder::with_leads(&contacts(60));
        let service = scenario(&format!(
            "keep_bodies = true\n\
             outage = {{ after_requests = 20, for_s = 3600, style = '{style}' }}"
        ));
        let args = ["--max-outage", "2s", "--concurrency", "4", "-v"];
        let args = [&args[..], &["--format", "json"]].concat();
        let output = folder.import_leads(&service, &args).expect(3);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "outage", "{style}");
        assert_eq!(summary["complete"], false, "{style}");
        assert!(summary["elapsed_s"].as_f64().unwrap() >= 2.0, "{style}");
        let error = summary["error"].as_str().unwrap();
        assert!(error.contains("run the same command again"), "{error}");
        assert!(error.contains("--max-outage"), "{error}");
        // Rows that were sent in vain may have been taken. The others were not sent.
        let sent: BTreeSet<String> = seen(&service).into_iter().map(|r| r.phone).collect();
        let results = folder.records("leads.results.csv");
        let named: BTreeSet<String> = results.iter().map(|r| r["phone_number"].clone()).collect();
        assert_eq!(named, sent, "{style}");
        assert_eq!(summary["counts"]["created"], 20, "{style}");
        assert_eq!(summary["counts"]["uncertain"], sent.len() - 20, "{style}");
        assert_eq!(summary["counts"]["failed"], 0, "{style}");
        assert!(!output.stderr.contains("4479110"), "{}", output.stderr);

        let service = replaced(service, "");
        folder.import_leads(&service, &args).expect(0);
        assert_eq!(service.leads().len(), 40, "{style}");
        assert_eq!(service.stats().lead_requests, 40, "{style}");
        let results = folder.records("leads.results.csv");
        let is_lost = |row: &&_| {
            let row: &std::collections::BTreeMap<String, String> = row;
            assert_eq!(row["status"], "created");
            row["error_code"] == "answer_lost"
        };
        assert_eq!(results.iter().filter(is_lost).count(), sent.len() - 20);
        assert_eq!(results.len(), 60);
    };
    thread::scope(|scope| {
        for style in ["close", "503"] {
            scope.spawn(move || during(style));
        }
    });
}

#[test]
fn a_service_that_is_not_there_leaves_no_row_in_doubt() {
    let folder = Folder::with_leads(&contacts(30));
    // An address that is bound but not listened on.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = taken.local_addr().unwrap();
    let base_url = format!("http://{address}");
    let args = "--concurrency 8 --max-outage 1s --max-attempts 2 --rate none --format json";
    let import = || {
        folder
            .leadload(&["import", "leads.csv", "--campaign", "101"])
            .args(args)
            .env("LEADLOAD_BASE_URL", &base_url)
            .env("LEADLOAD_TOKEN", "sandbox-token")
    };
    let summary = import().expect(3).json();
    assert_eq!(summary["stopped_by"], "outage");
    assert_eq!(summary["rows"], 0);
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
    assert_eq!(folder.records("leads.results.csv").len(), 0);

    drop(taken);
    let service = scenario_at(address, "");
    let summary = import().expect(0).json();
    assert_eq!(summary["counts"]["created"], 30);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        [""; 30],
        "nothing was lost before"
    );
    assert_eq!(service.stats().lead_requests, 30);
}

#[test]
fn under_hold_what_an_outage_has_swallowed_is_uncertain_and_the_rest_goes_on() {
    let folder = Folder::with_leads(&contacts(60));
    let service = scenario(
        "keep_bodies = true\nlatency_ms = 2\noutage = { after_requests = 20, for_s = 0.4 }",
    );
    let args = [
        "--on-uncertain",
        "hold",
        "--concurrency",
        "4",
        "--format",
        "json",
    ];
    let summary = folder.import_leads(&service, &args).expect(1).json();
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["rows"], 60);
    let in_vain = service.stats().faults["outage"];
    assert_eq!(summary["counts"]["uncertain"], in_vain);
    assert_eq!(summary["counts"]["created"], 60 - in_vain);
    assert_eq!(service.stats().lead_requests, 60, "each was sent once");
    assert!((5..=20).contains(&in_vain), "{in_vain}");
}

#[test]
fn one_row_that_is_never_answered_is_no_outage() {
    let folder = Folder::with_leads(&contacts(40));
    let service = scenario("[[rule]]\nphone_number = '+447911000005'\nreply = { then = 'hang' }");
    let args = [
        "--timeout",
        "200ms",
        "--max-attempts",
        "2",
        "--max-outage",
        "2s",
    ];
    let output = folder
        .import_leads(&service, &[&args[..], &["--concurrency", "2"]].concat())
        .expect(1);
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses.iter().filter(|s| *s == "created").count(), 39);
    assert_eq!(statuses[5], "uncertain");
    assert!(
        !output.stderr.contains("no usable answer"),
        "{}",
        output.stderr
    );
}
