//! Ledgers that are filled without sending anything.

use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use leadload::lead::{CampaignId, Counts, RowId, RowOutcome, RunId, Status};
use leadload::ledger::{Claim, Group, Ledger, LedgerPlace, SenderId, ServiceId, Settlement};
use leadload::phone::PhoneNumber;

pub const CAMPAIGN: CampaignId = CampaignId(101);

/// Rows that are claimed together.
pub const GROUP: u64 = 200;

const RUN: RunId = RunId(1);

/// A ledger with a service and a run, and leads of it as they are sent.
pub struct NewLedger {
    pub path: PathBuf,
    pub service: ServiceId,
    ledger: Ledger,
    /// The number of a row, from 0.
    number: fn(u64) -> PhoneNumber,
}

impl NewLedger {
    /// For the service at this address, and for rows with these numbers.
    pub fn create(path: &Path, address: &str, number: fn(u64) -> PhoneNumber) -> NewLedger {
        let mut ledger = Ledger::open(&LedgerPlace::file(path)).unwrap();
        let service = ledger.service(address).unwrap();
        let add = "INSERT INTO runs (service, identity, began_at)
            SELECT id, x'00', 0 FROM services";
        let db = rusqlite::Connection::open(path).unwrap();
        db.execute(add, []).unwrap();
        NewLedger {
            path: path.to_owned(),
            service,
            ledger,
            number,
        }
    }

    /// Claims rows and settles each in the group after; then files them all.
    pub fn send(&mut self, rows: Range<u64>) {
        let mut counts = Counts::default();
        let mut claimed = rows.start..rows.start;
        while claimed.start < rows.end {
            let next = claimed.end..(claimed.end + GROUP).min(rows.end);
            let settled = claimed.clone();
            settled.clone().for_each(|_| counts.add(Status::Created));
            let group = Group {
                claims: next.clone().map(|row| self.claim(row)).collect(),
                settlements: settled.map(|row| self.settlement(row)).collect(),
                counts,
                ..Group::default()
            };
            self.ledger.commit(RUN, &group).unwrap();
            self.ledger.file_some().unwrap();
            claimed = next;
        }
        self.ledger.file_all().unwrap();
    }

    fn claim(&self, row: u64) -> Claim {
        Claim {
            row: RowId(row + 1),
            file: 0,
            line: row + 2,
            number: (self.number)(row),
            campaign: CAMPAIGN,
            resends: false,
            sender: SenderId::default(),
        }
    }

    fn settlement(&self, row: u64) -> Settlement {
        Settlement {
            claim: self.claim(row),
            outcome: RowOutcome {
                quotes_cells: false,
                is_suppressed: false,
                is_known_bad: false,
                status: Status::Created,
                lead_id: Some((48_211_000 + row).to_string()),
                http_status: Some(201),
                attempts: 1,
                error_code: None,
                error: None,
                settled_at: Timestamp::from_second(1_790_000_000 + row as i64 / 100).ok(),
            },
            cells: None,
            attempted: None,
        }
    }
}
