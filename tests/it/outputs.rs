//! Results and rejects files: where they are written, and what they never do.

#[cfg(unix)]
use std::path::Path;

use crate::transcript::without_tags;
use crate::util::{Folder, Output, contacts, scenario, service, wait_for_requests};

#[test]
fn a_rejects_file_can_be_fixed_and_imported_as_it_is() {
    let folder = Folder::with_leads(
        "name,phone,city\nAda,+447911000001,Leeds\nBob,x,York\nCy,+447911000003\nDi,+447911000004,Bath,extra,\"a,b\"\n",
    );
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    let rejects = folder.read("leads.rejects.csv");
    assert!(
        rejects
            .lines()
            .nth(3)
            .unwrap()
            .ends_with(",\"extra,\"\"a,b\"\"\""),
        "{rejects}"
    );

    // Bob is fixed. Cy is filled in, but keeps its error code. Di is done.
    let fixed = rejects
        .replace("Bob,x,", "Bob,+447911000002,")
        .replace("Cy,+447911000003,,", "Cy,+447911000003,Hull,")
        .replace(
            "Di,+447911000004,Bath,4,invalid,field_count,",
            "Di,+447911000004,Bath,4,invalid,,",
        );
    folder.write("leads.rejects.csv", fixed);
    folder
        .import(&service, &["leads.rejects.csv", "--campaign", "101"])
        .expect(1);
    assert_eq!(
        folder.column("leads.rejects.results.csv", "status"),
        ["created", "invalid", "created"]
    );
    let rejects = without_tags(&folder.read("leads.rejects.rejects.csv"));
    let (header, row) = rejects.split_once('\n').unwrap();
    assert_eq!(
        header,
        "\u{FEFF}name,phone,city,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run"
    );
    let begin = "Cy,+447911000003,Hull,2,invalid,field_count,";
    assert!(row.starts_with(begin), "{row}");
    assert!(row.ends_with(" leadload_error_code\",2-TAG\n"), "{row}");
    let leads = service.leads();
    let names: Vec<&str> = leads
        .iter()
        .map(|lead| lead.variables["name"].as_str())
        .collect();
    assert_eq!(names, ["Ada", "Bob", "Di"]);
    assert!(
        leads.iter().all(|lead| lead.variables.len() == 2),
        "{leads:?}"
    );
}

#[test]
fn existing_files_are_kept_under_another_name() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.write("leads.results.csv", "mine");
    folder.write("leads.rejects.csv", "mine too");
    let output = folder.import_leads(&service(), &[]).expect(0);
    let names = folder.names();
    assert_eq!(names.len(), 4, "{names:?}");
    let kept = |kind: &str| {
        let name = names
            .iter()
            .find(|name| name.starts_with(&format!("leads.{kind}.2")))
            .unwrap();
        // leads.results.20261121T031022Z.csv
        assert_eq!(
            name.len(),
            format!("leads.{kind}.20261121T031022Z.csv").len()
        );
        output.shows(name.as_str());
        folder.read(name)
    };
    assert_eq!(kept("results"), "mine");
    assert_eq!(kept("rejects"), "mine too");
    assert_eq!(folder.column("leads.results.csv", "status"), ["created"]);
}

#[test]
fn outputs_can_be_named_or_left_out() {
    let folder = Folder::with_leads("phone\nx\n");
    folder
        .import_leads(&service(), &["--results", "none", "--rejects", "fix.csv"])
        .expect(1);
    assert_eq!(folder.names(), ["fix.csv", "leads.csv"]);
}

#[test]
fn what_a_killed_run_has_left_is_kept_and_not_in_the_way() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    folder.write("leads.results.csv.part", "row,line\n1,2\n");
    folder.import_leads(&service(), &[]).expect(0);
    let kept: Vec<String> = folder
        .names()
        .into_iter()
        .filter(|name| name.starts_with("leads.results.csv.2") && name.ends_with("Z.part"))
        .collect();
    assert_eq!(kept.len(), 1, "{:?}", folder.names());
    assert_eq!(folder.read(&kept[0]), "row,line\n1,2\n");
}

/// Sends enough rows for the results to be begun, interferes with them, and ends.
#[cfg(unix)]
fn import_with_interference(folder: &Folder, interfere: impl FnOnce()) -> Output {
    let service = service();
    let child = folder.import_leads(&service, &[]).start();
    wait_for_requests(&service, 10);
    interfere();
    Output::of(child)
}

