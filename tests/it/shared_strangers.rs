//! What another role of the same database can do to a ledger, and a program in the place of its server.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread;

use crate::cluster::{Cluster, Database};
use crate::relay::Authority;
use crate::shared_ledger::{import, requests, rows, with_ledger};
use crate::shared_security::with_tls;
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
    let by_the_first = service.stats().lead_requests as usize;
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
    // Those that were not settled when the first start was killed.
    assert!(again.count() <= by_the_first);
    let seen: HashSet<String> = folder
        .column("export.csv", "phone_number")
        .into_iter()
        .collect();
    assert_eq!(seen.len(), 30, "29 people and the cell that has no number");
}

/// An import is refused, since `what` is the stranger's; nothing was sent.
#[track_caller]
fn is_refused(database: &Database, stranger: &str, what: &str) {
    let folder = Folder::with_leads(&rows(50, 53));
    let service = scenario("");
    let refused = import(&folder, &service, database, &[]).expect(5);
    refused.tells(what);
    refused.tells(&format!("`{stranger}`"));
    refused.tells(&format!("`GRANT \"{stranger}\" TO \"ada\"`"));
    assert_eq!(service.stats().lead_requests, 0);
    with_ledger(folder.leadload(&["runs"]), database).expect(5);
}

#[test]
fn a_schema_of_another_role_is_refused_also_by_a_superuser_unless_it_is_a_member() {
    let Some((database, stranger)) = with_stranger() else {
        return;
    };
    database.sql(&format!(
        "CREATE SCHEMA leadload AUTHORIZATION {stranger}; GRANT ALL ON SCHEMA leadload TO PUBLIC"
    ));
    is_refused(&database, &stranger, "`leadload`");
    database.sql(&format!("GRANT {stranger} TO ada"));
    let folder = Folder::with_leads(&rows(0, 3));
    import(&folder, &scenario(""), &database, &[]).expect(0);
}

/// As every role could do it by itself up to PostgreSQL 14.
#[test]
fn a_membership_that_a_stranger_has_given_makes_its_schema_no_ledger() {
    let Some((database, stranger)) = with_stranger() else {
        return;
    };
    let group = format!("group_{}", database.name);
    database.sql(&format!(
        "CREATE ROLE {group}; GRANT {group} TO {stranger} WITH ADMIN OPTION;
        CREATE SCHEMA leadload AUTHORIZATION {group}"
    ));
    database.sql_as(&stranger, &format!("GRANT {group} TO ada"));
    is_refused(&database, &group, "`leadload`");
}

/// Each calls what it likes with the rights of who only looks.
#[test]
fn views_and_policies_of_a_stranger_are_not_read() {
    for (about, tables) in [
        (
            "VIEW leadload.about AS SELECT 1 AS version FROM public.v",
            "",
        ),
        (
            "TABLE leadload.about (version integer)",
            "ALTER TABLE leadload.about ENABLE ROW LEVEL SECURITY;
            CREATE POLICY p ON leadload.about USING (EXISTS (SELECT FROM public.v));",
        ),
    ] {
        let Some((database, stranger)) = with_stranger() else {
            return;
        };
        let name = &database.name;
        database.sql(&format!(
            "CREATE ROLE dave_{name} LOGIN; GRANT CREATE ON DATABASE {name} TO {stranger}"
        ));
        database.sql_as(
            &stranger,
            &format!(
                "CREATE SCHEMA leadload;
                CREATE FUNCTION public.evil() RETURNS boolean LANGUAGE sql AS 'SELECT 1 / 0 = 1';
                CREATE VIEW public.v AS SELECT 1 AS one WHERE public.evil();
                CREATE {about}; {tables}
                GRANT ALL ON SCHEMA leadload TO PUBLIC; REVOKE CREATE ON SCHEMA leadload FROM PUBLIC;
                GRANT SELECT ON public.v, leadload.about TO PUBLIC"
            ),
        );
        let url = format!(
            "postgresql://dave_{name}@127.0.0.1:{}/{name}",
            database.port
        );
        let folder = Folder::new();
        let refused = folder.leadload(&["runs", "--ledger", &url]).expect(5);
        refused.tells("`leadload.about`");
        refused.tells(&format!("`{stranger}`"));
    }
}

#[test]
fn a_role_is_refused_too_where_it_could_have_made_the_schema_itself() {
    let Some((database, stranger)) = with_stranger() else {
        return;
    };
    let name = &database.name;
    database.sql(&format!(
        "CREATE ROLE grace_{name} LOGIN; GRANT CREATE ON DATABASE {name} TO grace_{name}, {stranger}"
    ));
    database.sql_as(
        &stranger,
        "CREATE SCHEMA leadload; CREATE TABLE leadload.about (version integer);
        INSERT INTO leadload.about VALUES (5); GRANT ALL ON SCHEMA leadload TO PUBLIC;
        GRANT ALL ON ALL TABLES IN SCHEMA leadload TO PUBLIC",
    );
    let url = format!(
        "postgresql://grace_{name}@127.0.0.1:{}/{name}",
        database.port
    );
    let folder = Folder::with_leads(&rows(0, 3));
    let refused = folder
        .import_leads(&scenario(""), &["--ledger", &url])
        .expect(5);
    refused.tells("`leadload`");
    refused.tells(&format!("`{stranger}`"));
}

