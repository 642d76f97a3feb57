//! A page about a run or a check, for people who do not work at a terminal.
//!
//! Promises:
//! - It is one file: no script, font, image or style comes from elsewhere, and a policy in
//!   its head has the browser refuse any.
//! - Whatever comes from the input or the service is text and cannot become anything else:
//!   `maud` escapes everything, and characters that steer a screen or turn the direction of
//!   writing are replaced in the whole page, last.
//! - However many rows there are, its size is bounded, and so is what is kept for it while they
//!   are sent.
//! - Nothing is shown by colour alone, and it can be read on a phone, in the dark, on paper
//!   and by a screen reader.
//!
//! It may contain phone cells and what the service said,
//! as the results do, so only the owner can read the file.

mod facts;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::block::{Block, Table};
use super::check::{campaigns, columns};
use super::estimate::Estimate;
use super::examples::Examples;
use super::findings::Lookup;
use super::html::Html;
use super::next::{after_check, explained, files, next};
use super::outcome::Outcome;
use super::problems::{MAX_PROBLEMS, left_out, problems};
use super::rows::{by_country, rows};
use super::stop_text::stop_text;
use crate::campaign::CampaignChoice;
use crate::intake::Intake;
use crate::lead::Status;
use crate::message::{Text, Voice};
use crate::text::{counted, grouped, joined, printable_lines};

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The style of all pages, those in a browser too.
pub const STYLE: &str = include_str!("style.css");

#[derive(Debug)]
pub struct Page<'a> {
    pub outcome: &'a Outcome<'a>,
    pub intake: &'a Intake,
    pub notes: &'a Examples,
    /// The campaign that was chosen for rows without one of their own.
    pub campaign: Option<&'a CampaignChoice>,
    pub mode: RunMode<'a>,
}

#[derive(Debug)]
pub enum RunMode<'a> {
    Checked { estimate: Option<&'a Estimate> },
    Sent { service: String, goes_on: bool },
}

