//! What a ledger can make the program do. Colleagues share it, copies of it are restored, and one may
//! lie where somebody has put it: so service, token, outputs and delivery are never taken from it.

use std::fs;

use leadload::sandbox::Sandbox;
use leadload::source::Fingerprint;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::moved_outputs::with_each_ledger;
use crate::page_runs::Page;
use crate::util::{Folder, contacts, replaced, scenario, service};

/// Every option that is not about the columns and the people of a list, with values that would do harm.
fn harmful(folder: &Folder, spy: &Sandbox) -> Value {
    folder.write("spy.token", spy.token());
    let at = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    json!({
        "config": at("spy.toml"),
        "profile": "spy",
        "base_url": spy.base_url(),
        "token_file": at("spy.token"),
        "insecure_http": true,
        "ca_file": at("spy.token"),
        "sandbox": true,
        "ledger": at("spy.sqlite3"),
        "allow_duplicates": true,
        "again": true,
        "new_ledger": true,
        "dry_run": true,
        "yes": true,
        "on_uncertain": "hold",
        "known_bad": "skip",
        "once": "service",
        "rate": "1/min",
        "max_attempts": 1,
        "stop_after": 1,
        "test_to": "+447911999999",
        "max_new": "1",
        "limit": 1,
        "min_rows": "100",
        "max_invalid": "0",
        "results": at("victim.csv"),
        "rejects": at("victim-rejects.csv"),
        "report": at("victim.html"),
        "metrics_file": at("victim.prom"),
        "save_mapping": "spy",
        "format": "json",
        "log_format": "json",
    })
}

/// What a run leaves to later lists, with all that is harmful.
fn with_harmful(folder: &Folder, spy: &Sandbox, more: Value) -> String {
    let mut all = harmful(folder, spy);
    let more = more.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(more);
    all.to_string().replace('\'', "''")
}

fn is_left_alone(spy: &Sandbox) {
    assert_eq!(spy.stats().lead_requests, 0);
    assert!(spy.leads().is_empty());
}

#[test]
fn rejects_take_no_service_token_output_or_delivery_out_of_a_ledger() {
    with_each_ledger(|folder, of, sql| {
        let (mine, spy) = (scenario("keep_bodies = true"), service());
        folder.write("leads.csv", "phone,name\n+447911000001,Ada\nx,Bob\n");
        of(folder.import(&mine, &["leads.csv", "--campaign", "101"])).expect(1);
        let defaults = with_harmful(folder, &spy, json!({"campaign": "102"}));
        sql(&format!("UPDATE leadload.runs SET defaults = '{defaults}'"));
        let rejects = folder.read("leads.rejects.csv");
        folder.write("fixed.csv", rejects.replace("\nx,", "\n+447911000002,"));
        let before = folder.names();

        of(folder.import(&mine, &["fixed.csv"])).expect(0);
        is_left_alone(&spy);
        let sent = mine.requests();
        let sent = String::from_utf8_lossy(&sent.last().unwrap().body).into_owned();
        // What is about columns and people is taken.
        assert!(sent.contains("\"campaign_id\":102"), "{sent}");
        assert!(sent.contains("\"allow_dupplicate\":false"), "{sent}");
        let mut after = folder.names();
        after.retain(|name| !before.contains(name));
        assert_eq!(after, ["fixed.results.csv"]);

        // Without a service of its own the command has none.
        let alone = of(folder.leadload(&["import", "fixed.csv"])).expect(2);
        alone.tells("--base-url");
        is_left_alone(&spy);
    });
}

