//! The nightly job as systemd, cron, Kubernetes and Windows are told to run it.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use jiff::civil::{Time, time};
use jiff::tz::{self, TimeZone};
use jiff::{Timestamp, ToSpan};
use serde_json::Value;

use crate::recipes::{docs, packaged, read};
use crate::util::{Folder, scenario};

fn unit(name: &str) -> String {
    read(&packaged("systemd").join(name))
}

/// The value of a setting of a unit; a backslash at the end of a line continues it.
fn setting(unit: &str, name: &str) -> String {
    let unit = unit.replace("\\\n", " ");
    let mut lines = unit.lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    // Doubled, since alone they mean something to systemd.
    let found = found.unwrap().replace("%%", "%").replace("$$", "$");
    found.trim().to_owned()
}

/// The shell script that a unit runs.
fn script(unit: &str, name: &str) -> String {
    let command = setting(unit, name);
    let script = command.strip_prefix("/bin/sh -c '").unwrap();
    script.strip_suffix('\'').unwrap().to_owned()
}

/// The command of the page, without what is different elsewhere.
fn command(page: &str) -> &str {
    let mut lines = page.lines();
    let line = lines.find(|line| line.starts_with("leadload import"));
    line.unwrap().split_once(" --quiet").unwrap().0
}

/// The tool's output; `None` where it is not installed, which is an error in CI.
pub fn run(tool: &mut Command) -> Option<std::process::Output> {
    let ran = tool.output().ok();
    let is_ci = std::env::var_os("CI").is_some();
    assert!(ran.is_some() || !is_ci, "{tool:?} is not installed");
    ran
}

#[test]
fn every_scheduler_runs_the_command_of_the_page() {
    let page = read(&docs("nightly.md"));
    let command = command(&page);
    let service = unit("leadload-import.service");
    let in_unit = format!("{command} --log-format json --format json -v");
    assert_eq!(setting(&service, "ExecStart"), in_unit);
    let mine = in_unit
        .replace('%', "%%")
        .replace("campaign 101", "campaign 7");
    assert!(page.contains(&format!("\nExecStart={mine}\n")), "{mine}");

    let (_, crontab) = page.split_once("MAILTO=").unwrap();
    let crontab = crontab.split_once("```").unwrap().0.replace("\\%", "%");
    assert!(crontab.contains(command), "{crontab}");
    let backup = script(&service, "ExecStopPost").replace('"', "'");
    assert!(crontab.replace('"', "'").contains(&backup), "{backup}");

    let (_, args) = command.split_once(' ').unwrap();
    let windows = read(&docs("windows.md"));
    assert!(windows.contains(&format!("'{args} --quiet'")), "{args}");
}

#[test]
fn the_command_of_the_unit_sends_the_list() {
    let folder = Folder::new();
    folder.write("all-contacts.csv", "phone\n+447700900401\n+447700900402\n");
    folder.write("do-not-call.csv", "phone\n+447700900499\n");
    let save = ["check", "all-contacts.csv", "--save-mapping", "nightly"];
    folder.leadload(&save).expect(0);
    let command = setting(&unit("leadload-import.service"), "ExecStart");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let service = scenario("");
    folder.leadload(&args).at(&service).expect(0);
    assert_eq!(service.stats().created, 2);
}

/// Whether clocks move over this time, or repeat it, in the years around now.
fn is_uncertain(zone: &TimeZone, time: Time) -> bool {
    let from: Timestamp = "2024-01-01T00:00:00Z".parse().unwrap();
    let to: Timestamp = "2050-01-01T00:00:00Z".parse().unwrap();
    let changes = zone.following(from).map(|change| change.timestamp());
    let days = changes.take_while(|at| *at < to).flat_map(|at| {
        let day = zone.to_datetime(at).date();
        [day - 1.day(), day, day + 1.day()]
    });
    let mut times = days.map(|day| day.to_datetime(time));
    times.any(|time| zone.to_ambiguous_timestamp(time).is_ambiguous())
}

#[test]
fn the_time_of_the_job_exists_once_every_night_in_every_zone() {
    let zones = tz::db().available();
    let zones: Vec<TimeZone> = zones
        .filter_map(|name| TimeZone::get(name.as_str()).ok())
        .collect();
    assert!(zones.len() > 300, "{} zones", zones.len());
    let uncertain = |time| zones.iter().filter(move |zone| is_uncertain(zone, time));
    // Where it was before.
    assert!(uncertain(time(2, 15, 0, 0)).count() > 50);
    for minute in 15..=20 {
        let somewhere = uncertain(time(4, minute, 0, 0)).next();
        assert_eq!(somewhere, None);
    }
    let timer = unit("leadload-import.timer");
    assert_eq!(setting(&timer, "OnCalendar"), "*-*-* 04:15");
    assert_eq!(setting(&timer, "RandomizedDelaySec"), "5min");
    assert!(read(&docs("nightly.md")).contains("\n15 4 * * *  "));
    assert!(read(&docs("kubernetes.md")).contains("schedule: \"15 4 * * *\""));
    assert!(read(&docs("windows.md")).contains("-At 4:15"));
}

