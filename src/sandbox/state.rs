//! What the sandbox remembers, and how it decides.
//!
//! Rule: one mutex, held for one decision and never across an await. A lead
//! is stored when its request has been read, before the latency. So if the
//! caller gives up in between, the lead exists, as with a real service.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::config::SandboxConfig;
use super::faults::{self, Fault};
use super::rate_limit::{Limiter, Quota};
use super::replies::{self, Reply, UNAUTHENTICATED};
use super::rule::Then;
use super::stats::Stats;
use super::store::{NewLead, Store, StoredLead};
use super::{RecordedRequest, wire};

/// The purposes of [`faults::chance`].
const FAULT: u64 = 1;
const JITTER: u64 = 2;

pub(super) struct Shared {
    pub(super) config: Arc<SandboxConfig>,
    /// Slots for requests that are being worked on, first come first served.
    pub(super) slots: Semaphore,
    started: Instant,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn new(config: SandboxConfig) -> Self {
        let config = Arc::new(config);
        let slots = config.max_concurrent.unwrap_or(usize::MAX);
        Self {
            slots: Semaphore::new(slots.min(Semaphore::MAX_PERMITS)),
            started: Instant::now(),
            state: Mutex::new(State::new(Arc::clone(&config))),
            config,
        }
    }

    /// A poisoned lock is fine: after a panic elsewhere the counts are still good enough.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now_us(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// The time of day, computed from the monotonic clock.
    #[cfg(test)]
    pub(super) fn now(&self) -> SystemTime {
        self.state().time_of_day(self.now_us())
    }
}

/// Counts a request as unanswered until this is dropped, even if its caller goes away.
pub(super) struct InFlight<'a>(pub(super) &'a Shared);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.state().in_flight -= 1;
    }
}

pub(super) struct State {
    pub(super) config: Arc<SandboxConfig>,
    /// By token; all in one without a name if tokens have no accounts of their own.
    accounts: BTreeMap<String, Store>,
    /// How often each call about a lead that exists was made, by its words.
    pub(super) calls: HashMap<String, u64>,
    pub(super) stats: Stats,
    pub(super) requests: Vec<RecordedRequest>,
    limiters: Vec<Limiter>,
    in_flight: u64,
    /// The time of day at the start.
    pub(super) started: SystemTime,
    /// End of the outage in microseconds, once it has begun.
    outage_until: Option<u64>,
}

/// A request for a lead, and what is decided on its arrival alone.
pub(super) struct Arrival {
    pub(super) at_us: u64,
    /// The answer, if it does not depend on the content of the request.
    refusal: Option<Reply>,
    /// The quota of the limit with the least left, for the headers.
    quota: Option<Quota>,
}

impl State {
    fn new(config: Arc<SandboxConfig>) -> Self {
        let limits = config.rate_limits.iter().copied();
        Self {
            accounts: BTreeMap::new(),
            calls: HashMap::new(),
            stats: Stats::default(),
            requests: Vec::new(),
            limiters: limits.map(Limiter::new).collect(),
            in_flight: 0,
            started: SystemTime::now(),
            outage_until: None,
            config,
        }
    }

    /// The leads of all accounts.
    pub(super) fn leads(&self) -> Vec<StoredLead> {
        self.accounts.values().flat_map(Store::leads).collect()
    }

    /// The account of the caller.
    pub(super) fn account(&mut self, headers: &HeaderMap) -> &mut Store {
        let token = headers.get(AUTHORIZATION).and_then(|t| t.to_str().ok());
        let token = token.filter(|_| self.config.accounts_by_token);
        let keeps_details = self.config.keep_variables.unwrap_or(true);
        let new = || Store::new(keeps_details);
        let name = token.unwrap_or_default().to_owned();
        self.accounts.entry(name).or_insert_with(new)
    }

    /// The time of day this many microseconds after the start.
    pub(super) fn time_of_day(&self, us: u64) -> SystemTime {
        self.started + Duration::from_micros(us)
    }

    /// Counts a request for a lead, and applies everything that does not need its content.
    pub(super) fn arrive(&mut self, now: u64) -> Arrival {
        let revoked = self.revoked();
        self.stats.arrivals_us.push(now);
        self.stats.lead_requests += 1;
        self.in_flight += 1;
        self.stats.peak_in_flight = self.stats.peak_in_flight.max(self.in_flight);
        let (refusal, quota) = match self.outage(now) {
            Some(reply) => (Some(reply), None),
            None => self.throttle(now),
        };
        Arrival {
            at_us: now,
            refusal: refusal.or(revoked),
            quota,
        }
    }

    /// Counts a request for the campaign list, which has no rate limit.
    pub(super) fn arrive_for_list(&mut self, now: u64) -> Option<Reply> {
        self.stats.campaign_requests += 1;
        self.outage(now).or_else(|| self.revoked())
    }

    /// How many requests for leads are unanswered now.
    #[cfg(test)]
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(super) fn outage(&mut self, now: u64) -> Option<Reply> {
        let outage = self.config.outage?;
        let end = now.saturating_add((outage.for_s * 1e6) as u64);
        if self.stats.lead_requests <= outage.after_requests
            || now >= *self.outage_until.get_or_insert(end)
        {
            return None;
        }
        self.stats.count_fault("outage");
        Some(self.faulty(outage.style, replies::server_error(), now))
    }

