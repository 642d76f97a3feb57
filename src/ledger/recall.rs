//! Looks up what the ledger knows about numbers, while another thread writes.
//!
//! A [`Recall`] has a connection of its own: it never waits for the writer, nor the writer for it. In a file it
//! sees filed rows; after [`Ledger::recover`] that is everything about the service except what the current
//! run has sent since. [`Ledger::recall_all`] sees the others too.
//!
//! Numbers are looked up some thousand at a time, by one statement: one snapshot in a file, which costs as much
//! as a query by itself, and one round trip to a server.

use std::collections::HashSet;

use super::record::{NO_ANSWER, NO_ANSWER_YET, columns};
use super::store::list;
use super::{CellsDigest, Known, Ledger, LedgerError, Scope, SentRow, ServiceId};
use crate::lead::{CampaignId, RowId, RunId, Status};
use crate::message::Text;
use crate::phone::PhoneNumber;
use crate::text::hex;

/// Reads the rows of some numbers. `OFFSET 0` keeps a server from making a join of it, for which it might read
/// the whole table.
fn find() -> String {
    let columns = columns("s.");
    format!(
        "SELECT {columns} FROM json_each($2) AS wanted
        CROSS JOIN /*server LATERAL (SELECT * FROM */ leadload.sent_seen AS s
        WHERE s.service = $1 AND s.number = CAST(wanted.value AS bigint)
        /*server AND (NOT s.is_busy OR $3 OR s.run = $4) OFFSET 0) AS s*/"
    )
}

const FIND_BAD: &str = "
SELECT bad.digest FROM json_each($2) AS wanted
CROSS JOIN /*server LATERAL (SELECT * FROM */ leadload.known_bad AS bad
WHERE bad.service = $1 AND bad.run <> $3 AND bad.in_rejects
    AND bad.digest = /*file unhex(wanted.value)*//*server decode(wanted.value, 'hex') OFFSET 0) AS bad*/";

/// A connection for looking numbers up, while another one writes.
#[derive(Debug)]
pub struct Recall {
    ledger: Ledger,
    /// Whether rows that are being sent count as uncertain; otherwise they are unknown until they are
    /// settled, or cannot be any more.
    shows_open: bool,
}

/// What was known of some numbers.
#[derive(Debug, Default)]
pub struct Look {
    /// In order.
    rows: Vec<SentRow>,
}

impl Ledger {
    /// Opens a connection for looking numbers up while this one writes.
    pub fn recall(&self) -> Result<Recall, LedgerError> {
        Ok(Recall {
            ledger: self.again()?,
            shows_open: false,
        })
    }

    /// Opens a connection for looking up all numbers, also those of rows of this service that are
    /// being sent; in a file, as they are now.
    pub fn recall_all(&self, service: ServiceId) -> Result<Recall, LedgerError> {
        let mut ledger = self.again()?;
        ledger.show_unfiled(service)?;
        Ok(Recall {
            ledger,
            shows_open: true,
        })
    }
}

impl Recall {
    /// Looks up all rows of these numbers. On a server, a row of `run` that an earlier start left open counts
    /// as uncertain, though its request may still be on its way.
    pub fn look(
        &self,
        service: ServiceId,
        run: Option<RunId>,
        mut numbers: Vec<PhoneNumber>,
    ) -> Result<Look, LedgerError> {
        if numbers.is_empty() {
            return Ok(Look::default());
        }
        // In the ledger's order, neighbouring rows share the pages that are read.
        numbers.sort_unstable();
        numbers.dedup();
        let numbers = list(numbers.into_iter().map(PhoneNumber::key));
        let values = [service.into(), numbers, self.shows_open.into(), run.into()];
        let find = find();
        // That a claim is open is stored in no other way than by these words.
        let open = Text::said(Text::from(NO_ANSWER_YET).to_string());
        self.ledger.reading(|sql| {
            let mut look = Look::default();
            sql.each(&find, &values, &mut |row| {
                let mut row = SentRow::read(row)?;
                if run == Some(row.run) && row.outcome.error.as_ref() == Some(&open) {
                    // Nobody waits for the answer any more: its start has ended.
                    row.outcome.error = Some(NO_ANSWER.into());
                }
                look.rows.push(row);
                Ok(true)
            })?;
            look.rows.sort_unstable_by_key(key);
            Ok(look)
        })
    }

    /// Which of these cells a run other than `run` found invalid, or had rejected by the service, and ended
    /// with a rejects file that holds them.
    pub fn known_bad(
        &self,
        service: ServiceId,
        run: RunId,
        cells: impl IntoIterator<Item = CellsDigest>,
    ) -> Result<HashSet<CellsDigest>, LedgerError> {
        let cells: Vec<String> = cells.into_iter().map(|cells| hex(&cells.0)).collect();
        if cells.is_empty() {
            return Ok(HashSet::new());
        }
        let values = [service.into(), list(cells), run.into()];
        self.ledger.reading(|sql| {
            let bad = sql.rows(FIND_BAD, &values, |row| row.get(0).map(CellsDigest))?;
            Ok(bad.into_iter().collect())
        })
    }
}

impl Look {
    /// What is known about the number.
    pub fn find(&self, number: PhoneNumber, scope: Scope) -> Known {
        Known::of(self.of(number, scope))
    }

    /// The latest row of the number in another campaign that may have been taken.
    pub fn uncertain_elsewhere(
        &self,
        number: PhoneNumber,
        campaign: CampaignId,
    ) -> Option<SentRow> {
        let rows = self.of(number, Scope::Service);
        Known::of(rows.filter(|row| row.campaign != campaign)).uncertain
    }

    fn of(&self, number: PhoneNumber, scope: Scope) -> impl Iterator<Item = &SentRow> {
        let [first, last] = match scope {
            Scope::Campaign(CampaignId(campaign)) => [campaign, campaign],
            Scope::Service => [i64::MIN, i64::MAX],
        };
        let first = (number, CampaignId(first), RunId(0), RowId(0));
        let found = self.rows.partition_point(|row| key(row) < first);
        let found = self.rows.iter().skip(found);
        found.take_while(move |row| row.number == number && row.campaign.0 <= last)
    }

    /// Whether the service has rejected a row with the number.
    pub fn has_rejected(&self, number: PhoneNumber) -> bool {
        let mut rows = self.of(number, Scope::Service);
        rows.any(|row| row.outcome.status == Status::Rejected)
    }

    /// The record of one row of one run; one whose lead was removed, or may have been, is as if never
    /// sent.
    pub fn row(
        &self,
        number: PhoneNumber,
        campaign: CampaignId,
        run: RunId,
        row: RowId,
    ) -> Option<&SentRow> {
        let wanted = (number, campaign, run, row);
        let found = self.rows.binary_search_by_key(&wanted, key);
        let found = self.rows.get(found.ok()?);
        found.filter(|record| !record.is_removed())
    }
}

fn key(row: &SentRow) -> (PhoneNumber, CampaignId, RunId, RowId) {
    (row.number, row.campaign, row.run, row.row)
}
