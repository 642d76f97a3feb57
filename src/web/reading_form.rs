//! *Does this look wrong?*: how the file is read, and its first rows.

use axum::Extension;
use axum::response::Response;
use maud::{Markup, html};

use super::job::Job;
use super::layout::{job_form, labelled, see_other};
use super::reading::ListFacts;
use super::server::FormFields;
use super::steps::not_changed;
use super::trouble::Question;
use super::visit::{CurrentJob, Visit};
use super::work::WorkState;
use crate::mapping::{ColumnChoice, HiddenRows, MarkKind, Unclear};
use crate::options::{Given, Options};
use crate::source::{Certainty, Content};
use crate::text::{counted, grouped, shortened};

/// The encodings that lists come in.
const ENCODINGS: [(&str, &str); 11] = [
    ("utf-8", "Unicode (UTF-8)"),
    ("windows-1252", "Western Europe (Windows)"),
    ("cp850", "Western Europe (MS-DOS)"),
    ("cp437", "United States (MS-DOS)"),
    ("windows-1250", "Central Europe (Windows)"),
    ("windows-1251", "Cyrillic (Windows)"),
    ("windows-1253", "Greek (Windows)"),
    ("windows-1254", "Turkish (Windows)"),
    ("windows-1255", "Hebrew (Windows)"),
    ("windows-1256", "Arabic (Windows)"),
    ("shift_jis", "Japanese (Shift JIS)"),
];

const SEPARATORS: [(&str, &str); 4] = [
    (",", "comma"),
    (";", "semicolon"),
    ("tab", "tab"),
    ("|", "vertical bar"),
];

const FIRST_ROWS: usize = 5;
const FIRST_COLUMNS: usize = 12;
const VALUE: usize = 30;

/// `asks_for_sheet`: whether the screen asks for the sheet elsewhere.
pub fn section(visit: &Visit, job: &Job, facts: &ListFacts, asks_for_sheet: bool) -> Markup {
    let list = &facts.inspected;
    let options = job.record().options;
    let certainty = list.form.text().map(|text| text.certainty);
    let is_weak = certainty.is_some_and(|certainty| certainty != Certainty::Certain);
    let has_titles = list.form.above > 0;
    html! {
        details #reading open[is_weak || has_titles || !list.form.has_header] {
            summary { "Does this look wrong?" }
            (job_form(visit, job, "reading", html! {
                @match &list.form.content {
                    Content::Text(text) => {
                        (encoding(&options, text.encoding.name()))
                        @if certainty == Some(Certainty::LikeDos) {
                            p.note { "The letters look like those of an old program for MS-DOS. Choose “Western Europe (MS-DOS)” if they are wrong below." }
                        }
                        (separator(&options, char::from(text.delimiter)))
                    }
                    Content::Sheet(_) if asks_for_sheet => {},
                    Content::Sheet(sheet) => {
                        (sheet_field(sheet.names.iter().map(|name| (name, None)), &sheet.name))
                        @if list.counts.hidden > 0 { (hidden_rows(list.counts.hidden, visit, job)) }
                    }
                }
                p.field {
                    label {
                        input type="checkbox" name="no-header" value="yes" checked[options.reading.no_header == Some(true)];
                        " The first row is a person, not the names of the columns"
                    }
                }
                p { button type="submit" { "Read it again" } }
            }))
            (first_rows(facts))
        }
    }
}

/// Only a question about the list: which sheet is meant, or who of it is left out. The answer leads
/// to the columns or to the step `then`.
pub fn question(visit: &Visit, job: &Job, question: &Question, then: Option<&str>) -> Markup {
    let (asks, field, button) = match question {
        Question::Sheet(sheets) => {
            let first = sheets.first().map_or("", |sheet| &sheet.name);
            let choices = sheets.iter().map(|sheet| (&sheet.name, sheet.rows));
            ("sheet", sheet_field(choices, first), "Use this sheet")
        }
        Question::HiddenRows(hidden) => {
            ("hidden-rows", hidden_rows(*hidden, visit, job), "Continue")
        }
        Question::UnknownMarks => (
            "unclear-marks",
            marks("Leave them out", "Call them"),
            "Continue",
        ),
        Question::MostMarked(..) => {
            let field = marks("Who must not be called", "Something else");
            ("most-marked", field, "Continue")
        }
        _ => return html! {},
    };
    job_form(
        visit,
        job,
        "reading",
        html! {
            @if let Some(then) = then { input type="hidden" name="then" value=(then); }
            input type="hidden" name="asks" value=(asks);
            (field)
            p { button.primary type="submit" { (button) } }
        },
    )
}

fn encoding(options: &Options, found: &str) -> Markup {
    let chosen = options.reading.encoding.as_ref();
    let chosen = chosen.map(|given| given.text().to_string_lossy().to_lowercase());
    html! {
        (labelled("encoding", "Letters", html! {
            select #encoding name="encoding" {
                option value="" selected[chosen.is_none()] { "found out: " (found) }
                @for (name, label) in ENCODINGS {
                    option value=(name) selected[chosen.as_deref() == Some(name)] { (label) }
                }
            }
        }))
    }
}

