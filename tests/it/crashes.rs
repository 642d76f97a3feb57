//! Kills the program again and again. In the end its results must be true.
//!
//! `LEADLOAD_CRASH_ROUNDS` asks for more kills than the test suite has time for.

use std::collections::{BTreeMap, HashMap};
use std::process::Child;
use std::time::{Duration, Instant};

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, Run, contacts, scenario};

/// How often the program is killed before it may finish.
fn rounds() -> usize {
    std::env::var("LEADLOAD_CRASH_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(5)
}

/// Kills the program after random pauses until it has finished by itself. Returns
/// how often it was killed. Each time it lives long enough to send something.
fn kill_until_done(start: impl Fn() -> Run, service: &Sandbox, rounds: usize) -> usize {
    let mut chance = fastrand::Rng::with_seed(41);
    for killed in 0.. {
        let before = service.stats().lead_requests;
        let mut child = start().start();
        let lives = Duration::from_millis(chance.u64(1..40));
        if killed < rounds && outlives(&mut child, service, before, lives) {
            child.kill().unwrap();
            child.wait().unwrap();
            continue;
        }
        let output = Output::of(child);
        assert!(
            output.code == 0 || output.code == 1,
            "{}\n{}",
            output.stdout,
            output.stderr
        );
        return killed;
    }
    unreachable!()
}

/// Whether the program is still running `a_while` after it has begun to send.
fn outlives(child: &mut Child, service: &Sandbox, before: u64, a_while: Duration) -> bool {
    let mut began = None;
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        if began.is_none() && service.stats().lead_requests > before {
            began = Some(Instant::now());
        }
        if began.is_some_and(|began| began.elapsed() > a_while) {
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The leads that the service has for each number.
fn made(service: &Sandbox) -> HashMap<String, Vec<String>> {
    let mut made: HashMap<String, Vec<String>> = HashMap::new();
    for lead in service.leads() {
        made.entry(lead.phone_number).or_default().push(lead.id);
    }
    made
}

/// The rows of a results file or an export, by row number.
fn by_row(records: Vec<BTreeMap<String, String>>) -> BTreeMap<u64, BTreeMap<String, String>> {
    records
        .into_iter()
        .map(|record| (record["row"].parse().unwrap(), record))
        .collect()
}

#[test]
fn killed_at_any_instant_it_loses_no_row_and_makes_no_lead_twice() {
    let count = 120 * rounds();
    let folder = Folder::with_leads(&contacts(count));
    let service = scenario(
        "seed = 3\nlatency_ms = 4\nlatency_jitter_ms = 4\nretry_after_s = 0\n[faults]\n\
         drop_after = 0.03\ndrop_before = 0.02\nstatus_500_before = 0.01\nstatus_500_after = 0.01",
    );
    let start = || folder.import_leads(&service, &["--concurrency", "8"]);
    let killed = kill_until_done(start, &service, rounds());
    assert_eq!(killed, rounds());

    let made = made(&service);
    assert_eq!(made.len(), count, "none lost");
    assert!(made.values().all(|ids| ids.len() == 1), "none twice");
    let results = folder.records("leads.results.csv");
    let rows: Vec<usize> = results.iter().map(|r| r["row"].parse().unwrap()).collect();
    assert_eq!(rows, (1..=count).collect::<Vec<_>>(), "every row, in order");
    let mut lost = 0;
    for row in &results {
        let id = &made[&row["phone_number"]][0];
        match row["status"].as_str() {
            "created" => assert_eq!(&row["lead_id"], id, "{row:?}"),
            "duplicate" => {
                assert_eq!(row["error_code"], "answer_lost", "{row:?}");
                lost += 1;
            }
            status => panic!("{status} in {row:?}"),
        }
    }
    assert!(lost > 0, "some answers were lost");
    assert_eq!(
        folder.names(),
        ["leads.csv", "leads.results.csv"],
        "nothing else is left behind"
    );
    // The ledger has the same.
    folder
        .leadload(&["runs", "export", "--results", "export.csv"])
        .expect(0);
    let exported = by_row(folder.records("export.csv"));
    assert_eq!(exported, by_row(results));
}
