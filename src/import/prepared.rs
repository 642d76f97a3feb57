//! An import before the question whether to send it: how it is read, to which service and
//! campaigns it goes, and which run it would be. Nothing about it is in the ledger yet.

use std::path::Path;
use std::time::Duration;

use super::campaign_list::{self, CampaignList};
use super::guards::Guards;
use super::inputs::Request;
use super::open_ledger::OpenLedger;
use super::planned_run::PlannedRun;
use super::service::ConnectedService;
use super::{inputs, moved_names, new_ledger, service};
use crate::campaign::{CampaignBook, CampaignChoice, NamesInRows};
use crate::exit::Failure;
use crate::intake::{Intake, OnUncertain, PlannedInput};
use crate::lead::CampaignId;
use crate::open_files;
use crate::options::{Given, Options};
use crate::report::Metrics;
use crate::results::{
    KnownOutputs, OutputError, OutputPaths, ReportFile, Writer, has_results_header,
};
use crate::settings::{ImportSettings, Service};

/// An import whose inputs are planned.
pub struct Import {
    pub request: Request,
    pub settings: ImportSettings,
    pub intake: Intake,
    pub metrics: Metrics,
    /// Whether a user is at the terminal.
    pub is_watched: bool,
    /// How long a service is waited for that does not list the campaigns that are named; `None`: it
    /// is asked a few times.
    pub patience: Option<Duration>,
}

/// An import that is ready to be sent.
pub struct Prepared {
    pub import: Import,
    pub book: CampaignBook,
    pub writer: Writer,
    pub report: Option<ReportFile>,
    pub reached: ConnectedService,
    pub planned: Option<PlannedRun>,
    pub campaign_list: CampaignList,
    pub guards: Guards,
    /// Whether rows name their campaigns.
    pub has_names: bool,
    /// What the user has to agree to before anything is sent.
    pub concerns: Vec<Concern>,
}

/// What may have people called a second time. It ends an import unless the user agrees.
pub struct Concern {
    pub failure: Failure,
    pub question: &'static str,
}

impl Prepared {
    /// Prepares the import. If no campaign is given, `pick` chooses one of the list.
    pub async fn new(
        mut import: Import,
        service: &Service,
        opened: Option<OpenLedger>,
        pick: impl AsyncFnOnce(&mut CampaignList) -> Result<CampaignId, Failure>,
    ) -> Result<Prepared, Failure> {
        refuse_results_files(&import.intake)?;
        inputs::refuse_doubtful(&import.intake)?;
        let paths = inputs::output_paths(&import.settings, &import.intake)?;
        let new = new_ledger::concern(&import.settings, opened.as_ref(), &paths)?;
        let new = import.for_question(new)?;
        let make = || writer(&import.settings, &import.intake, &paths, opened.as_ref());
        let writer = match &opened {
            Some(opened) => opened.await_outputs(make).await?,
            None => make()?,
        };
        let writer = writer.speaking(import.request.voice);
        // Done only when it is certain that no other run writes these files.
        import.begin_metrics(&paths)?;
        let report = inputs::report_file(&paths)?;
        let reached = service::reach(service, import.settings.timeout).await?;
        let mut campaign_list = CampaignList::new(reached.client.clone());
        if !import.settings.has_campaign() {
            let picked = pick(&mut campaign_list).await?;
            import.take_campaign(picked)?;
        }
        import.settings.policy.most_in_flight = requests_that_fit(&import, service)?;
        let names = campaign_list::names_in(&import.intake).await?;
        let book = import
            .book(&mut campaign_list, &names, opened.as_ref())
            .await?;
        let Import {
            request,
            settings,
            intake,
            ..
        } = &mut import;
        let guards = Guards::new(settings, intake, &book, &mut request.warnings).await?;
        let planned = match opened {
            Some(opened) => Some(opened.plan(settings, intake, &book, &paths).await?),
            None => None,
        };
        let moved = match &planned {
            Some(planned) => planned.moved_names(settings, intake, &book).await?,
            None => Vec::new(),
        };
        let moved = import.for_question(moved_names::concern(&moved))?;
        Ok(Prepared {
            import,
            book,
            writer,
            report,
            reached,
            planned,
            campaign_list,
            guards,
            has_names: !names.is_empty(),
            concerns: new.into_iter().chain(moved).collect(),
        })
    }
}

