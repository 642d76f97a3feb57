//! Output for people and programs, while rows are sent and afterwards.
//!
//! Rule: listens, never steers. The pipeline emits [`RunEvent`]s; a
//! [`Tally`] counts them, a `Progress` holds the state of the run,
//! and the bar, log, summary, JSON and [`Page`] are made from these.
//!
//! Output holds no personal data. Phone numbers, variables, and what the
//! service says about a row, which may quote them, are only in the output
//! files (the page is one of them) and in what `leadload check` shows.
//!
//! [`RunEvent`]: crate::event::RunEvent

mod advice;
mod bar;
mod campaign_names;
mod campaigns;
mod check_json;
mod check_text;
pub mod console;
mod countries;
mod doubt;
mod estimate;
mod event_log;
mod findings;
mod follow_up;
mod json;
mod kinds;
mod later_columns;
mod list_mapping;
mod listeners;
mod log;
mod metrics;
mod opening;
mod outcome;
mod overview;
mod page;
mod preview;
mod progress;
mod runs_json;
mod runs_text;
mod screen;
mod settings;
mod stop_text;
mod summary;
mod suppressed;
mod table;
mod tally;
mod test_report;
#[cfg(test)]
mod testing;
mod time_left;
mod to_correct;
mod width;

pub use advice::{Advice, Outlook, TRIAL, meaning};
use bar::Bar;
pub use bar::count_bar;
pub use campaign_names::CampaignNames;
pub use campaigns::{campaign_csv, campaign_json, campaign_table, campaigns_to_choose};
pub use check_json::check_json;
pub use check_text::check_text;
pub use countries::ListNotes;
pub use doubt::{DoubtError, fitting};
pub use estimate::Estimate;
use event_log::EventLog;
pub use event_log::{log_check, log_end, log_failure, log_import};
pub use findings::{Checked, Findings, Lookup};
pub use follow_up::{
    WHY_KEPT, age_unknown, leads_to_remove, reconcile_failure_json, reconciled_json,
    reconciled_text, stopped_failure, undo_failure_json, undo_plan_json, undo_plan_text,
    undone_json, undone_text,
};
pub use json::{json_failure, json_summary};
pub use later_columns::by_line;
pub use list_mapping::ListMapping;
pub use listeners::Listeners;
pub use log::{ALWAYS, Log};
pub use metrics::{Metrics, job_labels};
pub use opening::{destination_lines, difference_lines, opening_lines, run_line};
pub use outcome::{InDoubt, Outcome};
pub use overview::Overview;
pub use page::{Page, PageNotes, RunMode, STYLE, share};
pub use preview::{Preview, PreviewRow};
pub use progress::{Progress, RowTotal, Show, Work};
pub use runs_json::{
    copied_json, export_json, forgotten_json, pruned_json, run_json, runs_json, transferred_json,
};
pub use runs_text::{
    Forgotten, copied_text, export_text, forgotten_text, pruned_text, run_text, runs_text,
    transferred_text,
};
pub use settings::{settings_json, settings_text};
pub use stop_text::stop_text;
pub use summary::text_summary;
pub use suppressed::{
    added_json, added_text, removed_json, removed_text, suppressed_csv, suppressed_json,
    suppressed_text,
};
pub use tally::Tally;
pub use test_report::TestReport;
pub use to_correct::{RowToCorrect, ToCorrect};
pub use width::{Width, paragraph};
