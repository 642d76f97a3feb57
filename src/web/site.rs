//! What all pages share: the settings that the program was started with, the service and the jobs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::campaigns::Campaigns;
use super::do_not_call::ChangeNotice;
use super::follow_ups::FollowUps;
use super::job::{JobId, JobRecord};
use super::jobs::Jobs;
use super::work::WorkState;
use tokio::sync::{Notify, Semaphore};

use crate::api::{BaseUrl, Certificates, Token};
use crate::campaign::Campaign;
use crate::command_line::CommandLine;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::listed_by;
use crate::import::{Request, Warnings};
use crate::ledger::{Ledger, LedgerPlace};
use crate::message::Voice;
use crate::options::{Given, Options, Progress};
use crate::paths::folder_of;
use crate::private_file;
use crate::report::{Log, list_name};
use crate::results::OutputChoice;
use crate::sandbox::{Sandbox, SandboxConfig};
use crate::settings::{Connection, Layers, Service, environment, ledger_place};

/// How many lists of text are remembered, with what was found in them.
const REMEMBERED: usize = 4;

/// The folder of a practice, beside that of the jobs.
const PRACTICE: &str = "practice";

#[derive(Debug)]
pub struct Site {
    pub log: Log,
    pub jobs: Jobs,
    pub campaigns: Campaigns,
    /// The right to send: one list is sent at a time.
    pub turn: Semaphore,
    pub follow_ups: FollowUps,
    /// What the last change of the do-not-call list came to, until a screen has said it.
    pub told: Mutex<Option<ChangeNotice>>,
    /// Every access token that was in use since the start.
    tokens: Mutex<Vec<Token>>,
    /// Held while a job is made for a run of a command line.
    pub adopting: tokio::sync::Mutex<()>,
    /// The lists that were read lately, the latest first.
    lately: Mutex<Vec<JobId>>,
    /// The options that the program was started with.
    typed: Options,
    practice: Option<TrialService>,
    /// Ends the program.
    pub quit: Arc<Notify>,
}

/// The service, the ledger and the lists of a practice: they end with the program.
struct TrialService {
    sandbox: Sandbox,
    folder: tempfile::TempDir,
}

impl std::fmt::Debug for TrialService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TrialService")
    }
}

impl Site {
    /// Opens the jobs in `folder`; those of a practice are in a folder that ends with the program.
    pub fn open(mut typed: Options, folder: PathBuf, log: Log) -> Result<Site, Failure> {
        let is_practice = typed.connection.sandbox == Some(true);
        let practice = is_practice.then(|| TrialService::start(folder_of(&folder)));
        let practice = practice.transpose();
        let practice = practice.stopped_by(StoppedBy::Disk)?;
        let folder = match &practice {
            Some(practice) => {
                let own = practice.folder.path();
                let ledger = own.join("ledger.sqlite3");
                let ledger = || Given::new(ledger.clone(), ledger.clone());
                typed.ledger.ledger.get_or_insert_with(ledger);
                own.join("jobs")
            }
            None => folder,
        };
        // The page shows the progress; standard error has log lines alone.
        typed.output.progress = Some(Given::new(Progress::Never, "never"));
        Ok(Site {
            log,
            jobs: Jobs::open(folder).stopped_by(StoppedBy::Disk)?,
            campaigns: Campaigns::default(),
            turn: Semaphore::new(1),
            follow_ups: FollowUps::default(),
            told: Mutex::default(),
            tokens: Mutex::default(),
            adopting: tokio::sync::Mutex::default(),
            lately: Mutex::default(),
            typed,
            practice,
            quit: Arc::new(Notify::new()),
        })
    }

    /// The name of the service in the ledger.
    pub fn service_name(&self) -> String {
        let layers = self.layers(&Options::default());
        let name = layers
            .ok()
            .and_then(|layers| Service::name(&layers.options()).ok());
        name.flatten().unwrap_or_default()
    }

    pub fn is_practice(&self) -> bool {
        self.practice.is_some()
    }

    /// The settings as they are now: the profile is read again, since it may have been set up
    /// meanwhile.
    pub fn layers(&self, of_job: &Options) -> Result<Layers, Failure> {
        let mut options = of_job.clone();
        if let Some(own) = &mut options.phones.suppress {
            // The do-not-call lists of the profile apply too.
            let of_profile = self.layers(&Options::default())?.given().phones.suppress;
            let of_profile = of_profile.into_iter().flatten();
            let missing: Vec<_> = of_profile.filter(|list| !own.contains(list)).collect();
            own.splice(0..0, missing);
        }
        options.complete(&self.typed);
        // A profile's results files are for lists of the command line.
        let writes_outputs = false;
        let (layers, checked) = Layers::load(options, environment(), true, writes_outputs);
        checked.stopped_by(StoppedBy::Usage)?;
        Ok(layers)
    }

