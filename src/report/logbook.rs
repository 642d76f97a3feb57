//! What is worth a line in the log, and when.
//!
//! Lines carry row numbers and never a phone number or a variable. What would be said
//! again and again is said once, and where there is no bar it is said every so often how
//! the run stands.

use std::time::Duration;

use tracing::{Level, debug, info, warn};

use super::progress::{Progress, counts};
use super::summary::seconds;
use super::tally::Tally;
use crate::api::verdict::Wait;
use crate::event::RunEvent;
use crate::lead::{ErrorCode, Status};
use crate::rate::Rate;
use crate::text::{counted, grouped};

/// When it is first said how a run stands, by the time since the sending began …
const FIRST: Duration = Duration::from_secs(10);

/// … and how often from then on.
const EVERY: Duration = Duration::from_secs(60);

/// Small changes of the pace are told no more often than this …
const PACE_EVERY: Duration = Duration::from_secs(10);

/// … and those from this share on at once.
const REAL_CHANGE: f64 = 0.1;

/// What has been said.
#[derive(Debug)]
pub struct Logbook {
    /// When to say next how the run stands; never where a bar shows it.
    next: Option<Duration>,
    /// The pace that was told last, and when.
    paced: Option<(Option<Rate>, Duration)>,
    /// As what the wait that is on was told.
    held_at: Option<Level>,
    has_outage: bool,
}

/// A line.
#[derive(Debug, PartialEq)]
struct Line {
    level: Level,
    text: String,
}

impl Line {
    fn warn(text: impl Into<String>) -> Option<Line> {
        Some(Line {
            level: Level::WARN,
            text: text.into(),
        })
    }

    fn info(text: impl Into<String>) -> Option<Line> {
        Some(Line {
            level: Level::INFO,
            text: text.into(),
        })
    }
}

impl Logbook {
    /// An empty one; `tells_progress` where no bar does.
    pub fn new(tells_progress: bool) -> Logbook {
        Logbook {
            next: tells_progress.then_some(FIRST),
            paced: None,
            held_at: None,
            has_outage: false,
        }
    }

    /// Logs what is worth a line.
    pub fn note(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
        match event {
            RunEvent::Settled { row, outcome, .. } => debug!(
                row = row.id().0,
                line = row.line(),
                status = outcome.status.as_str(),
                attempts = outcome.attempts,
                "settled"
            ),
            RunEvent::Retrying {
                row,
                attempt,
                after,
                why,
            } => info!(
                row = row.0,
                attempt,
                "no usable answer ({why}); trying again in {:.1} s",
                after.as_secs_f64()
            ),
            _ => match self.line(event, tally, progress) {
                Some(line) if line.level == Level::WARN => warn!("{}", line.text),
                Some(line) => info!("{}", line.text),
                None => {}
            },
        }
    }

    /// The line for an event that is about the run as a whole.
    fn line(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) -> Option<Line> {
        match event {
            RunEvent::Held { wait, hint, why } => self.held(*wait, *hint, *why),
            RunEvent::Paced(rate) => self.paced(*rate, progress.elapsed()),
            RunEvent::Outage {
                why, reason, next, ..
            } => {
                let why = match reason {
                    Some(reason) => format!("{why}: {reason}"),
                    None => why.to_string(),
                };
                let next = seconds(next.as_secs_f64());
                match std::mem::replace(&mut self.has_outage, true) {
                    false => {
                        // Somebody who has mistyped the address sees it here first.
                        let hint = match tally.counts.of(Status::Created) {
                            0 => " (is the base URL right?)",
                            _ => "",
                        };
                        Line::warn(format!(
                            "the service gives no usable answers ({why}); all rows wait, and one is tried again in {next}{hint}"
                        ))
                    }
                    true => Line::info(format!(
                        "still no usable answer ({why}); trying again in {next}"
                    )),
                }
            }
            RunEvent::Recovered { outage } => {
                self.has_outage = false;
                let outage = seconds(outage.as_secs_f64());
                Line::warn(format!("the service answers again, after {outage}"))
            }
            RunEvent::CampaignStopped { campaign, by } => Line::warn(format!(
                "campaign {campaign} takes no more leads ({by}); its rows wait, and the others go on"
            )),
            RunEvent::Stopping { by, in_flight } => {
                let requests = counted(*in_flight as u64, "request");
                Line::warn(format!(
                    "stopping ({by}); {requests} in flight, to be awaited"
                ))
            }
            RunEvent::Pulse(pulse) => {
                self.held_at = self.held_at.filter(|_| pulse.pause.is_some());
                let is_due = self.next.is_some_and(|next| pulse.elapsed >= next);
                if !is_due {
                    return None;
                }
                self.next = Some(pulse.elapsed + EVERY);
                Line::info(standing(tally, progress))
            }
            RunEvent::Settled { .. } | RunEvent::Retrying { .. } | RunEvent::InFlight(_) => None,
        }
    }

