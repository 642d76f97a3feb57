//! Runs that stop because continuing is pointless, or because the user ends them.

use std::thread;

use crate::relay::always_with;
use crate::util::{Folder, REFUSALS_OF_ALL, contacts, number, scenario, signal, wait_for_requests};

#[test]
fn a_revoked_token_costs_what_was_in_flight_and_not_one_request_per_row() {
    let folder = Folder::with_leads(&contacts(200));
    let service = scenario("token_revoked_after = 50\nlatency_ms = 5");
    let output = folder
        .import_leads(&service, &["--concurrency", "8", "--format", "json"])
        .expect(3);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "token");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["rows_total"], 200);
    assert_eq!(summary["counts"]["created"], 50);
    assert_eq!(
        summary["rows"], 50,
        "rows that met the stop have no outcome"
    );
    assert!(service.stats().lead_requests <= 50 + 8);
    assert_eq!(folder.records("leads.results.csv").len(), 50);
}

#[test]
fn a_stop_without_a_ledger_shows_the_command_that_sends_the_whole_list_again() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario("token_revoked_after = 5");
    let args = [
        "--ledger",
        "none",
        "--concurrency",
        "1",
        "--report",
        "p.html",
    ];
    let output = folder.import_leads(&service, &args).expect(3);
    output.shows("\n5 leads ");
    let again = "import --rate none leads.csv --campaign 101 --ledger none";
    output.shows(again);
    assert!(folder.read("p.html").contains(again));
    // Without a ledger it is also unknown which rows to leave alone.
    let folder = Folder::with_leads(&contacts(1));
    let service = scenario("[[rule]]\nreply = { then = 'drop' }");
    let args = ["--ledger", "none", "--on-uncertain", "hold"];
    let output = folder.import_leads(&service, &args).expect(1);
    output.shows("sent again");
}

#[test]
fn ten_answers_that_cannot_be_read_stop_and_every_row_may_have_been_taken() {
    for uncertain in ["hold", "resend"] {
        let folder = Folder::with_leads(&contacts(40));
        let service = scenario("[faults]\nunreadable = 1.0");
        let args = ["--on-uncertain", uncertain, "--concurrency", "16"];
        let output = folder
            .import_leads(&service, &[&args[..], &["--format", "json"]].concat())
            .expect(3);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "unreadable", "{uncertain}");
        assert_eq!(service.stats().lead_requests, 10, "{uncertain}");
        assert_eq!(service.stats().peak_in_flight, 1, "{uncertain}");
        output.tells("`--base-url`");
        // The last row too.
        assert_eq!(summary["counts"]["uncertain"], 10, "{uncertain}");
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["uncertain"; 10]
        );
        assert_eq!(
            folder.column("leads.results.csv", "error_code"),
            ["unreadable_answer"; 10]
        );
    }
}

#[test]
fn a_redirect_that_stops_shows_its_address_as_far_as_that_is_safe() {
    let secret = "https://me:s3cret@new.example.com:8443/login/+447911000000?token=s3cret#s3cret";
    let shown = "HTTP 302 to https://new.example.com:8443/login/+…";
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario(&format!(
        "[[rule]]\nreply = {{ status = 302, headers = {{ Location = '{secret}' }} }}"
    ));
    let args = ["--format", "json", "-vv"];
    let output = folder.import_leads(&service, &args).expect(3);
    let told = format!("({shown})");
    output.tells(&told);
    assert!(output.json()["error"].as_str().unwrap().contains(&told));
    assert!(!output.stderr.contains("s3cret"), "{}", output.stderr);

    let token = "17|s3cretHalf";
    for (location, shown) in [
        (
            "https://new.example.com/login?next=s3cret",
            "https://new.example.com/login",
        ),
        (
            "https://new.example.com/17%7Cs3cretHalf",
            "https://new.example.com/[token]",
        ),
    ] {
        let moved = always_with(&format!("location: {location}\r\n"), 302, "");
        let campaigns = folder.leadload(&["campaigns"]).env("LEADLOAD_TOKEN", token);
        let stderr = campaigns.env("LEADLOAD_BASE_URL", &moved).expect(3).stderr;
        let told = format!(": HTTP 302 to {shown}\n");
        assert!(stderr.contains(&told), "{stderr}");
        assert!(!stderr.contains("s3cret"), "{stderr}");
    }
}