#[cfg(unix)]
#[test]
fn results_that_are_deleted_while_they_are_written_are_missed() {
    let folder = Folder::with_leads(&contacts(20_000));
    folder.write("leads.results.csv", "of the last time");
    let part = folder.path("leads.results.csv.part");
    let output = import_with_interference(&folder, || std::fs::remove_file(&part).unwrap());
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("`leads.results.csv.part`");
    assert_eq!(folder.read("leads.results.csv"), "of the last time");
}

/// A limit on the size of files acts like a full disk and needs no special rights.
#[cfg(unix)]
#[test]
fn a_full_disk_stops_the_run_and_leaves_what_was_written() {
    let folder = Folder::with_leads(&contacts(5_000));
    let service = service();
    let args = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
    let output = folder
        .through_shell("ulimit -f 64 && exec \"$0\" \"$@\"", &args)
        .at(&service)
        .env("LEADLOAD_LEDGER", "none")
        .output();
    assert_eq!(output.code, 5, "{}", output.stderr);
    for text in ["`leads.results.csv`", "ulimit -f"] {
        output.tells(text);
    }
    assert_eq!(
        folder.names(),
        [
            "leads.csv",
            "leads.rejects.csv.part",
            "leads.results.csv.part"
        ]
    );
    let lines = folder.read("leads.results.csv.part").lines().count();
    assert!(lines > 100 && lines < 5_000, "{lines}");
}

/// Every write is too much.
#[cfg(unix)]
#[test]
fn a_disk_that_is_full_for_any_output_is_found_out_before_anything_is_sent() {
    let outputs = [
        ["--results", "out.csv", "--rejects", "none"],
        ["--results", "none", "--rejects", "out.csv"],
        ["--results", "none", "--rejects", "out.xlsx"],
        ["--results", "none", "--report", "out.html"],
    ];
    for named in outputs {
        let folder = Folder::with_leads(&contacts(3));
        let service = service();
        for command in ["import", "check"] {
            let args = [
                command,
                "leads.csv",
                "--campaign",
                "101",
                "--format",
                "json",
            ];
            let no_rejects = if named.contains(&"--report") {
                &["--rejects", "none"][..]
            } else {
                &[]
            };
            let output = folder
                .through_shell(
                    "ulimit -f 0 && exec \"$0\" \"$@\"",
                    &[&args[..], &named, no_rejects].concat(),
                )
                .at(&service)
                .env("LEADLOAD_LEDGER", "none")
                .output();
            assert_eq!(output.code, 5, "{named:?} {}", output.stderr);
            assert_eq!(output.json()["stopped_by"], "disk", "{named:?}");
            output.tells("ulimit -f");
            assert_eq!(folder.names(), ["leads.csv"], "{named:?}");
        }
        assert_eq!(service.stats().lead_requests, 0);
    }
}

#[cfg(unix)]
#[test]
fn standard_input_that_is_too_long_for_the_disk_says_where_to_make_room() {
    let folder = Folder::new();
    let output = folder
        .through_shell(
            "ulimit -f 8 && exec \"$0\" \"$@\"",
            &["check", "-", "--campaign", "101"],
        )
        .stdin(contacts(2000).as_bytes())
        .output();
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("TMPDIR");
}

#[test]
fn two_runs_cannot_write_the_same_files() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    // A service that accepts the connection and never answers holds up the first run.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut first = folder
        .leadload(&["import", "leads.csv", "--campaign", "101"])
        .env(
            "LEADLOAD_BASE_URL",
            &format!("http://{}", listener.local_addr().unwrap()),
        )
        .env("LEADLOAD_TOKEN", "t")
        .start();
    let _connection = listener.accept().unwrap();
    let output = folder.import_leads(&service(), &[]).expect(6);
    output.tells("`leads.results.csv`");
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock is gone with its process.
    folder.import_leads(&service(), &[]).expect(0);
}

#[test]
fn an_input_that_ends_in_part_is_not_taken_for_an_unfinished_output() {
    let folder = Folder::new();
    folder.write("x.csv.part", "phone\n+447911000001\n");
    let output = folder
        .import(
            &service(),
            &["x.csv.part", "--campaign", "101", "--results", "x.csv"],
        )
        .expect(2);
    output.tells("`x.csv.part`");
    assert_eq!(folder.read("x.csv.part"), "phone\n+447911000001\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_not_a_success() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_leadload"))
        .args(["import", "leads.csv", "--dry-run", "--format", "json"])
        .current_dir(folder.path(""))
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(5));
}

#[test]
fn a_bar_that_is_asked_for_is_drawn_also_where_there_is_no_terminal() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let bar = |when: &str| {
        let args = ["leads.csv", "--campaign", "101", "--progress", when];
        folder
            .import(&service(), &args)
            .expect(0)
            .stderr
            .contains("created")
    };
    assert!(bar("always"));
    assert!(
        !folder
            .import_leads(&service(), &[])
            .expect(0)
            .stderr
            .contains("created")
    );
}

