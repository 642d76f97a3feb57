//! Scenario files, each a service and what sending to it must come to, under a stopped clock.
//!
//! The service is the sandbox itself, without a network; its answers are read by the same
//! code as those of a real one. Files are in `tests/scenarios`, and each explains itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::rc::Rc;

use serde::Deserialize;

use super::tests::prepare_list;
use super::*;
use crate::api::verdict::TransportError;
use crate::api::{Head, REUSE_IDLE_FOR};
use crate::rate::{KnownRate, Rate, RateChoice};
use crate::sandbox::SandboxConfig;
use crate::sandbox::memory::{MemorySandbox, Outcome};

/// A scenario file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    /// How many rows; each has its own number.
    rows: u32,
    /// The campaigns of the rows, in turn; more than one makes a campaign column.
    #[serde(default = "one_campaign")]
    campaigns: Vec<i64>,
    #[serde(default)]
    import: Import,
    #[serde(default)]
    service: SandboxConfig,
    /// Always in a file.
    expect: Option<Expect>,
}

/// The flags of the import.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Import {
    /// `auto` when nothing is said.
    rate: Vec<String>,
    /// `auto` when nothing is said.
    concurrency: Option<NonZeroUsize>,
    max_attempts: Option<u32>,
    stop_after: Option<NonZeroU32>,
    hold: bool,
    max_outage_s: Option<u64>,
    max_duration_s: Option<u64>,
    /// 60 s when nothing is said.
    timeout_ms: Option<u64>,
    /// What an earlier run has learned, and whether answers stated it.
    known: Option<String>,
    known_is_stated: bool,
    /// The service closes connections that are idle for longer, without an answer to the next
    /// request.
    service_closes_idle_after_s: Option<f64>,
    /// How long a request and its answer are on their way, each by chance between the two.
    way_ms: [u64; 2],
}

/// What must come of it. Ranges are inclusive.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// How long it takes.
    seconds: [f64; 2],
    /// Attempts.
    requests: [u64; 2],
    /// The most that were in flight at once.
    peak_in_flight: [u64; 2],
    /// Rows by status; no others.
    rows: BTreeMap<String, u64>,
    /// Why it ends early, if it does.
    stopped_by: Option<String>,
    /// Attempts that were refused: 429 and 503.
    #[serde(default)]
    refused: Option<[u64; 2]>,
    /// Requests in any span of such a length, at most: `100/s`.
    #[serde(default)]
    never_more_than: Vec<String>,
    /// Leads made a second, from the first to the last.
    #[serde(default)]
    pace: Option<[f64; 2]>,
    /// Leads made a second, from this second on.
    #[serde(default)]
    pace_from: Vec<(f64, [f64; 2])>,
    /// How many outages were reported.
    #[serde(default)]
    outages: u32,
}

fn one_campaign() -> Vec<i64> {
    vec![101]
}

/// The sandbox in memory, and a connection to it that is kept while it is used.
#[derive(Clone)]
struct Line {
    service: MemorySandbox,
    timeout: Duration,
    closed_after: Option<f64>,
    last_used: Rc<RefCell<Option<Instant>>>,
    way_ms: [u64; 2],
    began: Instant,
    answers: Rc<RefCell<Vec<(f64, u16)>>>,
}

impl Line {
    /// Whether the request goes out on a connection that the service has just closed.
    fn is_closed(&self) -> bool {
        // A connection that turns out to be closed is not used a second time.
        let Some(last_used) = self.last_used.take() else {
            return false;
        };
        let idle = last_used.elapsed();
        let is_closed = |after| idle.as_secs_f64() > after;
        idle <= REUSE_IDLE_FOR && self.closed_after.is_some_and(is_closed)
    }

    async fn travel(&self) {
        let [least, most] = self.way_ms.map(|ms| ms * 1000);
        if most > 0 {
            let micros = fastrand::u64(least..=most);
            tokio::time::sleep(Duration::from_micros(micros)).await;
        }
    }
}