    fn held(&mut self, wait: Duration, hint: Wait, why: ErrorCode) -> Option<Line> {
        let line = |says| {
            let wait = wait.as_secs_f64();
            format!("the service refuses for now ({why}){says}; all wait {wait:.1} s")
        };
        let line = match hint {
            Wait::Unsaid | Wait::Said(_) => Line::info(line("")),
            Wait::Senseless => Line::warn(line(" and says no sensible time")),
            Wait::Bounded => Line::warn(line(" and for longer than is waited at once")),
        };
        // All that was in flight is refused at once: that is one wait.
        let level = line.as_ref().map(|line| line.level);
        let is_told =
            self.held_at.is_some() && (self.held_at == level || level == Some(Level::INFO));
        if is_told {
            return None;
        }
        self.held_at = level;
        line
    }

    fn paced(&mut self, rate: Option<Rate>, now: Duration) -> Option<Line> {
        if let Some((told, at)) = self.paced {
            let is_late = now.saturating_sub(at) >= PACE_EVERY;
            if rate == told || !is_late && !is_real_change(told, rate) {
                return None;
            }
        }
        self.paced = Some((rate, now));
        Line::info(match rate {
            Some(rate) => format!("up to {rate} are sent from now on"),
            None => "no limit of our own from now on".to_owned(),
        })
    }
}

/// Whether somebody who watches would call it another pace.
fn is_real_change(told: Option<Rate>, now: Option<Rate>) -> bool {
    let per_second = |rate: Rate| rate.time_for(1).as_secs_f64().recip();
    match (told.map(per_second), now.map(per_second)) {
        (Some(told), Some(now)) => (now / told - 1.0).abs() >= REAL_CHANGE - 1e-9,
        (None, None) => false,
        _ => true,
    }
}

