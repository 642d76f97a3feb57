//! A token that is replaced in its file during a run.

use std::process::Child;

use leadload::sandbox::Sandbox;

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

fn start(folder: &Folder, service: &Sandbox) -> Child {
    folder.write("token", OLD);
    let flags = [
        "--token-file",
        "token",
        "--concurrency",
        "1",
        "-v",
        "--format",
        "json",
    ];
    let child = folder.import_leads(service, &flags).start();
    wait_for_requests(service, 4);
    child
}

#[test]
fn a_row_whose_token_was_replaced_meanwhile_goes_again_and_that_is_no_attempt() {
    let folder = Folder::with_leads(&contacts(8));
    let service = service();
    let child = start(&folder, &service);
    folder.write("token", format!("{NEW}\n"));
    let output = Output::of(child);
    assert_eq!(output.code, 1, "{}", output.stderr);
    output.tells("the service refused the access token; its file has another one");
    let summary = output.json();
    assert_eq!(summary["counts"]["created"], 7);
    assert_eq!(summary["requests"], 9);
    assert_eq!(folder.column("leads.results.csv", "attempts"), ["1"; 8]);
    let results = folder.read("leads.results.csv");
    assert!(results.contains("not with [token] or [token]"), "{results}");
    for secret in ["old-token-of-yesterday", "new-token-of-today"] {
        for text in [&results, &output.stdout, &output.stderr] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn a_token_that_is_still_the_same_or_cannot_be_read_any_more_stops_the_run() {
    for changed in [None, Some("\n"), Some("two words")] {
        let folder = Folder::with_leads(&contacts(8));
        let service = service();
        let child = start(&folder, &service);
        if let Some(text) = changed {
            folder.write("token", text);
        }
        let output = Output::of(child);
        assert_eq!(output.code, 3, "{}", output.stderr);
        assert_eq!(output.json()["stopped_by"], "token");
        assert_eq!(service.stats().lead_requests, 4);
    }
}
