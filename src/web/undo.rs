//! *Undo*: the leads of a run are removed from the service again, after a question.

use axum::Extension;
use axum::extract::Path;
use maud::{Markup, html};

use super::campaigns::Campaigns;
use super::follow_ups::{self, Agreed, FollowUp, Task};
use super::history;
use super::layout::{Screen, Shown, form, see_other};
use super::server::FormFields;
use super::steps::send::button;
use super::visit::{Answer, Visit};
use crate::lead::{CampaignId, Status};
use crate::ledger::{RunRecord, RunState, UndoRow};
use crate::message::Voice;
use crate::report::{Block, Html, list_name};
use crate::text::{counted, grouped};

/// How many campaigns are named in the question.
const NAMED: usize = 3;

/// Whether something can be done about this run here.
pub fn is_offered(visit: &Visit, run: &RunRecord) -> bool {
    run.service == visit.site.service_name() && run.state() != RunState::AtWork
}

/// Whether the run may have leads that were not removed.
fn may_have_leads(run: &RunRecord) -> bool {
    const MAY_BE_LEADS: [Status; 3] = [Status::Created, Status::Duplicate, Status::Uncertain];
    match &run.undo {
        Some(undo) => !undo.counts.all_are_removed(),
        None => MAY_BE_LEADS.iter().any(|status| run.counts.of(*status) > 0),
    }
}

/// The way to the question, where it can be asked; `of` says for a screen reader what is undone.
pub fn link(visit: &Visit, run: &RunRecord, of: Option<&str>) -> Markup {
    html! {
        @if is_offered(visit, run) && may_have_leads(run) {
            a.button[of.is_none()] href={ (visit.run_path(run.run)) "/undo" } {
                "Undo" @if let Some(of) = of { span.unseen { " " (of) } }
            }
        }
    }
}

/// The question.
pub async fn ask(visit: Visit, Path(id): Path<u64>) -> Answer {
    let run = history::run(&visit, id).await?;
    let back = visit.run_path(run.run);
    if is_at_work(&visit, &run) {
        return Ok(see_other(&format!("{back}/progress")));
    }
    if !is_offered(&visit, &run) {
        return Ok(see_other(&back));
    }
    // Campaigns are shown by their names.
    let _ = Campaigns::until(visit.until, &visit.site).await;
    let of = run.run;
    let plan = history::read(&visit, move |ledger| ledger.undo_plan(of)).await;
    let plan = plan.map_err(|trouble| history::failed(&visit, "Undo", &trouble))?;
    // The service has said so when it was asked before.
    let work = visit.site.follow_ups.of_run(run.run);
    let older = work.map_or(0, |work| work.now().older);
    let plan = plan.unwrap_or_default();
    let asked = Asked::of(&visit, &plan, older);
    let (heading, press) = asked.heading();
    let nothing_goes = asked.known + asked.unsure == 0;
    let screen = Screen {
        title: format!("Undo, {}", list_name(&run)),
        heading,
        help: match nothing_goes {
            true => String::new(),
            false => "Calls already made can't be taken back.".to_owned(),
        },
        back: Some(back.clone()),
        body: Some(html! {
            p { bdi { (list_name(&run)) } ", sent on " (history::when(&visit, &run)) "." }
            @if history::is_unfinished(&run) && !nothing_goes {
                p { "The rest of this list isn't sent then." }
            }
            (Html::plain(Voice::Page).blocks(&asked.notes()))
            @if nothing_goes {
                p { a.button href=(back) { "Back to the list" } }
            } @else {
                (form(&visit, &format!("{back}/undo"), html! {
                    input type="hidden" name="leads" value=(asked.known + asked.unsure);
                    input type="hidden" name="older" value=(asked.older);
                    p.buttons {
                        button.primary type="submit" { (press) } " "
                        a.button href=(back) { "Keep them" }
                    }
                }))
            }
        }),
        ..Screen::default()
    };
    Ok(screen.respond(&visit))
}

/// What is asked about: how many leads go, and how many stay.
struct Asked {
    known: u64,
    /// Rows that may have arrived, which are looked up first.
    unsure: u64,
    /// Leads that the campaign had before.
    older: u64,
    untouched: u64,
    /// The campaigns that have them.
    from: String,
}

impl Asked {
    fn of(visit: &Visit, plan: &[UndoRow], older: u64) -> Asked {
        let goes = plan.iter().filter(|row| row.outcome.is_none()).count() as u64;
        let unsure = plan.iter().filter(|row| row.may_be_looked_up).count() as u64;
        let is_removed = |row: &&UndoRow| row.outcome.is_none() || row.may_be_looked_up;
        let older = goes.min(older);
        Asked {
            known: goes - older,
            unsure,
            older,
            untouched: plan.len() as u64 - goes - unsure,
            from: campaigns(visit, &plan.iter().filter(is_removed).collect::<Vec<_>>()),
        }
    }