#[test]
fn what_another_role_owns_in_the_schema_or_has_called_for_its_tables_is_refused() {
    let Some((database, stranger)) = with_stranger() else {
        return;
    };
    let folder = Folder::with_leads(&rows(0, 3));
    import(&folder, &scenario(""), &database, &[]).expect(0);
    database.sql(&format!(
        "ALTER TABLE leadload.attempts OWNER TO {stranger}"
    ));
    is_refused(&database, &stranger, "`leadload.attempts`");
    database.sql("ALTER TABLE leadload.attempts OWNER TO ada");

    // A right that is easily given along with others.
    database.sql(&format!(
        "GRANT USAGE ON SCHEMA leadload TO {stranger};
        GRANT ALL ON ALL TABLES IN SCHEMA leadload TO {stranger}"
    ));
    database.sql_as(
        &stranger,
        "CREATE FUNCTION public.evil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
            DELETE FROM leadload.sent; RETURN new; END';
        CREATE TRIGGER evil AFTER INSERT ON leadload.starts EXECUTE FUNCTION public.evil()",
    );
    is_refused(&database, &stranger, "`public.evil()`");
    assert_eq!(database.sql("SELECT count(*) FROM leadload.sent"), ["3"]);
    database.sql("DROP TRIGGER evil ON leadload.starts");
    database.sql_as(
        &stranger,
        "CREATE TABLE public.mine (run bigint REFERENCES leadload.runs ON DELETE CASCADE)",
    );
    is_refused(&database, &stranger, "`public.mine`");
    database.sql("DROP TABLE public.mine");
    import(&folder, &scenario(""), &database, &[]).expect(0);
}

const SECRET: &str = "s3cret-word";

/// Answers a client as a server does that wants the password in clear text, in pieces. Returns what it gets.
fn ask_in_the_clear(mut client: impl Read + Write) -> Vec<u8> {
    let mut startup = [0; 1024];
    let length = client.read(&mut startup).unwrap();
    for byte in b"R\0\0\0\x08\0\0\0\x03" {
        client.write_all(&[*byte]).unwrap();
    }
    let mut got = startup[..length].to_vec();
    client.read_to_end(&mut got).unwrap();
    got
}

#[test]
fn a_program_in_the_place_of_the_server_never_gets_the_password_in_clear_text() {
    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    let by_tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = by_tcp.local_addr().unwrap().port();
    let by_tcp = move || ask_in_the_clear(by_tcp.accept().unwrap().0);
    let by_socket = UnixListener::bind(folder.path(".s.PGSQL.5432")).unwrap();
    let by_socket = move || ask_in_the_clear(by_socket.accept().unwrap().0);
    let socket = folder.path("");
    let socket = format!("postgresql://grace@/leads?host={}", socket.display());
    for (fake, url) in [
        (
            thread::spawn(by_tcp),
            format!("postgresql://grace@127.0.0.1:{port}/leads"),
        ),
        (thread::spawn(by_socket), socket),
    ] {
        let run = folder.import_leads(&service, &["--ledger", &url]);
        let refused = run.env("PGPASSWORD", SECRET).expect(5);
        refused.tells("clear text");
        refused.tells("`scram-sha-256`");
        let got = String::from_utf8_lossy(&fake.join().unwrap()).into_owned();
        assert!(got.contains("grace") && !got.contains(SECRET), "{got:?}");
    }
}

#[test]
fn a_password_that_the_server_repeats_is_not_shown() {
    let folder = Folder::with_leads(&rows(0, 3));
    let service = scenario("");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgresql://grace@{}/leads", server.local_addr().unwrap());
    let fields = format!("SFATAL\0VFATAL\0C28P01\0Mno access for grace with {SECRET}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap();
    let error = [b"E", &length.to_be_bytes()[..], fields.as_bytes()].concat();
    let fake = thread::spawn(move || {
        let mut client = server.accept().unwrap().0;
        let _ = client.read(&mut [0; 1024]).unwrap();
        client.write_all(&error).unwrap();
    });
    let run = folder.import_leads(&service, &["--ledger", &url]);
    let refused = run.env("PGPASSWORD", SECRET).expect(5);
    refused.tells("no access for grace with [password]");
    fake.join().unwrap();
}

#[test]
fn a_password_in_clear_text_goes_through_tls_alone() {
    let authority = Authority::new();
    let rules = "local all ada trust\nhost all all 127.0.0.1/32 password\n";
    let Some((_cluster, database)) = with_tls(&authority, "localhost", rules) else {
        return;
    };
    let Database { name, port, .. } = &database;
    database.sql(&format!(
        "CREATE ROLE grace LOGIN PASSWORD '{SECRET}'; GRANT CREATE ON DATABASE {name} TO grace"
    ));
    let folder = Folder::with_leads(&rows(0, 3));
    folder.write("ca.pem", authority.pem());
    let service = scenario("");
    let by = |settings: &str| {
        let url = format!("postgresql://grace@localhost:{port}/{name}{settings}");
        let run = folder.import_leads(&service, &["--ledger", &url]);
        run.env("PGPASSWORD", SECRET)
    };
    by("").expect(5).tells("clear text");
    by("?sslrootcert=ca.pem").expect(0);
}
