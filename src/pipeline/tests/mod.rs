//! The loop against a service in memory, under a stopped clock.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::*;
use crate::api::verdict::{FatalCause, Verdict};
use crate::campaign::{CampaignBook, CampaignChoice};
use crate::intake::{InspectedInput, Intake, Once, PreparedRow, Purpose};
use crate::lead::{ErrorCode, Status};
use crate::mapping::MappingSpec;
use crate::phone::PhoneRules;
use crate::rate::RateChoice;
use crate::source::FormChoice;
use crate::source::Input;

mod stops;
mod turns;
mod waiting;

/// What the service does with one attempt: how long it takes, and what it says.
#[derive(Debug, Clone)]
struct Reply {
    takes: Duration,
    verdict: Verdict,
    stores: bool,
}

/// A service in memory: gives the scripted answers, then creates leads.
#[derive(Debug, Clone, Default)]
pub(super) struct Service(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    script: HashMap<String, Vec<Reply>>,
    /// When each attempt came, and for which number.
    attempts: Vec<(Instant, String)>,
    leads: HashSet<String>,
    allow_duplicates: bool,
    /// Campaigns that say the same to all attempts after the first few.
    from_then_on: HashMap<i64, (usize, Verdict)>,
    /// When the token file has another token, if there is a token file.
    token_comes_at: Option<Instant>,
}

impl Service {
    fn says(&self, number: &str, replies: Vec<Reply>) {
        self.0
            .borrow_mut()
            .script
            .insert(number.to_owned(), replies);
    }

    /// The numbers of all attempts, in their order.
    fn attempted(&self) -> Vec<String> {
        let attempts = &self.0.borrow().attempts;
        attempts.iter().map(|(_, number)| number.clone()).collect()
    }

    fn attempts_at(&self) -> Vec<Instant> {
        self.0.borrow().attempts.iter().map(|(at, _)| *at).collect()
    }
}

impl State {
    fn arrive(&mut self, number: &str, campaign: i64) -> Reply {
        self.attempts.push((Instant::now(), number.to_owned()));
        let scripted = self
            .script
            .get_mut(number)
            .filter(|replies| !replies.is_empty());
        let mut reply = match scripted {
            Some(replies) => replies.remove(0),
            None => reply(10, created(), true),
        };
        match self.from_then_on.get_mut(&campaign) {
            Some((0, verdict)) => reply = self::reply(10, verdict.clone(), false),
            Some((left, _)) => *left -= 1,
            None => {}
        }
        if reply.stores && !self.leads.insert(number.to_owned()) && !self.allow_duplicates {
            reply.verdict = Verdict::Duplicate {
                lead_id: None,
                text: "there already".into(),
            };
        }
        reply
    }
}

impl LeadSender for Service {
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static {
        let state = Rc::clone(&self.0);
        async move {
            let json: Value = serde_json::from_slice(&body).unwrap();
            let number = json["phone_number"].as_str().unwrap().to_owned();
            let campaign = json["campaign_id"].as_i64().unwrap();
            let reply = state.borrow_mut().arrive(&number, campaign);
            tokio::time::sleep(reply.takes).await;
            Answer {
                http_status: None,
                verdict: reply.verdict,
                quota: None,
                request_id: None,
                token: None,
                ahead: None,
            }
        }
    }

    fn lists_campaigns(&self) -> impl Future<Output = bool> + 'static {
        std::future::ready(true)
    }

    fn token_is_replaced(&self, _refused: &str) -> Option<bool> {
        let comes_at = self.0.borrow().token_comes_at?;
        Some(comes_at <= Instant::now())
    }
}

fn created() -> Verdict {
    Verdict::Created {
        lead_id: "1".into(),
        remark: None,
    }
}

fn lost() -> Verdict {
    Verdict::PerhapsTaken {
        code: ErrorCode::Timeout,
        text: "lost".into(),
    }
}

fn refused(wait: Option<u64>) -> Verdict {
    Verdict::RetryLater {
        wait: wait.map(Duration::from_secs),
        may_be_taken: false,
        code: ErrorCode::Http(429),
        text: "too many".into(),
    }
}

fn never_taken() -> Verdict {
    Verdict::NeverTaken {
        code: ErrorCode::Connection,
        text: "refused".into(),
        cure: None,
    }
}

fn token_refused() -> Verdict {
    Verdict::Fatal {
        cause: FatalCause::Token,
        code: ErrorCode::Http(401),
        text: "HTTP 401".into(),
    }
}

fn reply(millis: u64, verdict: Verdict, stores: bool) -> Reply {
    Reply {
        takes: Duration::from_millis(millis),
        verdict,
        stores,
    }
}

/// How a run came out.
struct Ran {
    /// Row, status and attempts, in the order in which they were handed on.
    rows: Vec<(u64, Option<(Status, u32)>)>,
    end: Delivery,
    took: Duration,
}

pub(super) fn in_flight(most: usize) -> ConcurrencyChoice {
    ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap())
}

pub(super) fn policy() -> Policy {
    Policy {
        concurrency: in_flight(8),
        most_in_flight: usize::MAX,
        stop_after: NonZeroU32::new(50).unwrap(),
        max_outage: Duration::from_secs(3600),
        max_attempts: 4,
        on_uncertain: OnUncertain::Resend,
        awaits_token: true,
        form: LeadForm::default(),
    }
}

/// Stops after this many seconds without an answer.
fn impatient(seconds: u64) -> Policy {
    Policy {
        max_outage: Duration::from_secs(seconds),
        ..policy()
    }
}