#[test]
fn columns_that_were_added_or_moved_in_a_rejects_file_stay_what_they_are() {
    let folder = Folder::new();
    folder.write(
        "fixed.csv",
        "leadload_row,Name,leadload_status,Phone,leadload_error_code,leadload_error,leadload_run,City\n\
         1,Ada,invalid,+447911000001,phone_not_e164,x,,Leeds\n\
         2,Bob,invalid,x,phone_not_e164,x,,York\n",
    );
    let service = service();
    folder
        .import(&service, &["fixed.csv", "--campaign", "101"])
        .expect(1);
    let lead = &service.leads()[0];
    let sent: Vec<_> = lead
        .variables
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    assert_eq!(sent, [("city", "Leeds"), ("name", "Ada")]);
    assert_eq!(
        folder.read("fixed.rejects.csv").lines().next(),
        Some(
            "\u{FEFF}Name,Phone,City,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run"
        )
    );
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_unicode_is_still_summarised() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = OsStr::from_bytes(b"caf\xe9.csv");
    // Some file systems accept only Unicode names.
    if std::fs::write(folder.path("").join(name), "phone\n+447911000001\n").is_err() {
        return;
    }
    let output = folder
        .leadload(&[
            "import",
            "--sandbox",
            "--campaign",
            "101",
            "--format",
            "json",
        ])
        .arg(name)
        .expect(0);
    assert_eq!(output.json()["results"], "caf\u{FFFD}.sandbox.results.csv");
}

#[test]
fn an_input_that_changes_while_it_is_read_is_not_taken_for_complete() {
    // More rows than are read ahead of the sending.
    let folder = Folder::with_leads(&contacts(200_000));
    let service = service();
    let child = folder.import_leads(&service, &["--format", "json"]).start();
    wait_for_requests(&service, 10);
    folder.write("leads.csv", "phone\n");
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "input");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["counts"]["created"], service.leads().len());
}

#[test]
fn inputs_are_never_changed() {
    let text = "phone,name\n+447911000001,Ada\nx,Bob\n";
    let folder = Folder::with_leads(text);
    folder.import_leads(&service(), &[]).expect(1);
    assert_eq!(folder.read("leads.csv"), text);
}

#[test]
fn formulas_are_made_harmless_in_results_and_in_the_added_columns_only() {
    let folder = Folder::with_leads("phone,name\n=1+1,=cmd\n+44 7911 000001,Ada\n");
    folder.import_leads(&service(), &[]).expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "phone_number"),
        ["'=1+1", "+447911000001"]
    );
    assert!(
        folder
            .read("leads.rejects.csv")
            .contains("\n=1+1,=cmd,1,invalid,")
    );
}

#[test]
fn a_formula_behind_another_delimiter_is_harmless_where_that_splits_the_line() {
    let folder = Folder::with_leads("phone;name\n\"x,=1+1,y\";Ada\n");
    folder.import_leads(&service(), &[]).expect(1);
    let results = folder.read("leads.results.csv");
    assert!(results.contains("1;2;x,'=1+1,y;101;invalid;"), "{results}");

    let folder = Folder::with_leads("phone,name\n\"x;=1+1;y\",\"x;=1+1;y\"\n");
    folder.import_leads(&service(), &[]).expect(1);
    let results = folder.read("leads.results.csv");
    assert!(results.contains("1,2,x;'=1+1;y,101,invalid,"), "{results}");
    // The list's own cells stay as they were.
    let rejects = folder.read("leads.rejects.csv");
    assert!(
        rejects.contains("\nx;=1+1;y,x;=1+1;y,1,invalid,"),
        "{rejects}"
    );

    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\n");
    let rule = r#"
[[rule]]
phone_number = "+447911000001"
reply = { status = 422, body = '{"message":"no;=cmd()"}' }
"#;
    folder.import_leads(&scenario(rule), &[]).expect(1);
    for (file, column) in [
        ("leads.results.csv", "error"),
        ("leads.rejects.csv", "leadload_error"),
    ] {
        assert!(
            folder.column(file, column)[0].ends_with("no;'=cmd()"),
            "{file}"
        );
    }
}

#[test]
fn a_byte_order_mark_comes_back_in_results_and_rejects() {
    let folder = Folder::with_leads("\u{FEFF}phone,name\n+447911000001,Ada\nx,Bob\n");
    folder.import_leads(&service(), &[]).expect(1);
    assert!(
        folder
            .read("leads.results.csv")
            .starts_with("\u{FEFF}row,line,")
    );
    assert!(
        folder
            .read("leads.rejects.csv")
            .starts_with("\u{FEFF}phone,name,leadload_row")
    );
}

