//! How near the real importer comes to what a service carries: to a limit that it has to
//! find, to a rate that it was given, and to what a number of connections can do.
//!
//! `cargo bench --bench delivery`, or one part of it: `cargo bench --bench delivery -- auto`
//!
//! The service is the sandbox, in this process, which does nothing else; what is reported of
//! time is what it saw. The importer is the release binary, in a process of its own.

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use common::cost::{Cost, by_children};
use common::{contacts, generate};
use leadload::rate::Rate;
use leadload::sandbox::{Sandbox, SandboxConfig, Stats};

/// The parts, in this order.
const PARTS: [(&str, fn()); 4] = [
    ("limit", unknown_limit),
    ("rate", given_rate),
    ("concurrency", given_concurrency),
    ("auto", found_concurrency),
];

/// The limit that is found, and the rate that is kept to, in a second.
const LIMIT: u32 = 100;

/// So many requests at once are given.
const IN_FLIGHT: usize = 64;

fn main() {
    // Cargo adds a flag of its own.
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let chosen: Vec<&String> = chosen.iter().filter(|a| !a.starts_with('-')).collect();
    let names = PARTS.map(|(name, _)| name);
    for name in &chosen {
        assert!(names.contains(&name.as_str()), "no part {name}: {names:?}");
    }
    for (name, part) in PARTS {
        if chosen.is_empty() || chosen.iter().any(|chosen| *chosen == name) {
            part();
        }
    }
}

/// `--rate none` against a limit that has to be found: all at once, they have little to do.
fn unknown_limit() {
    println!("--rate none, {LIMIT} allowed in any second, for a minute:");
    let trials = [5, 50].into_iter().flat_map(|latency| {
        ["auto", "64"].map(|concurrency| {
            let mut trial = Trial::new(latency, LIMIT as usize * 60);
            trial.service.rate_limits = vec![Rate::per_second(LIMIT).into()];
            let name = format!("latency {latency} ms, --concurrency {concurrency}");
            (
                name,
                trial.with(&["--rate", "none", "--concurrency", concurrency]),
            )
        })
    });
    let running: Vec<_> = trials
        .map(|(name, trial)| (name, thread::spawn(move || trial.run())))
        .collect();
    for (name, run) in running {
        let seen = run.join().unwrap();
        let refused = seen.refused() as f64 / seen.stats.lead_requests as f64;
        println!(
            "  {name}: {:.1} % of {} requests refused, {:.1} leads/s, {:.1} % of the limit",
            100.0 * refused,
            seen.stats.lead_requests,
            seen.pace(),
            100.0 * seen.pace() / f64::from(LIMIT),
        );
    }
}

/// A rate that was given: never more in a second, and hardly less.
fn given_rate() {
    println!("--rate {LIMIT}/s, 3,000 rows:");
    for latency in [5, 50] {
        let rate = format!("{LIMIT}/s");
        let seen = Trial::new(latency, 3000).with(&["--rate", &rate]).run();
        let most = |millis| seen.stats.max_in_window(Duration::from_millis(millis));
        let pace = (seen.arrivals.len() - 1) as f64 / seen.last();
        println!(
            "  latency {latency} ms: at most {} arrived within 1.00 s, {} within 0.99 s; {:.1} % of the rate",
            most(1000),
            most(990),
            100.0 * pace / f64::from(LIMIT),
        );
    }
}

/// So many connections to a service that takes its time, beside a bare generator: timers
/// are coarse, and answers that come all at once are dealt with one after the other.
fn given_concurrency() {
    println!("--concurrency {IN_FLIGHT}, no rate, 15 seconds each:");
    for latency in [5, 50, 500] {
        let ideal = IN_FLIGHT as f64 * 1e3 / latency as f64;
        let rows = ideal as usize * 15;
        let trial = || {
            let concurrency = IN_FLIGHT.to_string();
            Trial::new(latency, rows).with(&["--rate", "none", "--concurrency", &concurrency])
        };
        let service = Sandbox::start(trial().service).unwrap();
        generate(&service.base_url(), rows, IN_FLIGHT);
        let bare = Seen::of(&service, latency, None).pace();
        for (name, pace) in [
            ("a bare generator", bare),
            ("with a ledger", trial().run().pace()),
            ("--ledger none", trial().without_ledger().run().pace()),
        ] {
            println!(
                "  {latency} ms, {name}: {pace:.1} leads/s, {:.1} % of {ideal}, {:.1} % of the bare generator's",
                100.0 * pace / ideal,
                100.0 * pace / bare,
            );
        }
    }
}

/// `--concurrency auto` beside the best of fixed settings, at services of all kinds.
fn found_concurrency() {
    println!("--concurrency auto, no rate, 10th to 20th second, beside fixed ones:");
    let services: [(u64, Option<usize>, &[usize]); 4] = [
        (5, None, &[16, 32, 64, 128, 256, 512]),
        (50, None, &[64, 128, 256, 512]),
        (500, None, &[128, 256, 512]),
        (50, Some(20), &[8, 16, 32, 64]),
    ];
    for (latency, cap, fixed) in services {
        let cap_told = cap.map_or(String::new(), |cap| format!(", {cap} at once"));
        println!("  latency {latency} ms{cap_told}:");
        let best = best_fixed(latency, cap, fixed);
        let seen = unpaced(latency, cap, "auto", 21);
        let pace = seen.within(10.0, 20.0) as f64 / 10.0;
        let reached = seen.reached(0.9 * best);
        println!(
            "    auto: {pace:.0} leads/s, {:.0} % of the best ({}), 90 % of it {}",
            100.0 * pace / best,
            seen.loads(21),
            reached.map_or("never".to_owned(), |at| format!("after {at:.1} s")),
        );
        println!("      a second: {:?}", seen.each_second());
    }
}

