//! The runs that a ledger knows.

use anyhow::anyhow;

use crate::cli::runs::RunArg;
use crate::exit::{Failure, StoppedBy};
use crate::ledger::{Ledger, LedgerPlace, RunRecord};

/// How many runs an error names.
const MAX_NAMED: usize = 20;

/// The runs of a ledger, and the ledger, where there is one.
pub(super) struct KnownRuns {
    pub(super) place: LedgerPlace,
    pub(super) ledger: Option<Ledger>,
    pub(super) runs: Vec<RunRecord>,
}

impl KnownRuns {
    /// Reads them, also while a run is being sent. Without a ledger there are none.
    pub(super) fn read(place: &LedgerPlace) -> Result<KnownRuns, Failure> {
        let ledger = Ledger::read(place)?;
        let runs = ledger.as_ref().map(Ledger::runs).transpose();
        Ok(KnownRuns {
            place: place.clone(),
            ledger,
            runs: runs?.unwrap_or_default(),
        })
    }

    /// The chosen run.
    pub(super) fn named(&self, name: RunArg) -> Result<&RunRecord, Failure> {
        let found = match name {
            RunArg::Number(number) => self.runs.iter().find(|run| run.run == number),
            RunArg::Last => self.runs.iter().max_by_key(|run| started_at(run)),
        };
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: RunArg) -> Failure {
        let place = &self.place;
        let error = match name {
            RunArg::Number(number) if !self.runs.is_empty() => anyhow!(
                "there is no run {number} in the ledger `{place}`\n\nhint: {}",
                match self.runs.as_slice() {
                    [one] => format!("there is run {}", one.run),
                    _ => format!("there are runs {}", self.numbers()),
                }
            ),
            _ if !self.place.exists() => anyhow!(
                "there are no runs yet, since there is no ledger `{place}`\n\nhint: an import makes it; `--ledger` names another one"
            ),
            _ => anyhow!(
                "there are no runs yet in the ledger `{place}`\n\nhint: `--ledger` names another one"
            ),
        };
        Failure::new(StoppedBy::Usage, error)
    }

    /// The latest numbers.
    fn numbers(&self) -> String {
        let left_out = self.runs.len().saturating_sub(MAX_NAMED);
        let named = self.runs[left_out..].iter().map(|run| run.run.to_string());
        let named: Vec<String> = named.collect();
        match left_out {
            0 => named.join(", "),
            _ => format!("{} and {left_out} before these", named.join(", ")),
        }
    }
}

/// When it was last started.
fn started_at(run: &RunRecord) -> jiff::Timestamp {
    run.starts
        .last()
        .map_or(run.began_at, |start| start.began_at)
}
