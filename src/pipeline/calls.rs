//! Other calls of the service at the pace of runs: deleting leads, and looking them up.
//!
//! Each of these calls may be repeated without harm. Every attempt passes the [`RateController`] and
//! is on record in the ledger before it starts, so that it counts for later runs even after a kill;
//! only those of a command that changes nothing are not.
//! Until an answer was understood, and after each wait that the service asks for, one goes alone.
//!
//! An attempt without a usable answer is made again, a few times. While no
//! connection can be made the service is down: that counts for no call. But after [`MAX_OUTAGE`]
//! without an answer to a call everything stops, and so it does if the service asks for a longer wait.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};
use tracing::warn;

use super::RateController;
use super::ledger_thread::LedgerThread;
use super::throttle::{Throttle, wall_clock_ahead};
use crate::api::verdict::FatalCause;
use crate::api::{Called, Client, NotDone};
use crate::backoff;
use crate::clock;
use crate::lead::ErrorCode;
use crate::ledger::{AskedPause, Ledger, LedgerError, RecentUse, ServiceId, StartsInSecond};
use crate::signals::{Interrupt, Interrupts};
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

/// Why nothing more is done, though there is more to do.
#[derive(Debug, Clone)]
pub enum Stopped {
    /// By a signal, or from the page.
    Interrupted,
    /// The service refuses every call like this.
    Fatal {
        cause: FatalCause,
        text: String,
    },
    /// It does not have this call.
    NotOffered {
        call: &'static str,
        text: String,
    },
    /// It has not answered for too long.
    Outage(String),
    /// It asks for a longer wait than anybody waits for.
    AskedToWait(Timestamp),
    /// No answer can be read.
    Unreadable(String),
    Ledger(LedgerError),
}

impl From<LedgerError> for Stopped {
    fn from(error: LedgerError) -> Stopped {
        Stopped::Ledger(error)
    }
}

/// The calls of one command, all on one thread.
pub struct Calls {
    client: Client,
    pub ledger: LedgerThread,
    /// Where its requests are recorded; `None` while the ledger is only read.
    recorded: Option<ServiceId>,
    rate: RefCell<RateController>,
    throttle: RefCell<Throttle>,
    /// Whether an answer was understood since the beginning, or since the last wait.
    is_understood: Cell<bool>,
    /// Whether any answer was ever understood.
    is_the_service: Cell<bool>,
    /// How many are under way at most.
    at_once: usize,
    in_flight: Cell<usize>,
    /// Since when no answer was one to a call.
    unanswered_since: Cell<Option<Instant>>,
    /// When it was last said what is waited for.
    warned_at: Cell<Option<Instant>>,
    /// How many attempts have started.
    started: Cell<u64>,
    is_stopping: Cell<bool>,
    /// Something has changed that others may wait for.
    news: Notify,
}

impl Calls {
    /// The first of them waits as long as the service has asked an earlier process to wait. No
    /// more than `most` are under way at once. Without a service to record them for, the ledger is not
    /// changed.
    pub fn new(
        client: Client,
        ledger: Ledger,
        recorded: Option<ServiceId>,
        rate: RateController,
        most: usize,
    ) -> Calls {
        Calls {
            client,
            ledger: LedgerThread::new(ledger),
            recorded,
            rate: RefCell::new(rate),
            throttle: RefCell::default(),
            is_understood: Cell::new(false),
            is_the_service: Cell::new(false),
            at_once: AT_ONCE.min(most),
            in_flight: Cell::new(0),
            unanswered_since: Cell::default(),
            warned_at: Cell::default(),
            started: Cell::new(0),
            is_stopping: Cell::new(false),
            news: Notify::new(),
        }
    }

    pub fn requests(&self) -> u64 {
        self.started.get()
    }

    /// Starts nothing more. What is under way is still waited for.
    pub fn stop(&self) {
        self.is_stopping.set(true);
        self.news.notify_waiters();
    }

    pub fn is_stopping(&self) -> bool {
        self.is_stopping.get()
    }

