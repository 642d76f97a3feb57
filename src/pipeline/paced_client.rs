//! Other calls of the service than sending leads: deleting them, and looking them up.
//!
//! Each of these calls may be repeated without harm. Every attempt starts when the [`Pacer`] lets it, and
//! is on record in the ledger before that, so that it counts for later runs even after a kill;
//! only those of a command that changes nothing are not.
//!
//! An attempt without a usable answer is made again, a few times. One for which no connection could be
//! made counts for no call: the service is down. After [`MAX_OUTAGE`] without an answer to a call
//! everything stops, and so it does if the service asks for a longer wait.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tracing::warn;

use super::ledger_thread::LedgerThread;
use super::outage::Silence;
use super::pacer::{Heard, Pacer, Said};
use super::window::Slot;
use super::{ConcurrencyChoice, RateController};
use crate::api::{CallError, CallResult, Client};
use crate::backoff;
use crate::clock;
use crate::event::RunEvent;
use crate::lead::ErrorCode;
use crate::ledger::{Ledger, LedgerError, ServiceId};
use crate::signals::{Interrupt, Interrupts};
use crate::stop::{Stop, StopReason};
use crate::text::without_numbers;

/// How many calls are under way at once, when the service has been understood.
pub const AT_ONCE: usize = 16;

const MOST_ATTEMPTS: u32 = 8;

/// An answer that is something else, such as a page to sign in on, will hardly be another one soon.
const MOST_UNREADABLE: u32 = 3;

/// With 16 calls at once, each of which may have to wait, one word is enough.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(10);

/// As `--max-outage` has it by default.
const MAX_OUTAGE: Duration = Duration::from_secs(3600);

/// The calls of one command, all on one thread.
pub struct PacedClient {
    client: Client,
    pub ledger: LedgerThread,
    /// Where its requests are recorded; `None` while the ledger is only read.
    recorded: Option<ServiceId>,
    pacer: RefCell<Pacer>,
    /// Whether any answer was ever understood.
    is_the_service: Cell<bool>,
    /// When the attempts under way were let start.
    out: RefCell<Vec<Instant>>,
    /// How many calls have begun, and how many of these have ended.
    calls: Cell<(u64, u64)>,
    /// When it was last said what is waited for.
    warned_at: Cell<Option<Instant>>,
    /// How many attempts have started.
    started: Cell<u64>,
    is_stopping: Cell<bool>,
    /// Something has changed that others may wait for.
    news: Notify,
}

impl PacedClient {
    /// The first call waits as long as the service has asked an earlier process to wait. No
    /// more than `most` are under way at once. Without a service to record them for, the ledger is not
    /// changed.
    pub fn new(
        client: Client,
        ledger: Ledger,
        recorded: Option<ServiceId>,
        rate: RateController,
        most: usize,
    ) -> PacedClient {
        let at_once =
            NonZeroUsize::new(AT_ONCE).map_or(ConcurrencyChoice::Auto, ConcurrencyChoice::Fixed);
        let made = PacedClient {
            client,
            ledger: LedgerThread::new(ledger),
            recorded,
            pacer: RefCell::new(Pacer::new(rate, at_once, most, MAX_OUTAGE)),
            is_the_service: Cell::new(false),
            out: RefCell::default(),
            calls: Cell::default(),
            warned_at: Cell::default(),
            started: Cell::new(0),
            is_stopping: Cell::new(false),
            news: Notify::new(),
        };
        let mut events = |event: RunEvent<'_>| made.tell(&event);
        made.pacer.borrow_mut().resume_wait(&mut events);
        made
    }

    pub fn requests(&self) -> u64 {
        self.started.get()
    }

    /// Makes a call, as often as that can help. `before` is done in the ledger before each attempt.
    ///
    /// What the service says of this call alone is returned as [`CallError`].
    pub async fn make<T>(
        &self,
        call: impl AsyncFn(&Client) -> CallResult<T>,
        before: impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + Clone + 'static,
    ) -> Result<CallResult<T>, Stop> {
        let (begun, ended) = self.calls.get();
        self.calls.set((begun + 1, ended));
        self.count_silence();
        let made = self.make_again(Slot::new(begun, 0), call, before).await;
        self.calls.update(|(begun, ended)| (begun, ended + 1));
        self.count_silence();
        made
    }

