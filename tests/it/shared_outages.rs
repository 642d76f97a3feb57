//! The ledger's server goes away during a run, in every way, and comes back.

use std::time::{Duration, Instant};

use crate::cluster::{Cluster, Database};
use crate::link::{Link, State};
use crate::shared_ledger::{TAKES_ALL, import, requests, rows, with_ledger};
use crate::util::{Folder, Output, number, scenario, signal, wait_for_requests};

/// Runs an import of 600 leads, and breaks something in its midst. Every row must be sent once
/// and recorded, and nothing may start while it is broken.
fn survives(url: &str, break_it: impl FnOnce(), mend_it: impl FnOnce()) {
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 10"));
    let folder = Folder::with_leads(&rows(0, 600));
    let run = folder.import_leads(&service, &["--concurrency", "4", "--timeout", "2s"]);
    let child = run.env("LEADLOAD_LEDGER", url).start();
    wait_for_requests(&service, 50);
    break_it();
    // What has started before it was noticed is answered by now.
    std::thread::sleep(Duration::from_secs(3));
    let sent = service.stats().lead_requests;
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(service.stats().lead_requests, sent, "nothing starts");
    assert!(sent < 600, "it was broken in the midst");
    mend_it();
    let output = Output::of(child);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let requests = requests(&service);
    assert_eq!(requests.len(), 600);
    assert!(requests.values().all(|times| *times == 1), "{requests:?}");
    let statuses = folder.column("leads.results.csv", "status");
    assert!(
        statuses.iter().all(|status| status == "created"),
        "{statuses:?}"
    );
}

/// A database behind a link.
fn linked() -> Option<(Database, Link)> {
    let database = Cluster::database()?;
    let link = Link::to(database.port);
    Some((database, link))
}

#[test]
fn a_restart_of_the_server_costs_no_row() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.new_database().url();
    survives(&url, || cluster.down("fast"), || cluster.up());
}

#[test]
fn a_crash_of_the_server_costs_no_row() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let url = cluster.new_database().url();
    survives(&url, || cluster.down("immediate"), || cluster.up());
}

#[test]
fn connections_that_are_cut_cost_no_row() {
    let Some((database, link)) = linked() else {
        return;
    };
    let url = database.url_at(link.port(), "lease=2s");
    survives(&url, || link.set(State::Cut), || link.set(State::Passing));
}

#[test]
fn commits_whose_answers_are_lost_are_repeated_and_count_once() {
    let Some((database, link)) = linked() else {
        return;
    };
    let url = database.url_at(link.port(), "lease=2s");
    let lose = || link.set(State::LosingAnswers);
    survives(&url, lose, || link.set(State::Passing));
    let counted = "SELECT sum(requests) FROM leadload.recent_starts";
    assert_eq!(database.sql(counted), ["600"]);
}

#[test]
fn what_a_command_has_changed_is_counted_though_the_answer_to_its_commit_is_lost() {
    let Some((database, link)) = linked() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    import(&folder, &scenario(""), &database, &[]).expect(0);
    let (one, other) = (number(1), number(2));
    for (statement, args, what, changed) in [
        (
            "INSERT INTO leadload.suppressed",
            &["suppress", "add", "--number", &one, "--number", &other][..],
            "added",
            2,
        ),
        (
            "DELETE FROM leadload.suppressed",
            &["suppress", "remove", "--number", &one],
            "removed",
            1,
        ),
        (
            "UPDATE leadload.sent SET error",
            &["runs", "prune", "--older-than", "0s"],
            "runs",
            1,
        ),
        (
            "DELETE FROM leadload.sent WHERE run",
            &["runs", "forget", "1", "--yes"],
            "leads",
            3,
        ),
    ] {
        link.set(State::LosingCommitOf(statement));
        let command = folder.leadload(args).args("--format json");
        let command = command.env("LEADLOAD_LEDGER", &database.url_at(link.port(), "lease=2s"));
        assert_eq!(command.expect(0).json()[what], changed, "{args:?}");
        assert_eq!(link.state(), State::Passing, "a commit was lost: {args:?}");
    }
}