/// Loses the answer to the first attempt of a row, and gives this answer to the second.
fn lost_and_then(row: usize, second: &str) -> String {
    let number = number(row);
    format!(
        "[[rule]]\nphone_number = '{number}'\nattempts = [1]\n\
         reply = {{ store = true, then = 'drop' }}\n\
         [[rule]]\nphone_number = '{number}'\nattempts = [2]\nreply = {second}\n"
    )
}

#[test]
fn rows_in_doubt_stop_no_campaign_however_many_are_refused_in_a_row() {
    let during = |reply: &str| {
        let folder = Folder::with_leads(&contacts(12));
        let rules: Vec<String> = (4..8).map(|row| lost_and_then(row, reply)).collect();
        let service = scenario(&rules.concat());
        folder
            .import_leads(&service, &["--concurrency", "1"])
            .expect(1);
        assert_eq!(service.stats().lead_requests, 16, "{reply}");
        let results = folder.records("leads.results.csv");
        for (row, result) in results.iter().enumerate() {
            let is_in_doubt = (4..8).contains(&row);
            let status = if is_in_doubt { "uncertain" } else { "created" };
            assert_eq!(result["status"], status, "{reply} {row}");
            assert_eq!(result["error"].contains("HTTP "), is_in_doubt, "{result:?}");
        }
    };
    thread::scope(|scope| {
        for (reply, by) in REFUSALS_OF_ALL {
            if by == "campaign" || by == "balance" {
                scope.spawn(move || during(reply));
            }
        }
    });
}

#[test]
fn a_row_that_an_earlier_run_has_left_in_doubt_stops_nothing_either() {
    let folder = Folder::with_leads(&contacts(3));
    let missing = REFUSALS_OF_ALL[1].0;
    let service = scenario(&lost_and_then(1, missing));
    let once = ["--max-attempts", "1", "--concurrency", "1"];
    for requests in [3, 4] {
        folder.import_leads(&service, &once).expect(1);
        assert_eq!(service.stats().lead_requests, requests);
        let status = folder.column("leads.results.csv", "status");
        assert_eq!(status[1], "uncertain", "{requests}");
    }
    let error = folder.column("leads.results.csv", "error");
    assert!(
        error[1].ends_with(": HTTP 404: Campaign not found"),
        "{error:?}"
    );
}

#[cfg(unix)]
mod signals {
    use std::io::{BufRead, BufReader, Write};

    use crate::util::{Folder, Output, contacts, number, scenario, signal, wait_for_requests};

    #[test]
    fn each_signal_stops_the_sending_and_waits_for_what_is_in_flight() {
        for name in ["-INT", "-TERM", "-HUP"] {
            let folder = Folder::with_leads(&contacts(5000));
            let service = scenario("latency_ms = 50");
            let args = [
                "leads.csv",
                "--campaign",
                "101",
                "--concurrency",
                "4",
                "--format",
                "json",
            ];
            let child = folder.import(&service, &args).start();
            wait_for_requests(&service, 20);
            signal(&child, name);
            let output = Output::of(child);
            assert_eq!(output.code, 4, "{}", output.stderr);
            let summary = output.json();
            assert_eq!(summary["stopped_by"], "signal");
            let made = service.leads().len();
            assert_eq!(
                summary["counts"]["created"], made,
                "all that was made is accounted for"
            );
            assert_eq!(folder.records("leads.results.csv").len(), made);
            assert!(made < 5000);
        }
    }