impl Page<'_> {
    pub fn html(&self) -> String {
        let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
        self.html_at(Timestamp::now(), &zone)
    }

    fn html_at(&self, now: Timestamp, zone: &TimeZone) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="generator" content={ "leadload " (version) };
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="robots" content="noindex";
                    title { (self.title()) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        (self.header())
                        (Html::plain(Voice::Terminal).blocks(&self.blocks(now, zone)))
                    }
                    footer {
                        p {
                            "Written by leadload " (version) ". This page can contain phone "
                            "numbers: keep it and pass it on with the same care as the list itself."
                        }
                    }
                }
            }
        };
        printable_lines(&page.into_string()).into_owned()
    }

    fn blocks(&self, now: Timestamp, zone: &TimeZone) -> Vec<Block> {
        let outcome = self.outcome;
        let done = match self.is_check() {
            true => Status::Ready,
            false => Status::Created,
        };
        let mut blocks = vec![
            Block::Heading(text!("at a glance")),
            facts::facts(self, now, zone),
            Block::Heading(text!("what became of the rows")),
        ];
        blocks.extend(rows(outcome.tally));
        blocks.extend(campaigns(outcome, done, &Lookup::NotNeeded));
        blocks.extend(by_country(&self.notes.kinds));
        blocks.extend(problems(outcome, MAX_PROBLEMS, Some(self.notes)));
        blocks.extend(left_out(outcome, Some(self.notes)));
        blocks.push(Block::Heading(text!("columns")));
        blocks.push(Block::Paragraph(text!(
            "What the service learns about each person, and what stays here."
        )));
        blocks.extend(self.intake.inputs.iter().map(|input| {
            let title = Text::said(input.input.name());
            let columns = columns(input, self.is_check());
            Block::Table(Table { title, ..columns })
        }));
        let files = files(outcome);
        if !files.is_empty() {
            blocks.push(Block::Heading(text!("files")));
            blocks.extend(files);
        }
        blocks.push(Block::Heading(text!("what comes next")));
        match &self.mode {
            RunMode::Checked { estimate } => {
                let ready = outcome.tally.counts.of(Status::Ready) > 0;
                let estimate = estimate.filter(|_| ready).map(Estimate::text);
                blocks.push(Block::List(
                    after_check(outcome).into_iter().chain(estimate).collect(),
                ));
            }
            RunMode::Sent { .. } => {
                blocks.push(Block::List(explained(outcome)));
                blocks.extend(next(outcome));
            }
        }
        blocks
    }

    fn title(&self) -> String {
        let files = match &self.outcome.inputs[..] {
            [one] => (*one).to_owned(),
            [one, others @ ..] => {
                format!("{one} and {}", counted(others.len() as u64, "more file"))
            }
            [] => String::new(),
        };
        match (self.is_check(), self.outcome.sandbox) {
            (true, _) => format!("Check of {files}"),
            (false, true) => format!("Trial import of {files}"),
            (false, false) => format!("Import of {files}"),
        }
    }

    fn header(&self) -> Markup {
        let (badge, class) = self.badge();
        html! {
            header {
                p.kicker { "leadload report" }
                h1 { bdi { (self.title()) } }
                div class={ "verdict " (class) } {
                    p.badge { (badge) }
                    p.sentence { (self.sentence()) }
                    @if let Some(stop) = &self.outcome.stop {
                        div.words { (Html::plain(Voice::Terminal).message(&stop_text(stop))) }
                    }
                }
            }
        }
    }

    fn badge(&self) -> (&'static str, &'static str) {
        let tally = self.outcome.tally;
        match (&self.outcome.stop, self.is_check(), tally.has_problems()) {
            (Some(_), _, _) => ("Stopped before the end", "stopped"),
            (None, true, false) if tally.counts.of(Status::Ready) == 0 => {
                ("Checked: nothing to send", "mixed")
            }
            (None, true, false) => ("Checked: ready", "good"),
            (None, true, true) => ("Checked: some rows need fixing", "mixed"),
            (None, false, false) => ("Complete", "good"),
            (None, false, true) => ("Complete, but some rows need attention", "mixed"),
        }
    }

    fn sentence(&self) -> String {
        let outcome = self.outcome;
        let rows = self.rows_in_words();
        if outcome.stop.is_some() {
            format!("The import stopped early. Until then: {rows}.")
        } else if outcome.tally.counts.is_empty() {
            "There are no rows in the list, so there was nothing to do.".to_owned()
        } else if self.is_check() {
            format!("This was a check: nothing was sent. The result: {rows}.")
        } else {
            format!("The whole list was read: {rows}.")
        }
    }

    /// All rows by what they mean to the person who ordered the import.
    fn rows_in_words(&self) -> String {
        let counts = &self.outcome.tally.counts;
        let problems = counts
            .problems()
            .saturating_sub(self.outcome.tally.known_bad);
        let (created, ready) = (counts.of(Status::Created), counts.of(Status::Ready));
        let left_out = counts.total() - problems - created - ready;
        let parts = [
            (created, "became a lead", "became leads"),
            (ready, "is ready to be sent", "are ready to be sent"),
            (left_out, "was left out", "were left out"),
            (problems, "needs attention", "need attention"),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(rows, _, _)| *rows > 0)
            .map(|(rows, one, several)| {
                format!(
                    "{} {}",
                    grouped(rows),
                    if rows == 1 { one } else { several }
                )
            })
            .collect();
        let total = self.outcome.rows_total.unwrap_or(counts.total());
        let parts = joined(&parts, "and");
        match counts.total() {
            0 => format!("of {} none was finished", counted(total, "row")),
            done if done == total => format!("of {}, {parts}", counted(total, "row")),
            _ => format!("{} were finished; {parts}", self.outcome.rows_done()),
        }
    }

    fn is_check(&self) -> bool {
        matches!(self.mode, RunMode::Checked { .. })
    }
}
