//! A ledger on a server beside one in a file, in the same run, since machines are noisy.
//!
//! `cargo bench --bench shared_ledger`
//!
//! The server is on this machine and waits for its disk; in one line it is as far away as a
//! connection with a round trip of two milliseconds. The sandbox runs in a process of its own.

// A benchmark prints, and fails by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::panic
)]

#[cfg(unix)]
mod common;

#[cfg(unix)]
#[path = "../tests/support/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[cfg(unix)]
#[path = "../tests/support/link.rs"]
#[allow(dead_code)]
mod link;
#[cfg(unix)]
#[path = "../tests/support/listen.rs"]
mod listen;

#[cfg(unix)]
mod measured {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::cluster::Cluster;
    use super::common::service::Service;
    use super::common::{contacts, import};
    use super::link::Link;

    const LEADS: usize = 100_000;
    const ROUNDS: usize = 3;
    const ROUND_TRIP: Duration = Duration::from_millis(2);

    pub fn all() {
        let Some(cluster) = Cluster::start_durable() else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("leads.csv"), contacts(LEADS)).unwrap();
        println!("{LEADS} leads, 64 in flight, the best of {ROUNDS} rounds each:");
        let mut best = [(0.0_f64, 0.0_f64); 3];
        for round in 0..ROUNDS {
            let link = Link::to(cluster.port());
            link.delay(ROUND_TRIP / 2);
            let file = folder.join(format!("{round}.ledger")).display().to_string();
            let (near, far) = (cluster.new_database(), cluster.new_database());
            let ledgers = [file, near.url(), far.url_at(link.port(), "lease=10s")];
            for (ledger, best) in ledgers.iter().zip(&mut best) {
                let service = Service::start();
                let sent = pace(&service, folder, ledger);
                let again = pace(&service, folder, ledger);
                assert_eq!(service.understood(), LEADS as u64);
                *best = (best.0.max(sent), best.1.max(again));
            }
        }
        let names = ["a file", "a server here", "a server 2 ms away"];
        for (name, (sent, again)) in names.iter().zip(best) {
            println!("  {name:<20} {sent:>8.0} leads/s, the same list again {again:>8.0} rows/s");
        }
    }

    /// Leads in a second.
    fn pace(service: &Service, folder: &Path, ledger: &str) -> f64 {
        let mut import = import(&service.url, &folder.join("leads.csv"), Path::new(ledger));
        import.args(["--rate", "none", "--concurrency", "64"]);
        // The results of the last round lie beside the list.
        import.arg("--new-ledger");
        let began = Instant::now();
        let ended = import.status().unwrap();
        assert!(ended.success());
        LEADS as f64 / began.elapsed().as_secs_f64()
    }
}

fn main() {
    #[cfg(unix)]
    measured::all();
}
