//! `--metrics-file`, read by a parser that is as strict as Prometheus.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::util::{Folder, Output, contacts, holds_a_number, scenario, service, wait_until};

const FILE: [&str; 2] = ["--metrics-file", "leadload.prom"];

/// The samples of a text, by name and labels.
fn parsed(text: &str) -> BTreeMap<Sample, f64> {
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
            let expected = ["gauge", "counter"][usize::from(name.ends_with("_total"))];
            assert_eq!(kind, expected, "{name}");
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
        let labels = labels_of(labels);
        // Every sample names its job.
        assert_eq!([&*labels[0].0, &*labels[1].0], ["profile", "input"]);
        let before = samples.insert(Sample::new(name, &labels), value.parse().unwrap());
        assert_eq!(before, None, "{key} twice");
    }
    samples
}

/// The labels between the braces, with their unescaped values.
fn labels_of(text: &str) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap();
        assert!(is_name(name), "{text}");
        let (mut read, mut chars) = (String::new(), value.chars());
        loop {
            match chars.next().unwrap() {
                '"' => break,
                '\\' => read.push(match chars.next().unwrap() {
                    'n' => '\n',
                    same @ ('\\' | '"') => same,
                    other => panic!("\\{other} in {text}"),
                }),
                plain => read.push(plain),
            }
        }
        labels.push((name.to_owned(), read));
        rest = chars.as_str();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    labels
}

/// The name and labels of a sample.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Sample {
    name: String,
    /// The labels that name the job.
    job: Vec<(String, String)>,
    further: Vec<(String, String)>,
}

