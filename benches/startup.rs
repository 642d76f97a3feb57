//! How long it takes from the start of the program to its first request, and how large the
//! program is.
//!
//! `cargo bench --bench startup`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{contacts, leadload};

/// A list of these many is of 0.9 MB.
const ROWS: usize = 30_000;
const ROUNDS: usize = 30;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let leads = folder.path().join("leads.csv");
    fs::write(&leads, contacts(ROWS)).unwrap();
    println!("{ROUNDS} rounds each: the middle one, and the longest");
    tell("leadload --version", |_| version());
    let none = Path::new("none");
    tell("first request with --ledger none", |_| {
        first_request(&leads, none)
    });
    tell("first request with a new ledger", |round| {
        first_request(&leads, &folder.path().join(format!("{round}.ledger")))
    });
    let program = fs::metadata(env!("CARGO_BIN_EXE_leadload")).unwrap();
    println!("  the program: {:.1} MB", program.len() as f64 / 1e6);
}

fn tell(what: &str, time: impl Fn(usize) -> Duration) {
    let mut times: Vec<Duration> = (0..ROUNDS).map(time).collect();
    times.sort_unstable();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "  {what}: {:.1} ms, {:.1} ms",
        millis(times[ROUNDS / 2]),
        millis(times[ROUNDS - 1])
    );
}

fn version() -> Duration {
    let began = Instant::now();
    assert!(
        leadload()
            .arg("--version")
            .output()
            .unwrap()
            .status
            .success()
    );
    began.elapsed()
}

/// Until the first bytes of a request for a lead are here. It gets no answer.
fn first_request(leads: &Path, ledger: &Path) -> Duration {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", service.local_addr().unwrap());
    let mut import = common::import(&url, leads, ledger);
    let began = Instant::now();
    let mut import = import.spawn().unwrap();
    let (mut connection, _) = service.accept().unwrap();
    let mut head = [0; 64];
    let length = connection.read(&mut head).unwrap();
    let took = began.elapsed();
    import.kill().unwrap();
    import.wait().unwrap();
    assert!(head[..length].starts_with(b"POST "), "{head:?}");
    took
}
