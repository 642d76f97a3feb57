//! The values of all metrics, their text, and what an earlier command left in the file.

use std::fmt::{Display, Write};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::event::Waiting;
use crate::exit::{ExitCode, StoppedBy};
use crate::lead::{Counts, RunId};
use crate::text::looks_secret;

/// The families that the next command reads back.
const LAST_SUCCESS: &str = "last_success_timestamp_seconds";
const EXIT_CODE: &str = "exit_code";

const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct MetricValues {
    /// The labels of the job, as they are written.
    pub(super) labels: String,
    /// When the last import before this one completed, in seconds.
    pub(super) earlier_success: Option<f64>,
    pub(super) run: Option<RunId>,
    pub(super) started: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) counts: Counts,
    pub(super) rows_expected: Option<u64>,
    pub(super) known_bad: u64,
    pub(super) requests: u64,
    pub(super) refusals: u64,
    pub(super) waits: u64,
    pub(super) last_answer: Option<Timestamp>,
    pub(super) sending: Sending,
    pub(super) stopped_by: Option<StoppedBy>,
    pub(super) exit_code: Option<ExitCode>,
}

/// How leads are being sent.
#[derive(Debug, Default)]
pub(super) struct Sending {
    pub(super) in_flight: usize,
    pub(super) allowed: Option<f64>,
    pub(super) waiting: Option<&'static str>,
}

/// The samples of a family: the label that each has in addition to the job's labels, and its value.
type Samples = Vec<(String, String)>;

impl MetricValues {
    pub(super) fn text(&self) -> String {
        let version = [(env!("CARGO_PKG_VERSION"), 1)];
        let is_complete = self.exit_code.is_some() && self.stopped_by.is_none();
        let stopped =
            StoppedBy::WORDS.map(|(by, word)| (word, u64::from(self.stopped_by == Some(by))));
        let rows = self
            .counts
            .all()
            .map(|(status, rows)| (status.as_str(), rows));
        let waits =
            Waiting::WORDS.map(|reason| (reason, u64::from(self.sending.waiting == Some(reason))));
        let families: [(&str, &str, Samples); 19] = [
            (
                "run_info",
                "The version of leadload, as a label.",
                each("version", version),
            ),
            ("run", "The run's number in the ledger.", one(self.run)),
            (
                "run_start_time_seconds",
                "When the command began.",
                time(Some(seconds(self.started))),
            ),
            (
                "run_last_update_time_seconds",
                "When these figures were written.",
                time(Some(seconds(self.updated))),
            ),
            (
                LAST_SUCCESS,
                "When the last import ended that was complete (exit code 0 or 1).",
                time(self.last_success()),
            ),
            (
                "run_complete",
                "Whether the command has ended with all rows done.",
                one(Some(u8::from(is_complete))),
            ),
            (
                "stopped_by",
                "Whether this has ended the command early.",
                each("reason", stopped),
            ),
            (
                EXIT_CODE,
                "The exit code, once the command has ended.",
                one(self.exit_code.map(|code| code as u8)),
            ),
            (
                "rows",
                "Rows with an outcome, by status.",
                each("status", rows),
            ),
            (
                "known_bad",
                "Invalid and rejected rows that are known from earlier runs and were left alone.",
                one(Some(self.known_bad)),
            ),
            (
                "rows_expected",
                "Rows of all inputs.",
                one(self.rows_expected),
            ),
            (
                "requests",
                "Requests for leads that this command has started.",
                one(Some(self.requests)),
            ),
            (
                "attempts_total",
                "Attempts to create a lead, by this command.",
                one(Some(self.requests)),
            ),
            (
                "refusals_total",
                "Attempts that the service asked to make again later.",
                one(Some(self.refusals)),
            ),
            (
                "waits_total",
                "Waits of all rows that began with a refusal.",
                one(Some(self.waits)),
            ),
            (
                "last_answer_timestamp_seconds",
                "When the service last answered about a row, whatever it said.",
                time(self.last_answer.map(seconds)),
            ),
            (
                "in_flight",
                "Requests that wait for an answer.",
                one(Some(self.sending.in_flight)),
            ),
            (
                "allowed_requests_per_second",
                "The pace that is kept to.",
                one(self.sending.allowed),
            ),
            (
                "waiting",
                "Whether all rows wait, by reason.",
                each("reason", waits),
            ),
        ];
        let mut text = String::new();
        for (name, help, samples) in families {
            if samples.is_empty() {
                continue;
            }
            // Writing to a string does not fail.
            let _ = writeln!(text, "# HELP leadload_{name} {help}");
            let kind = match name.ends_with("_total") {
                true => "counter",
                false => "gauge",
            };
            let _ = writeln!(text, "# TYPE leadload_{name} {kind}");
            for (label, value) in samples {
                let _ = writeln!(text, "leadload_{name}{{{}{label}}} {value}", self.labels);
            }
        }
        text
    }

    /// A list that was sent to its end is a success, even if some of its rows are bad.
    fn last_success(&self) -> Option<f64> {
        match self.exit_code {
            Some(ExitCode::Complete | ExitCode::Problems) => Some(seconds(self.updated)),
            _ => self.earlier_success,
        }
    }
}