impl Sample {
    fn new(name: &str, labels: &[(String, String)]) -> Sample {
        Sample {
            name: name.to_owned(),
            job: labels[..2].to_vec(),
            further: labels[2..].to_vec(),
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    !text.is_empty() && text.chars().all(is_part)
}

/// The values in a file, by name and the value of the sample's own label.
fn metrics_in(folder: &Folder, name: &str) -> BTreeMap<String, f64> {
    let samples = parsed(&folder.read(name)).into_iter();
    let key = |sample: Sample| match sample.further.first() {
        Some((_, value)) => format!("{} {value}", sample.name),
        None => sample.name,
    };
    let figures = samples.map(|(sample, value)| (key(sample), value));
    figures.collect()
}

fn metrics(folder: &Folder) -> BTreeMap<String, f64> {
    metrics_in(folder, "leadload.prom")
}

/// The job of the samples: profile and input.
fn job(folder: &Folder, name: &str) -> [String; 2] {
    let mut jobs: Vec<_> = parsed(&folder.read(name))
        .into_keys()
        .map(|sample| sample.job)
        .collect();
    jobs.dedup();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    let values = jobs.remove(0).into_iter().map(|(_, value)| value);
    values.collect::<Vec<_>>().try_into().unwrap()
}

const SUCCESS: &str = "leadload_last_success_timestamp_seconds";

#[test]
fn a_run_that_is_complete_has_its_figures_in_the_file() {
    let folder = Folder::with_leads(&(contacts(3) + "x,Bob\n"));
    folder.import_leads(&service(), &FILE).expect(1);
    let found = metrics(&folder);
    let version = env!("CARGO_PKG_VERSION");
    let info = format!("leadload_run_info {version}");
    for (key, value) in [
        (info.as_str(), 1.0),
        ("leadload_run", 1.0),
        ("leadload_rows created", 3.0),
        ("leadload_rows invalid", 1.0),
        ("leadload_rows failed", 0.0),
        ("leadload_rows_expected", 4.0),
        ("leadload_known_bad", 0.0),
        ("leadload_requests", 3.0),
        ("leadload_attempts_total", 3.0),
        ("leadload_refusals_total", 0.0),
        ("leadload_waits_total", 0.0),
        ("leadload_in_flight", 0.0),
        ("leadload_run_complete", 1.0),
        ("leadload_exit_code", 1.0),
        ("leadload_stopped_by token", 0.0),
        ("leadload_waiting outage", 0.0),
    ] {
        assert_eq!(found.get(key), Some(&value), "{key}: {found:?}");
    }
    let times = [
        "leadload_run_start_time_seconds",
        "leadload_run_last_update_time_seconds",
    ];
    let times = times.map(|time| found[time]);
    assert!(times[0] > 1.7e9 && times[1] >= times[0], "{times:?}");
    assert_eq!(found[SUCCESS], times[1], "some bad rows are no failure");
    let answered = found["leadload_last_answer_timestamp_seconds"];
    assert!(times[0] <= answered && answered <= times[1], "{answered}");
    let text = folder.read("leadload.prom");
    assert!(!holds_a_number(&text) && !text.contains("Name"), "{text}");
    assert_eq!(job(&folder, "leadload.prom"), ["", "leads.csv"]);
    // No other file is left behind, and a second run replaces the file.
    let names = [
        "leadload.prom",
        "leads.csv",
        "leads.rejects.csv",
        "leads.results.csv",
    ];
    assert_eq!(folder.names(), names);
    folder.import_leads(&service(), &FILE).expect(1);
    let found = metrics(&folder);
    assert_eq!(found["leadload_run_complete"], 1.0);
    assert_eq!(found["leadload_run"], 2.0);
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
    let import = under_way(&folder, &service);
    let found = metrics(&folder);
    assert_eq!(found["leadload_run_complete"], 0.0);
    assert_eq!(found["leadload_rows created"], 0.0);
    assert!(!found.contains_key("leadload_exit_code"), "{found:?}");
    assert_eq!(Output::of(import).code, 0);
    assert_eq!(metrics(&folder)["leadload_exit_code"], 0.0);
}

#[test]
fn the_exit_code_is_written_whatever_ends_the_command() {
    let stopped = |folder: &Folder| {
        let found = metrics(folder);
        assert_eq!(found["leadload_run_complete"], 0.0);
        let reasons = found
            .iter()
            .filter(|(key, value)| key.starts_with("leadload_stopped_by") && **value == 1.0);
        let reasons: Vec<&str> = reasons.map(|(key, _)| key.as_str()).collect();
        (found["leadload_exit_code"], reasons.join(","))
    };
    let folder = Folder::with_leads(&contacts(9));
    let revoked = scenario("token_revoked_after = 4");
    folder.import_leads(&revoked, &FILE).expect(3);
    let token = "leadload_stopped_by token".to_owned();
    assert_eq!(stopped(&folder), (3.0, token));
    // Also before the first request.
    let usage = "leadload_stopped_by usage".to_owned();
    let no_campaign = folder.import(&revoked, &["leads.csv"]);
    no_campaign.args(&FILE.join(" ")).expect(2);
    assert_eq!(stopped(&folder), (2.0, usage.clone()));
    std::fs::remove_file(folder.path("leadload.prom")).unwrap();
    let no_file = folder.import(&revoked, &["nothing.csv", "--campaign", "101"]);
    no_file.args(&FILE.join(" ")).expect(2);
    assert_eq!(stopped(&folder), (2.0, usage));
}

/// On other systems no file can have a quote in its name.
#[cfg(unix)]
#[test]
fn two_jobs_share_a_folder_without_a_series_in_common() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.write(
        "config.toml",
        "[profiles.\"a\\\"b\\\\c\"]\ncampaign = 102\n[profiles.crm]\ncampaign = 103\n",
    );
    let name = "odd \\ \" , {name}.csv";
    folder.write(name, contacts(2));
    for (at, (profile, input)) in [
        ("crm", "leads.csv"),
        ("crm", name),
        ("a\"b\\c", "leads.csv"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("{at}.prom");
        let input = folder.path(input);
        let args = ["--config", "config.toml", "--metrics-file", &file];
        let args = [&args[..], &["--profile", profile, input.to_str().unwrap()]].concat();
        folder.import(&service, &args).expect(0);
        let input = input.file_name().unwrap().to_str().unwrap();
        assert_eq!(job(&folder, &file), [profile, input]);
    }
    // No series is in the folder twice.
    let all = (0..3).flat_map(|at| parsed(&folder.read(&format!("{at}.prom"))).into_keys());
    let all: Vec<Sample> = all.collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn standard_input_is_a_hyphen() {
    let (folder, service) = (Folder::new(), service());
    let args = ["-", "--campaign", "101", "--metrics-file", "leadload.prom"];
    let import = folder.import(&service, &args);
    import.stdin(contacts(1).as_bytes()).expect(0);
    assert_eq!(job(&folder, "leadload.prom"), ["", "-"]);
}

#[test]
fn the_last_success_outlives_runs_that_fail() {
    let folder = Folder::with_leads(&contacts(9));
    // There is no success yet.
    let revoked = scenario("token_revoked_after = 4");
    folder.import_leads(&revoked, &FILE).expect(3);
    assert_eq!(metrics(&folder).get(SUCCESS), None);
    let service = service();
    folder.import_leads(&service, &FILE).expect(0);
    let success = metrics(&folder)[SUCCESS];
    let outlives = |code: f64| {
        let found = metrics(&folder);
        assert_eq!(found["leadload_exit_code"], code);
        assert_eq!(found[SUCCESS], success, "{code}");
        assert!(found["leadload_run_last_update_time_seconds"] > success);
    };
    folder.write("leads.csv", contacts(19));
    folder.import_leads(&revoked, &FILE).expect(3);
    outlives(3.0);
    folder
        .import_leads(&service, &FILE)
        .args("--max-new 1")
        .expect(2);
    outlives(2.0);
    let no_such_flag = folder
        .import_leads(&service, &FILE)
        .args("--region-column nothing");
    no_such_flag.expect(2);
    outlives(2.0);
    let time_up = folder
        .import_leads(&service, &FILE)
        .args("--max-duration 1ms");
    time_up.expect(4);
    outlives(4.0);
    folder.import_leads(&service, &FILE).expect(0);
    assert!(metrics(&folder)[SUCCESS] > success);
    // Another list has had no success.
    folder.write("more.csv", contacts(1));
    let other = folder.import(&service, &["more.csv"]);
    other.args(&FILE.join(" ")).expect(2);
    assert_eq!(metrics(&folder).get(SUCCESS), None);
}

/// Nothing can be written to this device.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_that_cannot_be_written_is_no_success() {
    let folder = Folder::with_leads(&contacts(1));
    let args = ["import", "leads.csv", "--campaign", "101", "--sandbox"];
    let args = [&args[..], &FILE].concat();
    let run = folder.through_shell("\"$0\" \"$@\" > /dev/full", &args);
    run.expect(5);
    let found = metrics(&folder);
    assert_eq!(found["leadload_exit_code"], 5.0);
    assert_eq!(found["leadload_rows created"], 1.0);
    assert_eq!(found.get(SUCCESS), None);
}

#[cfg(unix)]
#[test]
fn a_command_that_ends_while_it_waits_leaves_the_figures_of_the_run_it_waits_for() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("latency_ms = 700");
    let first = under_way(&folder, &service);
    let args = ["--results", "none", "--rejects", "none", "--wait"];
    let second = folder.import_leads(&service, &[&args[..], &FILE].concat());
    second.args("--max-duration 100ms").expect(4);
    assert!(!metrics(&folder).contains_key("leadload_exit_code"));
    assert_eq!(Output::of(first).code, 0);
}

#[test]
fn wrong_settings_are_counted_too_where_the_file_is_known() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let usage = |folder: &Folder, profile: &str| {
        let found = metrics(folder);
        assert_eq!(found["leadload_exit_code"], 2.0);
        assert_eq!(found["leadload_stopped_by usage"], 1.0);
        assert_eq!(job(folder, "leadload.prom"), [profile, "leads.csv"]);
        std::fs::remove_file(folder.path("leadload.prom")).unwrap();
    };
    let settings = "regoin = 'GB'\n[profiles.crm]\nmetrics_file = 'leadload.prom'\n";
    folder.write("config.toml", settings);
    let import = |args: &str| {
        let all = ["leads.csv", "--campaign", "101", "--config", "config.toml"];
        folder.import(&service, &all).args(args).expect(2)
    };
    import("--metrics-file leadload.prom");
    usage(&folder, "");
    import("--profile crm");
    usage(&folder, "crm");
    // A profile that does not exist.
    import("--profile other --metrics-file leadload.prom");
    usage(&folder, "other");
    folder.write("config.toml", "[profiles.default]\nregion = 7\n");
    import("--metrics-file leadload.prom");
    usage(&folder, "default");
    import("--metrics-file leadload.prom --save-mapping crm");
    usage(&folder, "default");
    // If the command line itself is wrong it is unclear which words are flags.
    import("--metrics-file leadload.prom --no-such-flag");
    import("--metrics-file leadload.prom --test-to +447911000009");
    assert_eq!(folder.names(), ["config.toml", "leads.csv"]);
}

