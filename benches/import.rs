//! How fast leads go out, beside the least that the same work can cost, in the same
//! run, since machines are noisy.
//!
//! `cargo bench --bench import`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::StreamExt;
use leadload::api::wire::LeadForm;
use leadload::api::{BaseUrl, Client, Token};
use leadload::lead::CampaignId;
use leadload::phone::PhoneNumber;

const LEADS: usize = 200_000;
const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 3;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let leads = folder.path().join("leads.csv");
    fs::write(&leads, contacts(LEADS)).unwrap();
    println!("{LEADS} rows, {IN_FLIGHT} in flight, best of {ROUNDS} rounds each");
    let bare = sending(folder.path(), &leads);
    settled(folder.path(), &leads, bare);
}

/// A full import against the sandbox in another process, with a ledger and without,
/// beside a bare generator that sends the same bodies over the same client and writes
/// nothing down. Returns how long that took.
fn sending(folder: &Path, leads: &Path) -> Duration {
    let mut import = Cost::MOST;
    let mut forgetful = Cost::MOST;
    let mut bare = Duration::MAX;
    for round in 0..ROUNDS {
        // A new service each time, so that no lead is a duplicate.
        let ledger = folder.join(format!("{round}.ledger"));
        import = import.min(Service::start().import(leads, &ledger));
        forgetful = forgetful.min(Service::start().import(leads, Path::new("none")));
        let service = Service::start();
        bare = bare.min(timed(|| generate(&service.url)));
    }
    println!("import with a ledger: {import}");
    println!("import without:       {forgetful}");
    println!("bare generator:       {:.0} leads/s", pace(bare));
    let ratio = |cost: &Cost| pace(cost.took) / pace(bare);
    println!(
        "with a ledger {:.2} of the bare generator's pace, without {:.2}",
        ratio(&import),
        ratio(&forgetful)
    );
    bare
}

/// The same list again, all of it settled.
fn settled(folder: &Path, leads: &Path, bare: Duration) {
    let ledger = folder.join("settled.ledger");
    let service = Service::start();
    service.import(leads, &ledger);
    let again = (0..ROUNDS).map(|_| service.import(leads, &ledger));
    let again = again.fold(Cost::MOST, Cost::min);
    println!(
        "settled rows read again: {again}, {:.0} times the bare generator's pace",
        pace(again.took) / pace(bare)
    );
}

fn pace(took: Duration) -> f64 {
    LEADS as f64 / took.as_secs_f64()
}

/// What a command takes.
#[derive(Clone, Copy)]
struct Cost {
    took: Duration,
    /// Of the processor, in user and system mode; only Linux tells.
    worked: Option<Duration>,
}

impl Cost {
    const MOST: Cost = Cost {
        took: Duration::MAX,
        worked: None,
    };

    fn min(self, other: Cost) -> Cost {
        match other.took < self.took {
            true => other,
            false => self,
        }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} rows/s", pace(self.took))?;
        match self.worked {
            Some(worked) => write!(
                f,
                ", {:.1} µs of processor time a row",
                worked.as_secs_f64() * 1e6 / LEADS as f64
            ),
            None => Ok(()),
        }
    }
}

/// What all children that have ended have had of the processor. Only Linux tells, in
/// hundredths of a second.
fn worked() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything: user and system time of children are the
    // 16th and 17th field of all.
    let fields = text.rsplit_once(") ")?.1.split(' ');
    let ticks: Option<u64> = fields.skip(13).take(2).map(|t| t.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks?))
}

/// Numbers in no order.
fn contacts(count: usize) -> String {
    let mut text = String::from("phone,first_name,city\n");
    for i in 0..count {
        writeln!(text, "{},Name {i},Leeds", number(i)).unwrap();
    }
    text
}

/// A number that no other `i` has: the factor has no divisor in common with 10^8.
fn number(i: usize) -> String {
    format!("+4479{:08}", i * 48_271 % 100_000_000)
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn leadload() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadload"))
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// The sandbox in a process of its own.
struct Service {
    process: Child,
    url: String,
}

impl Service {
    fn start() -> Service {
        let mut process = leadload()
            .args(["sandbox", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        Service {
            url: url.unwrap().to_owned(),
            process,
        }
    }

    fn import(&self, leads: &Path, ledger: &Path) -> Cost {
        let before = worked();
        let took = timed(|| {
            run(leadload()
                .args(["import", "--campaign", "101", "--rate", "none", "--quiet"])
                .args(["--concurrency", &IN_FLIGHT.to_string()])
                .arg("--ledger")
                .arg(ledger)
                .arg(leads)
                .env("LEADLOAD_BASE_URL", &self.url)
                .env("LEADLOAD_TOKEN", "bench"))
        });
        Cost {
            took,
            worked: worked().zip(before).map(|(after, before)| after - before),
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sends the bodies of the import and looks at nothing but that an answer comes.
fn generate(url: &str) {
    let base_url = BaseUrl::parse(url, false).unwrap();
    let token = Token::from_text("bench", "bench").unwrap();
    let client = Client::new(&base_url, token, Duration::from_secs(60)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        futures::stream::iter(0..LEADS)
            .map(|i| {
                let phone = PhoneNumber::from_e164(&number(i)).unwrap();
                let name = format!("Name {i}");
                let variables = [("first_name", name.as_str()), ("city", "Leeds")];
                let body = LeadForm::default().body(phone, CampaignId(101), variables.into_iter());
                client.post_lead(body)
            })
            .buffer_unordered(IN_FLIGHT)
            .count()
            .await
    });
}
