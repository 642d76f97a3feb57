//! `leadload runs`, on ledgers that are made for these tests.

use std::fs::File;

use leadload::ledger::{Ledger, LedgerPlace, this_user_here};
use rusqlite::Connection;
use serde_json::json;

#[cfg(unix)]
use crate::terminal::Terminal;
use crate::util::{Folder, Output, Run, wait_until};

const HEADER: &str = "row,line,phone_number,campaign_id,status,lead_id,http_status,attempts,\
    error_code,error,settled_at,phone_country,phone_kind";

/// Three runs: a complete one, a stopped one with two inputs, and one that
/// was killed during a request.
const RUNS: &str = r#"
INSERT INTO services (id, address) VALUES (1, 'https://service.example');
INSERT INTO runs (id, service, identity, options, began_at, completed_at,
    reached, counts) VALUES
    (1, 1, x'01', '{"campaign":"Spring promo","campaign_ids":{"Spring promo":101},"limit":null}',
     1795230000, 1795230060, 1, '{"created":2,"rejected":1,"invalid":1}'),
    (2, 1, x'02', '{"campaign":null,"campaign_column":"Camp"}',
     1795240000, NULL, 1, '{"created":1}'),
    (3, 1, x'03', '{"campaign":"102"}', 1795250000, NULL, 1, '{}');
INSERT INTO starts (run, start, began_at, ended_at, process, host, version, exit_code, stopped_by, requests, seq)
VALUES
    (1, 1, 1795230000, 1795230060, 41, 'host', '0.1.0', 1, NULL, 3, 1),
    (2, 1, 1795240000, NULL, 42, 'host', '0.1.0', NULL, NULL, NULL, 2),
    (2, 2, 1795240100, 1795240200, 43, 'host', '0.1.0', 3, 'outage', 9, 3),
    (3, 1, 1795250000, NULL, 44, 'host', '0.1.0', NULL, NULL, NULL, 4);
INSERT INTO inputs (run, position, name, path, sha256, bytes, columns, rows) VALUES
    (1, 0, 'a.csv', '/lists/a.csv', zeroblob(32), 70, zeroblob(32), 4),
    (2, 0, 'b.csv', '/lists/b.csv', zeroblob(32), 70, zeroblob(32), NULL),
    (2, 1, 'c.csv', '/lists/c.csv', zeroblob(32), 70, zeroblob(32), NULL),
    (3, 0, '-', NULL, zeroblob(32), 70, zeroblob(32), NULL);
INSERT INTO lists VALUES (1, 1, 0, 'dnc.txt', zeroblob(32), 20);
INSERT INTO outputs (run, path, kind, sha256, rows, place) VALUES
    (1, '/lists/a.results.csv', 'results', zeroblob(32), 4, zeroblob(32)),
    (1, '/lists/a.rejects.csv', 'rejects', NULL, NULL, zeroblob(32));
INSERT INTO sent (service, number, campaign, run, row, file, line_offset, status, http_status,
    attempts, lead_id, settled_at, error_code, error) VALUES
    (1, 447911000009, 101, 1, 1, 0, 1, 0, 200, 1, 7001, 1795230001, NULL, NULL),
    (1, 447911000008, 101, 1, 2, 0, 1, 7, 422, 1, NULL, NULL, 'http_422', '=refused'),
    (1, 447911000007, 101, 1, 4, 0, 1, 0, 201, 2, 7002, 1795230002, 'answer_lost', 'late'),
    (1, 447911000006, 102, 2, 2, 1, 0, 0, 201, 1, 7003, 1795240001, NULL, NULL);
INSERT INTO invalid_rows VALUES
    (1, 3, 0, 4, 101, 'n/a', 'phone_not_e164', 'no number'),
    (2, 1, 0, 2, NULL, '07911 1', 'phone_not_e164', 'no region');
-- A claim of +447911000005 for campaign 102.
INSERT INTO journal (run, entries) VALUES (3, x'01010002c5efcdcc840dcc010000');
"#;

