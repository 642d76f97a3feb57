//! Which events are logged, and when. The fields of JSON lines are described in `docs/json.md`.
//!
//! Lines have row numbers but never a phone number or a variable. Events that
//! repeat are logged once. If there is no bar, progress is logged at intervals.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing::{Level, debug, enabled, info, warn};

use super::bar::sending;
use super::outcome::Outcome;
use super::progress::{Progress, Work, counts, per_time, row_count};
use super::stop_text::{in_words, stopped};
use super::summary::seconds;
use super::tally::Tally;
use super::{Show, console};
use crate::event::{ByChance, Pause, RunEvent, Waiting};
use crate::exit::{Failure, StoppedBy};
use crate::lead::{ErrorCode, RowId, RowOutcome, Status};
use crate::rate::{Pace, Rate};
use crate::source::Row;
use crate::text::counted;

/// Logs an event with a field for every status.
macro_rules! info_with_counts {
    ($counts:expr, $($field:ident = $value:expr),*; $($text:tt)*) => {{
        let counts = &$counts;
        info!(
            $($field = $value,)*
            created = counts.of(Status::Created),
            duplicate = counts.of(Status::Duplicate),
            repeated = counts.of(Status::Repeated),
            already_imported = counts.of(Status::AlreadyImported),
            excluded = counts.of(Status::Excluded),
            suppressed = counts.of(Status::Suppressed),
            invalid = counts.of(Status::Invalid),
            rejected = counts.of(Status::Rejected),
            failed = counts.of(Status::Failed),
            uncertain = counts.of(Status::Uncertain),
            ready = counts.of(Status::Ready),
            $($text)*
        );
    }};
}

/// When progress is first logged, after the start.
const FIRST: Duration = Duration::from_secs(10);

/// How often progress is logged after [`FIRST`].
const EVERY: Duration = Duration::from_secs(60);

/// A rate that differs from the logged one by this factor is logged at once.
/// Other changes wait until [`EVERY`] has passed since the last logged one.
const BIG_CHANGE: f64 = 2.0;

/// A wait this long is a warning, which text shows without `-v`.
const LONG_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct EventLog {
    show: Show,
    work: Work,
    /// When the work began. A check has no pulses, which would give the time.
    began: Instant,
    next: Duration,
    /// What was logged last, and when; `Some((None, …))` means no limit.
    paced: Option<(Option<Pace>, Duration)>,
    /// Whether the wait that was logged last, and is not over, is a long one.
    held: Option<bool>,
    has_outage: bool,
    /// The wait that was logged by the last pulse.
    waits_for: Option<&'static str>,
}

impl EventLog {
    pub fn new(show: Show, work: Work) -> EventLog {
        EventLog {
            show,
            work,
            began: Instant::now(),
            next: FIRST,
            paced: None,
            held: None,
            has_outage: false,
            waits_for: None,
        }
    }

    pub fn logs_progress(&self) -> bool {
        match self.show {
            Show::Bar => false,
            Show::Log => enabled!(Level::INFO),
            Show::Lines => true,
        }
    }

    pub fn log(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
        match event {
            RunEvent::Settled { row, outcome, .. } => {
                log_settled(row, outcome);
                if self.work == Work::Checking {
                    self.log_progress(self.began.elapsed(), tally, progress);
                }
            }
            RunEvent::Answered {
                row,
                http_status: Some(http_status),
                request_id: Some(request_id),
                ..
            } => log_refusal(*row, *http_status, request_id),
            RunEvent::Answered { .. } => {}
            RunEvent::Retrying {
                row,
                attempt,
                after,
                why,
            } => log_retry(*row, *attempt, *after, *why),
            RunEvent::Held { wait, why } => self.log_held(*wait, *why),
            RunEvent::AwaitsToken { longest } => log_token_awaited(*longest),
            RunEvent::Outage {
                since,
                why,
                reason,
                next,
            } => self.log_outage(*since, *why, *reason, *next, tally),
            RunEvent::Recovered { outage } => {
                self.has_outage = false;
                let outage_s = outage.as_secs_f64();
                let outage = seconds(outage_s);
                warn!(
                    event = "recovered",
                    outage_s, "the service answers again, after {outage}"
                );
            }
            RunEvent::RefusedByChance(found) => log_chance(*found),
            RunEvent::CampaignStopped { campaign, by } => warn!(
                event = "campaign_stopped",
                campaign = campaign.0,
                stopped_by = by.as_str(),
                "campaign {campaign}: {}; its rows wait, and the others go on",
                in_words(*by)
            ),
            RunEvent::Stopping { by, in_flight } => log_stopping(*by, *in_flight),
            RunEvent::Pulse(pulse) => {
                self.held = self.held.filter(|_| pulse.pause.is_some());
                self.log_wait(pulse.pause.as_ref(), tally, progress);
                self.log_pace(pulse.allowed, pulse.elapsed);
                self.log_progress(pulse.elapsed, tally, progress);
            }
        }
    }