impl Import {
    /// Whether the user is asked before anything is sent.
    pub fn asks(&self) -> bool {
        self.is_watched && self.settings.options.delivery.yes != Some(true)
    }

    /// Looks up the campaigns that are named, when the service may be asked for them.
    async fn book(
        &self,
        campaign_list: &mut CampaignList,
        names: &NamesInRows,
        opened: Option<&OpenLedger>,
    ) -> Result<CampaignBook, Failure> {
        let campaign = self.settings.reading.campaign.as_ref();
        let looks_up = !names.is_empty() || matches!(campaign, Some(CampaignChoice::Name(_)));
        if let Some(opened) = opened.filter(|_| looks_up && self.patience.is_some()) {
            opened.await_pause(&self.settings).await?;
        }
        let looking_up = campaign_list.book(names, campaign, &self.intake, self.patience);
        looking_up.await
    }

    /// A concern that the user is asked about. Where nobody can be asked, it ends the import.
    fn for_question(&self, concern: Option<Concern>) -> Result<Option<Concern>, Failure> {
        match concern {
            Some(concern) if !self.asks() => Err(concern.failure),
            concern => Ok(concern),
        }
    }

    /// Checks that the metrics file replaces no other file, and writes it for the first time.
    fn begin_metrics(&self, paths: &OutputPaths) -> Result<(), Failure> {
        let ledger = self.settings.ledger.as_ref();
        let is_ledger = |place: &Path| ledger.is_some_and(|ledger| ledger.owns(place));
        let is_taken = |place: &Path| paths.take(place) || is_ledger(place);
        self.metrics.begin(is_taken)
    }

    /// The campaign counts as given from now on.
    fn take_campaign(&mut self, picked: CampaignId) -> Result<(), Failure> {
        let mut answer = Options::default();
        answer.mapping.campaign = Some(Given::text_of(&picked.to_string()));
        self.request.add_answer(answer);
        self.settings = self.request.settings()?;
        Ok(())
    }
}

/// The outputs, checked to be writable before anything is sent.
fn writer(
    settings: &ImportSettings,
    intake: &Intake,
    paths: &OutputPaths,
    opened: Option<&OpenLedger>,
) -> Result<Writer, Failure> {
    let known = match opened {
        Some(opened) => opened.known_outputs(paths)?,
        None => KnownOutputs::default(),
    };
    let rejects_uncertain = settings.policy.on_uncertain == OnUncertain::Resend;
    Writer::create(paths, &intake.inputs, rejects_uncertain, known)
        .map_err(OutputError::before_sending)
}

/// Refuses results files as inputs: `leadload import *.csv` must not send its own results.
pub fn refuse_results_files(intake: &Intake) -> Result<(), Failure> {
    let is_results = |planned: &&PlannedInput| {
        // With `--no-header` the header is the first row.
        let first_row: Vec<String> = planned
            .samples
            .iter()
            .map(|values| values.first().cloned().unwrap_or_default())
            .collect();
        has_results_header(&planned.header.names)
            || !planned.form.has_header && has_results_header(&first_row)
    };
    let found = intake.inputs.iter().find(is_results);
    match found.map(|planned| planned.input.name()) {
        None => Ok(()),
        Some(name) => Err(results_file(name)),
    }
}

/// A results file in place of a list: each of its rows has a phone number, also those of people who
/// must not be called.
pub fn results_file(name: &str) -> Failure {
    Failure::usage(message!(
        "`{name}` is a results file of leadload, not a list of contacts",
        "{give the list itself, for example `leadload import contacts.csv` (`*.csv` matches results files too)|choose the list itself; to send rows that could not be sent, download the rows to fix and choose those}",
        name
    ))
}

/// How many requests may be under way with the files that may be open.
fn requests_that_fit(import: &Import, service: &Service) -> Result<usize, Failure> {
    let is_sandbox = matches!(service, Service::Sandbox);
    open_files::requests_that_fit(import.intake.inputs.len(), is_sandbox)
}