    /// The question, and what the button says.
    fn heading(&self) -> (String, String) {
        let (leads, from) = (counted(self.known, "lead"), &self.from);
        match (self.known, self.unsure) {
            (0, 0) if self.untouched + self.older > 0 => {
                ("No lead is surely of this list".to_owned(), String::new())
            }
            (0, 0) => ("There is nothing to remove".to_owned(), String::new()),
            (0, rows) => (
                format!(
                    "Remove what has arrived of {} from {from}?",
                    counted(rows, "row")
                ),
                "Look up and remove".to_owned(),
            ),
            _ => (
                format!("Remove {leads} from {from}?"),
                format!("Remove {leads}"),
            ),
        }
    }

    fn notes(&self) -> Vec<Block> {
        let unsure = (self.unsure > 0).then(|| Block::Paragraph(text!(
            "of {rows:row} it isn't sure that {rows?it:they} arrived; the service is asked first, and what this list has added is removed too",
            rows = self.unsure
        )));
        let older = (self.older > 0).then(|| Block::Note(text!(
            "{older:lead} of this list will stay: the campaign had them before this list was sent",
            older = self.older
        )));
        let untouched = (self.untouched > 0).then(|| Block::Note(text!(
            "{rows:row} may have arrived, or arrived with an earlier list too; what these have at the service stays as it is",
            rows = self.untouched
        )));
        [unsure, older, untouched].into_iter().flatten().collect()
    }
}

/// The campaigns that have these leads.
fn campaigns(visit: &Visit, rows: &[&UndoRow]) -> String {
    let mut ids: Vec<CampaignId> = rows.iter().map(|row| row.campaign).collect();
    ids.sort_unstable();
    ids.dedup();
    let name = |id: &CampaignId| visit.site.campaigns.name(&id.to_string());
    match ids.len() {
        0..=NAMED => ids.iter().map(name).collect::<Vec<_>>().join(", "),
        many => format!("{many} campaigns"),
    }
}

fn is_at_work(visit: &Visit, run: &RunRecord) -> bool {
    let work = visit.site.follow_ups.of_run(run.run);
    work.is_some_and(|work| work.is_at_work())
}

/// Begins to remove them.
pub async fn undo(
    visit: Visit,
    Path(id): Path<u64>,
    Extension(fields): Extension<FormFields>,
) -> Answer {
    let leads = fields.get("leads").and_then(|leads| leads.parse().ok());
    let Some(leads) = leads else {
        return Ok(see_other(&format!(
            "{}/undo",
            visit.run_path(history::run(&visit, id).await?.run)
        )));
    };
    let older = fields.get("older").and_then(|older| older.parse().ok());
    let older = older.unwrap_or_default();
    begin(visit, id, Task::Undo(Agreed { leads, older })).await
}

/// Begins to look rows up that may have arrived.
pub async fn look_up(
    visit: Visit,
    Path(id): Path<u64>,
    Extension(_): Extension<FormFields>,
) -> Answer {
    begin(visit, id, Task::LookUp).await
}

async fn begin(visit: Visit, id: u64, task: Task) -> Answer {
    let run = history::run(&visit, id).await?;
    let back = visit.run_path(run.run);
    if !is_offered(&visit, &run) {
        return Ok(see_other(&back));
    }
    follow_ups::begin(&visit.site, &run, task);
    Ok(see_other(&format!("{back}/progress")))
}

/// How far it has come. When it is over, the screen of the run says how it ended.
pub async fn progress(visit: Visit, Path(id): Path<u64>) -> Answer {
    let run = history::run(&visit, id).await?;
    let back = visit.run_path(run.run);
    visit.site.follow_ups.wait_until(visit.until, run.run).await;
    let work = visit.site.follow_ups.of_run(run.run);
    let Some(work) = work.filter(|work| work.is_at_work()) else {
        return Ok(see_other(&back));
    };
    let now = work.now();
    let heading = work.what();
    let screen = Screen {
        title: heading.clone(),
        heading: heading.clone(),
        help: "You can close this tab. Keep the leadload window open.".into(),
        back: Some(visit.path("history")),
        body: Some(html! {
            div #progress {
                p {
                    @if now.is_stopping { "Stopping: waiting for the last answers." }
                    @else if now.total == 0 { "Asking the service …" }
                    @else { (grouped(now.done)) " of " (grouped(now.total)) }
                }
                progress max=(now.total.max(1)) value=(now.done) aria-label=(heading) {}
            }
            (button(&visit, &format!("{back}/stop"), "Stop"))
        }),
        is_waiting: true,
        shows_sending: Some(Shown::FollowUp(run.run)),
        ..Screen::default()
    };
    Ok(screen.respond(&visit))
}

pub async fn stop(
    visit: Visit,
    Path(id): Path<u64>,
    Extension(_): Extension<FormFields>,
) -> Answer {
    let run = history::run(&visit, id).await?;
    if let Some(work) = visit.site.follow_ups.of_run(run.run) {
        work.stop();
    }
    Ok(see_other(&format!("{}/progress", visit.run_path(run.run))))
}

/// The screen after work on this run has ended says so.
pub fn latest(visit: &Visit, run: &RunRecord) -> Option<std::sync::Arc<FollowUp>> {
    visit
        .site
        .follow_ups
        .of_run(run.run)
        .filter(|work| !work.is_at_work())
}
