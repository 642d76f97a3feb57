//! What a page about a run needs to know, apart from the tally. This listener has a bounded size.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::RunEvent;
use crate::intake::PlannedInput;
use crate::lead::{ErrorCode, RowOutcome, Status};
use crate::mapping::Mapping;
use crate::message::Text;
use crate::phone::NumberKind;
use crate::report::kinds::Kinds;
use crate::source::Row;
use crate::text::{one_line, shortened};

const MAX_EXAMPLES: usize = 5;

/// How much is stored of a cell, and of what is wrong with a row, in characters.
const MAX_CELL: usize = 60;
const MAX_ERROR: usize = 400;

/// The first rows of each kind that made no lead, and the countries of the numbers.
#[derive(Debug)]
pub struct Examples {
    inputs: Arc<[PlannedInput]>,
    examples: BTreeMap<(Status, Option<ErrorCode>), Vec<Example>>,
    pub(super) kinds: Kinds,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) file: usize,
    pub(super) line: u64,
    pub(super) cell: String,
    pub(super) error: Option<Text>,
}

impl Examples {
    pub fn new(inputs: &Arc<[PlannedInput]>) -> Examples {
        Examples {
            inputs: Arc::clone(inputs),
            examples: BTreeMap::new(),
            kinds: Kinds::default(),
        }
    }

    pub(super) fn count(&mut self, event: &RunEvent<'_>) {
        let RunEvent::Settled {
            row,
            phone,
            outcome,
            ..
        } = event
        else {
            return;
        };
        if let Some(input) = self.inputs.get(row.file()) {
            add_example(&mut self.examples, &input.mapping, *row, outcome);
        }
        let counts = outcome.attempts > 0 || outcome.status == Status::Ready;
        if let Some(phone) = phone.filter(|_| counts) {
            self.kinds.count(NumberKind::of(phone));
        }
    }

    pub(super) fn of(&self, status: Status, code: Option<ErrorCode>) -> &[Example] {
        self.examples
            .get(&(status, code))
            .map_or(&[], Vec::as_slice)
    }
}

/// What is kept of what is wrong: a service may have said very much.
fn short_enough(error: &Text) -> Text {
    let said = one_line(&error.to_string());
    match said.chars().count() > MAX_ERROR {
        true => Text::said(shortened(&said, MAX_ERROR)),
        false => error.clone(),
    }
}

fn add_example(
    examples: &mut BTreeMap<(Status, Option<ErrorCode>), Vec<Example>>,
    mapping: &Mapping,
    row: Row<'_>,
    outcome: &RowOutcome,
) {
    if matches!(outcome.status, Status::Created | Status::Ready) || outcome.is_known_bad {
        return;
    }
    let key = (outcome.status, outcome.error_code);
    let examples = examples.entry(key).or_default();
    // Rows come in the order of their answers; the first ones of the list are kept.
    let place = (row.file(), row.line());
    let at = examples.partition_point(|other| (other.file, other.line) < place);
    if at < MAX_EXAMPLES {
        examples.truncate(MAX_EXAMPLES - 1);
        examples.insert(
            at,
            Example {
                file: row.file(),
                line: row.line(),
                cell: shortened(&one_line(&mapping.phone_cell(row)), MAX_CELL),
                error: outcome.error.as_ref().map(short_enough),
            },
        );
    }
}
