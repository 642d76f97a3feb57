//! A command with rows that has ended: the one value from which the
//! summary, JSON, the page, metrics and the last log line are made.

use super::campaign_names::CampaignNames;
use super::countries::ListNotes;
use super::tally::Tally;
use crate::api::wire::LeadForm;
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, StoppedBy};
use crate::intake::OnUncertain;
use crate::lead::{RunId, Status};
use crate::message::Text;
use crate::results::Written;
use crate::stop::Stop;
use crate::text::{counted, grouped, joined};

/// How many rows are named.
const MAX_NAMED: usize = 10;

/// What the program does the next time with a row that may have been taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InDoubt {
    /// Sends it again: the service refuses a lead that it already has.
    #[default]
    Refused,
    /// Sends it again, and the service may create a second lead.
    Doubled,
    /// Does not send it until `--on-uncertain resend` is given.
    Held,
}

impl InDoubt {
    pub fn of(on_uncertain: OnUncertain, form: LeadForm) -> InDoubt {
        match on_uncertain {
            OnUncertain::Hold => InDoubt::Held,
            OnUncertain::Resend if form.allow_duplicates => InDoubt::Doubled,
            OnUncertain::Resend => InDoubt::Refused,
        }
    }
}

/// The commands that may follow.
#[derive(Debug, Default)]
pub struct NextCommands {
    /// The command itself, if it ended early. Run again, it
    /// continues, or without a ledger sends the whole list.
    pub continue_with: Option<CommandLine>,
    /// The command that sends the rejects when they are fixed; `None` if there are none.
    pub send_rejects_with: Option<CommandLine>,
    /// The command that looks uncertain rows up; `None` if there are none, or nowhere to look.
    pub look_up_with: Option<CommandLine>,
}

#[derive(Debug)]
pub struct Outcome<'a> {
    pub run: Option<RunId>,
    pub tally: &'a Tally,
    pub inputs: Vec<&'a str>,
    pub stop: Option<Stop>,
    pub exit_code: ExitCode,
    pub requests: u64,
    pub rows_total: Option<u64>,
    pub elapsed_s: f64,
    /// The file (counted from 0) and line of each row that has no outcome since it was refused, and
    /// no other row has shown if that was about this one alone.
    pub stopped_at: Vec<(usize, u64)>,
    pub written: Written,
    pub sandbox: bool,
    pub in_doubt: InDoubt,
    pub next: NextCommands,
    pub campaign_names: CampaignNames,
    pub list_notes: ListNotes,
}

impl Outcome<'_> {
    /// How many rows have an outcome. If the command was stopped, also how many rows there are.
    pub(super) fn rows_done(&self) -> String {
        let done = self.tally.counts.total();
        match self.rows_total.filter(|_| self.stop.is_some()) {
            Some(total) => format!("{} of {}", grouped(done), counted(total, "row")),
            None => counted(done, "row"),
        }
    }

    /// The name of an input, counted from 0.
    pub(super) fn input(&self, file: usize) -> &str {
        self.inputs.get(file).copied().unwrap_or_default()
    }

    /// Names the rows that were refused without an outcome, and says what becomes of them.
    pub fn refused_rows(&self) -> Option<Text> {
        let named = |(file, line): &(usize, u64)| match self.inputs.as_slice() {
            [_] => format!("line {line}"),
            _ => format!("{} line {line}", self.input(*file)),
        };
        let mut rows: Vec<String> = self.stopped_at.iter().take(MAX_NAMED).map(named).collect();
        if self.stopped_at.len() > MAX_NAMED {
            rows.push(format!("{} more", self.stopped_at.len() - MAX_NAMED));
        }
        let rows = joined(&rows, "and");
        (!rows.is_empty()).then(|| {
            text!(
                "The service refused {rows}, and took none of the rows sent after them. They are tried again once it takes another one.",
                rows
            )
        })
    }

    /// What the stopped command does when it is run again.
    pub(super) fn same_command(&self) -> Text {
        match (self.run, self.stop.as_ref().map(Stop::by)) {
            (None, _) => terminal_text!("The same command sends the whole list again"),
            (_, Some(StoppedBy::Ledger)) => terminal_text!(
                "When the ledger can be used again, the same command continues where this stopped"
            ),
            // A list that has changed makes it another run.
            (_, Some(StoppedBy::Input)) => {
                terminal_text!("The same command sends what has not been sent yet")
            }
            _ => terminal_text!("The same command continues where this stopped"),
        }
    }

    /// What the user must know before running a stopped command again that kept no ledger.
    pub(super) fn without_ledger(&self) -> Option<Text> {
        match (self.run, self.in_doubt) {
            // A trial calls no one.
            _ if self.sandbox => None,
            (Some(_), _) => None,
            (None, InDoubt::Doubled) => Some(terminal_text!(
                "Without a ledger leadload does not know which rows were sent. Duplicates are allowed, so the service makes their leads a second time."
            )),
            (None, InDoubt::Refused | InDoubt::Held) => Some(terminal_text!(
                "Without a ledger leadload does not know which rows were sent: only the service can refuse leads that it has."
            )),
        }
    }

    /// Whether rows must be changed before the rejects
    /// are sent. Known bad rows are not in the rejects.
    pub(super) fn has_something_to_fix(&self) -> bool {
        let counts = &self.tally.counts;
        counts.of(Status::Invalid) + counts.of(Status::Rejected) > self.tally.known_bad
    }
}
