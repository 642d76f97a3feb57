//! What the sandbox remembers, and how it decides.
//!
//! The rule: one mutex, held for a decision and never across an await. A lead is stored when its
//! request has been read, before the latency, so a caller that gives up in between has made a
//! lead all the same, as with a real service.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::config::{Outage, SandboxConfig};
use super::faults::Draw;
use super::rate_limit::{Limiter, Quota};
use super::replies::{self, Reply};
use super::rule::{ScriptedReply, Then};
use super::stats::Stats;
use super::store::{NewLead, Store};
use super::{RecordedRequest, wire};

/// Purposes of [`Draw::chance`].
const FAULT: u64 = 1;
const JITTER: u64 = 2;

pub(super) struct Shared {
    pub(super) config: SandboxConfig,
    /// Places for requests being worked on, first come first served.
    pub(super) slots: Option<Semaphore>,
    /// Becomes true once, when the sandbox stops.
    pub(super) stopping: watch::Sender<bool>,
    started: Instant,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn new(config: SandboxConfig) -> io::Result<Self> {
        config.validate()?;
        Ok(Self {
            slots: config
                .max_concurrent
                .map(|n| Semaphore::new(n.min(Semaphore::MAX_PERMITS))),
            stopping: watch::Sender::new(false),
            started: Instant::now(),
            state: Mutex::new(State::new(&config)),
            config,
        })
    }

    /// After a panic elsewhere the counts are still good enough.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_us(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// The time of day, by the monotonic clock.
    #[cfg(test)]
    pub(super) fn now(&self) -> SystemTime {
        self.state().time_of_day(self.now_us())
    }

    /// Counts a request for a lead, whose head has just been seen.
    pub(super) fn arrive(&self) -> Arrival {
        let now = self.now_us();
        self.state().arrive(&self.config, now)
    }

    /// The answer to a request for a lead; no `body` means that it is too large.
    pub(super) fn decide(
        &self,
        arrival: Arrival,
        headers: &HeaderMap,
        body: Option<&[u8]>,
    ) -> Reply {
        let Arrival {
            at_us,
            refusal,
            quota,
        } = arrival;
        let mut reply = refusal.unwrap_or_else(|| {
            let too_large = || replies::message(413, "The body is too large.");
            let checked = body.ok_or_else(too_large);
            let checked = checked.and_then(|body| wire::check_lead(headers, body, &self.config));
            self.state().judge(&self.config, checked, at_us)
        });
        if let Some(quota) = quota
            && self.config.rate_limit_headers
        {
            let values = [
                ("x-ratelimit-limit", HeaderValue::from(quota.limit)),
                ("x-ratelimit-remaining", quota.remaining.into()),
                (
                    "x-ratelimit-reset",
                    self.epoch_s(at_us + quota.reset_us).into(),
                ),
            ];
            for (name, value) in values {
                // A scripted answer may state a limit of its own.
                reply.response.headers_mut().entry(name).or_insert(value);
            }
        }
        reply
    }

    /// Seconds since 1970 of a time in microseconds since the start, rounded up.
    fn epoch_s(&self, us: u64) -> u64 {
        let then = self.state().time_of_day(us);
        let then = then.duration_since(UNIX_EPOCH).unwrap_or_default();
        then.as_secs() + u64::from(then.subsec_nanos() > 0)
    }
}

/// Counts a request as unanswered until it is dropped, also when its caller goes away.
pub(super) struct InFlight<'a>(pub(super) &'a Shared);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.state().in_flight -= 1;
    }
}

pub(super) struct State {
    pub(super) store: Store,
    pub(super) stats: Stats,
    pub(super) requests: Vec<RecordedRequest>,
    limiters: Vec<Limiter>,
    in_flight: u64,
    /// The time of day at the start.
    pub(super) started: SystemTime,
    /// End of the outage in microseconds, once it has begun.
    outage_until: Option<u64>,
}

/// A request for a lead, and what its arrival alone decides.
pub(super) struct Arrival {
    pub(super) at_us: u64,
    /// The answer, when the request itself does not matter.
    refusal: Option<Reply>,
    /// The tightest limit, for the headers.
    quota: Option<Quota>,
}

impl State {
    fn new(config: &SandboxConfig) -> Self {
        let limits = config.rate_limits.iter().copied();
        Self {
            store: Store::new(config),
            stats: Stats::default(),
            requests: Vec::new(),
            limiters: limits.map(Limiter::new).collect(),
            in_flight: 0,
            started: SystemTime::now(),
            outage_until: None,
        }
    }

    /// The time of day this many microseconds after the start.
    fn time_of_day(&self, us: u64) -> SystemTime {
        self.started + Duration::from_micros(us)
    }

    /// Counts a request for a lead at its arrival and applies what comes before any look into it.
    fn arrive(&mut self, config: &SandboxConfig, now: u64) -> Arrival {
        self.stats.arrivals_us.push(now);
        self.stats.lead_requests += 1;
        self.in_flight += 1;
        self.stats.peak_in_flight = self.stats.peak_in_flight.max(self.in_flight);
        let outage = self.outage(config, now);
        let (throttled, quota) = match outage {
            Some(_) => (None, None),
            None => self.throttle(config, now),
        };
        let refusal = outage.or(throttled).or_else(|| {
            let before = self.stats.lead_requests - 1;
            self.revoked(config, before)
        });
        self.count_refusal(refusal.as_ref());
        Arrival {
            at_us: now,
            refusal,
            quota,
        }
    }

