//! Several processes with one ledger on a server, as if each were on a computer of its own.

use std::collections::HashMap;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use leadload::ledger::this_user_here;
use leadload::sandbox::Sandbox;

use crate::cluster::{Cluster, Database};
use crate::util::{
    Folder, Output, Run, contacts, kill, number, scenario, seen, signal, wait_for_requests,
};

/// A service that takes every lead, so that a second request is a second call.
pub const TAKES_ALL: &str = "takes_duplicates = true\nkeep_bodies = true\n";

pub fn with_ledger(run: Run, database: &Database) -> Run {
    run.env("LEADLOAD_LEDGER", &database.url())
}

pub fn import(folder: &Folder, service: &Sandbox, database: &Database, args: &[&str]) -> Run {
    with_ledger(folder.import_leads(service, args), database)
}

/// How often each number was requested.
pub fn requests(service: &Sandbox) -> HashMap<String, usize> {
    let mut requests = HashMap::new();
    for request in seen(service) {
        *requests.entry(request.phone).or_default() += 1;
    }
    requests
}

/// A list of these rows of [`contacts`].
pub fn rows(from: usize, to: usize) -> String {
    let mut text = String::from("phone,name\n");
    for row in from..to {
        text.push_str(&format!("{},Name {row}\n", number(row)));
    }
    text
}

#[test]
fn an_import_does_with_a_server_what_it_does_with_a_file() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let text = "phone,name\n+447911000001,Ada\n07911,Bob\n+447911000001,Cy\n+447911000002,Dan\n";
    let in_file = Folder::with_leads(text);
    let on_server = Folder::with_leads(text);
    let service = scenario("");
    in_file.import_leads(&service, &[]).expect(1);
    let fresh = scenario("");
    import(&on_server, &fresh, &database, &[]).expect(1);
    for name in ["leads.results.csv", "leads.rejects.csv"] {
        let text = |folder: &Folder| {
            let mut records = folder.records(name);
            records
                .iter_mut()
                .for_each(|row| drop((row.remove("settled_at"), row.remove("leadload_run"))));
            records
        };
        assert_eq!(text(&in_file), text(&on_server));
    }
    import(&on_server, &fresh, &database, &[]).expect(1);
    let statuses = on_server.column("leads.results.csv", "status");
    let expected = [
        "already_imported",
        "invalid",
        "repeated",
        "already_imported",
    ];
    assert_eq!(statuses, expected);
    let listed = with_ledger(on_server.leadload(&["runs", "--format", "json"]), &database);
    let listed = listed.expect(0).json();
    let complete = [0, 1].map(|run| listed["runs"][run]["complete"].clone());
    assert_eq!(complete, [true, true], "{listed}");
    with_ledger(
        on_server.leadload(&["runs", "export", "1", "--results", "export.csv"]),
        &database,
    )
    .expect(0);
    let exported = on_server.column("export.csv", "status");
    assert_eq!(exported, ["created", "invalid", "created"]);
    assert!(!on_server.ledger().exists(), "no file was made");
}

#[test]
fn rejects_that_a_run_did_not_need_are_not_shown_as_begun() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    import(&folder, &scenario(""), &database, &[]).expect(0);
    let shown = with_ledger(folder.leadload(&["runs", "show", "1"]), &database).expect(0);
    shown.shows("results.csv (3 rows)");
    assert!(!shown.stdout.contains("rejects"), "{}", shown.stdout);
}

#[test]
fn two_runs_at_once_send_no_number_twice_and_know_each_others_leads() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 5\nlatency_jitter_ms = 5"));
    let folders = [
        Folder::with_leads(&rows(0, 300)),
        Folder::with_leads(&rows(100, 400)),
    ];
    let start =
        |folder: &Folder| import(folder, &service, &database, &["--concurrency", "8"]).start();
    let children: Vec<Child> = folders.iter().map(start).collect();
    for child in children {
        let output = Output::of(child);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
    let requests = requests(&service);
    assert_eq!(requests.len(), 400);
    assert!(requests.values().all(|times| *times == 1), "{requests:?}");
    let ids: HashMap<String, String> = service
        .leads()
        .into_iter()
        .map(|lead| (lead.phone_number, lead.id))
        .collect();
    let mut others = 0;
    for folder in &folders {
        for row in folder.records("leads.results.csv") {
            assert_eq!(row["lead_id"], ids[&row["phone_number"]], "{row:?}");
            others += usize::from(row["status"] == "already_imported");
        }
    }
    assert_eq!(others, 200, "each number of both lists has one sender");
}

