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
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::cost::{Cost, by_children};
use common::{contacts, generate};
use leadload::sandbox::{Sandbox, SandboxConfig, Stats};
use tempfile::TempDir;

/// The parts, in this order.
const PARTS: [(&str, fn()); 4] = [
    ("limits", unknown_limits),
    ("rate", given_rate),
    ("concurrency", given_concurrency),
    ("auto", found_concurrency),
];

/// The rate that is kept to, in a second.
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

/// A limit of the service that nobody tells: its shape, requests, seconds, and burst.
type Limit = (&'static str, u32, f64, u32);

const LIMITS: [Limit; 12] = [
    ("leaky", 10, 1.0, 0),
    ("leaky", 50, 1.0, 5),
    ("leaky", 5, 1.0, 2),
    ("leaky", 50, 1.0, 20),
    ("token", 20, 1.0, 40),
    ("token", 3, 1.0, 100),
    ("fixed", 60, 60.0, 0),
    ("fixed", 300, 60.0, 0),
    ("fixed", 1000, 60.0, 0),
    ("sliding", 100, 60.0, 0),
    ("sliding", 300, 60.0, 0),
    ("sliding", 20, 10.0, 0),
];

/// `auto` goes no further where answers state no limit, in a second.
const MOST: f64 = 10.0;

/// How much of each limit is used in minutes two to four, and how many requests are refused, with
/// answers in 60 to 100 ms. All at once, they have little to do.
fn unknown_limits() {
    println!("minutes two to four under limits that nobody tells:");
    let trials = LIMITS.into_iter().flat_map(|limit| {
        let hints = if limit.2 < 60.0 {
            vec![false]
        } else {
            vec![false, true]
        };
        hints.into_iter().map(move |has_hints| (limit, has_hints))
    });
    let running: Vec<_> = trials
        .map(|(limit, has_hints)| {
            let of = |rate| thread::spawn(move || used(limit, has_hints, rate));
            (limit, has_hints, ["auto", "none"].map(of))
        })
        .collect();
    for ((shape, requests, per_s, burst), has_hints, runs) in running {
        let [auto, none] = runs.map(|run| run.join().unwrap());
        let hints = if has_hints { ", `Retry-After`" } else { "" };
        println!(
            "  {shape} {requests} in {per_s} s, burst {burst}{hints}: auto {auto}, none {none}"
        );
    }
}

/// The share of the limit that is used, and of the requests that are refused.
fn used((shape, requests, per_s, burst): Limit, has_hints: bool, rate: &str) -> String {
    let pace = f64::from(requests) / per_s;
    let pace = if rate == "auto" { pace.min(MOST) } else { pace };
    let mut trial = Trial::new(60, (pace * 400.0) as usize);
    let hint = if has_hints { "retry_after" } else { "none" };
    let is_bucket = ["leaky", "token"].contains(&shape);
    let burst = if is_bucket {
        format!("burst = {burst}")
    } else {
        String::new()
    };
    let config = format!(
        "rate_limit_hint = \"{hint}\"\n[[rate_limit]]\nshape = \"{shape}\"\nrequests = {requests}\nper_s = {per_s}\n{burst}"
    );
    let config: SandboxConfig = toml_edit::de::from_str(&config).unwrap();
    trial.service.latency_jitter_ms = 40;
    trial.service.rate_limits = config.rate_limits;
    trial.service.rate_limit_hint = config.rate_limit_hint;
    let (before, after) = trial.with(&["--rate", rate]).between(120, 240);
    let created = (after.created - before.created) as f64;
    let refused = (refused(&after) - refused(&before)) as f64;
    format!(
        "{:.0} % ({:.1} % refused)",
        100.0 * created / (pace * 120.0),
        100.0 * refused / (created + refused),
    )
}

fn refused(stats: &Stats) -> u64 {
    stats.refused.values().sum()
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

    /// The service, the importer's command line, and the folder of its files.
    fn prepare(self) -> (Sandbox, Command, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let leads = folder.path().join("leads.csv");
        fs::write(&leads, contacts(self.rows)).unwrap();
        let ledger = if self.has_ledger {
            folder.path().join("ledger")
        } else {
            Path::new("none").to_owned()
        };
        let service = Sandbox::start(self.service).unwrap();
        let mut import = common::import(&service.base_url(), &leads, &ledger);
        import.args(&self.arguments);
        (service, import, folder)
    }

    /// What the service has counted after so many seconds, and after so many.
    fn between(self, from_s: u64, to_s: u64) -> (Stats, Stats) {
        let (service, mut import, _folder) = self.prepare();
        let silent = import.stdout(Stdio::null()).stderr(Stdio::null());
        let mut import = silent.spawn().unwrap();
        thread::sleep(Duration::from_secs(from_s));
        let before = service.stats();
        thread::sleep(Duration::from_secs(to_s - from_s));
        let after = service.stats();
        import.kill().unwrap();
        import.wait().unwrap();
        (before, after)
    }

    fn run(self) -> Seen {
        let latency = self.service.latency_ms;
        let (service, mut import, _folder) = self.prepare();
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
