//! A token that is replaced in its file during a run.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use leadload::sandbox::Sandbox;
use rusqlite::Connection;

#[cfg(unix)]
use crate::util::signal;
use crate::util::{Folder, Output, contacts, number, scenario, wait_for_requests};

const OLD: &str = "1|old-token-of-yesterday";
const NEW: &str = "2|new-token-of-today";

/// Refuses the token of the fourth row's first request, after a while. The
/// answer to the sixth row repeats both tokens.
fn service() -> Sandbox {
    scenario(&format!(
        "any_token = true\n\
         [[rule]]\nphone_number = '{}'\nattempts = [1]\n\
         reply = {{ status = 401, body = '{{\"message\":\"Unauthenticated.\"}}', delay_ms = 500 }}\n\
         [[rule]]\nphone_number = '{}'\n\
         reply = {{ status = 422, body = '{{\"message\":\"not with {OLD} or {NEW}\"}}' }}",
        number(3),
        number(5)
    ))
}

fn start(folder: &Folder, service: &Sandbox, args: &str) -> Child {
    folder.write("token", OLD);
    let flags = "--token-file token --concurrency 1 -v --format json";
    let import = folder.import_leads(service, &[]).args(flags).args(args);
    let child = import.start();
    wait_for_requests(service, 4);
    child
}

/// Waits until the program has told that it waits for another token.
fn read_until_it_waits(child: &mut Child) {
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let waits = |line: &String| line.contains("no longer accepts");
    assert!(lines.any(|line| waits(&line.unwrap())));
}

