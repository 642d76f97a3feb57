//! Where log lines go: standard error, which they share with the bar.

use std::io::{self, Write};

use indicatif::MultiProgress;
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::SystemTime;

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
