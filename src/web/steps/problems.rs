//! *Problems*: the rows that cannot be sent as they are, by reason.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::columns::next_step;
use super::{checked, not_changed, screen, waiting};
use crate::intake::PlannedInput;
use crate::lead::ErrorCode;
use crate::message::{Text, Voice};
use crate::report::block::{Block, Problem};
use crate::report::{Html, InDoubt, Outlook, RowToCorrect, left_out_line, problem};
use crate::text::grouped;
use crate::web::checking::Checked;
use crate::web::corrections::{self, CorrectState, Refused};
use crate::web::job::Job;
use crate::web::layout::{FieldError, Screen, job_form, see_other, status_of, table_head};
use crate::web::notes;
use crate::web::server::FormFields;
use crate::web::visit::{Answer, CurrentJob, Visit};
use crate::web::words::{cure, row_error};

/// The query of the screen after corrections.
const CORRECTED: &str = "corrected";

/// How many rows are corrected on one page.
pub const ROWS_ON_PAGE: usize = 50;

/// The page that a number means, from 0.
fn page_number(number: Option<&str>) -> usize {
    let number = number.and_then(|number| number.parse().ok());
    number.unwrap_or(1_usize).saturating_sub(1)
}

pub async fn show(visit: Visit, CurrentJob(job): CurrentJob, RawQuery(query): RawQuery) -> Answer {
    let query = query.unwrap_or_default();
    let asked: HashMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    let page = page_number(asked.get("page").map(|page| &**page));
    if asked.contains_key("next") {
        checked(&visit, &job).await?;
        return Ok(see_other(&visit.job_path(job.id, next_step(&job))));
    }
    let refused = refused(&visit, &job, asked.contains_key(CORRECTED)).await?;
    // All corrections could be kept.
    if refused.is_empty() && asked.contains_key("then") {
        return Ok(see_other(&visit.job_path(job.id, "send")));
    }
    let checked = checked(&visit, &job).await?;
    Ok(shown(&visit, &job, &checked, page, &refused))
}

/// The corrections that were typed and could not be kept, once the others are kept. That none
/// could be kept is the answer to the form that they were typed into.
async fn refused(visit: &Visit, job: &Arc<Job>, is_answer: bool) -> Result<Arc<Refused>, Response> {
    job.wait_until(visit.until, |state| !state.corrections.is_at_work())
        .await;
    let state = job.state();
    let why = match &state.corrections {
        CorrectState::Refused(refused) => return Ok(Arc::clone(refused)),
        CorrectState::Failed(why) if is_answer => Some(Arc::clone(why)),
        CorrectState::Keeping => None,
        CorrectState::NotBegun | CorrectState::Failed(_) => return Ok(Arc::default()),
    };
    drop(state);
    Err(match why {
        Some(why) => not_changed(visit, job, "problems", &why),
        None => waiting(visit, job, "Keeping the corrections …", 0),
    })
}

fn heading(problems: u64) -> String {
    match problems {
        0 => "Every row can be sent".to_owned(),
        1 => "1 row can't be sent yet".to_owned(),
        _ => format!("{} rows can't be sent yet", grouped(problems)),
    }
}

fn help(checked: &Checked) -> String {
    let (problems, ready) = (checked.problems(), checked.ready());
    let fix = match checked.to_correct.rows.is_empty() {
        true => "Fix them in your list",
        false => "Fix them here",
    };
    match (problems, ready) {
        (0, _) => String::new(),
        _ if checked.lookup.unclear().is_some() => String::new(),
        (_, 0) => format!("{fix}, or choose a newer version of the list."),
        _ => format!(
            "{fix}, or send the other {} now and these later.",
            grouped(ready)
        ),
    }
}

fn shown(visit: &Visit, job: &Job, checked: &Checked, page: usize, refused: &Refused) -> Response {
    let (problems, ready) = (checked.problems(), checked.ready());
    let can_go_on = ready > 0 && checked.lookup.unclear().is_none();
    let errors = refused.iter().map(|(row, (_, why))| {
        let field = format!("#row-{row}");
        let address = match page_of(checked, *row) {
            Some(of_row) if of_row != page => format!("?page={}{field}", of_row + 1),
            _ => field,
        };
        FieldError::at_address(address, why)
    });
    let errors: Vec<_> = errors.collect();
    let screen = Screen {
        heading: heading(problems),
        help: help(checked),
        back: Some(visit.job_path(job.id, "columns")),
        status: status_of(&errors),
        errors,
        body: Some(html! {
            (notes::section(checked))
            (groups(visit, job, checked))
            @if problems > 0 {
                p.buttons {
                    a.button href=(visit.job_path(job.id, "files/rows-to-fix.xlsx")) download { "Download rows to fix" }
                    a.button href=(visit.job_path(job.id, "list")) { "Use a newer version" }
                }
                p.hint { "When the rows are fixed, choose that file as a list: its settings are known." }
            }
            (job_form(visit, job, "problems", html! {
                (correctable(checked, page, refused))
                @if can_go_on && !refused.is_empty() {
                    p.hint { "Press Continue again to send the others without these rows." }
                }
                p.buttons {
                    @if can_go_on { button.primary type="submit" name="action" value="continue" { "Continue" } }
                }
            }))
            (pages(visit, job, checked, page))
        }),
        ..screen(visit, job, "Problems", "problems")
    };
    screen.respond(visit)
}

