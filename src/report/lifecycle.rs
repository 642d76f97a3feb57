//! The beginning and the end of a command, in the log.

use tracing::info;

use super::ended::Ended;
use crate::exit::Failure;
use crate::lead::RunId;
use crate::text::counted;

/// Logs an event with a field for every status.
macro_rules! info_with_counts {
    ($counts:expr, $($field:ident = $value:expr),*; $($text:tt)*) => {{
        use $crate::lead::Status;
        let counts = &$counts;
        tracing::info!(
            $($field = $value,)*
            created = counts.of(Status::Created),
            duplicate = counts.of(Status::Duplicate),
            repeated = counts.of(Status::Repeated),
            already_imported = counts.of(Status::AlreadyImported),
            excluded = counts.of(Status::Excluded),
            suppressed = counts.of(Status::Suppressed),
            invalid = counts.of(Status::Invalid),
            rejected = counts.of(Status::Rejected),
            failed = counts.of(Status::Failed),
            uncertain = counts.of(Status::Uncertain),
            ready = counts.of(Status::Ready),
            $($text)*
        );
    }};
}
pub(super) use info_with_counts;

/// Logs that an import is about to send: its run, and whether that goes on, where there is a
/// ledger; and its campaign's id or name, where one is given for all rows.
pub fn log_import(
    run: Option<(RunId, bool)>,
    inputs: usize,
    service: &str,
    campaign: Option<String>,
    campaign_column: Option<&str>,
) {
    let begins = match run {
        Some((run, true)) => format!("run {run} goes on"),
        Some((run, false)) => format!("run {run} begins"),
        None => "an import without a ledger begins".to_owned(),
    };
    info!(
        event = "start",
        command = "import",
        version = env!("CARGO_PKG_VERSION"),
        run = run.map(|(run, _)| run.0),
        continues = run.is_some_and(|(_, continues)| continues),
        inputs,
        service,
        campaign,
        campaign_column,
        "{begins}: {} to {service}",
        counted(inputs as u64, "input")
    );
}

pub fn log_check(inputs: usize) {
    info!(
        event = "start",
        command = "check",
        version = env!("CARGO_PKG_VERSION"),
        inputs,
        "checking {}",
        counted(inputs as u64, "input")
    );
}

pub fn log_end(ended: &Ended<'_>) {
    let stopped_by = ended.stop.as_ref().map(|stop| stop.by().as_str());
    let exit_code = ended.exit_code as u8;
    let rows = ended.tally.counts.total();
    let how = match stopped_by {
        Some(by) => format!("stopped ({by})"),
        None => "complete".to_owned(),
    };
    info_with_counts!(
        ended.tally.counts,
        event = "end",
        exit_code = exit_code,
        complete = ended.stop.is_none(),
        stopped_by = stopped_by,
        run = ended.run.map(|run| run.0),
        rows = rows,
        rows_total = ended.rows_total,
        known_bad = ended.tally.known_bad,
        requests = ended.requests,
        elapsed_s = (ended.elapsed_s * 1000.0).round() / 1000.0;
        "{how} after {}, exit code {exit_code}",
        counted(rows, "row")
    );
}

/// Logs that a command has ended without having begun.
pub fn log_failure(failure: &Failure) {
    let (by, exit_code) = (failure.stopped_by, failure.stopped_by.exit_code() as u8);
    info!(
        event = "end",
        exit_code,
        complete = false,
        stopped_by = by.as_str(),
        rows_total = failure.rows_total,
        "stopped ({by}), exit code {exit_code}"
    );
}