#[test]
fn once_for_the_service_holds_between_runs_of_different_campaigns() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 5"));
    let folders = [
        Folder::with_leads(&rows(0, 200)),
        Folder::with_leads(&rows(0, 200)),
    ];
    let children: Vec<Child> = folders
        .iter()
        .zip(["101", "102"])
        .map(|(folder, campaign)| {
            let args = ["leads.csv", "--campaign", campaign, "--once", "service"];
            with_ledger(folder.import(&service, &args), &database).start()
        })
        .collect();
    for child in children {
        assert_eq!(Output::of(child).code, 0);
    }
    let requests = requests(&service);
    assert_eq!(requests.len(), 200);
    assert!(requests.values().all(|times| *times == 1), "{requests:?}");
}

#[test]
fn once_for_the_service_a_person_who_may_be_in_another_campaign_is_not_sent_again_by_a_run_that_goes_on()
 {
    let (person, last) = (number(1), number(2));
    let scenario_text = format!(
        "keep_bodies = true\n[[rule]]\nphone_number = '{person}'\nreply = {{ then = 'drop' }}\n\
         [[rule]]\nphone_number = '{last}'\nattempts = [1]\nreply = {{ status = 401, body = '{{}}' }}"
    );
    let on_server = Cluster::database();
    for database in [None, on_server.as_ref()] {
        let service = scenario(&scenario_text);
        let folder = Folder::with_leads(&rows(1, 3));
        folder.write("other.csv", rows(1, 2));
        let import = |file: &str, campaign: &str, more: &[&str]| {
            let args = [file, "--campaign", campaign, "--concurrency", "1"];
            let args = [&args[..], &["--max-attempts", "1"], more].concat();
            let run = folder.import(&service, &args);
            match database {
                Some(database) => with_ledger(run, database),
                None => run,
            }
        };
        import("other.csv", "102", &[]).expect(1);
        import("leads.csv", "101", &[]).expect(3);
        assert_eq!(requests(&service)[&person], 2);
        let once = ["--once", "service"];
        import("leads.csv", "101", &once).expect(1);
        assert_eq!(requests(&service)[&person], 2);
        let status = folder.column("leads.results.csv", "status");
        assert_eq!(status, ["uncertain", "created"]);
        let error = &folder.column("leads.results.csv", "error")[0];
        assert!(error.contains("campaign 102"), "{error}");
    }
}

#[test]
fn a_second_start_of_a_run_that_is_at_work_says_who_is_at_it() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 100"));
    let folder = Folder::with_leads(&rows(0, 200));
    let first = import(&folder, &service, &database, &["--concurrency", "4"]).start();
    wait_for_requests(&service, 1);
    let second = import(&folder, &service, &database, &[]).expect(6);
    let (host, user) = this_user_here();
    let process = format!(
        "run 1, process {} of {user} on {host}, since 20",
        first.id()
    );
    second.tells(&process);
    let listed = with_ledger(folder.leadload(&["runs", "--format", "json"]), &database);
    assert_eq!(listed.expect(0).json()["runs"][0]["at_work"], true);
    let forget = ["runs", "forget", "1", "--yes"];
    with_ledger(folder.leadload(&forget), &database).expect(6);
    let waited = import(&folder, &service, &database, &["--wait"]).expect(0);
    waited.tells("waiting");
    assert_eq!(Output::of(first).code, 0);
    assert_eq!(requests(&service).len(), 200);
    assert_eq!(service.stats().lead_requests, 200);
}

#[test]
fn a_killed_run_goes_on_after_its_lease_and_open_rows_wait_for_their_timeout() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 30000"));
    let folder = Folder::with_leads(&rows(0, 20));
    let hold = ["--on-uncertain", "hold", "--timeout", "3s"];
    let child = import(&folder, &service, &database, &hold).start();
    wait_for_requests(&service, 1);
    kill(child);
    let service = crate::util::replaced(service, TAKES_ALL);
    let began = Instant::now();
    import(&folder, &service, &database, &hold).expect(1);
    let took = began.elapsed();
    assert!(took > Duration::from_secs(3), "{took:?}");
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses[0], "uncertain");
    assert!(
        statuses[1..].iter().all(|status| status == "created"),
        "{statuses:?}"
    );
    assert_eq!(
        service.stats().lead_requests,
        19,
        "the one in doubt is not sent"
    );
    import(&folder, &service, &database, &["--timeout", "3s"]).expect(0);
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses[0], "created");
    assert!(
        statuses[1..]
            .iter()
            .all(|status| status == "already_imported")
    );
}

