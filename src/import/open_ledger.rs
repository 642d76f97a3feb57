//! The ledger of an import, and the right to send, which may have to be waited for.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;
use tracing::warn;

use super::service;
use crate::clock::{self, Slept};
use crate::event::RunEvent;
use crate::exit::{Failure, StoppedBy};
use crate::lead::{ErrorCode, RunId};
use crate::ledger::{
    Ledger, LedgerError, LedgerPlace, NewRun, Predecessors, SenderLock, ServiceId,
};
use crate::message::Message;
use crate::pipeline::{Pacer, RateController};
use crate::rate::RateChoice;
use crate::report::stop_text;
use crate::results::{KnownOutputs, OutputPaths};
use crate::settings::ImportSettings;

/// How often to look whether a run that is waited for has ended.
const ASK_AGAIN: Duration = Duration::from_millis(250);

/// How soon to look again at a lease that is about to run out.
const SOON: Duration = Duration::from_millis(10);

/// A shorter wait for the service is not told, …
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// … nor one for a lease.
const NOTICEABLE: Duration = Duration::from_secs(2);

/// The ledger of an import, whose process may send to the service.
pub struct OpenLedger {
    pub ledger: Ledger,
    pub(super) service: ServiceId,
    /// Released when the import ends, however it ends.
    pub(super) lock: SenderLock,
    pub(super) turn: Turn,
}

/// How somebody waits for other processes: nothing is taken meanwhile, so a wait that is cancelled leaves
/// nothing behind.
pub struct Turn {
    /// Whether a process that is at work is waited for. One that was killed always is.
    waits: bool,
    /// The failure where it is not, which says who is at work.
    busy: fn(String) -> Failure,
    /// Whether it was said that another process is waited for.
    has_said: Cell<bool>,
}

/// What somebody finds who waits.
pub(super) enum Found<T> {
    Free(T),
    /// Another process is at work: this one.
    Busy(String),
    /// It is free, unless its process goes on, after this time.
    Soon(Duration),
}

impl Turn {
    /// For somebody who does not wait.
    pub fn at_once(busy: fn(String) -> Failure) -> Turn {
        Turn {
            waits: false,
            busy,
            has_said: Cell::new(false),
        }
    }

    fn of(settings: &ImportSettings) -> Turn {
        Turn {
            waits: settings.options.delivery.wait == Some(true),
            ..Turn::at_once(busy)
        }
    }

    /// Looks again and again until it is free.
    pub(super) async fn wait<T>(
        &self,
        mut look: impl AsyncFnMut() -> Result<Found<T>, Failure>,
    ) -> Result<T, Failure> {
        loop {
            match look().await? {
                Found::Free(found) => return Ok(found),
                Found::Soon(left) => tokio::time::sleep(left.clamp(SOON, ASK_AGAIN)).await,
                Found::Busy(who) if !self.waits => return Err((self.busy)(who)),
                Found::Busy(who) => {
                    if !self.has_said.replace(true) {
                        warn!(event = "waiting", "{who}; waiting until it has ended");
                    }
                    tokio::time::sleep(ASK_AGAIN).await;
                }
            }
        }
    }

    /// Waits until no process has a lease of the run: that of one that was killed runs out.
    pub async fn wait_for_run(&self, ledger: Ledger, run: RunId) -> Result<Ledger, Failure> {
        let mut held = Some(ledger);
        let mut first = None;
        self.wait(async || {
            let ledger = held.take().ok_or_else(LedgerError::broke_off)?;
            let looking = service::on_a_thread(move || -> Result<_, Failure> {
                let lease = ledger.lease_of(run)?;
                Ok((ledger, lease))
            });
            let (ledger, lease) = looking.await?;
            let Some(lease) = lease else {
                return Ok(Found::Free(ledger));
            };
            held = Some(ledger);
            if first.is_none() && lease.left >= NOTICEABLE {
                let (by, wait_s) = (&lease.at_work.by, lease.left.as_secs_f64());
                warn!(
                    event = "waiting",
                    wait_s,
                    "an earlier start of this run has not ended ({by}); waiting {:.0} s at most to see if it still sends",
                    wait_s.ceil()
                );
            }
            // One that ends at another time was renewed, so its process lives.
            Ok(match *first.get_or_insert(lease.until) == lease.until {
                true => Found::Soon(lease.left),
                false => Found::Busy(lease.at_work.to_string()),
            })
        })
        .await
    }
}

impl OpenLedger {
    /// Opens the ledger and takes the right to send to the service, which may
    /// mean waiting for another run. `None` if the settings name no ledger.
    pub async fn open(settings: &ImportSettings) -> Result<Option<OpenLedger>, Failure> {
        let Some(place) = &settings.ledger else {
            return Ok(None);
        };
        let (place, address) = (place.clone(), settings.service.clone());
        let opening = service::on_a_thread(move || -> Result<_, Failure> {
            warn_of_network(&place);
            let mut ledger = Ledger::open(&place)?;
            let service = ledger.service(&address)?;
            Ok((ledger, service))
        });
        let (mut ledger, service) = opening.await?;
        let turn = Turn::of(settings);
        let lock = turn.wait(async || {
            Ok(match ledger.try_lock_sender(service)? {
                Some(lock) => Found::Free(lock),
                None => Found::Busy(ledger.who_sends(service)?),
            })
        });
        let lock = lock.await?;
        // With a ledger in a file no other process can be sending: open claims were left by a crash.
        let recovering = service::on_a_thread(move || -> Result<_, Failure> {
            ledger.recover(service)?;
            Ok(ledger)
        });
        Ok(Some(OpenLedger {
            ledger: recovering.await?,
            service,
            lock,
            turn,
        }))
    }

