//! What came of a test lead, for whoever waits for the call.
//!
//! Rule: the number is not repeated, neither by us nor in the service's words.

use std::fmt::Write;

use super::advice::{TRIAL, meaning};
use super::json::json_test_summary;
use super::tally::Ended;
use crate::lead::{RowOutcome, Status};
use crate::ledger::Claim;
use crate::text::{listed, printable, without_numbers};

/// A test lead that was sent.
#[derive(Debug)]
pub struct TestReport<'a> {
    /// How the test has ended.
    pub ended: &'a Ended<'a>,
    /// Where it was sent, and of which row it was made.
    pub claim: &'a Claim,
    /// The names of its variables.
    pub variables: &'a [String],
    /// What became of it; none where the service takes no leads at all.
    pub outcome: Option<&'a RowOutcome>,
}

impl TestReport<'_> {
    /// In a few lines.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    /// As one object.
    pub fn json(&self) -> String {
        let said = self.outcome.and_then(|outcome| outcome.error.as_deref());
        json_test_summary(self.ended, said)
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let Claim {
            row,
            file,
            line,
            campaign,
            ..
        } = self.claim;
        let input = self.ended.inputs.get(*file).copied().unwrap_or_default();
        let variables = match self.variables.is_empty() {
            true => "without variables".to_owned(),
            false => format!("with {}", listed(self.variables)),
        };
        writeln!(
            text,
            "Test lead in campaign {campaign}\n  made of row {row}, line {line} of {}, {variables}",
            printable(input)
        )?;
        let Some(outcome) = self.outcome else {
            return writeln!(text, "  not made");
        };
        let what = match outcome.status {
            // No number of the list was.
            Status::Duplicate => "the campaign had the number already, and made no second lead",
            other => meaning(other),
        };
        writeln!(text, "  {}: {what}", outcome.status)?;
        if let Some(lead_id) = &outcome.lead_id {
            writeln!(text, "  lead id {}", printable(lead_id))?;
        }
        if let Some(error) = &outcome.error {
            writeln!(text, "  {}", printable(&without_numbers(error)))?;
        }
        match self.ended.sandbox {
            true => writeln!(text, "  {TRIAL}"),
            false => Ok(()),
        }
    }
}