#[test]
fn a_row_that_a_killed_run_of_another_list_had_in_flight_waits_and_is_sent_once_more() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 30000"));
    let killed = Folder::with_leads(&rows(0, 1));
    let child = import(&killed, &service, &database, &["--timeout", "2s"]).start();
    wait_for_requests(&service, 1);
    kill(child);
    let service = crate::util::replaced(service, TAKES_ALL);
    let other = Folder::with_leads(&rows(0, 3));
    let began = Instant::now();
    import(&other, &service, &database, &[]).expect(0);
    assert!(began.elapsed() > Duration::from_secs(2));
    let rows = other.records("leads.results.csv");
    let told: Vec<&str> = rows.iter().map(|row| &*row["error_code"]).collect();
    assert_eq!(told, ["answer_lost", "", ""], "{rows:?}");
    assert_eq!(requests(&service).len(), 3);
}

#[test]
fn a_wait_for_rows_that_a_killed_run_has_claimed_is_told_and_is_no_outage() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!(
        "{TAKES_ALL}[[rule]]\nphone_number = '{}'\nattempts = [1]\n\
         reply = {{ status = 429, headers = {{ retry-after = '2' }} }}",
        number(0)
    ));
    let killed = Folder::with_leads(&rows(0, 1));
    let child = import(&killed, &service, &database, &["--timeout", "5s"]).start();
    wait_for_requests(&service, 1);
    // The wait is written to the ledger within some hundredths of a second.
    thread::sleep(Duration::from_millis(500));
    kill(child);
    // Another list, so another run.
    let other = Folder::with_leads(&rows(0, 1).replace("Name", "Mr"));
    let began = Instant::now();
    let output = import(&other, &service, &database, &["--max-outage", "3s"]).expect(0);
    let took = began.elapsed();
    assert!(took > Duration::from_secs(4), "{took:?}");
    let (host, user) = this_user_here();
    output.tells(" WARN ");
    output.tells("run 1");
    output.tells(&format!(" of {user} on {host} "));
    assert_eq!(service.stats().lead_requests, 2);
}

#[test]
fn a_stopped_process_that_wakes_after_its_lease_sends_nothing_that_others_have_sent() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 20"));
    let folders = [
        Folder::with_leads(&rows(0, 400)),
        Folder::with_leads(&rows(0, 400)),
    ];
    let args = ["--concurrency", "4", "--timeout", "2s"];
    let sleeper = import(&folders[0], &service, &database, &args).start();
    wait_for_requests(&service, 40);
    signal(&sleeper, "-STOP");
    // Requests in flight, and outcomes that were not committed yet.
    let in_flight = 3 * 4;
    let other = import(&folders[1], &service, &database, &args).start();
    assert_eq!(Output::of(other).code, 0);
    let sent = service.stats().lead_requests;
    assert!(sent <= 400 + in_flight, "{sent}");
    signal(&sleeper, "-CONT");
    let woken = Output::of(sleeper);
    assert_eq!(woken.code, 0, "{}", woken.stderr);
    assert_eq!(
        service.stats().lead_requests,
        sent,
        "it has sent nothing since"
    );
    let requests = requests(&service);
    assert_eq!(requests.len(), 400);
    let twice = requests.values().filter(|times| **times > 1).count();
    assert!(twice as u64 <= in_flight, "{twice}");
    for row in folders[0].records("leads.results.csv") {
        assert!(
            ["created", "already_imported"].contains(&&*row["status"]),
            "{row:?}"
        );
    }
}

#[test]
fn duplicates_that_are_allowed_are_known_by_run_and_row() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(TAKES_ALL);
    let folder = Folder::with_leads(&(rows(0, 3) + &rows(0, 3)["phone,name\n".len()..]));
    import(&folder, &service, &database, &["--allow-duplicates"]).expect(0);
    assert_eq!(service.stats().lead_requests, 6);
    import(&folder, &service, &database, &["--allow-duplicates"]).expect(2);
    import(
        &folder,
        &service,
        &database,
        &["--allow-duplicates", "--again"],
    )
    .expect(0);
    assert_eq!(service.stats().lead_requests, 12);
    import(&folder, &service, &database, &[]).expect(0);
    assert_eq!(service.stats().lead_requests, 12, "they are leads by now");
}