    async fn make_again<T>(
        &self,
        slot: Slot,
        call: impl AsyncFn(&Client) -> CallResult<T>,
        before: impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + Clone + 'static,
    ) -> Result<CallResult<T>, Stop> {
        let mut failures = 0;
        loop {
            let start = self.permission(&before).await?;
            self.started.update(|attempts| attempts + 1);
            let called = call(&self.client).await;
            self.hear(slot, start, &called).await?;
            match &called.result {
                Err(CallError::Later { .. }) => {}
                Err(CallError::Fatal { cause, text }) => {
                    let stop = Stop::new(StopReason::Refused(*cause));
                    return Err(stop.saying(without_numbers(text)));
                }
                Err(CallError::NoAnswer {
                    code,
                    text,
                    was_sent,
                    is_lasting,
                }) => {
                    failures += u32::from(called.http_status.is_some() || *was_sent);
                    let most = match code {
                        ErrorCode::UnreadableAnswer => MOST_UNREADABLE,
                        _ => MOST_ATTEMPTS,
                    };
                    if failures >= most && self.is_the_service.get() {
                        return Ok(called);
                    }
                    // If nothing was ever understood, the service is not what it seems.
                    if failures >= most || *is_lasting {
                        let (rows, last) = (1, *code);
                        let stop = Stop::new(StopReason::NoUsableAnswer { rows, last });
                        return Err(stop.saying(without_numbers(text)));
                    }
                    let pause = backoff::long_delay(failures.max(1), fastrand::f64());
                    self.warn_of(text, pause);
                    self.pause_until(Instant::now() + pause).await?;
                }
                _ => return Ok(called),
            }
        }
    }

    /// Does all this work, each a call or a few of them, and returns why it stopped before the end. The
    /// first interrupt lets nothing more start, a second one ends it at once.
    ///
    /// `done` is told after each how many are done.
    pub async fn make_all(
        &self,
        work: impl Iterator<Item = impl Future<Output = Result<(), Stop>>>,
        at_once: usize,
        mut interrupts: Interrupts,
        mut done: impl FnMut(u64),
    ) -> Option<Stop> {
        let mut work = stream::iter(work).buffer_unordered(at_once);
        let mut stopped = None;
        let mut count = 0;
        loop {
            tokio::select! {
                biased;
                interrupt = interrupts.next() => {
                    if interrupt == Interrupt::Signal && self.is_stopping.get() {
                        return Some(interrupted());
                    }
                    self.stop();
                }
                ended = work.next() => match ended {
                    None => return stopped,
                    Some(Ok(())) => {
                        count += 1;
                        done(count);
                    }
                    Some(Err(why)) => {
                        self.stop();
                        // What comes after it is that the others were stopped.
                        stopped.get_or_insert(why);
                    }
                },
            }
        }
    }

    /// Starts nothing more. What is under way is still waited for.
    fn stop(&self) {
        self.is_stopping.set(true);
        self.news.notify_waiters();
    }

