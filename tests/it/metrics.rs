//! `--metrics-file`: read by a parser that is as strict as Prometheus is.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::util::{Folder, Output, contacts, scenario, service};

const FILE: [&str; 2] = ["--metrics-file", "leadload.prom"];

/// The samples of a text, each by its name with its labels.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with('\n'), "{text}");
    let mut samples = BTreeMap::new();
    let mut families = BTreeSet::new();
    let mut family = "";
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            assert!(is_name(name) && !help.is_empty(), "{line}");
            assert!(families.insert(name), "{name} twice");
            let kind = lines.next().unwrap().strip_prefix("# TYPE ").unwrap();
            let (of, kind) = kind.split_once(' ').unwrap();
            assert_eq!(of, name);
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
            assert!(["counter", "gauge"].contains(&kind), "{kind}");
            assert!(lines.peek().is_some_and(|line| line.starts_with(name)));
            family = name;
            continue;
        }
        let (key, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = match key.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
            None => (key, ""),
        };
        assert_eq!(name, family, "{line}");
        for label in labels.split(',').filter(|label| !label.is_empty()) {
            let (label, value) = label.split_once('=').unwrap();
            assert!(is_name(label), "{line}");
            let value = value.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
            assert!(!value.contains(['"', '\\', '\n']), "{line}");
        }
        let before = samples.insert(key.to_owned(), value.parse().unwrap());
        assert_eq!(before, None, "{key} twice");
    }
    samples
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    !text.is_empty() && text.chars().all(is_part)
}

fn metrics(folder: &Folder) -> BTreeMap<String, f64> {
    parsed(&folder.read("leadload.prom"))
}

#[test]
fn a_run_that_is_complete_has_its_figures_in_the_file() {
    let folder = Folder::with_leads(&(contacts(3) + "x,Bob\n"));
    folder.import_leads(&service(), &FILE).expect(1);
    let found = metrics(&folder);
    let version = env!("CARGO_PKG_VERSION");
    let info = format!("leadload_run_info{{run=\"1\",version=\"{version}\"}}");
    for (key, value) in [
        (info.as_str(), 1.0),
        ("leadload_rows_total{status=\"created\"}", 3.0),
        ("leadload_rows_total{status=\"invalid\"}", 1.0),
        ("leadload_rows_total{status=\"failed\"}", 0.0),
        ("leadload_rows_expected", 4.0),
        ("leadload_requests_total", 3.0),
        ("leadload_in_flight", 0.0),
        ("leadload_run_complete", 1.0),
        ("leadload_exit_code", 1.0),
        ("leadload_stopped_by{reason=\"token\"}", 0.0),
        ("leadload_waiting{reason=\"outage\"}", 0.0),
    ] {
        assert_eq!(found.get(key), Some(&value), "{key}: {found:?}");
    }
    let times = [
        "leadload_run_start_time_seconds",
        "leadload_run_last_update_time_seconds",
    ];
    let times = times.map(|time| found[time]);
    assert!(times[0] > 1.7e9 && times[1] >= times[0], "{times:?}");
    let text = folder.read("leadload.prom");
    assert!(!text.contains("7911") && !text.contains("Name"), "{text}");
    // Nothing else is left behind, and a second run takes its place.
    let names = [
        "leadload.prom",
        "leads.csv",
        "leads.rejects.csv",
        "leads.results.csv",
    ];
    assert_eq!(folder.names(), names);
    folder.import_leads(&service(), &FILE).expect(1);
    assert_eq!(metrics(&folder)["leadload_run_complete"], 1.0);
}

#[cfg(unix)]
#[test]
fn another_user_may_read_it_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads(&contacts(1));
    let args = ["import", "leads.csv", "--campaign", "101", "--sandbox"];
    let run = folder.through_shell("umask 077; \"$0\" \"$@\"", &[&args[..], &FILE].concat());
    run.expect(0);
    let found = std::fs::metadata(folder.path("leadload.prom")).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, 0o644);
}

#[test]
fn it_is_there_from_the_beginning_on() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario("latency_ms = 600");
    let import = folder.import_leads(&service, &FILE).start();
    let began = Instant::now();
    while !folder.path("leadload.prom").exists() {
        assert!(began.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(5));
    }
    let found = metrics(&folder);
    assert_eq!(found["leadload_run_complete"], 0.0);
    assert_eq!(found["leadload_rows_total{status=\"created\"}"], 0.0);
    assert!(!found.contains_key("leadload_exit_code"), "{found:?}");
    assert_eq!(Output::of(import).code, 0);
    assert_eq!(metrics(&folder)["leadload_exit_code"], 0.0);
}

#[test]
fn whatever_ends_the_command_its_exit_code_is_told() {
    let stopped = |folder: &Folder| {
        let found = metrics(folder);
        assert_eq!(found["leadload_run_complete"], 0.0);
        let reasons = found
            .iter()
            .filter(|(key, value)| key.starts_with("leadload_stopped_by") && **value == 1.0);
        let reasons: Vec<&str> = reasons.map(|(key, _)| key.as_str()).collect();
        (found["leadload_exit_code"], reasons.join(" "))
    };
    let folder = Folder::with_leads(&contacts(9));
    let revoked = scenario("token_revoked_after = 4");
    folder.import_leads(&revoked, &FILE).expect(3);
    let token = "leadload_stopped_by{reason=\"token\"}".to_owned();
    assert_eq!(stopped(&folder), (3.0, token));
    // Before the first request too.
    let usage = "leadload_stopped_by{reason=\"usage\"}".to_owned();
    let no_campaign = folder.import(&revoked, &["leads.csv"]);
    no_campaign.args(&FILE.join(" ")).expect(2);
    assert_eq!(stopped(&folder), (2.0, usage.clone()));
    std::fs::remove_file(folder.path("leadload.prom")).unwrap();
    let no_file = folder.import(&revoked, &["nothing.csv", "--campaign", "101"]);
    no_file.args(&FILE.join(" ")).expect(2);
    assert_eq!(stopped(&folder), (2.0, usage));
}