#[test]
fn what_is_pruned_or_forgotten_is_in_no_table_any_more() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(
        "[[rule]]\nphone_number = \"+447911000001\"\nreply = { status = 422, body = '{\"message\":\"Ada Lovelace is not wanted\"}' }",
    );
    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\n+447911000002,Bob\nGrace,x\n");
    import(&folder, &service, &database, &[]).expect(1);
    let dump = || {
        let tables = ["runs", "inputs", "outputs", "sent", "invalid_rows", "lists"];
        let rows = tables.map(|table| {
            database
                .sql(&format!("SELECT t::text FROM leadload.{table} AS t"))
                .join("\n")
        });
        rows.join("\n")
    };
    let before = dump();
    for text in ["Ada Lovelace", "Grace", "leads.csv", "campaign_ids"] {
        assert!(before.contains(text), "{text}: {before}");
    }
    let run = |args: &[&str]| with_ledger(folder.leadload(args), &database).expect(0);
    run(&["runs", "prune", "--older-than", "0s"]).shows("1 run");
    let pruned = dump();
    for text in ["Ada Lovelace", "Grace", "campaign_ids"] {
        assert!(!pruned.contains(text), "{text}: {pruned}");
    }
    import(&folder, &service, &database, &[]).expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "status")[1],
        "already_imported"
    );
    run(&["runs", "forget", "--number", "+447911000002", "--yes"]);
    assert!(!dump().contains("447911000002"));
    import(&folder, &service, &database, &[]).expect(1);
    // The service has it all the same.
    assert_eq!(folder.column("leads.results.csv", "status")[1], "duplicate");
    run(&["runs", "forget", "2", "--yes"]);
    let listed = run(&["runs", "--format", "json"]).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2, "{listed}");
}

#[test]
fn known_bad_rows_and_rejects_work_as_with_a_file() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("");
    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\n12,Bob\n");
    let skip = ["--known-bad", "skip"];
    import(&folder, &service, &database, &skip).expect(1);
    let again = import(
        &folder,
        &service,
        &database,
        &[&skip[..], &["--format", "json"]].concat(),
    );
    let summary = again.expect(0).json();
    assert_eq!(summary["known_bad"], 1, "{summary}");
    let fixed = folder
        .read("leads.rejects.csv")
        .replace("12,Bob", "+447911000002,Bob");
    folder.write("leads.rejects.csv", fixed);
    let rejects = folder
        .leadload(&["import", "leads.rejects.csv"])
        .at(&service);
    with_ledger(rejects, &database).expect(0);
    assert_eq!(service.leads().len(), 2);
}

#[test]
fn contacts_are_sent_by_the_socket_too() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario("");
    let folder = Folder::with_leads(&contacts(3));
    let run = folder.import_leads(&service, &[]);
    run.env("LEADLOAD_LEDGER", &database.socket_url()).expect(0);
    assert_eq!(database.sql("SELECT count(*) FROM leadload.sent"), ["3"]);
}

#[test]
fn a_start_whose_outputs_cannot_be_begun_ends_and_leaves_no_lease() {
    let Some(database) = Cluster::database() else {
        return;
    };
    // What is tried out before is shorter than the header of the rejects.
    let folder = Folder::with_leads(
        &rows(0, 3).replace("phone,name", &format!("phone,{}", "x".repeat(90_000))),
    );
    let service = scenario("");
    let args = ["import", "leads.csv", "--campaign", "101"];
    let full = folder.through_shell("ulimit -f 16 && exec \"$0\" \"$@\"", &args);
    let refused = with_ledger(full.at(&service), &database).expect(5);
    refused.tells("`leads.rejects.csv`");
    let live = "SELECT count(*) FROM leadload.senders WHERE until > clock_timestamp()";
    assert_eq!(database.sql(live), ["0"]);
    let show = ["runs", "show", "1", "--format", "json"];
    let shown = with_ledger(folder.leadload(&show), &database).expect(0);
    let run = shown.json();
    let start = &run["starts"][0];
    assert_eq!(start["stopped_by"], "disk", "{run}");
    assert_eq!(start["exit_code"], 5);
    assert!(start["ended_at"].is_string(), "{run}");
    import(&folder, &service, &database, &[]).expect(0);
    assert_eq!(service.stats().lead_requests, 3);
}