#[test]
fn a_row_whose_token_was_replaced_meanwhile_goes_again_and_that_is_no_attempt() {
    let folder = Folder::with_leads(&contacts(8));
    let service = service();
    let child = start(&folder, &service, "--yes");
    folder.write("token", format!("{NEW}\n"));
    let output = Output::of(child);
    assert_eq!(output.code, 1, "{}", output.stderr);
    output.tells("access token");
    let summary = output.json();
    assert_eq!(summary["counts"]["created"], 7);
    assert_eq!(summary["requests"], 9);
    assert_eq!(folder.column("leads.results.csv", "attempts"), ["1"; 8]);
    // The ledger knows that there were several.
    let ledger = Connection::open(folder.ledger()).unwrap();
    let token = "SELECT token FROM runs";
    let token: String = ledger.query_row(token, [], |row| row.get(0)).unwrap();
    assert_eq!(token, "-");
    let results = folder.read("leads.results.csv");
    assert!(results.contains("not with [token] or [token]"), "{results}");
    for secret in ["old-token-of-yesterday", "new-token-of-today"] {
        for text in [&results, &output.stdout, &output.stderr] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

/// The same, with an account of its own for each token: they have leads with the same ids.
fn service_of_accounts() -> Sandbox {
    scenario(&format!(
        "any_token = true\naccounts_by_token = true\n\
         [[rule]]\nphone_number = '{}'\nattempts = [1]\n\
         reply = {{ status = 401, body = '{{\"message\":\"Unauthenticated.\"}}', delay_ms = 500 }}\n",
        number(3),
    ))
}

#[test]
fn leads_made_with_two_tokens_are_each_removed_with_their_own_alone() {
    let folder = Folder::with_leads(&contacts(8));
    let service = service_of_accounts();
    let child = start(&folder, &service, "--max-outage 1s");
    folder.write("token", format!("{NEW}\n"));
    // The new account refuses it once too.
    assert_eq!(Output::of(child).code, 3);
    let rest = folder.import_leads(&service, &["--token-file", "token"]);
    rest.expect(0);
    assert_eq!(folder.column("leads.results.csv", "status"), ["created"; 8]);
    let undo = |token| {
        let args = ["runs", "undo", "1", "--yes", "--rate", "none"];
        let run = folder.leadload(&args).at(&service);
        run.env("LEADLOAD_TOKEN", token)
    };
    undo("3|of-somebody-else").expect(2);
    assert_eq!(service.stats().delete_requests, 0);
    undo(OLD).expect(1);
    let statuses = folder.column("leads.undo.csv", "status");
    assert_eq!(statuses[..3], ["undone"; 3]);
    assert_eq!(statuses[3..], ["unknown"; 5]);
    undo(NEW).expect(0);
    assert_eq!(folder.column("leads.undo.csv", "status"), ["undone"; 8]);
    assert_eq!(service.leads().len(), 0);
}

#[test]
fn a_token_that_was_refused_before_any_lead_was_made_does_not_count() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario(&format!(
        "any_token = true\nlist_delay_ms = 600000\n[[rule]]\nphone_number = '{}'\n\
         attempts = [1]\nreply = {{ status = 401 }}\n",
        number(0)
    ));
    let flags = ["--concurrency", "1"];
    let refused = folder.import_leads(&service, &flags);
    refused.env("LEADLOAD_TOKEN", OLD).expect(3);
    let sent = folder.import_leads(&service, &flags);
    sent.env("LEADLOAD_TOKEN", NEW).expect(0);
    // The list shows nothing yet.
    let undo = ["runs", "undo", "1", "--yes", "--rate", "none"];
    let undo = |token| {
        folder
            .leadload(&undo)
            .at(&service)
            .env("LEADLOAD_TOKEN", token)
    };
    undo(OLD).expect(2);
    undo(NEW).expect(0);
    assert_eq!(service.leads().len(), 0);
}

#[test]
fn a_token_that_is_replaced_only_after_it_was_refused_is_used() {
    let run = |at_first: Option<&str>| {
        let folder = Folder::with_leads(&contacts(8));
        let service = service();
        let mut child = start(&folder, &service, "--yes");
        if let Some(text) = at_first {
            folder.write("token", text);
        }
        read_until_it_waits(&mut child);
        assert_eq!(service.stats().lead_requests, 4);
        folder.write("token", NEW);
        let output = Output::of(child);
        assert_eq!(output.code, 1, "{}", output.stderr);
        assert_eq!(output.json()["requests"], 9);
        assert_eq!(folder.column("leads.results.csv", "attempts"), ["1"; 8]);
    };
    thread::scope(|scope| {
        for at_first in [None, Some("\n"), Some("two words")] {
            scope.spawn(move || run(at_first));
        }
    });
}

#[test]
fn a_token_that_is_still_the_same_stops_the_run_after_a_while() {
    let folder = Folder::with_leads(&contacts(8));
    let service = service();
    let output = Output::of(start(&folder, &service, "--max-outage 1s"));
    assert_eq!(output.code, 3, "{}", output.stderr);
    assert_eq!(output.json()["stopped_by"], "token");
    assert_eq!(service.stats().lead_requests, 4);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_another_token() {
    let folder = Folder::with_leads(&contacts(8));
    let service = service();
    let mut child = start(&folder, &service, "--yes");
    read_until_it_waits(&mut child);
    signal(&child, "-TERM");
    let output = Output::of(child);
    assert_eq!(output.code, 4, "{}", output.stderr);
    assert_eq!(service.stats().lead_requests, 4);
}

#[test]
fn a_token_that_was_never_accepted_or_is_in_no_file_stops_the_run_at_once() {
    for (row, from_file) in [(0, true), (3, false)] {
        let folder = Folder::with_leads(&contacts(8));
        folder.write("token", OLD);
        let service = scenario(&format!(
            "any_token = true\n[[rule]]\nphone_number = '{}'\nreply = {{ status = 401 }}",
            number(row)
        ));
        let import = folder.import_leads(&service, &["--concurrency", "1"]);
        let import = match from_file {
            true => import.args("--token-file token"),
            false => import.env("LEADLOAD_TOKEN", OLD),
        };
        let began = Instant::now();
        import.expect(3);
        assert!(began.elapsed() < Duration::from_secs(60));
        assert_eq!(service.stats().lead_requests, row as u64 + 1);
    }
}
