//! `--test-to`: sends one lead to the user's own number, so
//! the user hears what the people on the list would hear.
//!
//! Rule: nothing else happens. There is no run, no file, no lock, no question,
//! and no second attempt: with duplicates allowed that could be a second call.
//! The request counts towards the rate that all starts of the program share.

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};
use tracing::warn;

use super::campaign_list::{self, CampaignList};
use super::guards::Guards;
use super::inputs::{self, Request};
use super::open_ledger::{await_start, pace};
use super::prepared::refuse_results_files;
use super::remembered::remember;
use super::service::{self, ConnectedService};
use crate::api::wire::LeadForm;
use crate::exit::Failure;
use crate::intake::{Batch, InspectedInput, Intake, Purpose};
use crate::lead::RowOutcome;
use crate::ledger::{Claim, Ledger, LedgerError, SenderId, ServiceId};
use crate::message::Message;
use crate::phone::{PhoneNumber, PhoneRules};
use crate::pipeline::{Pacer, RateController, TestSend, send_once};
use crate::report::Tally;
use crate::screen::Listing;
use crate::settings::{ImportSettings, Service};
use crate::signals::Interrupts;

/// The lead for the first ready row, with the number of the test.
pub struct TestLead {
    pub settings: ImportSettings,
    pub intake: Intake,
    pub claim: Claim,
    pub variables: Vec<String>,
    pub campaign_list: CampaignList,
    body: Bytes,
    reached: ConnectedService,
    pacer: Pacer,
    started: Instant,
    recorded: Option<(Ledger, ServiceId)>,
}

/// What became of a test lead.
pub struct TestSent {
    pub attempt: TestSend,
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
                return Err(Failure::usage(message!(
                    "no row is ready, so there is nothing to test with",
                    "{`leadload check` with the same files|“Problems”} shows why"
                )));
            };
            if let Some(first) = first_ready(&intake, &batch?, number, form) {
                break first;
            }
        };
        let mut recorded = ledger(&settings)?;
        let (pacer, started) = await_turn(&settings, recorded.as_mut()).await?;
        Ok(TestLead {
            settings,
            intake,
            claim,
            body,
            variables,
            reached,
            campaign_list,
            pacer,
            started,
            recorded,
        })
    }

    /// Sends it, once.
    pub async fn send(&mut self, interrupts: &mut Interrupts) -> TestSent {
        let policy = self.settings.policy;
        let client = &self.reached.client;
        let pace = (&mut self.pacer, self.started);
        let attempt = send_once(
            client,
            self.claim,
            self.body.clone(),
            policy,
            pace,
            interrupts,
        );
        let attempt = attempt.await;
        if let (Some((ledger, service)), Some(asked)) =
            (&mut self.recorded, self.pacer.take_asked())
        {
            // If this fails, a later start may be refused once for asking too early.
            let _ = ledger.record_use(*service, asked);
        }
        TestSent {
            tally: tally(&self.intake, &self.claim, attempt.outcome.as_ref()),
            attempt,
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
    Failure::usage(Message::new(what, hint))
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
        Failure::usage(Message::new(what, hint))
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

/// Where the test is recorded, as runs are: limits hold for all starts of the program together. A test
/// creates no ledger. With one in a file, a run that sends at the same time does not learn about the
/// test until it is started again.
fn ledger(settings: &ImportSettings) -> Result<Option<(Ledger, ServiceId)>, LedgerError> {
    let place = settings.ledger.as_ref().filter(|place| place.exists());
    let opening = place.map(|place| {
        if Ledger::read(place)?.is_none() {
            return Ok(None);
        }
        let mut ledger = Ledger::open(place)?;
        let service = ledger.service(&settings.service)?;
        Ok(Some((ledger, service)))
    });
    Ok(opening.transpose()?.flatten())
}

/// Waits until one more request may start, and records it as started. Returns when it has.
async fn await_turn(
    settings: &ImportSettings,
    recorded: Option<&mut (Ledger, ServiceId)>,
) -> Result<(Pacer, Instant), Failure> {
    let rate = match &recorded {
        Some((ledger, service)) => pace(ledger, *service, &settings.rate)?,
        None => RateController::new(&settings.rate, None),
    };
    let mut pacer = Pacer::for_one(rate, settings.policy.max_outage);
    let tell = |seconds: f64, asked: Option<u16>| {
        let why = match asked {
            Some(status) => format!("the service asked for it (HTTP {status})"),
            None => "the rate limit is used up".to_owned(),
        };
        warn!(
            event = "waiting",
            "the test lead waits {seconds:.0} s: {why}"
        );
    };
    let started = await_start(&mut pacer, tell).await?;
    if let Some((ledger, service)) = recorded
        && let Some(at) = Pacer::record_start(ledger, *service, pacer.limits())?
    {
        sleep_until(at).await;
    }
    Ok((pacer, started))
}
