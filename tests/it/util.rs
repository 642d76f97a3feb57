//! A folder and a command line for each test, and the service that it talks to.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use leadload::sandbox::{RecordedRequest, Sandbox, SandboxConfig};

/// The longest that a test takes, on a slow machine too.
const LONGEST_TEST: Duration = Duration::from_secs(600);

/// A folder for one test, with a separate home folder.
pub struct Folder {
    files: tempfile::TempDir,
    home: tempfile::TempDir,
    _alarm: Sender<()>,
}

impl Folder {
    pub fn new() -> Folder {
        Folder {
            files: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
            _alarm: alarm(),
        }
    }

    /// A folder that holds `leads.csv`.
    pub fn with_leads(text: &str) -> Folder {
        let folder = Folder::new();
        folder.write("leads.csv", text);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        match fs::read_to_string(self.path(name)) {
            Ok(text) => text,
            Err(error) => panic!("{name}: {error}; there are {:?}", self.names()),
        }
    }

    /// The ledger that commands in this folder use by default.
    pub fn ledger(&self) -> PathBuf {
        self.home
            .path()
            .join(".local/state/leadload/ledger.sqlite3")
    }

    /// The settings file that commands in this folder look for by default (Linux).
    #[cfg(unix)]
    pub fn config(&self) -> PathBuf {
        self.home.path().join(".config/leadload/config.toml")
    }

    pub fn home(&self) -> PathBuf {
        self.home.path().to_owned()
    }

    /// The names of the files in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.files.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The rows of a CSV file, with cells by their header.
    pub fn records(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        csv::Reader::from_path(self.path(name))
            .unwrap()
            .deserialize()
            .map(Result::unwrap)
            .collect()
    }

    /// One column of a CSV file.
    pub fn column(&self, name: &str, column: &str) -> Vec<String> {
        self.records(name)
            .into_iter()
            .map(|mut record| record.remove(column).unwrap())
            .collect()
    }

    /// The run that rejects with commas name in their first row.
    pub fn run_named_in(&self, rejects: &str) -> String {
        self.column(rejects, "leadload_run").remove(0)
    }

    /// One column of a CSV file with another delimiter.
    pub fn column_of(&self, name: &str, delimiter: u8, column: &str) -> Vec<String> {
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .from_path(self.path(name));
        let rows = reader.unwrap().into_deserialize();
        rows.map(|row| row.unwrap())
            .map(|mut row: BTreeMap<String, String>| row.remove(column).unwrap())
            .collect()
    }

    /// `leadload` in this folder. Its environment only has what a test sets.
    pub fn leadload(&self, args: &[&str]) -> Run {
        self.run(Command::new(env!("CARGO_BIN_EXE_leadload")), args)
    }

    /// `leadload` started by a shell; at its end `script` runs its arguments.
    #[cfg(unix)]
    pub fn through_shell(&self, script: &str, args: &[&str]) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_leadload")]);
        self.run(command, args)
    }

    /// `leadload` where `mounts` has been run by a shell, for it alone: as root, or as the root of a
    /// user namespace.
    #[cfg(target_os = "linux")]
    pub fn with_mounts(&self, mounts: &str, args: &[&str]) -> Run {
        let script = format!(
            r#"map=; [ "$(id -u)" = 0 ] || map=--map-root-user
            exec unshare --mount $map sh -euc '{mounts}; exec "$0" "$@"' "$0" "$@""#
        );
        self.through_shell(&script, args)
    }

    /// `leadload` to which the folder of its ledger is read-only, also as root.
    #[cfg(target_os = "linux")]
    pub fn with_read_only_ledger(&self, args: &[&str]) -> Run {
        let ledger = self.ledger();
        let folder = ledger.parent().unwrap().display();
        let mounts =
            format!(r#"mount --bind "{folder}" "{folder}"; mount -o remount,bind,ro "{folder}""#);
        self.with_mounts(&mounts, args)
    }

    fn run(&self, mut command: Command, args: &[&str]) -> Run {
        command.current_dir(self.files.path()).args(args);
        for name in [
            "LEADLOAD_BASE_URL",
            "LEADLOAD_TOKEN",
            "LEADLOAD_TOKEN_FILE",
            "LEADLOAD_LEDGER",
            "PGPASSWORD",
            "PGPASSFILE",
            "LEADLOAD_CONFIG",
            "LEADLOAD_PROFILE",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "HTTP_PROXY",
            "http_proxy",
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "all_proxy",
            "NO_PROXY",
            "no_proxy",
            "REQUEST_METHOD",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "NO_COLOR",
            "COLUMNS",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "BROWSER",
        ] {
            command.env_remove(name);
        }
        // Every variable in which a system looks for the home folder.
        for home in ["HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"] {
            command.env(home, self.home.path());
        }
        Run {
            command,
            stdin: None,
        }
    }

    /// `leadload import` to a service, without its own rate limit.
    pub fn import(&self, service: &Sandbox, args: &[&str]) -> Run {
        let mut all = vec!["import", "--rate", "none"];
        all.extend(args);
        self.leadload(&all).at(service)
    }

    /// Sends `leads.csv` to campaign 101.
    pub fn import_leads(&self, service: &Sandbox, args: &[&str]) -> Run {
        self.import(
            service,
            &[&["leads.csv", "--campaign", "101"], args].concat(),
        )
    }
}

