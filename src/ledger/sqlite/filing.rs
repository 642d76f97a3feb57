//! When settled rows are filed: moved from the journal to the table that is searched by number.
//!
//! Numbers come in no order, and every table page that one of them falls on is written again. So
//! rows wait until many share a page. Then they are filed in the order of their numbers, in slices;
//! groups are committed between the slices. The more rows the table has, the more rows wait.

use super::round::{Limits, Round};
use super::{LedgerError, ServiceId, SqliteLedger};

/// The filing state of this connection. All of it may be
/// lost: a round that starts again gives the same result.
#[derive(Debug, Default)]
pub(super) struct Filing {
    pub(super) limits: Limits,
    /// The service that groups were committed for.
    pub(super) service: Option<ServiceId>,
    /// Settled rows of the service that no round has moved yet.
    unfiled: usize,
    round: Option<Round>,
}

impl Filing {
    pub(super) fn count(&mut self, service: ServiceId, settled: usize) {
        self.service = Some(service);
        self.unfiled += settled;
    }
}

impl SqliteLedger {
    /// Files a slice of the rows that this connection has settled, if enough are
    /// waiting or a round is under way. Returns whether there is more to do.
    /// After an error nothing is lost, and the next call starts the round again.
    pub fn file_some(&mut self) -> Result<bool, LedgerError> {
        self.refuse_replaced()?;
        let mut round = match (self.filing.round.take(), self.filing.service) {
            (Some(round), _) => round,
            (None, Some(service)) if self.is_due() => self.gather(service)?,
            (None, _) => return Ok(false),
        };
        if self.advance(&mut round)? {
            self.filing.unfiled = self.filing.unfiled.saturating_sub(round.len());
            return Ok(self.is_due());
        }
        self.filing.round = Some(round);
        Ok(true)
    }

    /// Files all rows that this connection has settled.
    pub fn file_all(&mut self) -> Result<(), LedgerError> {
        match self.filing.service {
            Some(service) => self.file_service(service),
            None => Ok(()),
        }
    }

    /// Files all settled rows of the service, including those that other processes settled.
    pub(super) fn file_service(&mut self, service: ServiceId) -> Result<(), LedgerError> {
        // A round that is under way starts again, which does no harm.
        self.filing.round = None;
        loop {
            let mut round = self.gather(service)?;
            while !self.advance(&mut round)? {}
            if !round.is_full() {
                break;
            }
        }
        if self.filing.service == Some(service) {
            self.filing.unfiled = 0;
        }
        Ok(())
    }

    fn gather(&self, service: ServiceId) -> Result<Round, LedgerError> {
        self.checked(Round::gather(&self.db, service, self.filing.limits))
    }

    fn advance(&mut self, round: &mut Round) -> Result<bool, LedgerError> {
        let advanced = round.advance(&mut self.db, self.filing.limits);
        self.checked(advanced)
    }

    fn is_due(&self) -> bool {
        self.filing.unfiled >= self.filing.limits.most
    }
}
