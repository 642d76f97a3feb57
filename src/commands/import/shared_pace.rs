//! The pace that a test lead shares with the runs before and after it.
//!
//! Limits hold for all starts of the program together, which are recorded in the ledger. A test
//! makes no ledger: where there is none, nothing that was sent is known. A run that sends at the
//! same time learns of the test only when it is started again.

use std::time::Duration;

use anyhow::anyhow;
use jiff::Timestamp;
use tokio::time::{Instant, sleep_until};
use tracing::warn;

use crate::exit::Failure;
use crate::lead::ErrorCode;
use crate::ledger::{AskedPause, Ledger, LedgerError, RecentUse, ServiceId, StartsInSecond};
use crate::pipeline::RateController;
use crate::rate::RateChoice;
use crate::report::stop_text;
use crate::settings::ImportSettings;
use crate::stop::{Stop, StopReason};

/// A shorter wait is not mentioned.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// What the ledger knows of the use of a service.
pub(super) struct SharedPace {
    ledger: Ledger,
    service: ServiceId,
}

impl SharedPace {
    /// Where there is a ledger.
    pub(super) fn open(settings: &ImportSettings) -> Result<Option<SharedPace>, Failure> {
        let Some(place) = &settings.ledger else {
            return Ok(None);
        };
        if Ledger::read(place)?.is_none() {
            return Ok(None);
        }
        let mut ledger = Ledger::open(place)?;
        let service = ledger.service(&settings.service)?;
        Ok(Some(SharedPace { ledger, service }))
    }

    /// Waits until one more request may start, and counts it as started.
    ///
    /// # Errors
    ///
    /// Where the ledger cannot be used, and where the service has asked for a longer wait.
    pub(super) async fn await_turn(
        &mut self,
        rate: &RateChoice,
        longest_wait: Duration,
    ) -> Result<(), Failure> {
        let now = Timestamp::now();
        let recent = self.ledger.recent_use(self.service, now)?;
        let known = self.ledger.known_rate(self.service)?;
        let mut pacing = RateController::new(rate, known).after(&recent, now);
        let pause = recent.pause.filter(|pause| now < pause.until);
        while let Err(when) = pacing.try_start() {
            if let Some(pause) = pause.filter(|pause| is_longer(pause, now, longest_wait)) {
                let stop = Stop::new(StopReason::AskedToWait {
                    until: pause.until,
                    why: ErrorCode::Http(pause.http_status),
                });
                return Err(Failure::new(stop.by(), anyhow!(stop_text(&stop))));
            }
            log_wait(when, pause);
            sleep_until(when).await;
        }
        let started = RecentUse {
            starts: vec![StartsInSecond {
                second: Timestamp::now().as_second(),
                requests: 1,
            }],
            pause: None,
        };
        Ok(self.ledger.record_use(self.service, started)?)
    }

    /// Records how long the service asks to wait.
    pub(super) fn record_pause(&mut self, pause: AskedPause) -> Result<(), LedgerError> {
        let asked = RecentUse {
            starts: Vec::new(),
            pause: Some(pause),
        };
        self.ledger.record_use(self.service, asked)
    }
}

fn is_longer(pause: &AskedPause, now: Timestamp, longest_wait: Duration) -> bool {
    now.duration_until(pause.until).unsigned_abs() > longest_wait
}

fn log_wait(until: Instant, pause: Option<AskedPause>) {
    let left = until.saturating_duration_since(Instant::now());
    if left < SHORT_WAIT {
        return;
    }
    let seconds = left.as_secs_f64().ceil();
    match pause {
        Some(AskedPause { http_status, .. }) => warn!(
            event = "waiting",
            "the test lead waits for {seconds:.0} s, for which the service asked earlier (HTTP {http_status})"
        ),
        None => warn!(
            event = "waiting",
            "the test lead waits for {seconds:.0} s: until then earlier requests have used up what may be sent"
        ),
    }
}
