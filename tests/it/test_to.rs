//! `--test-to`: one lead to the user, and nothing else.

use leadload::sandbox::Sandbox;

use crate::util::{
    Folder, Output, Run, contacts, holds_a_number, scenario, signal, wait_for_requests,
};

/// The number of the person who tests.
const OWN: &str = "+447911999999";

const LEADS: &str = "phone,name,notes\n\
    12,Nobody,\n\
    +447911000000,Ada,likes tea\n\
    +447911000001,Bob,\n";

fn test_lead(folder: &Folder, service: &Sandbox, args: &[&str]) -> Run {
    let to = ["--test-to", OWN];
    folder.import_leads(service, &[&to, args].concat())
}

/// Checks that nothing was written, and that the number is printed nowhere.
#[track_caller]
fn assert_no_traces(folder: &Folder, output: &Output) {
    assert_eq!(folder.names(), ["leads.csv"]);
    assert!(!folder.ledger().exists());
    assert!(!holds_a_number(&output.stdout), "{}", output.stdout);
    assert!(!holds_a_number(&output.stderr), "{}", output.stderr);
}

#[test]
fn the_first_ready_rows_variables_are_sent_to_the_number_once_and_nothing_else_happens() {
    let (folder, service) = (Folder::with_leads(LEADS), scenario("keep_bodies = true"));
    let output = test_lead(&folder, &service, &[]).expect(0);
    for named in [
        "“Spring promo” (101)",
        " 999",
        "line 3",
        "`name`, `notes`",
        "lead id 1",
    ] {
        output.shows(named);
    }
    assert_no_traces(&folder, &output);
    let requests = service.requests();
    let [request] = &requests[..] else {
        panic!("{} requests", requests.len());
    };
    assert_eq!(
        std::str::from_utf8(&request.body).unwrap(),
        r#"{"phone_number":"+447911999999","campaign_id":101,"variables":[{"name":"Ada","notes":"likes tea"}],"allow_dupplicate":true}"#
    );
    // It can be repeated, and the list stays as it was.
    test_lead(&folder, &service, &[]).expect(0);
    let check = folder.leadload(&["check", "leads.csv", "--format", "json"]);
    assert_eq!(check.expect(1).json()["counts"]["ready"], 2);
}

#[test]
fn it_says_what_the_number_was_understood_as_and_whether_the_campaign_calls() {
    let (folder, service) = (Folder::with_leads(LEADS), scenario(""));
    let args = "leads.csv --campaign 102 --test-to 07400123456 --region GB";
    let args: Vec<&str> = args.split(' ').collect();
    let output = folder.import(&service, &args).expect(0);
    output.shows(" 456\n");
    output.shows("stopped");
}

#[test]
fn json_reports_one_lead() {
    let (folder, service) = (Folder::with_leads(LEADS), scenario(""));
    let output = test_lead(&folder, &service, &["--format", "json"]).expect(0);
    let summary = output.json();
    assert_eq!(summary["requests"], 1);
    assert_eq!(summary["rows"], 1);
    assert!(summary["rows_total"].is_null(), "the list was not counted");
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["counts"]["created"], 1);
    assert_eq!(summary["by_campaign"]["101"]["created"], 1);
    for name in ["run", "results", "rejects", "error", "stopped_by"] {
        assert!(summary[name].is_null(), "{name}");
    }
    assert_no_traces(&folder, &output);
}

#[test]
fn the_answer_of_the_service_is_shown_and_the_test_is_never_sent_twice() {
    let folder = Folder::with_leads(LEADS);
    let service = scenario(
        "[[rule]]\nreply = { status = 422, body = '{\"message\":\"bad +447911999999\"}' }",
    );
    let output = test_lead(&folder, &service, &[]).expect(1);
    assert!(output.stdout.ends_with("\n  HTTP 422: bad +…\n"));
    assert_no_traces(&folder, &output);
    let output = test_lead(&folder, &service, &["--format", "json"]).expect(1);
    let summary = output.json();
    assert_eq!(summary["counts"]["rejected"], 1);
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["error"], "HTTP 422: bad +…");
    assert_eq!(output.stderr, "");
    assert_no_traces(&folder, &output);
    assert_eq!(service.stats().lead_requests, 2);
}

