//! The figures, and their text.

use std::fmt::{Display, Write};

use jiff::Timestamp;

use super::labels::JobLabels;
use crate::exit::{ExitCode, StoppedBy};
use crate::lead::{Counts, RunId};
use crate::report::progress::WAITS_FOR;

/// Families that the next command reads again.
pub(super) const LAST_SUCCESS: &str = "last_success_timestamp_seconds";
pub(super) const LAST_UPDATE: &str = "run_last_update_time_seconds";
pub(super) const EXIT_CODE: &str = "exit_code";

/// The values of all metrics.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) labels: JobLabels,
    /// When an import was complete before this one, in seconds.
    pub(super) earlier_success: Option<f64>,
    pub(super) run: Option<RunId>,
    pub(super) started: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) counts: Counts,
    pub(super) rows_expected: Option<u64>,
    pub(super) requests: u64,
    pub(super) in_flight: usize,
    pub(super) allowed: Option<f64>,
    pub(super) waiting: Option<&'static str>,
    pub(super) stopped_by: Option<StoppedBy>,
    pub(super) exit_code: Option<ExitCode>,
}

impl Figures {
    /// All of them as text.
    pub(super) fn text(&self) -> String {
        let mut text = Text::new(&self.labels);
        text.family("run_info", "The version of leadload, as a label.")
            .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
        if let Some(run) = self.run {
            text.family("run", "The run's number in the ledger.")
                .sample(&[], run);
        }
        self.write_times(&mut text);
        self.write_end(&mut text);
        self.write_rows(&mut text);
        self.write_requests(&mut text);
        text.text
    }

    fn write_times(&self, text: &mut Text<'_>) {
        text.family("run_start_time_seconds", "When the command began.")
            .time(seconds(self.started));
        text.family(LAST_UPDATE, "When these figures were written.")
            .time(seconds(self.updated));
        if let Some(success) = self.last_success() {
            text.family(
                LAST_SUCCESS,
                "When the last import ended that was complete (exit code 0 or 1).",
            )
            .time(success);
        }
    }

    /// A list that was sent to its end is a success, also where some of its rows are bad.
    fn last_success(&self) -> Option<f64> {
        match self.exit_code {
            Some(ExitCode::Complete | ExitCode::Problems) => Some(seconds(self.updated)),
            _ => self.earlier_success,
        }
    }

    fn write_end(&self, text: &mut Text<'_>) {
        let is_complete = self.exit_code.is_some() && self.stopped_by.is_none();
        text.family(
            "run_complete",
            "Whether the command has ended with all rows done.",
        )
        .sample(&[], u8::from(is_complete));
        text.family("stopped_by", "Whether this has ended the command early.");
        for reason in StoppedBy::ALL {
            let is_so = self.stopped_by == Some(reason);
            text.sample(&[("reason", reason.as_str())], u8::from(is_so));
        }
        if let Some(code) = self.exit_code {
            text.family(EXIT_CODE, "The exit code, once the command has ended.")
                .sample(&[], code as u8);
        }
    }

    fn write_rows(&self, text: &mut Text<'_>) {
        text.family("rows", "Rows with an outcome, by status.");
        for (status, rows) in self.counts.all() {
            text.sample(&[("status", status.as_str())], rows);
        }
        if let Some(rows) = self.rows_expected {
            text.family("rows_expected", "Rows of all inputs.")
                .sample(&[], rows);
        }
    }

    fn write_requests(&self, text: &mut Text<'_>) {
        text.family(
            "requests",
            "Requests for leads that this command has started.",
        )
        .sample(&[], self.requests);
        text.family("in_flight", "Requests that wait for an answer.")
            .sample(&[], self.in_flight);
        if let Some(allowed) = self.allowed {
            text.family("allowed_requests_per_second", "The pace that is kept to.")
                .sample(&[], allowed);
        }
        text.family("waiting", "Whether all rows wait, by reason.");
        for reason in WAITS_FOR {
            let is_so = self.waiting == Some(reason);
            text.sample(&[("reason", reason)], u8::from(is_so));
        }
    }
}

/// A point in time, in seconds since 1970.
pub(super) fn seconds(time: Timestamp) -> f64 {
    time.as_duration().as_secs_f64()
}

/// Text that is being written, family by family.
#[derive(Debug)]
struct Text<'a> {
    text: String,
    labels: &'a JobLabels,
    /// The name of the family.
    name: &'static str,
}

impl Text<'_> {
    fn new(labels: &JobLabels) -> Text<'_> {
        Text {
            text: String::new(),
            labels,
            name: "",
        }
    }

    /// Begins a family of samples: a gauge, as the [module](super) says. Writing to a string
    /// does not fail.
    fn family(&mut self, name: &'static str, help: &str) -> &mut Self {
        self.name = name;
        let _ = writeln!(self.text, "# HELP leadload_{name} {help}");
        let _ = writeln!(self.text, "# TYPE leadload_{name} gauge");
        self
    }

    /// A sample of it.
    fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        let labels = self.labels.with(labels);
        let _ = writeln!(self.text, "leadload_{}{labels} {value}", self.name);
    }

    /// A sample that is a point in time.
    fn time(&mut self, seconds: f64) {
        self.sample(&[], format!("{seconds:.3}"));
    }
}
