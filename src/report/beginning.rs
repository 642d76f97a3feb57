//! What is printed when a run begins: which run it is, where its leads go, and how it differs from
//! another.

use serde_json::Value;

use super::block::{Block, Fact};
use super::runs::{chosen_campaign, plain};
use crate::lead::RunId;
use crate::ledger::{Begun, Unfinished};
use crate::message::Text;

pub fn run_line(begun: &Begun) -> Block {
    match begun.continues {
        true => going_on(begun.run),
        false => Block::Title(text!("run {run}", run = begun.run.to_string())),
    }
}

pub(super) fn going_on(run: RunId) -> Block {
    Block::Title(text!(
        "run {run} continues: leads that it has sent are not sent again",
        run = run.to_string()
    ))
}

pub fn destination(options: &Value) -> Block {
    let by = match options["campaign_column"].is_null() {
        true => "",
        false => "by the ",
    };
    let campaign = chosen_campaign(options, |campaign| campaign);
    let campaign = format!("{by}{campaign}");
    let service = plain(&options["service"]);
    Block::Facts(vec![
        Fact::new(text!("campaign"), Text::said(campaign)),
        Fact::new(text!("service"), Text::said(service)),
    ])
}

/// How this run differs from an unfinished run of the same inputs: each option, there and here.
pub fn differences(other: &Unfinished, differences: &[(&str, &Value, &Value)]) -> Vec<Block> {
    let other = other.run.to_string();
    let lines = differences.iter().map(|(name, there, here)| match *name {
        // Only their digests are stored, so no values can be shown.
        "constants" => terminal_text!("the values of --set are others"),
        name => terminal_text!(
            "{name} was {there}, is {here}",
            name,
            there = plain(there),
            here = plain(here)
        ),
    });
    let lines: Vec<Text> = lines.collect();
    let because = match lines.is_empty() {
        // The other run's options were pruned, or a campaign's name means another campaign now.
        true => ".",
        false => ", because:",
    };
    let first = terminal_text!(
        "An earlier import of this list, run {other}, was not finished. This is a new run{because}",
        other = &other,
        because
    );
    let last = terminal_text!(
        "Leads that run {other} created stay as they are (leadload runs show {other}).",
        other
    );
    vec![Block::Title(first), Block::List(lines), Block::Title(last)]
}