    /// Makes a call, as often as that can help. `before` is done in the ledger before each attempt.
    ///
    /// What the service says of this call alone is returned as [`NotDone`].
    pub async fn make<T>(
        &self,
        call: impl AsyncFn(&Client) -> Called<T>,
        before: impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + Clone + 'static,
    ) -> Result<Called<T>, Stopped> {
        let mut failures = 0;
        loop {
            let started = self.turn().await?;
            let called = self.attempt(&call, before.clone()).await;
            self.in_flight.update(|calls| calls - 1);
            let called = called.inspect_err(|_| self.news.notify_waiters())?;
            self.observe(started, &called).await?;
            let since = self.unanswered_since.get();
            let is_outage = since.is_some_and(|since| since.elapsed() > MAX_OUTAGE);
            let (code, text, was_sent, is_lasting) = match &called.result {
                Err(NotDone::Later { text, .. }) if is_outage => {
                    return Err(Stopped::Outage(text.clone()));
                }
                Err(NotDone::Later { .. }) => continue,
                Err(NotDone::Fatal { cause, text }) => {
                    return Err(Stopped::Fatal {
                        cause: *cause,
                        text: text.clone(),
                    });
                }
                Err(NotDone::NoAnswer {
                    code,
                    text,
                    was_sent,
                    is_lasting,
                }) => (*code, text.clone(), *was_sent, *is_lasting),
                _ => return Ok(called),
            };
            let is_down = called.http_status.is_none() && !was_sent;
            failures += u32::from(!is_down);
            let most = match code {
                ErrorCode::UnreadableAnswer => MOST_UNREADABLE,
                _ => MOST_ATTEMPTS,
            };
            if failures >= most {
                return self.give_up(called, code, text);
            }
            if is_outage || is_lasting {
                return Err(Stopped::Outage(text));
            }
            let pause = backoff::long_delay(failures.max(1), fastrand::f64());
            self.warn_of(&text, pause);
            self.pause_until(Instant::now() + pause).await?;
        }
    }

