//! Services with limits in memory, and sending to them in simulated time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::Future;
use std::num::NonZeroU32;

use super::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Window {
    Sliding,
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headers {
    None,
    Counts,
    All,
}

/// A service with a limit, counting as the sandbox does.
#[derive(Debug, Clone)]
pub(super) struct Service {
    pub(super) limit: usize,
    pub(super) per: Duration,
    pub(super) window: Window,
    pub(super) headers: Headers,
    pub(super) has_hint: bool,
    pub(super) latency: Duration,
    /// Each way takes its half of it, more or less by up to this share.
    pub(super) jitter: f64,
    /// At that time the limit becomes another.
    pub(super) change: Option<(Duration, usize)>,
    /// The share of requests that are refused at any pace, and the wait that such a refusal asks for.
    pub(super) chance: Option<(f64, Option<Duration>)>,
    pub(super) seed: u64,
    pub(super) admitted: VecDeque<Instant>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Reply {
    pub(super) is_accepted: bool,
    pub(super) hint: Option<Duration>,
    pub(super) quota: Option<Quota>,
}

impl Service {
    pub(super) fn new(limit: &str, window: Window) -> Service {
        let rate: Rate = limit.parse().unwrap();
        Service {
            limit: rate.requests.get() as usize,
            per: rate.per,
            window,
            headers: Headers::None,
            has_hint: true,
            latency: Duration::from_millis(5),
            jitter: 0.0,
            change: None,
            chance: None,
            seed: 7,
            admitted: VecDeque::new(),
        }
    }

    pub(super) fn way(&self, chance: &mut fastrand::Rng) -> Duration {
        let more_or_less = (chance.f64() * 2.0 - 1.0) * self.jitter;
        (self.latency / 2).mul_f64(1.0 + more_or_less)
    }

    pub(super) fn pace(&self) -> f64 {
        self.limit as f64 / self.per.as_secs_f64()
    }

    pub(super) fn answer(
        &mut self,
        origin: Instant,
        now: Instant,
        chance: &mut fastrand::Rng,
    ) -> Reply {
        if let Some((at, limit)) = self.change
            && now >= origin + at
        {
            self.limit = limit;
        }
        while let Some(&first) = self.admitted.front()
            && first + self.per <= now
        {
            match self.window {
                Window::Sliding => drop(self.admitted.pop_front()),
                Window::Fixed => self.admitted.clear(),
            }
        }
        let over = self.admitted.front().map_or(now, |first| *first + self.per);
        let whole = |wait: Duration| Duration::from_secs(wait.as_secs_f64().ceil() as u64);
        let over_after =
            |admitted: &VecDeque<Instant>| admitted.front().map_or(now, |first| *first + self.per);
        let by_chance = self.chance.filter(|(share, _)| chance.f64() < *share);
        let is_accepted = self.admitted.len() < self.limit && by_chance.is_none();
        if is_accepted {
            self.admitted.push_back(now);
        }
        let left = self.limit.saturating_sub(self.admitted.len());
        let quota = Quota {
            limit: NonZeroU32::new(self.limit as u32),
            remaining: Some(left as u32),
            reset: (self.headers == Headers::All).then(|| whole(over_after(&self.admitted) - now)),
        };
        let hint = match by_chance {
            Some((_, hint)) => hint,
            None => self.has_hint.then_some(whole(over - now)),
        };
        Reply {
            is_accepted,
            hint: hint.filter(|_| !is_accepted),
            quota: (self.headers != Headers::None).then_some(quota),
        }
    }
}

pub(super) struct Outcome {
    pub(super) origin: Instant,
    pub(super) end: Instant,
    pub(super) controller: RateController,
    /// When each request was answered, and whether it was accepted.
    pub(super) answers: Vec<(Instant, bool)>,
    /// When it was told that refusals come by chance, and which.
    pub(super) found: Vec<(Instant, ByChance)>,
}

impl Outcome {
    pub(super) fn share_refused(&self, from: f64) -> f64 {
        let of = |is: &dyn Fn(bool) -> bool| {
            let after = |at: &Instant| (*at - self.origin).as_secs_f64() >= from;
            self.answers
                .iter()
                .filter(|(at, ok)| after(at) && is(*ok))
                .count() as f64
        };
        of(&|ok| !ok) / of(&|_| true).max(1.0)
    }

    pub(super) fn throughput(&self, from: f64) -> f64 {
        let after = |at: &Instant| (*at - self.origin).as_secs_f64() >= from;
        let count = self
            .answers
            .iter()
            .filter(|(at, ok)| after(at) && *ok)
            .count();
        count as f64 / ((self.end - self.origin).as_secs_f64() - from)
    }
}

/// Sends as the loop does, for this long or until this many answers are accepted.
pub(super) fn send(
    choice: &RateChoice,
    known: Option<KnownRate>,
    service: Service,
    in_flight: usize,
    seconds: f64,
    count: usize,
) -> Outcome {
    stopped_clock(send_all(choice, known, service, in_flight, seconds, count))
}

fn stopped_clock<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(future)
}

async fn wait_until(at: Instant) {
    tokio::time::advance(at.saturating_duration_since(Instant::now())).await;
}

async fn send_all(
    choice: &RateChoice,
    known: Option<KnownRate>,
    mut service: Service,
    in_flight: usize,
    seconds: f64,
    count: usize,
) -> Outcome {
    let origin = Instant::now();
    let end = origin + Duration::from_secs_f64(seconds);
    let mut chance = fastrand::Rng::with_seed(service.seed);
    let mut controller = RateController::new(choice, known);
    let mut unhinted = 0;
    let mut under_way = 0;
    let mut answers = Vec::new();
    let mut accepted = 0;
    let mut found = Vec::new();
    // Time, number, start, and the reply once the service has seen it.
    let mut events = BinaryHeap::new();
    let mut replies: Vec<(Instant, Option<Reply>)> = Vec::new();
    while Instant::now() < end && accepted < count {
        let mut wake = None;
        while under_way < in_flight {
            match controller.try_start() {
                Ok(now) => {
                    under_way += 1;
                    let way = service.way(&mut chance);
                    events.push(Reverse((now + way, replies.len())));
                    replies.push((now, None));
                }
                Err(when) => {
                    wake = Some(when);
                    break;
                }
            }
        }
        let event = events.peek().map(|Reverse((at, _))| *at);
        if let Some(when) = wake
            && event.is_none_or(|at| when < at)
        {
            wait_until(when).await;
            continue;
        }
        let Some(Reverse((now, number))) = events.pop() else {
            continue;
        };
        wait_until(now).await;
        let (start, reply) = replies[number];
        let Some(reply) = reply else {
            replies[number].1 = Some(service.answer(origin, now, &mut chance));
            let way = service.way(&mut chance);
            events.push(Reverse((now + way, number)));
            continue;
        };
        under_way -= 1;
        answers.push((now, reply.is_accepted));
        if reply.is_accepted {
            unhinted = 0;
            accepted += 1;
            controller.accepted(start, reply.quota.as_ref());
            found.extend(controller.take_news().map(|news| (now, news)));
            continue;
        }
        let is_held = controller.limiter.held_until().is_some();
        let wait = match reply.hint {
            None if is_held => Duration::ZERO,
            None => {
                unhinted += 1;
                let wait = crate::backoff::refused_delay(unhinted, 0.5);
                wait.min(controller.longest_guess())
            }
            Some(hint) => hint,
        };
        controller.limiter.hold(now + wait);
        controller.refused(start, reply.quota.as_ref(), reply.hint.is_some());
    }
    Outcome {
        origin,
        end: Instant::now(),
        controller,
        answers,
        found,
    }
}

pub(super) const WINDOWS: [Window; 2] = [Window::Sliding, Window::Fixed];

/// Prints the figures, for developers who change a rule: `cargo test -- --nocapture`.
pub(super) fn tell(what: String, end: &Outcome, best: f64) {
    println!(
        "{what}: refused {:.2} %, after five minutes {:.2} %, throughput {:.1} %, pace {}",
        end.share_refused(0.0) * 100.0,
        end.share_refused(300.0) * 100.0,
        end.throughput(0.0) / best * 100.0,
        end.controller
            .pace()
            .map_or("none".into(), |pace| pace.to_string()),
    );
}
