//! What a server alone promises: several senders at once.

use crate::lead::{CampaignId, RowId, RowOutcome, RunId, Status};
use crate::ledger::cluster::Cluster;
use crate::ledger::on_server::OnServer;
use crate::ledger::sqlite::samples::{
    RUN, claim, claims, created, number, rejected, releases, settlements, uncertain,
};
use crate::ledger::{ClaimScope, Group, Ledger, Refusal, Reply, SenderId, SentRow};

/// A ledger on a server with one run; `None` where there is no server.
fn server() -> Option<OnServer> {
    Cluster::shared().map(|_| OnServer::start(ClaimScope::Campaign))
}

/// Settles rows as the sender that has claimed them does.
fn settle(server: &mut OnServer, sender: SenderId, row: u64, outcome: &RowOutcome) -> Reply {
    server.commit(RUN, of_sender(sender, settlements([row], outcome)))
}

fn of_sender(sender: SenderId, mut group: Group) -> Group {
    for settled in &mut group.settlements {
        settled.claim.sender = sender;
    }
    group
}

/// The record of a row of the first run, as it would be known after a kill.
fn found(server: &OnServer, row: u64) -> Option<SentRow> {
    let look = server.look_at(vec![number(row)], true);
    let claim = claim(row);
    let found = look.row(claim.number, claim.campaign, RUN, claim.row);
    found.cloned()
}

fn status(server: &OnServer, row: u64) -> Option<Status> {
    found(server, row).map(|record| record.outcome.status)
}

/// The claim of a row by another process and run.
fn claim_by(ledger: &mut Ledger, run: RunId, row: u64, resends: bool) -> Reply {
    let mut group = claims([row]);
    group.claims[0].resends = resends;
    ledger.commit(run, &group).unwrap()
}

#[test]
fn of_outcomes_from_anyone_the_better_one_counts() {
    let Some(mut server) = server() else { return };
    let duplicate = RowOutcome {
        status: Status::Duplicate,
        ..created()
    };
    let other = SenderId(9_999);
    let (mine, theirs) = (true, false);
    let orders: [&[(bool, &RowOutcome, Status)]; 4] = [
        &[
            (mine, &duplicate, Status::Duplicate),
            (theirs, &created(), Status::Created),
            (mine, &rejected(), Status::Created),
            (theirs, &duplicate, Status::Created),
        ],
        &[
            (mine, &rejected(), Status::Rejected),
            (theirs, &duplicate, Status::Duplicate),
            (theirs, &rejected(), Status::Duplicate),
        ],
        // A late refusal of another attempt does not end the doubt about this one.
        &[
            (mine, &uncertain(), Status::Uncertain),
            (theirs, &rejected(), Status::Uncertain),
            (mine, &rejected(), Status::Rejected),
        ],
        &[
            (theirs, &created(), Status::Created),
            (mine, &uncertain(), Status::Created),
        ],
    ];
    for (row, order) in (1..).zip(orders) {
        let sender = server.commit(RUN, claims([row])).sender;
        for (is_mine, outcome, expected) in order {
            let by = if *is_mine { sender } else { other };
            settle(&mut server, by, row, outcome);
            assert_eq!(status(&server, row), Some(*expected), "row {row}");
        }
    }
}

#[test]
fn a_number_has_one_claim_until_it_is_settled_or_freed() {
    let Some(mut server) = server() else { return };
    let sender = server.commit(RUN, claims([1, 2, 3, 4])).sender;
    let (mut ledger, run) = server.another();
    let mut refusal = |row: u64, resends: bool| {
        let refused = claim_by(&mut ledger, run, row, resends).refused;
        refused.into_iter().next().map(|(_, refusal)| refusal)
    };
    assert_eq!(refusal(1, true), Some(Refusal::Busy));
    settle(&mut server, sender, 1, &created());
    let Some(Refusal::Known(known)) = refusal(1, true) else {
        panic!("it is settled");
    };
    assert_eq!(known.settled.unwrap().outcome, created());
    settle(&mut server, sender, 2, &rejected());
    assert_eq!(refusal(2, false), None);
    settle(&mut server, sender, 3, &uncertain());
    let Some(Refusal::Known(known)) = refusal(3, false) else {
        panic!("it is in doubt");
    };
    assert_eq!(known.uncertain.unwrap().row, RowId(3));
    assert_eq!(refusal(3, true), None);
    server.commit(RUN, releases([4]));
    assert_eq!(refusal(4, false), None);
    // The row that was displaced stays what it was.
    assert_eq!(status(&server, 3), Some(Status::Uncertain));
}