#[cfg(unix)]
#[test]
fn outputs_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads("phone\n+447911000001\nx\n");
    folder.import_leads(&service(), &[]).expect(1);
    for name in ["leads.results.csv", "leads.rejects.csv"] {
        let mode = std::fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn what_says_where_the_service_is_and_who_asks_is_no_place_for_an_output() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    folder.write("token", service.token());
    folder.write(
        "config.toml",
        format!("base_url = \"{}\"\n", service.base_url()),
    );
    for output in ["token", "./token", "config.toml"] {
        for flag in ["--results", "--rejects"] {
            let refused = folder
                .leadload(&["import", "leads.csv", "--campaign", "101", flag, output])
                .args("--token-file token --config config.toml")
                .expect(2);
            refused.tells(&format!("`{output}`"));
        }
    }
    // Also if the output is named after the list.
    folder.write("leads.results.csv", service.token());
    let refused = folder
        .import_leads(&service, &["--token-file", "leads.results.csv"])
        .expect(2);
    refused.tells("`leads.results.csv`");
    assert_eq!(service.stats().lead_requests, 0);
}

/// Every command that writes a file whose name is given, up to that name.
#[cfg(unix)]
const WRITERS: [&[&str]; 7] = [
    &["import", "leads.csv", "--campaign", "101", "--results"],
    &["import", "leads.csv", "--campaign", "101", "--rejects"],
    &["import", "leads.csv", "--campaign", "101", "--metrics-file"],
    &["check", "leads.csv", "--results"],
    &["runs", "export", "--results"],
    &["runs", "undo", "last", "--dry-run", "--results"],
    &["runs", "copy", "--to"],
];

/// Runs every such command with this path. None of them writes there or sends anything.
#[cfg(unix)]
#[track_caller]
fn nothing_is_written_to(
    folder: &Folder,
    service: &leadload::sandbox::Sandbox,
    place: &Path,
    more: &[&str],
) {
    let before = std::fs::read(place).ok();
    let names = folder.names();
    for writer in WRITERS {
        let name = place.to_str().unwrap();
        let run = folder.leadload(&[writer, &[name], more].concat());
        let requests = service.stats().lead_requests;
        let refused = run.at(service).expect(2);
        assert_eq!(refused.stdout, "", "{writer:?} {name}");
        assert_eq!(std::fs::read(place).ok(), before, "{writer:?} {name}");
        assert_eq!(service.stats().lead_requests, requests);
    }
    assert_eq!(folder.names(), names);
}

#[cfg(unix)]
#[test]
fn settings_that_are_empty_or_not_there_yet_are_no_place_for_an_output() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let usual = folder.config();
    let kept = usual.parent().unwrap();
    std::fs::create_dir_all(kept).unwrap();
    nothing_is_written_to(&folder, &service, &usual, &[]);
    std::fs::write(&usual, "").unwrap();
    std::fs::hard_link(&usual, folder.path("second-name")).unwrap();
    std::os::unix::fs::symlink(kept, folder.path("link")).unwrap();
    for place in [
        usual,
        folder.path("second-name"),
        folder.path("link/config.toml"),
        folder.path("link/../leadload/config.toml"),
    ] {
        nothing_is_written_to(&folder, &service, &place, &[]);
    }
    folder.write("empty.toml", "");
    let named = ["--config", "empty.toml"];
    nothing_is_written_to(&folder, &service, Path::new("empty.toml"), &named);
    assert_eq!(folder.read("empty.toml"), "");
}

#[cfg(unix)]
#[test]
fn tokens_and_certificates_of_any_profile_are_no_place_for_an_output() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let settings = "[profiles.one]\ntoken_file = 'new'\n[profiles.two]\ntoken_file = 'old'\nca_file = 'ca.pem'\n";
    folder.write("conf.toml", settings);
    folder.write("old", service.token());
    folder.write("ca.pem", "");
    let named = ["--config", "conf.toml"];
    for place in ["new", "old", "ca.pem", "conf.toml"] {
        nothing_is_written_to(&folder, &service, &folder.path(place), &named);
    }
    // Nor for what an output is until it is complete.
    folder.write("out.csv.part", service.token());
    let token = [&named[..], &["--token-file", "out.csv.part"]].concat();
    for writer in &WRITERS[..2] {
        let run = folder.leadload(&[*writer, &["out.csv"], &token].concat());
        run.at(&service).expect(2).tells("`out.csv.part`");
    }
    assert_eq!(folder.read("out.csv.part"), service.token());
}