    /// The service that these settings give.
    pub fn service(&self, layers: &Layers) -> Result<Service, Failure> {
        let Some(practice) = &self.practice else {
            let mut service = Service::new(layers).stopped_by(StoppedBy::Usage)?;
            if let Service::At(connection) = &mut service {
                connection.token = self.after_others(connection.token.clone());
            }
            return Ok(service);
        };
        let base_url = BaseUrl::parse(&practice.sandbox.base_url(), false);
        let token = Token::from_text(practice.sandbox.token(), "the sandbox's token");
        Ok(Service::At(Connection {
            base_url: base_url.stopped_by(StoppedBy::Usage)?,
            token: token.stopped_by(StoppedBy::Usage)?,
            certificates: Certificates::default(),
        }))
    }

    /// The token, which may be another one than before. All of them stay masked.
    fn after_others(&self, token: Token) -> Token {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &Token| known.expose() == token.expose();
        if !tokens.iter().any(is_it) {
            tokens.push(token.clone());
        }
        token.after(&tokens)
    }

    /// Whether there is a service to send to.
    pub fn has_service(&self) -> bool {
        let layers = self.layers(&Options::default());
        layers.is_ok_and(|layers| self.service(&layers).is_ok())
    }

    /// The options of a job with those of the profile, which the screens show too: a do-not-call
    /// list or a rule of the profile must not disappear without a word. What is told to the agent
    /// is chosen in the page alone.
    pub fn options_of(&self, record: &JobRecord) -> Options {
        let layers = self.layers(&record.options);
        let mut options = layers.map_or_else(|_| record.options.clone(), |layers| layers.given());
        options.mapping.var.clone_from(&record.options.mapping.var);
        options
    }

    /// The request to read and send a job's list.
    pub fn request(&self, record: &JobRecord) -> Result<Request, Failure> {
        let path = &record.list;
        let args = ["leadload".into(), "import".into(), path.clone().into()];
        Ok(Request {
            files: vec![path.clone()],
            unnamed: OutputChoice::BesideInput,
            only_checks: false,
            layers: self.layers(&record.options)?,
            line: CommandLine::of(&args),
            warnings: Warnings::default(),
            has_settings_of_rejects: record.has_earlier_settings,
            asks_for_settings: true,
            voice: Voice::Page,
        })
    }

    /// Which list another program is sending, in words.
    pub fn who_sends(&self) -> String {
        let service = self.service_name();
        let runs = self
            .ledger()
            .ok()
            .flatten()
            .and_then(|ledger| ledger.runs().ok());
        let mut runs = runs.iter().flatten();
        let run = runs.find(|run| run.is_at_work && run.service == service);
        let what = run.map_or_else(|| "A list".to_owned(), list_name);
        format!(
            "{what} is being sent by another leadload on this computer. This list starts after it."
        )
    }

    pub async fn list_campaigns(&self) -> Result<Vec<Campaign>, Failure> {
        let layers = self.layers(&Options::default())?;
        listed_by(&self.service(&layers)?).await
    }

    pub fn ledger_place(&self) -> Result<Option<LedgerPlace>, Failure> {
        let layers = self.layers(&Options::default())?;
        ledger_place(&layers.options()).stopped_by(StoppedBy::Usage)
    }

    /// Whether several people on several computers may share the ledger.
    pub fn is_shared(&self) -> bool {
        matches!(self.ledger_place(), Ok(Some(LedgerPlace::Server(_))))
    }

    /// The ledger, for reading; `None` if nothing is in it yet.
    pub fn ledger(&self) -> Result<Option<Ledger>, Failure> {
        let place = self.ledger_place()?;
        Ok(place.as_ref().map(Ledger::read).transpose()?.flatten())
    }

    /// Frees the memory that other lists take: spreadsheets, which are held whole, and lists of
    /// text that were not read lately.
    pub fn forget_facts_but(&self, job: JobId) {
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        lately.retain(|other| *other != job);
        lately.insert(0, job);
        lately.truncate(REMEMBERED);
        for other in self.jobs.newest_first() {
            let mut state = other.state();
            let is_spreadsheet = state
                .read
                .done()
                .is_some_and(|facts| facts.is_spreadsheet());
            let is_kept = lately.contains(&other.id) && !is_spreadsheet;
            // A check that ended here would begin again, and so might never end.
            let is_checking = state.check.is_at_work();
            let is_idle = !state.sending.is_at_work() && state.read.is_over() && !is_checking;
            if other.id != job && is_idle && !is_kept {
                state.read = WorkState::default();
                state.check = WorkState::default();
            }
        }
    }
}

impl TrialService {
    /// Starts a practice with a folder in this one.
    fn start(within: &Path) -> io::Result<TrialService> {
        private_file::folders().create(within)?;
        // What a practice has left that was killed.
        match fs::remove_dir_all(within.join(PRACTICE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut folders = private_file::temporary_folders();
        let config = SandboxConfig {
            keep_variables: Some(false),
            ..SandboxConfig::default()
        };
        Ok(TrialService {
            sandbox: Sandbox::start(config)?,
            folder: folders.prefix(PRACTICE).rand_bytes(0).tempdir_in(within)?,
        })
    }
}