#[test]
fn where_the_service_has_no_answer_the_test_was_stopped_by_the_service() {
    for (reply, by, may_be_made) in [
        ("status = 500, body = ''", "outage", true),
        ("then = 'drop'", "outage", true),
        ("status = 200, body = '<html>'", "unreadable", true),
        ("status = 429, body = ''", "outage", false),
    ] {
        let folder = Folder::with_leads(LEADS);
        let service = scenario(&format!("[[rule]]\nreply = {{ {reply} }}"));
        let output = test_lead(&folder, &service, &[]).expect(3);
        assert_no_traces(&folder, &output);
        let output = test_lead(&folder, &service, &["--format", "json"]).expect(3);
        let summary = output.json();
        assert_eq!(
            (&summary["complete"], &summary["stopped_by"]),
            (&false.into(), &by.into()),
            "{reply}"
        );
        let rows = u8::from(may_be_made);
        assert_eq!(summary["rows"], rows, "{reply}");
        assert_eq!(summary["counts"]["uncertain"], rows, "{reply}");
        assert_no_traces(&folder, &output);
        assert_eq!(service.stats().lead_requests, 2, "{reply}");
    }
}

#[test]
fn the_time_from_which_the_service_takes_requests_again_is_shown() {
    let folder = Folder::with_leads(LEADS);
    let service =
        scenario("[[rule]]\nreply = { status = 503, headers = { Retry-After = '60' }, body = '' }");
    let output = test_lead(&folder, &service, &[]).expect(3);
    let mut words = output.stderr.split_whitespace();
    let until: Option<jiff::Timestamp> = words.find_map(|word| word.parse().ok());
    let left = jiff::Timestamp::now()
        .duration_until(until.unwrap())
        .as_secs();
    assert!((30..=60).contains(&left), "{left}");
    assert_no_traces(&folder, &output);
}

#[test]
fn a_service_that_is_down_is_no_fault_of_the_list() {
    let folder = Folder::with_leads(LEADS);
    let service = scenario("");
    let run = test_lead(&folder, &service, &["--format", "json"]);
    drop(service);
    let output = run.expect(3);
    let summary = output.json();
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["stopped_by"], "outage");
    assert_eq!(summary["rows"], 0);
    assert_no_traces(&folder, &output);
}

#[test]
fn what_stops_a_run_stops_a_test() {
    for (status, by) in [
        (401, "token"),
        (402, "balance"),
        (404, "campaign"),
        (302, "redirect"),
    ] {
        let folder = Folder::with_leads(LEADS);
        let service = scenario(&format!(
            "[[rule]]\nreply = {{ status = {status}, body = '{{}}' }}"
        ));
        let output = test_lead(&folder, &service, &["--format", "json"]).expect(3);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], by);
        assert_eq!(
            (&summary["rows"], &summary["requests"]),
            (&0.into(), &1.into())
        );
        let output = test_lead(&folder, &service, &[]).expect(3);
        assert_no_traces(&folder, &output);
    }
}

#[test]
fn a_number_is_read_as_those_of_the_list() {
    let (folder, service) = (Folder::with_leads(LEADS), scenario("keep_bodies = true"));
    for number in ["07911 999999", "+44 7911 999999", "0044 7911 999 999"] {
        let args = [
            "--test-to",
            number,
            "--region",
            "GB",
            "--countries",
            "DE,GB",
        ];
        folder.import_leads(&service, &args).expect(0);
    }
    let phones = service.leads().len();
    assert_eq!(phones, 3);
    for request in service.requests() {
        let body = String::from_utf8(request.body.to_vec()).unwrap();
        assert!(body.contains(OWN), "{body}");
    }
}

