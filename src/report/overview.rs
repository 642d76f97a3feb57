//! What would be sent, before it is: at the terminal above the question, and on the page above the
//! button.

use std::cmp::Reverse;

use super::beginning::going_on;
use super::block::{Block, Fact};
use super::campaigns::{status, with_id};
use super::outcome::Outcome;
use super::problems::{FEW_PROBLEMS, left_out_lines, problems};
use super::rows::{by_country, earlier, rows};
use super::times::weekday_and_time;
use super::{CampaignNames, Estimate, Findings};
use crate::campaign::Campaign;
use crate::clock;
use crate::intake::Intake;
use crate::lead::{CampaignId, RunId, Status};
use crate::message::Text;
use crate::source::Content;
use crate::text::{counted, printable};

const MAX_CAMPAIGNS: usize = 10;

#[derive(Debug)]
pub struct Overview<'a> {
    /// What would have become of the rows.
    pub outcome: Outcome<'a>,
    pub intake: &'a Intake,
    pub findings: &'a Findings,
    pub going_on: Option<RunId>,
    pub campaigns: Option<&'a [Campaign]>,
    pub service: String,
    pub estimate: Option<Estimate>,
}

/// What only the page says of a list, since a terminal shows it above.
#[derive(Debug)]
pub struct ListOnPage {
    pub name: String,
    pub is_corrected: bool,
    /// Its do-not-call lists.
    pub blocked: Vec<String>,
    /// The campaign that was chosen, for a list without people.
    pub campaign: String,
}

