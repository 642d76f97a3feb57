//! The answer of a test lead, for the user who waits for the call.
//!
//! Rule: only the last three digits of the number are
//! shown, both in our words and in the service's.

use std::fmt::{self, Write};

use super::CampaignNames;
use super::advice::{TRIAL, meaning};
use super::campaigns::{status, with_id};
use super::json::{line, summary};
use super::outcome::Outcome;
use super::width::written;
use crate::campaign::Campaign;
use crate::lead::{RowOutcome, Status};
use crate::ledger::Claim;
use crate::phone::{LineKind, NumberKind, PhoneNumber};
use crate::text::{listed, printable, without_numbers};

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
    pub fn text(&self) -> String {
        written(|text| self.write(text))
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

    fn write(&self, text: &mut String) -> fmt::Result {
        let Claim {
            file,
            line: at,
            campaign,
            number,
            ..
        } = self.claim;
        let input = self.outcome.inputs.get(*file).copied().unwrap_or_default();
        let variables = if self.variables.is_empty() {
            "without variables".to_owned()
        } else {
            format!("with {}", listed(self.variables))
        };
        let named = CampaignNames::listed(self.campaigns).shown(*campaign);
        writeln!(
            text,
            "Test lead in campaign {named}\n  to {}\n  from line {at} of {}, {variables}",
            understood(*number),
            printable(input)
        )?;
        let Some(answer) = self.answer else {
            return writeln!(text, "  not made");
        };
        let what = match answer.status {
            // The usual meaning is about numbers of the list.
            Status::Duplicate => "the campaign had the number already, and made no second lead",
            other => meaning(other),
        };
        writeln!(text, "  {}: {what}", answer.status)?;
        if let Some(lead_id) = &answer.lead_id {
            writeln!(text, "  lead id {}", printable(lead_id))?;
        }
        if let Some(error) = &answer.error {
            writeln!(
                text,
                "  {}",
                printable(&without_numbers(&error.to_string()))
            )?;
        }
        match self.outcome.sandbox {
            true => writeln!(text, "  {TRIAL}"),
            false if answer.status == Status::Created => {
                writeln!(text, "  {}", self.will_it_ring())
            }
            false => Ok(()),
        }
    }

    /// Whether the phone will ring, as far as the campaign's state shows it.
    fn will_it_ring(&self) -> String {
        let campaign = with_id(self.campaigns, self.claim.campaign);
        match campaign.and_then(|campaign| Some((campaign, status(campaign)?))) {
            Some((campaign, status)) if campaign.is_active() => {
                format!("The campaign is {status}: the service may call at once.")
            }
            Some((_, status)) => {
                format!("The campaign is {status}: it calls no one until it is started.")
            }
            None => NOT_KNOWN.to_owned(),
        }
    }
}

const NOT_KNOWN: &str =
    "It is not known whether the campaign is calling: if no call comes, look at its state.";

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