#[test]
fn a_number_that_cannot_be_called_or_must_not_be_is_refused() {
    let (folder, service) = (Folder::with_leads(LEADS), scenario(""));
    for number in ["07911 999999", "me", "", "+4479119"] {
        let args = ["--test-to", number];
        let output = folder.import_leads(&service, &args).expect(2);
        output.tells("`--test-to`");
        assert_eq!(output.stdout, "");
        assert_no_traces(&folder, &output);
    }
    let folder = Folder::with_leads(LEADS);
    folder.write("dnc.txt", format!("+447911000005\n{OWN}\n"));
    let output = test_lead(&folder, &service, &["--suppress", "dnc.txt"]).expect(2);
    output.tells("`dnc.txt`, line 2");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn without_a_row_that_is_ready_there_is_nothing_to_test_with() {
    let (folder, service) = (Folder::with_leads("phone,name\n12,X\n"), scenario(""));
    let output = test_lead(&folder, &service, &[]).expect(2);
    output.tells("ready");
    assert_no_traces(&folder, &output);
    let output = folder
        .import(&service, &["leads.csv", "--test-to", OWN])
        .expect(2);
    output.tells("`--campaign`");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn the_campaign_is_the_rows() {
    let list = "phone,list\n+447911000000,Autumn survey\n+447911000001,101\n";
    let (folder, service) = (Folder::with_leads(list), scenario(""));
    let args = ["leads.csv", "--campaign-column", "list", "--test-to", OWN];
    let output = folder.import(&service, &args).expect(0);
    output.shows("(102)");
}

#[test]
fn what_was_sent_before_is_not_what_a_test_is_made_of() {
    let (folder, service) = (
        Folder::with_leads(&contacts(2)),
        scenario("keep_bodies = true"),
    );
    folder.import_leads(&service, &["--limit", "1"]).expect(0);
    let output = test_lead(&folder, &service, &[]).expect(0);
    output.shows("line 3 ");
    let runs = folder
        .leadload(&["runs", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_test_can_go_to_the_sandbox() {
    let folder = Folder::with_leads(LEADS);
    let args = [
        "import",
        "leads.csv",
        "--sandbox",
        "--campaign",
        "101",
        "--test-to",
        OWN,
    ];
    let output = folder.leadload(&args).expect(0);
    output.shows("sandbox");
    assert_no_traces(&folder, &output);
}

#[test]
fn a_check_sends_no_test() {
    let (folder, service) = (Folder::with_leads(&contacts(1)), scenario(""));
    test_lead(&folder, &service, &["--dry-run"]).expect(0);
    assert_eq!(service.stats().lead_requests, 0);
}

#[cfg(unix)]
#[test]
fn a_signal_waits_for_the_answer_and_a_second_one_does_not() {
    let late = "latency_ms = 700";
    let refusal = "[[rule]]\nreply = { delay_ms = 700, status = 422, body = '' }";
    let trouble = "[[rule]]\nreply = { delay_ms = 700, status = 500, body = '' }";
    let end = "[[rule]]\nreply = { delay_ms = 700, status = 401, body = '{}' }";
    for (signals, reply, code, counts, said) in [
        // If it were reported as stopped, the user would test again and the phone would ring twice.
        (1, late, 0, "created", ""),
        (1, refusal, 1, "rejected", ""),
        (1, trouble, 4, "uncertain", "HTTP 500"),
        (1, end, 4, "", "HTTP 401"),
        (2, late, 4, "uncertain", ""),
    ] {
        let folder = Folder::with_leads(LEADS);
        let service = scenario(reply);
        let child = test_lead(&folder, &service, &["--format", "json"]).start();
        wait_for_requests(&service, 1);
        for _ in 0..signals {
            signal(&child, "-INT");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let output = Output::of(child);
        assert_eq!(output.code, code, "{}", output.stderr);
        output.tells(said);
        let summary = output.json();
        let stopped_by = (code == 4).then_some("signal");
        assert_eq!(summary["complete"], stopped_by.is_none());
        assert_eq!(summary["stopped_by"].as_str(), stopped_by);
        assert_eq!(summary["rows"], u8::from(!counts.is_empty()));
        if !counts.is_empty() {
            assert_eq!(summary["counts"][counts], 1);
        }
        assert_no_traces(&folder, &output);
    }
}
