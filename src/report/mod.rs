//! Output for people and programs, while rows are sent and afterwards.
//!
//! Rule: listens, never steers. The pipeline emits [`RunEvent`]s; a
//! [`Tally`] counts them, a `Progress` holds the state of the run,
//! and the bar, log, summary, JSON and [`Page`] are made from these.
//!
//! What people read is built as [`Block`]s, each sentence once, in the words of both voices; [`text`]
//! shows them on a terminal, [`Html`] in the file of `--report` and in the page. To say something new of
//! a run, add it where its blocks are built (`summary`, `runs`, `overview`) and in `json`.
//!
//! Output holds no personal data. Phone numbers, variables, and what the
//! service says about a row, which may quote them, are only in the output
//! files (the page is one of them) and in what `leadload check` shows.
//!
//! [`RunEvent`]: crate::event::RunEvent

mod advice;
mod bar;
mod beginning;
pub mod block;
mod campaign_names;
mod campaigns;
mod check;
mod check_json;
pub mod console;
mod countries;
mod doubt;
mod estimate;
mod event_log;
mod examples;
mod findings;
mod follow_up;
mod html;
mod json;
mod kinds;
mod later_columns;
mod list_facts;
mod list_mapping;
mod listeners;
mod log;
mod metrics;
mod next;
mod outcome;
mod overview;
mod page;
mod preview;
mod problems;
mod progress;
mod rows;
mod runs;
mod runs_json;
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
mod text;
mod time_left;
pub mod times;
mod to_correct;
mod width;

pub use advice::{Advice, Outlook, TRIAL, status_name};
use bar::Bar;
pub use bar::count_bar;
pub use beginning::{destination, differences, run_line};
pub use block::Block;
pub use campaign_names::CampaignNames;
pub use campaigns::{campaign_csv, campaign_json, campaign_table, campaigns_to_choose};
pub use check::{check, not_looked_up};
pub use check_json::check_json;
pub use countries::ListNotes;
pub use doubt::{DoubtError, fitting};
pub use estimate::Estimate;
use event_log::EventLog;
pub use event_log::{log_check, log_end, log_failure, log_import};
pub use examples::Examples;
pub use findings::{Checked, Findings, Lookup};
pub use follow_up::{
    WHY_KEPT, age_unknown, leads_to_remove, reconcile_failure_json, reconciled, reconciled_json,
    stopped_failure, undo_failure_json, undo_plan, undo_plan_json, undone, undone_json,
};
pub use html::{Html, share};
pub use json::{json_failure, json_summary};
pub use list_facts::{list_facts, list_notes};
pub use list_mapping::ListMapping;
pub use listeners::Listeners;
pub use log::{ALWAYS, Log};
pub use metrics::{Metrics, job_labels};
pub use outcome::{InDoubt, NextCommands, Outcome};
pub use overview::{ListOnPage, Overview};
pub use page::{Page, RunMode, STYLE};
pub use preview::{Preview, PreviewRow};
pub use problems::{all_problems, left_out_line, problem, round_numbers};
pub use progress::{Progress, RowTotal, Show, Work};
pub use rows::counts;
pub use runs::{
    Forgotten, campaign, chosen_campaign, copied_text, export, forgotten_text, list_name,
    pruned_text, run, runs, transferred_text,
};
pub use runs_json::{
    copied_json, export_json, forgotten_json, pruned_json, run_json, runs_json, transferred_json,
};
pub use settings::{settings_json, settings_text};
pub use stop_text::stop_text;
pub use summary::summary;
pub use suppressed::{
    SENT_WITH, added, added_json, campaign_of, removed, removed_json, suppressed, suppressed_csv,
    suppressed_json,
};
pub use tally::Tally;
pub use test_report::TestReport;
pub use text::text;
pub use to_correct::{RowToCorrect, ToCorrect};
pub use width::{Width, paragraph};