#[test]
fn the_next_list_on_the_page_goes_to_the_service_of_the_page_and_writes_nothing_elsewhere() {
    let folder = Folder::with_leads(&contacts(2));
    let (mine, spy) = (service(), service());
    folder.import_leads(&mine, &[]).expect(0);
    let db = Connection::open(folder.ledger()).unwrap();
    let known = json!({"campaign": "101", "var": ["name"]});
    let defaults = with_harmful(&folder, &spy, known);
    db.execute(&format!("UPDATE runs SET defaults = '{defaults}'"), [])
        .unwrap();
    drop(db);
    let next = Folder::with_leads(&contacts(4));
    fs::copy(next.path("leads.csv"), folder.path("leads.csv")).unwrap();
    let before = folder.names();

    let page = Page::start(&folder, &mine);
    let answer = page
        .session
        .upload("list", &[], Some(&folder.path("leads.csv")));
    let (at, _) = page.session.arrive(&answer.to.expect(&answer.body));
    let list = at.strip_suffix("/send").expect("its settings are known");
    page.send(list, &[]);
    assert!(page.end(list).says("Sent"));
    is_left_alone(&spy);
    // The two who were sent before are left out.
    assert_eq!(mine.stats().lead_requests, 4);
    let mut after = folder.names();
    after.retain(|name| !before.contains(name) && name != "config.toml");
    assert!(after.is_empty(), "{after:?}");
}