/// A command line that is about to run.
pub struct Run {
    command: Command,
    stdin: Option<Vec<u8>>,
}

impl Run {
    /// Uses this service.
    pub fn at(self, service: &Sandbox) -> Run {
        self.env("LEADLOAD_BASE_URL", &service.base_url())
            .env("LEADLOAD_TOKEN", service.token())
    }

    pub fn env(mut self, name: &str, value: &str) -> Run {
        self.command.env(name, value);
        self
    }

    /// More arguments, separated by spaces.
    pub fn args(mut self, args: &str) -> Run {
        self.command.args(args.split(' '));
        self
    }

    #[cfg(unix)]
    pub fn arg(mut self, arg: &std::ffi::OsStr) -> Run {
        self.command.arg(arg);
        self
    }

    pub fn stdin(mut self, bytes: &[u8]) -> Run {
        self.stdin = Some(bytes.to_vec());
        self
    }

    /// The command as a user types it.
    pub fn typed(&self) -> String {
        let args = self.command.get_args().map(|arg| arg.to_string_lossy());
        let words: Vec<String> = args
            .map(|arg| shlex::try_quote(&arg).unwrap().into_owned())
            .collect();
        format!("leadload {}", words.join(" "))
    }

    /// The command, for tests that start it in another way.
    pub fn into_command(self) -> Command {
        self.command
    }

    pub fn start(mut self) -> Child {
        #[cfg(unix)]
        stop_ignoring_signals();
        self.command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts the command with an open standard input on which nothing comes.
    #[cfg(unix)]
    pub fn start_with_open_stdin(mut self) -> (Child, std::process::ChildStdin) {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        (child, stdin)
    }

    /// Runs to the end and checks the exit code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Output {
        let command = format!("{:?}", self.command);
        let output = self.output();
        assert_eq!(
            output.code, code,
            "{command}\nstdout:\n{}\nstderr:\n{}",
            output.stdout, output.stderr
        );
        output
    }

    /// Runs to the end.
    pub fn output(mut self) -> Output {
        let stdin = match self.stdin {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        };
        let mut child = self
            .command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if let Some(bytes) = self.stdin {
            child.stdin.take().unwrap().write_all(&bytes).unwrap();
        }
        Output::of(child)
    }
}

/// The result of a command.
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    pub fn of(child: Child) -> Output {
        let output = child.wait_with_output().unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// Checks that standard error has this text.
    #[track_caller]
    pub fn tells(&self, text: &str) {
        assert!(
            self.stderr.contains(text),
            "{text}\nstderr:\n{}",
            self.stderr
        );
    }

    /// Checks that standard output has these words, whatever space there is between them.
    #[track_caller]
    pub fn shows_words(&self, words: &str) {
        let shown: Vec<&str> = self.stdout.split_whitespace().collect();
        assert!(shown.join(" ").contains(words), "{words}\n{}", self.stdout);
    }

    /// Checks that standard output has this text.
    #[track_caller]
    pub fn shows(&self, text: &str) {
        assert!(
            self.stdout.contains(text),
            "{text}\nstdout:\n{}",
            self.stdout
        );
    }
}

/// A service without faults.
pub fn service() -> Sandbox {
    service_with(SandboxConfig::default())
}

pub fn service_with(config: SandboxConfig) -> Sandbox {
    Sandbox::start(config).unwrap()
}

/// A service as a scenario describes it.
pub fn scenario(toml: &str) -> Sandbox {
    service_with(toml_edit::de::from_str(toml).unwrap())
}

/// Replaces a service at the same address: the same service on another day.
pub fn replaced(service: Sandbox, toml: &str) -> Sandbox {
    let address = service.addr();
    drop(service);
    scenario_at(address, toml)
}

/// A service at an address that was in use until now. If another test has
/// taken the address meanwhile, it waits until that test ends.
pub fn scenario_at(address: SocketAddr, toml: &str) -> Sandbox {
    let mut config: SandboxConfig = toml_edit::de::from_str(toml).unwrap();
    config.listen = Some(address);
    let began = Instant::now();
    loop {
        match Sandbox::start(config.clone()) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                assert!(began.elapsed() < Duration::from_secs(60), "{error}");
                std::thread::sleep(Duration::from_millis(50));
            }
            service => return service.unwrap(),
        }
    }
}

