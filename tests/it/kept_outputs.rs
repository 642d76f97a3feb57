//! Files of an earlier run that stay if a later run gets less far.

use std::fs;

use crate::sheets::xlsx;
use crate::util::{
    Folder, Output, contacts, kill, number, replaced, scenario, service, signal, wait_for_requests,
};

/// Refuses the token from the first request on.
const DEAD_TOKEN: &str = "token_revoked_after = 0";

const LIST: &str = "phone\n+447911000001\nx\n+447911000002\n";

/// The names of files that have this name, or had it until another file took it.
fn versions(folder: &Folder, name: &str) -> Vec<String> {
    let (start, end) = name.rsplit_once('.').unwrap();
    let names = folder.names().into_iter();
    names
        .filter(|name| name.starts_with(&format!("{start}.")) && name.ends_with(end))
        .collect()
}

#[test]
fn a_new_run_that_stops_early_takes_nothing_from_the_last_one() {
    let folder = Folder::with_leads(LIST);
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    let results = folder.read("leads.results.csv");
    let rejects = folder.read("leads.rejects.csv");

    folder.write("leads.csv", format!("{LIST}+447911000003\n"));
    let service = replaced(service, DEAD_TOKEN);
    folder.import_leads(&service, &[]).expect(3);
    let kept = |name: &str, text: &str| {
        let versions = versions(&folder, name);
        assert!(
            versions.iter().any(|name| folder.read(name) == text),
            "{versions:?}"
        );
    };
    kept("leads.results.csv", &results);
    kept("leads.rejects.csv", &rejects);
    // A run replaces its own files, however often it is repeated.
    let names = folder.names();
    folder.import_leads(&service, &[]).expect(3);
    assert_eq!(folder.names(), names);

    // A complete run replaces everything that runs have written there.
    let service = replaced(service, "");
    folder.import_leads(&service, &[]).expect(1);
    assert_eq!(folder.names(), names);
    assert_eq!(folder.records("leads.results.csv").len(), 4);
}

#[test]
fn bad_rows_of_a_run_that_was_killed_or_stopped_are_known_when_rejects_have_held_them() {
    let skip = ["--known-bad", "skip", "--concurrency", "1"];
    let bad: String = (0..16).map(|row| format!("x{row}\n")).collect();
    let good: String = (0..20).map(|row| format!("{}\n", number(row))).collect();
    let list = format!("phone\n{good}{bad}");
    for how in ["killed", "stopped"] {
        let folder = Folder::with_leads(&list);
        let service = scenario("latency_ms = 100");
        let child = folder.import_leads(&service, &skip).start();
        wait_for_requests(&service, 3);
        let stops_cleanly = how == "stopped" && cfg!(unix);
        if stops_cleanly {
            signal(&child, "-TERM");
            assert_eq!(Output::of(child).code, 4);
            assert_eq!(folder.records("leads.rejects.csv").len(), 16);
        } else {
            kill(child);
        }
        // The list has changed in between, so this is another run.
        folder.write("leads.csv", format!("{list}+447911900001\n"));
        let service = replaced(service, "");
        let summary = |code| {
            let json = ["--format", "json"];
            let run = folder.import_leads(&service, &[&skip[..], &json].concat());
            run.expect(code).json()
        };
        if !stops_cleanly {
            assert_eq!(summary(1)["known_bad"], 0);
            assert_eq!(folder.records("leads.rejects.csv").len(), 16);
        } else {
            assert_eq!(summary(0)["known_bad"], 16);
        }
        // If nothing new is rejected the rejects stay where they are.
        let rejects = folder.read("leads.rejects.csv");
        folder.write("leads.csv", format!("{list}+447911900001\n+447911900002\n"));
        assert_eq!(summary(0)["known_bad"], 16);
        assert_eq!(folder.read("leads.rejects.csv"), rejects);
        // New rejects get their own file.
        folder.write("leads.csv", format!("{list}y\n"));
        assert_eq!(summary(1)["known_bad"], 16);
        assert_eq!(folder.records("leads.rejects.csv").len(), 1);
        let versions = versions(&folder, "leads.rejects.csv");
        assert!(
            versions.iter().any(|name| folder.read(name) == rejects),
            "{versions:?}"
        );
    }
}