#[test]
fn a_network_that_is_cut_for_half_a_minute_costs_no_row() {
    let Some((database, link)) = linked() else {
        return;
    };
    let url = database.url_at(link.port(), "lease=2s");
    let heal = || {
        // Longer than the lease, and longer than an answer is waited for.
        std::thread::sleep(Duration::from_secs(26));
        link.set(State::Passing);
    };
    survives(&url, || link.set(State::Frozen), heal);
}

#[test]
fn a_server_that_is_a_replica_for_a_while_is_waited_for() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let set = |value: &str| {
        let name = &database.name;
        database.sql(&format!(
            "ALTER DATABASE {name} SET default_transaction_read_only = {value}"
        ));
        hang_up(&database);
    };
    survives(&database.url(), || set("on"), || reset_read_only(&database));
}

fn reset_read_only(database: &Database) {
    let name = &database.name;
    database.sql(&format!(
        "BEGIN READ WRITE; ALTER DATABASE {name} RESET default_transaction_read_only; COMMIT"
    ));
    hang_up(database);
}

/// Ends all other connections to the database.
fn hang_up(database: &Database) {
    database.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
}

#[test]
fn a_full_disk_is_waited_for() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let fill = || {
        database.sql(
            "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON leadload.sent EXECUTE FUNCTION fill()",
        );
    };
    let free = || drop(database.sql("DROP TRIGGER fill ON leadload.sent"));
    survives(&database.url(), fill, free);
}

#[test]
fn too_many_connections_are_waited_for() {
    let Some(database) = Cluster::database() else {
        return;
    };
    database.sql(&format!(
        "CREATE ROLE {0} LOGIN; GRANT CREATE ON DATABASE {0} TO {0}",
        database.name
    ));
    let limit = |limit: i32| {
        let name = &database.name;
        database.sql(&format!("ALTER ROLE {name} CONNECTION LIMIT {limit}"));
        hang_up(&database);
    };
    let name = &database.name;
    let url = format!(
        "postgresql://{name}@127.0.0.1:{}/{name}?lease=2s",
        database.port
    );
    survives(&url, || limit(0), || limit(-1));
}

#[test]
fn statements_that_take_too_long_for_the_server_are_repeated() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let slow = || {
        let name = &database.name;
        database.sql(&format!(
            "ALTER DATABASE {name} SET statement_timeout = '200ms'"
        ));
        database.sql(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
            CREATE TRIGGER slow BEFORE UPDATE ON leadload.runs EXECUTE FUNCTION slow()",
        );
        hang_up(&database);
    };
    let mend = || drop(database.sql("DROP TRIGGER slow ON leadload.runs"));
    survives(&database.url(), slow, mend);
}

#[test]
fn after_the_longest_outage_the_run_stops_and_the_same_command_goes_on() {
    let Some((database, link)) = linked() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 10"));
    let folder = Folder::with_leads(&rows(0, 200));
    let args = [
        "--concurrency",
        "4",
        "--max-outage",
        "2s",
        "--timeout",
        "2s",
    ];
    let url = database.url_at(link.port(), "lease=2s");
    let start = || {
        folder
            .import_leads(&service, &args)
            .env("LEADLOAD_LEDGER", &url)
    };
    let child = start().start();
    wait_for_requests(&service, 50);
    link.set(State::Cut);
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("out of reach");
    // The rows whose answers, if they came, could not be recorded any more.
    let doubtful = database.sql("SELECT '+' || number FROM leadload.sent WHERE is_open");
    link.set(State::Passing);
    start().expect(0);
    let requests = requests(&service);
    assert_eq!(requests.len(), 200);
    for (number, times) in requests {
        let most = 1 + usize::from(doubtful.contains(&number));
        assert!(times <= most, "{number}: {times} times");
    }
}

#[test]
fn a_signal_ends_a_run_whose_ledger_is_away() {
    let Some((database, link)) = linked() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 10"));
    let folder = Folder::with_leads(&rows(0, 200));
    let url = database.url_at(link.port(), "lease=2s");
    let run = folder.import_leads(&service, &["--concurrency", "4", "--timeout", "2s"]);
    let child = run.env("LEADLOAD_LEDGER", &url).start();
    wait_for_requests(&service, 50);
    link.set(State::Cut);
    std::thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    signal(&child, "-TERM");
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    let kept = folder
        .names()
        .into_iter()
        .find(|name| name.ends_with(".part"));
    let sent = service.stats().lead_requests;
    let rows = folder.column(&kept.unwrap(), "status");
    let created = rows.iter().filter(|status| *status == "created").count();
    assert_eq!(created as u64, sent, "what was answered is told");
}

