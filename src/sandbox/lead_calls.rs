//! The calls about leads that exist: their list, and the deletion of one.
//!
//! The document does not have them; they are as seen in public. They share the rate limits and
//! the outage with requests for leads, and can meet the same faults.

use std::sync::Arc;

use axum::http::HeaderMap;

use super::faults::{self, Fault};
use super::lead_list::{self, LeadCalls, Page, Query};
use super::replies::{self, Reply};
use super::state::State;
use super::store::ListedLead;
use super::wire;

/// The purposes of [`faults::chance`].
const FAULT: u64 = 3;
const IN_CALL: u64 = 4;

impl State {
    /// Decides about a request for the list of leads.
    pub(super) fn list(&mut self, query: &str, headers: &HeaderMap, now: u64) -> Reply {
        self.stats.list_requests += 1;
        let config = Arc::clone(&self.config);
        if config.lead_calls == LeadCalls::None {
            return self.not_offered("GET", "api/user/leads");
        }
        if let Some(refusal) = self.arrive_with_call(headers, now) {
            return refusal;
        }
        let query = Query::read(query);
        let fault = self.fault_of(&format!("list {query:?}"));
        let usual = self.page(&query, headers, now);
        self.finished(fault, usual, now)
    }

    fn page(&mut self, query: &Query, headers: &HeaderMap, now: u64) -> Reply {
        let config = Arc::clone(&self.config);
        let shown_until = now.checked_sub(config.list_delay_ms * 1000);
        let leads = self.account(headers).listed();
        let leads: Vec<ListedLead> = leads
            .filter(|lead| shown_until.is_some_and(|until| lead.created_us <= until))
            .filter(|lead| query.takes(lead))
            .collect();
        let leads: Vec<_> = leads
            .iter()
            .map(|lead| lead_list::entry(lead, &config, self.time_of_day(lead.created_us)))
            .collect();
        let page = Page::of(&leads, query);
        replies::json(200, &page.body(config.lead_list))
    }

    /// Decides about a request to delete a lead.
    pub(super) fn delete(&mut self, id: &str, headers: &HeaderMap, now: u64) -> Reply {
        self.stats.delete_requests += 1;
        if self.config.lead_calls != LeadCalls::Both {
            return self.not_offered("DELETE", &format!("api/user/leads/{id}"));
        }
        if let Some(refusal) = self.arrive_with_call(headers, now) {
            return refusal;
        }
        let fault = self.fault_of(&format!("delete {id}"));
        let usual = if !fault.is_none_or(Fault::stores) {
            replies::server_error()
        } else {
            self.delete_usual(id, headers)
        };
        self.finished(fault, usual, now)
    }

    fn delete_usual(&mut self, id: &str, headers: &HeaderMap) -> Reply {
        let (seed, share) = (self.config.seed, self.config.in_call);
        let account = self.account(headers);
        let found = id.parse().ok();
        let found = found.and_then(|id| Some((id, account.lead(id)?)));
        let Some((id, (campaign, phone))) = found else {
            return replies::unknown_lead();
        };
        if faults::chance([seed, campaign, phone, 0, IN_CALL]) < share {
            return replies::in_call();
        }
        account.delete(id);
        self.stats.deleted += 1;
        replies::deleted()
    }

    fn not_offered(&self, method: &str, path: &str) -> Reply {
        let status = self.config.not_offered_status.unwrap_or(404);
        replies::not_offered(status, method, path)
    }

    /// Applies everything that does not need the content of the request.
    fn arrive_with_call(&mut self, headers: &HeaderMap, now: u64) -> Option<Reply> {
        self.stats.arrivals_us.push(now);
        let refusal = self.outage(now).or_else(|| self.throttle(now).0);
        let refusal = refusal.or_else(|| self.revoked());
        refusal.or_else(|| {
            let refused = wire::check_caller(headers, &self.config).err();
            refused.map(|(status, text)| replies::message(status, &text))
        })
    }

    /// The fault that the next one of these requests meets.
    fn fault_of(&mut self, request: &str) -> Option<Fault> {
        let config = Arc::clone(&self.config);
        let attempt = self.calls.entry(request.to_owned()).or_default();
        *attempt += 1;
        let words = [config.seed, lead_list::digest(request), *attempt, 0, FAULT];
        let faults = config.call_faults.as_ref().unwrap_or(&config.faults);
        faults.pick(faults::chance(words))
    }

    fn finished(&mut self, fault: Option<Fault>, usual: Reply, now: u64) -> Reply {
        let mut reply = match fault {
            Some(fault) => {
                self.stats.count_fault(&fault.name());
                self.faulty(fault, usual, now)
            }
            None => usual,
        };
        reply.delay += self.config.latency(now);
        self.dated(reply, now)
    }

    /// The reply with the time of the service's clock, if that is another one.
    pub(super) fn dated(&self, reply: Reply, now: u64) -> Reply {
        if self.config.clock_ahead_s == 0 {
            return reply;
        }
        let date = lead_list::shifted(self.time_of_day(now), self.config.clock_ahead_s);
        reply.with_header("date", &httpdate::fmt_http_date(date))
    }
}
