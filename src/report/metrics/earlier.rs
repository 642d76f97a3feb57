//! What an earlier command has left in the file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::figures::{EXIT_CODE, LAST_SUCCESS, LAST_UPDATE, seconds};
use super::labels::JobLabels;

/// More is in no file of ours, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A run writes every ten seconds, but not while it reads a long list or waits for an
/// answer to a question. Figures without an end that are older than this are those of a run
/// that was killed.
const LONGEST_SILENCE: Duration = Duration::from_secs(3600);

/// The metrics in the file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Earlier {
    /// When an import with the same labels was last complete, in seconds.
    pub(super) last_success: Option<f64>,
    has_ended: bool,
    updated: Option<f64>,
}

impl Earlier {
    /// What is in the file; nothing where it cannot be read.
    pub(super) fn in_file(path: &Path, labels: &JobLabels) -> Earlier {
        let text = text_of(path).unwrap_or_default();
        Earlier::in_text(&text, labels)
    }

    fn in_text(text: &str, labels: &JobLabels) -> Earlier {
        let success = format!("leadload_{LAST_SUCCESS}{}", labels.with(&[]));
        let mut earlier = Earlier::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((sample, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let value = value.parse().ok().filter(|value: &f64| value.is_finite());
            let name = sample.split('{').next().unwrap_or_default();
            match name.strip_prefix("leadload_") {
                Some(EXIT_CODE) => earlier.has_ended = true,
                Some(LAST_UPDATE) => earlier.updated = value,
                Some(LAST_SUCCESS) if sample == success => earlier.last_success = value,
                _ => {}
            }
        }
        earlier
    }

    /// Whether these are most likely the figures of a run that goes on now.
    pub(super) fn is_at_work(&self, now: Timestamp) -> bool {
        let silence = self.updated.map(|updated| (seconds(now) - updated).abs());
        !self.has_ended && silence.is_some_and(|s| s <= LONGEST_SILENCE.as_secs_f64())
    }
}

fn text_of(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::ExitCode;
    use crate::report::metrics::figures::Figures;

    fn figures() -> Figures {
        Figures {
            labels: JobLabels::new(Some("a\"b\\"), &["some list.csv".into()]),
            updated: "2026-11-21T03:10:32.125Z".parse().unwrap(),
            ..Figures::default()
        }
    }

    #[test]
    fn the_last_success_is_read_back_as_it_was_written_where_the_labels_are_the_same() {
        let mut figures = figures();
        figures.exit_code = Some(ExitCode::Problems);
        let text = figures.text();
        let earlier = Earlier::in_text(&text, &figures.labels);
        assert_eq!(earlier.last_success, Some(1_795_230_632.125));
        let others = JobLabels::new(Some("a\"b\\"), &["other.csv".into()]);
        assert_eq!(Earlier::in_text(&text, &others).last_success, None);
    }

    #[test]
    fn a_run_is_at_work_that_has_written_lately_and_not_ended() {
        let mut figures = figures();
        let is_at_work = |figures: &Figures, minutes: i64| {
            let later = figures.updated + jiff::Span::new().minutes(minutes);
            Earlier::in_text(&figures.text(), &figures.labels).is_at_work(later)
        };
        assert!(is_at_work(&figures, 0));
        assert!(is_at_work(&figures, 59));
        assert!(!is_at_work(&figures, 61), "it was killed");
        figures.exit_code = Some(ExitCode::Complete);
        assert!(!is_at_work(&figures, 0), "it has ended");
        assert!(!Earlier::default().is_at_work(figures.updated));
    }

    #[test]
    fn what_is_damaged_tells_nothing() {
        let labels = figures().labels;
        let success = format!("leadload_{LAST_SUCCESS}{}", labels.with(&[]));
        for value in ["", " ", " soon", " NaN", " +Inf"] {
            let found = Earlier::in_text(&format!("{success}{value}\n"), &labels);
            assert_eq!(found, Earlier::default(), "{value:?}");
        }
    }
}