    fn log_held(&mut self, wait: Duration, why: ErrorCode) {
        let is_long = wait >= LONG_WAIT;
        // All that was in flight is refused at once: that is one wait.
        if self.held.is_some_and(|was_long| was_long || !is_long) {
            return;
        }
        self.held = Some(is_long);
        let wait_s = wait.as_secs_f64();
        let text = format!(
            "the service refuses for now ({why}); all wait {}",
            seconds(wait_s)
        );
        match is_long {
            true => warn!(event = "held", wait_s, reason = %why, "{text}"),
            false => info!(event = "held", wait_s, reason = %why, "{text}"),
        }
    }

    /// Logs a wait that no other event tells of, once.
    fn log_wait(&mut self, pause: Option<&Pause>, tally: &Tally, progress: &Progress) {
        let pause = pause.filter(|pause| pause.why.is_told_by_pulses());
        let word = pause.map(|pause| pause.why.word());
        let is_new = std::mem::replace(&mut self.waits_for, word) != word;
        let Some(pause) = pause.filter(|_| is_new) else {
            return;
        };
        let wait_s = Some(pause.left.as_secs_f64()).filter(|left| *left > 0.0);
        let rows = match &pause.why {
            Waiting::Others { rows, .. } => Some(*rows),
            _ => None,
        };
        let state = progress.state(tally.in_flight, &TimeZone::UTC);
        let state = state.map(|state| state.to_string()).unwrap_or_default();
        warn!(event = "waiting", reason = word, wait_s, rows, "{state}");
    }

    fn log_outage(
        &mut self,
        since: Timestamp,
        why: ErrorCode,
        reason: Option<&str>,
        next: Duration,
        tally: &Tally,
    ) {
        let (since, next_s) = (since.to_string(), next.as_secs_f64());
        let words = match reason {
            Some(reason) if why == ErrorCode::Connection => reason.to_owned(),
            Some(reason) => format!("{why}: {reason}"),
            None => why.to_string(),
        };
        if std::mem::replace(&mut self.has_outage, true) {
            info!(event = "outage", since, reason = %why, next_s,
                "still no usable answer ({words}); trying again in {}", seconds(next_s));
            return;
        }
        // This is the first sign of a mistyped address.
        let hint = match tally.counts.of(Status::Created) {
            0 => ". Is the address right?",
            _ => "",
        };
        let what = match why {
            ErrorCode::Connection => "cannot be reached",
            _ => "gives no usable answer",
        };
        warn!(event = "outage", since, reason = %why, next_s,
            "the service {what} ({words}); trying again until it answers{hint}");
    }

    /// Logs the limit, if it differs enough from the logged one.
    fn log_pace(&mut self, pace: Option<Pace>, now: Duration) {
        if let Some((logged, at)) = self.paced {
            let is_soon = now.saturating_sub(at) < EVERY;
            if logged == pace || is_soon && change(logged, pace) < BIG_CHANGE {
                return;
            }
        }
        self.paced = Some((pace, now));
        let allowed_per_s = pace.map(|pace| pace.rate.pace());
        match pace {
            Some(pace) => info!(event = "paced", allowed_per_s, "sending up to {pace}"),
            None => info!(event = "paced", allowed_per_s, "sending without a limit"),
        }
    }

