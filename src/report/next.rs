//! The files that were written, and what to do next.

use super::advice::TRIAL;
use super::block::{Block, File};
use super::outcome::Outcome;
use crate::command_line::CommandLine;
use crate::exit::StoppedBy;
use crate::lead::Status;
use crate::message::Text;
use crate::results::Written;
use crate::text::counted;

/// Where the files are.
pub(super) fn files(outcome: &Outcome<'_>) -> Vec<Block> {
    let rejects = match (&outcome.next.send_rejects_with, &outcome.stop) {
        // After a stop the exit code does not show whether there are rejects.
        (_, Some(_)) => Rejects::Counted,
        // If no command can be shown, a few words replace it.
        (None, None) => Rejects::ToFix,
        (Some(_), None) => Rejects::Named,
    };
    written(&outcome.written, rejects)
}

/// What is said of a rejects file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejects {
    Named,
    Counted,
    ToFix,
}

pub(super) fn written(written: &Written, of_rejects: Rejects) -> Vec<Block> {
    let results = written.results.iter();
    let results = results.map(|path| File::new(text!("Results"), path));
    let rejects = written.rejects.iter().map(|rejects| {
        let remark = match of_rejects {
            Rejects::Named => Text::default(),
            Rejects::Counted => Text::said(counted(rejects.rows, "row")),
            Rejects::ToFix => terminal_text!("fix these rows and import this file"),
        };
        File {
            remark,
            ..File::new(terminal_text!("Rejects"), &rejects.path)
        }
    });
    let report = written.report.iter();
    let report = report.map(|path| File::new(text!("Report"), path));
    let kept = written.kept.iter();
    let kept = kept.map(|path| File::new(text!("An older file is kept as"), path));
    let files: Vec<File> = results.chain(rejects).chain(report).chain(kept).collect();
    let notes = written.notes.iter().map(|note| Block::Note(note.clone()));
    let files = (!files.is_empty()).then_some(Block::Files(files));
    files.into_iter().chain(notes).collect()
}

/// What to do next, at the end, where it is noticed first.
pub(super) fn next(outcome: &Outcome<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if outcome.sandbox {
        blocks.push(Block::Paragraph(Text::terminal(TRIAL)));
    }
    if let Some(command) = &outcome.next.look_up_with {
        let rows = outcome.tally.counts.of(Status::Uncertain);
        let what = text!(
            "To look the uncertain {rows?row:rows} up at the service",
            rows
        );
        blocks.push(self::command(what, command));
    }
    blocks.extend(outcome.refused_rows().map(Block::Paragraph));
    match (&outcome.next.continue_with, &outcome.next.send_rejects_with) {
        (Some(command), _) => {
            blocks.extend(leads_that_stay(outcome).map(Block::Paragraph));
            blocks.extend(outcome.without_ledger().map(Block::Paragraph));
            blocks.push(self::command(outcome.same_command(), command));
        }
        (None, Some(command)) => {
            let what = match outcome.has_something_to_fix() {
                true => terminal_text!("When the rejects are fixed, send them"),
                false => terminal_text!("When the service is back, send the rejects"),
            };
            blocks.push(self::command(what, command));
        }
        (None, None) => {}
    }
    blocks
}

/// Without a ledger nothing is known about the leads of a trial afterwards.
fn leads_that_stay(outcome: &Outcome<'_>) -> Option<Text> {
    let counts = &outcome.tally.counts;
    let leads = counts.of(Status::Created) + counts.of(Status::Duplicate);
    (leads > 0 && (outcome.run.is_some() || !outcome.sandbox)).then(|| {
        text!(
            "{leads:lead} of this list {leads?is:are} at the service and {leads?stays:stay} there.",
            leads
        )
    })
}

fn command(what: Text, command: &CommandLine) -> Block {
    Block::Command(what, command.shown().map(str::to_owned))
}

/// For people who do not know the program: how rows are fixed and sent.
pub(super) fn explained(outcome: &Outcome<'_>) -> Vec<Text> {
    let has_problems = outcome.tally.has_problems();
    let to_fix = outcome.has_something_to_fix();
    let mut steps = Vec::new();
    if outcome.stop.is_some() {
        let goes_on = outcome.next.continue_with.is_some();
        let is_due_to_rows = outcome
            .stop
            .as_ref()
            .is_some_and(|stop| stop.by() == StoppedBy::Rejections);
        if to_fix && goes_on && !is_due_to_rows {
            steps.push(terminal_text!("Rows to fix can wait: when the whole list is done, the rejects file has all of them."));
        }
    } else if !has_problems {
        steps.push(text!("Nothing is left to do for this list."));
    } else if outcome.written.rejects.is_empty() {
        steps.push(match to_fix {
            true => text!("Fix the rows above in the list and import it again: people who are leads by then are not sent twice."),
            false => text!("Nothing to fix: import the list again as it is: people who are leads by then are not sent twice."),
        });
    } else if to_fix {
        steps.push(terminal_text!(
            "Fix the rows in the rejects file. It has the columns of the list, and behind them what is wrong with each row. Keep the name and the format when you save."
        ));
        steps.push(match outcome.run {
            Some(_) => terminal_text!(
                "Then import it: columns, campaign and country are taken from this run."
            ),
            None => terminal_text!("Then import it."),
        });
    } else {
        steps.push(text!(
            "Nothing to fix: send the file as it is when the service is back."
        ));
    }
    if outcome.sandbox {
        steps.push(terminal_text!(
            "When the trial looks right, run the same command without `--sandbox`."
        ));
    }
    steps
}

/// What follows a check.
pub(super) fn after_check(outcome: &Outcome<'_>) -> Vec<Text> {
    let has_problems = outcome.tally.has_problems();
    let is_ready = outcome.tally.counts.of(Status::Ready) > 0;
    let what = match (has_problems, is_ready) {
        (true, true) => Some(text!(
            "Fix the rows above in the list and check it again, or send what is ready and fix the rest afterwards: an import leaves a file of the rows to fix."
        )),
        (true, false) => Some(text!(
            "Nothing is ready to be sent. Fix the rows above in the list and check it again."
        )),
        (false, true) => None,
        (false, false) => Some(text!("Nothing in this list is left to send.")),
    };
    let send = terminal_text!("To send, run the same command with `import` instead of `check`.");
    what.into_iter().chain(is_ready.then_some(send)).collect()
}