/// How the run stands.
fn standing(tally: &Tally, progress: &Progress) -> String {
    let rows = grouped(tally.counts.total());
    let rows = match progress.total() {
        Some(total) => format!("{rows} of {} rows", grouped(total)),
        None => format!("{rows} rows"),
    };
    let counts = counts(tally, true).join(", ");
    let parts = match progress.state(tally.in_flight) {
        Some(state) => vec![Some(state), progress.time_left()],
        None => vec![
            progress.pace_in_full(),
            Some(format!("{} in flight", grouped(tally.in_flight as u64))),
            progress.time_left(),
        ],
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{rows}: {counts}; {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::event::{Pause, PauseReason, Pulse};
    use crate::exit::StoppedBy;
    use crate::lead::CampaignId;
    use crate::report::RowTotal;

    fn pulse(second: u64, pause: Option<Pause>) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(second),
            allowed: Some(Rate::per_minute(100)),
            in_flight: 3,
            read: 10_000,
            waiting: 8800,
            pause,
        })
    }

    fn held(seconds: u64) -> RunEvent<'static> {
        RunEvent::Held {
            hint: Wait::Unsaid,
            wait: Duration::from_secs(seconds),
            why: ErrorCode::Http(429),
        }
    }

    fn refused(seconds: u64) -> Option<Pause> {
        Some(Pause {
            left: Duration::from_secs(seconds),
            reason: PauseReason::Refused(ErrorCode::Http(429)),
        })
    }

    fn outage(next: u64) -> RunEvent<'static> {
        RunEvent::Outage {
            since: Timestamp::UNIX_EPOCH,
            why: ErrorCode::Timeout,
            reason: None,
            next: Duration::from_secs(next),
        }
    }

    /// What is logged of these events, each line with the level's first letter.
    fn logged(tells_progress: bool, events: &[RunEvent<'_>]) -> Vec<String> {
        let total = RowTotal::default();
        total.set(10_000);
        let mut progress = Progress::new(total);
        let mut logbook = Logbook::new(tells_progress);
        let mut lines = Vec::new();
        for event in events {
            progress.note(event);
            let line = logbook.line(event, &Tally::midway(), &progress);
            lines.extend(line.map(|line| format!("{}: {}", line.level, line.text)));
        }
        lines
    }

    #[test]
    fn an_outage_is_told_once_and_each_attempt_to_those_who_ask_for_more() {
        let recovered = RunEvent::Recovered {
            outage: Duration::from_secs(750),
        };
        let events = [outage(1), outage(5), recovered, outage(1)];
        assert_eq!(
            logged(false, &events),
            [
                "WARN: the service gives no usable answers (timeout); all rows wait, and one is tried again in 1.0 s",
                "INFO: still no usable answer (timeout); trying again in 5.0 s",
                "WARN: the service answers again, after 12 min 30 s",
                "WARN: the service gives no usable answers (timeout); all rows wait, and one is tried again in 1.0 s",
            ]
        );
    }

    #[test]
    fn a_wait_is_told_once_however_many_requests_are_refused() {
        let events = [
            held(37),
            held(37),
            pulse(1, refused(36)),
            held(36),
            pulse(38, None),
            held(5),
        ];
        assert_eq!(
            logged(false, &events),
            [
                "INFO: the service refuses for now (http_429); all wait 37.0 s",
                "INFO: the service refuses for now (http_429); all wait 5.0 s",
            ]
        );
    }

    #[test]
    fn a_time_that_makes_no_sense_or_is_not_waited_for_is_told_to_everybody() {
        let held = |hint| RunEvent::Held {
            hint,
            wait: Duration::from_secs(3600),
            why: ErrorCode::Http(429),
        };
        let events = [
            held(Wait::Unsaid),
            held(Wait::Bounded),
            held(Wait::Bounded),
            held(Wait::Unsaid),
            pulse(1, None),
            held(Wait::Senseless),
        ];
        assert_eq!(
            logged(false, &events),
            [
                "INFO: the service refuses for now (http_429); all wait 3600.0 s",
                "WARN: the service refuses for now (http_429) and for longer than is waited at once; all wait 3600.0 s",
                "WARN: the service refuses for now (http_429) and says no sensible time; all wait 3600.0 s",
            ]
        );
    }

    #[test]
    fn a_campaign_that_stops_is_told_to_everybody() {
        let stopped = RunEvent::CampaignStopped {
            campaign: CampaignId(102),
            by: StoppedBy::Campaign,
        };
        assert_eq!(
            logged(false, &[stopped]),
            [
                "WARN: campaign 102 takes no more leads (campaign); its rows wait, and the others go on"
            ]
        );
    }

    #[test]
    fn the_pace_is_told_when_it_really_changes_and_otherwise_not_often() {
        let paced = |per_minute| RunEvent::Paced(Some(Rate::per_minute(per_minute)));
        let events = [
            paced(100),
            paced(100),
            pulse(5, None),
            paced(105),
            paced(110),
            paced(115),
            pulse(14, None),
            paced(116),
            pulse(15, None),
            paced(117),
            paced(60),
            RunEvent::Paced(None),
        ];
        assert_eq!(
            logged(false, &events),
            [
                "INFO: up to 100/min are sent from now on",
                "INFO: up to 110/min are sent from now on",
                "INFO: up to 117/min are sent from now on",
                "INFO: up to 60/min are sent from now on",
                "INFO: no limit of our own from now on",
            ]
        );
    }

    #[test]
    fn where_there_is_no_bar_it_is_said_every_minute_how_the_run_stands() {
        let seconds: Vec<_> = (1..=140).map(|second| pulse(second, None)).collect();
        let lines = logged(true, &seconds);
        assert_eq!(
            lines[0],
            "INFO: 1,200 of 10,000 rows: 1,180 created, 20 rejected; 0/min of 100/min allowed, 3 in flight, about 1 h 30 min left"
        );
        assert_eq!(lines.len(), 3);
        assert_eq!(logged(false, &seconds), Vec::<String>::new());
    }

    #[test]
    fn while_everything_waits_it_is_said_for_what() {
        assert_eq!(
            logged(true, &[pulse(10, refused(37))]),
            [
                "INFO: 1,200 of 10,000 rows: 1,180 created, 20 rejected; the service asks to wait 37 s, about 1 h 30 min left"
            ]
        );
    }
}
