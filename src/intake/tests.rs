//! One row alone is read as it is in its list.

use proptest::prelude::*;

use super::*;
use crate::lead::ErrorCode;
use crate::mapping::MappingSpec;
use crate::source::{FormChoice, Input};

fn intake(text: &str, region: Option<&str>, phones: PhoneRules) -> Intake {
    let choice = FormChoice {
        delimiter: Some(b','),
        encoding: Some(encoding_rs::UTF_8),
        ..FormChoice::default()
    };
    let inspected = InspectedInput::new(Input::of_text(text), &choice).unwrap();
    let spec = MappingSpec {
        phone_columns: vec!["phone".into(), "other".into()],
        ..MappingSpec::default()
    };
    let mut intake = Intake {
        inputs: [PlannedInput::new(inspected, &spec).unwrap()].into(),
        limit: None,
        phones,
        region: region.map(|code| GivenRegion {
            region: Region::parse(code).unwrap(),
            from: "--region".to_owned(),
        }),
        doubts: true,
        doubted: None,
        doubt: None,
        suppression: Arc::default(),
        allow_duplicates: false,
        once: Once::default(),
    };
    intake.look_for_doubt().unwrap();
    intake
}

fn numbers(intake: &Intake) -> Vec<Result<PhoneNumber, RowOutcome>> {
    let batches = Readings::start(intake, Purpose::Checking);
    let readings = batches.flat_map(|batch| batch.unwrap().readings);
    let number = |reading| match reading {
        Reading::Number(number, _) => Ok(number),
        Reading::Misshapen(outcome) | Reading::NoNumber(outcome) => Err(*outcome),
        Reading::Excluded(_) => panic!("no row is left out"),
    };
    readings.map(number).collect()
}

fn alone(intake: &Intake, cells: &[&str]) -> Result<String, Option<ErrorCode>> {
    let number = intake.number_of(0, cells);
    number
        .map(|number| number.to_string())
        .map_err(|outcome| outcome.error_code)
}

#[test]
fn a_corrected_cell_is_read_with_the_country_of_its_row_and_the_rules_of_the_list() {
    let list = "phone,country,name,other\n1,GB,Ada,\n1,DE,Bob,\n1,,Cy,\n";
    let phones = PhoneRules {
        countries: vec![Region::parse("GB").unwrap(), Region::parse("DE").unwrap()],
        ..PhoneRules::default()
    };
    let of_row = intake(list, None, phones);
    let number = |country, cell| alone(&of_row, &[cell, country, "Ada", ""]);
    assert_eq!(number("GB", "07911 123456"), Ok("+447911123456".into()));
    assert_eq!(number("DE", "0171 3920001"), Ok("+491713920001".into()));
    assert_eq!(
        number("", "07911 123456"),
        Err(Some(ErrorCode::PhoneNotE164))
    );
    assert_eq!(
        number("GB", "+12125550123"),
        Err(Some(ErrorCode::CountryNotAllowed))
    );
    assert_eq!(number("GB", ""), Err(Some(ErrorCode::PhoneMissing)));
    assert_eq!(
        alone(&of_row, &["", "GB", "Ada", "07911 123456"]),
        Ok("+447911123456".into())
    );
    let cells = ["+447911123456"; 9];
    assert_eq!(alone(&of_row, &cells), Err(Some(ErrorCode::FieldCount)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_row_alone_has_the_number_that_it_has_in_its_list(
        rows in prop::collection::vec(
            (
                prop_oneof![
                    "0[127][0-9]{8,9}",
                    r"\([2-9][0-9]{2}\) [2-9][0-9]{2}-[0-9]{4}",
                    r"\+(44|1|49)[0-9]{7,11}",
                    "[0-9+ -]{0,14}",
                ],
                prop::sample::select(vec!["", "GB", "DE", "USA", "Neverland"]),
                prop_oneof![Just(String::new()), "0[127][0-9]{8,9}"],
                0usize..10,
            ),
            1..30,
        ),
        region in prop::sample::select(vec![None, Some("GB"), Some("US")]),
    ) {
        let header = "phone,country,name,other".to_owned();
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .map(|(phone, country, other, shape)| {
                let mut cells = vec![phone, country.to_owned(), "Ada".to_owned(), other];
                if shape == 0 {
                    cells.pop();
                }
                cells
            })
            .collect();
        let lines: Vec<String> = rows.iter().map(|cells| cells.join(",")).collect();
        let list = format!("{header}\n{}\n", lines.join("\n"));
        let intake = intake(&list, region, PhoneRules::default());
        let in_list = numbers(&intake);
        prop_assert_eq!(in_list.len(), rows.len());
        for (cells, expected) in rows.iter().zip(in_list) {
            prop_assert_eq!(intake.number_of(0, cells), expected);
        }
    }
}
