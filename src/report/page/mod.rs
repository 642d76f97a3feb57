//! One page about a run or a check, for people who do not work at a terminal.
//!
//! Promises:
//! - It is one file: no script, font, image or style comes from elsewhere, and a policy in
//!   its head has the browser refuse any.
//! - Whatever comes from the input or the service is text and cannot become anything else:
//!   `maud` escapes all that is put in, and what would steer a screen or turn the direction
//!   of writing is replaced in the page as a whole, last.
//! - It is of bounded size, and so is what is kept for it while rows are sent.
//! - Nothing is told by colour alone, and it can be read on a phone, in the dark, on paper
//!   and by a screen reader.
//!
//! It may hold phone cells and what the service said, as results do: its file is for its
//! owner alone.

mod chart;
mod columns;
mod countries;
mod examples;
mod facts;
mod headline;
mod history;
mod left_out;
mod mending;
mod next;
mod notes;
mod problems;
mod prose;
mod rows;
mod style;
mod timeline;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::clock::Clock;
use super::estimate::Estimate;
use super::tally::Ended;
use crate::campaign::CampaignChoice;
use crate::intake::Intake;
use crate::text::printable_lines;
pub use notes::PageNotes;

/// What nothing from elsewhere comes past.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A command that has ended, for its page.
#[derive(Debug)]
pub struct Page<'a> {
    /// What became of the rows.
    pub ended: &'a Ended<'a>,
    /// What was read, and how.
    pub intake: &'a Intake,
    /// What was noted on the way.
    pub notes: &'a PageNotes,
    /// The campaign that was chosen for rows without one of their own.
    pub campaign: Option<&'a CampaignChoice>,
    /// Which command it was.
    pub deed: RunMode<'a>,
}

/// What was done.
#[derive(Debug)]
pub enum RunMode<'a> {
    /// Rows were checked, and nothing was sent.
    Checked {
        /// How long sending would take, where that is known.
        estimate: Option<&'a Estimate>,
    },
    /// Rows were sent.
    Sent {
        /// The service, as the ledger names it.
        service: String,
        /// Whether an earlier start had sent a part of them.
        goes_on: bool,
    },
}

impl Page<'_> {
    /// The page, as of now and in the time of this machine.
    pub fn html(&self) -> String {
        self.html_at(Timestamp::now(), &Clock::here())
    }

    fn html_at(&self, now: Timestamp, clock: &Clock) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="generator" content={ "leadload " (env!("CARGO_PKG_VERSION")) };
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="robots" content="noindex";
                    title { (headline::title(self)) }
                    style { (PreEscaped(style::SHEET)) }
                }
                body {
                    main { (self.body(now, clock)) }
                    footer {
                        p {
                            "Written by leadload " (env!("CARGO_PKG_VERSION")) ". This page can hold "
                            "phone numbers: keep it and pass it on with the same care as the list itself."
                        }
                    }
                }
            }
        };
        printable_lines(&page.into_string())
    }

    fn body(&self, now: Timestamp, clock: &Clock) -> Markup {
        html! {
            (headline::header(self))
            (facts::section(self, now, clock))
            (rows::section(self))
            (problems::section(self))
            (left_out::section(self))
            (countries::section(self))
            (history::section(self, clock))
            (columns::section(self))
            (next::section(self))
        }
    }

    /// Whether rows were only checked.
    fn is_check(&self) -> bool {
        matches!(self.deed, RunMode::Checked { .. })
    }

    /// The name of an input.
    fn input(&self, file: usize) -> &str {
        self.ended.inputs.get(file).copied().unwrap_or_default()
    }
}