    #[test]
    fn a_signal_that_was_ignored_when_the_program_started_stops_nothing() {
        for name in ["INT", "TERM", "HUP"] {
            let folder = Folder::with_leads(&contacts(60));
            let service = scenario("latency_ms = 10");
            let script = format!("trap '' {name}; exec \"$0\" \"$@\"");
            let args = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
            let child = folder.through_shell(&script, &args).at(&service).start();
            wait_for_requests(&service, 5);
            signal(&child, &format!("-{name}"));
            let output = Output::of(child);
            assert_eq!(output.code, 0, "{name}: {}", output.stderr);
            assert_eq!(service.leads().len(), 60, "{name}");
        }
    }

    #[test]
    fn a_signal_before_the_first_lead_leaves_nothing_behind() {
        // A service that accepts connections and never answers.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let folder = Folder::with_leads(&contacts(10));
        let child = folder
            .leadload(&[
                "import",
                "leads.csv",
                "--campaign",
                "Spring",
                "--format",
                "json",
            ])
            .env(
                "LEADLOAD_BASE_URL",
                &format!("http://{}", listener.local_addr().unwrap()),
            )
            .env("LEADLOAD_TOKEN", "t")
            .start();
        let _connection = listener.accept().unwrap();
        signal(&child, "-TERM");
        let output = Output::of(child);
        assert_eq!(output.code, 4, "{}", output.stderr);
        assert_eq!(output.json()["stopped_by"], "signal");
        assert_eq!(folder.names(), ["leads.csv"]);
    }

    /// The reader of standard error may close it, with or without a bar.
    #[test]
    fn a_closed_console_stops_the_sending_and_keeps_the_account() {
        for extra in [&["--progress", "always"][..], &["-vv"], &[]] {
            let folder = Folder::with_leads(&contacts(5000));
            let service = scenario("latency_ms = 20");
            let common = ["leads.csv", "--campaign", "101", "--concurrency", "4"];
            let mut child = folder
                .import(&service, &[&common[..], extra].concat())
                .start();
            drop(child.stderr.take());
            drop(child.stdout.take());
            wait_for_requests(&service, 20);
            signal(&child, "-HUP");
            assert_eq!(child.wait().unwrap().code(), Some(4), "{extra:?}");
            let made = service.leads().len();
            assert_eq!(folder.records("leads.results.csv").len(), made, "{extra:?}");
        }
    }

    #[test]
    fn a_signal_while_standard_input_is_awaited_ends_as_a_signal_does() {
        let folder = Folder::new();
        let args = [
            "import",
            "-",
            "--sandbox",
            "--campaign",
            "101",
            "--format",
            "json",
            "-vv",
        ];
        let (mut child, mut stdin) = folder.leadload(&args).start_with_open_stdin();
        // More than a pipe holds: once everything is written, the program is reading.
        stdin.write_all(&b"phone\n".repeat(100_000)).unwrap();
        signal(&child, "-TERM");
        assert_eq!(child.wait().unwrap().code(), Some(4));
        drop(stdin);
        assert_eq!(Output::of(child).json()["stopped_by"], "signal");
    }