    /// The same for the campaign list, which has no rate limit.
    pub(super) fn arrive_for_list(&mut self, config: &SandboxConfig, now: u64) -> Option<Reply> {
        self.stats.campaign_requests += 1;
        let outage = self.outage(config, now);
        outage.or_else(|| self.revoked(config, self.stats.lead_requests))
    }

    /// Requests for leads that are unanswered now.
    #[cfg(test)]
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    fn outage(&mut self, config: &SandboxConfig, now: u64) -> Option<Reply> {
        let Outage {
            after_requests,
            for_s,
            style,
        } = *config.outage.as_ref()?;
        if self.stats.lead_requests > after_requests && self.outage_until.is_none() {
            self.outage_until = Some(now.saturating_add((for_s * 1e6) as u64));
        }
        let away = self.outage_until.is_some_and(|until| now < until);
        away.then(|| {
            self.stats.count_fault("outage");
            replies::outage(style)
        })
    }

    fn throttle(&mut self, config: &SandboxConfig, now: u64) -> (Option<Reply>, Option<Quota>) {
        let Some(quota) = self.tightest(now) else {
            return (None, None);
        };
        if quota.remaining == 0 {
            let wait_s = quota.reset_us.div_ceil(1_000_000);
            let reply = replies::too_many(config.rate_limit_hint, wait_s, self.time_of_day(now));
            return (Some(reply), Some(quota));
        }
        self.limiters_at(now).for_each(|limiter| limiter.admit(now));
        // What is left, and when there is more, with this request counted.
        (None, self.tightest(now))
    }

    /// The limits that hold at `now`.
    fn limiters_at(&mut self, now: u64) -> impl Iterator<Item = &mut Limiter> {
        let limiters = self.limiters.iter_mut();
        limiters.filter(move |limiter| limiter.holds(now))
    }

    /// The quota of the limit with the least left.
    fn tightest(&mut self, now: u64) -> Option<Quota> {
        let quotas = self.limiters_at(now).map(|limiter| limiter.quota(now));
        quotas.min_by_key(|quota| (quota.remaining, std::cmp::Reverse(quota.reset_us)))
    }

    fn revoked(&self, config: &SandboxConfig, before: u64) -> Option<Reply> {
        let after = config.token_revoked_after?;
        (before >= after).then(replies::unauthenticated)
    }

    /// Decides about a request that was read: what is stored, what is answered, and when.
    fn judge(
        &mut self,
        config: &SandboxConfig,
        checked: Result<NewLead, Reply>,
        now: u64,
    ) -> Reply {
        let mut reply = match checked {
            Ok(lead) => self.judge_lead(config, &lead, now),
            Err(refusal) => refusal,
        };
        reply.delay += config.latency(now);
        self.count_refusal(Some(&reply));
        reply
    }

    fn judge_lead(&mut self, config: &SandboxConfig, lead: &NewLead, now: u64) -> Reply {
        let attempt = self.store.next_attempt(lead);
        let draw = Draw {
            seed: config.seed,
            campaign: lead.campaign,
            phone: lead.phone,
            attempt,
        };
        let mut rules = config.rules.iter();
        let rule = rules.find(|rule| rule.matches(lead, attempt));
        let mut reply = match rule.map(|rule| &rule.reply) {
            Some(script) if script.then != Then::Usual => self.play(script, lead, attempt),
            _ => self.judge_usual(config, lead, draw, now),
        };
        let scripted = rule.map_or(0, |rule| rule.reply.delay_ms);
        let jitter = draw.chance(JITTER) * config.latency_jitter_ms as f64;
        reply.delay += Duration::from_millis(scripted) + Duration::from_secs_f64(jitter / 1e3);
        reply
    }

    fn play(&mut self, script: &ScriptedReply, lead: &NewLead, attempt: u16) -> Reply {
        self.stats.count_fault("rule");
        let id = if script.store {
            self.insert(lead, attempt)
        } else {
            None
        };
        replies::scripted(script, id)
    }

    fn judge_usual(
        &mut self,
        config: &SandboxConfig,
        lead: &NewLead,
        draw: Draw,
        now: u64,
    ) -> Reply {
        let time = self.time_of_day(now);
        if !config.campaigns.0.iter().any(|c| c.id == lead.campaign) {
            return replies::unknown_campaign(config.unknown_campaign);
        }
        if config
            .balance_after
            .is_some_and(|n| self.stats.created >= n)
        {
            return replies::out_of_balance();
        }
        let fault = config.faults.pick(draw.chance(FAULT));
        if let Some(fault) = fault {
            self.stats.count_fault(&fault.name());
            if !fault.stores() {
                return replies::faulty(fault, config, None, time);
            }
        }
        let usual = match self.insert(lead, draw.attempt) {
            Some(id) => replies::created(config, lead, id),
            None => replies::duplicate(config.duplicate_style),
        };
        match fault {
            Some(fault) => replies::faulty(fault, config, Some(usual), time),
            None => usual,
        }
    }

    fn insert(&mut self, lead: &NewLead, attempt: u16) -> Option<u64> {
        let id = self.store.insert(lead, attempt);
        match id {
            Some(_) => self.stats.created += 1,
            None => self.stats.duplicates_refused += 1,
        }
        id
    }

    fn count_refusal(&mut self, reply: Option<&Reply>) {
        if let Some(status) = reply.and_then(Reply::refused_with) {
            *self.stats.refused.entry(status).or_default() += 1;
        }
    }
}
