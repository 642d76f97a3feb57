//! Passwords, certificates and rights of a ledger on a server.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cluster::{Cluster, Database};
use crate::relay::Authority;
use crate::shared_ledger::rows;
use crate::util::{Folder, Output, Run, scenario};

const SECRET: &str = "s3cret/word";
const ENCODED: &str = "s3cret%2Fword";

/// A cluster whose users need their password, with a database of a user who may do nothing else.
fn with_password() -> Option<(Cluster, Database)> {
    let cluster = Cluster::start()?;
    let database = cluster.new_database();
    let name = &database.name;
    database.sql(&format!(
        "CREATE ROLE grace LOGIN PASSWORD '{SECRET}'; GRANT CREATE ON DATABASE {name} TO grace"
    ));
    let rules = "local all ada trust\nhost all ada 127.0.0.1/32 trust\n\
        host all all 127.0.0.1/32 scram-sha-256\n";
    fs::write(cluster.file("pg_hba.conf"), rules).unwrap();
    cluster.own("pg_hba.conf");
    cluster.down("fast");
    cluster.up();
    Some((cluster, database))
}

fn url(database: &Database, password: &str) -> String {
    let Database { name, port, .. } = database;
    format!("postgresql://grace{password}@127.0.0.1:{port}/{name}")
}

/// Everything that a command has said, and left behind in the folder.
fn all_said(folder: &Folder, output: &Output) -> String {
    let files = folder.names().into_iter();
    let files: Vec<String> = files
        .map(|name| String::from_utf8_lossy(&fs::read(folder.path(&name)).unwrap()).into_owned())
        .collect();
    format!("{}{}{}", output.stdout, output.stderr, files.join("\n"))
}

#[test]
fn a_password_comes_from_variables_alone_and_is_shown_nowhere() {
    let Some((_cluster, database)) = with_password() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    let import = |args: &[&str]| folder.import_leads(&service, args);
    let in_url = url(&database, &format!(":{ENCODED}"));
    let bare = url(&database, "");
    let check = |run: Run, code: i32| {
        let output = run.expect(code);
        let said = all_said(&folder, &output);
        assert!(!said.contains(SECRET) && !said.contains(ENCODED), "{said}");
        output
    };
    check(import(&["-v"]).env("LEADLOAD_LEDGER", &in_url), 0);
    check(
        import(&["-v", "--ledger", &bare]).env("PGPASSWORD", SECRET),
        0,
    );
    let show = folder
        .leadload(&["config", "show"])
        .env("LEADLOAD_LEDGER", &in_url);
    check(show, 0).shows("postgresql://grace@127.0.0.1");
    // A password in an address is for no other one.
    let elsewhere = import(&["--ledger", &format!("{bare}?lease=10s")]);
    check(elsewhere.env("LEADLOAD_LEDGER", &in_url), 5).tells("PGPASSWORD");
    for query in ["", "?sslmode=disable"] {
        let typed = format!("{in_url}{query}");
        let refused = check(import(&["--ledger", &typed]), 2);
        refused.tells("a password in it");
    }
    let in_query = format!("{bare}?password={ENCODED}");
    check(import(&["--ledger", &in_query]), 2);
    let missing = check(import(&["--ledger", &bare]), 5);
    missing.tells("PGPASSWORD");
    let from_file = |mode: u32| {
        let file = folder.home().join(".pgpass");
        let line = format!("127.0.0.1:{}:*:grace:{SECRET}\n", database.port);
        fs::write(&file, line).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        import(&["--ledger", &bare])
    };
    check(from_file(0o600), 0);
    check(from_file(0o644), 5).tells("others can read");
    check(from_file(0o600).env("PGPASSFILE", "nowhere"), 5).tells("~/.pgpass");
    let wrong = check(import(&["--ledger", &bare]).env("PGPASSWORD", "other"), 5);
    wrong.tells("`grace`");
    folder.write(
        "profile.toml",
        format!("[default]\nledger = \"{in_url}\"\n"),
    );
    let profile = folder
        .leadload(&["runs", "--config", "profile.toml"])
        .output();
    assert_eq!(profile.code, 2, "{}", profile.stderr);
    assert!(!profile.stderr.contains(ENCODED), "{}", profile.stderr);
}

#[test]
fn a_role_that_owns_the_schema_alone_is_enough() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let name = &database.name;
    database.sql(&format!(
        "CREATE ROLE {name} LOGIN; CREATE SCHEMA leadload AUTHORIZATION {name};
        REVOKE ALL ON SCHEMA public FROM PUBLIC"
    ));
    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    let url = format!("postgresql://{name}@127.0.0.1:{}/{name}", database.port);
    let run = |run: Run| run.env("LEADLOAD_LEDGER", &url).expect(0);
    run(folder.import_leads(&service, &[]));
    run(folder.leadload(&["runs", "forget", "1", "--yes"]));
    run(folder.leadload(&["runs", "prune", "--older-than", "0s"]));
    database.sql(&format!("CREATE ROLE poor_{name} LOGIN"));
    let poor = format!(
        "postgresql://poor_{name}@127.0.0.1:{}/{name}",
        database.port
    );
    let refused = folder
        .import_leads(&service, &[])
        .env("LEADLOAD_LEDGER", &poor);
    refused.expect(5).tells("permission denied");
}

