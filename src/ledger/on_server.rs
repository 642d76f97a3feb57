//! A ledger on a server, in a database of its own, for tests.

use jiff::Timestamp;

use super::cluster::{Cluster, Database};
use super::sqlite::samples::BEGAN_AT;
use super::{
    ClaimScope, Group, LatestRun, Ledger, LedgerPlace, Look, NewRun, Reply, Sending, ServerPlace,
    ServiceId,
};
use crate::lead::RunId;
use crate::phone::PhoneNumber;

pub(super) struct OnServer {
    pub(super) ledger: Ledger,
    pub(super) service: ServiceId,
    pub(super) database: Database,
    pub(super) place: LedgerPlace,
    scope: ClaimScope,
    /// The runs so far; each has its number for an identity.
    runs: u8,
    /// The last sender whose claims were counted as open.
    expired: i64,
}

impl OnServer {
    /// With one run, which this process sends. There has to be a server. No lease runs out before
    /// a test lets it, however slow the machine is.
    pub(super) fn start(scope: ClaimScope) -> OnServer {
        let database = Cluster::database().unwrap();
        let url = database.url_at(database.port, "lease=5min");
        let place = ServerPlace::parse(&url, None).unwrap();
        let place = LedgerPlace::Server(Box::new(place));
        let mut ledger = Ledger::open(&place).unwrap();
        let service = ledger.service("https://calls.example").unwrap();
        let mut server = OnServer {
            ledger,
            service,
            database,
            place,
            scope,
            runs: 0,
            expired: 0,
        };
        server.begin();
        server
    }

    /// Another process, on another machine as it were, with the same ledger and a run of its own.
    pub(super) fn another(&mut self) -> (Ledger, RunId) {
        let mut ledger = Ledger::open(&self.place).unwrap();
        self.runs += 1;
        let begun = ledger.begin(&self.new_run(), at(BEGAN_AT)).unwrap();
        (ledger, begun.unwrap().run)
    }

    /// Another process with the same ledger, which continues the same run.
    pub(super) fn of(other: &OnServer) -> OnServer {
        OnServer {
            ledger: Ledger::open(&other.place).unwrap(),
            service: other.service,
            database: other.database.clone(),
            place: other.place.clone(),
            scope: other.scope,
            runs: other.runs,
            expired: other.expired,
        }
    }

    fn new_run(&self) -> NewRun {
        NewRun {
            service: self.service,
            identity: [self.runs; 32],
            options: "the options".into(),
            defaults: String::new(),
            reopens: false,
            sending: Sending {
                claims: self.scope,
                ..Sending::default()
            },
            expected: LatestRun::default(),
            inputs: Vec::new(),
            lists: Vec::new(),
            outputs: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self) -> RunId {
        self.runs += 1;
        self.go_on(BEGAN_AT)
    }

    /// Continues the last run.
    pub(super) fn go_on(&mut self, seconds: i64) -> RunId {
        let mut run = self.new_run();
        run.expected = self.ledger.predecessors(&run).unwrap().latest;
        self.ledger.begin(&run, at(seconds)).unwrap().unwrap().run
    }

    pub(super) fn commit(&mut self, run: RunId, group: Group) -> Reply {
        self.ledger.commit(run, &group).unwrap()
    }

    /// The process is gone, and another one has the ledger open.
    pub(super) fn kill(&mut self) {
        self.ledger = Ledger::open(&self.place).unwrap();
    }

    /// Ends the connections of this process, so that the server counts what they did.
    pub(super) fn disconnect(self) {
        let OnServer {
            ledger, database, ..
        } = self;
        drop(ledger);
        let others = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        while database.sql(others) != ["0"] {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Lets all leases and time-outs pass.
    pub(super) fn expire(&self) {
        self.database
            .sql("UPDATE leadload.senders SET until = '-infinity'");
    }

    /// Lets all leases and time-outs pass. Returns how many claims were open that were not counted
    /// before.
    pub(super) fn recover(&mut self) -> u64 {
        self.expire();
        let open = "SELECT count(*) FROM leadload.sent WHERE is_open AND sender >";
        let open = self.database.sql(&format!("{open} {}", self.expired));
        let last = self.database.sql("SELECT max(id) FROM leadload.senders");
        self.expired = last[0].parse().unwrap_or(self.expired);
        open[0].parse().unwrap()
    }

    /// Records that rejects files of these runs, and of no others, have their bad rows.
    pub(super) fn record_rejects(&self, runs: &[RunId]) {
        let runs: Vec<String> = runs.iter().map(RunId::to_string).collect();
        let record = "UPDATE leadload.known_bad SET in_rejects = run = ANY ('{";
        self.database
            .sql(&format!("{record}{}}}')", runs.join(",")));
    }

    pub(super) fn look_at(&self, numbers: Vec<PhoneNumber>, shows_open: bool) -> Look {
        let recall = match shows_open {
            true => self.ledger.recall_all(self.service),
            false => self.ledger.recall(),
        };
        let look = recall.unwrap().look(self.service, None, numbers);
        look.unwrap()
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}