    #[test]
    fn a_second_signal_ends_at_once_and_says_what_may_have_been_taken() {
        let folder = Folder::with_leads(&contacts(10));
        let service = scenario(
            r#"[[rule]]
            phone_number = "+447911000001"
            reply = { then = "hang" }"#,
        );
        let args = ["leads.csv", "--campaign", "101", "--concurrency", "1"];
        let mut child = folder.import(&service, &args).start();
        wait_for_requests(&service, 2);
        signal(&child, "-INT");
        // Two signals that are pending at the same time may arrive as one,
        // so the second is sent after the program has reacted to the first.
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let is_stopping =
            |line: &std::io::Result<String>| line.as_ref().unwrap().contains("stopping");
        assert!(stderr.by_ref().any(|line| is_stopping(&line)));
        signal(&child, "-INT");
        assert_eq!(Output::of(child).code, 4);
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["created", "uncertain"]
        );
    }

    /// The output if the user sends a second signal while five of eight requests are in flight.
    fn said_after_two_signals(args: &[&str]) -> String {
        let rows = (1..9).map(|row| format!("{}\n", number(row)));
        let folder = Folder::with_leads(&format!("phone\n{}", rows.collect::<String>()));
        let hanging = (3..8).map(|row| {
            let number = number(row);
            format!("[[rule]]\nphone_number = '{number}'\nreply = {{ then = 'hang' }}\n")
        });
        let service = scenario(&hanging.collect::<String>());
        let all = [&["--concurrency", "5"], args].concat();
        let mut child = folder.import_leads(&service, &all).start();
        wait_for_requests(&service, 7);
        signal(&child, "-INT");
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(stderr.any(|line| line.unwrap().contains("stopping")));
        signal(&child, "-INT");
        let output = Output::of(child);
        assert_eq!(output.code, 4);
        assert_eq!(
            folder.column("leads.results.csv", "line"),
            ["2", "3", "4", "5", "6", "7", "8"]
        );
        let (first, rest) = output.stdout.split_once('\n').unwrap();
        let (rows, _time) = first.rsplit_once(" in ").unwrap();
        let rest = rest.replace(env!("CARGO_BIN_EXE_leadload"), "leadload");
        format!("{rows} in TIME\n{rest}")
    }

    #[test]
    fn what_was_in_flight_is_named_in_order_and_the_same_command_is_all_the_advice() {
        insta::assert_snapshot!("two_signals", said_after_two_signals(&[]));
    }

    #[test]
    fn what_is_held_is_said_to_be_left_alone() {
        let said = said_after_two_signals(&["--on-uncertain", "hold"]);
        insta::assert_snapshot!("two_signals_with_hold", said);
    }
}

/// The signal is the more serious reason, and does not hide the other.
#[cfg(unix)]
#[test]
fn a_signal_does_not_hide_that_a_campaign_was_refused() {
    let folder = Folder::with_leads(&crate::util::contacts_of(&[101, 102], 200));
    let service = scenario(
        "latency_ms = 20\n[[rule]]\ncampaign_id = 102\n\
         reply = { status = 404, body = '{\"message\":\"Campaign not found\"}' }",
    );
    let flags = [
        "leads.csv",
        "--campaign-column",
        "list",
        "--concurrency",
        "2",
    ];
    let json = ["--format", "json"];
    let child = folder
        .import(&service, &[&flags[..], &json].concat())
        .start();
    wait_for_requests(&service, 60);
    signal(&child, "-TERM");
    let output = crate::util::Output::of(child);
    assert_eq!(output.code, 4, "{}", output.stderr);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "signal");
    let error = summary["error"].as_str().unwrap();
    // Not all rows were sent.
    assert!(!error.contains("were sent"), "{error}");
    assert!(error.contains("campaign 102"), "{error}");
    output.tells("campaign 102");
}

#[test]
fn a_wait_that_is_longer_than_an_outage_may_be_is_named_with_its_status_and_its_end() {
    let folder = Folder::with_leads(&contacts(5));
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\n\
         reply = {{ status = 429, headers = {{ Retry-After = '600' }} }}",
        number(2)
    ));
    let flags = [
        "--concurrency",
        "1",
        "--max-outage",
        "5m",
        "--format",
        "json",
    ];
    for _ in 0..2 {
        let output = folder.import_leads(&service, &flags).expect(3);
        let summary = output.json();
        assert_eq!(summary["stopped_by"], "outage");
        // The run must not wait five minutes before it says so.
        let elapsed = summary["elapsed_s"].as_f64().unwrap();
        assert!(elapsed < 30.0, "{elapsed}");
        let error = summary["error"].as_str().unwrap();
        let mut words = error.split([' ', ',']);
        let until: Option<jiff::Timestamp> = words.find_map(|word| word.parse().ok());
        let left = jiff::Timestamp::now()
            .duration_until(until.unwrap())
            .as_secs();
        assert!((500..=600).contains(&left), "{left}");
        assert!(error.contains("http_429"), "{error}");
        assert!(error.contains("`--max-outage`"), "{error}");
    }
    // The second process sends no request.
    assert_eq!(service.stats().lead_requests, 3);
}
