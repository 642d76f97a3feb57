//! *Print summary*: what became of a list, without numbers and names of people.

use axum::extract::Path;
use maud::html;

use super::campaigns::Campaigns;
use super::history;
use super::layout::Screen;
use super::times;
use super::visit::{Answer, Visit};
use super::words;
use crate::ledger::RunState;
use crate::text::{counted, grouped};

pub async fn show(visit: Visit, Path(run): Path<u64>) -> Answer {
    // The campaign is shown by its name.
    let _ = Campaigns::until(visit.until, &visit.site).await;
    let run = history::run(&visit, run).await?;
    let name = history::list_name(&run);
    let state = match run.state() {
        RunState::Complete => "Complete",
        RunState::Undone => "Removed again",
        RunState::AtWork => "Not complete yet",
        RunState::Stopped(_) | RunState::Killed => "Stopped before the end",
    };
    let ended = run.starts.last().and_then(|start| start.ended_at);
    let screen = Screen {
        title: format!("Summary, {name}"),
        heading: format!("Summary of {name}"),
        back: Some(visit.run_path(run.run)),
        body: Some(html! {
            dl.summary {
                div { dt { "Campaign" } dd { bdi { (history::campaign(&visit, &run)) } } }
                div { dt { "Began" } dd { (times::day(run.began_at)) } }
                @if let Some(ended) = ended { div { dt { "Ended" } dd { (times::day(ended)) } } }
                div { dt { "State" } dd { (state) } }
                div { dt { "Rows" } dd { (counted(run.counts.total(), "row")) } }
                @for (status, rows) in run.counts.all().filter(|(_, rows)| *rows > 0) {
                    div { dt { (words::status(status)) } dd { (grouped(rows)) } }
                }
            }
            p.hint { "Print this page with your browser (Ctrl+P)." }
        }),
        ..Screen::default()
    };
    Ok(screen.respond(&visit))
}
