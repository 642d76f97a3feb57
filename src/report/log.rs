//! Where log lines go: standard error, which they share with the bar.
//!
//! In text form a line is a time, a level and a sentence; on a terminal that shows only warnings,
//! it has no time. In JSON form it is an object with these
//! and the values that the sentence mentions; everything else on standard error is JSON then too.
//! From the moment at which a run begins, each line names it.

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{MultiProgress, ProgressDrawTarget};
use tracing::field::Field;
use tracing::{Dispatch, Level};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::time::SystemTime;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry;

use super::console;
use crate::lead::RunId;
use crate::options::LogFormat;
use crate::text::{printable_json, printable_lines};

/// The target of warnings that are logged under `--quiet` too.
pub const ALWAYS: &str = concat!(env!("CARGO_CRATE_NAME"), "::always");

/// Writes log lines, above the progress bar if there is one. Clones share the bar.
#[derive(Debug, Clone)]
pub struct Log {
    bars: MultiProgress,
    /// Whether lines have no time.
    is_short: bool,
    /// The run that is named; 0 if there is none. A program works on one at a time, in threads.
    run: Arc<AtomicU64>,
}

impl Log {
    /// Starts logging from `level` up. Works once in a process; later calls change nothing.
    pub fn start(level: Level, format: LogFormat) -> Log {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let is_watched = format == LogFormat::Text && io::stderr().is_terminal();
        let is_short = is_watched && level <= Level::WARN;
        let log = Log {
            bars,
            is_short,
            run: Arc::default(),
        };
        let writer = log.clone();
        // A second command in one process, as in tests, keeps the log of the first.
        let _ =
            tracing::dispatcher::set_global_default(lines(level, format, move || writer.clone()));
        console::set_form(format);
        log
    }

    /// All lines from now on are about this run.
    pub fn name_run(&self, run: Option<RunId>) {
        let run = run.map_or(0, |run| run.0);
        self.run.store(run, Ordering::Relaxed);
    }

    fn with_run<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let run = self.run.load(Ordering::Relaxed);
        let (end, named) = match console::is_json() {
            true => (&b"}\n"[..], format!(",\"run\":{run}}}\n")),
            false => (&b"\n"[..], format!(" (run {run})\n")),
        };
        match line.strip_suffix(end) {
            Some(line) if run > 0 => [line, named.as_bytes()].concat().into(),
            _ => line.into(),
        }
    }

    /// The group of bars that log lines are written above. Nothing is drawn until it has a target.
    pub(super) fn bars(&self) -> &MultiProgress {
        &self.bars
    }
}

/// A subscriber that writes our own lines from `level`
/// up. Lines of libraries are of no use to operators.
pub(super) fn lines<W>(level: Level, format: LogFormat, writer: W) -> Dispatch
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer()
        .with_timer(SystemTime)
        .with_target(false)
        .with_ansi(false)
        .log_internal_errors(false)
        .with_writer(writer);
    let ours = Targets::new()
        .with_target(env!("CARGO_CRATE_NAME"), level)
        .with_target(ALWAYS, level.max(Level::WARN));
    match format {
        LogFormat::Text => registry()
            .with(lines.fmt_fields(debug_fn(write_message)).with_filter(ours))
            .into(),
        LogFormat::Json => {
            let lines = lines
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .with_span_list(false);
            registry().with(lines.with_filter(ours)).into()
        }
    }
}

/// In text form only the sentence is written. File names in it may have control characters.
fn write_message(out: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    match field.name() {
        "message" => write!(out, "{}", printable_lines(&format!("{value:?}"))),
        _ => Ok(()),
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = match bytes.iter().position(|byte| *byte == b' ') {
            Some(end) if self.is_short => bytes[end..].trim_ascii_start(),
            _ => bytes,
        };
        let shown = String::from_utf8_lossy(line);
        let line = match console::is_json() {
            true => printable_json(&shown),
            false => Cow::Borrowed(&*shown),
        };
        let line = self.with_run(line.as_bytes());
        // A log that cannot be written is no reason to end the command.
        let _ = self.bars.suspend(|| io::stderr().lock().write_all(&line));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
