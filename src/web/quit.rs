//! *Stop and quit*: ends the program, after asking while something is sent.

use axum::Extension;
use axum::response::Response;
use maud::html;

use super::layout::{Screen, form};
use super::server::FormFields;
use super::visit::Visit;

pub async fn ask(visit: Visit) -> Response {
    let at_work = visit.site.jobs.at_work();
    let names: Vec<String> = at_work.iter().map(|job| job.record().name).collect();
    let follow_ups = visit.site.follow_ups.at_work();
    let help = match &names[..] {
        [] if !follow_ups.is_empty() => {
            let what: Vec<String> = follow_ups.iter().map(|work| work.what()).collect();
            format!(
                "{}. That stops, and you can go on with it when leadload is started again.",
                what.join(", ")
            )
        }
        [] => "Nothing is being sent. What you have prepared is kept.".to_owned(),
        [sent] => format!(
            "{sent} is being sent. It stops, and you can resume it when leadload is started again."
        ),
        [sent, waiting @ ..] => format!(
            "{sent} is being sent. It stops, and you can resume it when leadload is started again. Not sent then: {}.",
            waiting.join(", ")
        ),
    };
    let screen = Screen {
        title: "Stop and quit".into(),
        heading: "Stop leadload?".into(),
        help,
        back: Some(visit.path("list")),
        body: Some(html! {
            (form(&visit, &visit.path("quit"), html! {
                p.buttons {
                    button.primary type="submit" { "Stop and quit" } " "
                    a.button href=(visit.path("list")) { "Keep it running" }
                }
            }))
        }),
        ..Screen::default()
    };
    screen.respond(&visit)
}

pub async fn quit(visit: Visit, Extension(_): Extension<FormFields>) -> Response {
    visit.site.quit.notify_one();
    let screen = Screen {
        title: "leadload has ended".into(),
        heading: "leadload has ended".into(),
        help: "You can close this tab. What was sent is remembered: start leadload again to go on."
            .into(),
        is_last: true,
        ..Screen::default()
    };
    screen.respond(&visit)
}