    /// Waits until one more attempt may start, and puts it on record.
    async fn permission(
        &self,
        before: &(impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + Clone + 'static),
    ) -> Result<Instant, Stop> {
        loop {
            let start = self.turn().await?;
            let may_start = self.record(before.clone()).await;
            if let Ok(true) = may_start {
                return Ok(start);
            }
            self.end_attempt(start);
            self.pacer.borrow_mut().rate.lost(start);
            may_start?;
        }
    }

    /// Waits until the pacer lets one more attempt start.
    async fn turn(&self) -> Result<Instant, Stop> {
        while !self.is_stopping.get() {
            let news = self.news.notified();
            match self.try_start()? {
                Ok(start) => return Ok(start),
                // The computer may sleep meanwhile, which is part of a wait.
                Err(when) => {
                    let soon = Instant::now() + clock::LOOK_AGAIN;
                    drop(timeout_at(when.min(soon), news).await);
                }
            }
        }
        Err(interrupted())
    }

    fn try_start(&self) -> Result<Result<Instant, Instant>, Stop> {
        let (mut pacer, mut out) = (self.pacer.borrow_mut(), self.out.borrow_mut());
        let limit = pacer.limit(self.is_the_service.get(), out.iter().copied());
        if out.len() >= limit {
            return Ok(Err(Instant::now() + clock::LOOK_AGAIN));
        }
        let start = pacer.request(&out)?;
        out.extend(start.ok());
        Ok(start)
    }

    fn end_attempt(&self, start: Instant) {
        let mut out = self.out.borrow_mut();
        if let Some(at) = out.iter().position(|other| *other == start) {
            out.swap_remove(at);
        }
        self.news.notify_waiters();
    }

    /// Puts an attempt on record, and waits for its start where that was reserved. Returns whether it may
    /// start then: meanwhile the service may have asked for a wait, or somebody to stop.
    async fn record(
        &self,
        before: impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + 'static,
    ) -> Result<bool, Stop> {
        let (recorded, limits) = (self.recorded, self.pacer.borrow().limits().to_vec());
        let reserving = self.ledger.with(move |ledger| {
            before(ledger)?;
            match recorded {
                Some(service) => Pacer::record_start(ledger, service, &limits),
                None => Ok(None),
            }
        });
        if let Some(start) = reserving.await? {
            self.pause_until(start).await?;
        }
        Ok(!self.is_stopping.get() && !self.pacer.borrow().is_held())
    }

    /// Waits, unless everything is stopped before.
    async fn pause_until(&self, until: Instant) -> Result<(), Stop> {
        while !self.is_stopping.get() {
            if timeout_at(until, self.news.notified()).await.is_err() {
                return Ok(());
            }
        }
        Err(interrupted())
    }

    /// Takes what the answer says of the service, whatever it says of this call.
    async fn hear<T>(
        &self,
        slot: Slot,
        started: Instant,
        called: &CallResult<T>,
    ) -> Result<(), Stop> {
        let said = match &called.result {
            Err(CallError::Later { wait, code, .. }) => Said::Later {
                wait: *wait,
                code: *code,
                is_own: false,
            },
            Err(CallError::NoAnswer {
                code,
                text,
                was_sent,
                ..
            }) => {
                let silence = Silence {
                    slot,
                    started,
                    may_be_the_rows: called.http_status.is_some() || *was_sent,
                    is_suspect: false,
                    why: *code,
                };
                Said::Nothing(silence, Some(text))
            }
            _ => Said::Answer,
        };
        self.end_attempt(started);
        let asked = {
            let mut pacer = self.pacer.borrow_mut();
            if let Said::Answer = said {
                self.is_the_service.set(true);
                pacer.throttle.unhinted = 0;
            }
            let others_are_out = !self.out.borrow().is_empty();
            let heard = Heard {
                started,
                was_full: false,
                others_are_out,
                quota: called.quota.as_ref(),
                said,
            };
            pacer.hear(&heard, &mut |event| self.tell(&event));
            pacer.take_asked()
        };
        if let (Some(service), Some(asked)) = (self.recorded, asked) {
            let recording = move |ledger: &mut Ledger| ledger.record_use(service, asked);
            self.ledger.with(recording).await?;
        }
        Ok(())
    }

    /// Lets the time for [`MAX_OUTAGE`] run only while there is a call.
    fn count_silence(&self) {
        let (begun, ended) = self.calls.get();
        let mut pacer = self.pacer.borrow_mut();
        pacer.outage.count(begun == ended, Instant::now());
    }

    fn tell(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Held { wait, .. } => self.warn_of("the service asks to wait", *wait),
            RunEvent::Outage {
                reason: Some(reason),
                next,
                ..
            } => self.warn_of(reason, *next),
            _ => {}
        }
    }

    /// Says why it waits, unless that was said a moment ago.
    fn warn_of(&self, text: &str, wait: Duration) {
        let now = Instant::now();
        let is_said = |at| now - at < BETWEEN_WARNINGS;
        if self.warned_at.get().is_some_and(is_said) {
            return;
        }
        self.warned_at.set(Some(now));
        warn!(
            event = "waiting",
            "{}; going on in {:.0} s",
            without_numbers(text),
            wait.as_secs_f64().ceil()
        );
    }
}

fn interrupted() -> Stop {
    Stop::new(StopReason::Interrupted(Interrupt::Signal))
}

#[cfg(test)]
#[path = "paced_client_tests.rs"]
mod tests;
