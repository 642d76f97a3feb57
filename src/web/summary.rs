//! *Print summary*: what became of the list, without numbers and names of people.

use axum::extract::Path;
use axum::response::Response;
use maud::html;

use super::layout::Screen;
use super::live::LiveState;
use super::steps::job;
use super::times;
use super::visit::Visit;
use super::words;
use crate::text::{counted, grouped};

pub async fn show(visit: Visit, Path(id): Path<u64>) -> Response {
    let job = match job(&visit, id) {
        Ok(job) => job,
        Err(response) => return response,
    };
    let record = job.record();
    let live: LiveState = job
        .state()
        .sending
        .live()
        .map(|live| live.now())
        .unwrap_or_default();
    let state = match &live.end {
        Some(end) if end.is_complete => "Complete".to_owned(),
        Some(_) => "Stopped before the end".to_owned(),
        None => "Not complete yet".to_owned(),
    };
    let screen = Screen {
        title: format!("Summary, {}", record.name),
        heading: format!("Summary of {}", record.name),
        back: Some(visit.job_path(job.id, "run")),
        body: Some(html! {
            dl.summary {
                div { dt { "Campaign" } dd { bdi { (record.campaign_name(&visit)) } } }
                @if let Some(end) = &live.end { div { dt { "Ended" } dd { (times::day(end.ended_at)) } } }
                div { dt { "State" } dd { (state) } }
                div { dt { "Rows" } dd { (counted(live.rows_done(), "row")) } }
                @for (status, rows) in live.counts.all().filter(|(_, rows)| *rows > 0) {
                    div { dt { (words::status(status)) } dd { (grouped(rows)) } }
                }
            }
            p.hint { "Print this page with your browser (Ctrl+P)." }
        }),
        ..Screen::default()
    };
    screen.respond(&visit)
}
