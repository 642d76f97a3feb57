//! Looking numbers up, in whichever kind of ledger.

use super::postgres::{PostgresLook, PostgresRecall};
use super::sqlite::{SqliteLook, SqliteRecall};
use super::{CellsDigest, Known, LedgerError, Scope, SentRow, ServiceId};
use crate::lead::{CampaignId, RowId, RunId};
use crate::phone::PhoneNumber;

/// A connection for looking numbers up, while another thread writes.
#[derive(Debug)]
pub enum Recall {
    File(SqliteRecall),
    Server(PostgresRecall),
}

/// What is looked up together. A file looks each of them up when it
/// is asked for; a server is asked for all of them at once.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub service: ServiceId,
    /// A row of this run that an earlier start left open counts as uncertain, though its request
    /// may still be on its way. Rows of other runs are not known until they are settled, or expire.
    pub run: Option<RunId>,
    pub numbers: Vec<PhoneNumber>,
    /// The cells of rows that may be known to be bad.
    pub digests: Vec<CellsDigest>,
}

/// A series of lookups.
pub enum Look<'a> {
    File(Box<SqliteLook<'a>>),
    Server(PostgresLook),
}

impl Recall {
    /// Begins a series of lookups: some thousand rows, within tenths of a second.
    pub fn look(&mut self, wanted: &Wanted) -> Result<Look<'_>, LedgerError> {
        match self {
            Recall::File(recall) => recall.look().map(|look| Look::File(Box::new(look))),
            Recall::Server(recall) => recall.look(wanted).map(Look::Server),
        }
    }

    /// Whether everything has to be wanted before.
    pub fn needs_all(&self) -> bool {
        matches!(self, Recall::Server(_))
    }
}

impl Look<'_> {
    /// What is known about the number.
    pub fn find(
        &mut self,
        service: ServiceId,
        number: PhoneNumber,
        scope: Scope,
    ) -> Result<Known, LedgerError> {
        match self {
            Look::File(look) => look.find(service, number, scope),
            Look::Server(look) => Ok(look.find(service, number, scope)),
        }
    }

    /// The record of one row of one run; one whose lead was removed, or may have been, is as if never
    /// sent.
    pub fn row(
        &mut self,
        service: ServiceId,
        number: PhoneNumber,
        campaign: CampaignId,
        run: RunId,
        row: RowId,
    ) -> Result<Option<SentRow>, LedgerError> {
        let found = match self {
            Look::File(look) => look.row(service, number, campaign, run, row)?,
            Look::Server(look) => look.row(number, campaign, run, row),
        };
        Ok(found.filter(|record| !record.is_removed()))
    }

    /// Whether a run other than `run` found these cells invalid, or had them
    /// rejected by the service, and ended with a rejects file that holds them.
    pub fn is_known_bad(
        &mut self,
        service: ServiceId,
        digest: CellsDigest,
        run: RunId,
    ) -> Result<bool, LedgerError> {
        match self {
            Look::File(look) => look.is_known_bad(service, digest, run),
            Look::Server(look) => Ok(look.is_known_bad(digest, run)),
        }
    }
}
