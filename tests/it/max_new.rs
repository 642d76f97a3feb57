//! `--max-new`: if there are more new leads than expected, none is sent.

use crate::util::{Folder, contacts, contacts_of, replaced, scenario, service};

#[test]
fn more_than_are_allowed_are_not_sent_and_as_many_are() {
    let (folder, service) = (Folder::with_leads(&contacts(5)), service());
    for most in ["0", "4"] {
        let output = folder
            .import_leads(&service, &["--max-new", most])
            .expect(2);
        output.tells("5 leads");
        output.tells(&format!(" {most}, "));
        output.tells("`--max-new 5`");
        assert_eq!(output.stdout, "");
        assert_eq!(folder.names(), ["leads.csv"]);
    }
    assert_eq!(service.stats().lead_requests, 0);
    let runs = folder.leadload(&["runs", "--format", "json"]).expect(0);
    assert_eq!(runs.stdout, "{\"runs\":[]}\n");
    let output = folder.import_leads(&service, &["--max-new", "5"]).expect(0);
    let shown = "ready                    5 ";
    output.tells(shown);
    assert_eq!(service.leads().len(), 5);
    // Now none of the leads is new.
    let quiet = ["--max-new", "0", "-q"];
    let output = folder.import_leads(&service, &quiet).expect(0);
    assert_eq!(output.stderr, "");
    assert_eq!(service.stats().lead_requests, 5);
}

#[test]
fn json_reports_it() {
    let (folder, service) = (Folder::with_leads(&contacts(5)), service());
    let args = ["--max-new", "4", "--format", "json", "-q"];
    let output = folder.import_leads(&service, &args).expect(2);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "usage");
    assert_eq!(summary["requests"], 0);
    let error = summary["error"].as_str().unwrap();
    assert!(error.contains("5 leads"), "{error}");
}

#[test]
fn of_a_run_that_goes_on_what_is_left_is_counted() {
    let folder = Folder::with_leads(&contacts(5));
    let first = scenario("token_revoked_after = 2");
    folder
        .import_leads(&first, &["--concurrency", "1"])
        .expect(3);
    let service = replaced(first, "");
    let output = folder.import_leads(&service, &["--max-new", "2"]).expect(2);
    output.tells("3 leads");
    folder.import_leads(&service, &["--max-new", "3"]).expect(0);
    assert_eq!(service.stats().lead_requests, 3);
    assert_eq!(folder.column("leads.results.csv", "status"), ["created"; 5]);
}

#[test]
fn what_is_wrong_repeated_or_not_to_be_called_does_not_count() {
    let list = contacts(3) + "12,X\n+447911000000,Y\n+447911000007,Z\n";
    let (folder, service) = (Folder::with_leads(&list), service());
    folder.write("dnc.txt", "+447911000007\n");
    let args = ["--suppress", "dnc.txt", "--max-new", "3"];
    folder.import_leads(&service, &args).expect(1);
    assert_eq!(service.leads().len(), 3);
}

#[test]
fn all_campaigns_together_are_counted() {
    let (folder, service) = (Folder::with_leads(&contacts_of(&[101, 102], 4)), service());
    let args = ["leads.csv", "--campaign-column", "list", "--max-new", "3"];
    let output = folder.import(&service, &args).expect(2);
    output.tells("4 leads");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn the_sandbox_is_not_sent_more_either() {
    let folder = Folder::with_leads(&contacts(2));
    let args = [
        "import",
        "leads.csv",
        "--sandbox",
        "--campaign",
        "101",
        "--max-new",
        "1",
    ];
    let output = folder.leadload(&args).expect(2);
    output.tells("2 leads");
}

#[test]
fn a_check_says_that_an_import_would_send_none() {
    let folder = Folder::with_leads(&contacts(2));
    let check = |most| {
        folder
            .leadload(&["check", "leads.csv", "--max-new", most])
            .expect(0)
    };
    let stderr = check("1").stderr;
    assert!(stderr.contains("2 leads"), "{stderr}");
    assert!(stderr.contains("`--max-new 1`"), "{stderr}");
    assert_eq!(check("2").stderr, "");
}