    /// Does all this work, each a call or a few of them, and returns why it stopped before the end. The
    /// first interrupt lets nothing more start, a second one ends it at once.
    ///
    /// `done` is told after each how many are done.
    pub async fn make_all(
        &self,
        work: impl Iterator<Item = impl Future<Output = Result<(), Stopped>>>,
        at_once: usize,
        mut interrupts: Interrupts,
        mut done: impl FnMut(u64),
    ) -> Option<Stopped> {
        let mut work = stream::iter(work).buffer_unordered(at_once);
        let mut stopped = None;
        let mut count = 0;
        loop {
            tokio::select! {
                biased;
                interrupt = interrupts.next() => {
                    if interrupt == Interrupt::Signal && self.is_stopping() {
                        return Some(Stopped::Interrupted);
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

    /// One attempt that has its turn, on record before it starts.
    async fn attempt<T>(
        &self,
        call: &impl AsyncFn(&Client) -> Called<T>,
        before: impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + 'static,
    ) -> Result<Called<T>, Stopped> {
        let (recorded, limits) = (self.recorded, self.rate.borrow().limits().to_vec());
        let reserved = self.ledger.with(move |ledger| {
            before(ledger)?;
            let Some(service) = recorded else {
                return Ok(None);
            };
            let at = ledger.reserve_start(service, &limits)?;
            let now = StartsInSecond {
                second: clock::now().as_second(),
                requests: 1,
            };
            let used = RecentUse {
                starts: vec![now],
                pause: None,
            };
            ledger.record_use(service, used)?;
            Ok(at)
        });
        if let Some(at) = reserved.await? {
            sleep_until(at).await;
        }
        self.started.update(|calls| calls + 1);
        Ok(call(&self.client).await)
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

    /// If nothing was ever understood, the service is not what it seems.
    fn give_up<T>(
        &self,
        called: Called<T>,
        code: ErrorCode,
        text: String,
    ) -> Result<Called<T>, Stopped> {
        match (self.is_the_service.get(), code) {
            (true, _) => Ok(called),
            (false, ErrorCode::UnreadableAnswer) => Err(Stopped::Unreadable(text)),
            (false, _) => Err(Stopped::Outage(text)),
        }
    }

    /// Waits until one more attempt may start, and counts it as under way.
    async fn turn(&self) -> Result<Instant, Stopped> {
        loop {
            if self.is_stopping.get() {
                return Err(Stopped::Interrupted);
            }
            if let Some((until, _)) = self.rate.borrow().pause_at_start {
                refuse_long(until - Instant::now())?;
            }
            let news = self.news.notified();
            let is_alone = !self.is_understood.get();
            if is_alone && self.in_flight.get() > 0 || self.in_flight.get() >= self.at_once {
                news.await;
                continue;
            }
            let start = self.rate.borrow_mut().try_start();
            match start {
                Ok(now) => {
                    self.in_flight.update(|calls| calls + 1);
                    return Ok(now);
                }
                // The computer may sleep meanwhile, which is part of a wait.
                Err(when) => {
                    let soon = Instant::now() + clock::LOOK_AGAIN;
                    drop(timeout_at(when.min(soon), news).await);
                }
            }
        }
    }

    /// Waits, unless everything is stopped before.
    async fn pause_until(&self, until: Instant) -> Result<(), Stopped> {
        while !self.is_stopping.get() {
            if timeout_at(until, self.news.notified()).await.is_err() {
                return Ok(());
            }
        }
        Err(Stopped::Interrupted)
    }

    /// Takes what the answer says of the service, whatever it says of this call.
    async fn observe<T>(&self, started: Instant, called: &Called<T>) -> Result<(), Stopped> {
        let quota = called.quota.as_ref();
        let since = self.unanswered_since.get().unwrap_or(started);
        self.unanswered_since.set(Some(since));
        match &called.result {
            Err(NotDone::Later { wait, code, .. }) => {
                self.hold(*wait, *code, started).await?;
                let mut rate = self.rate.borrow_mut();
                // A 503 is about the service itself: a slower pace would not have avoided it.
                match code {
                    ErrorCode::Http(429) => rate.refused(started, quota, wait.is_some()),
                    _ => rate.lost(started),
                }
            }
            Err(NotDone::NoAnswer { .. } | NotDone::Fatal { .. }) => {
                self.rate.borrow_mut().lost(started);
            }
            _ => {
                self.unanswered_since.set(None);
                self.is_understood.set(true);
                self.is_the_service.set(true);
                self.throttle.borrow_mut().unhinted = 0;
                self.rate.borrow_mut().accepted(started, quota);
            }
        }
        self.news.notify_waiters();
        Ok(())
    }

    /// Lets nothing start until the wait is over, and then one call first.
    async fn hold(
        &self,
        hint: Option<Duration>,
        why: ErrorCode,
        started: Instant,
    ) -> Result<(), Stopped> {
        let now = Instant::now();
        let chance = fastrand::f64();
        let refused = self
            .throttle
            .borrow_mut()
            .refused(hint, started, now, chance);
        let Some(wait) = refused else {
            return Ok(());
        };
        let wait = hint.unwrap_or(wait.min(self.rate.borrow().longest_guess()));
        refuse_long(wait)?;
        self.warn_of("the service asks to wait", wait);
        self.rate.borrow_mut().limiter.hold(now + wait);
        self.is_understood.set(false);
        let (Some(service), Some(wait), ErrorCode::Http(http_status)) = (self.recorded, hint, why)
        else {
            return Ok(());
        };
        let asked = RecentUse {
            starts: Vec::new(),
            pause: Some(AskedPause::asked_now(wait, http_status)),
        };
        let recorded = self
            .ledger
            .with(move |ledger| ledger.record_use(service, asked));
        Ok(recorded.await?)
    }
}

fn refuse_long(wait: Duration) -> Result<(), Stopped> {
    match wait > MAX_OUTAGE {
        true => Err(Stopped::AskedToWait(wall_clock_ahead(wait))),
        false => Ok(()),
    }
}