#[test]
fn a_second_import_leaves_the_figures_of_the_first_alone() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("latency_ms = 700");
    let first = folder.import_leads(&service, &FILE).start();
    let began = Instant::now();
    while !folder.path("leadload.prom").exists() {
        assert!(began.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(5));
    }
    let others = ["--results", "none", "--rejects", "none"];
    let second = [&others[..], &FILE].concat();
    folder.import_leads(&service, &second).expect(6);
    assert!(!metrics(&folder).contains_key("leadload_exit_code"));
    assert_eq!(Output::of(first).code, 0);
}

#[test]
fn what_stands_there_already_is_never_written_over() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.write("notes.txt", "# HELP wanted\n");
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder
        .import_leads(&service, &["--rejects", "none"])
        .expect(0);
    let before = folder.read("leads.results.csv");
    let not_ours = "holds something else than metrics of leadload, and is not written over";
    let no_file = "is not a regular file, so metrics cannot be written there";
    for (place, why) in [
        ("leads.csv", not_ours),
        ("leads.results.csv", not_ours),
        ("notes.txt", not_ours),
        ("folder", no_file),
        ("-", no_file),
    ] {
        let output = folder
            .import_leads(&service, &["--metrics-file", place])
            .expect(2);
        assert_eq!(
            output.stderr,
            format!("error: `{place}` {why}\n\nhint: name another file with `--metrics-file`\n")
        );
        assert_eq!(output.stdout, "");
    }
    assert_eq!(folder.read("leads.results.csv"), before);
    assert_eq!(folder.read("leads.csv"), contacts(2));
}

#[test]
fn an_empty_file_that_is_read_stays_empty() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    folder.write("empty.csv", "");
    for args in [
        &["leads.csv", "empty.csv", "--campaign", "101"][..],
        &["leads.csv", "--suppress", "empty.csv", "--campaign", "101"],
    ] {
        let args = [args, &["--metrics-file", "empty.csv"]].concat();
        folder.import(&service, &args).expect(2);
        assert_eq!(folder.read("empty.csv"), "");
    }
}

#[test]
fn an_empty_file_has_nothing_to_lose_and_is_replaced() {
    let folder = Folder::with_leads(&contacts(2));
    folder.write("leadload.prom", "");
    folder.import_leads(&service(), &FILE).expect(0);
    assert_eq!(metrics(&folder)["leadload_exit_code"], 0.0);
}

#[test]
fn no_two_outputs_are_one_file() {
    let service = service();
    for (place, more) in [
        ("leads.results.csv", &[][..]),
        ("leads.results.csv.part", &[]),
        ("./leads.rejects.csv", &[]),
        ("out.csv", &["--results", "out.csv"]),
        ("new.html", &["--report", "new.html"]),
    ] {
        let folder = Folder::with_leads(&contacts(2));
        let args = [&["--metrics-file", place][..], more].concat();
        let output = folder.import_leads(&service, &args).expect(2);
        assert_eq!(
            output.stderr,
            format!(
                "error: `{place}` is another file of this import, so metrics cannot be written there\n\nhint: name another file with `--metrics-file`\n"
            )
        );
        assert_eq!(folder.names(), ["leads.csv"], "{place}");
    }
    // The ledger is there before any output.
    let folder = Folder::with_leads(&contacts(2));
    let args = ["--ledger", "new.sqlite3", "--metrics-file", "new.sqlite3"];
    let output = folder.import_leads(&service, &args).expect(2);
    output.tells("another file of this import");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_place_that_cannot_be_written_to_is_told_before_anything_is_sent() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let args = ["--metrics-file", "nowhere/leadload.prom"];
    let output = folder.import_leads(&service, &args).expect(2);
    assert!(
        output
            .stderr
            .starts_with("error: cannot write the metrics file `nowhere/leadload.prom`: "),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.ends_with(
            "\n\nhint: make the folder `nowhere`, or name another file with `--metrics-file`\n"
        ),
        "{}",
        output.stderr
    );
    assert_eq!(service.stats().lead_requests, 0);
    assert_eq!(folder.names(), ["leads.csv"]);
}

#[test]
fn a_check_refuses_the_flag_and_passes_over_the_same_in_a_profile() {
    let folder = Folder::with_leads(&contacts(2));
    for command in ["check leads.csv", "import leads.csv --dry-run"] {
        let typed = folder.leadload(&[]).args(command).args(&FILE.join(" "));
        assert_eq!(
            typed.expect(2).stderr,
            "error: `--metrics-file` is for `leadload import`: `leadload check` writes no metrics\n\nhint: leave it out\n"
        );
        folder.write("config.toml", "metrics_file = 'leadload.prom'\n");
        let of_profile = folder.leadload(&[]).args(command);
        of_profile.args("--config config.toml").expect(0);
        assert_eq!(folder.names(), ["config.toml", "leads.csv"]);
    }
}
