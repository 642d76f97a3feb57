//! Two senders with overlapping lists and one ledger, which are killed at random instants, as is
//! the ledger's server. The service takes every lead, so that nothing hides a second request.
//!
//! `LEADLOAD_CRASH_ROUNDS` asks for more rounds than the test suite has time for.

use std::process::Child;
use std::time::{Duration, Instant};

use leadload::sandbox::Sandbox;

use crate::cluster::{Cluster, Database};
use crate::shared_ledger::{TAKES_ALL, requests, rows, with_ledger};
use crate::util::{Folder, Output, scenario};

const RATE: usize = 100;
const CONCURRENCY: usize = 4;

fn rounds() -> usize {
    let rounds = std::env::var("LEADLOAD_CRASH_ROUNDS").ok();
    rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
}

/// A list with its sender, which is started again whenever it was killed.
struct Sender<'a> {
    folder: Folder,
    service: &'a Sandbox,
    database: &'a Database,
    on_uncertain: &'a str,
    child: Option<Child>,
}

impl Sender<'_> {
    fn start(&mut self) {
        let rate = format!("{RATE}/s");
        let concurrency = CONCURRENCY.to_string();
        let args = [
            "import",
            "leads.csv",
            "--campaign",
            "101",
            "--rate",
            &rate,
            "--concurrency",
            &concurrency,
            "--timeout",
            "1s",
            "--on-uncertain",
            self.on_uncertain,
            "--wait",
        ];
        let run = self.folder.leadload(&args).at(self.service);
        self.child = Some(with_ledger(run, self.database).start());
    }

    fn is_done(&mut self) -> bool {
        match &mut self.child {
            Some(child) => child.try_wait().unwrap().is_some(),
            None => true,
        }
    }

    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn end(&mut self) {
        let output = Output::of(self.child.take().unwrap());
        let is_whole = matches!(output.code, 0 | 1);
        assert!(
            is_whole,
            "{}: {}{}",
            output.code, output.stdout, output.stderr
        );
    }
}

/// Kills for some rounds, and lets both come to an end. Returns how often each was killed and
/// how often the server was.
fn rounds_of_kills(senders: &mut [Sender<'_>; 2], cluster: &Cluster) -> [usize; 3] {
    let mut chance = fastrand::Rng::with_seed(17);
    let mut killed = [0; 3];
    senders.iter_mut().for_each(Sender::start);
    for _ in 0..rounds() {
        std::thread::sleep(Duration::from_millis(chance.u64(300..3_000)));
        let victim = chance.usize(0..3);
        if let Some(sender) = senders.get_mut(victim) {
            if sender.is_done() {
                continue;
            }
            sender.kill();
            sender.start();
        } else {
            cluster.down("immediate");
            std::thread::sleep(Duration::from_millis(chance.u64(0..3_000)));
            cluster.up();
        }
        killed[victim] += 1;
    }
    senders.iter_mut().for_each(Sender::end);
    killed
}

// What `--nocapture` shows of many rounds.
#[allow(clippy::print_stdout)]
fn survive(on_uncertain: &str) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let database = cluster.new_database();
    let service = scenario(&format!(
        "{TAKES_ALL}latency_ms = 15\nlatency_jitter_ms = 15"
    ));
    let third = 60 * rounds().max(4);
    let lists = [rows(0, 2 * third), rows(third, 3 * third)];
    let mut senders = lists.map(|list| Sender {
        folder: Folder::with_leads(&list),
        service: &service,
        database: &database,
        on_uncertain,
        child: None,
    });
    let began = Instant::now();
    let killed = rounds_of_kills(&mut senders, &cluster);
    let requests = requests(&service);
    let again: usize = requests.values().map(|times| times - 1).sum();
    let stats = service.stats();
    println!(
        "{on_uncertain}: kills {killed:?}, {} requests, {again} of them again, in {:?}",
        stats.lead_requests,
        began.elapsed()
    );
    let mut uncertain = 0;
    for sender in &senders {
        let records = sender.folder.records("leads.results.csv");
        let places: Vec<usize> = records
            .iter()
            .map(|row| row["row"].parse().unwrap())
            .collect();
        assert_eq!(
            places,
            (1..=2 * third).collect::<Vec<_>>(),
            "every row, in order"
        );
        for row in records {
            match &*row["status"] {
                "created" | "already_imported" => {
                    assert!(requests.contains_key(&row["phone_number"]), "{row:?}");
                }
                "uncertain" if on_uncertain == "hold" => uncertain += 1,
                _ => panic!("{row:?}"),
            }
        }
    }
    // What was in flight, or answered and not committed, when a process was killed; or when the
    // server was away for longer than a lease.
    let in_doubt = 4 * CONCURRENCY * (killed[0] + killed[1] + 2 * killed[2]);
    if on_uncertain == "hold" {
        assert_eq!(again, 0, "nothing is sent again");
        assert!(uncertain <= 2 * in_doubt, "{uncertain}");
    } else {
        assert_eq!(requests.len(), 3 * third, "none lost");
        assert!(
            again <= in_doubt,
            "{again}, of {in_doubt} that were in doubt"
        );
    }
    let found = stats.max_in_window(Duration::from_millis(970));
    assert!(found <= RATE, "{found} in a second");
}

#[test]
fn killed_at_any_instant_two_senders_lose_no_row_and_send_again_only_what_was_in_doubt() {
    survive("resend");
}

#[test]
fn killed_at_any_instant_two_senders_that_hold_send_nothing_twice() {
    survive("hold");
}