impl LeadSender for Line {
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static {
        let line = self.clone();
        async move {
            let lost = |lost| Answer::lost(None, lost);
            if line.is_closed() {
                return lost(TransportError::Broken);
            }
            let exchange = async {
                line.travel().await;
                let outcome = line.service.post_lead(body).await;
                line.travel().await;
                outcome
            };
            let answer = tokio::time::timeout(line.timeout, exchange).await;
            line.last_used.replace(Some(Instant::now()));
            match answer {
                Err(_) => lost(TransportError::TimedOut),
                Ok(Outcome::Dropped) => lost(TransportError::Broken),
                Ok(Outcome::Answer(response)) => {
                    let status = response.status().as_u16();
                    let at = line.began.elapsed().as_secs_f64();
                    line.answers.borrow_mut().push((at, status));
                    let head = Head::read(status, response.headers(), line.service.now());
                    Answer::of(&head, response.body())
                }
            }
        }
    }

    fn lists_campaigns(&self) -> impl Future<Output = bool> + 'static {
        std::future::ready(true)
    }
}

/// The result of a scenario.
pub(super) struct Came {
    end: Delivery,
    /// When answers came, in seconds since the start, and their status.
    pub(super) answers: Vec<(f64, u16)>,
    rows: BTreeMap<String, u64>,
    /// When leads were made, in seconds since the start.
    created_at: Vec<f64>,
    outages: u32,
    seconds: f64,
    stats: crate::sandbox::Stats,
}

impl Scenario {
    fn policy(&self) -> Policy {
        let import = &self.import;
        let fixed = ConcurrencyChoice::Fixed;
        Policy {
            concurrency: import.concurrency.map_or(ConcurrencyChoice::Auto, fixed),
            most_in_flight: usize::MAX,
            stop_after: import.stop_after.unwrap_or(NonZeroU32::new(50).unwrap()),
            max_outage: Duration::from_secs(import.max_outage_s.unwrap_or(3600)),
            max_attempts: import.max_attempts.unwrap_or(8),
            on_uncertain: if import.hold {
                OnUncertain::Hold
            } else {
                OnUncertain::Resend
            },
            awaits_token: true,
            form: LeadForm::default(),
        }
    }

    fn rate(&self) -> RateChoice {
        let rates: Vec<&str> = self.import.rate.iter().map(String::as_str).collect();
        match rates[..] {
            [] | ["auto"] => RateChoice::Auto,
            ["none"] => RateChoice::Unlimited,
            _ => RateChoice::Limits(rates.iter().map(|rate| rate.parse().unwrap()).collect()),
        }
    }

    fn list(&self) -> String {
        let several = self.campaigns.len() > 1;
        let mut list = String::from(if several { "phone,list\n" } else { "phone\n" });
        for row in 0..self.rows {
            list.push_str(&format!("+447{:09}", 911_000_000 + row));
            if several {
                let campaign = self.campaigns[row as usize % self.campaigns.len()];
                list.push_str(&format!(",{campaign}"));
            }
            list.push('\n');
        }
        list
    }