#[test]
fn a_server_that_is_out_of_reach_at_the_start_is_waited_for_and_then_given_up() {
    let Some((database, link)) = linked() else {
        return;
    };
    link.set(State::Cut);
    let service = scenario("");
    let folder = Folder::with_leads(&rows(0, 3));
    let url = database.url_at(link.port(), "lease=2s");
    let start = || {
        folder
            .import_leads(&service, &[])
            .env("LEADLOAD_LEDGER", &url)
    };
    let waiting = start().start();
    std::thread::sleep(Duration::from_secs(3));
    link.set(State::Passing);
    let output = Output::of(waiting);
    assert_eq!(output.code, 0, "{}", output.stderr);
    link.set(State::Cut);
    let began = Instant::now();
    let given_up = start().expect(5);
    let took = began.elapsed();
    assert!((29..35).contains(&took.as_secs()), "{took:?}");
    given_up.tells("out of reach for 3");
    assert_eq!(service.stats().lead_requests, 3);
}

#[test]
fn a_ledger_that_is_emptied_during_a_run_stops_it() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 20"));
    let folder = Folder::with_leads(&rows(0, 300));
    let child = import(&folder, &service, &database, &["--concurrency", "2"]).start();
    wait_for_requests(&service, 20);
    database.sql("DELETE FROM leadload.runs");
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("emptied");
}

#[test]
fn a_ledger_that_goes_back_to_an_older_state_during_a_run_stops_it() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 20"));
    let folder = Folder::with_leads(&rows(0, 1000));
    let child = import(&folder, &service, &database, &["--concurrency", "2"]).start();
    wait_for_requests(&service, 20);
    database.sql(
        "CREATE SCHEMA backup;
        CREATE TABLE backup.sent AS TABLE leadload.sent;
        CREATE TABLE backup.starts AS TABLE leadload.starts;",
    );
    // Started requests are counted once a second, if not earlier.
    wait_for_requests(&service, 200);
    database.sql(
        "BEGIN;
        LOCK TABLE leadload.runs, leadload.sent, leadload.starts;
        DELETE FROM leadload.sent;
        INSERT INTO leadload.sent SELECT * FROM backup.sent;
        UPDATE leadload.starts SET committed = old.committed FROM backup.starts AS old;
        COMMIT;",
    );
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("emptied");
}

#[test]
fn a_database_that_cannot_store_every_name_is_refused() {
    let Some(mut database) = Cluster::database() else {
        return;
    };
    let latin = format!("{}_latin", database.name);
    database.sql(&format!(
        "CREATE DATABASE {latin} ENCODING LATIN1 LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    ));
    database.name = latin;
    let folder = Folder::with_leads(&rows(0, 3));
    let refused = import(&folder, &scenario(""), &database, &[]).expect(5);
    refused.tells("LATIN1");
}

#[test]
fn a_database_that_accepts_no_connections_for_a_while_is_waited_for() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let service = scenario(&format!("{TAKES_ALL}latency_ms = 20"));
    let folder = Folder::with_leads(&rows(0, 200));
    let child = import(&folder, &service, &database, &["--concurrency", "2"]).start();
    wait_for_requests(&service, 20);
    let other = Cluster::database().unwrap();
    let allow = |allowed: bool| {
        other.sql(&format!(
            "ALTER DATABASE {} ALLOW_CONNECTIONS {allowed}",
            database.name
        ));
    };
    allow(false);
    other.sql(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
        database.name
    ));
    std::thread::sleep(Duration::from_secs(1));
    allow(true);
    let output = Output::of(child);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(service.stats().lead_requests, 200);
}

#[test]
fn a_newer_schema_is_refused() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    with_ledger(folder.leadload(&["runs"]), &database).expect(0);
    let service = scenario("");
    import(&folder, &service, &database, &[]).expect(0);
    database.sql("UPDATE leadload.about SET version = 99");
    let refused = import(&folder, &service, &database, &[]).expect(5);
    refused.tells("format 99");
    with_ledger(folder.leadload(&["runs"]), &database).expect(5);
}
