//! `--test-to`: sends one lead to the user's own number, to hear what the people on the list
//! would hear.
//!
//! Rule: nothing else happens. No run, no file, no lock, no question, and no second attempt:
//! with duplicates allowed that could be a second call. The request counts towards the rate that
//! all starts of the program share.

use std::time::Duration;

use anyhow::anyhow;
use jiff::Timestamp;
use tokio::time::{Instant, sleep_until};
use tracing::warn;

use super::prepared::{limits, refuse_results_files};
use super::record::pace;
use crate::api::wire::LeadForm;
use crate::campaign::Campaign;
use crate::commands::ask::Terminal;
use crate::commands::directory::{self, Directory};
use crate::commands::{check, inputs, service};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::intake::{Batch, InspectedInput, Intake, Purpose};
use crate::lead::{ErrorCode, RowOutcome, Status};
use crate::ledger::{AskedPause, Claim, Ledger, LedgerError, RecentUse, ServiceId, StartsInSecond};
use crate::options::Format;
use crate::phone::{PhoneNumber, PhoneReader, PhoneRules};
use crate::pipeline::{Single, send_once};
use crate::report::{Ended, InDoubt, ListNotes, Tally, TestReport, console, log_end, stop_text};
use crate::settings::{ImportSettings, Service};
use crate::stop::{Stop, StopReason};

/// A shorter wait is not mentioned.
const SHORT_WAIT: Duration = Duration::from_secs(1);

pub(super) struct TestLead {
    number: PhoneNumber,
    settings: ImportSettings,
}

/// The first ready row, as it is sent.
struct FirstReady {
    claim: Claim,
    body: bytes::Bytes,
    variables: Vec<String>,
}

impl TestLead {
    pub(super) fn new(typed: &str, settings: ImportSettings) -> Result<TestLead, Failure> {
        // The user may live in another country than the people on the list.
        let phones = PhoneReader::new(PhoneRules {
            assume_plus: settings.reading.phones.assume_plus,
            ..PhoneRules::default()
        });
        let region = settings.reading.region.as_ref();
        let number = phones.read(typed, region.map(|given| given.region));
        let number = number.map_err(|problem| {
            Failure::usage(format!(
                "the number that `--test-to` names cannot be called: {problem}\n\nhint: write it with `+` and the calling code"
            ))
        })?;
        Ok(TestLead { number, settings })
    }

    /// Sends it with the variables and to the campaign of the first ready row.
    pub(super) async fn send(
        self,
        service: &Service,
        surveyed: Vec<InspectedInput>,
        mut terminal: Terminal,
    ) -> Result<ExitCode, Failure> {
        let reading = &self.settings.reading;
        let planning = async {
            inputs::plan(reading, surveyed)
                .await?
                .protected(reading)
                .await
        };
        let intake = terminal.or_interrupted(planning).await?;
        refuse_results_files(&intake)?;
        self.refuse_suppressed(&intake)?;
        let reached = service::reach(service, limits(&self.settings)).await?;
        let mut directory = Directory::new(reached.client.clone());
        let finding = self.first_ready(&intake, &mut directory);
        let first = terminal.or_interrupted(finding).await?;
        let mut pace = SharedPace::open(&self.settings)?;
        if let Some(pace) = &mut pace {
            let turn = pace.await_turn(&self.settings);
            terminal.or_interrupted(turn).await?;
        }
        let sent = send_once(
            &reached.client,
            first.claim,
            first.body.clone(),
            self.settings.policy,
            &mut terminal.interrupts,
        )
        .await;
        if let (Some(pace), Some(pause)) = (&mut pace, sent.pause) {
            // An error only means that a later start may be throttled once.
            let _ = pace.record(Vec::new(), Some(pause));
        }
        let outcome = sent.outcome.as_ref();
        if outcome.is_some_and(|outcome| outcome.status == Status::Created) {
            // The phone rings only while the campaign is running. The lead is reported even if its
            // state is not known.
            let _ = terminal.or_interrupted(directory.list_if_possible()).await;
        }
        let campaigns = directory.listed().unwrap_or_default();
        self.report(&intake, &first, sent, campaigns, terminal.watch.seconds())
    }

    fn refuse_suppressed(&self, intake: &Intake) -> Result<(), Failure> {
        match intake.suppression.find(self.number) {
            None => Ok(()),
            Some((list, line)) => Err(Failure::usage(format!(
                "the number that `--test-to` names is on the do-not-call list `{list}`, line {line}\n\nhint: test with another number, or leave that list out"
            ))),
        }
    }