    pub(super) fn run(self) -> Came {
        let column = (self.campaigns.len() > 1).then_some("list");
        let (batches, inputs, runtime) =
            prepare_list(self.policy(), &self.list(), self.campaigns[0], column);
        runtime.block_on(async {
            let import = &self.import;
            let service = MemorySandbox::new(self.service.clone()).unwrap();
            let began = Instant::now();
            let line = Line {
                service: service.clone(),
                timeout: Duration::from_millis(import.timeout_ms.unwrap_or(60_000)),
                closed_after: import.service_closes_idle_after_s,
                last_used: Rc::default(),
                way_ms: import.way_ms,
                began,
                answers: Rc::default(),
            };
            let answers = Rc::clone(&line.answers);
            // So that each time is like the last.
            fastrand::seed(7);
            let (mut rows, mut created_at, mut outages) = (BTreeMap::new(), Vec::new(), 0);
            let mut is_away = false;
            let mut events = |event: RunEvent<'_>| match event {
                RunEvent::Settled { outcome, .. } => {
                    *rows.entry(outcome.status.to_string()).or_default() += 1;
                    if outcome.status == Status::Created {
                        created_at.push(began.elapsed().as_secs_f64());
                    }
                }
                RunEvent::Outage { .. } => {
                    outages += u32::from(!is_away);
                    is_away = true;
                }
                RunEvent::Recovered { .. } => is_away = false,
                _ => {}
            };
            let known = import.known.as_ref().map(|rate| KnownRate {
                rate: rate.parse().unwrap(),
                is_stated: import.known_is_stated,
            });
            let (settled, _done) = mpsc::channel(10_000);
            let (_no_signals, signals) = mpsc::channel(1);
            let mut interrupts = Interrupts::new(signals);
            let most = import.max_duration_s.map(Duration::from_secs);
            interrupts.set_deadline(most.map(|most| began + most));
            let pipeline = Pipeline::new(
                line,
                self.policy(),
                RateController::new(&self.rate(), known),
                inputs,
                Destination::Writer(settled),
                &mut events,
            );
            let end = pipeline.run(batches, interrupts).await;
            Came {
                end,
                answers: answers.take(),
                rows,
                created_at,
                outages,
                seconds: began.elapsed().as_secs_f64(),
                stats: service.stats(),
            }
        })
    }
}

impl Came {
    /// Leads made a second, from `from` on.
    fn pace_from(&self, from: f64) -> f64 {
        let made: Vec<f64> = self
            .created_at
            .iter()
            .copied()
            .filter(|at| *at >= from)
            .collect();
        match made[..] {
            [first, .., last] => (made.len() - 1) as f64 / (last - first),
            _ => 0.0,
        }
    }

    fn most_in_any(&self, span: Duration) -> usize {
        let span = span.as_micros() as u64;
        let at = &self.stats.arrivals_us;
        let ends =
            (0..at.len()).map(|first| at[first..].partition_point(|t| *t < at[first] + span));
        ends.max().unwrap_or(0)
    }

    fn refused(&self) -> u64 {
        let refused = &self.stats.refused;
        [429, 503]
            .iter()
            .filter_map(|status| refused.get(status))
            .sum()
    }

    /// What is not as expected.
    fn complaints(&self, expect: &Expect) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut hold = |what: &str, value: f64, range: [f64; 2]| {
            if !RangeInclusive::new(range[0], range[1]).contains(&value) {
                complaints.push(format!("{what}: {value:.3}, expected {range:?}"));
            }
        };
        let whole = |range: [u64; 2]| range.map(|n| n as f64);
        hold("seconds", self.seconds, expect.seconds);
        hold("requests", self.end.requests as f64, whole(expect.requests));
        let peak = self.stats.peak_in_flight as f64;
        hold("peak_in_flight", peak, whole(expect.peak_in_flight));
        if let Some(range) = expect.refused {
            hold("refused", self.refused() as f64, whole(range));
        }
        if let Some(range) = expect.pace {
            hold("pace", self.pace_from(0.0), range);
        }
        for (from, range) in &expect.pace_from {
            hold(
                &format!("pace from {from} s on"),
                self.pace_from(*from),
                *range,
            );
        }
        for rate in &expect.never_more_than {
            let rate: Rate = rate.parse().unwrap();
            let most = self.most_in_any(rate.per);
            hold(
                &rate.to_string(),
                most as f64,
                [0.0, f64::from(rate.requests.get())],
            );
        }
        hold(
            "outages",
            f64::from(self.outages),
            [f64::from(expect.outages); 2],
        );
        if self.rows != expect.rows {
            complaints.push(format!("rows: {:?}, expected {:?}", self.rows, expect.rows));
        }
        let stopped_by = self.end.stop.as_ref().map(|stop| stop.by().to_string());
        if stopped_by != expect.stopped_by {
            complaints.push(format!(
                "stopped by {:?}, expected {:?}",
                self.end.stop, expect.stopped_by
            ));
        }
        complaints
    }
}

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "scenarios"]
        .iter()
        .collect()
}

