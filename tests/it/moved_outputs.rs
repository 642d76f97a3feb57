//! Files of runs are named where they now lie, and only what is as written counts as theirs.

use std::collections::BTreeSet;
use std::fs;

use leadload::sandbox::Sandbox;
use leadload::source::Fingerprint;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

#[cfg(unix)]
use crate::cluster::Cluster;
#[cfg(unix)]
use crate::terminal::Terminal;
use crate::undo::undo;
use crate::util::{Folder, Run, contacts, service};

const LIST: &str = "phone\n+447911000001\nx\n+447911000002\n";

/// Chooses the ledger of a command.
pub type WithLedger<'a> = &'a dyn Fn(Run) -> Run;

/// The test with a ledger of each kind, and a function that runs SQL in it.
pub fn with_each_ledger(test: impl Fn(&Folder, WithLedger<'_>, &dyn Fn(&str))) {
    let folder = Folder::with_leads(LIST);
    let sql = |sql: &str| {
        let db = Connection::open(folder.ledger()).unwrap();
        db.execute_batch(&sql.replace("leadload.", "")).unwrap();
    };
    test(&folder, &|run| run, &sql);
    #[cfg(unix)]
    if let Some(database) = Cluster::database() {
        let with_ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
        let sql = |sql: &str| drop(database.sql(sql));
        test(&Folder::with_leads(LIST), &with_ledger, &sql);
    }
}

fn import(folder: &Folder, service: &Sandbox, campaign: &str, of: WithLedger<'_>) {
    let args = ["leads.csv", "--campaign", campaign];
    of(folder.import(service, &args)).expect(1);
}

/// The files that are named as a run's: kind, name and state.
fn outputs(folder: &Folder, run: &str, of: WithLedger<'_>) -> Vec<[String; 3]> {
    let show = folder.leadload(&["runs", "show", run, "--format", "json"]);
    let shown = of(show).expect(0).json();
    let outputs = shown["outputs"].as_array().unwrap().iter();
    let texts = |output: &Value| {
        ["kind", "name", "state"].map(|key| output[key].as_str().unwrap().to_owned())
    };
    outputs.map(texts).collect()
}

fn states(folder: &Folder, run: &str, of: WithLedger<'_>) -> [String; 2] {
    let [results, rejects] = &outputs(folder, run, of)[..] else {
        panic!("two files");
    };
    [results[2].clone(), rejects[2].clone()]
}

#[test]
fn files_that_a_later_run_has_put_aside_are_named_where_they_lie() {
    with_each_ledger(|folder, of, _| {
        let service = service();
        import(folder, &service, "101", of);
        let written = ["leads.results.csv", "leads.rejects.csv"].map(|name| folder.read(name));
        import(folder, &service, "102", of);
        let first = outputs(folder, "1", of);
        let kinds = ["results", "rejects"];
        for ((kind, text), [of_kind, name, state]) in kinds.iter().zip(&written).zip(&first) {
            assert_eq!([of_kind, state], [*kind, "as_written"]);
            assert_ne!(*name, format!("leads.{kind}.csv"));
            assert_eq!(folder.read(name), *text);
        }
        assert_eq!(first.len(), 2, "{first:?}");
        let second = outputs(folder, "2", of);
        assert_eq!(second[0], ["results", "leads.results.csv", "as_written"]);
        assert_eq!(second[1], ["rejects", "leads.rejects.csv", "as_written"]);

        // One that was edited is no longer as it was written, wherever it lies.
        folder.write("leads.rejects.csv", "phone\n+447911000003\n");
        import(folder, &service, "103", of);
        let second = outputs(folder, "2", of);
        let [_, [kind, name, state]] = &second[..] else {
            panic!("{second:?}");
        };
        assert_eq!([kind, state], ["rejects", "changed"]);
        assert_eq!(folder.read(name), "phone\n+447911000003\n");

        // So are those that the file of an undo takes the place of.
        let into_place = ["--results", "leads.results.csv"];
        of(undo(folder, &service, "3", &into_place)).expect(0);
        let third = outputs(folder, "3", of);
        let names: BTreeSet<&str> = third.iter().map(|[_, name, _]| &**name).collect();
        assert_eq!(names.len(), 3, "{third:?}");
        assert!(third.iter().all(|[.., state]| state == "as_written"));
    });
}

#[test]
fn a_file_that_is_not_as_it_was_written_is_called_so() {
    with_each_ledger(|folder, of, sql| {
        import(folder, &service(), "101", of);
        let path = folder.path("leads.results.csv");
        let results = folder.read("leads.results.csv");
        let is = |state: &str| assert_eq!(states(folder, "1", of), [state, "as_written"]);
        is("as_written");

        folder.write("leads.results.csv", results.replacen('1', "2", 1));
        is("changed");
        let text = of(folder.leadload(&["runs", "show", "1"])).expect(0);
        text.shows("`leadload runs export 1 --results FILE`");
        fs::rename(&path, folder.path("moved.csv")).unwrap();
        is("gone");
        fs::create_dir(&path).unwrap();
        is("changed");
        fs::remove_dir(&path).unwrap();
        sql("UPDATE leadload.starts SET host = 'another'");
        is("elsewhere");
        folder.write("leads.results.csv", &results);
        is("as_written");
        let listed = of(folder.leadload(&["runs", "--format", "json"])).expect(0);
        assert_eq!(
            listed.json()["runs"][0]["outputs"][0]["state"],
            "as_written"
        );
    });
}

#[test]
fn pruning_removes_files_only_as_they_were_written_and_only_when_it_may() {
    with_each_ledger(|folder, of, _| {
        let service = service();
        import(folder, &service, "101", of);
        import(folder, &service, "102", of);
        folder.write("leads.rejects.csv", "corrected");
        let names = folder.names();
        let prune = ["runs", "prune", "--older-than", "0s", "--files"];
        let refused = of(folder.leadload(&prune)).expect(2);
        refused.tells("`--yes`");
        assert_eq!(folder.names(), names);
        assert_eq!(states(folder, "1", of), ["as_written", "as_written"]);

        let args = [&prune[..], &["--yes", "--format", "json"]].concat();
        let pruned = of(folder.leadload(&args)).expect(0).json();
        assert_eq!(pruned["runs"], 2);
        assert_eq!(pruned["removed"].as_array().unwrap().len(), 3, "{pruned}");
        let [left] = &pruned["left"].as_array().unwrap()[..] else {
            panic!("{pruned}");
        };
        assert!(
            left["path"]
                .as_str()
                .unwrap()
                .ends_with("leads.rejects.csv")
        );
        assert!(left["why"].is_string());
        assert_eq!(folder.names(), ["leads.csv", "leads.rejects.csv"]);
        // A pruned run has no names of files any more: there is nothing to say.
        let again = of(folder.leadload(&args)).expect(0).json();
        assert_eq!([&again["removed"], &again["left"]], [&json!([]); 2]);
    });
}

#[test]
fn a_file_that_a_run_that_stays_has_written_too_is_left() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let import = || {
        folder.import_leads(&service, &[]).expect(0);
        folder.read("leads.results.csv")
    };
    import();
    assert_eq!(import(), import());
    let db = Connection::open(folder.ledger()).unwrap();
    let age = "UPDATE runs SET began_at = 1000 WHERE id < 3;
        UPDATE starts SET began_at = 1000, ended_at = 1000 WHERE run < 3";
    db.execute_batch(age).unwrap();
    drop(db);
    let prune = ["runs", "prune", "--older-than", "1d", "--files", "--yes"];
    folder.leadload(&prune).expect(0);
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_removed_stays_known() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads(LIST);
    import(&folder, &service(), "101", &|run| run);
    let may = |mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(folder.path(""), mode).unwrap();
    };
    may(0o500);
    let is_root = fs::write(folder.path("probe"), "").is_ok();
    let prune = ["runs", "prune", "--older-than", "0s", "--files", "--yes"];
    let pruned = folder.leadload(&prune).output();
    may(0o700);
    // Nothing is forbidden to root.
    if !is_root {
        assert_eq!(pruned.code, 5, "{}", pruned.stderr);
        let kept = states(&folder, "1", &|run| run);
        assert_eq!(kept, ["as_written", "as_written"]);
    }
}

