//! The metrics of a run in the text format of Prometheus, in
//! a file for the textfile collector of its node exporter.
//!
//! Rules:
//!
//! - A reader sees a complete state of the run: each state is written to a temporary file, which
//!   is then renamed. The collector reads files whose names end in `.prom`; the temporary file's
//!   name does not.
//! - Every label exists from the beginning, with 0, so that alerts need not distinguish 0 from a
//!   missing sample. Values that are not known are left out.
//! - A run's number is a value: as a label it would make a new series every night.
//! - What belongs to a run begins with 0 again in the next one: only what is counted in events is a
//!   counter, which may do that, and everything else is a gauge.
//! - The file is written however the command ends. There is one exception, if a run and another
//!   command use the same file: if the command ends because the run is at work (exit code 6), or
//!   while it waits for the run, it leaves the run's values alone.
//! - Only an empty file or one that leadload has written is replaced, so a mistyped name does not
//!   destroy a list of contacts.
//! - If the file cannot be written, that is reported before anything is sent. One that an earlier
//!   import has written there ends nothing, nor does a later failure: it is a warning, once, and
//!   at the end an error, since the file then shows a run that seems to go on.

mod values;

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use tracing::warn;

pub use self::values::job_labels;
use self::values::{Earlier, MetricValues, Sending};
use super::console;
use super::outcome::Outcome;
use super::progress::Progress;
use super::tally::Tally;
use crate::clock;
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::lead::RunId;
use crate::message::{Message, Text};
use crate::paths::reason;
use crate::private_file;
use crate::results::what_to_fix;

const BEGINNING: &str = "# HELP leadload_";

/// How often the file is written during the run: as often as it is usually scraped.
const EVERY: Duration = Duration::from_secs(10);

/// The metrics file of an import, if there is one. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Option<Rc<RefCell<MetricsFile>>>);

#[derive(Debug)]
struct MetricsFile {
    path: PathBuf,
    values: MetricValues,
    next: Duration,
    has_warned: bool,
    has_begun: bool,
    /// Whether nothing may be written there.
    is_refused: bool,
}

impl Metrics {
    /// Writes nothing yet. Fails if a file at `path` is not ours to replace, or is one that the
    /// import needs, even if that is empty or does not exist: `is_needed` knows.
    pub fn new(
        path: Option<&Path>,
        labels: String,
        is_needed: impl Fn(&Path) -> bool,
    ) -> Result<Metrics, Failure> {
        let Some(path) = path else {
            return Ok(Metrics::default());
        };
        check_place(path)?;
        if is_needed(path) {
            return Err(refused(path, "is another file of this import"));
        }
        let now = clock::now();
        Ok(Metrics(Some(Rc::new(RefCell::new(MetricsFile {
            path: path.to_owned(),
            values: MetricValues {
                labels,
                started: now,
                updated: now,
                ..MetricValues::default()
            },
            next: Duration::ZERO,
            has_warned: false,
            has_begun: false,
            is_refused: false,
        })))))
    }

    /// Writes the file for the first time. If that fails, nothing is written from then on, unless it
    /// is a file of an earlier import. `is_taken` knows the paths of other outputs.
    pub fn begin(&self, is_taken: impl Fn(&Path) -> bool) -> Result<(), Failure> {
        let Some(file) = &self.0 else {
            return Ok(());
        };
        let begun = file.borrow_mut().begin(is_taken);
        file.borrow_mut().is_refused = begun.is_err();
        begun
    }

    pub(super) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    pub fn name_run(&self, run: RunId) {
        if let Some(file) = &self.0 {
            file.borrow_mut().values.run = Some(run);
        }
    }

