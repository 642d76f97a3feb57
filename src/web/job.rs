//! A list on its way: the file, the settings that were chosen for it, and what has become of it.
//!
//! Promises:
//! - What was chosen is on disk before the page says so: after a kill the list is offered again
//!   with all its settings.
//! - A form is applied only to the version of the job that it was made from. Two tabs cannot
//!   overwrite each other's settings without a word.
//! - Reading, checking and sending happen on threads of their own, and a page that asks for their
//!   state never waits for them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::checking::CheckState;
use super::reading::ReadState;
use super::sending::SendState;
use super::site::Site;
use super::visit::Visit;
use crate::lead::RunId;
use crate::options::Options;
use crate::paths::folder_of;
use crate::private_file;

/// The name of the file that describes a job, in the job's folder.
const RECORD: &str = "job.json";

/// How long a page waits for work that may be done in a moment, instead of showing its progress.
const MOMENT: Duration = Duration::from_millis(150);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u64);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What is kept of a job on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobRecord {
    /// The file's name as people know it.
    pub name: String,
    /// Where the list is: a path in the job's folder, or that of a list that a command line began.
    pub list: PathBuf,
    pub options: Options,
    /// The service and the ledger that the settings are for.
    pub service: String,
    pub ledger: PathBuf,
    /// Whether the list is a copy with corrections that were made here.
    pub is_corrected: bool,
    /// Whether somebody has been through the columns and chosen what is sent.
    pub has_columns: bool,
    /// Columns that were chosen for `Only send rows where` and have no value yet.
    pub only_columns: Vec<String>,
    /// The agent's opening line, to try the names of variables in.
    pub opening_line: String,
    /// Whose settings these are, if they were taken from an earlier list.
    pub taken_from: Option<String>,
    /// The kinds of problems that were there when these settings were last used.
    pub known_problems: Vec<String>,
    /// Goes up with each change.
    pub version: u64,
    pub made_at: Timestamp,
    pub run: Option<RunId>,
}

/// The settings of a list for which nothing was chosen: what leaves this computer is chosen one by
/// one, so no column is sent.
pub fn untouched() -> Options {
    let mut options = Options::default();
    options.mapping.var = Some(Vec::new());
    options
}

impl JobRecord {
    pub fn new(site: &Site, name: String, list: PathBuf) -> JobRecord {
        let ledger = site.ledger_place().ok().flatten();
        JobRecord {
            name,
            list,
            options: untouched(),
            service: site.service_name(),
            ledger: ledger.map(|place| place.absolute()).unwrap_or_default(),
            is_corrected: false,
            has_columns: false,
            only_columns: Vec::new(),
            opening_line: String::new(),
            taken_from: None,
            known_problems: Vec::new(),
            version: 1,
            made_at: Timestamp::now(),
            run: None,
        }
    }
}

impl JobRecord {
    /// The record of the job in a folder.
    pub fn read(folder: &Path) -> io::Result<JobRecord> {
        Ok(serde_json::from_slice(&fs::read(folder.join(RECORD))?)?)
    }

    /// The campaign as people call it.
    pub fn campaign_name(&self, visit: &Visit) -> String {
        match self.options.mapping.campaign.as_deref() {
            Some(chosen) => visit.site.campaigns.name(chosen),
            None => "the campaigns of the list".to_owned(),
        }
    }
}

/// A job and what its threads have found out so far.
#[derive(Debug)]
pub struct Job {
    pub id: JobId,
    pub folder: PathBuf,
    state: Mutex<JobState>,
    /// Wakes pages that wait for a moment.
    changed: Notify,
}

#[derive(Debug)]
pub struct JobState {
    pub record: JobRecord,
    pub read: ReadState,
    pub check: CheckState,
    pub sending: SendState,
    /// Whether nothing is ticked, and the user is asked whether that is right.
    pub asks_about_nothing: bool,
    /// Whether the user has been asked for the country of numbers without one.
    pub has_asked_for_country: bool,
}

/// Why a change was not made.
#[derive(Debug)]
pub enum NotChanged {
    /// The form was made from an earlier version of the job.
    Stale,
    /// The list is being sent, so its settings stay as they are.
    BeingSent,
    /// It cannot be written down.
    Io(io::Error),
}

