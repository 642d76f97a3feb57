//! `--test-to`: sends one lead to the user's own number, so
//! the user hears what the people on the list would hear.
//!
//! Rule: nothing else happens. There is no run, no file, no lock, no question,
//! and no second attempt: with duplicates allowed that could be a second call.
//! The request counts towards the rate that all starts of the program share.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};
use tracing::warn;

use super::campaign_list::{self, CampaignList};
use super::guards::Guards;
use super::inputs::{self, Request};
use super::open_ledger::{asked_pause, pace};
use super::prepared::refuse_results_files;
use super::remembered::remember;
use super::service::{self, Reached};
use crate::api::wire::LeadForm;
use crate::clock::{self, Slept};
use crate::exit::Failure;
use crate::intake::{Batch, InspectedInput, Intake, Purpose};
use crate::lead::RowOutcome;
use crate::ledger::{
    AskedPause, Claim, Ledger, LedgerError, RecentUse, SenderId, ServiceId, StartsInSecond,
};
use crate::phone::{PhoneNumber, PhoneRules};
use crate::pipeline::{Single, send_once};
use crate::report::Tally;
use crate::screen::Listing;
use crate::settings::{ImportSettings, Service};
use crate::signals::Interrupts;

/// Waits shorter than this are not reported.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// The lead for the first ready row, with the number of the test.
pub struct TestLead {
    pub settings: ImportSettings,
    pub intake: Intake,
    pub claim: Claim,
    pub variables: Vec<String>,
    pub campaign_list: CampaignList,
    body: Bytes,
    reached: Reached,
    pace: Option<SharedPace>,
}

/// What became of a test lead.
pub struct TestSent {
    pub single: Single,
    /// A tally of the one row, if it has an outcome.
    pub tally: Tally,
}

impl TestLead {
    /// Prepares the test lead, and waits until the next request may start.
    pub async fn prepare(
        request: &Request,
        service: &Service,
        surveyed: Vec<InspectedInput>,
    ) -> Result<TestLead, Failure> {
        let settings = request.settings()?;
        if !settings.has_campaign() {
            return Err(campaign_list::no_campaign());
        }
        let number = number(&settings)?;
        let mut warnings = request.warnings.clone();
        let intake = inputs::plan(&settings.reading, surveyed).await?;
        let intake = inputs::protect(intake, &settings, &mut warnings).await?;
        refuse_results_files(&intake)?;
        if let Some(listing) = intake.suppression.find(number) {
            return Err(on_a_list(listing));
        }
        let reached = service::reach(service, settings.timeout).await?;
        let mut campaign_list = CampaignList::new(reached.client.clone());
        let names = campaign_list::names_in(&intake).await?;
        let campaign = settings.reading.campaign.as_ref();
        let book = campaign_list.book(&names, campaign, &intake, None).await?;
        Guards::new(&settings, &intake, &book, &mut warnings).await?;
        let remembered = remember(&settings).await?;
        let mut batches = intake.start(book, Purpose::Sending, remembered.memory);
        let form = LeadForm {
            allow_duplicates: true,
            ..settings.policy.form
        };
        let (claim, body, variables) = loop {
            let Some(batch) = batches.next().await else {
                // The reason may be that rows are held back.
                inputs::refuse_doubtful(&intake)?;
                return Err(Failure::usage(
                    text!("no row is ready, so there is nothing to test with"),
                    text!("{`leadload check` with the same files|“Problems”} shows why"),
                ));
            };
            if let Some(first) = first_ready(&intake, &batch?, number, form) {
                break first;
            }
        };
        let mut pace = SharedPace::open(&settings)?;
        if let Some(pace) = &mut pace {
            pace.await_turn(&settings).await?;
        }
        Ok(TestLead {
            settings,
            intake,
            claim,
            body,
            variables,
            reached,
            campaign_list,
            pace,
        })
    }

    /// Sends it, once.
    pub async fn send(&mut self, interrupts: &mut Interrupts) -> TestSent {
        let policy = self.settings.policy;
        let client = &self.reached.client;
        let single = send_once(client, self.claim, self.body.clone(), policy, interrupts).await;
        if let (Some(pace), Some(pause)) = (&mut self.pace, single.pause) {
            // If this fails, a later start may be refused once for asking too early.
            let _ = pace.record(Vec::new(), Some(pause));
        }
        TestSent {
            tally: tally(&self.intake, &self.claim, single.outcome.as_ref()),
            single,
        }
    }
}

