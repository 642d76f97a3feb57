//! Several processes keep one pace.

use std::process::Child;
use std::time::Duration;

use leadload::sandbox::{Sandbox, Stats};

use crate::cluster::{Cluster, Database};
use crate::shared_ledger::{rows, with_ledger};
use crate::util::{Folder, Output, scenario, wait_for_requests};

/// Starts an import of its own list at a rate.
fn start(folder: &Folder, service: &Sandbox, database: &Database, rate: &str) -> Child {
    let args = ["import", "leads.csv", "--campaign", "101", "--rate", rate];
    with_ledger(folder.leadload(&args).at(service), database).start()
}

fn end(child: Child) {
    let output = Output::of(child);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

/// Starts are exact to some milliseconds. On a busy machine requests may arrive a tenth of a second
/// late, and those after them on time.
fn assert_at_most(most: usize, stats: &Stats) {
    let shorter = Duration::from_millis(900);
    let found = stats.max_in_window(shorter);
    assert!(found <= most, "{found} in {shorter:?}");
}

#[test]
fn three_senders_together_keep_the_rate_and_use_it() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("");
    let folders = [0, 1, 2].map(|n| Folder::with_leads(&rows(n * 100, n * 100 + 80)));
    let children: Vec<Child> = folders
        .iter()
        .map(|folder| start(folder, &service, &database, "40/s"))
        .collect();
    children.into_iter().for_each(end);
    let stats = service.stats();
    assert_eq!(stats.lead_requests, 240);
    assert_at_most(40, &stats);
    // On a busy machine some starts are late.
    let arrivals = &stats.arrivals_us;
    let seconds = (arrivals[239] - arrivals[0]) as f64 / 1e6;
    assert!(seconds < 2.0 * 239.0 / 40.0, "{seconds}");
}

#[test]
fn runs_that_wait_for_each_others_rows_reserve_no_start_that_they_do_not_use() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("latency_ms = 50");
    let lists = [rows(0, 150), rows(0, 151)].map(|rows| Folder::with_leads(&rows));
    let runs = lists
        .each_ref()
        .map(|folder| start(folder, &service, &database, "40/s"));
    runs.into_iter().for_each(end);
    assert_eq!(service.stats().lead_requests, 151);
    let ahead = "SELECT next_start < clock_timestamp() + interval '1 second' FROM leadload.pace";
    assert_eq!(database.sql(ahead), ["t"]);
}

#[test]
fn the_strictest_rate_of_the_runs_under_way_counts_from_when_it_comes_until_it_goes() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("");
    let fast = Folder::with_leads(&rows(0, 400));
    let strict = Folder::with_leads(&rows(1000, 1030));
    let first = start(&fast, &service, &database, "60/s");
    wait_for_requests(&service, 60);
    let second = start(&strict, &service, &database, "10/s");
    end(second);
    end(first);
    let stats = service.stats();
    assert_eq!(stats.lead_requests, 430);
    assert_at_most(60, &stats);
    // While the strict one sent its 30 leads, both together kept to 10 a second.
    let arrivals = &stats.arrivals_us;
    let slow = arrivals
        .windows(11)
        .filter(|span| span[10] - span[0] > 950_000);
    assert!(slow.count() >= 30, "{arrivals:?}");
}

#[test]
fn a_limit_counts_what_another_run_without_one_has_started() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("latency_ms = 5");
    let free = Folder::with_leads(&rows(0, 300));
    end(start(&free, &service, &database, "none"));
    let limited = Folder::with_leads(&rows(1000, 1010));
    end(start(&limited, &service, &database, "20/3s"));
    let arrivals = service.stats().arrivals_us;
    let last_free = arrivals[299];
    let waited = arrivals[300] - last_free;
    assert!(waited >= 2_950_000, "{waited}");
}

#[test]
fn a_wait_that_the_service_asks_one_for_is_kept_by_all() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(
        "latency_ms = 20\nkeep_bodies = true\n
        [[rule]]\nphone_number = \"+447911000050\"\nattempts = [1]\n
        reply = { status = 429, headers = { Retry-After = \"3\" }, body = '{}' }",
    );
    let folders = [
        Folder::with_leads(&rows(0, 200)),
        Folder::with_leads(&rows(1000, 1200)),
    ];
    let children: Vec<Child> = folders
        .iter()
        .map(|folder| start(folder, &service, &database, "none"))
        .collect();
    children.into_iter().for_each(end);
    let arrivals = service.stats().arrivals_us;
    assert_eq!(arrivals.len(), 401);
    let pauses = arrivals.windows(2).map(|pair| pair[1] - pair[0]);
    let longest = pauses.max().unwrap();
    assert!(longest >= 1_900_000, "all waited: {longest}");
}

#[test]
fn a_wait_that_was_noted_while_the_servers_clock_was_years_ahead_holds_nobody_back() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("");
    let import = |from| {
        let folder = Folder::with_leads(&rows(from, from + 2));
        end(start(&folder, &service, &database, "none"));
    };
    import(0);
    database.sql(
        "UPDATE leadload.pace SET pause_asked_at = now() + interval '3 years',
            pause_until = now() + interval '3 years 20 seconds', pause_http_status = 429",
    );
    import(10);
    assert_eq!(service.stats().lead_requests, 4);
}

#[test]
fn a_test_lead_takes_its_turn_too() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("");
    let folder = Folder::with_leads(&rows(0, 40));
    let child = start(&folder, &service, &database, "10/s");
    wait_for_requests(&service, 5);
    let args = ["import", "leads.csv", "--campaign", "101", "--rate", "10/s"];
    let test = folder.leadload(&[&args[..], &["--test-to", "+447911999999", "--yes"]].concat());
    with_ledger(test.at(&service), &database).expect(0);
    end(child);
    let stats = service.stats();
    assert_eq!(stats.lead_requests, 41);
    assert_at_most(10, &stats);
}
