//! Answers that are lost.

use crate::util::{Folder, scenario};

#[test]
fn under_hold_a_lost_answer_leaves_the_row_uncertain_and_is_not_repeated() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000002\n+447911000003\n");
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000002"
        reply = { store = true, then = "drop" }"#,
    );
    let output = folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created", "uncertain", "created"]
    );
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "connection", ""]
    );
    assert_eq!(service.stats().lead_requests, 3);
    output.shows("uncertain");
    // A person has to decide whether to send it again, not whoever imports the rejects.
    assert!(!folder.names().contains(&"leads.rejects.csv".to_owned()));
}

#[test]
fn duplicates_allowed_means_hold_unless_said_otherwise() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000002\n");
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000002"
        attempts = [1]
        reply = { status = 500, store = true }"#,
    );
    folder
        .import_leads(&service, &["--allow-duplicates"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "http_500"]
    );
    assert_eq!(service.leads().len(), 2);
}