impl Overview<'_> {
    fn ready(&self) -> u64 {
        self.outcome.tally.counts.of(Status::Ready)
    }

    pub fn blocks(&self) -> Vec<Block> {
        let tally = self.outcome.tally;
        let mut blocks: Vec<Block> = self.going_on.map(going_on).into_iter().collect();
        blocks.push(Block::Title(text!(
            "{rows:row}",
            rows = tally.counts.total()
        )));
        blocks.extend(rows(tally));
        blocks.extend(problems(&self.outcome, FEW_PROBLEMS, None));
        blocks.extend(by_country(&self.findings.kinds));
        let mut facts = vec![self.campaigns_fact()];
        facts.extend(
            self.warnings()
                .map(|warning| Fact::new(text!("warning"), warning)),
        );
        facts.push(Fact::new(text!("service"), Text::said(&self.service)));
        facts.extend(self.time());
        blocks.push(Block::Facts(facts));
        blocks
    }

    /// What the page says of the list, each with the step that changes it; and what to look at before
    /// it is sent.
    pub fn on_page(&self, list: &ListOnPage) -> Vec<Block> {
        let mut campaigns = self.campaigns_fact();
        if campaigns.value.is_empty() {
            campaigns.value.push(Text::said(&list.campaign));
        }
        let blocked = match list.blocked.is_empty() {
            true => text!("none"),
            false => Text::said(list.blocked.join(", ")),
        };
        let left_out = left_out_lines(self.outcome.tally);
        let leads = text!("{leads:}", leads = self.ready());
        let facts = [
            Fact::new(text!("list"), self.list(list)).changed_at("list", "the list"),
            Fact::new(text!("new leads"), leads).changed_at("problems", "the rows"),
            campaigns.changed_at("campaign", "the campaign"),
            Fact::new(text!("what the agent is told"), self.variables())
                .changed_at("columns", "the columns"),
            Fact::of_lines(text!("country"), self.country())
                .changed_at("columns#country", "the country"),
            Fact::new(text!("do-not-call lists"), blocked)
                .changed_at("columns#blocked", "the do-not-call lists"),
            Fact::of_lines(text!("left out"), left_out).changed_at("problems", "who is left out"),
        ];
        let facts = facts.into_iter().chain(self.time());
        let mut blocks = vec![Block::Facts(facts.collect())];
        blocks.extend(earlier(self.outcome.tally));
        blocks.extend(self.warnings().map(Block::Note));
        blocks
    }

    fn list(&self, list: &ListOnPage) -> Text {
        let input = self.intake.inputs.first();
        let sheet = input.and_then(|input| match &input.form.content {
            Content::Sheet(sheet) if sheet.names.len() > 1 => {
                Some(text!(", sheet {sheet}", sheet = &sheet.name))
            }
            _ => None,
        });
        let mut inputs = self.intake.inputs.iter();
        let hidden = inputs.find(|planned| planned.counts.hidden > 0);
        let hidden = hidden.map(|planned| {
            let hidden = planned.counts.hidden;
            match planned.mapping.skips_hidden {
                true => text!(" ({hidden:} hidden, left out)", hidden),
                false => text!(" ({hidden:} hidden, sent too)", hidden),
            }
        });
        text!(
            "{name}{sheet}, {rows:row}{hidden}{corrected}",
            name = &list.name,
            sheet = sheet.unwrap_or_default(),
            rows = self.outcome.tally.counts.total(),
            hidden = hidden.unwrap_or_default(),
            corrected = match list.is_corrected {
                true => text!(", with your corrections"),
                false => Text::default(),
            }
        )
    }

    fn country(&self) -> Vec<Text> {
        let region = self.intake.region.iter();
        let lines = region.map(|region| {
            text!(
                "numbers without a country code are taken as numbers of {country}",
                country = region.region.in_sentence()
            )
        });
        lines.collect()
    }

    fn variables(&self) -> Text {
        let mapping = self.intake.inputs.first().map(|planned| &planned.mapping);
        let from_columns = mapping.iter().flat_map(|mapping| &mapping.variables);
        let constants = mapping.iter().flat_map(|mapping| &mapping.constants);
        let names = from_columns.map(|(name, _)| name.as_str());
        let names: Vec<&str> = names
            .chain(constants.map(|(name, _)| name.as_str()))
            .collect();
        match names.is_empty() {
            true => text!("nothing but the phone number"),
            false => Text::said(names.join(", ")),
        }
    }

    fn time(&self) -> Option<Fact> {
        let time = match &self.estimate {
            Some(estimate) => estimate.words.clone(),
            None => text!("as long as the service takes to answer{ (--rate none)|}"),
        };
        (self.ready() > 0).then(|| Fact::new(text!("time"), time))
    }

    /// The campaigns that leads go to, those that get most of them first.
    fn targets(&self) -> Vec<(CampaignId, u64)> {
        let campaigns = self.outcome.tally.by_campaign.iter();
        let mut targets: Vec<_> = campaigns
            .map(|(campaign, counts)| (*campaign, counts.of(Status::Ready)))
            .filter(|(_, rows)| *rows > 0)
            .collect();
        targets.sort_by_key(|(campaign, rows)| (Reverse(*rows), *campaign));
        targets
    }

    fn campaigns_fact(&self) -> Fact {
        let targets = self.targets();
        let shown = targets.iter().take(MAX_CAMPAIGNS);
        let mut lines: Vec<Text> = shown
            .map(|(campaign, leads)| match targets.len() {
                1 => self.described(*campaign),
                _ => text!(
                    "{{leads:} to {campaign}|{campaign}: {leads:lead}}",
                    leads = *leads,
                    campaign = self.described(*campaign)
                ),
            })
            .collect();
        if let Some(others @ [_, ..]) = targets.get(MAX_CAMPAIGNS..) {
            let leads: u64 = others.iter().map(|(_, rows)| rows).sum();
            lines.push(text!(
                "{leads:} to {others} more",
                leads,
                others = others.len()
            ));
        }
        Fact::of_lines(text!("campaign"), lines)
    }

    fn listed(&self, id: CampaignId) -> Option<&Campaign> {
        with_id(self.campaigns?, id)
    }

    fn described(&self, id: CampaignId) -> Text {
        let campaigns = self.campaigns.unwrap_or_default();
        let listed = self.listed(id);
        let is_same =
            |campaign: &&Campaign| listed.is_some_and(|listed| listed.name == campaign.name);
        let on_page = match listed.filter(|listed| !listed.name.is_empty()) {
            Some(listed) if campaigns.iter().filter(is_same).count() > 1 => {
                text!("{name} ({id})", name = &listed.name, id = id.to_string())
            }
            Some(listed) => Text::said(&listed.name),
            None => Text::said(id.to_string()),
        };
        let state = match listed.and_then(|listed| Some((listed, status(listed)?))) {
            Some((listed, status)) => text!(
                "{{idle}{status}{end}|, {state}}",
                idle = match listed.is_idle() {
                    true => ", which is not calling at the moment (",
                    false => ", ",
                },
                end = if listed.is_idle() { ")" } else { "" },
                state = status.replace(['_', '-'], " "),
                status
            ),
            None => Text::default(),
        };
        text!(
            "{{named}|{on_page}}{state}",
            named = self.named(id),
            on_page,
            state
        )
    }

    fn named(&self, id: CampaignId) -> String {
        CampaignNames::listed(self.campaigns.unwrap_or_default()).shown(id)
    }

    fn warnings(&self) -> impl Iterator<Item = Text> {
        let targets = self.targets();
        let is_missing = |id: CampaignId| self.campaigns.is_some() && self.listed(id).is_none();
        let missing = targets.iter().filter(|(id, _)| is_missing(*id));
        let missing = missing.take(MAX_CAMPAIGNS);
        let missing =
            missing.map(|(id, _)| text!("the service lists no campaign {id}", id = id.to_string()));
        let warnings: Vec<Text> = missing.chain(self.active()).collect();
        warnings.into_iter()
    }

    fn active(&self) -> Option<Text> {
        let targets = self.targets();
        let listed = targets.iter().filter_map(|(id, _)| self.listed(*id));
        let active: Vec<&str> = listed
            .filter(|campaign| campaign.is_active())
            .map(|campaign| campaign.name.as_str())
            .collect();
        let which = match (active.len(), targets.len()) {
            (0, _) => return None,
            (1, 1) => "this campaign is active".to_owned(),
            (1, _) => "one of these campaigns is active".to_owned(),
            (active, _) => format!("{active} of these campaigns are active"),
        };
        Some(text!(
            "{{which}: the service may start calling immediately|{names} {number?is:are} in progress: calls may start at once. It is {now} here. Calling hours are set in the campaign, not in leadload}",
            which,
            names = active.join(", "),
            number = active.len(),
            now = weekday_and_time(clock::now())
        ))
    }

    pub fn question(&self) -> String {
        let targets = self.targets();
        let to = match targets[..] {
            [(campaign, _)] => format!("campaign {}", self.named(campaign)),
            _ => format!("{} campaigns", targets.len()),
        };
        let region = self.intake.region.as_ref().map(|region| {
            format!(
                "Numbers without a country code are taken as numbers of {}. ",
                region.in_sentence()
            )
        });
        format!(
            "{}Send {} to {to}?",
            printable(&region.unwrap_or_default()),
            counted(self.ready(), "lead")
        )
    }
}
