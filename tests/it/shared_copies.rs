//! `leadload runs copy` between a file and a server.

use std::collections::BTreeMap;

use crate::cluster::Cluster;
use crate::shared_ledger::{TAKES_ALL, import, rows, with_ledger};
use crate::util::{Folder, Output, scenario, wait_for_requests};

/// A service that takes some, refuses some, and loses some answers.
const MIXED: &str = "seed = 4\nretry_after_s = 0\nkeep_bodies = true\n[faults]\ndrop_after = 0.1\n
    [[rule]]\nphone_number = \"+447911000005\"\n
    reply = { status = 422, body = '{\"message\":\"no\\u0000 such person\"}' }";

/// What `runs list` and an export say, without what differs between ledgers.
fn known(folder: &Folder, ledger: &str) -> (serde_json::Value, Vec<BTreeMap<String, String>>) {
    let at = |args: &[&str]| {
        folder
            .leadload(args)
            .env("LEADLOAD_LEDGER", ledger)
            .expect(0)
    };
    let mut runs = at(&["runs", "--format", "json"]).json();
    for run in runs["runs"].as_array_mut().unwrap() {
        // Whole seconds are kept in a file.
        for time in ["began_at", "completed_at", "starts"] {
            run[time].take();
        }
    }
    at(&["runs", "export", "--results", "known.csv"]);
    (runs, folder.records("known.csv"))
}

#[test]
fn a_ledger_moves_to_a_server_and_back_with_all_that_it_knows() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&(rows(0, 60) + "12,Bob\n"));
    let service = scenario(MIXED);
    folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    // The number of a run that is forgotten is never given again.
    folder.leadload(&["runs", "forget", "2", "--yes"]).expect(0);
    let file = folder.ledger().to_str().unwrap().to_owned();
    let url = database.url();
    let said = folder
        .leadload(&["runs", "copy", "--from", &file, "--to", &url])
        .expect(0);
    said.shows("1 run and 60 rows to postgresql://ada@127.0.0.1");
    assert_eq!(known(&folder, &file), known(&folder, &url));

    let sent = service.stats().lead_requests;
    let again = folder.import_leads(&service, &["--on-uncertain", "hold", "--format", "json"]);
    let again = with_ledger(again, &database).expect(1).json();
    assert_eq!(again["run"], 3, "{again}");
    let uncertain = again["counts"]["uncertain"].as_u64().unwrap();
    let settled = again["counts"]["already_imported"].as_u64().unwrap();
    assert_eq!((uncertain + settled, uncertain > 0), (59, true), "{again}");
    assert_eq!(
        service.stats().lead_requests,
        sent + 1,
        "but for the one that is refused"
    );

    let back = folder
        .leadload(&[
            "runs",
            "copy",
            "--from",
            &url,
            "--to",
            "back.sqlite3",
            "--format",
            "json",
        ])
        .expect(0)
        .json();
    assert_eq!(back["runs"], 2, "{back}");
    assert_eq!(known(&folder, "back.sqlite3"), known(&folder, &url));
    folder
        .import_leads(&service, &["--ledger", "back.sqlite3"])
        .expect(1);
    let leads = service.leads();
    let mut numbers: Vec<&String> = leads.iter().map(|lead| &lead.phone_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), leads.len(), "no lead is made twice");
    assert_eq!(
        folder
            .names()
            .iter()
            .filter(|name| name.starts_with('.'))
            .count(),
        0
    );
}

#[test]
fn a_server_s_ledger_in_use_is_backed_up_but_not_moved() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 100));
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 100"));
    let child = import(&folder, &service, &database, &["--concurrency", "2"]).start();
    wait_for_requests(&service, 10);
    let url = database.url();
    let backup = folder.leadload(&["runs", "copy", "--to", "backup.sqlite3"]);
    with_ledger(backup, &database).expect(0);
    let moved = folder.leadload(&["runs", "copy", "--from", &url, "--to", "moved.sqlite3"]);
    moved.expect(6).tells("run 1");
    assert_eq!(Output::of(child).code, 0);
    let args = [
        "runs",
        "export",
        "--results",
        "backup.csv",
        "--ledger",
        "backup.sqlite3",
    ];
    folder.leadload(&args).expect(0);
    let statuses = folder.column("backup.csv", "status");
    assert!(
        statuses.iter().any(|status| status == "created"),
        "{statuses:?}"
    );
    assert!(
        statuses.iter().any(|status| status == "uncertain"),
        "{statuses:?}"
    );
}

#[test]
fn a_ledger_moves_from_one_server_to_another() {
    let (Some(from), Some(to)) = (Cluster::database(), Cluster::database()) else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 30));
    let service = scenario("");
    import(&folder, &service, &from, &[]).expect(0);
    let (old, new) = (from.url(), to.url());
    folder
        .leadload(&["runs", "copy", "--from", &old, "--to", &new])
        .expect(0)
        .shows("1 run and 30 rows");
    assert_eq!(known(&folder, &old), known(&folder, &new));
    import(&folder, &service, &to, &[]).expect(0);
    let statuses = folder.column("leads.results.csv", "status");
    assert!(statuses.iter().all(|status| status == "already_imported"));
}

#[test]
fn nothing_is_copied_into_a_ledger_that_is_in_use() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    folder.import_leads(&service, &[]).expect(0);
    import(&folder, &service, &database, &["--new-ledger"]).expect(0);
    let refused = folder
        .leadload(&["runs", "copy", "--to", &database.url()])
        .expect(2);
    refused.tells("in use");
    let listed = with_ledger(folder.leadload(&["runs", "--format", "json"]), &database);
    assert_eq!(listed.expect(0).json()["runs"].as_array().unwrap().len(), 1);
}
