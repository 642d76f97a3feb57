//! The answer of a test lead, for the user who waits for the call.
//!
//! Rule: only the last three digits of the number are
//! shown, both in our words and in the service's.

use super::CampaignNames;
use super::advice::{TRIAL, meaning};
use super::block::Block;
use super::campaigns::{status, with_id};
use super::json::{line, summary};
use super::outcome::Outcome;
use crate::campaign::Campaign;
use crate::lead::{RowOutcome, Status};
use crate::ledger::Claim;
use crate::message::Text;
use crate::phone::{LineKind, NumberKind, PhoneNumber};
use crate::text::without_numbers;

#[derive(Debug)]
pub struct TestReport<'a> {
    pub outcome: &'a Outcome<'a>,
    pub claim: &'a Claim,
    pub variables: &'a [String],
    /// The campaigns that the service lists; empty if it does not list them.
    pub campaigns: &'a [Campaign],
    /// Its answer; `None` if the service accepts no leads at all.
    pub answer: Option<&'a RowOutcome>,
}

impl TestReport<'_> {
    /// What became of it.
    pub fn blocks(&self) -> Vec<Block> {
        let campaign = CampaignNames::listed(self.campaigns).shown(self.claim.campaign);
        let title = text!("Test lead in campaign {campaign}", campaign);
        vec![Block::Title(title), Block::List(self.lines())]
    }

    /// The summary, with what the service said about the lead.
    pub fn json(&self) -> String {
        let mut summary = summary(self.outcome);
        let said = self.answer.and_then(|answer| answer.error.as_ref());
        if let (None, Some(said)) = (&self.outcome.stop, said) {
            summary["error"] = without_numbers(&said.to_string()).into();
        }
        line(&summary)
    }

    fn lines(&self) -> Vec<Text> {
        let Claim { file, line, .. } = self.claim;
        let variables = match self.variables {
            [] => text!("without variables"),
            variables => text!("with {variables}", variables = variables.to_vec()),
        };
        let mut lines = vec![
            text!("to {number}", number = understood(self.claim.number)),
            terminal_text!(
                "from line {line} of {input}, {variables}",
                line = *line,
                input = self.outcome.input(*file),
                variables
            ),
        ];
        let Some(answer) = self.answer else {
            lines.push(text!("not made"));
            return lines;
        };
        let what = match answer.status {
            // The usual meaning is about numbers of the list.
            Status::Duplicate => {
                template!("the campaign had the number already, and made no second lead")
            }
            other => meaning(other),
        };
        let status = answer.status.as_str();
        lines.push(text!("{status}: {what}", status, what));
        let lead_id = answer.lead_id.iter();
        lines.extend(lead_id.map(|lead_id| text!("lead id {lead_id}", lead_id)));
        let said = answer.error.iter();
        lines.extend(said.map(|said| Text::said(without_numbers(&said.to_string()))));
        match self.outcome.sandbox {
            true => lines.push(Text::terminal(TRIAL)),
            false if answer.status == Status::Created => lines.push(self.will_it_ring()),
            false => {}
        }
        lines
    }

    /// Whether the phone will ring, as far as the campaign's state shows it.
    fn will_it_ring(&self) -> Text {
        let campaign = with_id(self.campaigns, self.claim.campaign);
        match campaign.and_then(|campaign| Some((campaign, status(campaign)?))) {
            Some((campaign, status)) if campaign.is_active() => {
                text!(
                    "The campaign is {status}: the service may call at once.",
                    status
                )
            }
            Some((_, status)) => {
                text!(
                    "The campaign is {status}: it calls no one until it is started.",
                    status
                )
            }
            None => text!(
                "It is not known whether the campaign is calling: if no call comes, look at its state."
            ),
        }
    }
}

/// How the number was understood, without the number itself.
fn understood(number: PhoneNumber) -> String {
    let kind = NumberKind::of(number);
    let last = number.key() % LAST;
    let ending = format!("that ends in {last:0LAST_DIGITS$}");
    match (kind.country, kind.line) {
        (Some(country), line) if line != LineKind::Unknown => {
            let line = line.as_str().replace('_', " ");
            format!("a {line} number of {} {ending}", country.in_sentence())
        }
        _ => format!(
            "a number with +{} {ending}, in a range that leadload does not know",
            kind.calling_code
        ),
    }
}

const LAST_DIGITS: usize = 3;
const LAST: u64 = 1000;
