//! The service: what it makes of each request, and what it remembers.
//!
//! It answers as services have been seen to, and knows the truth: which leads there are.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use hyper::http;
use jiff::Timestamp;
use leadload::simulation::{Answered, NoAnswer};
use reqwest::{Method, Request, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::plan::{Fate, Hint, PEOPLE, Plan, SpellKind, Trouble};
use crate::world::World;

/// A campaign and a number.
pub type Target = (i64, String);

pub const CAMPAIGNS: [i64; 3] = [201, 202, 203];

#[derive(Debug, Clone)]
pub struct Lead {
    pub id: String,
    pub target: Target,
    /// The start that asked for it; `None` if it was there before.
    pub by: Option<usize>,
    pub made: Timestamp,
}

/// What an answer says to a client that understands it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    Created,
    Duplicate,
    /// Not taken, whatever comes of it later, with this status.
    Refused(u16),
    /// Not taken, and asked to wait this long, if it says so.
    Later(u16, Option<Wait>),
    /// Nothing was sent.
    NotSent,
    /// It may have been taken.
    Unclear,
}

/// What it asks to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// From when the answer arrives.
    For(Duration),
    Until(Instant),
}

impl Wait {
    pub fn until(self, answered: Instant) -> Instant {
        match self {
            Wait::For(time) => answered + time,
            Wait::Until(at) => at,
        }
    }
}

/// A request for a lead.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub at: Instant,
    /// Which start of the program.
    pub by: usize,
    pub target: Target,
    pub sense: Sense,
    /// When its answer came; `None` if it has not, or too late.
    pub answered: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct Service {
    pub leads: Vec<Lead>,
    /// Leads that were removed, and by which start.
    pub removed: Vec<(Lead, usize)>,
    pub arrivals: Vec<Arrival>,
    /// Whether it takes everything that it ever takes.
    pub is_well: bool,
    counted: HashMap<Target, u64>,
    taken_at: Vec<Instant>,
    /// Calls that are not about a new lead.
    calls: u64,
    next_id: u64,
}

