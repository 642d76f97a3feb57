//! What an import would do, before it does it: about ten lines, and the question.
//!
//! The form of the inputs and the columns that are sent are in the opening lines above.

use std::cmp::Reverse;

use super::campaigns::{status, with_id};
use super::opening::going_on_line;
use super::width::{Width, labelled, paragraph};
use super::{CampaignNames, Estimate, Findings, Tally};
use crate::campaign::Campaign;
use crate::lead::{CampaignId, RunId, Status};
use crate::text::{counted, grouped, printable};

const MAX_CAMPAIGNS: usize = 5;

const MAX_COUNTRIES: usize = 5;

const MAX_REASONS: usize = 3;

/// The room after the question: the possible answers, and the answer.
const ROOM_FOR_ANSWER: usize = " [y/N] yes".len();

#[derive(Debug)]
pub struct Overview<'a> {
    pub tally: &'a Tally,
    pub findings: &'a Findings,
    pub going_on: Option<RunId>,
    pub campaigns: Option<&'a [Campaign]>,
    pub service: String,
    pub estimate: Option<Estimate>,
    /// The country of numbers without a calling code, and its source.
    pub region: Option<String>,
}

impl Overview<'_> {
    fn ready(&self) -> u64 {
        self.tally.counts.of(Status::Ready)
    }

    pub fn lines(&self, width: Width) -> String {
        let mut lines = vec![
            ("to send", self.to_send()),
            ("known", self.known()),
            ("wrong", self.wrong()),
            ("left out", self.left_out()),
        ];
        let uncertain = self.tally.counts.of(Status::Uncertain) - self.suppressed_in_doubt();
        if uncertain > 0 {
            let found = format!(
                "{}, which may be leads already (--on-uncertain resend)",
                grouped(uncertain)
            );
            lines.push(("held back", found));
        }
        lines.extend(self.countries().map(|countries| ("numbers", countries)));
        lines.extend(self.campaigns());
        lines.extend(self.warning().map(|warning| ("warning", warning)));
        lines.push(("service", self.service.clone()));
        if self.ready() > 0 {
            let time = match &self.estimate {
                Some(estimate) => estimate.words.clone(),
                None => "as long as the service takes to answer (--rate none)".to_owned(),
            };
            lines.push(("time", time));
        }
        format!(
            "{}{}\n{}",
            self.going_on.map(going_on_line).unwrap_or_default(),
            counted(self.tally.counts.total(), "row"),
            labelled(&lines, width)
        )
    }

    fn to_send(&self) -> String {
        let (ready, before) = (self.ready(), self.findings.tried_before);
        let new = ready.saturating_sub(before);
        match (ready, before) {
            (1.., 0) => format!("{}, all of them new", grouped(ready)),
            _ => in_parts(&[(new, "new"), (before, "tried before, without an outcome")]),
        }
    }

    /// Rows that are leads already, or that the service refused in this run.
    fn known(&self) -> String {
        let counts = &self.tally.counts;
        let settled = counts.of(Status::Created) + self.group_rows(Status::Duplicate);
        in_parts(&[
            (counts.of(Status::AlreadyImported), "sent by an earlier run"),
            (settled, "sent by this run before"),
            (
                self.group_rows(Status::Rejected),
                "refused in this run before",
            ),
        ])
    }

    fn wrong(&self) -> String {
        let wrong = self.tally.problems().into_iter();
        let mut reasons = wrong
            .filter(|(status, ..)| *status == Status::Invalid)
            .map(|(_, code, group)| (group.rows, code.to_string()));
        let named: Vec<(u64, String)> = reasons.by_ref().take(MAX_REASONS).collect();
        let others: u64 = reasons.map(|(rows, _)| rows).sum();
        let mut parts: Vec<(u64, &str)> = named.iter().map(|(n, code)| (*n, &**code)).collect();
        parts.push((others, "other"));
        let hint = if named.is_empty() {
            ""
        } else {
            " (leadload check shows where)"
        };
        in_parts(&parts) + hint
    }

    fn left_out(&self) -> String {
        let counts = &self.tally.counts;
        let suppressed = counts.of(Status::Suppressed) + self.suppressed_in_doubt();
        in_parts(&[
            (counts.of(Status::Excluded), "excluded by --only"),
            (counts.of(Status::Repeated), "repeated"),
            (suppressed, "on a do-not-call list"),
            (self.tally.known_bad, "known to be bad"),
        ])
    }

    /// Rows that may be leads already, and that no flag sends again.
    fn suppressed_in_doubt(&self) -> u64 {
        let groups = self.tally.groups.values();
        groups.map(|group| group.suppressed).sum()
    }

    /// Rows with a status, except those left alone because they are known to be bad.
    fn group_rows(&self, status: Status) -> u64 {
        let groups = self.tally.groups.iter();
        let groups = groups.filter(|((of, _), _)| *of == status);
        groups.map(|(_, group)| group.rows).sum()
    }

    fn targets(&self) -> Vec<(CampaignId, u64)> {
        let campaigns = self.tally.by_campaign.iter();
        let mut targets: Vec<_> = campaigns
            .map(|(campaign, counts)| (*campaign, counts.of(Status::Ready)))
            .filter(|(_, rows)| *rows > 0)
            .collect();
        targets.sort_by_key(|(campaign, rows)| (Reverse(*rows), *campaign));
        targets
    }

    fn countries(&self) -> Option<String> {
        let countries = self.findings.kinds.countries();
        let named = countries.iter().take(MAX_COUNTRIES);
        let named = named.map(|country| format!("{} {}", grouped(country.numbers), country.name()));
        let mut named: Vec<String> = named.collect();
        let others = countries.iter().skip(MAX_COUNTRIES);
        let others: u64 = others.map(|country| country.numbers).sum();
        if others > 0 {
            named.push(format!("{} of other countries", grouped(others)));
        }
        (!named.is_empty()).then(|| named.join(", "))
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
                Some(status) => format!("{named}, {status}"),
                None => named,
            },
            (None, Some(_)) => format!("{named}, which the service does not list"),
            (None, None) => named,
        }
    }

    fn named(&self, id: CampaignId) -> String {
        CampaignNames::listed(self.campaigns.unwrap_or_default()).shown(id)
    }

    fn warning(&self) -> Option<String> {
        let targets = self.targets();
        let is_active = |id: CampaignId| self.listed(id).is_some_and(Campaign::is_active);
        let active = targets.iter().filter(|(id, _)| is_active(*id)).count();
        let which = match (active, targets.len()) {
            (0, _) => return None,
            (1, 1) => "this campaign is active".to_owned(),
            (1, _) => "one of these campaigns is active".to_owned(),
            _ => format!("{active} of these campaigns are active"),
        };
        Some(format!("{which}: the service may call people at once"))
    }

    pub fn question(&self, width: Width) -> String {
        let targets = self.targets();
        let to = match targets[..] {
            [(campaign, _)] => format!("campaign {}", self.named(campaign)),
            _ => format!("{} campaigns", targets.len()),
        };
        let region = self
            .region
            .as_ref()
            .map(|region| format!("Numbers without a calling code are taken to be of {region}. "));
        let question = format!(
            "{}Send {} to {to}?",
            printable(&region.unwrap_or_default()),
            counted(self.ready(), "lead")
        );
        paragraph(&question, width.less(ROOM_FOR_ANSWER))
    }
}

/// How many rows there are, and if there are several kinds, how many of each.
fn in_parts(parts: &[(u64, &str)]) -> String {
    let all = parts.iter().map(|(rows, _)| rows).sum();
    let parts: Vec<String> = parts
        .iter()
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, what)| format!("{} {what}", grouped(*rows)))
        .collect();
    match &parts[..] {
        [] => "none".to_owned(),
        [part] => part.clone(),
        _ => format!("{}: {}", grouped(all), parts.join(", ")),
    }
}
