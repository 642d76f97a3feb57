//! Which columns of the lists are used, and what has changed since the last run of these lists.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Value, json};

use crate::intake::{Intake, PlannedInput};
use crate::ledger::RunRecord;
use crate::message::Message;

#[derive(Debug, Clone, Default, Serialize)]
pub struct ListMapping {
    /// The phone column; a list if there are several, null if none is known yet.
    phone: Value,
    /// What is sent with the rows, constants too.
    variables: Vec<String>,
    /// Those that the last complete run of the lists did not send; none if there was no such run.
    new_variables: Vec<String>,
    /// What only the last complete run sent; none if there was no such run.
    missing_variables: Vec<String>,
}

impl ListMapping {
    pub fn of(intake: &Intake) -> ListMapping {
        let inputs = intake.inputs.iter();
        let phones = distinct(inputs.clone().flat_map(PlannedInput::phone_column_names));
        let variables = distinct(inputs.flat_map(|planned| {
            let columns = planned.mapping.variables.iter().map(|(name, _)| name);
            let constants = planned.mapping.constants.iter().map(|(name, _)| name);
            columns.chain(constants).cloned()
        }));
        let before = intake.earlier.first().map(sent_by);
        let before = before.as_ref().unwrap_or(&variables);
        ListMapping {
            phone: match &phones[..] {
                [] => Value::Null,
                [one] => json!(one),
                several => json!(several),
            },
            new_variables: without(&variables, before),
            missing_variables: without(before, &variables),
            variables,
        }
    }

    /// Says which variables are new or missing; `None` if none are.
    pub fn warning(intake: &Intake) -> Option<Message> {
        let last = intake.earlier.first()?.in_sentence();
        let mapping = ListMapping::of(intake);
        let changes = [
            (mapping.new_variables, "new"),
            (mapping.missing_variables, "missing"),
        ];
        let changes = changes.into_iter().filter(|(names, _)| !names.is_empty());
        let changes = changes.map(|(names, how)| {
            let number = names.len();
            text!(
                "{number?the variable:the variables} {names} {number?is:are} {how}",
                number,
                names,
                how
            )
        });
        let changes =
            changes.reduce(|first, second| text!("{first} and {second}", first, second))?;
        Some(message!(
            "{{changes}, compared with {last}, the last complete run of the list at this path|compared with the last time that this list was sent, {changes}}",
            "{look whether that is meant; `--skip-column` leaves a column out|{--var} shows what is sent}",
            changes,
            last
        ))
    }
}

/// The variables that a run sent, in their order.
fn sent_by(run: &RunRecord) -> Vec<String> {
    let option = |key: &str| run.options.as_ref().and_then(|options| options.get(key));
    // A list if the inputs differ.
    let variables: Vec<&Value> = match option("variables") {
        Some(Value::Array(each)) => each.iter().collect(),
        one => Vec::from_iter(one),
    };
    let all = variables.into_iter().chain(option("constants"));
    let all = all.filter_map(Value::as_object);
    distinct(all.flat_map(|named| named.keys().cloned()))
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

fn without(names: &[String], others: &[String]) -> Vec<String> {
    let others: HashSet<&String> = others.iter().collect();
    let names = names.iter().filter(|name| !others.contains(name));
    names.cloned().collect()
}