    /// The first row that would be sent, with the test number.
    async fn first_ready(
        &self,
        intake: &Intake,
        directory: &mut Directory,
    ) -> Result<FirstReady, Failure> {
        let names = directory::names_in(intake).await?;
        let campaign = self.settings.reading.campaign.as_ref();
        let book = directory.book(&names, campaign, intake).await?;
        let remembered = check::remember(&self.settings).await?;
        let mut batches = intake.start(book, Purpose::Sending, remembered.memory);
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            if let Some(first) = self.first_ready_of(intake, &batch) {
                return Ok(first);
            }
        }
        // Rows that are held back may be the reason.
        inputs::refuse_doubtful(intake)?;
        Err(Failure::usage(
            "no row is ready, so there is nothing to test with\n\nhint: `leadload check` with the same files shows why",
        ))
    }

    fn first_ready_of(&self, intake: &Intake, batch: &Batch) -> Option<FirstReady> {
        let mut rows = batch.rows.rows().zip(&batch.prepared);
        let (row, campaign) = rows.find_map(|(row, prepared)| {
            let campaign = prepared.campaign.filter(|_| prepared.outcome.is_none())?;
            Some((row, campaign))
        })?;
        let mapping = &intake.inputs[row.file()].mapping;
        let form = LeadForm {
            allow_duplicates: true,
            ..self.settings.policy.form
        };
        let variables = mapping.variables(row);
        Some(FirstReady {
            claim: Claim {
                row: row.id(),
                file: row.file(),
                line: row.line(),
                number: self.number,
                campaign,
            },
            body: form.body(self.number, campaign, variables.clone()),
            variables: variables.map(|(name, _)| name.to_owned()).collect(),
        })
    }

    fn report(
        &self,
        intake: &Intake,
        first: &FirstReady,
        sent: Single,
        campaigns: &[Campaign],
        elapsed_s: f64,
    ) -> Result<ExitCode, Failure> {
        let Single { outcome, stop, .. } = sent;
        let tally = tally(intake, &first.claim, outcome.as_ref());
        let ended = Ended {
            exit_code: tally.exit_code(stop.as_ref()),
            stop,
            requests: 1,
            in_doubt: InDoubt::default(),
            list_notes: ListNotes::default(),
            ..inputs::ended(&self.settings, intake, &tally, elapsed_s)
        };
        if let Some(stop) = &ended.stop {
            console::error(&stop_text(stop));
        }
        log_end(&ended);
        let report = TestReport {
            ended: &ended,
            claim: &first.claim,
            variables: &first.variables,
            campaigns,
            outcome: outcome.as_ref(),
        };
        let text = match self.settings.options.output.format() {
            Format::Text => report.text(),
            Format::Json => report.json(),
        };
        console::print(&text).or_stopped(StoppedBy::Disk)?;
        Ok(ended.exit_code)
    }
}

/// The one row, if it has an outcome.
fn tally(intake: &Intake, claim: &Claim, outcome: Option<&RowOutcome>) -> Tally {
    let mut tally = Tally::new(intake.inputs.len());
    if let Some(outcome) = outcome {
        let of_campaign = tally.by_campaign.entry(claim.campaign).or_default();
        of_campaign.add(outcome.status);
        tally.counts.add(outcome.status);
    }
    tally
}

/// The pace that the test shares with the runs before and after it. Limits hold for all starts of
/// the program together, which are recorded in the ledger. A test makes no ledger, and a run that
/// sends at the same time learns of it only when it is started again.
struct SharedPace {
    ledger: Ledger,
    service: ServiceId,
}

impl SharedPace {
    /// Where there is a ledger.
    fn open(settings: &ImportSettings) -> Result<Option<SharedPace>, Failure> {
        let place = settings.ledger.as_ref();
        let Some(place) = place.filter(|place| place.exists()) else {
            return Ok(None);
        };
        let mut ledger = Ledger::open(place)?;
        let service = ledger.service(&settings.service)?;
        Ok(Some(SharedPace { ledger, service }))
    }

    /// Waits until one more request may start, and counts it as started.
    async fn await_turn(&mut self, settings: &ImportSettings) -> Result<(), Failure> {
        let now = Timestamp::now();
        let recent = self.ledger.recent_use(self.service, now)?;
        let asked = recent.pause.filter(|pause| now < pause.until);
        let is_longer = |pause: &AskedPause| {
            now.duration_until(pause.until).unsigned_abs() > settings.policy.max_outage
        };
        if let Some(pause) = asked.filter(is_longer) {
            let stop = Stop::new(StopReason::AskedToWait {
                until: pause.until,
                why: ErrorCode::Http(pause.http_status),
            });
            return Err(Failure::new(stop.by(), anyhow!(stop_text(&stop))));
        }
        let mut pace = pace(&mut self.ledger, self.service, &settings.rate)?;
        while let Err(when) = pace.try_start() {
            let left = when.saturating_duration_since(Instant::now());
            if left >= SHORT_WAIT {
                let why = match asked {
                    Some(pause) => format!("as the service asked (HTTP {})", pause.http_status),
                    None => "since earlier requests have used up what may be sent".to_owned(),
                };
                let seconds = left.as_secs_f64().ceil();
                warn!(
                    event = "waiting",
                    "the test lead waits for {seconds:.0} s, {why}"
                );
            }
            sleep_until(when).await;
        }
        let started = StartsInSecond {
            second: Timestamp::now().as_second(),
            requests: 1,
        };
        Ok(self.record(vec![started], None)?)
    }

    fn record(
        &mut self,
        starts: Vec<StartsInSecond>,
        pause: Option<AskedPause>,
    ) -> Result<(), LedgerError> {
        let used = RecentUse { starts, pause };
        self.ledger.record_use(self.service, used)
    }
}