/// A run that is under way and has written its first values.
fn under_way(folder: &Folder, service: &leadload::sandbox::Sandbox) -> std::process::Child {
    let import = folder.import_leads(service, &FILE).start();
    wait_until("written", || folder.path("leadload.prom").exists());
    import
}

#[test]
fn a_second_import_leaves_the_figures_of_the_first_alone() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("latency_ms = 700");
    let first = under_way(&folder, &service);
    let others = ["--results", "none", "--rejects", "none"];
    let second = [&others[..], &FILE].concat();
    folder.import_leads(&service, &second).expect(6);
    assert!(!metrics(&folder).contains_key("leadload_exit_code"));
    assert_eq!(Output::of(first).code, 0);
    assert_eq!(metrics(&folder)["leadload_exit_code"], 0.0);
}

#[test]
fn a_second_import_with_its_own_file_records_that_another_is_running() {
    let folder = Folder::with_leads(&contacts(3));
    let slow = scenario("latency_ms = 700");
    folder.write("more.csv", contacts(1));
    let own = ["--metrics-file", "own.prom"];
    let own = [&["more.csv", "--campaign", "101"][..], &own].concat();
    folder.import(&slow, &own).expect(0);
    let success = metrics_in(&folder, "own.prom")[SUCCESS];
    let first = under_way(&folder, &slow);
    folder.import(&slow, &own).expect(6);
    let found = metrics_in(&folder, "own.prom");
    assert_eq!(found["leadload_exit_code"], 6.0);
    assert_eq!(found["leadload_stopped_by busy"], 1.0);
    assert_eq!(found["leadload_run_complete"], 0.0);
    assert_eq!(found[SUCCESS], success);
    assert_eq!(Output::of(first).code, 0);
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.write("notes.txt", "# HELP wanted\n");
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder
        .import_leads(&service, &["--rejects", "none"])
        .expect(0);
    let before = folder.read("leads.results.csv");
    for place in ["leads.csv", "leads.results.csv", "notes.txt", "folder", "-"] {
        let output = folder
            .import_leads(&service, &["--metrics-file", place])
            .expect(2);
        output.tells(&format!("`{place}`"));
        output.tells("`--metrics-file`");
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

/// An import that fails before it knows its outputs writes its metrics too.
#[test]
fn a_file_that_the_import_was_to_find_or_make_is_not_made_with_metrics() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    for args in [
        &["new", "--campaign", "101"][..],
        &["leads.csv", "--suppress", "new", "--campaign", "101"],
        &["leads.csv", "--ledger", "new"],
        &["leads.csv", "--results", "new"],
    ] {
        let args = [args, &["--metrics-file", "./new"]].concat();
        let refused = folder.import(&service, &args).expect(2);
        refused.tells("`./new`");
        assert_eq!(folder.names(), ["leads.csv"], "{args:?}");
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
        output.tells(&format!("`{place}`"));
        assert_eq!(folder.names(), ["leads.csv"], "{place}");
    }
    // The ledger is created before any output.
    let folder = Folder::with_leads(&contacts(2));
    let args = ["--ledger", "new.sqlite3", "--metrics-file", "new.sqlite3"];
    let output = folder.import_leads(&service, &args).expect(2);
    output.tells("new.sqlite3");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_place_that_cannot_be_written_to_is_reported_before_anything_is_sent() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let args = ["--metrics-file", "nowhere/leadload.prom"];
    let output = folder.import_leads(&service, &args).expect(5);
    output.tells("`nowhere/leadload.prom`");
    output.tells("`nowhere`");
    assert_eq!(service.stats().lead_requests, 0);
    assert_eq!(folder.names(), ["leads.csv"]);
}

#[test]
fn a_check_writes_none() {
    let folder = Folder::with_leads(&contacts(2));
    let file = FILE.join(" ");
    let typed = folder.leadload(&["check", "leads.csv"]).args(&file);
    typed.expect(2).tells("`--metrics-file`");
    let dry_run = folder.leadload(&["import", "leads.csv", "--dry-run"]);
    dry_run.args(&file).expect(0);
    for command in ["check leads.csv", "import leads.csv --dry-run"] {
        folder.write("config.toml", "metrics_file = 'leadload.prom'\n");
        let of_profile = folder.leadload(&[]).args(command);
        of_profile.args("--config config.toml").expect(0);
        assert_eq!(folder.names(), ["config.toml", "leads.csv"]);
    }
}

#[test]
fn refusals_waits_and_known_bad_rows_have_series_of_their_own() {
    let folder = Folder::with_leads(&(contacts(2) + "x,Bob\n"));
    let service = scenario(
        "[[rule]]\nphone_number = '+447911000000'\nattempts = [1]\n\
         reply = { status = 429, headers = { Retry-After = '1' } }\n",
    );
    folder.import_leads(&service, &FILE).expect(1);
    let found = metrics(&folder);
    assert_eq!(found["leadload_attempts_total"], 3.0);
    assert_eq!(found["leadload_refusals_total"], 1.0);
    assert_eq!(found["leadload_waits_total"], 1.0);
    assert_eq!(found["leadload_known_bad"], 0.0);
    let skip = [&FILE[..], &["--known-bad", "skip"]].concat();
    folder.import_leads(&service, &skip).expect(0);
    assert_eq!(metrics(&folder)["leadload_known_bad"], 1.0);
}

#[cfg(unix)]
#[test]
fn a_file_that_can_no_longer_be_written_is_an_error_under_quiet_too_and_ends_no_import() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    // No temporary file can be beside a file with this name, whoever writes it.
    let name = "x".repeat(247) + ".prom";
    let earlier = "# HELP leadload_run_info The version.\n";
    folder.write(&name, earlier);
    for _ in 0..2 {
        let args = ["--metrics-file", &name, "--quiet"];
        let output = folder.import_leads(&service, &args).expect(0);
        let error = format!("`{name}`");
        assert_eq!(
            output.stderr.matches(&error).count(),
            1,
            "{}",
            output.stderr
        );
        assert_eq!(folder.read(&name), earlier);
    }
    // Where nothing was written before, the name may be wrong.
    std::fs::remove_file(folder.path(&name)).unwrap();
    let args = ["--metrics-file", &name];
    folder.import_leads(&service, &args).expect(5);
}

#[test]
fn rules_for_alerts_are_about_series_that_there_are_and_all_are_documented() {
    let read = |name| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let rules = read("packaging/prometheus/leadload.rules.yml").unwrap();
    let page = read("docs/metrics.md").unwrap();
    let words = rules.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let series = words.filter(|word| word.starts_with("leadload_"));
    let alerts = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "));
    let names: Vec<&str> = series.chain(alerts).collect();
    assert!(names.len() > 7, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn prometheus_accepts_the_metrics_and_the_rules() {
    let folder = Folder::with_leads(&contacts(1));
    folder.import_leads(&service(), &FILE).expect(0);
    let rules = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/prometheus");
    for args in [
        ["check", "metrics", ""],
        ["check", "rules", "leadload.rules.yml"],
        ["test", "rules", "leadload.rules.test.yml"],
    ] {
        let mut promtool = Command::new("promtool");
        promtool.args(args.iter().filter(|arg| !arg.is_empty()));
        promtool.stdin(File::open(folder.path("leadload.prom")).unwrap());
        let Some(output) = crate::units::run(promtool.current_dir(rules)) else {
            return;
        };
        assert!(output.status.success(), "{output:?}");
    }
}
