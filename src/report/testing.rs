//! Checked rows for the tests of what is said about them.

use crate::intake::{Batch, InspectedInput, PlannedInput, PreparedRow};
use crate::lead::RowId;
use crate::mapping::MappingSpec;
use crate::source::{FormChoice, Input};

pub(super) fn planned(text: &str) -> PlannedInput {
    let input = Input::of_text(text);
    let inspected = InspectedInput::new(input, &FormChoice::default()).unwrap();
    let spec = MappingSpec {
        phone_columns: vec!["phone".into()],
        ..MappingSpec::default()
    };
    PlannedInput::new(inspected, &spec).unwrap()
}

/// The first rows of a list, with what was found out about them.
pub(super) fn batch_of(list: &PlannedInput, prepared: &[PreparedRow]) -> Batch {
    let mut reader = list.read().unwrap();
    let rows = reader.read_batch(0, RowId(1), prepared.len()).unwrap();
    Batch {
        rows,
        prepared: prepared.to_vec(),
    }
}
