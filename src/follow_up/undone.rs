//! How undoing a run has ended.

use std::path::PathBuf;

use super::target::Target;
use crate::exit::{ExitCode, Failure};
use crate::lead::RunId;
use crate::ledger::{UndoCounts, UndoRow, UndoStatus};
use crate::results::{OutputError, UndoFile};

#[derive(Debug)]
pub struct Undone {
    pub run: RunId,
    pub counts: UndoCounts,
    /// Of how many leads that were to be removed it is not known whether they were older than the run.
    pub undated: u64,
    pub requests: u64,
    /// Whether the run counts as undone now.
    pub has_begun: bool,
    /// What helps with the leads that are not removed.
    pub open: OpenRows,
    /// Where it is written what became of each lead.
    pub file: Option<PathBuf>,
    /// The new names of files that existed before.
    pub kept: Vec<PathBuf>,
    pub stopped: Option<Failure>,
}

/// Rows whose leads may still be there, by what helps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenRows {
    /// The service has refused to remove the lead, or has not answered: it may be asked once more.
    pub again: u64,
    /// The answer to the row was lost, and the service does not list its lead so far.
    pub uncertain: u64,
    /// Leads that somebody has to look at: they may not be the run's, were changed, or have no id.
    pub by_hand: u64,
}

impl OpenRows {
    fn add(&mut self, row: &UndoRow) {
        let Some(outcome) = &row.outcome else { return };
        let was_asked = match outcome.status {
            UndoStatus::Undone | UndoStatus::Gone => return,
            UndoStatus::Kept => outcome.http_status.is_some(),
            UndoStatus::Unknown => row.was_asked,
        };
        *match row.may_be_looked_up {
            _ if was_asked => &mut self.again,
            true => &mut self.uncertain,
            false => &mut self.by_hand,
        } += 1;
    }
}

impl Undone {
    /// Nothing was done to the run.
    pub(super) fn new(target: &Target) -> Undone {
        Undone {
            run: target.run.run,
            counts: UndoCounts::default(),
            undated: 0,
            requests: target.client.requests(),
            has_begun: false,
            open: OpenRows::default(),
            file: None,
            kept: Vec::new(),
            stopped: None,
        }
    }

    /// Counts the rows, and writes what became of each.
    pub(super) async fn written(
        mut self,
        target: &Target,
        mut output: UndoFile,
        rows: &[UndoRow],
    ) -> Result<Undone, Failure> {
        let failed = |error: OutputError| error.of_export().while_writing();
        for row in rows {
            let status = row.outcome.as_ref().map(|outcome| outcome.status);
            self.counts.add(status, 1);
            self.open.add(row);
            output.write(row).map_err(failed)?;
        }
        let sealed = output.seal().map_err(failed)?;
        let (run, record) = (self.run, sealed.records());
        let ledger = &target.client.ledger;
        if !record.is_empty() {
            ledger
                .with(move |ledger| ledger.record_outputs(run, &record))
                .await?;
        }
        let written = sealed.finish().map_err(failed)?;
        self.file = written.results;
        self.kept = written.kept;
        Ok(self)
    }

    pub fn exit_code(&self) -> ExitCode {
        match &self.stopped {
            Some(failure) => failure.stopped_by.exit_code(),
            None if self.counts.all_are_removed() => ExitCode::Complete,
            None => ExitCode::Problems,
        }
    }
}