#[test]
fn a_number_in_another_campaign_stands_in_the_way_only_once_for_the_service() {
    for (scope, is_refused) in [(ClaimScope::Campaign, false), (ClaimScope::Service, true)] {
        if Cluster::shared().is_none() {
            return;
        }
        let mut server = OnServer::start(scope);
        server.commit(RUN, claims([1]));
        let (mut ledger, run) = server.another();
        let mut elsewhere = claims([1]);
        elsewhere.claims[0].campaign = CampaignId(18);
        let reply = ledger.commit(run, &elsewhere).unwrap();
        assert_eq!(!reply.refused.is_empty(), is_refused);
    }
}

#[test]
fn after_its_lease_a_sender_claims_nothing_until_it_has_another_one() {
    let Some(mut server) = server() else { return };
    let first = server.commit(RUN, claims([1])).sender;
    server.expire();
    let reply = server.commit(RUN, claims([2]));
    assert!(reply.sender > first, "it has acquired another lease");
    // What it had claimed before it claims again.
    assert_eq!(server.commit(RUN, claims([1])).refused, []);
    let held = server
        .database
        .sql("SELECT DISTINCT sender FROM leadload.sent");
    assert_eq!(held, [reply.sender.0.to_string()]);
}

#[test]
fn a_sender_whose_run_was_taken_over_is_told_so() {
    let Some(mut server) = server() else { return };
    server.commit(RUN, claims([1]));
    server.expire();
    let mut cut_off = server;
    let mut other = OnServer::of(&cut_off);
    assert_eq!(other.go_on(2_000_000_000), RUN);
    let error = cut_off.ledger.commit(RUN, &claims([2])).unwrap_err().0;
    assert!(
        error.to_string().contains("run 1 was taken over"),
        "{error}"
    );
    // What it has still heard counts.
    let sender = other.commit(RUN, claims([3])).sender;
    assert!(sender > SenderId(1));
    let late = of_sender(SenderId(1), settlements([1], &created()));
    other.commit(RUN, late);
    assert_eq!(status(&other, 1), Some(Status::Created));
}

#[test]
fn what_is_read_for_some_rows_does_not_depend_on_how_many_others_there_are() {
    // What the server knows of the rows decides how it would like to find them.
    for known in [None, Some(RUN), Some(RunId(2))] {
        let Some(mut server) = server() else { return };
        let database = server.database.clone();
        // As in a large ledger, where it would rather read the whole table.
        database.sql(&format!(
            "ALTER DATABASE {} SET enable_nestloop = off",
            database.name
        ));
        server.expire();
        server.kill();
        server.go_on(1);
        let (service, campaign) = (server.service.0, claim(1).campaign.0);
        let add = |run: RunId, from: u64| {
            database.sql(&format!(
                "INSERT INTO leadload.sent (run, row, number, service, campaign, holds, file,
                    line_offset, status)
                SELECT {run}, n, 447920000000 + n, {service}, {campaign}, true, 0, 1, 0
                FROM generate_series({from}, {from} + 20000) AS n"
            ));
        };
        if let Some(run) = known {
            add(run, 100_000);
            database.sql("ANALYZE leadload.sent");
        }
        add(RUN, 200_000);
        let sender = server.commit(RUN, claims(1..=1000)).sender;
        let settled = settlements(1..=1000, &created());
        server.commit(RUN, of_sender(sender, settled));
        server.look_at((1..=2000).map(number).collect(), false);
        assert_eq!(status(&server, 1000), Some(Status::Created));
        server.disconnect();
        let read = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables
            WHERE relid = 'leadload.sent'::regclass";
        // A thousand settled and then found, and one of them found again.
        assert_eq!(database.sql(read), ["2001"]);
    }
}

#[test]
fn a_claim_that_changes_hands_while_it_is_waited_for_is_not_taken_for_expired() {
    let Some(mut server) = server() else { return };
    server.commit(RUN, claims([1]));
    server.expire();
    let (mut other, run) = server.another();
    let database = server.database.clone();
    // The first run has another lease, and claims its row again: a transaction that ends when
    // another one waits for it.
    let claiming = std::thread::spawn(move || {
        database.sql(
            "WITH lease AS (
                INSERT INTO leadload.senders (service, run, start, until, timeout_ms)
                SELECT service, id, 1, clock_timestamp() + interval '1 hour', 1000
                FROM leadload.runs WHERE id = 1 RETURNING id
            )
            UPDATE leadload.sent SET sender = lease.id FROM lease;
            SELECT pg_advisory_xact_lock(1);
            DO $$ BEGIN
                WHILE NOT EXISTS (
                    SELECT FROM pg_locks
                    WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))
                ) LOOP
                    PERFORM pg_sleep(0.01);
                END LOOP;
            END $$",
        )
    });
    let is_claiming = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    while server.database.sql(is_claiming) != ["1"] {}
    let reply = claim_by(&mut other, run, 1, true);
    assert_eq!(reply.refused, [(RowId(1), Refusal::Busy)]);
    claiming.join().unwrap();
}
