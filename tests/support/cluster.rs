//! A PostgreSQL server for tests: a cluster in a temporary folder, on loopback and a socket.
//!
//! It ends with the process that started it, even if that is killed: a shell waits at a pipe and stops
//! the server when the pipe closes. As root the server runs as another user, since it refuses root.

// It says what is left out, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the server may take to start and to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who the server runs as, and who tests connect as.
const USER: &str = "ada";

pub struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Whether this process is root and the server has another user.
    as_other: bool,
    /// Whether a commit waits for the disk.
    is_durable: bool,
    /// The shell that cleans up, and the pipe that it waits at.
    _keeper: Child,
    _pipe: ChildStdin,
}

/// A database of one test.
#[derive(Clone)]
pub struct Database {
    pub name: String,
    pub port: u16,
    folder: PathBuf,
    programs: PathBuf,
}

impl Cluster {
    /// The cluster that tests share; `None` on a machine without a server, where tests pass and
    /// say so. In CI there must be one.
    pub fn shared() -> Option<&'static Cluster> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(Cluster::start).as_ref()
    }

    /// A database in the shared cluster.
    pub fn database() -> Option<Database> {
        Cluster::shared().map(Cluster::new_database)
    }

    /// A cluster of its own, for a test that stops it.
    pub fn start() -> Option<Cluster> {
        Cluster::start_with(false)
    }

    /// One whose commits wait for the disk, as those of a real one do.
    pub fn start_durable() -> Option<Cluster> {
        Cluster::start_with(true)
    }

    fn start_with(is_durable: bool) -> Option<Cluster> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var_os("CI").is_none(),
                "PostgreSQL is not installed: `apt-get install postgresql`"
            );
            eprintln!("left out: this test needs PostgreSQL, which is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap().keep();
        let as_other = is_root();
        if as_other {
            run(Command::new("chown").arg("postgres").arg(&folder));
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let (keeper, pipe) = keeper(&programs, &folder, as_other);
        let cluster = Cluster {
            programs,
            port: free_port(),
            folder,
            as_other,
            is_durable,
            _keeper: keeper,
            _pipe: pipe,
        };
        let mut initdb = cluster.command("initdb");
        initdb.args([
            "--no-sync",
            "--auth=trust",
            "--encoding=UTF8",
            "--username",
            USER,
        ]);
        run(initdb.arg(cluster.data()));
        cluster.up();
        Some(cluster)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn socket_folder(&self) -> &Path {
        &self.folder
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Appends a line to the server's settings; it holds from the next start on.
    pub fn set(&self, line: &str) {
        let file = self.data().join("postgresql.conf");
        let mut file = fs::OpenOptions::new().append(true).open(file).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    /// Gives a file of the cluster to the server's user.
    pub fn own(&self, name: &str) {
        let file = self.file(name);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        if self.as_other {
            run(Command::new("chown").arg("postgres").arg(&file));
        }
    }

    /// Starts the server. Its data survives a crash of the server, not one of the computer.
    pub fn up(&self) {
        // With a database for each test its vacuum would hardly end.
        let options = format!(
            "-p {} -k {} -c listen_addresses=127.0.0.1 -c max_connections=200 -c autovacuum=off \
             -c fsync={}",
            self.port,
            self.folder.display(),
            if self.is_durable { "on" } else { "off" }
        );
        let mut start = self.command("pg_ctl");
        start.arg("-D").arg(self.data());
        start.args(["-w", "-t", "60", "-o", &options, "-l"]);
        start.arg(self.folder.join("log")).arg("start");
        start.stdout(Stdio::null());
        run(&mut start);
    }

    /// Stops the server: `fast`, or `immediate`, which is a crash.
    pub fn down(&self, mode: &str) {
        let mut stop = self.command("pg_ctl");
        stop.arg("-D").arg(self.data());
        run(stop.args(["-w", "-m", mode, "stop"]).stdout(Stdio::null()));
    }

    pub fn new_database(&self) -> Database {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let name = format!("leads_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let database = Database {
            name: "postgres".to_owned(),
            port: self.port,
            folder: self.folder.clone(),
            programs: self.programs.clone(),
        };
        database.sql(&format!("CREATE DATABASE {name}"));
        Database { name, ..database }
    }

    fn command(&self, program: &str) -> Command {
        as_user(self.programs.join(program), self.as_other, &self.folder)
    }
}

impl Database {
    /// Its address, by TCP.
    pub fn url(&self) -> String {
        self.url_at(self.port, "lease=2s")
    }

    /// Its address behind a relay, with other settings.
    pub fn url_at(&self, port: u16, settings: &str) -> String {
        format!(
            "postgresql://{USER}@127.0.0.1:{port}/{}?{settings}",
            self.name
        )
    }

    /// Its address by the socket.
    pub fn socket_url(&self) -> String {
        let folder = self.folder.display();
        format!(
            "postgresql://{USER}@/{}?host={folder}&port={}",
            self.name, self.port
        )
    }

    /// What a statement returns, a line for each row, with `|` between columns.
    pub fn sql(&self, sql: &str) -> Vec<String> {
        self.sql_as(USER, sql)
    }

    pub fn sql_as(&self, user: &str, sql: &str) -> Vec<String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", user]);
        psql.arg("-h").arg(&self.folder);
        psql.args(["-p", &self.port.to_string(), "-d", &self.name, "-c", sql]);
        // A test may have set a limit for the program that is tested.
        psql.env("PGOPTIONS", "-c statement_timeout=0");
        let output = psql.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {error}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

/// The folder of the server's programs, of the newest version where there are several.
fn programs() -> Option<PathBuf> {
    let has_initdb = |folder: &PathBuf| folder.join("initdb").is_file();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut on_path = std::env::split_paths(&path).filter(has_initdb);
    let version =
        |folder: &PathBuf| -> Option<u32> { folder.parent()?.file_name()?.to_str()?.parse().ok() };
    // Debian keeps them off the path, a folder for each version.
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = debian.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    let newest = debian.filter(has_initdb).max_by_key(version);
    newest.or_else(|| on_path.next())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

/// A command as the server's user, which may not be allowed to look into the current folder.
fn as_user(program: PathBuf, as_other: bool, folder: &Path) -> Command {
    let mut command = if as_other {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        command.arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir(folder).env("LC_ALL", "C");
    command
}

/// The shell that stops the server and removes its folder when this process is gone.
fn keeper(programs: &Path, folder: &Path, as_other: bool) -> (Child, ChildStdin) {
    let script = "cat >/dev/null
        \"$1/pg_ctl\" -D \"$2/data\" -m immediate stop >/dev/null 2>&1
        rm -rf \"$2\"";
    let mut shell = as_user("sh".into(), as_other, folder);
    shell.args(["-c", script, "sh"]).arg(programs).arg(folder);
    shell
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // A signal to the whole group, as from a terminal, must not end it before its time.
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut shell = shell.spawn().unwrap();
    let pipe = shell.stdin.take().unwrap();
    (shell, pipe)
}

/// A port below those that systems give to connections and to listeners without a port of their
/// own, so that no other test takes it before the server starts, or while it is down.
fn free_port() -> u16 {
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let mut ports = std::iter::repeat_with(|| fastrand::u16(10_000..30_000));
    ports.find(is_free).unwrap()
}

fn run(command: &mut Command) {
    let began = Instant::now();
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    assert!(began.elapsed() < PATIENCE, "{command:?}");
}
