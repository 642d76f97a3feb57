//! What the ledger records about a whole run.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::ServiceId;
use super::row::Row;
use super::store::Failed;
use crate::lead::{Counts, RowId, RunId, RunName, RunTag};
use crate::rate::Rate;

/// The option of a run, in seconds, until when the service may still make a lead.
pub const TIMEOUT: &str = "timeout";

pub type Sha256 = [u8; 32];

/// A run that is about to begin or to continue.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub service: ServiceId,
    /// A digest of everything that makes a run the same run.
    pub identity: Sha256,
    /// What `identity` digests, in words: an object of names and values. `campaign` is the campaign
    /// as the user gave it, `campaign_ids` an object of campaign names and their ids, and
    /// `timeout` that of its requests, in seconds, which is not part of the identity.
    pub options: Value,
    /// The defaults for a rejects file of this run, as JSON.
    pub defaults: String,
    /// Whether a complete run continues if it has uncertain rows: if
    /// leads are known by run and row, no other run can send them.
    pub reopens: bool,
    pub sending: Sending,
    /// What was found before: if that has changed, it does not begin.
    pub expected: LatestRun,
    pub inputs: Vec<InputRecord>,
    pub lists: Vec<ListRecord>,
    /// The files that this start will write, with absolute paths.
    pub outputs: Vec<(PathBuf, OutputKind)>,
}

impl NewRun {
    /// Its options, with the longest `timeout` of its starts: so long after its last attempt the service
    /// may still make a lead.
    pub(super) fn options_after(&self, earlier: Option<&Value>) -> Cow<'_, Value> {
        let seconds = |of: &Value| of.get(TIMEOUT).and_then(Value::as_f64);
        let longer = earlier.filter(|earlier| seconds(earlier) > seconds(&self.options));
        let Some(longer) = longer.map(|earlier| &earlier[TIMEOUT]) else {
            return Cow::Borrowed(&self.options);
        };
        let mut options = self.options.clone();
        if let Some(all) = options.as_object_mut() {
            all.insert(TIMEOUT.to_owned(), longer.clone());
        }
        Cow::Owned(options)
    }
}

/// What matters of a run to others that send to the same service at the same time.
#[derive(Debug, Clone, Default)]
pub struct Sending {
    pub claims: ClaimScope,
    /// The `--timeout` of its requests: for so long after its
    /// lease one of them may still be on its way.
    pub timeout: Duration,
    /// How long it waits for a ledger that is out of reach.
    pub patience: Duration,
    /// The limits that it keeps to at first.
    pub limits: Vec<Rate>,
}

/// In what a number, or a row, is claimed once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimScope {
    /// A number in each campaign.
    #[default]
    Campaign,
    /// A number in all campaigns of the service.
    Service,
    /// A row of the run, since duplicates are allowed.
    Row,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputRecord {
    /// As the user named it; `None` if it was pruned.
    pub name: Option<String>,
    /// Its absolute path; `None` for standard input, and if it was pruned.
    pub path: Option<PathBuf>,
    pub sha256: Sha256,
    pub bytes: u64,
    /// A digest of the names of its columns.
    pub columns: Sha256,
    /// Its data rows; `None` until it has been read to its end.
    pub rows: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRecord {
    /// As the user named it; `None` if it was pruned.
    pub name: Option<String>,
    pub sha256: Sha256,
    pub numbers: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    Results,
    Rejects,
    /// What became of the leads of a run that was undone.
    Undo,
}

impl OutputKind {
    pub(super) const ALL: [OutputKind; 3] =
        [OutputKind::Results, OutputKind::Rejects, OutputKind::Undo];

    /// The word used in the ledger and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            OutputKind::Results => "results",
            OutputKind::Rejects => "rejects",
            OutputKind::Undo => "undo",
        }
    }
}

/// A file that a run has written or begun to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputRecord {
    pub run: RunId,
    /// Its absolute path; `None` if it was pruned.
    pub path: Option<PathBuf>,
    pub kind: OutputKind,
    /// The digest of its content; `None` until it is complete.
    pub sha256: Option<Sha256>,
    /// Its rows without the header; `None` until it is complete.
    pub rows: Option<u64>,
    /// What lies at its path; `None` as long as nobody has looked, and where nobody can tell.
    pub state: Option<OutputState>,
}

/// What became of a file that a run has completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputState {
    /// It lies at its path, byte for byte.
    AsWritten,
    /// Something else lies there.
    Changed,
    Gone,
    /// It is not here: another computer has written it.
    Elsewhere,
}