    /// Logs progress, if it is due. `now` is the time since the work began.
    fn log_progress(&mut self, now: Duration, tally: &Tally, progress: &Progress) {
        if self.show == Show::Bar || now < self.next {
            return;
        }
        self.next = now + EVERY;
        let rows = row_count(tally.counts.total(), progress.total());
        let counts = counts(&tally.counts, self.work);
        let text = match self.work {
            Work::Sending => {
                let state = sending(tally, progress, &TimeZone::UTC);
                format!("{rows}: {counts}; {state}")
            }
            Work::Checking => format!("{rows} checked: {counts}"),
        };
        if self.show == Show::Lines && !enabled!(Level::INFO) {
            return console::note(&format!("{text}\n"));
        }
        info_with_counts!(
            tally.counts,
            event = "progress",
            rows = tally.counts.total(),
            rows_total = progress.total(),
            in_flight = tally.in_flight,
            pace_per_s = progress.pace_seen(),
            allowed_per_s = progress.allowed.map(|pace| pace.rate.pace()),
            elapsed_s = now.as_secs_f64(),
            left_s = progress.left().map(|left| left.as_secs_f64()),
            waiting = progress.waits_for();
            "{text}"
        );
    }
}

fn log_settled(row: &Row<'_>, outcome: &RowOutcome) {
    let (row, line, status) = (row.id().0, row.line(), outcome.status.as_str());
    let attempts = outcome.attempts;
    debug!(
        event = "settled",
        row,
        line,
        status,
        attempts,
        "row {row} (line {line}): {status}, {}",
        counted(attempts.into(), "attempt")
    );
}

/// Only with an id: by that the service finds what it has refused.
fn log_refusal(row: RowId, http_status: u16, request_id: &str) {
    let row = row.0;
    info!(
        event = "refused",
        row, http_status, request_id, "row {row}: HTTP {http_status} (request id {request_id})"
    );
}

fn log_retry(row: RowId, attempt: u32, after: Duration, why: ErrorCode) {
    let (row, after_s) = (row.0, after.as_secs_f64());
    info!(
        event = "retrying",
        row,
        attempt,
        after_s,
        reason = %why,
        "row {row}: no usable answer ({why}) to attempt {attempt}; trying again in {after_s:.1} s"
    );
}

fn log_token_awaited(longest: Duration) {
    let wait_s = longest.as_secs_f64();
    let longest = seconds(wait_s);
    warn!(
        event = "token_awaited",
        wait_s,
        "the service no longer accepts the access token; for {longest} its file is looked at, and a new one in it is used"
    );
}

fn log_stopping(by: StoppedBy, in_flight: usize) {
    let waits = match in_flight {
        0 => String::new(),
        _ => format!("; waiting for {}", counted(in_flight as u64, "answer")),
    };
    warn!(
        event = "stopping",
        stopped_by = by.as_str(),
        in_flight,
        "stopping: {}{waits}",
        in_words(by)
    );
}

fn log_chance(found: ByChance) {
    let told = |(share, rate): (f64, Rate)| {
        format!("{:.0} % at up to {}", share * 100.0, per_time(rate.pace()))
    };
    let ByChance { before, slower } = found;
    warn!(
        event = "refused_by_chance",
        share = before.0,
        at_per_s = before.1.pace(),
        slower_share = slower.0,
        slower_at_per_s = slower.1.pace(),
        "slowing down does not lower the share of refusals: {}, {}; the pace is no longer lowered for them, and each wait that the service asks for is kept",
        told(before),
        told(slower)
    );
}

/// By what factor the pace has changed; infinite if its source is another one now.
fn change(from: Option<Pace>, to: Option<Pace>) -> f64 {
    match (from, to) {
        (Some(from), Some(to)) if from.source == to.source => {
            let factor = from.rate.pace() / to.rate.pace();
            factor.max(factor.recip())
        }
        (None, None) => 1.0,
        _ => f64::INFINITY,
    }
}

/// Logs that an import is about to send: whether it continues, if there
/// is a ledger; and the campaign's id or name, if one is given for all rows.
pub fn log_import(
    continues: Option<bool>,
    inputs: usize,
    service: &str,
    campaign: Option<String>,
    campaign_column: Option<&str>,
) {
    let begins = match continues {
        Some(true) => "import continues",
        Some(false) => "import starts",
        None => "import starts, without a ledger",
    };
    info!(
        event = "start",
        command = "import",
        version = env!("CARGO_PKG_VERSION"),
        continues = continues.unwrap_or(false),
        inputs,
        service,
        campaign,
        campaign_column,
        "{begins}: {} to {service}",
        counted(inputs as u64, "input")
    );
}

pub fn log_check(inputs: usize) {
    info!(
        event = "start",
        command = "check",
        version = env!("CARGO_PKG_VERSION"),
        inputs,
        "checking {}",
        counted(inputs as u64, "input")
    );
}