    /// The files that leadload has written at the paths of the outputs.
    pub fn known_outputs(&self, paths: &OutputPaths) -> Result<KnownOutputs, Failure> {
        let places: Vec<_> = paths.places().into_iter().map(|(place, _)| place).collect();
        Ok(KnownOutputs::new(self.ledger.outputs_at(&places)?))
    }

    /// Waits for a run that writes the same files, until they are made. Where runs send at the same time,
    /// nothing has kept them apart before.
    pub(super) async fn await_outputs<T>(
        &self,
        make: impl Fn() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let look = async || match make() {
            Ok(made) => Ok(Found::Free(made)),
            Err(taken) if taken.stopped_by == StoppedBy::Busy => {
                let at_work = self.ledger.at_work(self.service)?;
                at_work.map_or(Err(taken), |by| Ok(Found::Busy(by.to_string())))
            }
            Err(failure) => Err(failure),
        };
        self.turn.wait(look).await
    }

    /// Waits as long as the service has asked an earlier start to.
    pub async fn await_pause(&self, settings: &ImportSettings) -> Result<(), Failure> {
        let rate = pace(&self.ledger, self.service, &RateChoice::Unlimited)?;
        let mut pacer = Pacer::for_one(rate, settings.policy.max_outage);
        let tell = |seconds: f64, asked: Option<u16>| {
            let status = asked.unwrap_or_default();
            warn!(
                event = "waiting",
                "the service has asked to wait (HTTP {status}); going on in {seconds:.0} s"
            );
        };
        await_start(&mut pacer, tell).await.map(drop)
    }

    /// Which run would go on, when no other process is at it.
    pub(super) async fn find_predecessors(
        mut self,
        new: &NewRun,
        settings: &ImportSettings,
    ) -> Result<(OpenLedger, Predecessors), Failure> {
        loop {
            let found = self.ledger.predecessors(new)?;
            if let Some(run) = found.latest.undone.filter(|_| !is_again(settings)) {
                return Err(undone(run));
            }
            let Some(run) = found.latest.going_on else {
                return Ok((self, found));
            };
            self = self.await_turn(run).await?;
            // It may be complete by now.
            if self.ledger.predecessors(new)?.latest.going_on == Some(run) {
                return Ok((self, found));
            }
        }
    }

    /// Waits until no other process is at this run, or fails and says which one is.
    pub(super) async fn await_turn(self, run: RunId) -> Result<OpenLedger, Failure> {
        let ledger = self.turn.wait_for_run(self.ledger, run).await?;
        Ok(OpenLedger { ledger, ..self })
    }
}

/// The pace for a service, given what earlier starts have learned about it and used up.
pub fn pace(
    ledger: &Ledger,
    service: ServiceId,
    rate: &RateChoice,
) -> Result<RateController, LedgerError> {
    let now = clock::now();
    let recent = ledger.recent_use(service, now)?;
    Ok(RateController::new(rate, ledger.known_rate(service)?).after(&recent, now))
}

/// Waits until one request may start. `tell` is told of each wait for how many seconds it is, and the HTTP
/// status with which the service has asked an earlier start for one.
pub(super) async fn await_start(
    pacer: &mut Pacer,
    tell: impl Fn(f64, Option<u16>),
) -> Result<Instant, Failure> {
    let mut asked = None;
    pacer.resume_wait(&mut |event| {
        if let RunEvent::Held {
            why: ErrorCode::Http(status),
            ..
        } = event
        {
            asked = Some(status);
        }
    });
    loop {
        let when = match pacer.request(&[]) {
            Ok(Ok(started)) => return Ok(started),
            Ok(Err(when)) => when,
            Err(stop) => return Err(Failure::new(stop.by(), stop_text(&stop))),
        };
        let left = when.saturating_duration_since(Instant::now());
        if left >= SHORT_WAIT {
            tell(left.as_secs_f64().ceil(), asked);
        }
        Slept::default().reach(&mut Some(when)).await;
    }
}

/// Warns if the ledger is on a network file system: without
/// reliable locks two runs could send the same leads.
fn warn_of_network(place: &LedgerPlace) {
    if let Some(kind) = place.network_file_system() {
        warn!(
            event = "warning",
            "the ledger `{place}` is on a network file system ({kind}), where locks and write-ahead logs are not reliable: two runs might send the same leads, or the ledger might be damaged; put it on a local disk"
        );
    }
}

/// Whether what was sent, or undone, is to be sent once more.
pub(super) fn is_again(settings: &ImportSettings) -> bool {
    settings.options.delivery.again == Some(true)
}

/// People who were sent before, and whom a nightly job must not send once more; `--again` does.
#[derive(Debug, thiserror::Error)]
#[error("these people were sent before")]
pub struct SentBefore;

pub(super) fn sent_before(message: Message) -> Failure {
    let error = anyhow::Error::new(SentBefore).context(message);
    Failure::new(StoppedBy::Usage, error)
}

pub(super) fn undone(run: RunId) -> Failure {
    let message = message!(
        "{run {run} has sent these inputs, and was undone, so nothing was sent|this list was sent with the same settings, and its leads were removed again}",
        "{to send them once more, use `--again`; `leadload runs show {run}` shows what became of its leads|look whether it is the right list; to send it once more, tick that below}",
        run = run.0
    );
    sent_before(message)
}

pub(super) fn busy(who: String) -> Failure {
    let message = message!(
        "{{who}|another leadload is sending a list}",
        "wait until it has ended, {or let leadload wait with `--wait`|then {again}}",
        who
    );
    Failure::new(StoppedBy::Busy, message)
}
