//! One row alone is read as it is in its list.

use std::collections::HashMap;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::lead::ErrorCode;
use crate::mapping::MappingSpec;
use crate::source::{FormChoice, Input};

fn intake(text: &str, region: Option<&str>, phones: PhoneRules) -> Intake {
    let choice = FormChoice {
        delimiter: Some(b','),
        encoding: Some(encoding_rs::UTF_8.into()),
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
        marked: Arc::default(),
        suppression: Arc::default(),
        allow_duplicates: false,
        once: Once::default(),
        earlier: Arc::default(),
    };
    intake.look_ahead().unwrap();
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

/// Rows that fill the budget several times.
fn long_rows() -> Intake {
    let long = "a".repeat(900_000);
    let rows = (0..40).map(|row| format!("+4479110000{row:02},,{long},\n"));
    let list = format!("phone,country,name,other\n{}", rows.collect::<String>());
    intake(&list, None, PhoneRules::default())
}

#[test]
fn no_more_rows_are_read_than_may_be_in_memory_until_some_are_let_go() {
    let readings = Readings::start(&long_rows(), Purpose::Sending);
    let (sender, arrived) = channel();
    thread::spawn(move || {
        let mut batches = readings.into_iter();
        batches.all(|batch| sender.send(batch.unwrap()).is_ok())
    });
    let mut held = Vec::new();
    while let Ok(batch) = arrived.recv_timeout(Duration::from_millis(300)) {
        held.push(batch);
    }
    // Of 900 kB each, of 14 MiB.
    assert!((1..=16).contains(&held.len()), "{}", held.len());
    let before = held.len();
    drop(held);
    assert_eq!(before + arrived.iter().count(), 40);
}

#[tokio::test]
async fn who_lets_go_of_no_row_before_the_last_gets_all() {
    let long = long_rows();
    let book = CampaignBook::new(None, HashMap::new());
    let mut batches = long.start(book, Purpose::Sending, None);
    let mut held = Vec::new();
    while let Some(batch) = batches.next().await {
        held.push(batch.unwrap());
    }
    let rows: usize = held.iter().map(|batch| batch.rows.len()).sum();
    assert_eq!(rows, 40);
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

/// The example numbers of all countries, by country and number of digits.
fn examples() -> std::collections::BTreeMap<(String, usize), u64> {
    let text = include_str!("../../tests/phones/examples.csv");
    let mut examples = std::collections::BTreeMap::new();
    let mut csv = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    for record in csv.records().flatten() {
        let (Some(region), Some(e164)) = (record.get(0), record.get(4)) else {
            continue;
        };
        if let Ok(number) = PhoneNumber::from_e164(e164) {
            examples.insert((region.to_owned(), e164.len()), number.key());
        }
    }
    examples
}

#[test]
fn no_number_is_sent_that_the_end_of_a_list_has_cut_off_in_any_country() {
    let (mut cuts, mut sent, mut lost, mut lists) = (0, 0, 0, 0);
    for ((region, _), example) in examples() {
        // Six numbers that differ in their last digit, and one more that is cut.
        let all: Vec<String> = (0..7)
            .map(|last| format!("+{}", example / 10 * 10 + last))
            .collect();
        let uncut = format!("name,other,phone\nx,,{}", all.join("\nx,,"));
        let found = numbers(&intake(&uncut, None, PhoneRules::default()));
        if found.iter().any(Result::is_err) {
            assert!(found.iter().all(Result::is_err), "{region}");
            continue;
        }
        lists += 1;
        lost += found.iter().filter(|number| number.is_err()).count();
        for cut in 1..all[6].len() {
            let text = &uncut[..uncut.len() - cut];
            let found = numbers(&intake(text, None, PhoneRules::default()));
            cuts += 1;
            if found[6].is_ok() {
                println!("sent: {:?} of {}", found[6], all[6]);
                sent += 1;
            }
            lost += found[..6].iter().filter(|number| number.is_err()).count();
        }
        let with_line_end = format!("{}\n", &uncut[..uncut.len() - 2]);
        let ended = numbers(&intake(&with_line_end, None, PhoneRules::default()));
        let is_cut = |outcome: &RowOutcome| outcome.error_code == Some(ErrorCode::CutOff);
        assert!(!ended[6].as_ref().is_err_and(is_cut), "{region}");
    }
    println!("{lists} lists, {cuts} cuts");
    assert!(lists > 400 && cuts > 4000, "{lists} lists, {cuts} cuts");
    assert_eq!((sent, lost), (0, 0));
}

#[test]
fn a_number_is_cut_only_where_all_others_of_its_country_are_longer() {
    let last = |above: &[&str], last: &str| {
        let text = format!("name,phone\nx,{}\nx,{last}", above.join("\nx,"));
        let intake = intake_of(&text, &["phone"]);
        let last = numbers(&intake).pop().unwrap();
        last.map_err(|outcome| outcome.error_code.unwrap().to_string())
            .err()
    };
    let five = [
        "+491713920001",
        "+491713920002",
        "+491713920003",
        "+491713920004",
        "+491713920005",
    ];
    assert_eq!(last(&five, "+4917139200"), Some("cut_off".into()));
    assert_eq!(last(&five, "+491713920"), Some("cut_off".into()));
    assert_eq!(last(&five, "+491713920006"), None);
    assert_eq!(last(&five[1..], "+4917139200"), None);
    assert_eq!(
        last(&[&five[..], &["+4930123456"]].concat(), "+4917139200"),
        None
    );
    assert_eq!(last(&five, "+442079460000"), None);
}

fn intake_of(text: &str, phones: &[&str]) -> Intake {
    let inspected = InspectedInput::new(Input::of_text(text), &FormChoice::default()).unwrap();
    let spec = MappingSpec {
        phone_columns: phones.iter().map(|&column| column.into()).collect(),
        ..MappingSpec::default()
    };
    Intake {
        inputs: [PlannedInput::new(inspected, &spec).unwrap()].into(),
        ..intake("phone,other\n1,\n", None, PhoneRules::default())
    }
}

#[test]
fn a_row_of_rejects_stays_cut_off_until_its_cell_changes_or_its_code_is_cleared() {
    // As the terminal and the page write it.
    let errors = [
        "the list ends in this number, without a line end, and `0171 392040` is shorter",
        "The list ends in this number, without a line end, and “0171 392040” is shorter",
    ];
    let cells = [
        ("0171 392040", "cut_off", true),
        // As Excel writes it.
        ("171392040", "cut_off", true),
        (" 0171392040 ", " cut_off ", true),
        ("0171 39204012", "cut_off", false),
        ("0171 392041", "cut_off", false),
        ("0171 392040", "", false),
        ("0171 392040", "phone_missing", false),
    ];
    let cells = cells
        .iter()
        .flat_map(|cell| errors.map(|error| (*cell, error)));
    for ((cell, code, is_held), error) in cells {
        let text = format!(
            "name,phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run\nx,{cell},3,invalid,{code},\"{error}\",\n"
        );
        let mut intake = intake_of(&text, &["phone"]);
        intake.region = Some(GivenRegion {
            region: Region::parse("DE").unwrap(),
            from: "--region".to_owned(),
        });
        let found = numbers(&intake)
            .remove(0)
            .map_err(|outcome| outcome.error_code);
        let code = Some(ErrorCode::CutOff);
        assert_eq!(
            found.is_err_and(|found| found == code),
            is_held,
            "{cell} {code:?}"
        );
    }
}