/// Rows, their inputs, and a runtime with a paused clock.
pub(super) type Prepared = (Batches, Arc<[PlannedInput]>, tokio::runtime::Runtime);

/// Rows with these numbers (`+4479110NNNNN`), all read before the clock starts: it
/// moves on whenever nothing is to be done, also while a file is read.
fn prepare(policy: Policy, numbers: &[u32]) -> Prepared {
    prepare_list(policy, &list_of(numbers), 1, None)
}

fn list_of(numbers: &[u32]) -> String {
    let numbers = numbers.iter().map(|n| number(*n) + "\n");
    std::iter::once("phone\n".to_owned())
        .chain(numbers)
        .collect()
}

/// The rows of a list, their inputs, and a runtime with a paused clock.
pub(super) fn prepare_list(
    policy: Policy,
    list: &str,
    campaign: i64,
    campaign_column: Option<&str>,
) -> Prepared {
    prepare_known(policy, list, campaign, campaign_column, |_, _| {})
}

/// The rows of a list with what `recall` knows of each row.
fn prepare_known(
    policy: Policy,
    list: &str,
    campaign: i64,
    campaign_column: Option<&str>,
    mut recall: impl FnMut(u64, &mut PreparedRow),
) -> Prepared {
    let input = Input::of_text(list);
    let spec = MappingSpec {
        campaign_column: campaign_column.map(str::to_owned),
        ..MappingSpec::default()
    };
    let surveyed = InspectedInput::new(input, &FormChoice::default()).unwrap();
    let planned = PlannedInput::new(surveyed, &spec).unwrap();
    let intake = Intake {
        inputs: [planned].into(),
        limit: None,
        phones: PhoneRules::default(),
        region: None,
        doubts: false,
        doubted: None,
        doubt: None,
        marked: Arc::default(),
        suppression: Arc::default(),
        allow_duplicates: policy.form.allow_duplicates,
        once: Once::Campaign,
        earlier: Arc::default(),
    };
    let campaign = CampaignChoice::Id(CampaignId(campaign));
    let mut received = intake.start(
        CampaignBook::new(Some(campaign), HashMap::new()),
        Purpose::Sending,
        None,
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let batches = runtime.block_on(async {
        let mut read = Vec::new();
        while let Some(batch) = received.next().await {
            let mut batch = batch.unwrap();
            for (row, prepared) in batch.rows.rows().zip(&mut batch.prepared) {
                recall(row.id().0, prepared);
            }
            read.push(batch);
        }
        Batches::ready(read)
    });
    (batches, intake.inputs, runtime)
}

fn run_with(service: &Service, policy: Policy, numbers: &[u32], rates: &[&str]) -> Ran {
    run_prepared(service, policy, prepare(policy, numbers), rates)
}

fn run_prepared(service: &Service, policy: Policy, prepared: Prepared, rates: &[&str]) -> Ran {
    run_changed(service, policy, prepared, rates, |_| {})
}

/// Runs a pipeline that is changed before it begins.
fn run_changed(
    service: &Service,
    policy: Policy,
    prepared: Prepared,
    rates: &[&str],
    change: impl FnOnce(&mut Pipeline<'_, Service>),
) -> Ran {
    let (batches, inputs, runtime) = prepared;
    runtime.block_on(async {
        let began = Instant::now();
        let rates: Vec<_> = rates.iter().map(|rate| rate.parse().unwrap()).collect();
        let (settled, mut done) = mpsc::channel(10_000);
        let (_no_interrupts, interrupts) = mpsc::channel(1);
        let interrupts = Interrupts::new(interrupts);
        let mut no_events = |_: RunEvent<'_>| {};
        let rate = RateController::new(&RateChoice::Limits(rates), None);
        let destination = Destination::Writer(settled);
        let mut pipeline = Pipeline::new(
            service.clone(),
            policy,
            rate,
            inputs,
            destination,
            &mut no_events,
        );
        change(&mut pipeline);
        // Only a loop that never ends takes this long.
        let day = Duration::from_secs(24 * 3600);
        let running = tokio::time::timeout(day, pipeline.run(batches, interrupts));
        let end = running.await.expect("the run comes to an end");
        let mut rows = Vec::new();
        while let Some(batch) = done.recv().await {
            for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
                let outcome = prepared.outcome.as_ref().map(|o| (o.status, o.attempts));
                rows.push((row.id().0, outcome));
            }
        }
        Ran {
            rows,
            end,
            took: began.elapsed(),
        }
    })
}

/// Runs at no rate, with these results and interrupts.
async fn run_into(
    service: &Service,
    batches: Batches,
    inputs: Arc<[PlannedInput]>,
    results: mpsc::Sender<Batch>,
    interrupts: Interrupts,
) -> Delivery {
    let mut no_events = |_: RunEvent<'_>| {};
    let rate = RateController::new(&RateChoice::Unlimited, None);
    let destination = Destination::Writer(results);
    let pipeline = Pipeline::new(
        service.clone(),
        policy(),
        rate,
        inputs,
        destination,
        &mut no_events,
    );
    pipeline.run(batches, interrupts).await
}

fn run(service: &Service, rows: u32) -> Ran {
    let numbers: Vec<u32> = (0..rows).collect();
    run_with(service, policy(), &numbers, &[])
}

fn number(n: u32) -> String {
    format!("+4479110{n:05}")
}

fn missing_campaign() -> Verdict {
    Verdict::Fatal {
        cause: FatalCause::Campaign,
        code: ErrorCode::Http(404),
        text: "HTTP 404".into(),
    }
}
