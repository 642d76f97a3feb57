//! How fast leads go out, beside the least that the same work can cost, in the same
//! run, since machines are noisy.
//!
//! `cargo bench --bench import`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{contacts, generate, leadload, worked};

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
        bare = bare.min(timed(|| generate(&service.url, LEADS, IN_FLIGHT)));
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

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
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
        let mut import = common::import(&self.url, leads, ledger);
        import.args(["--rate", "none", "--concurrency", &IN_FLIGHT.to_string()]);
        let took = timed(|| {
            let status = import.status().unwrap();
            assert!(status.success(), "{import:?}: {status}");
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