#[test]
fn without_rejects_no_bad_row_becomes_known() {
    let folder = Folder::with_leads(LIST);
    let service = service();
    let flags = [
        "--known-bad",
        "skip",
        "--rejects",
        "none",
        "--format",
        "json",
    ];
    for _ in 0..2 {
        let summary = folder.import_leads(&service, &flags).expect(1).json();
        assert_eq!(summary["known_bad"], 0);
    }
}

#[cfg(unix)]
#[test]
fn a_second_signal_leaves_the_results_of_the_same_run_as_long_as_they_were() {
    let folder = Folder::with_leads(&contacts(20_000));
    let service = scenario("latency_ms = 2");
    let flags = ["--concurrency", "8"];
    let child = folder.import_leads(&service, &flags).start();
    wait_for_requests(&service, 2_000);
    signal(&child, "-TERM");
    let stopped = Output::of(child);
    assert_eq!(stopped.code, 4, "{}", stopped.stderr);
    let rows = folder.records("leads.results.csv").len();
    assert!(rows >= 2_000, "{rows}");

    let service = replaced(service, "latency_ms = 60000");
    let flags = [&flags[..], &["--format", "json"]].concat();
    for after in (1..12).map(|n| std::time::Duration::from_millis(15 * n)) {
        let child = folder.import_leads(&service, &flags).start();
        std::thread::sleep(after);
        signal(&child, "-TERM");
        signal(&child, "-INT");
        let ended = Output::of(child);
        // Until the program handles signals they end it at once.
        if ended.stdout.is_empty() {
            continue;
        }
        assert_eq!(ended.code, 4);
        let summary = ended.json();
        if summary["run"] == 1 {
            assert!(
                summary["rows"].as_u64().unwrap() >= rows as u64,
                "{summary}"
            );
        }
        assert!(folder.records("leads.results.csv").len() >= rows);
    }
    assert_eq!(
        versions(&folder, "leads.results.csv"),
        ["leads.results.csv"]
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_appears_where_an_output_is_written_is_never_written_to() {
    use std::io::{Read, Seek};
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads(LIST);
    for name in ["leads.results.csv", "leads.rejects.csv"] {
        let part = format!("{name}.part");
        folder.write(&part, "");
        let open = fs::Permissions::from_mode(0o666);
        fs::set_permissions(folder.path(&part), open).unwrap();
    }
    let mut held = fs::File::open(folder.path("leads.results.csv.part")).unwrap();
    folder.import_leads(&service(), &[]).expect(1);
    for name in ["leads.results.csv", "leads.rejects.csv"] {
        let mode = fs::metadata(folder.path(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let mut seen = String::new();
    held.rewind().unwrap();
    held.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, "");
}

/// What the files hold that have this name, or had it until another file took it.
fn phones(folder: &Folder, name: &str) -> Vec<Vec<String>> {
    let versions = versions(folder, name).into_iter();
    let mut phones: Vec<_> = versions.map(|name| folder.column(&name, "phone")).collect();
    phones.sort();
    phones
}

#[test]
fn bad_rows_of_one_part_of_a_list_stay_when_another_part_is_sent() {
    let folder = Folder::with_leads("phone,kind\nx,a\n+447911000001,a\ny,b\n");
    let service = service();
    let import = |flags: &[&str], code| {
        folder.import_leads(&service, flags).expect(code);
        phones(&folder, "leads.rejects.csv")
    };
    assert_eq!(import(&["--limit", "1"], 1), [["x"]]);
    // The whole list has these rows too, even though another option is different.
    assert_eq!(import(&["--region", "GB"], 1), [vec!["x", "y"]]);
    assert_eq!(import(&[], 1), [vec!["x", "y"]]);
    let both = [vec!["x"], vec!["x", "y"]];
    assert_eq!(import(&["--limit", "1"], 1), both);
    assert_eq!(import(&["--limit", "2"], 1), both);
    // No rejects are left behind that are not those of the last run.
    assert_eq!(import(&["--only", "phone=+447911000001"], 0), both);
    assert!(!folder.path("leads.rejects.csv").exists());
    assert_eq!(
        import(&["--only", "kind=b"], 1),
        [vec!["x"], vec!["x", "y"], vec!["y"]]
    );
    assert_eq!(
        import(&["--only", "kind=b"], 1),
        [vec!["x"], vec!["x", "y"], vec!["y"]]
    );
}

#[test]
fn bad_rows_of_one_sheet_stay_when_another_is_sent() {
    let folder = Folder::new();
    let book = xlsx(|book| {
        for (name, phone) in [("A", "x"), ("B", "y")] {
            let sheet = book.add_worksheet().set_name(name)?;
            sheet.write_column(0, 0, ["phone", phone])?;
        }
        Ok(())
    });
    folder.write("leads.xlsx", book);
    let service = service();
    for (sheet, files) in [("A", 1), ("A", 1), ("B", 2), ("B", 2), ("A", 3)] {
        let args = ["leads.xlsx", "--campaign", "101", "--sheet", sheet];
        folder.import(&service, &args).expect(1);
        for name in ["leads.results.csv", "leads.rejects.xlsx"] {
            assert_eq!(versions(&folder, name).len(), files, "{name}");
        }
    }
}

#[test]
fn results_of_another_list_or_campaign_stay() {
    let folder = Folder::new();
    folder.write("a.csv", contacts(1));
    folder.write("b.csv", contacts(2));
    let service = service();
    let import = |list: &str, campaign: &str| {
        let args = [list, "--campaign", campaign, "--results", "out.csv"];
        folder.import(&service, &args).expect(0);
        versions(&folder, "out.csv").len()
    };
    assert_eq!(import("a.csv", "101"), 1);
    assert_eq!(import("a.csv", "101"), 1);
    assert_eq!(import("b.csv", "101"), 2);
    assert_eq!(import("b.csv", "102"), 3);
    assert_eq!(import("b.csv", "102"), 3);
    // A list that comes through a pipe is known only by its content.
    let piped = |rows| {
        let args = ["import", "-", "--campaign", "101"];
        let run = folder.leadload(&args).at(&service);
        run.stdin(contacts(rows).as_bytes()).expect(0);
        versions(&folder, "leads.results.csv").len()
    };
    assert_eq!([piped(1), piped(1), piped(2)], [1, 1, 2]);
}

#[test]
fn a_list_more_replaces_the_results_of_the_others() {
    let folder = Folder::new();
    for list in ["a.csv", "b.csv"] {
        folder.write(list, "phone\nx\n");
    }
    let service = service();
    let import = |lists: &[&str]| {
        let args = [lists, &["--campaign", "101"]].concat();
        folder.import(&service, &args).expect(1);
        ["a.results.csv", "a.rejects.csv", "b.rejects.csv"]
            .map(|name| versions(&folder, name).len())
    };
    assert_eq!(import(&["a.csv"]), [1, 1, 0]);
    assert_eq!(import(&["a.csv", "b.csv"]), [1, 1, 1]);
    // The results have the rows of the other list too.
    assert_eq!(import(&["a.csv"]), [2, 2, 1]);
}

#[test]
fn bad_rows_stay_known_where_a_run_of_fewer_rows_has_kept_their_rejects() {
    let folder = Folder::with_leads(&format!("phone\n{}\nx\n", number(0)));
    let service = scenario("");
    let skip = ["--known-bad", "skip", "--format", "json"];
    folder.import_leads(&service, &[]).expect(1);
    folder.import_leads(&service, &["--limit", "1"]).expect(0);
    assert_eq!(phones(&folder, "leads.rejects.csv"), [["x"]]);
    let known = folder.import_leads(&service, &skip).expect(0).json();
    assert_eq!(known["known_bad"], 1);
}

/// By the other rules rows are invalid that have leads: their ids would be lost.
#[test]
fn results_with_lead_ids_are_kept_when_other_countries_are_allowed() {
    let folder = Folder::with_leads("phone\n+447400123456\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let results = folder.read("leads.results.csv");
    folder
        .import_leads(&service, &["--countries", "DE"])
        .expect(1);
    let kept = versions(&folder, "leads.results.csv");
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_eq!(folder.read(&kept[0]), results);
}
