//! Other calls of the service at the pace of runs: deleting leads, and looking them up.
//!
//! Each of these calls may be repeated without harm. Every attempt passes the [`RateController`] and
//! is on record in the ledger before it starts, so that it counts for later runs even after a kill.
//! Until an answer was understood, and after each wait that the service asks for, one goes alone.
//!
//! An attempt without a usable answer is made again, up to [`MOST_ATTEMPTS`] times. While no
//! connection can be made the service is down: that counts for no call, but after [`MAX_OUTAGE`]
//! without any answer everything stops.

use std::cell::{Cell, RefCell};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::RateController;
use super::throttle::{Throttle, wall_clock_ahead};
use crate::api::verdict::FatalCause;
use crate::api::{Called, Client, NotDone};
use crate::backoff;
use crate::lead::ErrorCode;
use crate::ledger::{AskedPause, Ledger, LedgerError, RecentUse, ServiceId, StartsInSecond};

/// How many calls are under way at once, when the service has been understood.
pub const AT_ONCE: usize = 16;

const MOST_ATTEMPTS: u32 = 8;

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
    NotOffered(String),
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

/// The thread that owns the ledger meanwhile: committing waits for a disk or a server, and answers
/// must not wait for that.
#[derive(Debug)]
pub struct LedgerThread {
    work: mpsc::Sender<Work>,
}

type Work = Box<dyn FnOnce(&mut Ledger) + Send>;

impl LedgerThread {
    pub fn new(mut ledger: Ledger) -> LedgerThread {
        let (work, waiting) = mpsc::channel::<Work>();
        thread::spawn(move || {
            for work in waiting {
                work(&mut ledger);
            }
        });
        LedgerThread { work }
    }

    /// Has work done with the ledger, after all that was given to it before.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Ledger) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let (answer, answered) = oneshot::channel();
        // Without a receiver nobody waits for it; without the thread the answer is missing.
        let sent = self.work.send(Box::new(move |ledger| {
            let _ = answer.send(work(ledger));
        }));
        match sent {
            Ok(()) => answered
                .await
                .unwrap_or_else(|_| Err(LedgerError::broke_off())),
            Err(_) => Err(LedgerError::broke_off()),
        }
    }
}

/// The calls of one command, all on one thread.
pub struct Calls {
    client: Client,
    pub ledger: LedgerThread,
    service: ServiceId,
    rate: RefCell<RateController>,
    throttle: RefCell<Throttle>,
    /// Whether an answer was understood since the beginning, or since the last wait.
    is_understood: Cell<bool>,
    /// Whether any answer was ever understood.
    is_the_service: Cell<bool>,
    in_flight: Cell<usize>,
    /// Since when no answer has come.
    silent_since: Cell<Instant>,
    /// How many attempts have started.
    started: Cell<u64>,
    is_stopping: Cell<bool>,
    /// Something has changed that others may wait for.
    news: Notify,
}

impl Calls {
    /// The first of them waits as long as the service has asked an earlier process to wait.
    pub fn new(client: Client, ledger: Ledger, service: ServiceId, rate: RateController) -> Calls {
        Calls {
            client,
            ledger: LedgerThread::new(ledger),
            service,
            rate: RefCell::new(rate),
            throttle: RefCell::default(),
            is_understood: Cell::new(false),
            is_the_service: Cell::new(false),
            in_flight: Cell::new(0),
            silent_since: Cell::new(Instant::now()),
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
            let (code, text) = match &called.result {
                Err(NotDone::Later { .. } | NotDone::TokenReplaced) => continue,
                Err(NotDone::Fatal { cause, text }) => {
                    return Err(Stopped::Fatal {
                        cause: *cause,
                        text: text.clone(),
                    });
                }
                Err(NotDone::NoAnswer { code, text }) => (*code, text.clone()),
                _ => return Ok(called),
            };
            let is_down = called.http_status.is_none() && code == ErrorCode::Connection;
            failures += u32::from(!is_down);
            if failures >= MOST_ATTEMPTS {
                return self.give_up(called, code, text);
            }
            if self.silent_since.get().elapsed() > MAX_OUTAGE {
                return Err(Stopped::Outage(text));
            }
            let pause = backoff::long_delay(failures.max(1), fastrand::f64());
            self.pause_until(Instant::now() + pause).await?;
        }
    }

    /// One attempt that has its turn, on record before it starts.
    async fn attempt<T>(
        &self,
        call: &impl AsyncFn(&Client) -> Called<T>,
        before: impl FnOnce(&mut Ledger) -> Result<(), LedgerError> + Send + 'static,
    ) -> Result<Called<T>, Stopped> {
        let (service, limits) = (self.service, self.rate.borrow().limits().to_vec());
        let reserved = self.ledger.with(move |ledger| {
            before(ledger)?;
            let at = ledger.reserve_start(service, &limits)?;
            let now = StartsInSecond {
                second: Timestamp::now().as_second(),
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
            let news = self.news.notified();
            let is_alone = !self.is_understood.get();
            if is_alone && self.in_flight.get() > 0 || self.in_flight.get() >= AT_ONCE {
                news.await;
                continue;
            }
            let start = self.rate.borrow_mut().try_start();
            match start {
                Ok(now) => {
                    self.in_flight.update(|calls| calls + 1);
                    return Ok(now);
                }
                Err(when) => drop(timeout_at(when, news).await),
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
        match &called.result {
            Err(NotDone::Later { wait, code, .. }) => {
                self.silent_since.set(Instant::now());
                self.hold(*wait, *code, started).await?;
                let mut rate = self.rate.borrow_mut();
                // A 503 is about the service itself: a slower pace would not have avoided it.
                match code {
                    ErrorCode::Http(429) => rate.refused(started, quota, wait.is_some()),
                    _ => rate.lost(started),
                }
            }
            Err(NotDone::NoAnswer { .. } | NotDone::TokenReplaced | NotDone::Fatal { .. }) => {
                if called.http_status.is_some() {
                    self.silent_since.set(Instant::now());
                }
                self.rate.borrow_mut().lost(started);
            }
            _ => {
                self.silent_since.set(Instant::now());
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
        if wait > MAX_OUTAGE {
            return Err(Stopped::AskedToWait(wall_clock_ahead(wait)));
        }
        self.rate.borrow_mut().limiter.hold(now + wait);
        self.is_understood.set(false);
        let (Some(wait), ErrorCode::Http(http_status)) = (hint, why) else {
            return Ok(());
        };
        let (service, until) = (self.service, wall_clock_ahead(wait));
        let pause = Some(AskedPause { until, http_status });
        let asked = RecentUse {
            starts: Vec::new(),
            pause,
        };
        let recorded = self
            .ledger
            .with(move |ledger| ledger.record_use(service, asked));
        Ok(recorded.await?)
    }
}