    /// Takes an event, and writes the file when it is due.
    pub(super) fn count(&self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
        let Some(file) = &self.0 else {
            return;
        };
        let mut file = file.borrow_mut();
        let values = &mut file.values;
        let pulse = match event {
            RunEvent::Pulse(pulse) => pulse,
            RunEvent::Held { .. } => {
                values.waits += 1;
                return;
            }
            RunEvent::Answered {
                http_status,
                asks_to_wait,
                ..
            } => {
                values.refusals += u64::from(*asks_to_wait);
                if http_status.is_some() {
                    values.last_answer = Some(clock::now());
                }
                return;
            }
            _ => return,
        };
        values.counts = tally.counts;
        values.known_bad = tally.known_bad;
        values.rows_expected = progress.total();
        values.requests = pulse.requests;
        values.sending = Sending {
            in_flight: pulse.in_flight,
            allowed: pulse.allowed.map(|pace| pace.rate.pace()),
            waiting: progress.waits_for(),
        };
        if pulse.elapsed >= file.next {
            file.next = pulse.elapsed + EVERY;
            if let Err(error) = file.write() {
                file.warn(&error);
            }
        }
    }

    pub fn end(&self, outcome: &Outcome<'_>) {
        let Some(file) = &self.0 else {
            return;
        };
        let mut file = file.borrow_mut();
        let values = &mut file.values;
        values.counts = outcome.tally.counts;
        values.known_bad = outcome.tally.known_bad;
        values.rows_expected = outcome.rows_total;
        values.requests = outcome.requests;
        values.stopped_by = outcome.stop.as_ref().map(|stop| stop.by());
        file.end(outcome.exit_code);
    }

    /// Writes the values of a command that failed before it sent anything.
    pub fn fail(&self, failure: &Failure) {
        let Some(file) = &self.0 else {
            return;
        };
        let mut file = file.borrow_mut();
        let stopped_by = failure.stopped_by;
        if !file.has_begun && !file.takes_place(stopped_by) {
            return;
        }
        file.values.stopped_by = Some(stopped_by);
        let expected = file.values.rows_expected;
        file.values.rows_expected = failure.rows_total.or(expected);
        file.end(stopped_by.exit_code());
    }
}

impl MetricsFile {
    fn begin(&mut self, is_taken: impl Fn(&Path) -> bool) -> Result<(), Failure> {
        let path = self.path.clone();
        if is_taken(&path) {
            return Err(refused(&path, "is another file of this import"));
        }
        // A ledger may have been created there since the first check.
        check_place(&path)?;
        // Read only now, since another run may have written the file while this one waited.
        self.values.earlier_success = self.earlier().last_success;
        let is_ours = fs::metadata(&path).is_ok_and(|found| found.len() > 0);
        match self.write() {
            Err(error) if is_ours => self.warn(&error),
            written => written.map_err(|error| unwritable(&path, &error))?,
        }
        self.has_begun = true;
        Ok(())
    }

    fn earlier(&self) -> Earlier {
        Earlier::in_file(&self.path, &self.values.labels)
    }

    /// Whether a command that ends before it began may replace the file.
    fn takes_place(&mut self, stopped_by: StoppedBy) -> bool {
        // An empty file may be one that the command was to read.
        let is_empty = fs::metadata(&self.path).is_ok_and(|found| found.len() == 0);
        let is_ours = check_place(&self.path).is_ok() && !is_empty;
        let earlier = self.earlier();
        self.values.earlier_success = earlier.last_success;
        // What ends a command before it has the right to send.
        let is_kept_waiting = matches!(
            stopped_by.exit_code(),
            ExitCode::Busy | ExitCode::Interrupted
        );
        let is_at_work = self.path.exists() && !earlier.has_ended;
        is_ours && !(is_kept_waiting && is_at_work)
    }

    fn end(&mut self, exit_code: ExitCode) {
        // That was reported.
        if self.is_refused {
            return;
        }
        let values = &mut self.values;
        values.exit_code = Some(exit_code);
        (values.sending.in_flight, values.sending.waiting) = (0, None);
        if let Err(error) = self.write() {
            console::error(&unwritable(&self.path, &error).message());
        }
    }

    fn warn(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.has_warned, true) {
            let path = self.path.display();
            warn!(
                event = "warning",
                "cannot write the metrics file `{path}`: {error}; the run goes on, and it is tried again"
            );
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.values.updated = clock::now();
        let mut file = private_file::beside(&self.path)?;
        file.write_all(self.values.text().as_bytes())?;
        let_others_read(file.as_file())?;
        file.persist(&self.path).map_err(|failed| failed.error)?;
        Ok(())
    }
}

