//! Log lines on standard error.
//!
//! They carry row numbers and never a phone number or a variable.

use std::io::{self, Write};

use indicatif::MultiProgress;
use tracing::{Level, debug, info, warn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::SystemTime;

use crate::event::RunEvent;
use crate::text::counted;

/// Where log lines and bars meet: a line is written while the bars stand aside.
#[derive(Debug, Clone, Default)]
pub struct Log {
    bars: MultiProgress,
}

impl Log {
    /// Starts logging from `level` up. Once in a process; later calls change nothing.
    pub fn start(level: Level) -> Log {
        let log = Log::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_timer(SystemTime)
            .with_target(false)
            .with_ansi(false)
            .log_internal_errors(false)
            .with_writer(log.clone())
            .finish();
        // A second command in one process, as in tests, keeps the first one's log.
        let _ = tracing::subscriber::set_global_default(subscriber);
        log
    }

    /// Where bars are drawn.
    pub fn bars(&self) -> &MultiProgress {
        &self.bars
    }
}

/// Writes one log line.
#[derive(Debug)]
pub struct Line {
    bars: MultiProgress,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A log that nobody can read any more is no reason to end.
        let _ = self.bars.suspend(|| io::stderr().lock().write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Line;

    fn make_writer(&self) -> Line {
        Line {
            bars: self.bars.clone(),
        }
    }
}

/// Logs what is worth a line.
pub fn log_event(event: &RunEvent<'_>) {
    match event {
        RunEvent::Settled { row, outcome, .. } => {
            debug!(
                row = row.id().0,
                line = row.line(),
                status = outcome.status.as_str(),
                attempts = outcome.attempts,
                "settled"
            );
        }
        RunEvent::Retrying {
            row,
            attempt,
            after,
            why,
        } => {
            info!(
                row = row.0,
                attempt,
                "no usable answer ({why}); trying again in {:.1} s",
                after.as_secs_f64()
            );
        }
        RunEvent::Held { wait, why } => {
            info!(
                "the service refuses for now ({why}); all wait {:.1} s",
                wait.as_secs_f64()
            );
        }
        RunEvent::Stopping { by, in_flight } => {
            let requests = counted(*in_flight as u64, "request");
            warn!("stopping ({by}); {requests} in flight, to be awaited");
        }
        RunEvent::InFlight(_) => {}
    }
}