/// One sample; none if the value is not known.
fn one(value: Option<impl Display>) -> Samples {
    let sample = value.map(|value| (String::new(), value.to_string()));
    sample.into_iter().collect()
}

fn time(seconds: Option<f64>) -> Samples {
    one(seconds.map(|seconds| format!("{seconds:.3}")))
}

fn each(label: &str, values: impl IntoIterator<Item = (&'static str, u64)>) -> Samples {
    let values = values.into_iter();
    values
        .map(|(name, value)| (format!(",{label}=\"{name}\""), value.to_string()))
        .collect()
}

/// A point in time, in seconds since 1970.
fn seconds(time: Timestamp) -> f64 {
    time.as_duration().as_secs_f64()
}

/// The labels that identify the job in every sample: the profile, and the first
/// input without its folders. The collector reads all files in its folder as
/// one, and samples with the same name and labels would fail the whole scrape.
pub fn job_labels(profile: Option<&str>, inputs: &[PathBuf]) -> String {
    let input = inputs.first().map(|path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy()
    });
    format!(
        "profile=\"{}\",input=\"{}\"",
        label_value(profile.unwrap_or_default()),
        label_value(&input.unwrap_or_default())
    )
}

/// A label value in the Prometheus format. All users can read the file,
/// so a token that was typed instead of a name must not get into it.
fn label_value(name: &str) -> String {
    if looks_secret(name) {
        return "(not shown)".to_owned();
    }
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
    escaped.replace('\n', "\\n")
}

/// The metrics that an earlier command left in the file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Earlier {
    pub(super) last_success: Option<f64>,
    /// Whether that command has ended: if not, it is at work or was killed.
    pub(super) has_ended: bool,
}

impl Earlier {
    pub(super) fn in_file(path: &Path, labels: &str) -> Earlier {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
        match read {
            Ok(_) => Earlier::in_text(&String::from_utf8_lossy(&bytes), labels),
            Err(_) => Earlier::default(),
        }
    }

    fn in_text(text: &str, labels: &str) -> Earlier {
        let success = format!("leadload_{LAST_SUCCESS}{{{labels}}}");
        let mut earlier = Earlier::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((sample, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let value = value.parse().ok().filter(|value: &f64| value.is_finite());
            let name = sample.split('{').next().unwrap_or_default();
            match name.strip_prefix("leadload_") {
                Some(EXIT_CODE) => earlier.has_ended = true,
                Some(LAST_SUCCESS) if sample == success => earlier.last_success = value,
                _ => {}
            }
        }
        earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> MetricValues {
        MetricValues {
            labels: job_labels(Some("a\"b\\"), &["some list.csv".into()]),
            updated: "2026-11-21T03:10:32.125Z".parse().unwrap(),
            ..MetricValues::default()
        }
    }

    #[test]
    fn the_last_success_is_read_back_as_it_was_written_where_the_labels_are_the_same() {
        let mut values = values();
        values.exit_code = Some(ExitCode::Problems);
        let text = values.text();
        let earlier = Earlier::in_text(&text, &values.labels);
        assert_eq!(earlier.last_success, Some(1_795_230_632.125));
        let others = job_labels(Some("a\"b\\"), &["other.csv".into()]);
        assert_eq!(Earlier::in_text(&text, &others).last_success, None);
    }

    #[test]
    fn figures_with_an_exit_code_are_those_of_a_command_that_has_ended() {
        let mut values = values();
        let has_ended = |values: &MetricValues| Earlier::in_text(&values.text(), "").has_ended;
        assert!(!has_ended(&values));
        values.exit_code = Some(ExitCode::Complete);
        assert!(has_ended(&values));
    }

    #[test]
    fn a_damaged_file_gives_no_figures() {
        let labels = values().labels;
        let success = format!("leadload_{LAST_SUCCESS}{{{labels}}}");
        for value in ["", " ", " soon", " NaN", " +Inf"] {
            let found = Earlier::in_text(&format!("{success}{value}\n"), &labels);
            assert_eq!(found, Earlier::default(), "{value:?}");
        }
    }

    fn labels(profile: Option<&str>, input: &str) -> String {
        job_labels(profile, &[input.into(), "more.csv".into()])
    }

    #[test]
    fn the_profile_and_the_first_input_are_labels_without_folders() {
        for (profile, input, expected) in [
            (None, "/srv/leads/all.csv", r#"profile="",input="all.csv""#),
            (Some("crm"), "-", r#"profile="crm",input="-""#),
            (Some("crm"), "..", r#"profile="crm",input="..""#),
            (None, "größe.xlsx", r#"profile="",input="größe.xlsx""#),
        ] {
            assert_eq!(labels(profile, input), expected);
        }
    }

    #[test]
    fn backslashes_quotes_and_newlines_are_escaped_and_nothing_else() {
        assert_eq!(
            labels(Some("a\\b\"c\nd"), "x,y={z} \t.csv"),
            "profile=\"a\\\\b\\\"c\\nd\",input=\"x,y={z} \t.csv\""
        );
    }

    #[test]
    fn a_text_that_looks_like_a_token_is_not_used_as_a_label() {
        let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
        let hidden = "profile=\"(not shown)\",input=\"(not shown)\"";
        assert_eq!(labels(Some(token), token), hidden);
    }
}
