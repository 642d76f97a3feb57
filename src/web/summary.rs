//! *Print summary*: what became of a list, without numbers and names of people.

use axum::extract::Path;
use maud::html;

use super::campaigns::Campaigns;
use super::history;
use super::layout::Screen;
use super::visit::{Answer, Visit};
use crate::message::Voice;
use crate::report::{self, Html, list_name};

pub async fn show(visit: Visit, Path(run): Path<u64>) -> Answer {
    // The campaign is shown by its name.
    let _ = Campaigns::until(visit.until, &visit.site).await;
    let run = history::run(&visit, run).await?;
    let name = list_name(&run);
    let blocks = report::run(&run, &history::campaign(&visit.site, &run));
    let screen = Screen {
        title: format!("Summary, {name}"),
        heading: format!("Summary of {name}"),
        back: Some(visit.run_path(run.run)),
        body: Some(html! {
            (Html::plain(Voice::Page).blocks(&blocks))
            p.hint { "Print this page with your browser (Ctrl+P)." }
        }),
        ..Screen::default()
    };
    Ok(screen.respond(&visit))
}
