//! What another role of the same database can do to a ledger.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use crate::cluster::{Cluster, Database};
use crate::shared_ledger::{import, requests, rows, with_ledger};
use crate::util::{Folder, Run, kill, scenario, wait_for_requests};

/// The names that stand before a bracket in the part of the program that talks to a server: among them are all
/// functions that its statements call.
fn functions() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ledger/postgres");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.is_file());
    let text: String = files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let before_bracket = text.split('(').map(|before| {
        let mut words = before.rsplit(|c: char| !c.is_ascii_lowercase() && c != '_');
        words.next().unwrap_or_default().to_owned()
    });
    let names: BTreeSet<String> = before_bracket.filter(|name| !name.is_empty()).collect();
    names.into_iter().collect::<Vec<_>>().join(",")
}

/// A database with a role that has no rights in it but to make things in `public`, as every role had up to
/// PostgreSQL 14.
fn with_stranger() -> Option<(Database, String)> {
    let database = Cluster::database()?;
    let stranger = format!("mallory_{}", database.name);
    database.sql(&format!(
        "CREATE ROLE {stranger} LOGIN; GRANT CREATE ON SCHEMA public TO {stranger}"
    ));
    Some((database, stranger))
}

/// One in which the stranger has something for each name that a statement could mean, and in which even
/// names whose types fit equally well mean that.
fn shadowed() -> Option<Database> {
    let (database, stranger) = with_stranger()?;
    let shadows = include_str!("shadows.sql").replace("FUNCTIONS", &functions());
    database.sql_as(&stranger, &shadows);
    database.sql(&format!(
        "ALTER DATABASE {} SET search_path = public, pg_catalog",
        database.name
    ));
    Some(database)
}

/// A command that did all that it was to do: whoever calls something of the stranger ends with 5.
fn done(run: Run) -> serde_json::Value {
    let output = run.output();
    assert!(output.code <= 1, "{}: {}", output.code, output.stderr);
    serde_json::from_str(&output.stdout).unwrap_or_default()
}

#[test]
fn nothing_that_another_role_makes_is_ever_called() {
    let (Some(database), Some(other)) = (shadowed(), shadowed()) else {
        return;
    };
    // Whoever does nothing about it calls them.
    database.sql(
        "DO $$ BEGIN
            PERFORM to_timestamp(1);
            RAISE SQLSTATE '22000';
        EXCEPTION WHEN raise_exception THEN NULL;
        END $$",
    );
    let service = scenario("latency_ms = 50\nkeep_bodies = true");
    let folder = Folder::with_leads(&(rows(0, 20) + "12,Bad\n"));
    let command = |args: &[&str]| with_ledger(folder.leadload(args).at(&service), &database);
    let sends = |args: &[&str]| {
        let args = [&["--timeout", "1s", "--format", "json"], args].concat();
        import(&folder, &service, &database, &args)
    };
    let killed = sends(&["--concurrency", "2"]).start();
    wait_for_requests(&service, 5);
    kill(killed);
    let whole = done(sends(&[]));
    let count = |of: &serde_json::Value, status: &str| of["counts"][status].as_u64().unwrap();
    assert_eq!(
        count(&whole, "created") + count(&whole, "duplicate"),
        20,
        "{whole}"
    );
    let known = done(sends(&["--known-bad", "skip"]));
    assert_eq!(count(&known, "already_imported"), 20, "{known}");
    assert_eq!(service.leads().len(), 20);
    done(command(&["suppress", "add", "--number", "+447911000025"]));
    folder.write("leads.csv", rows(10, 30));
    let more = "import leads.csv --campaign 101 --once service --rate 1000/s --format json";
    let more = done(command(&more.split(' ').collect::<Vec<_>>()));
    let statuses = ["already_imported", "created", "suppressed"].map(|status| count(&more, status));
    assert_eq!(statuses, [10, 9, 1], "{more}");
    for args in [
        &["suppress", "list"][..],
        &["suppress", "remove", "--number", "+447911000025"],
        &["runs", "list"],
        &["runs", "show", "last"],
        &["runs", "export", "--results", "export.csv"],
        &["check", "leads.csv", "--campaign", "101"],
        &["runs", "reconcile", "1", "--rate", "none"],
        &["runs", "copy", "--to", "copy.sqlite3"],
        &[
            "runs",
            "copy",
            "--from",
            "copy.sqlite3",
            "--to",
            &other.url(),
        ],
        &[
            "runs",
            "copy",
            "--from",
            &other.url(),
            "--to",
            "back.sqlite3",
        ],
        &["runs", "undo", "last", "--yes", "--rate", "none"],
        &["runs", "prune", "--older-than", "0s"],
        &["runs", "forget", "2", "--yes"],
        &["runs", "forget", "--number", "+447911000003", "--yes"],
    ] {
        done(command(args));
    }
    assert_eq!(
        service.leads().len(),
        20,
        "the nine of the last run are removed"
    );
    let again = requests(&service)
        .into_iter()
        .filter(|(_, times)| *times > 1);
    // Those that were on their way when the first start was killed.
    assert!(again.count() <= 2);
    let seen: HashSet<String> = folder
        .column("export.csv", "phone_number")
        .into_iter()
        .collect();
    assert_eq!(seen.len(), 30, "29 people and the cell that has no number");
}
