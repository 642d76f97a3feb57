//! What must hold from one process to the next, because the service counts all of them.

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Run, contacts, scenario, service};

const TEST: [&str; 2] = ["--test-to", "+447911999999"];

fn import(folder: &Folder, service: &Sandbox, rate: &str, more: &[&str]) -> Run {
    let line = ["import", "leads.csv", "--campaign", "101", "--rate", rate];
    folder.leadload(&[&line, more].concat()).at(service)
}

#[test]
fn test_leads_keep_to_the_pace_of_the_runs_before_them_and_count_for_those_after() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    // `--test-to` does not create a ledger, so a normal run comes first.
    import(&folder, &service, "1/2s", &["--limit", "1"]).expect(0);
    import(&folder, &service, "1/2s", &TEST).expect(0);
    import(&folder, &service, "1/2s", &TEST).expect(0);
    import(&folder, &service, "1/2s", &[]).expect(0);
    let at = service.stats().arrivals_us;
    assert_eq!(at.len(), 4);
    for (one, next) in at.iter().zip(&at[1..]) {
        assert!(next - one >= 1_950_000, "{at:?}");
    }
}

#[test]
fn a_wait_that_was_asked_for_holds_back_a_test_lead_too_and_one_asked_of_it_holds_back_a_run() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(
        "[[rule]]\nphone_number = '+447911999999'\nattempts = [1, 2]\n\
         reply = { status = 429, headers = { retry-after = '3' } }",
    );
    import(&folder, &service, "none", &["--limit", "1"]).expect(0);
    import(&folder, &service, "none", &TEST).expect(3);
    let hasty = [&TEST[..], &["--max-outage", "1s"]].concat();
    let refused = import(&folder, &service, "none", &hasty).expect(3);
    refused.tells("`--max-outage`");
    let output = import(&folder, &service, "none", &TEST).expect(3);
    output.tells("(HTTP 429)");
    import(&folder, &service, "none", &[]).expect(0);
    let at = service.stats().arrivals_us;
    assert_eq!(at.len(), 4);
    for (one, next) in at[1..].iter().zip(&at[2..]) {
        assert!(next - one >= 2_900_000, "{at:?}");
    }
}

#[test]
fn a_start_that_waits_for_the_pace_of_the_one_before_says_so_and_for_how_long() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    import(&folder, &service, "1/h", &["--limit", "1"]).expect(0);
    let hasty = ["--max-outage", "1s", "--max-duration", "2s"];
    let output = import(&folder, &service, "1/h", &hasty).expect(4);
    output.tells("61 min");
    assert_eq!(service.stats().lead_requests, 1);
}
