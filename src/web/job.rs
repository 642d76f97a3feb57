//! A list on its way: the file, the settings that were chosen for it, and what has become of it.
//!
//! Promises:
//! - What was chosen is on disk before the page says so: after a kill the list is offered again
//!   with all its settings.
//! - A form is applied only to the version of the job that it was made from. Two tabs cannot
//!   overwrite each other's settings without a word.
//! - Reading, checking and sending happen on threads of their own, and a page that asks for their
//!   state never waits for them, nor for the disk.
//! - A list that is being sent, or waits for its turn, keeps its settings. So what is sent is what
//!   was shown, whatever is pressed at the same moment in two tabs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::checking::Checked;
use super::corrections::CorrectState;
use super::reading::ListFacts;
use super::sending::{SendState, Sending};
use super::site::Site;
use super::test_call::TestState;
use super::trouble::Trouble;
use super::visit::Visit;
use super::work::{self, WorkState};
use crate::intake::InspectedInput;
use crate::lead::RunId;
use crate::options::Options;
use crate::paths::{folder_of, is_within};
use crate::private_file;

/// The name of the file that describes a job, in the job's folder.
pub const RECORD: &str = "job.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u64);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What is kept of a job on disk.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct JobRecord {
    /// The file's name as people know it.
    pub name: String,
    /// Where the list is: a path in the job's folder, or that of a list that a command line began.
    pub list: PathBuf,
    pub options: Options,
    /// The service and the ledger that the settings are for.
    pub service: String,
    pub ledger: PathBuf,
    /// What rows to fix of a check say of where they are from: `list-` and a random number.
    pub label: String,
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
    /// Whether they are, and may have been changed since.
    pub has_earlier_settings: bool,
    /// The kinds of problems that were there when these settings were last used.
    pub known_problems: Vec<String>,
    /// Goes up with each change.
    pub version: u64,
    pub made_at: Timestamp,
    /// The run that sends this list with these settings.
    pub run: Option<RunId>,
    /// Runs that sent an earlier version of the list, or sent it with other settings.
    pub earlier_runs: Vec<RunId>,
    /// The folder of its outputs in the job's folder; empty for beside the list. Another run of
    /// this list has outputs of its own.
    pub outputs: String,
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
            label: format!("list-{:016x}", fastrand::u64(..)),
            is_corrected: false,
            has_columns: false,
            only_columns: Vec::new(),
            opening_line: String::new(),
            taken_from: None,
            has_earlier_settings: false,
            known_problems: Vec::new(),
            version: 1,
            made_at: Timestamp::now(),
            run: None,
            earlier_runs: Vec::new(),
            outputs: String::new(),
        }
    }

    /// The record of the job in a folder.
    pub fn read(folder: &Path) -> io::Result<JobRecord> {
        Ok(serde_json::from_slice(&fs::read(folder.join(RECORD))?)?)
    }

    /// All runs that sent versions of this list.
    pub fn runs(&self) -> impl Iterator<Item = RunId> {
        self.run
            .into_iter()
            .chain(self.earlier_runs.iter().copied())
    }

    /// Forgets what was said about words of a list, since another list has other words.
    pub fn forget_answers(&mut self) {
        let mapping = &mut self.options.mapping;
        (mapping.unclear_marks, mapping.empty_consent) = (None, None);
    }

    /// What is sent from now on belongs to another run.
    pub fn end_run(&mut self) {
        self.earlier_runs.extend(self.run.take());
    }

    pub fn has_campaign(&self) -> bool {
        let mapping = &self.options.mapping;
        mapping.campaign.is_some() || mapping.campaign_column.is_some()
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
    /// Held while the record is changed or a run begins, and taken before the state: so the state
    /// is free while the disk is at work.
    changing: Mutex<()>,
    state: Mutex<JobState>,
    /// Wakes pages that wait for a moment.
    changed: Notify,
    /// Held while a file is made for a download: two of them have the same name.
    pub making_file: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
pub struct JobState {
    pub record: JobRecord,
    pub read: WorkState<ListFacts>,
    pub check: WorkState<Checked>,
    pub sending: SendState,
    pub corrections: CorrectState,
    pub test: TestState,
    /// The numbers of the test calls that have begun, the last one at the end.
    pub tests: Vec<String>,
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
    /// What it needs cannot be made.
    Failed(Trouble),
}

impl Job {
    pub fn new(id: JobId, folder: PathBuf, record: JobRecord) -> Job {
        Job {
            id,
            folder,
            changing: Mutex::default(),
            state: Mutex::new(JobState {
                record,
                read: WorkState::default(),
                check: WorkState::default(),
                sending: SendState::default(),
                corrections: CorrectState::default(),
                test: TestState::default(),
                tests: Vec::new(),
                asks_about_nothing: false,
                has_asked_for_country: false,
            }),
            changed: Notify::new(),
            making_file: tokio::sync::Mutex::default(),
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

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
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
        let _changing = self.changing();
        let mut record = self.state().of_version(version)?.clone();
        if record.run.is_some() {
            record.outputs = format!("outputs-{version}");
        }
        change(&mut record);
        record.version += 1;
        self.write(&record).map_err(NotChanged::Io)?;
        let mut state = self.state();
        let is_other_list = record.list != state.record.list;
        if is_other_list || !reads_alike(&record.options, &state.record.options) {
            state.read = WorkState::default();
        }
        if is_other_list {
            state.has_asked_for_country = false;
        }
        if is_other_list || matches!(state.sending, SendState::Failed(_)) {
            state.sending = SendState::default();
        }
        if !state.test.is_at_work() {
            state.test = TestState::default();
        }
        state.asks_about_nothing = false;
        state.check = WorkState::default();
        // The work that makes this change says itself what has become of all corrections.
        if !state.corrections.is_at_work() {
            state.corrections = CorrectState::default();
        }
        state.record = record;
        drop(state);
        self.has_changed();
        Ok(())
    }

    /// Whether the list is in the job's folder, where nothing but the page changes it.
    pub fn has_own(&self, list: &Path) -> bool {
        is_within(list, &self.folder)
    }

    /// The list as it has been read, unless somebody may have changed it since then.
    pub fn inspected(&self, record: &JobRecord) -> Option<InspectedInput> {
        let facts = self.state().read.done();
        let facts = facts.filter(|_| self.has_own(&record.list));
        facts.map(|facts| facts.inspected.clone())
    }

    /// Lets the list be sent or wait for its turn, unless it is already: with the settings of
    /// `version`, or with those that there are.
    pub fn begin_sending(
        &self,
        version: Option<u64>,
        sending: Sending,
    ) -> Result<JobRecord, NotChanged> {
        let _changing = self.changing();
        let mut state = self.state();
        // Only a run that was begun goes on with what there is.
        let present = state.record.run.map(|_| state.record.version);
        let version = version.or(present).ok_or(NotChanged::Stale)?;
        let record = state.of_version(version)?.clone();
        state.sending = SendState::Sending(sending);
        drop(state);
        self.has_changed();
        Ok(record)
    }

    /// The list has been sent, or has not. What a check has found may not be true any more.
    pub fn end_sending(&self, ended: SendState) {
        let mut state = self.state();
        state.sending = ended;
        state.check = WorkState::default();
        drop(state);
        self.has_changed();
    }

    /// Notes which run sends this list, with the problems that it has. Forms that were made before
    /// are stale from now on.
    pub fn begin_run(&self, run: RunId, problems: Option<Vec<String>>) {
        let _changing = self.changing();
        let mut record = self.record();
        record.end_run();
        // The same list with the same settings goes on with its run.
        record.earlier_runs.retain(|earlier| *earlier != run);
        record.run = Some(run);
        record.version += 1;
        record.known_problems = problems.unwrap_or(record.known_problems);
        // The ledger knows the run and the path of its list too.
        let _ = self.write(&record);
        self.state().record = record;
    }

    /// Has the age of the list count from this time.
    pub fn count_as_made(&self, at: Timestamp) {
        let _changing = self.changing();
        let mut record = self.record();
        record.made_at = at;
        // If it cannot be written, it is found again at the next start.
        let _ = self.write(&record);
        self.state().record.made_at = at;
    }

    /// Wakes the pages that wait for a moment.
    pub fn has_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `is_done`.
    pub async fn wait(&self, is_done: impl Fn(&JobState) -> bool) {
        work::wait(&self.changed, || is_done(&self.state())).await;
    }

    /// Waits until `is_done`, but not beyond this time: the page then shows how far the work is.
    pub async fn wait_until(&self, time: Instant, is_done: impl Fn(&JobState) -> bool) {
        let _ = tokio::time::timeout_at(time.into(), self.wait(is_done)).await;
    }

    /// Where a file of the next run is to be, in the job's folder: its name is that of the list
    /// with another ending.
    pub fn output(&self, ending: &str) -> PathBuf {
        let record = self.record();
        let stem = Path::new(&record.name).file_stem().unwrap_or_default();
        let mut name = stem.to_owned();
        name.push(ending);
        let beside = self.has_own(&record.list) && record.outputs.is_empty();
        let beside = beside.then(|| folder_of(&record.list).to_owned());
        let folder = beside.unwrap_or_else(|| self.folder.join(&record.outputs));
        folder.join(name)
    }

    /// A new folder for a file that is about to arrive: files with the same name do not meet. It
    /// goes unless it is kept.
    pub fn new_folder(&self) -> io::Result<TempDir> {
        new_folder_in(&self.folder)
    }
}

impl JobState {
    /// Notes that the user is asked for the country of numbers without one, if that is to be asked.
    pub fn asks_for_country(&mut self) {
        if let Some(checked) = self.check.done() {
            self.has_asked_for_country |= checked.without_country.is_some();
        }
    }

    /// The record, if it is of this version and may be changed.
    fn of_version(&self, version: u64) -> Result<&JobRecord, NotChanged> {
        if self.record.version != version {
            return Err(NotChanged::Stale);
        }
        if self.sending.is_at_work() {
            return Err(NotChanged::BeingSent);
        }
        Ok(&self.record)
    }
}

/// A new private folder in this one, which goes unless it is kept.
pub fn new_folder_in(folder: &Path) -> io::Result<TempDir> {
    private_file::folders().create(folder)?;
    let mut folders = private_file::temporary_folders();
    folders.prefix("file-").tempdir_in(folder)
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