pub fn log_end(outcome: &Outcome<'_>) {
    let stopped_by = outcome.stop.as_ref().map(|stop| stop.by().as_str());
    let exit_code = outcome.exit_code as u8;
    let rows = outcome.tally.counts.total();
    let rows_done = format!("after {}", counted(rows, "row"));
    let how = match &outcome.stop {
        Some(stop) => format!("stopped {}", stopped(stop, &rows_done)),
        None => format!("complete {rows_done}"),
    };
    info_with_counts!(
        outcome.tally.counts,
        event = "end",
        exit_code = exit_code,
        complete = outcome.stop.is_none(),
        stopped_by = stopped_by,
        rows = rows,
        rows_total = outcome.rows_total,
        known_bad = outcome.tally.known_bad,
        requests = outcome.requests,
        elapsed_s = (outcome.elapsed_s * 1000.0).round() / 1000.0;
        "{how}, exit code {exit_code}"
    );
}

pub fn log_failure(failure: &Failure) {
    let (by, exit_code) = (failure.stopped_by, failure.stopped_by.exit_code() as u8);
    info!(
        event = "end",
        exit_code,
        complete = false,
        stopped_by = by.as_str(),
        rows_total = failure.rows_total,
        "stopped ({by}), exit code {exit_code}"
    );
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::event::Pulse;
    use crate::exit::StoppedBy;
    use crate::lead::CampaignId;
    use crate::options::LogFormat;
    use crate::report::{RowTotal, log};

    /// The JSON lines that are logged while `work` runs.
    fn logged_as_json(work: impl FnOnce()) -> Vec<serde_json::Value> {
        let written = Arc::new(Mutex::new(Vec::new()));
        #[derive(Clone)]
        struct Paper(Arc<Mutex<Vec<u8>>>);
        impl Write for Paper {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let paper = Paper(Arc::clone(&written));
        let lines = log::lines(Level::DEBUG, LogFormat::Json, move || paper.clone());
        tracing::dispatcher::with_default(&lines, work);
        let written = String::from_utf8(written.lock().unwrap().clone()).unwrap();
        let lines = written.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What the first pulse logs.
    const PACED: &str = "INFO: sending up to 100/min, as the service states";

    fn pulse(second: u64, pause: Option<Pause>) -> RunEvent<'static> {
        paced(second, Some(100), pause)
    }

    fn paced(second: u64, per_minute: Option<u32>, pause: Option<Pause>) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(second),
            allowed: per_minute.map(|limit| Pace::stated(Rate::per_minute(limit))),
            in_flight: 3,
            requests: 0,
            read: 10_000,
            waiting: 8800,
            pause,
        })
    }

    fn held(seconds: u64) -> RunEvent<'static> {
        RunEvent::Held {
            wait: Duration::from_secs(seconds),
            why: ErrorCode::Http(429),
        }
    }

    fn refused(seconds: u64) -> Option<Pause> {
        Some(Waiting::Asked.lasting(Duration::from_secs(seconds)))
    }

    fn outage(next: u64) -> RunEvent<'static> {
        RunEvent::Outage {
            since: Timestamp::UNIX_EPOCH,
            why: ErrorCode::Timeout,
            reason: None,
            next: Duration::from_secs(next),
        }
    }

    /// The lines that are logged for these events, each with its level.
    fn logged(show: Show, events: &[RunEvent<'_>]) -> Vec<String> {
        let total = RowTotal::default();
        total.set(10_000).unwrap();
        let mut progress = Progress::new(total);
        let mut event_log = EventLog::new(show, Work::Sending);
        let lines = logged_as_json(|| {
            for event in events {
                progress.count(event);
                event_log.log(event, &Tally::midway(), &progress);
            }
        });
        let word = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
        let lines = lines.iter();
        lines
            .map(|line| format!("{}: {}", word(line, "level"), word(line, "message")))
            .collect()
    }

    #[test]
    fn an_outage_is_logged_once_and_each_attempt_only_with_verbose() {
        let recovered = RunEvent::Recovered {
            outage: Duration::from_secs(750),
        };
        let events = [outage(1), outage(5), recovered, outage(1)];
        assert_eq!(
            logged(Show::Bar, &events),
            [
                "WARN: the service gives no usable answer (timeout); trying again until it answers",
                "INFO: still no usable answer (timeout); trying again in 5.0 s",
                "WARN: the service answers again, after 12 min 30 s",
                "WARN: the service gives no usable answer (timeout); trying again until it answers",
            ]
        );
    }

    #[test]
    fn a_wait_is_logged_once_however_many_requests_are_refused() {
        let events = [
            held(17),
            held(17),
            pulse(1, refused(16)),
            held(16),
            pulse(18, None),
            held(5),
            held(900),
            held(899),
            pulse(19, refused(898)),
            held(5),
        ];
        assert_eq!(
            logged(Show::Bar, &events),
            [
                "INFO: the service refuses for now (http_429); all wait 17.0 s",
                PACED,
                "INFO: the service refuses for now (http_429); all wait 5.0 s",
                "WARN: the service refuses for now (http_429); all wait 15 min 0 s",
            ]
        );
    }

    #[test]
    fn a_wait_that_only_pulses_tell_of_is_logged_once() {
        let wait = |second, left, why: Waiting| {
            pulse(second, Some(why.lasting(Duration::from_secs(left))))
        };
        let others = |rows| Waiting::Others {
            rows,
            by: Some("run 3 of ada on desk".into()),
        };
        let events = [
            wait(1, 63, Waiting::Pace),
            wait(2, 62, Waiting::Pace),
            pulse(3, None),
            wait(4, 20, others(1)),
            wait(5, 20, others(2)),
            wait(6, 9, Waiting::Asked),
            wait(7, 20, others(2)),
        ];
        let claimed = |rows: &str| {
            format!(
                "WARN: waiting for {rows} that run 3 of ada on desk has claimed, 20 s at most if it was killed"
            )
        };
        assert_eq!(
            logged(Show::Bar, &events),
            [
                "WARN: the rate is used up by what was sent before, going on in 63 s".to_owned(),
                PACED.to_owned(),
                claimed("1 row"),
                claimed("2 rows"),
            ]
        );
    }

    #[test]
    fn a_stopped_campaign_is_logged_at_the_default_level() {
        let stopped = RunEvent::CampaignStopped {
            campaign: CampaignId(102),
            by: StoppedBy::Campaign,
        };
        assert_eq!(
            logged(Show::Bar, &[stopped]),
            [
                "WARN: campaign 102: the service refuses the campaign; its rows wait, and the others go on"
            ]
        );
    }

    #[test]
    fn a_changed_pace_is_logged_at_once_and_a_steady_one_after_a_while() {
        let paced = |second, per_minute| paced(second, per_minute, None);
        let events = [
            paced(0, Some(100)),
            paced(5, Some(110)),
            paced(59, Some(120)),
            paced(60, Some(120)),
            paced(61, Some(120)),
            paced(62, Some(60)),
            paced(63, None),
        ];
        assert_eq!(
            logged(Show::Bar, &events),
            [
                "INFO: sending up to 100/min, as the service states",
                "INFO: sending up to 120/min, as the service states",
                "INFO: sending up to 60/min, as the service states",
                "INFO: sending without a limit",
            ]
        );
    }

    #[test]
    fn without_a_bar_progress_is_logged_every_minute() {
        let seconds: Vec<_> = (1..=140).map(|second| pulse(second, None)).collect();
        let lines = logged(Show::Log, &seconds);
        assert_eq!(
            lines[1],
            "INFO: 1,200 of 10,000 rows (12 %): 1,180 created, 20 rejected; up to 100/min, as the service states, 3 in flight, about 1 h 30 min left"
        );
        assert_eq!(lines.len(), 4);
        assert_eq!(logged(Show::Bar, &seconds), [PACED]);
    }

    #[test]
    fn while_all_requests_wait_the_reason_is_logged() {
        assert_eq!(
            logged(Show::Log, &[pulse(10, refused(37))]),
            [
                PACED,
                "INFO: 1,200 of 10,000 rows (12 %): 1,180 created, 20 rejected; the service asks to wait 37 s, about 1 h 30 min left"
            ]
        );
    }

    #[test]
    fn progress_of_a_check_is_logged_after_ten_seconds_and_every_minute() {
        let told = |show| {
            let mut event_log = EventLog::new(show, Work::Checking);
            let (tally, progress) = (Tally::midway(), Progress::default());
            logged_as_json(|| {
                for second in 0..100 {
                    event_log.log_progress(Duration::from_secs(second), &tally, &progress);
                }
            })
        };
        assert_eq!(told(Show::Bar), [""; 0]);
        let lines = told(Show::Log);
        let seconds: Vec<_> = lines.iter().map(|line| &line["elapsed_s"]).collect();
        assert_eq!(seconds, [10.0, 70.0]);
        assert_eq!(
            lines[0]["message"],
            "1,200 rows checked: 1,180 created, 20 rejected"
        );
        assert_eq!(lines[0]["event"], "progress");
    }

    #[test]
    fn every_json_line_has_the_values_of_its_message_as_fields() {
        let total = RowTotal::default();
        total.set(10_000).unwrap();
        let mut progress = Progress::new(total);
        let mut event_log = EventLog::new(Show::Log, Work::Sending);
        let events = [
            paced(0, Some(90), None),
            held(37),
            outage(5),
            RunEvent::Recovered {
                outage: Duration::from_secs(750),
            },
            RunEvent::Answered {
                row: RowId(7),
                http_status: Some(500),
                asks_to_wait: false,
                request_id: Some("abc"),
            },
            RunEvent::Retrying {
                row: RowId(7),
                attempt: 2,
                after: Duration::from_millis(1500),
                why: ErrorCode::Timeout,
            },
            RunEvent::CampaignStopped {
                campaign: CampaignId(102),
                by: StoppedBy::Campaign,
            },
            pulse(10, refused(37)),
            pulse(
                11,
                Some(Waiting::Others { rows: 2, by: None }.lasting(Duration::from_secs(20))),
            ),
            RunEvent::RefusedByChance(ByChance {
                before: (0.375, Rate::per_minute(90)),
                slower: (0.5, Rate::per_minute(45)),
            }),
            RunEvent::Stopping {
                by: StoppedBy::Signal,
                in_flight: 3,
            },
        ];
        let lines = logged_as_json(|| {
            for event in &events {
                progress.count(event);
                event_log.log(event, &Tally::midway(), &progress);
            }
        });
        let fields = |line: &serde_json::Value| {
            let mut fields = line.as_object().unwrap().clone();
            for of_every_line in ["timestamp", "message"] {
                assert!(fields.shift_remove(of_every_line).unwrap().is_string());
            }
            serde_json::to_string(&fields).unwrap()
        };
        let lines: Vec<String> = lines.iter().map(fields).collect();
        assert_eq!(
            lines,
            [
                r#"{"level":"INFO","event":"paced","allowed_per_s":1.5}"#,
                r#"{"level":"WARN","event":"held","wait_s":37.0,"reason":"http_429"}"#,
                r#"{"level":"WARN","event":"outage","since":"1970-01-01T00:00:00Z","reason":"timeout","next_s":5.0}"#,
                r#"{"level":"WARN","event":"recovered","outage_s":750.0}"#,
                r#"{"level":"INFO","event":"refused","row":7,"http_status":500,"request_id":"abc"}"#,
                r#"{"level":"INFO","event":"retrying","row":7,"attempt":2,"after_s":1.5,"reason":"timeout"}"#,
                r#"{"level":"WARN","event":"campaign_stopped","campaign":102,"stopped_by":"campaign"}"#,
                r#"{"level":"INFO","event":"progress","rows":1200,"rows_total":10000,"in_flight":3,"allowed_per_s":1.6666666666666667,"elapsed_s":10.0,"left_s":5317.0,"waiting":"refused","created":1180,"duplicate":0,"repeated":0,"already_imported":0,"excluded":0,"suppressed":0,"invalid":0,"rejected":20,"failed":0,"uncertain":0,"ready":0}"#,
                r#"{"level":"WARN","event":"waiting","reason":"claims","wait_s":20.0,"rows":2}"#,
                r#"{"level":"WARN","event":"refused_by_chance","share":0.375,"at_per_s":1.5,"slower_share":0.5,"slower_at_per_s":0.75}"#,
                r#"{"level":"WARN","event":"stopping","stopped_by":"signal","in_flight":3}"#,
            ]
        );
    }

    #[test]
    fn every_event_is_documented() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md");
        let table = std::fs::read_to_string(page).unwrap();
        let source = include_str!("event_log.rs");
        let source = source.split("#[cfg(test)]").next().unwrap();
        for word in source.split("event = \"").skip(1) {
            let word = word.split('"').next().unwrap();
            assert!(table.contains(&format!("`{word}`")), "{word}");
        }
    }
}
