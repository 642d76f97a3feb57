//! The figures, and their text.

use std::fmt::{Display, Write};

use jiff::Timestamp;

use crate::exit::{ExitCode, StoppedBy};
use crate::lead::{Counts, RunId};
use crate::report::progress::WAITS_FOR;

/// How things stand.
#[derive(Debug, Default)]
pub(super) struct Figures {
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
        let mut text = Text::default();
        let run = self.run.map(|run| run.to_string()).unwrap_or_default();
        let version = env!("CARGO_PKG_VERSION");
        text.family("run_info", "gauge", "The run and the program, as labels.")
            .sample(&[("run", &run), ("version", version)], 1);
        text.time(
            "run_start_time_seconds",
            "When the command began.",
            self.started,
        );
        text.time(
            "run_last_update_time_seconds",
            "When these figures were written.",
            self.updated,
        );
        let is_complete = self.exit_code.is_some() && self.stopped_by.is_none();
        text.family(
            "run_complete",
            "gauge",
            "Whether the command has ended with all rows done.",
        )
        .sample(&[], u8::from(is_complete));
        text.family(
            "stopped_by",
            "gauge",
            "Whether this has ended the command early.",
        );
        for reason in StoppedBy::ALL {
            let is_so = self.stopped_by == Some(reason);
            text.sample(&[("reason", reason.as_str())], u8::from(is_so));
        }
        if let Some(code) = self.exit_code {
            text.family(
                "exit_code",
                "gauge",
                "The exit code, once the command has ended.",
            )
            .sample(&[], code as u8);
        }
        self.write_rows(&mut text);
        self.write_requests(&mut text);
        text.text
    }

    fn write_rows(&self, text: &mut Text) {
        text.family("rows_total", "counter", "Rows with an outcome, by status.");
        for (status, rows) in self.counts.all() {
            text.sample(&[("status", status.as_str())], rows);
        }
        if let Some(rows) = self.rows_expected {
            text.family("rows_expected", "gauge", "Rows of all inputs.")
                .sample(&[], rows);
        }
    }

    fn write_requests(&self, text: &mut Text) {
        text.family(
            "requests_total",
            "counter",
            "Requests for leads that were started.",
        )
        .sample(&[], self.requests);
        text.family("in_flight", "gauge", "Requests that wait for an answer.")
            .sample(&[], self.in_flight);
        if let Some(allowed) = self.allowed {
            text.family(
                "allowed_requests_per_second",
                "gauge",
                "The pace that is kept to.",
            )
            .sample(&[], allowed);
        }
        text.family("waiting", "gauge", "Whether all rows wait, by reason.");
        for reason in WAITS_FOR {
            let is_so = self.waiting == Some(reason);
            text.sample(&[("reason", reason)], u8::from(is_so));
        }
    }
}

/// Text that is being written, family by family.
#[derive(Debug, Default)]
struct Text {
    text: String,
    /// The name of the family.
    name: &'static str,
}

impl Text {
    /// Begins a family of samples. Writing to a string does not fail.
    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> &mut Text {
        self.name = name;
        let _ = writeln!(self.text, "# HELP leadload_{name} {help}");
        let _ = writeln!(self.text, "# TYPE leadload_{name} {kind}");
        self
    }

    /// A sample of it. The values of labels are words and numbers, which need no escapes.
    fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        let labels = labels.iter();
        let labels: Vec<_> = labels
            .map(|(name, text)| format!("{name}=\"{text}\""))
            .collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.text, "leadload_{}{labels} {value}", self.name);
    }

    /// A family of one point in time.
    fn time(&mut self, name: &'static str, help: &str, time: Timestamp) {
        let seconds = format!("{:.3}", time.as_duration().as_secs_f64());
        self.family(name, "gauge", help).sample(&[], seconds);
    }
}