#[test]
fn colleagues_with_the_roles_of_the_page_share_one_ledger_and_an_auditor_only_reads_it() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let database = cluster.new_database();
    let Database { name, port, .. } = &database;
    let page = include_str!("../../docs/shared-ledger.md");
    let blocks = page.split("```sql\n").skip(1);
    let blocks: Vec<&str> = blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    let [senders, auditor] = blocks[..] else {
        panic!("{blocks:?}");
    };
    let senders = senders.replace("CREATE DATABASE leads;", "");
    let senders = senders.replace("leads", name);
    database.sql(&senders);
    let (_, bob) = senders.split_once("TO leadload;").unwrap();
    database.sql(&bob.replace("bob", "cleo"));

    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    let logged_in = |role: &str, run: Run| {
        let url = format!("postgresql://{role}@127.0.0.1:{port}/{name}");
        run.env("LEADLOAD_LEDGER", &url)
    };
    logged_in("bob", folder.import_leads(&service, &[])).expect(0);
    database.sql(auditor);
    logged_in("cleo", folder.import_leads(&service, &[])).expect(0);
    assert_eq!(service.stats().created, 3);
    let prune = ["runs", "prune", "--older-than", "0s"];
    logged_in("cleo", folder.leadload(&prune)).expect(0);
    for args in [
        &["check", "leads.csv", "--campaign", "101"][..],
        &["runs", "list"],
        &["runs", "show", "1"],
        &["runs", "export", "--results", "audit.csv"],
        &["runs", "copy", "--to", "copy.sqlite3"],
        &["suppress", "list"],
    ] {
        logged_in("auditor", folder.leadload(args)).expect(0);
    }
    let refused = folder.import_leads(&service, &[]);
    let refused = logged_in("auditor", refused).expect(5);
    refused.tells("`GRANT OWNER TO \"auditor\"`");
}

#[test]
fn a_missing_database_is_no_outage() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    let url = format!("postgresql://ada@127.0.0.1:{}/nowhere", database.port);
    let run = folder.leadload(&["runs"]).env("LEADLOAD_LEDGER", &url);
    run.expect(5).tells("`createdb nowhere`");
}

/// A cluster that encrypts, with a certificate of the authority for `host`, and who may connect how.
pub fn with_tls(authority: &Authority, host: &str, rules: &str) -> Option<(Cluster, Database)> {
    let cluster = Cluster::start()?;
    let (certificate, key) = authority.certificate_for(host);
    fs::write(cluster.file("server.crt"), certificate).unwrap();
    fs::write(cluster.file("server.key"), key).unwrap();
    cluster.own("server.crt");
    cluster.own("server.key");
    cluster.set("ssl = on");
    fs::write(cluster.file("pg_hba.conf"), rules).unwrap();
    cluster.own("pg_hba.conf");
    cluster.down("fast");
    cluster.up();
    let database = cluster.new_database();
    Some((cluster, database))
}

#[test]
fn a_certificate_is_verified_whatever_word_asks_for_tls() {
    let authority = Authority::new();
    let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
    let Some((_cluster, database)) = with_tls(&authority, "localhost", rules) else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    folder.write("ca.pem", authority.pem());
    folder.write("other.pem", Authority::new().pem());
    let service = scenario("");
    let at = |host: &str, settings: &str| {
        let Database { name, port, .. } = &database;
        let url = format!("postgresql://ada@{host}:{port}/{name}?{settings}");
        folder
            .import_leads(&service, &[])
            .env("LEADLOAD_LEDGER", &url)
    };
    at("localhost", "sslrootcert=ca.pem").expect(0);
    at("localhost", "sslmode=verify-full&sslrootcert=ca.pem").expect(0);
    for mode in ["require", "verify-ca", "verify-full"] {
        let refused = at(
            "localhost",
            &format!("sslmode={mode}&sslrootcert=other.pem"),
        )
        .expect(5);
        refused.tells("sslrootcert");
    }
    // The certificate is for another name.
    at("127.0.0.1", "sslmode=require&sslrootcert=ca.pem").expect(5);
    at("localhost", "sslmode=require").expect(5);
    at("localhost", "sslmode=require&sslrootcert=nowhere.pem").expect(5);
    // The server lets nobody in without TLS.
    at("localhost", "").expect(5);
}

#[test]
fn a_server_on_another_computer_is_never_spoken_to_in_the_clear() {
    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    let url = "postgresql://ada@db.invalid/leads?sslmode=disable";
    let run = folder.import_leads(&service, &["--ledger", url]);
    run.expect(2).tells("`sslmode=disable`");
}