/// The collector runs as another user, and the file has no personal data.
#[cfg(unix)]
fn let_others_read(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// On other systems a file takes the permissions of its folder.
#[cfg(not(unix))]
fn let_others_read(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Fails unless there is nothing at the path, an empty file, or our own metrics.
fn check_place(path: &Path) -> Result<(), Failure> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.as_os_str() != "-" => {
            return Ok(());
        }
        found => found.ok().filter(fs::Metadata::is_file),
    };
    match found {
        None => return Err(refused(path, "is not a regular file")),
        Some(found) if found.len() == 0 => return Ok(()),
        Some(_) => {}
    }
    let mut beginning = [0; BEGINNING.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    if read.is_ok() && beginning == BEGINNING.as_bytes() {
        Ok(())
    } else {
        let what = "contains something other than leadload's metrics";
        Err(refused(path, what))
    }
}

fn refused(path: &Path, why: &str) -> Failure {
    let path = path.display();
    Failure::usage(Message::new(
        Text::terminal(format!(
            "`{path}` {why}, so metrics cannot be written there"
        )),
        terminal_text!("name another file with `--metrics-file`"),
    ))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let (fix, why) = (what_to_fix(path, error), reason(path, error));
    Failure::new(
        StoppedBy::Disk,
        terminal_message!(
            "cannot write the metrics file {file}: {why}",
            "{fix}, or name another file with `--metrics-file`",
            file = path,
            why,
            fix
        ),
    )
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::event::{Pulse, Waiting};
    use crate::lead::{ErrorCode, RowId};
    use crate::rate::{Pace, Rate};
    use crate::report::RowTotal;

    fn pulse(second: u64) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(second),
            allowed: Some(Pace::stated(Rate::per_minute(90))),
            in_flight: 3,
            requests: 1234,
            read: 10_000,
            waiting: 8800,
            pause: Some(Waiting::Asked.lasting(Duration::from_secs(37))),
        })
    }

    #[test]
    fn all_metrics_have_help_and_type() {
        let mut values = MetricValues {
            labels: job_labels(Some("crm"), &["lists/all.csv".into()]),
            earlier_success: Some(1_795_144_232.125),
            run: Some(RunId(7)),
            started: "2026-11-21T03:10:22Z".parse().unwrap(),
            updated: "2026-11-21T03:10:32.5Z".parse().unwrap(),
            counts: Tally::midway().counts,
            rows_expected: Some(10_000),
            known_bad: 12,
            requests: 1234,
            refusals: 30,
            waits: 2,
            last_answer: Some("2026-11-21T03:10:31Z".parse().unwrap()),
            sending: Sending {
                in_flight: 3,
                allowed: Some(1.5),
                waiting: Some("outage"),
            },
            stopped_by: None,
            exit_code: None,
        };
        let version = env!("CARGO_PKG_VERSION");
        let text = values.text().replace(version, "VERSION");
        insta::assert_snapshot!(text);
        values.exit_code = Some(ExitCode::Service);
        values.stopped_by = Some(StoppedBy::Token);
        let text = values.text();
        let job = "profile=\"crm\",input=\"all.csv\"";
        for line in [
            format!("leadload_exit_code{{{job}}} 3\n"),
            format!("leadload_stopped_by{{{job},reason=\"token\"}} 1\n"),
            format!("leadload_run_complete{{{job}}} 0\n"),
        ] {
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn a_success_is_an_end_with_0_or_1_and_any_other_end_keeps_the_last_one() {
        for (code, success) in [
            (None, 7.0),
            (Some(ExitCode::Complete), 9.5),
            (Some(ExitCode::Problems), 9.5),
            (Some(ExitCode::Usage), 7.0),
            (Some(ExitCode::Service), 7.0),
            (Some(ExitCode::Interrupted), 7.0),
            (Some(ExitCode::Machine), 7.0),
            (Some(ExitCode::Busy), 7.0),
        ] {
            let mut values = MetricValues {
                labels: job_labels(None, &[]),
                earlier_success: Some(7.0),
                updated: Timestamp::from_millisecond(9500).unwrap(),
                exit_code: code,
                ..MetricValues::default()
            };
            let line = |seconds: f64| {
                let job = "{profile=\"\",input=\"\"}";
                format!("leadload_last_success_timestamp_seconds{job} {seconds:.3}\n")
            };
            assert!(values.text().contains(&line(success)), "{code:?}");
            values.earlier_success = None;
            let is_success = success == 9.5;
            assert_eq!(values.text().contains("last_success"), is_success);
        }
    }

    #[test]
    fn every_metric_is_documented_with_its_type() {
        let values = MetricValues {
            earlier_success: Some(7.0),
            run: Some(RunId(7)),
            rows_expected: Some(7),
            last_answer: Some(Timestamp::UNIX_EPOCH),
            sending: Sending {
                allowed: Some(1.5),
                ..Sending::default()
            },
            exit_code: Some(ExitCode::Usage),
            ..MetricValues::default()
        };
        let text = values.text();
        let types = text.lines().filter_map(|l| l.strip_prefix("# TYPE "));
        let types: Vec<(&str, &str)> = types.filter_map(|l| l.split_once(' ')).collect();
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/metrics.md");
        let page = fs::read_to_string(page).unwrap();
        let lines = page.lines().filter_map(|l| l.strip_prefix("| `leadload_"));
        let documented: Vec<(String, &str)> = lines
            .map(|line| {
                let mut cells = line.split('|').map(str::trim);
                let name = cells.next().unwrap().trim_end_matches('`');
                (format!("leadload_{name}"), cells.next().unwrap())
            })
            .collect();
        let documented: Vec<_> = documented.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        assert_eq!(documented, types);
    }

    #[test]
    fn refusals_waits_and_answers_are_counted_from_events() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leadload.prom");
        let metrics = Metrics::new(Some(&path), String::new(), |_| false).unwrap();
        let answered = |http_status: Option<u16>| RunEvent::Answered {
            row: RowId(1),
            http_status,
            asks_to_wait: http_status == Some(429),
            request_id: None,
        };
        let held = RunEvent::Held {
            wait: Duration::from_secs(1),
            why: ErrorCode::Http(429),
        };
        let note = |event| metrics.count(&event, &Tally::midway(), &Progress::default());
        note(answered(None));
        let last_answer = || metrics.0.as_ref().unwrap().borrow().values.last_answer;
        assert_eq!(last_answer(), None);
        note(answered(Some(429)));
        note(held);
        note(answered(Some(429)));
        note(answered(Some(200)));
        assert!(last_answer().is_some());
        let file = metrics.0.as_ref().unwrap().borrow();
        assert_eq!((file.values.refusals, file.values.waits), (2, 1));
    }

    #[test]
    fn the_metrics_file_is_written_every_ten_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leadload.prom");
        let metrics = Metrics::new(Some(&path), String::new(), |_| false).unwrap();
        metrics.begin(|_| false).unwrap();
        let mut progress = Progress::new(RowTotal::default());
        let mut written = Vec::new();
        for second in 0..=25 {
            fs::remove_file(&path).ok();
            let pulse = pulse(second);
            progress.count(&pulse);
            metrics.count(&pulse, &Tally::midway(), &progress);
            if path.exists() {
                written.push(second);
            }
        }
        assert_eq!(written, [0, 10, 20]);
    }

    #[test]
    fn a_metrics_file_that_cannot_be_written_does_not_stop_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leadload.prom");
        let metrics = Metrics::new(Some(&path), String::new(), |_| false).unwrap();
        metrics.begin(|_| false).unwrap();
        folder.close().unwrap();
        metrics.count(&pulse(0), &Tally::midway(), &Progress::default());
        metrics.fail(&Failure::new(StoppedBy::Signal, anyhow::anyhow!("")));
        assert!(!path.exists());
    }
}
