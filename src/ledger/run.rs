//! What the ledger records of a whole run.

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use super::{LockHolder, ServiceId};
use crate::lead::{Counts, RunId};

pub type Sha256 = [u8; 32];

/// A run that is about to begin, or to go on.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub service: ServiceId,
    /// A digest of all that makes a run the same run.
    pub identity: Sha256,
    /// The same in words: an object of names and values. `campaign` is the campaign as
    /// it was given, `campaign_ids` an object of names of campaigns and their ids.
    pub options: Value,
    /// What a rejects file of this run takes for its defaults, as JSON.
    pub defaults: String,
    /// Whether a run that is complete, but has rows that are uncertain, goes on: where
    /// leads are known by run and row, no other run can send them.
    pub reopens: bool,
    pub inputs: Vec<InputRecord>,
    pub lists: Vec<ListRecord>,
    /// The files that this start will write: absolute paths.
    pub outputs: Vec<(PathBuf, OutputKind)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRecord {
    /// As it was named; none once it was pruned.
    pub name: Option<String>,
    /// Its absolute path; none for standard input, and once it was pruned.
    pub path: Option<PathBuf>,
    pub sha256: Sha256,
    pub bytes: u64,
    /// A digest of the names of its columns.
    pub columns: Sha256,
    /// Its data rows, once it has been read to its end.
    pub rows: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRecord {
    /// As it was named; none once it was pruned.
    pub name: Option<String>,
    pub sha256: Sha256,
    pub numbers: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    Results,
    Rejects,
}

impl OutputKind {
    /// The word in the ledger and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            OutputKind::Results => "results",
            OutputKind::Rejects => "rejects",
        }
    }
}

/// A file that a run has written, or begun to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRecord {
    pub run: RunId,
    /// Its absolute path; none once it was pruned.
    pub path: Option<PathBuf>,
    pub kind: OutputKind,
    /// What it holds, once it is complete.
    pub sha256: Option<Sha256>,
    /// Its rows without the header, once it is complete.
    pub rows: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    pub run: RunId,
    /// Which of its starts this is, from 1.
    pub start: u32,
    pub continues: bool,
    /// No row above this one has ever been claimed; 0 if none has.
    pub reached: u64,
    /// No row above this one is in a file that an earlier start has left; 0 if none is.
    pub read_to: u64,
    /// The runs whose rows are all rows of this one too.
    pub covers: Vec<RunId>,
}

/// What there is before a run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessors {
    /// The run that would go on; else a new one would begin.
    pub going_on: Option<RunId>,
    /// Beside a new one: the latest run of the same inputs that is not complete.
    pub other: Option<Unfinished>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub run: RunId,
    pub service: String,
    /// Its options, unless they were pruned.
    pub options: Option<Value>,
}

#[derive(Debug, Clone)]
pub struct Ending<'a> {
    pub exit_code: u8,
    /// What stopped it, in one word.
    pub stopped_by: Option<&'a str>,
    pub requests: u64,
    /// Whether every row of the run has its outcome.
    pub complete: bool,
    /// The data rows of each input, where it was read to its end.
    pub input_rows: Vec<Option<u64>>,
    pub counts: Counts,
    pub last_read: u64,
    /// Whether rejects files are in their places and hold all its rows that have to be
    /// corrected, as far as it has come.
    pub has_rejects: bool,
}

/// What a rejects file of a run takes for its defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDefaults {
    pub service: String,
    /// As they were given to [`NewRun`]; none once they were pruned.
    pub defaults: Option<String>,
    /// The digest of the columns of each input.
    pub columns: Vec<Sha256>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtWork {
    pub run: RunId,
    pub by: LockHolder,
}

impl fmt::Display for AtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {} is being sent by {}", self.run, self.by)
    }
}
