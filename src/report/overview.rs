//! What an import would do, before it does it, in the words of a check and of the summary; and
//! the question.
//!
//! The form of the inputs and the columns that are sent are in the opening lines above.

use std::cmp::Reverse;
use std::fmt::Write;

use super::campaigns::{status, with_id};
use super::check_text::write_countries;
use super::opening::going_on_line;
use super::summary::{MAX_PROBLEMS, write_problems, write_rows};
use super::width::{Width, labelled, paragraph, written};
use super::{CampaignNames, Estimate, Findings, Outcome};
use crate::campaign::Campaign;
use crate::lead::{CampaignId, RunId, Status};
use crate::text::{counted, grouped, printable};

const MAX_CAMPAIGNS: usize = 5;

/// What follows the question: what may be answered, and the answer.
const ROOM_FOR_ANSWER: usize = " [y/N] yes".len();

#[derive(Debug)]
pub struct Overview<'a> {
    /// What would have become of the rows.
    pub outcome: Outcome<'a>,
    pub findings: &'a Findings,
    pub going_on: Option<RunId>,
    pub campaigns: Option<&'a [Campaign]>,
    pub service: String,
    pub estimate: Option<Estimate>,
    /// The country of numbers without a country code, and its source.
    pub region: Option<String>,
}

impl Overview<'_> {
    fn ready(&self) -> u64 {
        self.outcome.tally.counts.of(Status::Ready)
    }

    pub fn lines(&self, width: Width) -> String {
        let tally = self.outcome.tally;
        let mut lines = self.campaigns();
        lines.extend(self.warnings().map(|warning| ("warning", warning)));
        lines.push(("service", self.service.clone()));
        if self.ready() > 0 {
            let time = match &self.estimate {
                Some(estimate) => estimate.words.clone(),
                None => "as long as the service takes to answer (--rate none)".to_owned(),
            };
            lines.push(("time", time));
        }
        written(|text| {
            text.push_str(&self.going_on.map(going_on_line).unwrap_or_default());
            writeln!(text, "{}", counted(tally.counts.total(), "row"))?;
            write_rows(text, tally)?;
            write_problems(text, &self.outcome, MAX_PROBLEMS)?;
            write_countries(text, self.findings)?;
            write!(text, "\n{}", labelled(&lines, width))
        })
    }

    fn targets(&self) -> Vec<(CampaignId, u64)> {
        let campaigns = self.outcome.tally.by_campaign.iter();
        let mut targets: Vec<_> = campaigns
            .map(|(campaign, counts)| (*campaign, counts.of(Status::Ready)))
            .filter(|(_, rows)| *rows > 0)
            .collect();
        targets.sort_by_key(|(campaign, rows)| (Reverse(*rows), *campaign));
        targets
    }

    fn campaigns(&self) -> Vec<(&'static str, String)> {
        let targets = self.targets();
        let shown = targets.iter().take(MAX_CAMPAIGNS);
        let mut found: Vec<String> = shown
            .map(|(campaign, rows)| match targets.len() {
                1 => self.described(*campaign),
                _ => format!("{} to {}", grouped(*rows), self.described(*campaign)),
            })
            .collect();
        if let Some(others @ [_, ..]) = targets.get(MAX_CAMPAIGNS..) {
            let rows = others.iter().map(|(_, rows)| rows).sum();
            found.push(format!("{} to {} more", grouped(rows), others.len()));
        }
        let labels = std::iter::once("campaign").chain(std::iter::repeat(""));
        labels.zip(found).collect()
    }

    fn listed(&self, id: CampaignId) -> Option<&Campaign> {
        with_id(self.campaigns?, id)
    }

    fn described(&self, id: CampaignId) -> String {
        let named = self.named(id);
        match (self.listed(id), self.campaigns) {
            (Some(campaign), _) => match status(campaign) {
                Some(status) if campaign.is_idle() => {
                    format!("{named}, which is not calling at the moment ({status})")
                }
                Some(status) => format!("{named}, {status}"),
                None => named,
            },
            (None, _) => named,
        }
    }

    fn named(&self, id: CampaignId) -> String {
        CampaignNames::listed(self.campaigns.unwrap_or_default()).shown(id)
    }

    fn warnings(&self) -> impl Iterator<Item = String> {
        let targets = self.targets();
        let is_missing = |id: CampaignId| self.campaigns.is_some() && self.listed(id).is_none();
        let missing = targets.iter().filter(|(id, _)| is_missing(*id));
        let missing = missing.take(MAX_CAMPAIGNS);
        let missing = missing.map(|(id, _)| format!("the service lists no campaign {id}"));
        let warnings: Vec<String> = missing.chain(self.active()).collect();
        warnings.into_iter()
    }

    fn active(&self) -> Option<String> {
        let targets = self.targets();
        let is_active = |id: CampaignId| self.listed(id).is_some_and(Campaign::is_active);
        let active = targets.iter().filter(|(id, _)| is_active(*id)).count();
        let which = match (active, targets.len()) {
            (0, _) => return None,
            (1, 1) => "this campaign is active".to_owned(),
            (1, _) => "one of these campaigns is active".to_owned(),
            _ => format!("{active} of these campaigns are active"),
        };
        Some(format!(
            "{which}: the service may start calling immediately"
        ))
    }

    pub fn question(&self, width: Width) -> String {
        let targets = self.targets();
        let to = match targets[..] {
            [(campaign, _)] => format!("campaign {}", self.named(campaign)),
            _ => format!("{} campaigns", targets.len()),
        };
        let region = self.region.as_ref().map(|region| {
            format!("Numbers without a country code are taken as numbers of {region}. ")
        });
        let question = format!(
            "{}Send {} to {to}?",
            printable(&region.unwrap_or_default()),
            counted(self.ready(), "lead")
        );
        paragraph(&question, width.less(ROOM_FOR_ANSWER))
    }
}
