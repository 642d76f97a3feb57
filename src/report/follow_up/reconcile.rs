//! What came of looking rows of a run up.

use serde_json::{Value, json};

use super::super::block::{Block, Count};
use super::super::json::line;
use super::FollowUpOutcome;
use super::undo::listed;
use crate::exit::Failure;
use crate::follow_up::{Reconciled, Undecided};
use crate::lead::{Counts, Status};
use crate::ledger::RunRecord;
use crate::message::Text;

pub fn reconciled(reconciled: &Reconciled) -> Vec<Block> {
    let counts = &reconciled.counts;
    let (run, total) = (&reconciled.run.to_string(), counts.total());
    if total == 0 {
        return vec![Block::Title(text!(
            "{run {run} has|there are} no uncertain rows",
            run
        ))];
    }
    let of = match reconciled.looked_up {
        all if all == total => Text::default(),
        some => text!("{some:} of ", some),
    };
    let mut blocks = vec![
        Block::Title(text!(
            "{run {run}: |}{of}{total:row} looked up",
            run,
            of,
            total
        )),
        found(counts),
    ];
    if reconciled.without_id > 0 {
        let rows = reconciled.without_id;
        blocks.push(Block::Paragraph(terminal_text!(
            "Still without an id: {rows:} of the duplicates. The same command looks them up again.",
            rows
        )));
    }
    blocks.extend(why_uncertain(&reconciled.undecided));
    if let Some(at) = reconciled.again_at {
        blocks.push(Block::Paragraph(text!(
            "The service may list {|new }leads late{. Run the same command again after {utc}.|; look again after {at}}",
            utc = at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
            at
        )));
    }
    if counts.of(Status::Duplicate) > 0 {
        blocks.push(Block::Paragraph(terminal_text!(
            "A lead counts as made by this run only if the service's time for it says so."
        )));
    }
    if counts.of(Status::Failed) > 0 {
        blocks.push(Block::Paragraph(terminal_text!(
            "The import's own command sends the rows that are not there."
        )));
    }
    blocks.push(Block::Paragraph(terminal_text!(
        "`leadload runs export {run} --results FILE` writes all rows as they are known now.",
        run
    )));
    blocks
}

fn found(counts: &Counts) -> Block {
    let found = [
        (
            Status::Created,
            template!("{created|arrived}"),
            template!("{found, and made by this run|}"),
        ),
        (
            Status::Duplicate,
            template!("{duplicate|arrived, or were in the campaign before}"),
            template!("{there, but not surely made by this run|}"),
        ),
        (
            Status::Failed,
            template!("{failed|did not arrive and can be sent again}"),
            template!("{not there; they may be sent again|}"),
        ),
        (
            Status::Uncertain,
            template!("{uncertain|still not sure}"),
            template!("{still uncertain|}"),
        ),
    ];
    let found = found
        .into_iter()
        .filter(|(status, ..)| counts.of(*status) > 0);
    let found = found.map(|(status, name, meaning)| Count::new(name, counts.of(status), meaning));
    Block::Counts(found.collect())
}

/// Why rows are still uncertain, if it does not help to wait.
fn why_uncertain(undecided: &Undecided) -> Vec<Block> {
    let why = [
        (
            undecided.unanswered,
            template!("the service did not answer: {again}"),
        ),
        (
            undecided.on_their_way,
            template!(
                "not looked up yet, since their requests may still be on their way: {again} in a few minutes"
            ),
        ),
        (
            undecided.may_be_twice,
            template!(
                "not listed, but the run allows duplicates, so sending them again could make a second lead"
            ),
        ),
        (
            undecided.elsewhere,
            template!(
                "not listed, but the run was sent with several tokens, so their leads may be in another account"
            ),
        ),
        (
            undecided.time_unknown,
            template!(
                "not listed, but {the ledger does not know|it is not known} when they were sent"
            ),
        ),
        (
            undecided.none_listed,
            template!(
                "not listed, but neither is the lead of this run in their campaign that was looked for"
            ),
        ),
        (
            undecided.number_unclear,
            template!("listed without their calling codes, so these may be other people"),
        ),
    ];
    let mut blocks = listed(text!("still uncertain"), why);
    if undecided.not_listed() > 0 {
        blocks.push(Block::Paragraph(text!(
            "Look in the service's own screens for those that are not listed."
        )));
    }
    blocks
}

pub fn reconciled_json(reconciled: &Reconciled, elapsed_s: f64) -> String {
    let outcome = FollowUpOutcome {
        run: Some(reconciled.run),
        stopped: reconciled.stopped.as_ref(),
        exit_code: reconciled.exit_code(),
        requests: Some(reconciled.requests),
        elapsed_s,
    };
    let mut object = outcome.json();
    object["rows"] = reconciled.counts.total().into();
    object["counts"] = found_counts(|status| reconciled.counts.of(status));
    object["without_id"] = reconciled.without_id.into();
    object["again_at"] = json!(reconciled.again_at);
    line(&object)
}

/// What is known after a failure, with what the ledger knew of the run before.
pub fn reconcile_failure_json(
    run: Option<&RunRecord>,
    failure: &Failure,
    elapsed_s: f64,
) -> String {
    let uncertain = run.map_or(0, |run| run.counts.of(Status::Uncertain));
    let mut object = FollowUpOutcome::failed(run, failure, elapsed_s).json();
    object["rows"] = uncertain.into();
    object["counts"] = found_counts(|status| match status {
        Status::Uncertain => uncertain,
        _ => 0,
    });
    object["without_id"] = 0.into();
    object["again_at"] = Value::Null;
    line(&object)
}

/// Rows that were to be looked up, by what they are now.
fn found_counts(of: impl Fn(Status) -> u64) -> Value {
    use Status::{Created, Duplicate, Failed, Uncertain};
    let all = [Created, Duplicate, Failed, Uncertain];
    let all = all.map(|status| (status.as_str().to_owned(), of(status).into()));
    Value::Object(all.into_iter().collect())
}
