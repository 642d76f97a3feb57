//! Lists for the tests of the files that are made from a whole list.

use std::path::Path;

use crate::intake::{InspectedInput, PlannedInput};
use crate::mapping::MappingSpec;
use crate::source::{FormChoice, Input};

/// A list whose phone numbers are in the first column.
pub(super) fn planned(path: &Path, choice: &FormChoice) -> PlannedInput {
    let inspected = InspectedInput::new(Input::open(path).unwrap(), choice).unwrap();
    let spec = MappingSpec {
        phone_columns: vec!["1".into()],
        ..MappingSpec::default()
    };
    PlannedInput::new(inspected, &spec).unwrap()
}

/// The cells of each row below the header.
pub(super) fn cells(list: &PlannedInput) -> Vec<Vec<String>> {
    let batches = list.read().unwrap().batches();
    let rows = batches.flat_map(|batch| {
        let batch = batch.unwrap();
        let rows = batch.rows();
        rows.map(|row| {
            row.cells()
                .map(|c| String::from_utf8_lossy(c).into_owned())
                .collect()
        })
        .collect::<Vec<_>>()
    });
    rows.collect()
}
