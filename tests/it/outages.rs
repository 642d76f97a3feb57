//! A service that is down for a while, or for longer than the run waits.

use std::thread;

use crate::util::{Folder, contacts, scenario, scenario_at};

#[test]
fn an_outage_costs_no_row_whatever_callers_see_of_it() {
    let during = |style: &str| {
        let folder = Folder::with_leads(&contacts(60));
        let service = scenario(&format!(
            "latency_ms = 2\noutage = {{ after_requests = 20, for_s = 0.9, style = '{style}' }}"
        ));
        let args = ["--max-attempts", "2", "--concurrency", "4", "-vv"];
        let args = [&args[..], &["--log-format", "json"]].concat();
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
        for event in ["outage", "recovered"] {
            let event = format!("\"event\":\"{event}\"");
            assert!(stderr.contains(&event), "{event}: {stderr}");
        }
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