fn separator(options: &Options, found: char) -> Markup {
    let chosen = options.reading.delimiter.as_ref();
    let chosen = chosen.map(|given| given.text().to_string_lossy().into_owned());
    let found = SEPARATORS
        .iter()
        .find(|(text, _)| *text == found.to_string());
    let found = found.map_or("tab", |(_, name)| name);
    html! {
        (labelled("separator", "Between two cells stands a", html! {
            select #separator name="separator" {
                option value="" selected[chosen.is_none()] { "found out: " (found) }
                @for (text, name) in SEPARATORS {
                    option value=(text) selected[chosen.as_deref() == Some(text)] { (name) }
                }
            }
        }))
    }
}

/// What becomes of hidden rows; nothing is chosen before somebody has said it.
fn hidden_rows(hidden: u64, visit: &Visit, job: &Job) -> Markup {
    let options = visit.site.options_of(&job.record());
    let chosen = options.reading.hidden_rows.as_deref();
    let label = format!("Hidden rows ({})", grouped(hidden));
    labelled(
        "hidden-rows",
        &label,
        html! {
            select #hidden-rows name="hidden-rows" required {
                @if chosen.is_none() { option value="" selected { "Choose" } }
                option value="skip" selected[chosen == Some(&HiddenRows::Skip)] { "Leave them out" }
                option value="send" selected[chosen == Some(&HiddenRows::Send)] { "Send them too" }
            }
        },
    )
}

/// What a column says about calling; nothing is chosen before somebody has said it.
fn marks(leave_out: &str, call: &str) -> Markup {
    labelled(
        "marks",
        "What it says",
        html! {
            select #marks name="marks" required {
                option value="" selected { "Choose" }
                option value="leave-out" { (leave_out) }
                option value="call" { (call) }
            }
        },
    )
}

/// Keeps what somebody has said about a column that seems to say who must not be called.
fn keep_marks(options: &mut Options, question: Option<&Question>, answer: Given<Unclear>) {
    let mapping = &mut options.mapping;
    match question {
        Some(Question::UnknownMarks) => {
            mapping.unclear_marks = Some(answer);
        }
        Some(Question::MostMarked(kind, name)) => {
            let column = match *answer {
                Unclear::LeaveOut => Given::new(ColumnChoice::Named(name.clone()), name),
                Unclear::Call => Given::new(ColumnChoice::None, "none"),
            };
            match kind {
                MarkKind::DoNotCall => mapping.do_not_call_column = Some(column),
                MarkKind::Consent => mapping.consent_column = Some(column),
            }
        }
        _ => {}
    }
}

fn sheet_field<'n>(
    sheets: impl Iterator<Item = (&'n String, Option<u64>)>,
    chosen: &str,
) -> Markup {
    labelled(
        "sheet",
        "Sheet",
        html! {
            select #sheet name="sheet" {
                @for (name, rows) in sheets {
                    option value=(name) selected[name == chosen] {
                        (name)
                        @if let Some(rows) = rows { " (" (counted(rows, "row")) ")" }
                    }
                }
            }
        },
    )
}

fn first_rows(facts: &ListFacts) -> Markup {
    let list = &facts.inspected;
    let columns = list.header.names.len().min(FIRST_COLUMNS);
    html! {
        div.scroll tabindex="0" role="region" aria-label="The first rows as they were read" {
            table {
                caption { "The first rows as they were read" }
                thead {
                    tr {
                        @for name in &list.header.names[..columns] {
                            th scope="col" { bdi { (shortened(name, VALUE)) } }
                        }
                    }
                }
                tbody {
                    @for row in list.sample.rows().take(FIRST_ROWS) {
                        tr {
                            @for column in 0..columns {
                                td { bdi { (shortened(&row.lossy(column), VALUE)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub async fn choose(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Response {
    let given = |name: &str| fields.get(name).filter(|text| !text.is_empty());
    let facts = job.state().read.done();
    let sheet_before = facts.as_ref().and_then(|facts| facts.inspected.sheet());
    let trouble = match &job.state().check {
        WorkState::Failed(trouble) => trouble.question.clone(),
        _ => None,
    };
    let changed = job.change(fields.version(), |record| {
        let reading = &mut record.options.reading;
        let asks = fields.get("asks");
        if asks.is_none_or(|asks| asks == "sheet") {
            reading.sheet = given("sheet").map(Given::text_of);
            if given("sheet") != sheet_before {
                // Other rows are hidden there.
                reading.hidden_rows = None;
            }
        }
        if let Some(text) = given("hidden-rows")
            && (asks.is_some() || given("sheet") == sheet_before)
        {
            reading.hidden_rows = text.parse().ok();
        }
        if let Some(answer) = given("marks").and_then(|text| text.parse().ok()) {
            keep_marks(&mut record.options, trouble.as_ref(), answer);
            return;
        }
        if asks.is_none() {
            reading.encoding = given("encoding").and_then(|text| text.parse().ok());
            reading.delimiter = given("separator").and_then(|text| text.parse().ok());
            reading.no_header = given("no-header").map(|_| true);
        }
    });
    let next = match fields.get("then") {
        Some("begin") => "begin",
        _ => "columns",
    };
    match changed {
        Ok(()) => see_other(&visit.job_path(job.id, next)),
        Err(why) => not_changed(&visit, &job, "columns", &why),
    }
}