fn check(name: &str) {
    let text = fs::read_to_string(folder().join(format!("{name}.toml"))).unwrap();
    let scenario: Scenario = toml_edit::de::from_str(&text).unwrap();
    let expect: Scenario = toml_edit::de::from_str(&text).unwrap();
    let came = scenario.run();
    println!(
        "{name}: {:.1} s, {} requests, {} refused, peak {}, pace {:.2}, rows {:?}, outages {}, stop {:?}",
        came.seconds,
        came.end.requests,
        came.refused(),
        came.stats.peak_in_flight,
        came.pace_from(0.0),
        came.rows,
        came.outages,
        came.end.stop,
    );
    let complaints = came.complaints(&expect.expect.unwrap());
    assert!(
        complaints.is_empty(),
        "{name}:\n  {}",
        complaints.join("\n  ")
    );
}

/// A test for each file, and one that no file is forgotten.
macro_rules! scenarios {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_scenario_file_is_a_test() {
            let mut files: Vec<String> = fs::read_dir(folder())
                .unwrap()
                .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            files.sort_unstable();
            let mut tests = vec![$(stringify!($name)),*];
            tests.sort_unstable();
            assert_eq!(files, tests);
        }
    };
}

scenarios! {
    a_503_with_a_wait_holds_all_and_teaches_no_pace
    a_fraction_of_a_request_a_second_is_kept_to
    a_limit_that_halves_midway_is_found_again
    a_lost_answer_under_hold_is_nobodys_second_call
    a_quota_that_is_used_up_is_waited_for_before_anything_is_refused
    a_steady_limit_of_our_own_is_used_to_the_full
    a_storm_of_refusals_without_hints_is_waited_out
    a_token_that_is_revoked_midway_stops_at_once
    a_wait_in_seconds_is_obeyed_to_the_second
    a_wait_in_the_body_is_obeyed
    a_wait_of_an_hour_is_asked_after
    a_wait_until_a_date_is_obeyed
    an_empty_balance_stops_at_once
    an_outage_at_the_beginning_is_waited_for
    an_outage_of_five_minutes_costs_no_row
    an_outage_that_lasts_too_long_stops
    answers_that_never_come_are_given_up_after_the_timeout
    auto_finds_300_a_minute_that_answers_state
    auto_finds_300_a_minute_without_headers
    auto_finds_60_a_minute_that_answers_state
    auto_finds_60_a_minute_without_headers
    auto_goes_to_10_a_second_where_20_are_allowed
    auto_goes_to_20_a_second_that_answers_state
    auto_starts_where_the_last_run_has_come_to
    connections_are_let_go_before_the_service_closes_them
    connections_that_the_service_closes_cost_a_second_attempt
    every_tenth_answer_is_lost
    four_rows_that_always_fail_are_no_outage
    latency_that_grows_slowly_keeps_few_in_flight
    many_in_flight_at_once_find_a_sliding_limit_too
    no_limit_of_our_own_finds_a_sliding_limit
    one_campaign_of_three_that_is_refused_ends_alone
    one_row_that_always_fails_stops_nobody
    refusals_for_too_long_stop_too
    refusals_of_two_campaigns_in_turn_under_hold_come_to_an_end
    rows_rejected_alike_in_a_row_stop
    ten_answers_that_cannot_be_read_stop_at_the_beginning
    the_time_that_a_run_is_given_ends_it_cleanly
    two_windows_of_our_own_hold_at_once
}