/// A folder with a ledger.
fn folder() -> Folder {
    let folder = Folder::new();
    sql(&folder, RUNS);
    folder
}

fn sql(folder: &Folder, sql: &str) {
    let path = folder.path("ledger.sqlite3");
    Ledger::open(&LedgerPlace::file(&path)).unwrap();
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn runs(folder: &Folder, args: &[&str]) -> Run {
    let all = [&["runs"], args].concat();
    folder
        .leadload(&all)
        .env("LEADLOAD_LEDGER", "ledger.sqlite3")
}

/// The lock of a run that is sending to the only service.
fn sender(folder: &Folder) -> File {
    let lock = File::create(folder.path("ledger.sqlite3.sender-1")).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn all_runs_are_listed_the_latest_last() {
    let folder = folder();
    let expected = "\
run  began (UTC)       state            campaign      inputs            rows  created  problems
  1  2026-11-21 03:00  complete         Spring promo  a.csv                4        2         2
  2  2026-11-21 05:46  stopped: outage  column Camp   b.csv and 1 more     1        1         0
  3  2026-11-21 08:33  killed           102           -                    1        0         1
";
    assert_eq!(runs(&folder, &[]).expect(0).stdout, expected);
    assert_eq!(runs(&folder, &["list"]).expect(0).stdout, expected);
    let json = runs(&folder, &["--format", "json"]).expect(0).json();
    let numbers: Vec<_> = json["runs"].as_array().unwrap().iter().collect();
    assert_eq!(numbers.len(), 3);
    assert_eq!(numbers[2]["run"], 3);
    let shown = runs(&folder, &["show", "3", "--format", "json"]).expect(0);
    assert_eq!(*numbers[2], shown.json());
}

#[test]
fn the_newest_runs_alone_are_listed_in_the_same_order() {
    let folder = folder();
    let all = runs(&folder, &["--format", "json"]).expect(0).json();
    let all = all["runs"].as_array().unwrap();
    for (last, left) in [("1", &all[2..]), ("2", &all[1..]), ("3", all), ("99", all)] {
        for args in [["--last", last, "list"], ["list", "--last", last]] {
            let args = [&args[..], &["--format", "json"]].concat();
            let json = runs(&folder, &args).expect(0).json();
            assert_eq!(json, json!({ "runs": left }), "{last}");
        }
    }
    let text = runs(&folder, &["--last", "2"]).expect(0).stdout;
    let numbers: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(numbers, ["run", "2", "3"]);
    runs(&folder, &["list", "--last", "0"]).expect(2);
    runs(&folder, &["--last", "1", "show"])
        .expect(2)
        .tells("`leadload runs list`");
}

#[test]
fn who_has_started_a_run_is_listed_where_others_than_this_user_have() {
    let folder = folder();
    sql(
        &folder,
        "UPDATE starts SET started_by = 'ada';
         UPDATE starts SET started_by = 'grace', host = 'lab' WHERE run = 2 AND start = 2;",
    );
    let listed = runs(&folder, &[]).expect(0);
    listed.shows("problems  by");
    listed.shows("ada on host, grace on lab");
    let shown = runs(&folder, &["show", "2"]).expect(0);
    shown.shows("42 of ada on host");
    shown.shows("43 of grace on lab");
    let (host, user) = this_user_here();
    sql(
        &folder,
        &format!("UPDATE starts SET started_by = '{user}', host = '{host}'"),
    );
    let own = runs(&folder, &[]).expect(0).stdout;
    assert!(!own.contains("problems  by"), "{own}");
}

#[test]
fn the_service_is_listed_where_there_is_more_than_one() {
    let folder = folder();
    sql(
        &folder,
        "INSERT INTO services (id, address) VALUES (2, 'https://other.example');
         UPDATE runs SET service = 2 WHERE id = 3;",
    );
    let listed = runs(&folder, &[]).expect(0).stdout;
    let services: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .collect();
    let (one, other) = ("https://service.example", "https://other.example");
    assert_eq!(services, ["service", one, one, other]);
}

#[cfg(unix)]
#[test]
fn the_list_is_as_wide_as_the_terminal() {
    let folder = folder();
    let (code, shown) = Terminal::start(runs(&folder, &[]), 80, 24).end();
    assert_eq!(code, 0, "{shown}");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest.unwrap() <= 80, "{shown}");
    for part in [
        "run  began (UTC)",
        "2  2026-11-21 05:46  stopped:  column",
        "b.csv",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn a_run_is_at_work_while_its_process_holds_the_lock() {
    let folder = folder();
    let lock = sender(&folder);
    let state = |run: &str| {
        let shown = runs(&folder, &["show", run, "--format", "json"]).expect(0);
        let json = shown.json();
        (json["at_work"].clone(), json["killed"].clone())
    };
    assert_eq!(state("3"), (json!(true), json!(false)));
    assert_eq!(state("2"), (json!(false), json!(false)));
    let text = runs(&folder, &["show"]).expect(0).stdout;
    assert!(text.starts_with("Run 3: running\n"), "{text}");
    drop(lock);
    // A program that another test starts holds it too until its own code runs.
    wait_until("free", || state("3") == (json!(false), json!(true)));
}

#[test]
fn without_a_ledger_there_are_no_runs_and_none_is_made() {
    let folder = Folder::new();
    runs(&folder, &[]).expect(0).shows("ledger.sqlite3");
    let json = runs(&folder, &["--format", "json"]).expect(0);
    assert_eq!(json.stdout, "{\"runs\":[]}\n");
    let shown = runs(&folder, &["show"]).expect(2);
    shown.tells("`ledger.sqlite3`");
    let prune = ["prune", "--older-than", "0s", "--format", "json"];
    assert_eq!(runs(&folder, &prune).expect(0).json()["runs"], 0);
    let forget = "forget --number +447911000009 --yes --format json";
    let forget: Vec<&str> = forget.split(' ').collect();
    assert_eq!(runs(&folder, &forget).expect(0).json()["leads"], 0);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn where_a_ledger_was_looked_for_is_said_unless_it_is_the_usual_place() {
    let folder = Folder::new();
    let usual = folder.leadload(&["runs"]).expect(0);
    assert!(!usual.stdout.contains("sqlite3"), "{}", usual.stdout);
    folder.write("config.toml", "ledger = 'nowhere.sqlite3'");
    let by_profile = ["runs", "--config", "config.toml"];
    let said = folder.leadload(&by_profile).expect(0).stdout;
    assert!(said.contains("nowhere.sqlite3"), "{said}");
    // A path that is given must be an existing file.
    let typed = ["runs", "--ledger", "nowhere.sqlite3"];
    let refused = folder.leadload(&typed).expect(2);
    assert_eq!(refused.stdout, "");
    refused.tells("`nowhere.sqlite3`");
}

#[test]
fn a_choice_to_have_no_ledger_is_refused() {
    let folder = folder();
    for run in [
        runs(&folder, &["--ledger", "none"]),
        runs(&folder, &["export", "--results", "x.csv"]).env("LEADLOAD_LEDGER", "none"),
    ] {
        let refused = run.expect(2);
        refused.tells("`none`");
        assert_eq!(refused.stdout, "");
    }
    let json = runs(&folder, &["--ledger=none", "--format=json"]).expect(2);
    assert_eq!(json.json()["stopped_by"], "usage");
}

#[cfg(target_os = "linux")]
#[test]
fn the_ledger_is_in_the_users_state_folder_where_nothing_is_said() {
    let folder = folder();
    let place = folder.ledger();
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::rename(folder.path("ledger.sqlite3"), place).unwrap();
    let unset = folder.leadload(&["runs"]);
    let empty = folder.leadload(&["runs"]).env("LEADLOAD_LEDGER", "");
    for run in [unset, empty] {
        assert_eq!(run.expect(0).stdout.lines().count(), 4);
    }
}

#[test]
fn a_run_is_shown_for_people() {
    let folder = folder();
    let [complete, stopped] = ["1", "2"].map(|run| runs(&folder, &["show", run]).expect(0).stdout);
    insta::assert_snapshot!("runs_for_people", format!("{complete}\n{stopped}"));
}

#[test]
fn a_run_is_shown_for_machines() {
    let folder = folder();
    let zeros = "0".repeat(64);
    let shown = runs(&folder, &["show", "1", "--format", "json"]).expect(0);
    let list = json!({"name": "dnc.txt", "sha256": zeros, "rows": 20});
    assert_eq!(
        shown.json(),
        json!({
            "run": 1,
            "service": "https://service.example",
            "complete": true,
            "at_work": false,
            "killed": false,
            "tag": null,
            "began_at": "2026-11-21T03:00:00Z",
            "completed_at": "2026-11-21T03:01:00Z",
            "pruned_at": null,
            "undo": null,
            "options": {
                "campaign": "Spring promo",
                "campaign_ids": {"Spring promo": 101},
                "limit": null,
            },
            "rows": 4,
            "counts": {
                "created": 2, "duplicate": 0, "repeated": 0, "already_imported": 0,
                "excluded": 0,
                "suppressed": 0, "invalid": 1, "rejected": 1, "failed": 0, "uncertain": 0,
                "ready": 0,
            },
            "starts": [{
                "began_at": "2026-11-21T03:00:00Z",
                "ended_at": "2026-11-21T03:01:00Z",
                "process": 41,
                "host": "host",
                "user": null,
                "version": "0.1.0",
                "exit_code": 1,
                "stopped_by": null,
                "requests": 3,
                "lists": [list],
            }],
            "inputs": [{
                "name": "a.csv", "path": "/lists/a.csv", "sha256": zeros, "bytes": 70, "rows": 4,
            }],
            "lists": [list],
            "outputs": [
                {
                    "name": "a.results.csv", "path": "/lists/a.results.csv", "kind": "results",
                    "sha256": zeros, "rows": 4, "state": "elsewhere",
                },
                {
                    "name": "a.rejects.csv", "path": "/lists/a.rejects.csv", "kind": "rejects",
                    "sha256": null, "rows": null, "state": null,
                },
            ],
        })
    );
}

#[test]
fn the_last_run_is_the_one_that_was_started_last() {
    let folder = folder();
    let last = |folder: &Folder| {
        let shown = runs(folder, &["show", "last", "--format", "json"]).expect(0);
        shown.json()["run"].clone()
    };
    assert_eq!(last(&folder), 3);
    sql(
        &folder,
        "INSERT INTO starts (run, start, began_at, process, host, version, seq) VALUES (2, 3, 1795260000, 45, 'host', '0.1.0', 5)",
    );
    assert_eq!(last(&folder), 2);
    // Recorded last, under a clock that was a day behind.
    sql(
        &folder,
        "INSERT INTO starts (run, start, began_at, process, host, version, seq) VALUES (1, 2, 1795143600, 46, 'host', '0.1.0', 6)",
    );
    assert_eq!(last(&folder), 1);
    let newest = runs(&folder, &["list", "--last", "1", "--format", "json"]);
    assert_eq!(newest.expect(0).json()["runs"][0]["run"], 1);
}

#[test]
fn a_run_is_also_named_as_its_rejects_name_it_and_another_with_that_number_is_not_meant() {
    let folder = folder();
    sql(&folder, "UPDATE runs SET tag = 'bcdfg' WHERE id = 2");
    let shown = runs(&folder, &["show", "2-bcdfg", "--format", "json"]).expect(0);
    assert_eq!(shown.json()["tag"], "bcdfg");
    for other in ["2-bcdfh", "1-bcdfg"] {
        let stderr = runs(&folder, &["show", other]).expect(2).stderr;
        assert!(stderr.contains(&format!("run {other} ")), "{stderr}");
    }
}

#[test]
fn a_run_that_is_not_there_is_refused_with_those_that_are() {
    let folder = folder();
    for args in [
        &["show", "7"][..],
        &["export", "7", "--results", "x.csv"],
        &["forget", "7", "--yes"],
    ] {
        let refused = runs(&folder, args).expect(2);
        refused.tells("run 7 ");
        assert_eq!(refused.stdout, "");
    }
    assert!(!folder.path("x.csv").exists());
}

#[test]
fn an_export_of_one_run_is_a_results_file() {
    let folder = folder();
    let said = runs(&folder, &["export", "1", "--results", "x.csv"]).expect(0);
    insta::assert_snapshot!("export_for_people", said.stdout);
    assert_eq!(
        folder.read("x.csv"),
        format!(
            "{HEADER}\n\
             1,2,+447911000009,101,created,7001,200,1,,,2026-11-21T03:00:01Z,GB,mobile\n\
             2,3,+447911000008,101,rejected,,422,1,http_422,'=refused,,GB,mobile\n\
             3,4,n/a,101,invalid,,,0,phone_not_e164,no number,,,\n\
             4,5,+447911000007,101,created,7002,201,2,answer_lost,late,2026-11-21T03:00:02Z,GB,mobile\n"
        )
    );
}

#[test]
fn an_export_of_several_runs_says_which_run_and_which_file() {
    let folder = folder();
    let said = runs(
        &folder,
        &["export", "--results", "x.csv", "--format", "json"],
    )
    .expect(0);
    let json = said.json();
    assert_eq!(
        (&json["results"], &json["rows"]),
        (&json!("x.csv"), &json!(7))
    );
    assert_eq!(json["counts"]["uncertain"], 1);
    let text = folder.read("x.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], format!("file,{HEADER},run"));
    assert_eq!(
        lines[5..7],
        [
            "b.csv,1,2,07911 1,,invalid,,,0,phone_not_e164,no region,,,,2",
            "c.csv,2,2,+447911000006,102,created,7003,201,1,,,2026-11-21T05:46:41Z,GB,mobile,2",
        ]
    );
    let uncertain = "-,1,2,+447911000005,102,uncertain,,,1,answer_lost,";
    assert!(lines[7].starts_with(uncertain), "{}", lines[7]);
    assert!(lines[7].ends_with(",,GB,mobile,3"), "{}", lines[7]);
    assert_eq!(lines.len(), 8);
}

#[test]
fn rows_are_exported_by_campaign_and_by_status() {
    let folder = folder();
    let rows = |args: &[&str]| {
        let all = [&["export", "--results", "x.csv"], args].concat();
        runs(&folder, &all).expect(0);
        let text = folder.read("x.csv");
        text.lines().count() - 1
    };
    assert_eq!(rows(&["--campaign", "102"]), 2);
    assert_eq!(rows(&["--campaign", "Spring promo"]), 4);
    assert_eq!(rows(&["--status", "created,rejected"]), 4);
    assert_eq!(
        rows(&["--status", "created", "--status", "invalid", "1"]),
        3
    );
    assert_eq!(rows(&["--status", "failed"]), 0);
    let unknown = runs(
        &folder,
        &["export", "--results", "x.csv", "--campaign", "Autumn"],
    )
    .expect(2);
    unknown.tells("`Autumn`");
    runs(
        &folder,
        &["export", "--results", "x.csv", "--status", "repeated"],
    )
    .expect(2);
}

#[test]
fn an_export_keeps_a_file_in_its_place_and_leaves_nothing_else() {
    let folder = folder();
    folder.write("x.csv", "mine");
    let said = runs(&folder, &["export", "--results", "x.csv"]).expect(0);
    let kept = said.stdout.split_whitespace().last().unwrap();
    assert_eq!(folder.read(kept), "mine");
    let names = folder.names();
    let others = names.iter().filter(|name| !name.starts_with("ledger"));
    assert_eq!(others.count(), 2, "{names:?}");
}

#[test]
fn an_export_is_never_written_over_the_ledger_or_an_input() {
    let folder = folder();
    folder.write("b.csv", "phone\n");
    let input = folder.path("b.csv");
    sql(
        &folder,
        &format!(
            "UPDATE inputs SET path = '{}' WHERE name = 'b.csv'",
            input.display()
        ),
    );
    for place in ["ledger.sqlite3", "b.csv", "none", "x.xlsx", "."] {
        runs(&folder, &["export", "1", "--results", place]).expect(2);
    }
    assert_eq!(folder.read("b.csv"), "phone\n");
    assert_eq!(runs(&folder, &[]).expect(0).stdout.lines().count(), 4);
}

#[test]
fn an_export_to_standard_output_is_the_same_file_and_leaves_none() {
    let folder = folder();
    runs(&folder, &["export", "--results", "x.csv"]).expect(0);
    let before = folder.names();
    let printed = runs(&folder, &["export", "--results", "-"]).expect(0);
    assert_eq!(printed.stdout, folder.read("x.csv"));
    printed.tells("7 rows\n");
    let quiet = runs(&folder, &["export", "--results", "-", "--quiet"]).expect(0);
    assert_eq!((quiet.stdout, &*quiet.stderr), (printed.stdout, ""));
    assert_eq!(folder.names(), before);
}

#[test]
fn a_reader_that_has_seen_enough_of_an_export_is_a_normal_end() {
    let folder = folder();
    let mut child = runs(&folder, &["export", "--results", "-", "-q"]).start();
    drop(child.stdout.take());
    let output = Output::of(child);
    assert_eq!((output.code, &*output.stderr), (0, ""));
}

#[test]
fn what_was_done_is_not_said_under_quiet_except_to_programs() {
    let folder = folder();
    for args in [
        &["copy", "--to", "copy.sqlite3"][..],
        &["export", "--results", "x.csv"],
        &["prune", "--older-than", "900d"],
        &["forget", "1", "--yes"],
    ] {
        let quiet = runs(&folder, &[args, &["-q"]].concat()).expect(0);
        assert_eq!((&*quiet.stdout, &*quiet.stderr), ("", ""), "{args:?}");
    }
    let json = ["copy", "--to", "other.sqlite3", "-q", "--format", "json"];
    assert_eq!(
        runs(&folder, &json).expect(0).json()["copy"],
        "other.sqlite3"
    );
    // What was asked for is printed.
    assert_ne!(runs(&folder, &["list", "-q"]).expect(0).stdout, "");
}

#[test]
fn an_export_is_not_imported() {
    let folder = folder();
    runs(&folder, &["export", "--results", "x.csv"]).expect(0);
    let service = crate::util::service();
    let refused = folder.import(&service, &["x.csv", "--campaign", "101"]);
    let stderr = refused.expect(2).stderr;
    assert!(stderr.contains("`*.csv`"), "{stderr}");
}

#[test]
fn nothing_is_forgotten_without_a_confirmation() {
    let folder = folder();
    for what in [
        &["1"][..],
        &["--number", "+447911000009"],
        &["--campaign", "101"],
    ] {
        let refused = runs(&folder, &[&["forget"], what].concat()).expect(2);
        refused.tells("`--yes`");
    }
    assert_eq!(runs(&folder, &[]).expect(0).stdout.lines().count(), 4);
    runs(&folder, &["forget", "--yes"]).expect(2);
    let both = ["forget", "1", "--number", "+447911000009", "--yes"];
    runs(&folder, &both).expect(2);
    runs(&folder, &["forget", "--number", "07911 000009", "--yes"]).expect(2);
}

#[test]
fn a_run_is_forgotten_with_its_leads() {
    let folder = folder();
    let said = runs(&folder, &["forget", "1", "--yes"]).expect(0);
    said.shows("Run 1 ");
    said.shows("2 leads");
    let list = runs(&folder, &[]).expect(0).stdout;
    assert_eq!(list.lines().count(), 3);
    runs(&folder, &["show", "1"]).expect(2);
    runs(&folder, &["export", "--results", "x.csv"]).expect(0);
    assert_eq!(folder.column("x.csv", "run"), ["2", "2", "3"]);
}

#[test]
fn a_number_is_forgotten_in_every_campaign() {
    let folder = folder();
    let forget = ["forget", "--number", "+447911000009", "--yes"];
    let said = runs(&folder, &forget).expect(0);
    said.shows("1 lead ");
    let again = [&forget[..], &["--format", "json"]].concat();
    let json = runs(&folder, &again).expect(0).json();
    assert_eq!(json, json!({"run": null, "leads": 0}));
}

#[test]
fn rows_of_a_killed_run_and_cells_of_a_campaign_are_forgotten_with_it() {
    let folder = folder();
    let forget = |campaign: &str| {
        let args = [
            "forget",
            "--campaign",
            campaign,
            "--yes",
            "--format",
            "json",
        ];
        runs(&folder, &args).expect(0).json()["leads"].clone()
    };
    assert_eq!([forget("102"), forget("101")], [1, 2]);
    let export = ["export", "--results", "x.csv"];
    runs(&folder, &export).expect(0);
    assert_eq!(folder.column("x.csv", "phone_number"), ["", "07911 1"]);
}

#[test]
fn pruned_runs_lose_names_and_texts_and_stay_in_the_list() {
    let folder = folder();
    let too_young = runs(&folder, &["prune", "--older-than", "5000w"]).expect(0);
    assert_eq!(too_young.stdout, "nothing to prune\n");
    // Long ago, whenever this test runs.
    sql(
        &folder,
        "UPDATE starts SET began_at = 1000, ended_at = 1000",
    );
    let pruned = ["prune", "--older-than", "0s", "--format", "json"];
    assert_eq!(runs(&folder, &pruned).expect(0).json()["runs"], 3);
    let list = runs(&folder, &[]).expect(0).stdout;
    assert_eq!(list.matches("(pruned)").count(), 3, "{list}");
    runs(&folder, &["show", "1"]).expect(0);
    runs(&folder, &["export", "1", "--results", "x.csv"]).expect(0);
    assert_eq!(
        folder.column("x.csv", "phone_number"),
        ["+447911000009", "+447911000008", "", "+447911000007"]
    );
    for age in ["90", "-1d", "3mo"] {
        runs(&folder, &["prune", &format!("--older-than={age}")]).expect(2);
    }
}

#[test]
fn nothing_is_removed_while_a_run_is_sent() {
    let folder = folder();
    let lock = sender(&folder);
    for args in [
        &["prune", "--older-than", "0s"][..],
        &["forget", "1", "--yes"],
        &["forget", "--number", "+447911000009", "--yes"],
        &["forget", "--campaign", "102", "--yes"],
    ] {
        let busy = runs(&folder, args).expect(6);
        for named in ["run 3", "process 44 on host", "2026-11-21 08:33:20 UTC"] {
            busy.tells(named);
        }
        assert_eq!(busy.stdout, "");
    }
    runs(&folder, &["export", "--results", "x.csv"]).expect(0);
    assert_eq!(folder.records("x.csv").len(), 7);
    drop(lock);
    // See above.
    wait_until("free", || {
        runs(&folder, &["forget", "1", "--yes"]).output().code == 0
    });
}

#[test]
fn a_file_that_is_no_ledger_is_refused() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let refused = runs(&folder, &["--ledger", "leads.csv"]).expect(5);
    refused.tells("`leads.csv`");
}

#[cfg(unix)]
#[test]
fn an_export_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    runs(&folder, &["export", "--results", "x.csv"]).expect(0);
    let mode = folder
        .path("x.csv")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}