#[test]
fn the_mail_about_a_night_says_what_happened_and_what_to_do() {
    let folder = Folder::new();
    let bin = folder.path("bin");
    std::fs::create_dir(&bin).unwrap();
    // What an older systemd is asked, and what the mail is.
    let asked = "#!/bin/sh\n[ \"$1\" = show ] && echo 5 || echo \"status of $*\"\n";
    for (name, script) in [
        ("systemctl", asked),
        ("mail", "#!/bin/sh\necho \"$@\"\ncat\n"),
    ] {
        folder.write(&format!("bin/{name}"), script);
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bin.join(name), all).unwrap();
    }
    let unit = unit("leadload-import-failed.service");
    let script = script(&unit, "ExecStart").replace("%H", "host");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mail = |variables: &[(&str, &str)]| {
        let run = folder.through_shell(&script, &[]);
        let run = run.env("PATH", &path).env("TO", "me@example.com");
        let run = variables
            .iter()
            .fold(run, |run, (name, value)| run.env(name, value));
        run.expect(0).stdout
    };
    for (code, said) in [
        ("0", "the ledger could not be copied"),
        ("1", "rows have to be fixed"),
        ("2", "Nothing was sent"),
        ("3", "The service has stopped it"),
        ("5", "This computer has stopped it"),
        ("6", "Another run was sending"),
        ("KILL", "It was killed, or could not start (KILL)"),
        ("203", "It was killed, or could not start (203)"),
    ] {
        let text = mail(&[
            ("MONITOR_EXIT_STATUS", code),
            ("MONITOR_UNIT", "my.service"),
        ]);
        let subject = format!("-s my.service on host: {code} me@example.com\n");
        assert!(text.starts_with(&subject), "{text}");
        assert!(text.contains(said), "{text}");
        assert!(text.contains("status of status --no-pager --lines=50 my.service"));
    }
    let of_older = mail(&[]);
    let subject = "-s leadload-import.service on host: 5 me@example.com\n";
    assert!(of_older.starts_with(subject), "{of_older}");
}

/// systemd checks the unit files itself.
#[test]
#[cfg(target_os = "linux")]
fn systemd_takes_the_units() {
    let folder = Folder::new();
    let names = [
        "leadload-import.service",
        "leadload-import.timer",
        "leadload-import-failed.service",
    ];
    for name in names {
        // systemd requires the program to exist, but it need not be installed.
        let program = format!("ExecStart={}", env!("CARGO_BIN_EXE_leadload"));
        folder.write(name, unit(name).replace("ExecStart=leadload", &program));
    }
    let mut verify = Command::new("systemd-analyze");
    verify
        .arg("verify")
        .args(names)
        .current_dir(folder.path(""));
    let Some(output) = run(&mut verify) else {
        return;
    };
    // systemd may also complain about other units of this machine.
    let said = String::from_utf8(output.stderr).unwrap();
    let of_ours: Vec<&str> = said.lines().filter(|l| l.contains("leadload")).collect();
    assert!(of_ours.is_empty(), "{said}");
}

/// The YAML documents of a page, as JSON; `None` without a parser.
fn documents(page: &str) -> Option<Vec<Value>> {
    let blocks = page.split("```yaml\n").skip(1);
    let blocks: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    let to_json =
        "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.argv[1]))))";
    let mut python = Command::new("python3");
    python.args(["-c", to_json]).arg(blocks.join("\n---\n"));
    let output = run(python.stdin(Stdio::null()))?;
    let error = String::from_utf8_lossy(&output.stderr);
    let is_ci = std::env::var_os("CI").is_some();
    if !is_ci && error.contains("No module named 'yaml'") {
        return None;
    }
    assert!(output.status.success(), "{error}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn kubernetes_runs_the_command_of_the_page_in_a_pod_whose_volumes_are_there() {
    let Some(documents) = documents(&read(&docs("kubernetes.md"))) else {
        return;
    };
    let of_kind = |kind: &str| {
        let mut all = documents.iter();
        all.find(|document| document["kind"] == kind).unwrap()
    };
    let claim = &of_kind("PersistentVolumeClaim")["metadata"]["name"];
    let job = &of_kind("CronJob")["spec"];
    let imports = &job["jobTemplate"]["spec"]["template"]["spec"];
    for pod in [imports, &of_kind("Pod")["spec"]] {
        let names = |list: &Value| {
            let list = list.as_array().unwrap().iter();
            let mut names: Vec<Value> = list.map(|entry| entry["name"].clone()).collect();
            names.sort_by_key(Value::to_string);
            names
        };
        let mounts = &pod["containers"][0]["volumeMounts"];
        assert_eq!(names(mounts), names(&pod["volumes"]));
        assert_eq!(
            pod["volumes"][0]["persistentVolumeClaim"]["claimName"],
            *claim
        );
    }
    let args = imports["containers"][0]["args"].as_array().unwrap().iter();
    let args: Vec<&str> = args.map(|arg| arg.as_str().unwrap()).collect();
    let page = read(&docs("nightly.md"));
    let (_, same) = command(&page).split_once(' ').unwrap();
    let expected = format!("{same} --log-format json --format json -v --problems-exit 0");
    assert_eq!(args.join(" "), expected);
}