#[cfg(unix)]
#[test]
fn files_to_remove_are_shown_before_the_question() {
    let folder = Folder::with_leads(LIST);
    import(&folder, &service(), "101", &|run| run);
    let prune = ["runs", "prune", "--older-than", "0s", "--files"];
    let mut terminal = Terminal::start(folder.leadload(&prune), 200, 30);
    terminal.answer("2 files for good? [y/N]", "n\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("leads.results.csv"), "{shown}");
    assert_eq!(
        states(&folder, "1", &|run| run),
        ["as_written", "as_written"]
    );
}

#[test]
fn people_of_a_forgotten_campaign_count_as_new() {
    with_each_ledger(|folder, of, _| {
        let service = service();
        import(folder, &service, "Spring promo", of);
        import(folder, &service, "102", of);
        let forget = |campaign: &str, more: &[&str]| {
            let args = ["runs", "forget", "--campaign", campaign];
            of(folder.leadload(&[&args, more].concat()))
        };
        forget("101", &[]).expect(2).tells("`--yes`");
        forget("Winter", &["--yes"]).expect(2);
        forget("", &["--yes"]).expect(2);
        let forgotten = forget("Spring promo", &["--yes", "--format", "json"]);
        let forgotten = forgotten.expect(0).json();
        assert_eq!(forgotten, json!({"run": null, "campaign": 101, "leads": 2}));
        let again = forget("101", &["--yes"]).expect(0);
        again.shows("101");

        let before = service.stats().lead_requests;
        import(folder, &service, "102", of);
        assert_eq!(service.stats().lead_requests, before);
        import(folder, &service, "101", of);
        assert_eq!(service.stats().lead_requests, before + 2);
    });
}

#[test]
fn a_campaign_is_forgotten_at_one_service() {
    with_each_ledger(|folder, of, _| {
        let (one, other) = (service(), service());
        import(folder, &one, "101", of);
        import(folder, &other, "101", of);
        let args = ["runs", "forget", "--campaign", "101", "--yes"];
        let unclear = of(folder.leadload(&args)).expect(2);
        unclear.tells(&one.base_url());
        unclear.tells(&other.base_url());
        of(folder.leadload(&args).at(&other))
            .expect(0)
            .shows("2 leads");
        for (service, again) in [(&one, 0), (&other, 2)] {
            let before = service.stats().lead_requests;
            import(folder, service, "101", of);
            assert_eq!(service.stats().lead_requests, before + again);
        }
    });
}

/// What happens to the list and its files, one after the other.
#[derive(Debug, Clone, Copy)]
enum Step {
    Import(&'static [&'static str]),
    /// The user edits the results that lie at the usual place.
    Edit,
    Remove,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop::sample::select(vec![
        Step::Import(&["--campaign", "101"]),
        Step::Import(&["--campaign", "102"]),
        Step::Import(&["--campaign", "101", "--limit", "1"]),
        Step::Import(&["--campaign", "101", "--known-bad", "skip"]),
        Step::Import(&["--campaign", "101", "--countries", "DE"]),
        Step::Edit,
        Step::Remove,
    ]);
    prop::collection::vec(step, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_each_file_that_leadload_wrote_is_named_where_it_lies(steps in steps()) {
        const EDITED: &str = "an edited line\n";
        let folder = Folder::with_leads(LIST);
        let service = service();
        for step in &steps {
            match step {
                Step::Import(flags) => {
                    let args = [&["leads.csv"][..], *flags].concat();
                    drop(folder.import(&service, &args).output());
                }
                Step::Edit => {
                    let mut names = folder.names();
                    names.retain(|name| name == "leads.results.csv");
                    for name in names {
                        folder.write(&name, folder.read(&name) + EDITED);
                    }
                }
                Step::Remove => drop(fs::remove_file(folder.path("leads.rejects.csv"))),
            }
        }
        let listed = folder.leadload(&["runs", "--format", "json"]).expect(0).json();
        let runs = listed["runs"].as_array().unwrap().iter();
        let mut named = BTreeSet::new();
        for output in runs.flat_map(|run| run["outputs"].as_array().unwrap()) {
            if output["state"] == "as_written" {
                let name = output["name"].as_str().unwrap();
                let file = Fingerprint::of(folder.read(name).as_bytes()).unwrap();
                prop_assert_eq!(file.to_string(), output["sha256"].as_str().unwrap());
                named.insert(name.to_owned());
            }
        }
        let mut lying = folder.names();
        lying.retain(|name| name != "leads.csv" && !folder.read(name).ends_with(EDITED));
        prop_assert_eq!(lying, named.into_iter().collect::<Vec<_>>(), "{:?}", steps);
    }
}