impl OutputState {
    /// The word used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            OutputState::AsWritten => "as_written",
            OutputState::Changed => "changed",
            OutputState::Gone => "gone",
            OutputState::Elsewhere => "elsewhere",
        }
    }
}

impl OutputRecord {
    pub fn is_as_written(&self) -> bool {
        self.state == Some(OutputState::AsWritten)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    pub run: RunId,
    /// See [`RunName`](crate::lead::RunName).
    pub tag: Option<RunTag>,
    /// The number of this start among the run's starts, from 1.
    pub start: u32,
    pub continues: bool,
    /// The highest row that was ever claimed; 0 if there is none.
    pub reached: u64,
    /// The highest row in a file that an earlier start has left; 0 if there is none.
    pub read_to: u64,
    /// The runs whose rows are all rows of this run too.
    pub covers: Vec<RunId>,
}

impl Begun {
    pub fn name(&self) -> RunName {
        RunName {
            run: self.run,
            tag: self.tag,
        }
    }
}

/// Why a run has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotBegun {
    /// Another process is at it.
    Busy(AtWork),
    /// Another process has begun or completed it since it was looked at.
    Changed,
}

/// The latest run of an identity, if it goes on or was undone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LatestRun {
    /// The run that would continue; `None` if a new one would begin.
    pub going_on: Option<RunId>,
    pub undone: Option<RunId>,
}

/// Earlier runs, as found before a run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessors {
    pub latest: LatestRun,
    /// If a new one would begin: the latest run of the same inputs that is not complete.
    pub other: Option<Unfinished>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    pub run: RunId,
    pub service: String,
    /// Its options; `None` if they were pruned.
    pub options: Option<Value>,
}

#[derive(Debug, Clone, Default)]
pub struct StartEnd<'a> {
    pub exit_code: u8,
    /// What stopped it, in one word.
    pub stopped_by: Option<&'a str>,
    pub requests: u64,
    /// Whether every row of the run has its outcome.
    pub complete: bool,
    /// The data rows of each input; `None` if it was not read to its end.
    pub input_rows: Vec<Option<u64>>,
    pub counts: Counts,
    pub last_read: u64,
    /// Whether the rejects files are in their places and hold every
    /// row that has to be corrected, of the rows that were read.
    pub has_rejects: bool,
    /// Rows in them that the same command tries again, so that they are not known to be bad.
    pub tried_again: &'a [RowId],
}

/// The defaults for a rejects file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDefaults {
    pub tag: Option<RunTag>,
    pub service: String,
    /// As they were given in [`NewRun`]; `None` if they were pruned.
    pub defaults: Option<String>,
    /// The digest of the columns of each input.
    pub columns: Vec<Sha256>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs whose cells, texts and file names were removed.
    pub runs: u64,
    /// Rows of these runs that had a cell or a text.
    pub rows: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    pub process: u32,
    pub host: String,
    /// The name of its user; `None` if an older version has recorded it.
    pub user: Option<String>,
    pub since: Timestamp,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockHolder { process, host, .. } = self;
        let of = of(self.user.as_deref());
        let since = self.since.strftime("%Y-%m-%d %H:%M:%S UTC");
        write!(f, "process {process}{of} on {host}, since {since}")
    }
}

/// Whose process it is, as far as that is known: ` of ada`.
pub(super) fn of(user: Option<&str>) -> String {
    user.map_or_else(String::new, |user| format!(" of {user}"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtWork {
    pub run: RunId,
    pub by: LockHolder,
}

impl AtWork {
    /// Reads a start with its process.
    pub(super) fn read(row: &Row<'_>) -> Result<AtWork, Failed> {
        Ok(AtWork {
            run: row.get("run")?,
            by: LockHolder {
                process: row.get("process")?,
                host: row.get("host")?,
                user: row.get("started_by")?,
                since: row.get("began_at")?,
            },
        })
    }

    /// Whose run it is, and where: `run 3 of ada on desk`.
    pub fn whose(&self) -> String {
        let of = of(self.by.user.as_deref());
        format!("run {}{of} on {}", self.run, self.by.host)
    }
}

impl fmt::Display for AtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another run is sending: run {}, {}", self.run, self.by)
    }
}

/// The lease of a process that sends a run.
#[derive(Debug, Clone)]
pub struct LiveLease {
    pub at_work: AtWork,
    /// When it runs out, by the ledger's clock.
    pub until: Timestamp,
    /// How long that is from now.
    pub left: Duration,
}
