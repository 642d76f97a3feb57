//! When requests start: what is allowed, and that it is kept to.
//!
//! [`Tempo`] knows what is allowed and learns it from answers; the [`Pacer`] keeps to it.
//! Here each is told of the other.

use tokio::time::Instant;

use super::pacer::Pacer;
use super::tempo::{Change, Tempo};
use crate::api::Quota;
use crate::rate::{KnownRate, Rate, RateChoice};

/// Decides when requests start.
#[derive(Debug)]
pub struct Pacing {
    tempo: Tempo,
    pacer: Pacer,
    /// There is news of the pace.
    has_news: bool,
}

impl Pacing {
    /// For what was chosen, and what earlier runs have learned of the service.
    pub fn new(choice: &RateChoice, known: Option<KnownRate>) -> Pacing {
        let tempo = Tempo::new(choice, known, Instant::now());
        let pacer = Pacer::new(tempo.limits());
        Pacing {
            tempo,
            pacer,
            has_news: true,
        }
    }

    /// Starts a request now and says when that is, by which its answer is known again, or
    /// says when to ask again. A request that may start is counted as started.
    pub(super) fn try_start(&mut self) -> Result<Instant, Instant> {
        let now = Instant::now();
        match self.pacer.try_start(now) {
            Ok(()) => {
                let change = self.tempo.started(now);
                self.follow(change);
                Ok(now)
            }
            Err(when) => {
                self.tempo.held_back();
                Err(when)
            }
        }
    }

    /// Lets nothing start before `until`, unless a longer pause is on already.
    pub(super) fn hold(&mut self, until: Instant) {
        self.pacer.hold(until);
    }

    /// Until when nothing starts because the service asked for a pause.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.pacer.held_until()
    }

    /// An answer that is no refusal for now, to a request of that time.
    pub(super) fn accepted(&mut self, started: Instant, quota: Option<&Quota>) {
        let change = self.tempo.accepted(started, quota, Instant::now());
        self.follow(change);
    }

    /// An answer that asks to come back later, for which everything is held.
    pub(super) fn refused(&mut self, started: Instant, quota: Option<&Quota>) {
        let now = Instant::now();
        let until = self.pacer.held_until().unwrap_or(now);
        let change = self.tempo.refused(started, quota, until, now);
        self.follow(change);
    }

    /// No answer: whether the request counts at the service is not known.
    pub(super) fn lost(&mut self, started: Instant) {
        self.tempo.lost(started);
    }

    fn follow(&mut self, change: Change) {
        if change.limits {
            self.pacer.set_limits(self.tempo.limits());
            self.has_news = true;
        }
        if let Some(until) = change.hold {
            self.pacer.hold(until);
        }
    }

    /// The pace, where it may have changed since this was asked last.
    pub(super) fn news(&mut self) -> Option<Option<Rate>> {
        let has_news = std::mem::take(&mut self.has_news);
        has_news.then(|| self.pace())
    }

    /// The tightest limit in force; none if there is no limit.
    pub(super) fn pace(&self) -> Option<Rate> {
        self.tempo.pace()
    }

    /// What the next run should know of the service.
    pub(super) fn known(&self) -> Option<KnownRate> {
        self.tempo.known()
    }
}