/// The best of some numbers of connections, between the third second and the eighth.
fn best_fixed(latency: u64, cap: Option<usize>, fixed: &[usize]) -> f64 {
    let paces = fixed.iter().map(|concurrency| {
        let seen = unpaced(latency, cap, &concurrency.to_string(), 9);
        let pace = seen.within(3.0, 8.0) as f64 / 5.0;
        println!("    {concurrency}: {pace:.0} leads/s ({})", seen.loads(9));
        pace
    });
    paces.fold(0.0, f64::max)
}

/// As many leads as can be in so many seconds.
fn unpaced(latency: u64, cap: Option<usize>, concurrency: &str, seconds: u64) -> Seen {
    // No setting does more than that a second: 512 at once, nor this machine.
    let most = (512_000 / latency).min(50_000) * (seconds + 1);
    let mut trial = Trial::new(latency, most as usize);
    trial.service.max_concurrent = cap;
    let duration = format!("{seconds}s");
    trial
        .with(&["--rate", "none", "--concurrency", concurrency])
        .with(&["--max-duration", &duration])
        .run()
}

/// One run of the importer against a service of its own.
struct Trial {
    service: SandboxConfig,
    rows: usize,
    has_ledger: bool,
    arguments: Vec<String>,
}

impl Trial {
    fn new(latency_ms: u64, rows: usize) -> Trial {
        Trial {
            service: SandboxConfig {
                any_token: true,
                latency_ms,
                keep_variables: Some(false),
                ..SandboxConfig::default()
            },
            rows,
            has_ledger: true,
            arguments: Vec::new(),
        }
    }

    fn with(mut self, arguments: &[&str]) -> Trial {
        self.arguments
            .extend(arguments.iter().map(|a| (*a).to_owned()));
        self
    }

    fn without_ledger(self) -> Trial {
        Trial {
            has_ledger: false,
            ..self
        }
    }

    fn run(self) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let leads = folder.path().join("leads.csv");
        fs::write(&leads, contacts(self.rows)).unwrap();
        let ledger = if self.has_ledger {
            folder.path().join("ledger")
        } else {
            Path::new("none").to_owned()
        };
        let latency = self.service.latency_ms;
        let service = Sandbox::start(self.service).unwrap();
        let mut import = common::import(&service.base_url(), &leads, &ledger);
        import.args(&self.arguments);
        let mut output = None;
        let cost = Cost::of(by_children, || output = Some(import.output().unwrap()));
        let output = output.unwrap();
        // Also when its time was up.
        let is_done = output
            .status
            .code()
            .is_some_and(|code| [0, 4].contains(&code));
        assert!(is_done, "{import:?}: {output:?}");
        Seen::of(&service, latency, cost.worked)
    }
}

/// What the service saw.
struct Seen {
    stats: Stats,
    /// In seconds since the first one.
    arrivals: Vec<f64>,
    latency: f64,
    /// What the importer has had of the processor.
    worked: Option<Duration>,
}

impl Seen {
    fn of(service: &Sandbox, latency_ms: u64, worked: Option<Duration>) -> Seen {
        let stats = service.stats();
        let first = stats.arrivals_us[0];
        let since_first = |at: &u64| (at - first) as f64 / 1e6;
        Seen {
            arrivals: stats.arrivals_us.iter().map(since_first).collect(),
            latency: latency_ms as f64 / 1e3,
            worked,
            stats,
        }
    }

    fn last(&self) -> f64 {
        *self.arrivals.last().unwrap()
    }

    /// Leads a second, from the first request to the last answer.
    fn pace(&self) -> f64 {
        self.stats.created as f64 / (self.last() + self.latency)
    }

    fn refused(&self) -> u64 {
        self.stats.refused.values().sum()
    }

    fn within(&self, from: f64, to: f64) -> usize {
        let before = |time| self.arrivals.partition_point(|at| *at < time);
        before(to) - before(from)
    }

    fn each_second(&self) -> Vec<usize> {
        let seconds = 0..self.last() as u32;
        let second = |from: u32| self.within(f64::from(from), f64::from(from) + 1.0);
        seconds.map(second).collect()
    }

    /// When the first second was over in which this pace was kept.
    fn reached(&self, pace: f64) -> Option<f64> {
        let ends = self.arrivals.iter().map(|from| from + 1.0);
        ends.take_while(|end| *end <= self.last())
            .find(|end| self.within(end - 1.0, *end) as f64 >= pace)
    }

    /// At most in flight, and the importer's share of one processor.
    fn loads(&self, seconds: u64) -> String {
        let peak = self.stats.peak_in_flight;
        match self.worked {
            Some(worked) => format!(
                "at most {peak} in flight, {:.0} % of a processor",
                100.0 * worked.as_secs_f64() / seconds as f64
            ),
            None => format!("at most {peak} in flight"),
        }
    }
}