/// A request for a lead, as the service has seen it.
pub struct Seen {
    pub campaign: u64,
    pub phone: String,
}

/// All requests, if the service keeps bodies.
pub fn seen(service: &Sandbox) -> Vec<Seen> {
    let requests = service.requests();
    let of = |request: &RecordedRequest| {
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        Seen {
            campaign: body["campaign_id"].as_u64().unwrap(),
            phone: body["phone_number"].as_str().unwrap().to_owned(),
        }
    };
    requests.iter().map(of).collect()
}

/// The number of a row (from 0) of [`contacts`] and [`contacts_of`].
pub fn number(row: usize) -> String {
    format!("+44791{}", 1_000_000 + row)
}

/// Whether the text has one of the tests' phone numbers. Fewer digits than
/// these could be part of a port or a time.
pub fn holds_a_number(text: &str) -> bool {
    ["7911000", "7911 000", "7911999"]
        .iter()
        .any(|digits| text.contains(digits))
}

/// A list of this many contacts, each with its own number.
pub fn contacts(count: usize) -> String {
    let mut text = String::from("phone,name\n");
    for i in 0..count {
        text.push_str(&format!("{},Name {i}\n", number(i)));
    }
    text
}

/// A list of this many contacts. Column `list` has these campaigns in turn.
pub fn contacts_of(campaigns: &[u32], count: usize) -> String {
    let mut text = String::from("phone,list\n");
    for (i, campaign) in (0..count).zip(campaigns.iter().cycle()) {
        text.push_str(&format!("{},{campaign}\n", number(i)));
    }
    text
}

/// The sample data that comes with the project.
pub fn sample_data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-data")
        .join(name)
}

/// Replies that refuse a row for a reason that probably holds for every
/// row, each with what stops the run.
pub const REFUSALS_OF_ALL: [(&str, &str); 6] = [
    (
        r#"{ status = 403, body = '{"message":"Forbidden"}' }"#,
        "token",
    ),
    (
        r#"{ status = 404, body = '{"message":"Campaign not found"}' }"#,
        "campaign",
    ),
    (r#"{ status = 405, body = '<html>' }"#, "unreadable"),
    (
        r#"{ status = 302, headers = { Location = "/login" } }"#,
        "redirect",
    ),
    (
        r#"{ status = 422, body = '{"errors":{"campaign_id":["invalid"]}}' }"#,
        "campaign",
    ),
    (
        r#"{ status = 422, body = '{"message":"No credit left"}' }"#,
        "balance",
    ),
];

/// Ends the whole suite if a test hangs, since the test runner would wait for ever: says which test it
/// is and what is still running. It is off once what is returned is dropped.
fn alarm() -> Sender<()> {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let (running, ended) = channel();
    let has_a_limit = std::env::var_os("LEADLOAD_CRASH_ROUNDS").is_none();
    std::thread::spawn(move || {
        if has_a_limit && ended.recv_timeout(LONGEST_TEST) == Err(RecvTimeoutError::Timeout) {
            let _ = Command::new("ps").arg("-ef").status();
            // What a macro prints belongs to the test, which never ends.
            let _ = writeln!(std::io::stderr(), "{test} hangs: it is ended");
            std::process::exit(101);
        }
    });
    running
}

/// Everything in a folder that a program can change: permissions, time and bytes of each file.
#[cfg(unix)]
pub fn state_of(folder: &Path) -> BTreeMap<PathBuf, (u32, std::time::SystemTime, Vec<u8>)> {
    use std::os::unix::fs::PermissionsExt;
    let files = fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let state = files.map(|file| {
        let found = file.metadata().unwrap();
        let mode = found.permissions().mode();
        let bytes = fs::read(&file).unwrap();
        (file, (mode, found.modified().unwrap(), bytes))
    });
    state.collect()
}

/// Waits until something is so, which takes a few seconds at most.
#[track_caller]
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "not {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the service has received this many requests for leads.
#[track_caller]
pub fn wait_for_requests(service: &Sandbox, requests: u64) {
    let what = format!("{requests} requests");
    wait_until(&what, || service.stats().lead_requests >= requests);
}

/// A suite that runs in the background of a script ignores SIGINT, and what it starts would too. A
/// program starts with the default in place of a handler, so handlers are put here.
#[cfg(unix)]
fn stop_ignoring_signals() {
    use tokio::signal::unix::{SignalKind, signal};
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let _inside = runtime.enter();
        for kind in [SignalKind::interrupt(), SignalKind::hangup()] {
            if (ignored.unwrap_or_default() >> (kind.as_raw_value() - 1)) & 1 == 1 {
                drop(signal(kind).unwrap());
            }
        }
    });
}

/// Sends a signal, such as `-TERM`, on systems that have signals.
pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

/// Kills the program, as a power failure does.
pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}