fn groups(visit: &Visit, job: &Job, checked: &Checked) -> Markup {
    let outlook = Outlook {
        by_same_command: false,
        in_doubt: InDoubt::default(),
    };
    let tally = &checked.found.tally;
    let problems = tally.problems().into_iter().map(|(status, code, group)| {
        let problem = problem(status, code, group, outlook, &[]);
        let meaning = shortened(code, checked).unwrap_or(problem.meaning);
        Block::Problem(Problem { meaning, ..problem })
    });
    let html = Html {
        cure: &|code| {
            html! {
                @if let Some((step, text)) = cure(code) {
                    p { a href=(visit.job_path(job.id, step)) { (text) } }
                }
            }
        },
        ..Html::plain(Voice::Page)
    };
    html! {
        @if let Some(unclear) = checked.lookup.unclear() {
            article.problem {
                h2 { "Campaigns that are not clear" }
                p { "Nothing can be sent before the service has exactly one campaign with each of these names." }
                ul { @for line in unclear.lines() { li { (line.words(Voice::Page)) } } }
                p { a href=(visit.job_path(job.id, "campaign")) { "Choose one campaign for all rows" } }
            }
        }
        (html.blocks(&problems.collect::<Vec<_>>()))
        @for (status, _, group) in tally.left_out() {
            p.left-out { (left_out_line(status, group.rows).words(Voice::Page)) }
        }
    }
}

/// What it means that Excel has shortened numbers, with one of them.
fn shortened(code: ErrorCode, checked: &Checked) -> Option<Text> {
    let is_shortened = |row: &&RowToCorrect| {
        row.code == ErrorCode::PhoneDamaged
            && row.cell().contains(['e', 'E'])
            && !row.cell().contains('#')
    };
    let row = checked.to_correct.rows.iter().find(is_shortened)?;
    (code == ErrorCode::PhoneDamaged).then(|| {
        text!(
            "Excel has shortened these phone numbers, like {cell}; the missing digits aren't in this file; export it again and choose it here without opening it in Excel",
            cell = row.cell().trim()
        )
    })
}

/// The rows whose phone cell can be corrected here.
fn correctable(checked: &Checked, page: usize, refused: &Refused) -> Markup {
    let to_correct = &checked.to_correct;
    let rows = &to_correct.rows;
    let (Some(list), false) = (checked.intake.inputs.first(), rows.is_empty()) else {
        return html! {};
    };
    let page = page.min(page_count(checked) - 1);
    let here = rows.iter().skip(page * ROWS_ON_PAGE).take(ROWS_ON_PAGE);
    html! {
        h2 { "Correct phone numbers" }
        @if to_correct.total > rows.len() as u64 {
            p { "The first " (grouped(rows.len() as u64)) " of " (grouped(to_correct.total)) " can be corrected here." }
        }
        input type="hidden" name="page" value=(page + 1);
        div.scroll {
            table.fixable {
                (table_head(&["Line", "Who", "Phone number"]))
                tbody { @for row in here { (correction(list, row, refused.get(&row.row.0))) } }
            }
        }
        p { button type="submit" { "Keep corrections" } }
    }
}

/// The page (from 0) on which a row can be corrected.
fn page_of(checked: &Checked, row: u64) -> Option<usize> {
    let mut rows = checked.to_correct.rows.iter();
    let at = rows.position(|one| one.row.0 == row)?;
    Some(at / ROWS_ON_PAGE)
}

fn page_count(checked: &Checked) -> usize {
    checked.to_correct.rows.len().div_ceil(ROWS_ON_PAGE)
}

/// The pages of rows that can be corrected.
fn pages(visit: &Visit, job: &Job, checked: &Checked, page: usize) -> Markup {
    let pages = page_count(checked);
    html! {
        @if pages > 1 {
            nav.pages aria-label="Pages" {
                @for at in 0..pages {
                    a href={ (visit.job_path(job.id, "problems")) "?page=" (at + 1) }
                        aria-current=[(at == page.min(pages - 1)).then_some("page")] aria-label={ "Page " (at + 1) } { (at + 1) }
                    " "
                }
            }
        }
    }
}

fn correction(
    list: &PlannedInput,
    row: &RowToCorrect,
    refused: Option<&(String, String)>,
) -> Markup {
    let id = format!("row-{}", row.row.0);
    let typed = refused.map_or(row.cell(), |(typed, _)| typed);
    let why = refused.map_or_else(|| row_error(row.error.as_ref()), |(_, why)| why.clone());
    html! {
        tr {
            th.number scope="row" { (row.line) }
            td { (row.others(list).iter().map(|(_, value)| *value).collect::<Vec<_>>().join(" · ")) }
            td {
                input type="text" id=(id) name=(id) value=(typed) inputmode="tel" autocomplete="off"
                    aria-label={ "Phone number in line " (row.line) } aria-describedby={ (id) "-why" }
                    aria-invalid=[refused.map(|_| "true")];
                div #{ (id) "-why" } .hint { (why) }
            }
        }
    }
}

/// Keeps corrections: those that can be sent go into a corrected copy of the list.
pub async fn correct(
    visit: Visit,
    CurrentJob(job): CurrentJob,
    Extension(fields): Extension<FormFields>,
) -> Answer {
    let checked = checked(&visit.patiently(), &job).await?;
    let before = job.state().corrections.refused();
    if let Err(why) = corrections::begin(&job, &checked, &fields) {
        return Ok(not_changed(&visit, &job, "problems", &why));
    }
    // Who goes on with the same mistakes leaves these rows out.
    let refused = job.state().corrections.refused();
    if fields.get("action").is_some() && refused.is_some() && refused == before {
        return Ok(see_other(&visit.job_path(job.id, "send")));
    }
    // Once the list is checked again, other rows stand on the page.
    let page = page_number(fields.get("page")) + 1;
    let then = match fields.get("action") {
        Some(_) => "&then=send",
        None => "",
    };
    let query = format!("?{CORRECTED}&page={page}{then}");
    Ok(see_other(&(visit.job_path(job.id, "problems") + &query)))
}