impl Job {
    pub fn new(id: JobId, folder: PathBuf, record: JobRecord) -> Job {
        Job {
            id,
            folder,
            state: Mutex::new(JobState {
                record,
                read: ReadState::default(),
                check: CheckState::default(),
                sending: SendState::default(),
                asks_about_nothing: false,
                has_asked_for_country: false,
            }),
            changed: Notify::new(),
        }
    }

    /// The job that is kept in a folder.
    pub fn open(id: JobId, folder: PathBuf) -> io::Result<Job> {
        let record = JobRecord::read(&folder)?;
        Ok(Job::new(id, folder, record))
    }

    pub fn state(&self) -> MutexGuard<'_, JobState> {
        // Nothing that can panic happens while the state is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn record(&self) -> JobRecord {
        self.state().record.clone()
    }

    /// Writes the record down.
    pub fn save(&self) -> io::Result<()> {
        self.write(&self.record())
    }

    fn write(&self, record: &JobRecord) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(record)?;
        private_file::replace(&self.folder.join(RECORD), &text, None)
    }

    /// Changes the settings, if `version` is still the present one. What was found out with the
    /// earlier settings is dropped.
    pub fn change(
        &self,
        version: u64,
        change: impl FnOnce(&mut JobRecord),
    ) -> Result<(), NotChanged> {
        let mut state = self.state();
        if state.record.version != version {
            return Err(NotChanged::Stale);
        }
        if state.sending.is_at_work() {
            return Err(NotChanged::BeingSent);
        }
        let mut record = state.record.clone();
        change(&mut record);
        record.version += 1;
        self.write(&record).map_err(NotChanged::Io)?;
        if record.list != state.record.list || !reads_alike(&record.options, &state.record.options)
        {
            state.read = ReadState::default();
        }
        state.check = CheckState::default();
        state.record = record;
        drop(state);
        self.has_changed();
        Ok(())
    }

    /// Notes which run sends this list.
    pub fn begin_run(&self, run: RunId) {
        let mut state = self.state();
        state.record.run = Some(run);
        let record = state.record.clone();
        drop(state);
        // The ledger knows the run and the path of its list too.
        let _ = self.write(&record);
    }

    /// Wakes the pages that wait for a moment.
    pub fn has_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `is_done`, but only for a moment.
    pub async fn await_moment(self: &Arc<Job>, is_done: impl Fn(&JobState) -> bool) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if is_done(&self.state()) {
                    return;
                }
                changed.await;
            }
        };
        // Otherwise the page shows how far it is.
        let _ = tokio::time::timeout(MOMENT, waiting).await;
    }

    /// A file beside the list, in the job's folder: its name is that of the list with another
    /// ending.
    pub fn beside_list(&self, ending: &str) -> PathBuf {
        let record = self.record();
        let stem = Path::new(&record.name).file_stem().unwrap_or_default();
        let mut name = stem.to_owned();
        name.push(ending);
        let is_own = record.list.starts_with(&self.folder);
        let folder = is_own.then(|| folder_of(&record.list));
        folder.unwrap_or(&self.folder).join(name)
    }

    /// A new folder for a file that is about to arrive: files with the same name do not meet.
    pub fn new_folder(&self) -> io::Result<PathBuf> {
        new_folder_in(&self.folder)
    }
}

/// A new private folder with a number as its name.
pub fn new_folder_in(folder: &Path) -> io::Result<PathBuf> {
    private_file::folders().create(folder)?;
    let mut numbers = 1..;
    loop {
        let new = folder.join(numbers.next().unwrap_or(0_u64).to_string());
        if fs::symlink_metadata(&new).is_err() {
            private_file::folders().create(&new)?;
            return Ok(new);
        }
    }
}

/// Whether two sets of options read a file in the same way.
fn reads_alike(one: &Options, other: &Options) -> bool {
    let form = |options: &Options| {
        let fields = options.reading.fields();
        let texts = fields.iter().map(|(_, field)| field.texts());
        texts.collect::<Vec<_>>()
    };
    form(one) == form(other)
}