/// A file that a run could be said to have written here.
fn victim(folder: &Folder, name: &str) -> String {
    folder.write(name, "a file of the user\n");
    let sha256 = Fingerprint::of(&b"a file of the user\n"[..])
        .unwrap()
        .sha256;
    sha256.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// A run of the command line that can be resumed, and a service that works by now.
fn stopped(folder: &Folder, args: &[&str]) -> Sandbox {
    let service = scenario("token_revoked_after = 4");
    let args = [&["--concurrency", "1"], args].concat();
    folder.import_leads(&service, &args).expect(3);
    replaced(service, "")
}

#[test]
fn resume_and_undo_on_the_page_write_to_no_path_that_a_ledger_names() {
    let folder = Folder::with_leads(&contacts(10));
    let service = stopped(&folder, &[]);
    let sha256 = victim(&folder, ".bashrc");
    let path = folder.path(".bashrc");
    let tamper = |sql: &str| {
        let db = Connection::open(folder.ledger()).unwrap();
        db.execute_batch(sql).unwrap();
    };
    let path = path.display();
    tamper(&format!(
        "UPDATE outputs SET path = '{path}', sha256 = x'{sha256}';
        INSERT INTO outputs (run, path, place, kind, sha256, rows)
            SELECT run, path, place, 'undo', sha256, 1 FROM outputs LIMIT 1"
    ));
    let page = Page::start(&folder, &service);
    let run = page.session.post("history/1/resume", &[]).to.unwrap();
    let list = run.strip_suffix("/run").unwrap();
    assert!(page.end(list).says("Sent"));
    assert_eq!(folder.read(".bashrc"), "a file of the user\n");
    assert_eq!(page.results(list).len(), 10);

    let undone = page
        .session
        .post("history/1/undo", &[("leads", "10")])
        .to
        .unwrap();
    let undone = page.session.arrive(&undone).1;
    assert!(undone.says("Removed again"), "{}", undone.body);
    assert_eq!(folder.read(".bashrc"), "a file of the user\n");
}

#[test]
fn a_run_of_another_computer_is_not_resumed_from_a_file_that_lies_at_the_same_path_here() {
    let folder = Folder::with_leads(&contacts(10));
    let service = stopped(&folder, &[]);
    let db = Connection::open(folder.ledger()).unwrap();
    db.execute("UPDATE starts SET host = 'another'", [])
        .unwrap();
    drop(db);
    let page = Page::start(&folder, &service);
    let run = page.session.get("history/1");
    let why = "resumed here";
    assert!(run.says(why), "{}", run.body);
    page.session.post("history/1/resume", &[]);
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_run_that_may_call_people_twice_is_resumed_only_where_somebody_says_so() {
    let folder = Folder::with_leads(&contacts(10));
    let service = stopped(&folder, &["--allow-duplicates"]);
    let page = Page::start(&folder, &service);
    let refused = page.session.post("history/1/resume", &[]);
    assert!(refused.says("campaign already"), "{}", refused.body);
    assert_eq!(service.stats().lead_requests, 0);
    page.kill();

    let settings = "[profiles.test]\nrate = 'none'\nallow_duplicates = true\n";
    folder.write("config.toml", settings);
    let page = Page::start(&folder, &service);
    let run = page.session.post("history/1/resume", &[]).to.unwrap();
    let ended = page.end(run.strip_suffix("/run").unwrap());
    assert!(ended.says("Sent"), "{}", ended.body);
    assert_eq!(service.stats().lead_requests, 6);
}

#[test]
fn the_page_serves_a_file_only_as_it_was_written_and_on_the_computer_that_wrote_it() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let page = Page::start(&folder, &service);
    let db = Connection::open(folder.ledger()).unwrap();
    let served = || {
        let file = page.session.get("history/1/files/results.csv");
        (file.body.starts_with("row,line,"), file)
    };
    let set = |sql: &str| db.execute_batch(sql).unwrap();
    assert!(served().0);
    let sha256 = victim(&folder, "secret.txt");
    let secret = folder.path("secret.txt");
    let own = "CREATE TABLE own AS SELECT path, sha256 FROM outputs WHERE kind = 'results'";
    set(own);
    for sha256 in [String::new(), format!(", sha256 = x'{sha256}'")] {
        set(&format!(
            "UPDATE outputs SET path = '{}'{sha256} WHERE kind = 'results'",
            secret.display()
        ));
        let (_, file) = served();
        assert!(!file.body.contains("a file of the user"), "{}", file.body);
    }
    set(
        "UPDATE outputs SET (path, sha256) = (SELECT * FROM own) WHERE kind = 'results'; DROP TABLE own",
    );
    assert!(served().0);
    set("UPDATE starts SET host = 'another'");
    assert!(!served().0);
    let run = page.session.get("history/1");
    assert!(run.says("on the computer"), "{}", run.body);
    // Nor is it known where a run without any start was begun.
    set("DELETE FROM starts");
    assert!(!served().0);
}

#[test]
fn the_list_of_a_resumed_run_is_not_served_from_where_a_ledger_says_it_is() {
    let folder = Folder::with_leads(&contacts(10));
    let service = stopped(&folder, &[]);
    let page = Page::start(&folder, &service);
    let run = page.session.post("history/1/resume", &[]).to.unwrap();
    let list = run.strip_suffix("/run").unwrap();
    assert!(page.end(list).says("Sent"));
    let file = page.session.get(&format!("{list}/files/list"));
    assert!(file.says("not here"), "{}", file.body);
}

#[test]
fn pruning_removes_no_file_that_is_none_of_ours_whatever_the_ledger_says() {
    let folder = Folder::with_leads(&contacts(3));
    folder.import_leads(&service(), &[]).expect(0);
    let sha256 = victim(&folder, ".bashrc");
    let path = folder.path(".bashrc");
    let db = Connection::open(folder.ledger()).unwrap();
    for kind in ["results", "rejects"] {
        let (path, insert) = (
            path.display(),
            "INSERT INTO outputs (run, path, place, kind, sha256, rows)",
        );
        db.execute_batch(&format!(
            "{insert} VALUES (1, '{path}', x'00', '{kind}', x'{sha256}', 1)"
        ))
        .unwrap();
    }
    drop(db);
    let prune = ["runs", "prune", "--older-than", "0s", "--files", "--yes"];
    folder.leadload(&prune).expect(0);
    assert_eq!(folder.read(".bashrc"), "a file of the user\n");
    assert!(!folder.path("leads.results.csv").exists());
}

#[test]
fn a_ledger_with_a_trigger_or_a_view_is_none() {
    for made in [
        "TRIGGER t AFTER INSERT ON suppressed BEGIN DELETE FROM suppressed; END",
        "VIEW v AS SELECT 1",
    ] {
        let folder = Folder::with_leads(&contacts(3));
        let service = service();
        folder.import_leads(&service, &[]).expect(0);
        let db = Connection::open(folder.ledger()).unwrap();
        db.execute_batch(&format!("CREATE {made}")).unwrap();
        drop(db);
        let add = ["suppress", "add", "--number", "+447911000001"];
        folder.leadload(&add).expect(5).tells("never makes");
        folder.leadload(&["runs"]).expect(5);
        folder.import_leads(&service, &["--again"]).expect(5);
        assert_eq!(service.stats().lead_requests, 3);
    }
}
