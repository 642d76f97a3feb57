//! What a lead costs from the file to the results, beside the least that the same work can
//! cost, in the same run, since machines are noisy.
//!
//! `cargo bench --bench import`
//!
//! The sandbox runs in a process of its own. Beside the import: a bare generator, which
//! sends the same bodies over the same HTTP client and neither reads nor writes anything.
//! Where they are installed also oha, a load generator, and two ways to send a list without
//! a tool of its own, one lead after the other: a loop of curl, and a script with Python's
//! requests.

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use common::cost::{Cost, by_children, by_this_process};
use common::service::Service;
use common::{bodies, contacts, generate};

const LEADS: usize = 200_000;
const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 5;
/// Of a way that takes milliseconds for each.
const FEW_LEADS: usize = 1_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("leads.csv"), contacts(LEADS)).unwrap();
    fs::write(folder.join("bodies"), bodies(LEADS)).unwrap();
    fs::write(folder.join("few-bodies"), bodies(FEW_LEADS)).unwrap();
    println!("{LEADS} rows, {IN_FLIGHT} in flight, the least of {ROUNDS} rounds each:");
    let mut lines: Vec<Line> = Vec::new();
    for round in 0..ROUNDS {
        for (number, cost) in round_of_all(folder, round).into_iter().enumerate() {
            match lines.get_mut(number) {
                Some(line) => line.cost = line.cost.least(cost.cost),
                None => lines.push(cost),
            }
        }
    }
    let of = |name| lines.iter().find(|line| line.name == name);
    for line in &lines {
        line.print(of(BARE), of(OHA));
    }
}

const OHA: &str = "oha";
const BARE: &str = "bare generator";

/// What was measured.
struct Line {
    name: &'static str,
    leads: usize,
    cost: Cost,
}

fn round_of_all(folder: &Path, round: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = |name, leads, cost| lines.push(Line { name, leads, cost });
    // A new service each time, so that no lead is a duplicate.
    if let Some(cost) = oha(folder) {
        line(OHA, LEADS, cost);
    }
    let service = Service::start();
    let bare = || generate(&service.url, LEADS, IN_FLIGHT);
    line(BARE, LEADS, Cost::of(by_this_process, bare));
    assert_eq!(service.understood(), LEADS as u64);
    let none = Path::new("none");
    let cost = import(&Service::start(), folder, none);
    line("import --ledger none", LEADS, cost);
    let service = Service::start();
    let ledger = folder.join(format!("{round}.ledger"));
    line("import", LEADS, import(&service, folder, &ledger));
    let cost = import(&service, folder, &ledger);
    line("the same list again", LEADS, cost);
    for (name, program, arguments) in SCRIPTS {
        if let Some(cost) = script(folder, program, arguments) {
            line(name, FEW_LEADS, cost);
        }
    }
    lines
}

/// What they are called, the program, and what it is given before the address; the bodies
/// come by standard input.
const SCRIPTS: [(&str, &str, [&str; 2]); 2] = [
    ("a loop of curl", "sh", ["-c", CURL]),
    ("a Python script", "python3", ["-c", PYTHON]),
];

const CURL: &str = "
curl --version > /dev/null || exit 9
while read -r body; do
    curl -s -o /dev/null -H 'authorization: Bearer bench' \
        -H 'accept: application/json' -H 'content-type: application/json' -d \"$body\" \"$0\" || exit 1
done";

const PYTHON: &str = "
import sys
try:
    import requests
except ImportError:
    sys.exit(9)
session = requests.Session()
session.headers['authorization'] = 'Bearer bench'
session.headers['accept'] = 'application/json'
session.headers['content-type'] = 'application/json'
for body in sys.stdin:
    session.post(sys.argv[1], data=body).raise_for_status()
";

/// Nothing where what it needs is not installed.
fn script(folder: &Path, program: &str, arguments: [&str; 2]) -> Option<Cost> {
    let service = Service::start();
    let mut script = Command::new(program);
    script
        .args(arguments)
        .arg(service.lead_url())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut code = None;
    let cost = Cost::of(by_children, || {
        let bodies = File::open(folder.join("few-bodies")).unwrap();
        code = script.stdin(bodies).status().ok().and_then(|s| s.code());
    });
    // 9: it says that something is missing.
    assert!(matches!(code, None | Some(0 | 9)), "{script:?}: {code:?}");
    let is_done = code == Some(0);
    assert!(!is_done || service.understood() == FEW_LEADS as u64);
    is_done.then_some(cost)
}

fn import(service: &Service, folder: &Path, ledger: &Path) -> Cost {
    let mut import = common::import(&service.url, &folder.join("leads.csv"), ledger);
    import.args(["--rate", "none", "--concurrency", &IN_FLIGHT.to_string()]);
    Cost::of(by_children, || {
        let status = import.status().unwrap();
        assert!(status.success(), "{import:?}: {status}");
    })
}

/// Nothing where oha is not installed.
fn oha(folder: &Path) -> Option<Cost> {
    let found = Command::new("oha").arg("--version").output();
    found.ok()?;
    let service = Service::start();
    let mut oha = Command::new("oha");
    // It takes lines at random, so that some of the leads are there already.
    oha.args(["--no-tui", "-m", "POST"])
        .args(["-A", "application/json", "-T", "application/json"])
        .args(["-H", "authorization: Bearer bench"])
        .args(["-n", &LEADS.to_string(), "-c", &IN_FLIGHT.to_string()])
        .arg("-Z")
        .arg(folder.join("bodies"))
        .arg(service.lead_url())
        .stdout(Stdio::null());
    let cost = Cost::of(by_children, || {
        let status = oha.status().unwrap();
        assert!(status.success(), "{oha:?}: {status}");
    });
    assert_eq!(service.understood(), LEADS as u64);
    Some(cost)
}

impl Line {
    /// Beside the generators'.
    fn print(&self, bare: Option<&Line>, oha: Option<&Line>) {
        let pace = |line: &Line| line.cost.pace(line.leads);
        let micros = |line: &Line| line.cost.micros(line.leads);
        print!("  {:<21}{:>8.0} rows/s", self.name, pace(self));
        if let Some(bare) = bare {
            let ratio = pace(self) / pace(bare);
            print!(", {ratio:.2} of the bare generator's");
        }
        if let Some(micros) = micros(self) {
            print!("; {micros:.1} µs of processor time a row");
        }
        for (name, other) in [(OHA, oha), (BARE, bare)] {
            if let Some((own, others)) = micros(self).zip(other.and_then(micros)) {
                print!(", {:.2} of {name}", own / others);
            }
        }
        println!();
    }
}