/// A choice that depends on nothing but these, so that it stays when a plan is made smaller.
pub fn chance(of: &[u64]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for value in of {
        for byte in value.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ hash >> 32
}

pub fn campaign_name(id: i64) -> String {
    format!("campaign {id}")
}

pub fn number(person: u8) -> String {
    format!("+44791112{:04}", 3000 + u32::from(person))
}

pub fn person(number: &str) -> u8 {
    let last: u32 = number[number.len() - 4..].parse().unwrap();
    (last - 3000) as u8
}

impl Service {
    pub fn new(plan: &Plan, before: Timestamp) -> Service {
        let mut service = Service::default();
        let is_known = |person: &u8| plan.service.fate(*person) == Some(Fate::Known);
        for person in (0..PEOPLE).filter(is_known) {
            for campaign in CAMPAIGNS {
                service.make((campaign, number(person)), None, before);
            }
        }
        service
    }

    fn make(&mut self, target: Target, by: Option<usize>, made: Timestamp) -> String {
        self.next_id += 1;
        let id = format!("L{}", self.next_id);
        self.leads.push(Lead {
            id: id.clone(),
            target,
            by,
            made,
        });
        id
    }

    /// Those that were removed, too.
    pub fn all_leads(&self) -> impl Iterator<Item = &Lead> {
        let removed = self.removed.iter().map(|(lead, _)| lead);
        self.leads.iter().chain(removed)
    }

    pub fn all_leads_of(&self, target: &Target) -> impl Iterator<Item = &Lead> {
        self.all_leads().filter(move |lead| lead.target == *target)
    }

    pub fn leads_of(&self, target: &Target) -> impl Iterator<Item = &Lead> {
        self.leads.iter().filter(move |lead| lead.target == *target)
    }
}

/// A request that a start has sent.
pub fn receive(world: &Rc<World>, by: usize, request: &Request, answer: oneshot::Sender<Answered>) {
    let body = request.body().and_then(reqwest::Body::as_bytes);
    let is_lead = request.method() == Method::POST && request.url().path() == "/api/user/lead";
    let Some(body) = body.filter(|_| is_lead) else {
        let (world, method, url) = (
            Rc::clone(world),
            request.method().clone(),
            request.url().clone(),
        );
        tokio::task::spawn_local(async move {
            let is_of_campaigns = url.path() == "/api/user/campaigns";
            let trouble = foreseen_of_call(&world, is_of_campaigns);
            let took = trouble.and_then(|trouble| lateness(&world, trouble));
            let took = took.unwrap_or(Duration::from_millis(40));
            sleep(took / 2).await;
            let done = || match (method, url.path()) {
                (Method::GET, "/api/user/campaigns") => campaigns(),
                (Method::GET, "/api/user/leads") => leads(&world, &url),
                (Method::DELETE, path) => remove(&world, by, path.rsplit('/').next().unwrap()),
                (method, path) => panic!("{method} {path}"),
            };
            let said = match trouble {
                None => refused_call(&world, is_of_campaigns).unwrap_or_else(done),
                Some(trouble) => {
                    if is_taken(trouble) {
                        let _ = done();
                    }
                    said_of(&world, trouble).1
                }
            };
            sleep(took / 2).await;
            let _ = answer.send(said);
        });
        return;
    };
    let json: Value = serde_json::from_slice(body).unwrap();
    let target = (
        json["campaign_id"].as_i64().unwrap(),
        json["phone_number"].as_str().unwrap().to_owned(),
    );
    let allows = json["allow_dupplicate"].as_bool().unwrap();
    let index = world.arrive(by, &target);
    let world = Rc::clone(world);
    tokio::task::spawn_local(async move {
        let (latency, trouble) = foreseen(&world, &target);
        let took = trouble.and_then(|trouble| lateness(&world, trouble));
        let took = took.unwrap_or(latency);
        // It is done half-way through.
        sleep(took / 2).await;
        let (sense, said) = judge(&world, by, &target, allows, trouble);
        world.judged(index, sense);
        sleep(took - took / 2).await;
        if answer.send(said).is_ok() {
            world.answered(index);
        }
    });
}

/// How long a request takes whose answer comes too late.
fn lateness(world: &World, trouble: Trouble) -> Option<Duration> {
    let timeout = u64::from(world.plan.options.timeout_s);
    matches!(trouble, Trouble::Late { .. }).then(|| Duration::from_secs(timeout + 3))
}

/// Whether a request with this trouble does what it asks for, though the answer does not say so.
fn is_taken(trouble: Trouble) -> bool {
    matches!(
        trouble,
        Trouble::Broken { taken: true }
            | Trouble::Late { taken: true }
            | Trouble::Status { taken: true, .. }
            | Trouble::Unreadable { taken: true }
    )
}

/// What goes wrong with all requests now.
fn trouble_of_all(world: &World) -> Option<Trouble> {
    world.spells().find_map(|spell| match spell {
        SpellKind::All(trouble) => Some(trouble),
        _ => None,
    })
}

fn foreseen(world: &World, target: &Target) -> (Duration, Option<Trouble>) {
    let weather = &world.plan.service;
    let mut service = world.service.borrow_mut();
    let count = service.counted.entry(target.clone()).or_default();
    *count += 1;
    let of = [
        world.plan.seed,
        target.0 as u64,
        u64::from(person(&target.1)),
        *count,
    ];
    let (least, most) = weather.latency_ms;
    let latency = u64::from(least) + chance(&of) % u64::from(most - least + 1);
    let latency = Duration::from_millis(latency);
    if service.is_well {
        return (latency, None);
    }
    let spell = trouble_of_all(world);
    let fate = weather.fate(person(&target.1));
    let trouble = if let Some(trouble) = spell {
        Some(trouble)
    } else if fate == Some(Fate::Breaks) {
        Some(Trouble::Status {
            status: 500,
            taken: false,
        })
    } else if fate == Some(Fate::Unreadable) {
        Some(Trouble::Unreadable { taken: false })
    } else if chance(&[of[3], of[2], of[1], of[0]]) % 100 < u64::from(weather.faulty_percent) {
        let which = chance(&[of[2], of[3], of[0]]) as usize % weather.faults.len();
        Some(weather.faults[which])
    } else {
        None
    };
    (latency, trouble)
}

fn judge(
    world: &World,
    by: usize,
    target: &Target,
    allows: bool,
    trouble: Option<Trouble>,
) -> (Sense, Answered) {
    let mut service = world.service.borrow_mut();
    let weather = &world.plan.service;
    let fate = weather.fate(person(&target.1));
    if let Some(trouble) = trouble {
        if is_taken(trouble) && !fate.is_some_and(Fate::is_never_taken) {
            let is_there = service.leads_of(target).next().is_some();
            if allows || !weather.refuses_duplicates || !is_there {
                service.make(target.clone(), Some(by), world.time_of_day());
            }
        }
        return said_of(world, trouble);
    }
    if !service.is_well {
        let refused = refused_by_spell(world, target);
        if let Some(answer) = refused.or_else(|| limited(world, &mut service)) {
            return answer;
        }
    }
    match fate {
        Some(Fate::Rejected) => {
            let said = json!({"message": "Invalid phone number", "errors": {"phone_number": ["not a number in use"]}});
            return (Sense::Refused(422), reply(422, &[], said.to_string()));
        }
        Some(Fate::RefusedLikeAll) => {
            let status = [302, 403, 404, 405][usize::from(weather.form % 4)];
            return (Sense::Refused(status), refused(status));
        }
        Some(Fate::ComesBack) => return later(world, 423, Hint::Seconds(2)),
        _ => {}
    }
    let is_there = service.leads_of(target).next().is_some();
    if is_there && weather.refuses_duplicates && !allows {
        let (status, said) = match weather.form % 4 {
            0 => (409, json!({"error": "Lead already exists"})),
            1 => (
                422,
                json!({"message": "The phone number has already been taken."}),
            ),
            2 => (400, json!({"message": "Lead is already in this campaign"})),
            _ => (
                422,
                json!({"errors": {"phone_number": ["validation.unique"]}}),
            ),
        };
        return (Sense::Duplicate, reply(status, &[], said.to_string()));
    }
    let id = service.make(target.clone(), Some(by), world.time_of_day());
    let (status, said) = match weather.form / 4 % 4 {
        0 => (200, json!({"message": "ok", "data": {"id": id}})),
        1 => (201, json!({"data": {"id": id, "status": "new"}})),
        2 => (200, json!([{"message": "ok", "data": {"id": id}}])),
        _ => (200, json!({"lead_id": id})),
    };
    (Sense::Created, reply(status, &[], said.to_string()))
}

/// Counts a request, or refuses it since there were too many.
fn limited(world: &World, service: &mut Service) -> Option<(Sense, Answered)> {
    let limit = world.plan.service.limit?;
    let (now, window) = (Instant::now(), Duration::from_secs(limit.seconds.into()));
    service.taken_at.retain(|at| now < *at + window);
    if service.taken_at.len() >= limit.requests.into() {
        let free = service.taken_at[0] + window - now;
        let seconds = free.as_millis().div_ceil(1000) as u64;
        let hint = limit.hint.then_some(Hint::Seconds(seconds as u8));
        return Some(later(world, 429, hint.unwrap_or(Hint::None)));
    }
    service.taken_at.push(now);
    None
}

fn refused_by_spell(world: &World, target: &Target) -> Option<(Sense, Answered)> {
    world.spells().find_map(|spell| match spell {
        SpellKind::Refused(status) => Some((Sense::Refused(status), refused(status))),
        SpellKind::Campaign(campaign, status) if CAMPAIGNS[usize::from(campaign)] == target.0 => {
            let said = match status {
                422 => json!({"message": "invalid", "errors": {"campaign_id": ["The selected campaign is invalid."]}}),
                404 => json!({"message": "Campaign not found"}),
                _ => json!({"message": "Forbidden"}),
            };
            Some((
                Sense::Refused(status),
                reply(status, &[], said.to_string()),
            ))
        }
        _ => None,
    })
}

fn refused(status: u16) -> Answered {
    let said = match status {
        200 => json!({"ok": false, "message": "not verified"}),
        401 => json!({"message": "Unauthenticated."}),
        402 => json!({"code": "INSUFFICIENT_BALANCE"}),
        404 => json!({"message": "Campaign not found"}),
        _ => json!({"message": "Forbidden"}),
    };
    let to = [("location", "/login".to_owned())];
    let headers = if status == 302 { &to[..] } else { &[] };
    reply(status, headers, said.to_string())
}

fn said_of(world: &World, trouble: Trouble) -> (Sense, Answered) {
    match trouble {
        Trouble::NoConnection => (Sense::NotSent, Err(NoAnswer::NotSent)),
        Trouble::Broken { .. } => (Sense::Unclear, Err(NoAnswer::Broken)),
        Trouble::Late { .. } => (Sense::Unclear, Err(NoAnswer::Broken)),
        Trouble::Status { status, .. } => {
            let said = json!({"message": "Server Error"}).to_string();
            (Sense::Unclear, reply(status, &[], said))
        }
        Trouble::Unreadable { .. } => (Sense::Unclear, reply(200, &[], "<html>".to_owned())),
        Trouble::Later { status, hint } => later(world, status, hint),
    }
}

fn later(world: &World, status: u16, hint: Hint) -> (Sense, Answered) {
    let said = json!({"message": "Too many requests"}).to_string();
    let now = world.time_of_day();
    match hint {
        // Without a hint a 503 says nothing about whether it was taken.
        Hint::None if status == 503 => (Sense::Unclear, reply(status, &[], said)),
        Hint::None if status != 429 => (Sense::Refused(status), reply(status, &[], said)),
        Hint::None => (Sense::Later(status, None), reply(status, &[], said)),
        Hint::Seconds(seconds) => {
            let header = [("retry-after", seconds.to_string())];
            let wait = Wait::For(Duration::from_secs(seconds.into()));
            (
                Sense::Later(status, Some(wait)),
                reply(status, &header, said),
            )
        }
        Hint::Date(seconds) => {
            let until = now + Duration::from_secs(seconds.into());
            let date = |at: Timestamp| httpdate::fmt_http_date(at.into());
            let header = [("date", date(now)), ("retry-after", date(until))];
            // A date has whole seconds.
            let wait = Duration::from_secs(u64::from(seconds).saturating_sub(1));
            let wait = Wait::Until(Instant::now() + wait);
            (
                Sense::Later(status, Some(wait)),
                reply(status, &header, said),
            )
        }
    }
}

/// What goes wrong with a call that is not about a new lead. The list of campaigns, which each start asks
/// for, meets only what all requests meet.
fn foreseen_of_call(world: &World, is_of_campaigns: bool) -> Option<Trouble> {
    let mut service = world.service.borrow_mut();
    if service.is_well {
        return None;
    }
    let spell = trouble_of_all(world);
    if spell.is_some() || is_of_campaigns {
        return spell;
    }
    let weather = &world.plan.service;
    service.calls += 1;
    let of = [world.plan.seed, service.calls];
    let is_faulty = chance(&of) % 100 < u64::from(weather.faulty_percent);
    let which = || weather.faults[chance(&[of[1], of[0]]) as usize % weather.faults.len()];
    is_faulty.then(which)
}

/// The refusal of such a call, if there is one.
fn refused_call(world: &World, is_of_campaigns: bool) -> Option<Answered> {
    let mut service = world.service.borrow_mut();
    if service.is_well {
        return None;
    }
    let spell = world.spells().find_map(|spell| match spell {
        SpellKind::Refused(status) => Some(refused(status)),
        _ => None,
    });
    if spell.is_some() || is_of_campaigns {
        return spell;
    }
    limited(world, &mut service).map(|(_, said)| said)
}

fn leads(world: &World, url: &reqwest::Url) -> Answered {
    let asked: HashMap<_, _> = url.query_pairs().into_owned().collect();
    let service = world.service.borrow();
    let campaign: Option<i64> = asked.get("campaign_id").map(|id| id.parse().unwrap());
    let number = asked.get("phone_number");
    let found = service.leads.iter().filter(|lead| {
        campaign.is_none_or(|id| id == lead.target.0)
            && number.is_none_or(|part| lead.target.1.contains(part.as_str()))
    });
    let found: Vec<Value> = found
        .map(|lead| {
            let (campaign, number) = &lead.target;
            let made = lead.made.to_string();
            json!({"id": lead.id, "campaign_id": campaign, "phone_number": number, "created_at": made})
        })
        .collect();
    let now = [("date", httpdate::fmt_http_date(world.time_of_day().into()))];
    reply(200, &now, json!({"data": found}).to_string())
}

fn remove(world: &World, by: usize, id: &str) -> Answered {
    let mut service = world.service.borrow_mut();
    let Some(at) = service.leads.iter().position(|lead| lead.id == id) else {
        return reply(404, &[], json!({"message": "not found"}).to_string());
    };
    let lead = service.leads.remove(at);
    world.say(format!("removed {:?}", lead.target));
    service.removed.push((lead, by));
    reply(200, &[], json!({"message": "ok"}).to_string())
}

fn campaigns() -> Answered {
    let campaigns: Vec<Value> = CAMPAIGNS
        .iter()
        .map(|id| json!({"id": id.to_string(), "name": campaign_name(*id), "status": "active"}))
        .collect();
    reply(200, &[], json!({"campaigns": campaigns}).to_string())
}

fn reply(status: u16, headers: &[(&str, String)], body: String) -> Answered {
    let mut built = http::Response::builder()
        .status(status)
        .header("content-type", "application/json");
    for (name, value) in headers {
        built = built.header(*name, value);
    }
    Ok(Response::from(built.body(body).unwrap()))
}

const _: () = assert!(PEOPLE < 100);