    pub(super) fn throttle(&mut self, now: u64) -> (Option<Reply>, Option<Quota>) {
        let Some(quota) = self.tightest(now) else {
            return (None, None);
        };
        if quota.remaining == 0 {
            let wait_s = quota.reset_us.div_ceil(1_000_000);
            let hint = self.config.rate_limit_hint;
            let reply = replies::too_many(hint, wait_s, self.time_of_day(now));
            return (Some(reply), Some(quota));
        }
        self.limiters_at(now).for_each(|limiter| limiter.admit(now));
        // The quota with this request counted.
        (None, self.tightest(now))
    }

    /// The limits that apply at `now`.
    fn limiters_at(&mut self, now: u64) -> impl Iterator<Item = &mut Limiter> {
        let limiters = self.limiters.iter_mut();
        limiters.filter(move |limiter| limiter.holds(now))
    }

    /// The quota of the limit with the least left.
    fn tightest(&mut self, now: u64) -> Option<Quota> {
        let quotas = self.limiters_at(now).map(|limiter| limiter.quota(now));
        quotas.min_by_key(|quota| (quota.remaining, std::cmp::Reverse(quota.reset_us)))
    }

    pub(super) fn revoked(&self) -> Option<Reply> {
        let after = self.config.token_revoked_after?;
        (self.stats.lead_requests >= after).then(|| replies::message(401, UNAUTHENTICATED))
    }

    /// Decides about a request for a lead that has been read: what is stored, what
    /// is answered, and when. A `body` of `None` means that it was too large.
    pub(super) fn decide(
        &mut self,
        arrival: Arrival,
        headers: &HeaderMap,
        body: Option<&[u8]>,
    ) -> Reply {
        let now = arrival.at_us;
        let mut reply = arrival
            .refusal
            .unwrap_or_else(|| self.look_into(headers, body, now));
        if let Some(quota) = arrival.quota
            && self.config.rate_limit_headers
            && quota.is_stated
        {
            let reset = self.time_of_day(now + quota.reset_us);
            reply.state(quota, reset);
        }
        if let Some(status) = reply.refused_with() {
            *self.stats.refused.entry(status).or_default() += 1;
        }
        self.dated(reply, now)
    }

    fn look_into(&mut self, headers: &HeaderMap, body: Option<&[u8]>, now: u64) -> Reply {
        let mut reply = match wire::check_lead(headers, body, &self.config) {
            Ok(lead) => self.judge(&lead, headers, now),
            Err((status, text)) => replies::message(status, &text),
        };
        reply.delay += self.config.latency(now);
        reply
    }

    fn judge(&mut self, lead: &NewLead, headers: &HeaderMap, now: u64) -> Reply {
        let config = Arc::clone(&self.config);
        let attempt = self.account(headers).next_attempt(lead);
        let chance = |purpose| {
            let attempt = attempt.into();
            faults::chance([config.seed, lead.campaign, lead.phone, attempt, purpose])
        };
        let mut rules = config.rules.iter();
        let rule = rules.find(|rule| rule.matches(lead, attempt));
        let mut reply = match rule.map(|rule| &rule.reply) {
            Some(script) if script.then != Then::Usual => {
                self.stats.count_fault("rule");
                let stored = script
                    .store
                    .then(|| self.insert(lead, headers, attempt, now));
                replies::scripted(script, stored.flatten())
            }
            _ => self.judge_usual(lead, headers, attempt, chance(FAULT), now),
        };
        let scripted = rule.map_or(0, |rule| rule.reply.delay_ms);
        let jitter = chance(JITTER) * config.latency_jitter_ms as f64;
        reply.delay += Duration::from_millis(scripted) + Duration::from_secs_f64(jitter / 1e3);
        reply
    }

    fn judge_usual(
        &mut self,
        lead: &NewLead,
        headers: &HeaderMap,
        attempt: u16,
        chance: f64,
        now: u64,
    ) -> Reply {
        let config = Arc::clone(&self.config);
        if !config.campaigns.0.iter().any(|c| c.id == lead.campaign) {
            return replies::unknown_campaign();
        }
        if config
            .balance_after
            .is_some_and(|n| self.stats.created >= n)
        {
            return replies::out_of_balance();
        }
        let fault = config.faults.pick(chance);
        let usual = if !fault.is_none_or(Fault::stores) {
            replies::server_error()
        } else if let Some(id) = self.insert(lead, headers, attempt, now) {
            replies::created(&config.lead_ids.json(id))
        } else {
            replies::duplicate()
        };
        let Some(fault) = fault else {
            return usual;
        };
        self.stats.count_fault(&fault.name());
        self.faulty(fault, usual, now)
    }

    pub(super) fn faulty(&self, fault: Fault, usual: Reply, now: u64) -> Reply {
        replies::faulty(fault, &self.config, usual, self.time_of_day(now))
    }

    fn insert(
        &mut self,
        lead: &NewLead,
        headers: &HeaderMap,
        attempt: u16,
        now: u64,
    ) -> Option<u64> {
        let takes_duplicates = self.config.takes_duplicates;
        let account = self.account(headers);
        let id = account.insert(lead, attempt, takes_duplicates, now);
        match id {
            Some(_) => self.stats.created += 1,
            None => self.stats.duplicates_refused += 1,
        }
        id
    }
}
