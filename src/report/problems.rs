//! What is wrong with rows, the most frequent first, and how to fix it; and rows that were left out
//! although nothing is wrong with them.

use super::advice::{Advice, Outlook, left_out as reason, short_advice};
use super::block::{Block, Column, Form, Problem, Table};
use super::examples::{Example, Examples};
use super::outcome::Outcome;
use super::rows::earlier;
use super::tally::{OutcomeGroup, Tally};
use crate::lead::{ErrorCode, Status};
use crate::message::{Text, in_lines};
use crate::phone::RoundNumbers;

/// How many kinds of problems are listed where there is room.
pub(super) const MAX_PROBLEMS: usize = 20;

/// How many kinds of problems are listed in a summary that is read in ten seconds.
pub(super) const FEW_PROBLEMS: usize = 3;

/// The most frequent kinds of problems, with examples where there are some.
pub(super) fn problems(
    outcome: &Outcome<'_>,
    most: usize,
    examples: Option<&Examples>,
) -> Vec<Block> {
    let (tally, inputs) = (outcome.tally, &outcome.inputs[..]);
    let problems = tally.problems();
    let mut blocks = Vec::new();
    if !problems.is_empty() {
        blocks.push(Block::Heading(text!("{problems|not sent, or refused}")));
    }
    for (status, code, group) in problems.iter().take(most) {
        let mut problem = problem(*status, *code, group, Outlook::after(outcome), inputs);
        if let (ErrorCode::PhoneMissing, Some(elsewhere)) = (code, &outcome.list_notes.elsewhere) {
            let elsewhere = || elsewhere.clone();
            problem.short = terminal_text!(
                "{short}; {elsewhere}",
                short = problem.short,
                elsewhere = elsewhere()
            );
            problem.steps.insert(
                0,
                terminal_text!("In another column {elsewhere}", elsewhere = elsewhere()),
            );
        }
        problem.examples =
            examples.and_then(|all| examples_of(all, *status, Some(*code), group.rows, inputs));
        blocks.push(Block::Problem(problem));
    }
    let others: u64 = problems
        .iter()
        .skip(most)
        .map(|(_, _, group)| group.rows)
        .sum();
    if others > 0 {
        blocks.push(Block::List(vec![text!(
            "and {others:row} with other problems",
            others
        )]));
    }
    blocks.extend(round_numbers(&tally.round_numbers).map(Block::Note));
    blocks
}

/// What is to be known of a run that has ended beside its counts: what earlier ones have to do with its
/// rows, and the kinds of problems.
pub fn all_problems(outcome: &Outcome<'_>) -> Vec<Block> {
    let mut blocks = earlier(outcome.tally);
    blocks.extend(problems(outcome, MAX_PROBLEMS, None));
    blocks
}

/// Rows with one problem, and what to do about them.
pub fn problem(
    status: Status,
    code: ErrorCode,
    group: &OutcomeGroup,
    outlook: Outlook,
    inputs: &[&str],
) -> Problem {
    let advice = Advice::of(status, code, group, outlook);
    Problem {
        title: advice.title,
        status,
        code: Some(code),
        rows: group.rows,
        places: places(group, inputs),
        meaning: advice.meaning.into(),
        short: short_advice(&advice, status, group, outlook, inputs),
        steps: advice.steps.into_iter().map(Text::from).collect(),
        examples: None,
    }
}

/// Rows that made no lead although nothing is wrong with them.
pub(super) fn left_out(outcome: &Outcome<'_>, examples: Option<&Examples>) -> Vec<Block> {
    let inputs = &outcome.inputs[..];
    let mut blocks = Vec::new();
    for (status, code, group) in outcome.tally.left_out() {
        if blocks.is_empty() {
            blocks.push(Block::Heading(text!("left out")));
        }
        let (title, why) = reason(status, code == Some(ErrorCode::AnswerLost));
        blocks.push(Block::Problem(Problem {
            title,
            status,
            code,
            rows: group.rows,
            places: places(group, inputs),
            meaning: why.into(),
            short: Text::default(),
            steps: Vec::new(),
            examples: examples.and_then(|all| examples_of(all, status, code, group.rows, inputs)),
        }));
    }
    blocks
}

/// How many rows are left out for each reason, as a sentence for each.
pub(super) fn left_out_lines(tally: &Tally) -> Vec<Text> {
    let others = tally.counts.all();
    let others = others.filter(|(status, rows)| *rows > 0 && *status != Status::Ready);
    let lines: Vec<Text> = others
        .map(|(status, rows)| left_out_line(status, rows))
        .collect();
    match lines.is_empty() {
        true => vec![text!("nobody")],
        false => lines,
    }
}

/// `12 are on a do-not-call list.`
pub fn left_out_line(status: Status, rows: u64) -> Text {
    let name = super::advice::status_name(status);
    match status {
        Status::Invalid => text!("{rows:} {name}.", rows, name),
        _ => text!("{rows:} {rows?is:are} {name}.", rows, name),
    }
}

/// Where the rows of a group are, or the first few of them.
fn places(group: &OutcomeGroup, inputs: &[&str]) -> Text {
    let first = group.first.iter().map(|place| (place.file, place.line));
    in_lines(group.rows, &first.collect::<Vec<_>>(), inputs)
}

/// That numbers may have lost digits, if they may.
pub fn round_numbers(found: &RoundNumbers) -> Option<Text> {
    found.are_suspicious().then(|| {
        text!(
            "{round:} of {numbers:phone number} {round?ends:end} in 00000{: a spreadsheet|; Excel} may have lost {round?its:their} last digits. Check {round?it:them} before you send, and if {round?it is:they are} wrong{ export the list again with the numbers as text.|, export the list again and choose it here without opening it in Excel.}",
            round = found.round,
            numbers = found.numbers
        )
    })
}

fn examples_of(
    all: &Examples,
    status: Status,
    code: Option<ErrorCode>,
    rows: u64,
    inputs: &[&str],
) -> Option<Table> {
    let examples = all.of(status, code);
    let shown = examples.len() as u64;
    let title = match rows {
        _ if shown == 0 => return None,
        1 => text!("The row"),
        2 if shown == 2 => text!("Both rows"),
        _ if shown == rows => text!("All {rows} rows", rows),
        _ => text!("The first {shown} of {rows:row}", shown, rows),
    };
    let has_files = inputs.len() > 1;
    let errors = match status.is_problem() {
        true => text!("what is wrong"),
        false => text!("why"),
    };
    let has_errors = examples.iter().any(|example| example.error.is_some());
    let columns = [
        Column::new(text!("file"), Form::Words).only_if(has_files),
        Column::new(text!("line"), Form::Number),
        Column::new(text!("phone cell"), Form::Words),
        Column::new(errors, Form::Words).only_if(has_errors),
    ];
    let row = |example: &Example| {
        vec![
            Text::said(inputs.get(example.file).copied().unwrap_or_default()),
            Text::said(example.line.to_string()),
            match example.cell.is_empty() {
                true => text!("(empty)"),
                false => Text::said(&example.cell),
            },
            example.error.clone().unwrap_or_default(),
        ]
    };
    Some(Table {
        title,
        rows: examples.iter().map(row).collect(),
        columns: columns.into(),
        rest: Text::default(),
    })
}