fn on_a_list(listing: Listing<'_>) -> Failure {
    let list = match listing {
        Listing::List { name, line } => {
            text!("on the do-not-call list `{name}`, line {line}", name, line)
        }
        Listing::Kept(_) | Listing::Marked { .. } => listing.text(),
    };
    let hint = match listing {
        Listing::List { .. } => text!(
            "test with another number, or {leave that list out|remove that list under “Columns”}"
        ),
        Listing::Kept(_) => text!(
            "test with another number, or take {it off the list with `leadload suppress remove --number`|yours off the list under “Do not call”}"
        ),
        Listing::Marked { .. } => text!("test with another number"),
    };
    let what = text!(
        "{the number that `--test-to` names|your number} is {list}",
        list
    );
    Failure::usage(what, hint)
}

/// The number that the lead is sent to.
fn number(settings: &ImportSettings) -> Result<PhoneNumber, Failure> {
    // The user may live in another country than the people on the list.
    let phones = PhoneRules {
        assume_plus: settings.reading.phones.assume_plus,
        kinds: settings.reading.phones.kinds,
        ..PhoneRules::default()
    };
    let region = settings.reading.region.as_ref().map(|given| given.region);
    let typed = settings.options.delivery.test_to.as_deref();
    let number = phones.read(typed.map_or("", String::as_str), region);
    number.map_err(|problem| {
        let what = text!(
            "{the number that `--test-to` names cannot|this number can't} be called: {why}",
            why = problem.of_typed()
        );
        let hint = text!("write it whole, with `+` and the country code");
        Failure::usage(what, hint)
    })
}

/// The first row that would be sent, with its body and the names of its variables.
fn first_ready(
    intake: &Intake,
    batch: &Batch,
    number: PhoneNumber,
    form: LeadForm,
) -> Option<(Claim, Bytes, Vec<String>)> {
    let mut rows = batch.rows.rows().zip(&batch.prepared);
    let (row, campaign) = rows.find_map(|(row, prepared)| {
        let campaign = prepared.campaign.filter(|_| prepared.outcome.is_none())?;
        Some((row, campaign))
    })?;
    let variables = intake.inputs[row.file()].mapping.variables(row);
    let claim = Claim {
        row: row.id(),
        file: row.file(),
        line: row.line(),
        number,
        campaign,
        resends: false,
        sender: SenderId::default(),
    };
    let body = form.body(number, campaign, variables.clone());
    Some((
        claim,
        body,
        variables.map(|(name, _)| name.to_owned()).collect(),
    ))
}

/// A tally of the one row, if it has an outcome.
fn tally(intake: &Intake, claim: &Claim, outcome: Option<&RowOutcome>) -> Tally {
    let mut tally = Tally::new(intake.inputs.len());
    if let Some(outcome) = outcome {
        let of_campaign = tally.by_campaign.entry(claim.campaign).or_default();
        of_campaign.add(outcome.status);
        tally.counts.add(outcome.status);
    }
    tally
}

/// The pace that the test shares with the runs before and after it. Limits hold for all
/// starts of the program together, which the ledger records. A test creates no ledger. With one in a
/// file, a run that sends at the same time does not learn about the test until it is started again.
struct SharedPace {
    ledger: Ledger,
    service: ServiceId,
}

impl SharedPace {
    /// Opens the ledger; `None` if there is none.
    fn open(settings: &ImportSettings) -> Result<Option<SharedPace>, LedgerError> {
        let place = settings.ledger.as_ref().filter(|place| place.exists());
        let opening = place.map(|place| {
            // A test makes no ledger.
            if Ledger::read(place)?.is_none() {
                return Ok(None);
            }
            let mut ledger = Ledger::open(place)?;
            let service = ledger.service(&settings.service)?;
            Ok(Some(SharedPace { ledger, service }))
        });
        Ok(opening.transpose()?.flatten())
    }

    /// Waits until one more request may start, and records it as started.
    async fn await_turn(&mut self, settings: &ImportSettings) -> Result<(), Failure> {
        let asked = asked_pause(&self.ledger, self.service, settings)?;
        let mut pace = pace(&mut self.ledger, self.service, &settings.rate)?;
        while let Err(when) = pace.try_start() {
            let left = when.saturating_duration_since(Instant::now());
            if left >= SHORT_WAIT {
                let why = match asked {
                    Some(pause) => format!("the service asked for it (HTTP {})", pause.http_status),
                    None => "the rate limit is used up".to_owned(),
                };
                let seconds = left.as_secs_f64().ceil();
                warn!(
                    event = "waiting",
                    "the test lead waits {seconds:.0} s: {why}"
                );
            }
            Slept::default().reach(&mut Some(when)).await;
        }
        let reserved = self.ledger.reserve_start(self.service, pace.limits())?;
        if let Some(at) = reserved {
            sleep_until(at).await;
        }
        let started = StartsInSecond {
            second: clock::now().as_second(),
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
